# Every option is read somewhere, and what is read exists with that type. The first file is the table.
FILENAME ~ /options\.def$/ {
    if (match($0, /^OPT\("[^"]*", [A-Z]+/)) {
        row = substr($0, RSTART + 5, RLENGTH - 5)
        split(row, part, "\", ")
        type[part[1]] = part[2]
        line[part[1]] = FNR
    }
    next
}

function complain(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what
    bad = 1
}

{
    rest = $0
    while (match(rest, /conf_(int|real|bool|text|place)\([^",]*, "[^"]*"/)) {
        call = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        key = call
        sub(/^[^"]*"/, "", key)
        sub(/"$/, "", key)
        if (FILENAME !~ /^tests\//)
            read[key] = 1
        if (!(key in type)) {
            complain("there is no option \"" key "\"")
            continue
        }
        t = type[key]
        if ((call ~ /^conf_int/ && t != "INT") || (call ~ /^conf_bool/ && t != "BOOL") ||
            (call ~ /^conf_text/ && t != "TEXT" && t != "CHOICE" && t != "GAMES") ||
            (call ~ /^conf_real/ && t != "REAL" && t != "TIME" && t != "INT"))
            complain("\"" key "\" is of type " t)
    }
}

END {
    for (key in type)
        if (!(key in read)) {
            printf "base/options.def:%d: nothing reads \"%s\"\n", line[key], key
            bad = 1
        }
    exit bad
}
