/* POST /api/sql: a person's own SELECT. store_sql() sees to it that it only reads, and not for
 * long. */
#include "arena/api-int.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define ROWS 1000
#define BYTES (4u << 20)
#define MOST_US 2000000

static void
write_heads(void *arg, const struct store_cell *cell, int cells) {
    struct json_out *j = arg;
    json_out_open(j, "columns", '[');
    for (int i = 0; i < cells; i++)
        json_out_text(j, NULL, cell[i].name);
    json_out_close(j, ']');
    json_out_open(j, "rows", '[');
}

/* Whole numbers that JavaScript would round are written as text. */
static void
write_value(struct json_out *j, const struct store_cell *c) {
    int64_t v;
    switch (c->type) {
    case STORE_NULL:
        json_out_null(j, NULL);
        break;
    case STORE_INT:
        v = strtoll(c->text, NULL, 10);
        if (v > 9007199254740991 || v < -9007199254740991)
            json_out_id(j, NULL, v);
        else
            json_out_int(j, NULL, v);
        break;
    case STORE_REAL:
        json_out_real(j, NULL, strtod(c->text, NULL));
        break;
    case STORE_TEXT:
        json_out_text(j, NULL, c->text);
        break;
    }
}

static void
write_row(void *arg, const struct store_cell *cell, int cells) {
    struct json_out *j = arg;
    json_out_open(j, NULL, '[');
    for (int i = 0; i < cells; i++)
        write_value(j, &cell[i]);
    json_out_close(j, ']');
}

static int
read_sql(struct task *t, struct store *db, struct json_out *j) {
    struct store_sql q = {.rows = ROWS,
                          .bytes = BYTES,
                          .most_us = MOST_US,
                          .arg = j,
                          .heads = write_heads,
                          .each = write_row};
    struct err e;
    int64_t start = clock_mono_us();
    json_out_open(j, NULL, '{');
    if (store_sql(db, t->more, strlen(t->more), &q, &e) < 0)
        return task_fail(t, 400, "sql", "%s", e.text);
    json_out_close(j, ']');
    json_out_bool(j, "complete", !q.cut);
    json_out_real(j, "seconds", (double)(clock_mono_us() - start) / 1e6);
    json_out_close(j, '}');
    return 0;
}

void
post_sql(struct call *c) {
    json_t *sql = json_object_get(c->body, "sql");
    if (!json_is_string(sql) || json_object_size(c->body) != 1) {
        api_refuse(c->q, 400, "sql", "sql: {\"sql\": \"SELECT ...\"} is needed");
        return;
    }
    api_ask_slow(c, read_sql, mem_text(json_string_value(sql)));
}
