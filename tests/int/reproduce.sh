#!/bin/sh
# timeout: 240
# One seed, one result: the same snapshots and the same rows whatever the number of workers, and whether
# the run was interrupted or not.
. tests/int/lib.sh
config=tests/int/tiny.yaml

# Everything that is stored of a run, times and process numbers aside.
dump() {
    sql "$1/run.db" "
