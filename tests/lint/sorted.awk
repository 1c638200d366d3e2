# Tables whose head says that they are sorted: rows in order, in each stretch between other lines.
FNR == 1 { sorted = 0; last = "" }

/sorted/ && !/\(.*\)$/ { sorted = 1 }

sorted && /^[A-Z_]+\(.*\)$/ && !/^[A-Z]+_GROUP/ {
    if (last != "" && $0 < last) {
        printf "%s:%d: %s comes after %s\n", FILENAME, FNR, $0, last
        bad = 1
    }
    last = $0
    next
}

{ last = "" }

END { exit bad }
