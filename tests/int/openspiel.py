#!/usr/bin/env python3
# timeout: 60
"""What `agon games solve` says of small games against what OpenSpiel computed of them
(tests/golden/openspiel/values.txt, whose values.py says how)."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from lib_api import AGON, check, failures  # noqa: E402


def close(a, b):
    return abs(a - float(b)) < 1e-8


rows = [line.split() for line in open("tests/golden/openspiel/values.txt", encoding="ascii")]
check("there is something to compare", len(rows) >= 7)
for spec, sets, value, conv in rows:
    done = subprocess.run([AGON, "games", "solve", spec, "--rounds", "1", "--json"], capture_output=True,
                          text=True)
    ours = json.loads(done.stdout) if done.returncode == 0 else {}
    uniform = ours.get("uniform", {"value": 9, "nash_conv": 9})
    if sets != "-":
        check("%s: %s information sets" % (spec, sets), ours.get("sets") == int(sets), done)
    check("%s: value %s at random" % (spec, value), close(uniform["value"], value), done)
    check("%s: NashConv %s of that" % (spec, conv), close(uniform["nash_conv"], conv), done)
sys.exit(failures() > 0)
