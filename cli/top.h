/* What `agon top` shows of a run at one moment: what only the server knows comes from it, the rest
 * from the database, so that a stopped run can be looked at, too. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/http.h"
#include "cli/run.h"

struct top { /* where it is asked; what is missing is looked for at each look */
    char dir[RUN_PATH];
    struct store *store;
    struct http *http;
    bool (*stop)(void *arg); /* gives a waiting call up */
};

struct top_look { /* all JSON as in the API and the database's views; NULL: not known */
    int64_t at_ms;
    bool live;         /* a server answered */
    json_t *overview;  /* the server's */
    json_t *status;    /* counts of the whole run */
    json_t *games;     /* results of training matches by game */
    json_t *steps;     /* newest first */
    json_t *evals;     /* newest first */
    json_t *staleness; /* of the newest step */
    char trouble[512]; /* why the database cannot be read; "": it can */
};

void top_take(struct top *t, struct top_look *look);
void top_free(struct top_look *look);
void top_close(struct top *t);

json_t *top_json(const struct top *t, const struct top_look *look); /* the caller's */
/* Several lines, each ended by a line break; and all that fits into one line. */
void top_page(const struct top *t, const struct top_look *look, struct buf *out);
void top_line(const struct top *t, const struct top_look *look, struct buf *out);

#endif
