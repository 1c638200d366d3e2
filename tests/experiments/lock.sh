#!/bin/sh
# Another program holds the database for 60 seconds (tests/int/disk.sh does the same for 4): nothing is lost,
# and the run goes on with the same server. About four minutes.
LOCK_SECONDS=60 tests/int/disk.sh
