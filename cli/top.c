#include "cli/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/rows.h"
#include "cli/server.h"

enum { PATIENCE = 3, STEPS = 50, EVALS = 6 };

/* ---- asking ---- */

static json_t *
ask_server(struct top *t) {
    struct err e;
    json_t *v = NULL;
    if (!t->http) {
        t->http = server_connect(t->dir);
        if (t->http)
            http_set_stop(t->http, t->stop, NULL);
    }
    if (t->http && http_call(t->http, "GET", "/api/overview", NULL, 0, PATIENCE, &e) == 200)
        v = http_json(t->http, &e);
    if (!v) { /* the next server has another port and token */
        http_free(t->http);
        t->http = NULL;
    }
    return v;
}

static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    json_array_append_new(arg, row_json(cell, cells));
    return 0;
}

static json_t *
ask_store(struct top *t, struct top_look *look, const char *question, const struct store_bind *bind,
          size_t n) {
    struct err e;
    json_t *rows = json_array();
    if (t->store && store_query(t->store, question, bind, n, add_row, rows, &e) >= 0)
        return rows;
    json_decref(rows);
    if (t->store)
        snprintf(look->trouble, sizeof look->trouble, "%.500s", e.text);
    return NULL;
}

/* The only row of an answer. */
static json_t *
take_first(json_t *rows) {
    json_t *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    return row;
}

void
top_take(struct top *t, struct top_look *look) {
    char path[RUN_PATH + 16];
    struct err e;
    const struct store_bind train = {":kind", "train", 0}, steps = {":limit", NULL, STEPS},
                            evals = {":limit", NULL, EVALS};
    *look = (struct top_look){.at_ms = clock_wall_ms(), .overview = ask_server(t)};
    look->live = look->overview != NULL;
    snprintf(path, sizeof path, "%s/run.db", t->dir);
    if (!t->store)
        t->store = store_open(path, STORE_READ, false, &e);
    if (!t->store)
        snprintf(look->trouble, sizeof look->trouble, "%.500s", e.text);
    look->status = take_first(ask_store(t, look, "status", NULL, 0));
    look->games = ask_store(t, look, "by_game", &train, 1);
    look->steps = ask_store(t, look, "steps", &steps, 1);
    look->evals = ask_store(t, look, "evals", &evals, 1);
    look->staleness = take_first(ask_store(t, look, "staleness", NULL, 0));
    if (!look->trouble[0])
        return;
    store_close(t->store); /* perhaps the file was replaced: it is opened anew */
    t->store = NULL;
}

void
top_free(struct top_look *look) {
    json_t *parts[] = {look->overview, look->status, look->games,
                       look->steps,    look->evals,  look->staleness};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_decref(parts[i]);
    *look = (struct top_look){0};
}

void
top_close(struct top *t) {
    http_free(t->http);
    store_close(t->store);
    t->http = NULL;
    t->store = NULL;
}

json_t *
top_json(const struct top *t, const struct top_look *look) {
    return json_pack("{s:s,s:I,s:b,s:O?,s:O?,s:O?,s:O?,s:O?,s:O?,s:s?}", "run", t->dir, "at_ms",
                     (json_int_t)look->at_ms, "live", (int)look->live, "server", look->overview,
                     "status", look->status, "games", look->games, "steps", look->steps, "evals",
                     look->evals, "staleness", look->staleness, "trouble",
                     look->trouble[0] ? look->trouble : NULL);
}
