/* Rule conformance: replays matches that were recorded with TextArena through the built-in game of
 * the same rules, and reports every difference: who moves, which replies are legal, what chance may
 * give, how a match ends and what it pays. The format of the files is told in docs/conform.md.
 *
 * Which environments there are, how each of them reads replies, and where it is known to be odd
 * stands in one table (arena/conform-env.c). */
#ifndef ARENA_CONFORM_H
#define ARENA_CONFORM_H

#include "base/err.h"

struct conform_difference {
    int line;        /* of the file, from 1 */
    long long match; /* its number in the file */
    int step;        /* from 0; -1: the deal or the end */
    const char *what;
};

struct conform_count {
    int matches, steps; /* replayed */
    int skipped;        /* matches that show a known fault of the original */
    int differences;
};

/* Reads a file and adds to *count. A match is left at its first difference. 0 also where there are
 * differences; -1 and e where the file cannot be read or is no such file. tell may be NULL. */
int conform_file(const char *path, void (*tell)(void *arg, const struct conform_difference *d),
                 void *arg, struct conform_count *count, struct err *e);
/* The i-th known environment, NULL past the last. */
const char *conform_env_name(int i);

#endif
