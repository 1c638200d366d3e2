/* What `agon export` shares with its formats: a run being read, the names behind its ids, and
 * exact numbers. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include <stdio.h>

#include "base/hash.h"
#include "cli/run.h"

struct export_names { /* by id, looked up once */
    struct store_policy *policy;
    struct store_game *game;
    size_t policies, games; /* room of the arrays; an id of 0: not looked up yet */
};

struct export {
    struct run run;
    struct export_names names;
    char identity[HASH_HEX]; /* of the run */
    FILE *out;
    int64_t written;
    struct err *e;
};

/* NULL with x->e filled: the row is missing or does not decode. Valid until the next call. */
const struct store_policy *export_policy(struct export *x, int64_t id);
const struct store_game *export_game(struct export *x, int64_t id);

/* The shortest digits that read back as the very same number. "null" where it is not finite. */
#define EXPORT_NUMBER 32
const char *export_real(double v, char out[EXPORT_NUMBER]);
const char *export_float(float v, char out[EXPORT_NUMBER]);

/* The text of a prompt's tokens into `out`, which is cleared before. */
void export_spell(const int32_t *ids, size_t n, struct buf *out);

struct export_format {
    void (*begin)(struct export *x); /* NULL: nothing stands before the matches */
    int (*match)(struct export *x, const struct store_match *m); /* -1: x->e */
};
extern const struct export_format export_json, export_pgn, export_csv;

/* One page of HTML that needs nothing else: one match, or (id 0) the whole run. */
int export_html(struct export *x, int64_t id);

#endif
