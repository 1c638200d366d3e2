#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing: tools/deps.sh build|check. Needs nothing but a
# shell; as root or with a sudo that asks no password it installs, otherwise it prints what to type. When
# all is there it touches neither the network nor the machine.
set -eu

# What is looked for, and the package that brings it: a program (cc), or a pkg-config name (=name).
build="cc:gcc,libc6-dev ar:binutils awk:mawk pkg-config:pkg-config
=libevent:libevent-dev =sqlite3:libsqlite3-dev =openblas:libopenblas-dev =yaml-0.1:libyaml-dev
=jansson:libjansson-dev =libzstd:libzstd-dev =zlib:zlib1g-dev =libcrypto:libssl-dev =libcurl:libcurl4-openssl-dev"
check="=cmocka:libcmocka-dev python3:python3 sqlite3:sqlite3 curl:curl pgrep:procps"
formatter=clang-format-14 # for `make lint` only, which says so and goes on where it cannot be had

case ${1:-} in
build) wanted=$build formatter= ;;
check) wanted="$build $check" ;;
*) echo "usage: tools/deps.sh build|check" >&2; exit 2 ;;
esac

is_there() {
    case $1 in
    =*) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "${1#=}" ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

list_missing() {
    for row in $wanted; do
        is_there "${row%%:*}" || printf '%s ' "${row#*:}" | tr , ' '
    done
    if [ -n "$formatter" ] && [ -z "$(tests/lint/clang-format.sh)" ] && can_have "$formatter"; then
        printf '%s ' "$formatter"
    fi
}

can_have() { # also true while apt has no lists at all
    command -v apt-cache >/dev/null 2>&1 || return 1
    [ -z "$(apt-cache pkgnames libevent-dev 2>/dev/null)" ] || [ -n "$(apt-cache pkgnames "$1" 2>/dev/null)" ]
}

cd "$(dirname "$0")/.."
missing=$(list_missing)
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null 2>&1 || {
    echo "Missing, by their Debian names: $missing" >&2
    echo "Install what this system calls them, then run the same command again." >&2
    exit 1
}
as_root=
if [ "$(id -u)" != 0 ]; then
    sudo -n true >/dev/null 2>&1 </dev/null || {
        echo "Packages are missing. Please run this, then the same command again:" >&2
        echo "    sudo apt-get install -y $missing" >&2
        exit 1
    }
    as_root="sudo -n"
fi

install_all() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1
}

echo "Installing: $missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
install_all $missing || {
    $as_root apt-get update -qq </dev/null || true
    missing=$(list_missing) # the formatter may turn out not to exist
    install_all $missing || {
        cat "$log" >&2
        exit 1
    }
}
missing=$(list_missing)
[ -z "$missing" ] || {
    echo "Still missing after the installation: $missing" >&2
    exit 1
}
