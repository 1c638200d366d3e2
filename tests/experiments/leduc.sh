#!/bin/sh
# Leduc hold'em from random weights, twenty minutes: NashConv below 1.0 (uniform play: 4.75).
. tests/experiments/lib.sh
train leduc configs/leduc.yaml "${TIME:-20m}"
