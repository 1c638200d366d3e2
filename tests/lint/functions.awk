# No function of more than 60 lines, unless the comment before it gives a reason: LONG: ...
# A function starts with its name in the first column and ends with a brace there.
FNR == 1 { start = 0; reason = 0 }

/LONG:/ { reason = FNR }

/^[a-z_][a-z0-9_]*\(/ { start = FNR; name = $0; sub(/\(.*/, "", name) }

/;$/ && start == FNR { start = 0 } # a prototype

/^}$/ && start {
    length_ = FNR - start + 1
    if (length_ > 60 && (!reason || start - reason > 8)) {
        printf "%s:%d: %s has %d lines, 60 are the most\n", FILENAME, start, name, length_
        bad = 1
    }
    start = 0
    reason = 0
}

END { exit bad }
