/* agon sql: a SELECT of one's own on a run's database, live or stopped. What it may do is what the
 * server's POST /api/sql lets strangers do (store_sql()): read, for a bounded time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/listing.h"
#include "cli/run.h"

enum { ROWS = 1000, SECONDS = 10, SECONDS_MOST = 86400, QUESTION_MOST = 65536 };
#define BYTES ((size_t)256 << 20) /* of text in all rows */

struct answer {
    struct listing listing;
    struct store_sql q;
    char **name; /* [n] columns' names, no two of them equal */
    int n;
};

/* A JSON object holds a name once: a second column "a" is called "a:2". */
static char *
distinct(const struct answer *a, const char *name) {
    struct buf b = {0};
    buf_put(&b, name);
    for (int i = 0, twin = 2; i < a->n; i++) {
        if (strcmp(a->name[i], buf_text(&b)))
            continue;
        buf_clear(&b);
        buf_fmt(&b, "%s:%d", name, twin++);
        i = -1;
    }
    char *copy = mem_text(buf_text(&b));
    buf_free(&b);
    return copy;
}

static void
on_heads(void *arg, const struct store_cell *cell, int cells) {
    struct answer *a = arg;
    a->name = mem_zero((size_t)cells, sizeof *a->name);
    for (; a->n < cells; a->n++)
        a->name[a->n] = distinct(a, cell[a->n].name);
    listing_heads(&a->listing, cell, cells);
}

static void
on_row(void *arg, const struct store_cell *cell, int cells) {
    struct answer *a = arg;
    struct store_cell *row = mem_copy(cell, (size_t)cells * sizeof *row);
    for (int i = 0; i < cells && a->listing.style == LISTING_JSON; i++)
        row[i].name = a->name[i];
    if (listing_row(&a->listing, row, cells))
        a->q.cut = true; /* nobody reads on */
    free(row);
}

static int
read_stdin(struct buf *out, struct err *e) {
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, stdin))) {
        if (out->len + n > QUESTION_MOST)
            return err_set(e, "standard input: the question is longer than %d bytes",
                           QUESTION_MOST);
        buf_add(out, piece, n);
    }
    return ferror(stdin) ? err_set(e, "standard input cannot be read") : 0;
}

/* The question: the words of the command line, or standard input for "-". */
static int
read_question(const struct cmd_args *a, struct buf *out, struct err *e) {
    if (strcmp(a->word[0], "-") == 0)
        return read_stdin(out, e);
    buf_put(out, a->word[0]);
    return 0;
}

static int
read_limits(const struct cmd_args *a, struct answer *out, struct err *e) {
    long long rows, seconds;
    if (run_number("--limit", cmd_flag(a, "limit"), 1, INT32_MAX - 1, ROWS, &rows, e) < 0 ||
        run_number("--seconds", cmd_flag(a, "seconds"), 1, SECONDS_MOST, SECONDS, &seconds, e) <
            0 ||
        listing_style(a, &out->listing.style, e) < 0)
        return -1;
    out->q = (struct store_sql){.rows = (int)rows,
                                .bytes = BYTES,
                                .most_us = seconds * 1000000,
                                .arg = out,
                                .heads = on_heads,
                                .each = on_row};
    return 0;
}

/* The database alone: a run of another user may keep its configuration to itself. */
static struct store *
open_database(const struct cmd_args *a, struct err *e) {
    char dir[RUN_PATH], path[RUN_PATH + 16];
    if (run_find(cmd_flag(a, "run"), dir, e) < 0)
        return NULL;
    snprintf(path, sizeof path, "%s/run.db", dir);
    return store_open(path, STORE_READ, false, e);
}

static int
run_sql(const struct cmd_args *a, struct err *e) {
    struct answer answer = {.n = 0};
    struct buf sql = {0};
    struct store *db = NULL;
    int rows = -1;
    if (read_limits(a, &answer, e) == 0 && read_question(a, &sql, e) == 0)
        db = open_database(a, e);
    if (db)
        rows = store_sql(db, buf_text(&sql), sql.len, &answer.q, e);
    listing_end(&answer.listing);
    if (rows >= 0 && answer.q.cut && !ferror(stdout)) {
        fflush(stdout);
        fprintf(stderr, "There are more than these %d rows (--limit N).\n", rows);
    }
    for (int i = 0; i < answer.n; i++)
        free(answer.name[i]);
    free(answer.name);
    store_close(db);
    buf_free(&sql);
    return rows < 0 ? -1 : 0;
}

const struct cmd cmd_sql = {
    .name = "sql",
    .args = "SQL",
    .help =
        "Ask a run's database a question of your own (reading only); \"-\": from standard input.",
    .least = 1,
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"limit", "N", "at most so many rows (default 1000)"},
            {"seconds", "N", "give up after so long (default 10)"},
            LISTING_FLAGS,
            {0},
        },
    .run = run_sql,
};
