#!/bin/sh
# Brings the page's libraries into page/vendor from npm, at the versions below, and writes down their
# hashes: tools/vendor.sh [check]. With `check`, only compares what is there with the hashes.
set -eu
cd "$(dirname "$0")/../page/vendor"

if [ "${1:-}" = check ]; then
    sha256sum --check --strict --quiet SHA256SUMS
    exit
fi

# package, version, file in the package, name here
list='uplot 1.6.32 dist/uPlot.esm.js uplot.js
uplot 1.6.32 dist/uPlot.min.css uplot.css
uplot 1.6.32 LICENSE uplot.LICENSE
preact 10.27.2 dist/preact.module.js preact.js
preact 10.27.2 hooks/dist/hooks.module.js preact-hooks.js
preact 10.27.2 LICENSE preact.LICENSE
htm 3.1.1 dist/htm.module.js htm.js
htm 3.1.1 LICENSE htm.LICENSE
@picocss/pico 2.1.1 css/pico.min.css pico.css
@picocss/pico 2.1.1 LICENSE.md pico.LICENSE'

rm -f ./*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$list" | while read -r package version file name; do
    folder=$work/$package-$version
    if [ ! -d "$folder" ]; then
        mkdir -p "$folder"
        archive=$(cd "$work" && npm pack --silent "$package@$version")
        tar -xzf "$work/$archive" -C "$folder" --strip-components=1
    fi
    # Source maps are not served, so nothing may point to them; a browser finds modules by path only.
    sed -e '/^[[:space:]]*\/\/# sourceMappingURL=/d' -e 's/from"preact"/from".\/preact.js"/g' \
        "$folder/$file" >"$name"
done
# shellcheck disable=SC2035 # the names are those of the list above
sha256sum *.js *.css *.LICENSE >SHA256SUMS
