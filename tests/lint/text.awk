# Plain hygiene of every text file.
function complain(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what
    bad = 1
}

/\t/ && FILENAME !~ /Makefile$/ { complain("a tab") }

/[ \t\r]$/ { complain("blanks at the end of the line") }

/TO[D]O|FIX[M]E|(^|[^X])X[X]X([^X]|$)/ { complain("an open end: finish it") }

/\/wor[k]\// { complain("a path of one machine") }

FILENAME ~ /\.[ch]$/ && width($0) > 100 { complain("more than 100 columns") }

# The only state of the program that is not passed as an argument: base/log.c's level, flags that
# signal handlers set, and what is loaded of games from outside, whose functions are given nothing else.
FILENAME ~ /^[a-z]+\/.*\.c$/ && FILENAME !~ /^tests\// && FILENAME != "base/log.c" &&
FILENAME != "games/extern/extern.c" &&
/^static [^(]*[;={]/ && !/const|sig_atomic_t/ { complain("state at file scope: pass it as an argument") }

function width(s,    bytes) {
    bytes = s
    return length(s) - gsub(/[\200-\277]/, "", bytes)
}

END { exit bad }
