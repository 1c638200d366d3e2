#!/bin/sh
# Kuhn poker from random weights, five minutes, three seeds: NashConv of the newest snapshot <= 0.10, of
# the mixture <= 0.06. Then once without the magnet: the last iterate does not converge. 20 minutes.
. tests/experiments/lib.sh
for seed in 1 2 3; do
    train "kuhn-$seed" configs/kuhn.yaml "${TIME:-5m}" --set seed=$seed || exit 1
done
train kuhn-no-magnet configs/kuhn.yaml "${TIME:-5m}" --set learner.magnet.kl=0
