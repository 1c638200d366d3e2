#!/bin/sh
# timeout: 200
# The signature of a fixed schedule is the same with one worker, two workers, and in the sanitizer build.
. tests/int/lib.sh
one=$(tests/sig.sh 1)
check "a signature is sixteen digits" test "${#one}" -eq 16
check "one worker and three agree" test "$(tests/sig.sh 3)" = "$one"
if [ -x "${AGON_ASAN:-}" ]; then
    check "the sanitizer build agrees" test "$(AGON=$AGON_ASAN tests/sig.sh 2)" = "$one"
else
    echo "skip - the sanitizer build agrees: AGON_ASAN does not name it"
fi
