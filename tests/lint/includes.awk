# Which folder may include what: the table of docs/architecture.md. Files are named from the root.
BEGIN {
    may["base"] = "base/"
    may["games"] = "base/ games/"
    # Games from outside: rules see extern.h only, and only the command line more than that.
    inside = "^games/extern/(cache|message|process|program|registry|scan|shared)\\.h$"
    insiders = "^(games/extern|cli|tests)/"
    may["policy"] = "base/ policy/"
    may["store"] = "base/ store/"
    may["learner"] = "base/ games/game.h policy/ store/ learner/"
    may["arena"] = "base/ games/ policy/ store/ arena/"
    may["cli"] = "base/ games/ policy/ store/ learner/ arena/ cli/"

    # Headers of libraries, and the files that may have them.
    only["yaml.h"] = "^base/conf\\.c$"
    only["cblas.h"] = "^policy/mat\\.c$"
    only["sqlite3.h"] = "^store/"
    only["event2/"] = "^(arena|cli)/"
    only["dlfcn.h"] = "^games/extern/"
    # A schedule, a match and a rating must run without an event loop.
    loopless = "^arena/(match|rating|schedule)[a-z_-]*\\.[ch]$"
}

function complain(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what
    bad = 1
}

function allowed(header,    n, list, i) {
    n = split(may[folder], list, " ")
    for (i = 1; i <= n; i++)
        if (index(header, list[i]) == 1)
            return 1
    # Scripted players look into the game that they play.
    return FILENAME ~ /^policy\/player/ && index(header, "games/") == 1
}

FNR == 1 {
    folder = FILENAME
    sub(/\/.*/, "", folder)
    rules = 0
}

# A rules file: it defines a game, and is a pure function of its arguments.
/^(static )?const struct game [a-z]/ { rules = folder == "games" }

folder == "tests" { next }

/^# *include "/ {
    header = $0
    sub(/^[^"]*"/, "", header)
    sub(/".*/, "", header)
    if (!allowed(header) || (header ~ inside && FILENAME !~ insiders))
        complain(folder "/ may not include \"" header "\"")
}

/^# *include </ {
    header = $0
    sub(/^[^<]*</, "", header)
    sub(/>.*/, "", header)
    for (h in only)
        if (index(header, h) == 1 && FILENAME !~ only[h])
            complain("<" header "> is for " only[h] " only")
    if (header ~ /^event2\// && FILENAME ~ loopless)
        complain("this file must work without an event loop")
    if (folder == "games" && header ~ /^(time|stdio|unistd|sys\/.*)\.h$/)
        impure[FILENAME] = FNR ": <" header ">"
}

folder == "games" && /(^|[^a-z0-9_])(malloc|calloc|realloc|free|rand|random|time|clock|mem_[a-z]+|rng_[a-z0-9]+)\(/ {
    impure[FILENAME] = FNR ": " $0
}

rules { is_rules[FILENAME] = 1 }

END {
    for (f in impure)
        if (f in is_rules) {
            printf "%s:%s: rules use no memory, time, chance or files of their own\n", f, impure[f]
            bad = 1
        }
    exit bad
}
