#!/bin/sh
# Makes a folder of files part of the program: tools/embed.sh FOLDER OUT FILE... writes to OUT the
# table of them, a C file, and their gzip forms to a folder beside it. FILEs are named from FOLDER.
set -eu
folder=$1 out=$2 zips=${2%.c}
shift 2
rm -rf "$zips"
{
    echo '#include "arena/page.h"'
    n=0
    rows=
    for name in "$@"; do
        zipped=$zips/$name.gz
        mkdir -p "$(dirname "$zipped")"
        gzip -9nc "$folder/$name" >"$zipped"
        tag=$(sha256sum "$folder/$name" | cut -c 1-32)
        for form in "plain_$n $folder/$name" "zipped_$n $zipped"; do
            printf '__asm__(".section .rodata\\npage_%s:\\n.incbin \\"%s\\"\\n"\n' "${form%% *}" "${form#* }"
            printf '        "page_%s_end:\\n.byte 0\\n.previous\\n");\n' "${form%% *}"
            printf 'extern const unsigned char page_%s[], page_%s_end[];\n' "${form%% *}" "${form%% *}"
        done
        rows="$rows    {\"$name\", \"$tag\", page_plain_$n, page_plain_${n}_end, page_zipped_$n, page_zipped_${n}_end},
"
        n=$((n + 1))
    done
    printf 'const struct page_file page_files[] = {\n%s    {0},\n};\n' "$rows"
} >"$out.tmp"
mv "$out.tmp" "$out"
