/* Lists of rows. Members are named as the columns of the database's views (docs/database.md). A
 * list is newest first, and says where the next page begins. */
#include "arena/api-int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- rows ---- */

const char *
row_cell(const struct store_cell *cell, int cells, const char *name) {
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].name, name))
            return cell[i].type == STORE_NULL ? NULL : cell[i].text;
    return NULL;
}

double
row_number(const struct store_cell *cell, int cells, const char *name) {
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].name, name))
            return cell[i].type == STORE_INT || cell[i].type == STORE_REAL
                       ? strtod(cell[i].text, NULL)
                       : NAN;
    return NAN;
}

static bool
is_among(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}
#define AMONG(list, name) is_among(list, sizeof(list) / sizeof *(list), name)

static bool
is_id(const char *name) {
    static const char *const ids[] = {"id", "deal", "first_match", "last_match", "last_leased"};
    size_t n = strlen(name);
    return (n > 3 && !strcmp(name + n - 3, "_id")) || AMONG(ids, name);
}

static bool
is_flag(const char *name) {
    static const char *const flags[] = {"kept", "forfeited", "thinned", "escaped", "refused"};
    return AMONG(flags, name);
}

/* Text that should be JSON: stored by this program, but read with care. */
static void
put_stored(struct json_out *j, const char *key, const char *text) {
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    if (v)
        json_out_raw(j, key, text, strlen(text));
    else
        json_out_null(j, key);
    json_decref(v);
}

static void
put_cell(struct json_out *j, const struct store_cell *c) {
    switch (c->type) {
    case STORE_NULL:
        json_out_null(j, c->name);
        break;
    case STORE_INT:
        if (is_id(c->name))
            json_out_id(j, c->name, strtoll(c->text, NULL, 10));
        else if (is_flag(c->name))
            json_out_bool(j, c->name, strcmp(c->text, "0") != 0);
        else
            json_out_int(j, c->name, strtoll(c->text, NULL, 10));
        break;
    case STORE_REAL:
        json_out_real(j, c->name, strtod(c->text, NULL));
        break;
    case STORE_TEXT:
        if (!strcmp(c->name, "extra") || !strcmp(c->name, "report"))
            put_stored(j, c->name, c->text);
        else
            json_out_text(j, c->name, c->text);
        break;
    }
}

void
row_members(struct json_out *j, const struct store_cell *cell, int cells) {
    for (int i = 0; i < cells; i++)
        put_cell(j, &cell[i]);
}

static int
add_object(void *arg, const struct store_cell *cell, int cells) {
    struct json_out *j = arg;
    json_out_open(j, NULL, '{');
    row_members(j, cell, cells);
    json_out_close(j, '}');
    return j->out->len > API_ANSWER_MOST; /* the answer will be refused as too large */
}

int
rows_array(struct task *t, struct store *db, struct json_out *j, const char *key,
           const char *question, const struct store_bind *bind, size_t n) {
    struct err e;
    json_out_open(j, key, '[');
    int rows = store_query(db, question, bind, n, add_object, j, &e);
    if (rows < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    return rows;
}

/* ---- pages ---- */

struct page {
    struct json_out *j;
    const char *key; /* the column that pages go by */
    int64_t limit, rows, last;
    bool more;
};

static int
add_to_page(void *arg, const struct store_cell *cell, int cells) {
    struct page *p = arg;
    if (p->rows++ == p->limit) {
        p->more = true;
        return 1;
    }
    const char *last = row_cell(cell, cells, p->key);
    p->last = last ? strtoll(last, NULL, 10) : 0;
    return add_object(p->j, cell, cells);
}

/* The parameters of a question that the query string gives, and one row more than is shown. */
static size_t
bind_query(const struct http_query *q, const char *const *names, size_t n, int64_t limit,
           struct store_bind *bind) {
    size_t k = 0;
    bind[k++] = (struct store_bind){":limit", NULL, limit + 1};
    for (size_t i = 0; i < n; i++) {
        const char *value = http_query_find(q, names[i] + 1);
        if (!value)
            continue;
        if (!strcmp(names[i], ":before"))
            bind[k++] = (struct store_bind){names[i], NULL, strtoll(value, NULL, 10)};
        else
            bind[k++] = (struct store_bind){names[i], value, 0};
    }
    return k;
}

#define NAMES_MOST 8

static int
write_page(struct task *t, struct store *db, struct json_out *j, const char *question,
           const char *key, const char *const *names, size_t n) {
    struct store_bind bind[NAMES_MOST + 1];
    struct page p = {j, key, api_number(&t->query, "limit", API_ROWS), 0, 0, false};
    struct err e;
    size_t binds = bind_query(&t->query, names, n, p.limit, bind);
    json_out_open(j, NULL, '{');
    json_out_open(j, question, '[');
    if (store_query(db, question, bind, binds, add_to_page, &p, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    if (p.more && !strcmp(key, "step"))
        json_out_int(j, "next", p.last);
    else if (p.more)
        json_out_id(j, "next", p.last);
    else
        json_out_null(j, "next");
    json_out_close(j, '}');
    return 0;
}
#define WRITE_PAGE(question, key, ...)                \
    static const char *const names[] = {__VA_ARGS__}; \
    return write_page(t, db, j, question, key, names, sizeof names / sizeof *names)

static int
read_matches(struct task *t, struct store *db, struct json_out *j) {
    WRITE_PAGE("matches", "id", ":game", ":policy", ":kind", ":reason", ":before");
}

static int
read_steps(struct task *t, struct store *db, struct json_out *j) {
    WRITE_PAGE("steps", "step", ":before");
}

static int
read_evals(struct task *t, struct store *db, struct json_out *j) {
    WRITE_PAGE("evals", "id", ":game", ":policy", ":before");
}

static int
read_events(struct task *t, struct store *db, struct json_out *j) {
    WRITE_PAGE("events", "id", ":level", ":before");
}

/* The page's ?type= is the question's :kind, which means something else for matches. */
static int
read_policies(struct task *t, struct store *db, struct json_out *j) {
    for (size_t i = 0; i < t->query.n; i++)
        if (!strcmp(t->query.pair[i].name, "type"))
            t->query.pair[i].name = "kind";
    WRITE_PAGE("policies", "id", ":kind", ":before");
}

static int
read_forfeits(struct task *t, struct store *db, struct json_out *j) {
    struct store_bind bind[NAMES_MOST];
    static const char *const names[] = {":game"};
    size_t n = bind_query(&t->query, names, 1, api_number(&t->query, "limit", API_ROWS) - 1, bind);
    json_out_open(j, NULL, '{');
    if (rows_array(t, db, j, "forfeits", "forfeits", bind, n) < 0)
        return -1;
    json_out_close(j, '}');
    return 0;
}

void
get_matches(struct call *c) {
    api_ask(c, read_matches, NULL);
}

void
get_policies(struct call *c) {
    api_ask(c, read_policies, NULL);
}

void
get_steps(struct call *c) {
    api_ask(c, read_steps, NULL);
}

void
get_evals(struct call *c) {
    api_ask(c, read_evals, NULL);
}

void
get_events(struct call *c) {
    api_ask(c, read_events, NULL);
}

void
get_forfeits(struct call *c) {
    api_ask(c, read_forfeits, NULL);
}

/* ---- series ---- */

#define COLUMNS_MOST 40

struct series { /* rows on their way to columns */
    int columns;
    struct buf column[COLUMNS_MOST];
    struct json_out out[COLUMNS_MOST];
};

static int
add_columns(void *arg, const struct store_cell *cell, int cells) {
    struct series *s = arg;
    if (!s->columns)
        for (; s->columns < cells && s->columns < COLUMNS_MOST; s->columns++) {
            s->out[s->columns] = (struct json_out){.out = &s->column[s->columns]};
            json_out_open(&s->out[s->columns], cell[s->columns].name, '[');
        }
    for (int i = 0; i < s->columns; i++) {
        const struct store_cell c = cell[i];
        if (c.type == STORE_INT)
            json_out_int(&s->out[i], NULL, strtoll(c.text, NULL, 10));
        else if (c.type == STORE_REAL)
            json_out_real(&s->out[i], NULL, strtod(c.text, NULL));
        else
            json_out_null(&s->out[i], NULL);
    }
    return 0;
}

/* What a chart of evaluations needs; the whole report is in /api/evals. */
static int
add_eval(void *arg, const struct store_cell *cell, int cells) {
    static const char *const kept[] = {"nash_conv", "invalid", "value", "best_response", "forfeit"};
    struct json_out *j = arg;
    const char *report = row_cell(cell, cells, "report");
    json_t *v = report ? json_loads(report, 0, NULL) : NULL, *player;
    size_t i;
    json_out_open(j, NULL, '{');
    for (int k = 0; k < cells; k++)
        if (strcmp(cell[k].name, "report"))
            row_members(j, &cell[k], 1);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        json_t *m = json_object_get(v, kept[k]);
        char *text =
            m ? json_dumps(m, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
        json_out_raw(j, kept[k], text ? text : "null", strlen(text ? text : "null"));
        free(text);
    }
    json_out_open(j, "against", '[');
    json_array_foreach(json_object_get(v, "against"), i, player) {
        const char *name = json_string_value(json_object_get(player, "name"));
        json_out_open(j, NULL, '{');
        json_out_text(j, "name", name);
        static const char *const counts[] = {"matches", "win", "draw", "loss", "mean"};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            json_t *m = json_object_get(player, counts[k]);
            json_out_real(j, counts[k], json_is_number(m) ? json_number_value(m) : NAN);
        }
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
    json_out_close(j, '}');
    json_decref(v);
    return j->out->len > API_ANSWER_MOST;
}

struct game_series { /* rows on their way to columns, game by game */
    struct json_out *j;
    char game[256], column[64]; /* the open ones; "": none */
};

static void
close_game(struct game_series *s) {
    if (*s->column)
        json_out_close(s->j, ']');
    if (*s->game)
        json_out_close(s->j, '}');
}

static int
add_game_columns(void *arg, const struct store_cell *cell, int cells) {
    struct game_series *s = arg;
    const char *game = row_cell(cell, cells, "game"), *column = row_cell(cell, cells, "column");
    if (!game || !*game || !column || !*column) /* no key of a learner's */
        return 0;
    if (strncmp(game, s->game, sizeof s->game - 1)) {
        close_game(s);
        json_out_open(s->j, game, '{');
        snprintf(s->game, sizeof s->game, "%s", game);
        *s->column = '\0';
    }
    if (strncmp(column, s->column, sizeof s->column - 1)) {
        if (*s->column)
            json_out_close(s->j, ']');
        json_out_open(s->j, column, '[');
        snprintf(s->column, sizeof s->column, "%s", column);
    }
    json_out_real(s->j, NULL, row_number(cell, cells, "value"));
    return 0;
}

static int
write_games(struct task *t, struct store *db, struct json_out *j, const struct store_bind *bind,
            size_t n) {
    struct game_series s = {.j = j};
    struct err e;
    json_out_open(j, "games", '{');
    if (store_query(db, "series_games", bind, n, add_game_columns, &s, &e) < 0)
        return task_fail_store(t, db, &e);
    close_game(&s);
    json_out_close(j, '}');
    return 0;
}

static int
read_series(struct task *t, struct store *db, struct json_out *j) {
    struct series *s = mem_zero(1, sizeof *s);
    struct store_bind bind[3], evals = {":limit", NULL, API_ROWS_MOST};
    struct err e;
    size_t n = 0;
    bind[n++] = (struct store_bind){":points", NULL, api_number(&t->query, "points", 200)};
    if (http_query_find(&t->query, "from"))
        bind[n++] = (struct store_bind){":from", NULL, api_number(&t->query, "from", 0)};
    if (http_query_find(&t->query, "to"))
        bind[n++] = (struct store_bind){":to", NULL, api_number(&t->query, "to", 0)};
    int points = store_query(db, "series", bind, n, add_columns, s, &e);
    json_out_open(j, NULL, '{');
    json_out_int(j, "points", points);
    json_out_open(j, "steps", '{');
    for (int i = 0; i < s->columns; i++) {
        json_out_close(&s->out[i], ']');
        json_out_raw(j, NULL, s->column[i].at, s->column[i].len);
        buf_free(&s->column[i]);
    }
    json_out_close(j, '}');
    free(s);
    if (points < 0)
        return task_fail_store(t, db, &e);
    if (write_games(t, db, j, bind, n) < 0)
        return -1;
    json_out_open(j, "evals", '[');
    if (store_query(db, "evals", &evals, 1, add_eval, j, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    json_out_close(j, '}');
    return 0;
}

void
get_series(struct call *c) {
    api_ask(c, read_series, NULL);
}
