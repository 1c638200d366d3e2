#!/bin/sh
# timeout: 240
# The web page in Debian's Chromium, driven by Playwright: tests/int/lib_page.mjs. Skipped where they cannot be
# had; AGON_CACHE (default: ~/.cache/agon) keeps Playwright from one time to the next.
cd "$(dirname "$0")/../.." || exit 1
AGON=${AGON:-$PWD/build/agon}
. tools/browser.sh
if ! browser_find; then
    echo "skip - the page in a browser: $WHY"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export AGON CHROMIUM PLAYWRIGHT
node tests/int/lib_page.mjs "$work"
