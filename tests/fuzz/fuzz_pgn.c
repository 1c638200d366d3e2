/* PGN from anybody: it ends, and what is taken from it keeps the limits. */
#include <stdlib.h>
#include <string.h>

#include "arena/pgn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pgn_sums s;
    struct err e = {.text = ""};
    if (pgn_sum("x.pgn", (const char *)data, size, "me", &s, &e) < 0) {
        ensure(!strncmp(e.text, "x.pgn:", 6) && !s.pair);
        return 0;
    }
    int64_t counted = 0;
    for (size_t i = 0; i < s.pairs; i++) {
        const struct pgn_pair *p = &s.pair[i];
        ensure(*p->white && strlen(p->white) <= PGN_NAME);
        ensure(*p->black && strlen(p->black) <= PGN_NAME);
        ensure(p->wins >= 0 && p->draws >= 0 && p->losses >= 0);
        counted += p->wins + p->draws + p->losses;
    }
    ensure(counted + s.open + s.own == s.games);
    pgn_sums_free(&s);
    return 0;
}
