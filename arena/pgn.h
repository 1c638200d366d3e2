/* Results of matches in PGN (Portable Game Notation), as rating tools and other arenas write them.
 * Only who met whom and how it ended is taken; moves, comments and variations are passed over, but
 * must be closed where they are opened.
 *
 * A game is its tags and what follows them up to the result (1-0, 0-1, 1/2-1/2, *). Where the
 * result behind the moves is missing, the tag Result alone counts, and the next game begins with
 * the next tags. The file is UTF-8; names are at most PGN_NAME bytes without control characters. */
#ifndef ARENA_PGN_H
#define ARENA_PGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PGN_NAME 128             /* bytes of a player's name */
#define PGN_MOST (256u << 20)    /* bytes of a file */
#define PGN_PAIRS_MOST (1 << 17) /* different pairs of names in one file */

enum pgn_result { PGN_WHITE, PGN_DRAW, PGN_BLACK, PGN_OPEN, PGN_RESULTS };
const char *pgn_result_text(enum pgn_result r); /* "1-0", ... */

struct pgn_game { /* texts are valid during the call; "" where a tag is missing */
    char white[PGN_NAME + 1], black[PGN_NAME + 1];
    char run[PGN_NAME + 1]; /* tag AgonRun: the run that an export came from */
    enum pgn_result result;
};

/* Calls each() for every game, in the order of the file; it returns 0 to go on. Returns the number
 * of games, or -1 with e: "name:line:column: ...". */
int64_t pgn_read(const char *name, const char *text, size_t n,
                 int (*each)(void *arg, const struct pgn_game *g), void *arg, struct err *e);

/* ---- sums over a file ---- */

struct pgn_pair {
    char *white, *black;         /* owned */
    int64_t wins, draws, losses; /* seen from white */
};

struct pgn_sums {
    struct pgn_pair *pair; /* owned, in the order of their first game */
    size_t pairs;
    int64_t games, open, own; /* open: without a result; own: of the run itself; neither is in the
                               * pairs */
    uint32_t *slot;           /* hash table of places in `pair`, counted from 1 */
    size_t slots;
};

/* Sums up a file. Games whose tag AgonRun is `run` (NULL: none) are only counted. */
int pgn_sum(const char *name, const char *text, size_t n, const char *run, struct pgn_sums *out,
            struct err *e);
void pgn_sums_free(struct pgn_sums *s);

#endif
