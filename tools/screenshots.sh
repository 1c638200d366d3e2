#!/bin/sh
# Takes the pictures of docs/page.md: tools/screenshots.sh RUN [RUN2]. RUN is a run whose server is up (best
# while it trains); RUN2 another one, for the views that want several policies and games.
set -eu
cd "$(dirname "$0")/.."
. tools/browser.sh
if ! browser_find; then
    echo "no browser: $WHY" >&2
    exit 1
fi
export CHROMIUM PLAYWRIGHT
mkdir -p docs/page
node tools/screenshots.mjs docs/page "$@"
if command -v pngquant >/dev/null 2>&1; then
    pngquant --force --ext .png --speed 1 --strip 128 docs/page/*.png
else
    echo "pngquant is not installed: the pictures stay large" >&2
fi
du -sh docs/page
