# Finds what drives the page, to be sourced: browser_find sets CHROMIUM (a program) and PLAYWRIGHT (a module),
# installing what it can; or fails, with the reason in WHY.
PLAYWRIGHT_VERSION=1.65.1

browser_find() {
    command -v node >/dev/null 2>&1 || { WHY="node is not installed"; return 1; }
    CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
    if [ -z "$CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        DEBIAN_FRONTEND=noninteractive timeout 150 apt-get install -y -qq --no-install-recommends \
            chromium fonts-dejavu-core >/dev/null 2>&1
        CHROMIUM=$(command -v chromium)
    fi
    [ -n "$CHROMIUM" ] || { WHY="chromium is not installed and cannot be"; return 1; }
    cache=${AGON_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/agon}
    PLAYWRIGHT=$cache/node_modules/playwright-core/index.mjs
    if [ ! -f "$PLAYWRIGHT" ]; then
        command -v npm >/dev/null 2>&1 || { WHY="npm is not installed"; return 1; }
        mkdir -p "$cache" 2>/dev/null
        timeout 90 npm install --silent --no-audit --no-fund --no-save --prefix "$cache" \
            "playwright-core@$PLAYWRIGHT_VERSION" >/dev/null 2>&1
    fi
    [ -f "$PLAYWRIGHT" ] || { WHY="playwright-core cannot be fetched from npm"; return 1; }
}
