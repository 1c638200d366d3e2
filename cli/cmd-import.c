/* agon import: results that were played elsewhere, from PGN files. The server takes them in where
 * one runs; a run that stands still is written to directly, under its lock. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/lock.h"
#include "arena/pgn.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/rows.h"
#include "cli/run.h"
#include "cli/server.h"
#include "cli/table.h"

enum { LIST_MOST = 1000, WAIT_S = 60, NAME_MOST = 200 };

struct job {
    struct run run;
    char identity[HASH_HEX];
    char spec[256]; /* of the game; "": not said */
    /* Exactly one of: */
    struct http *http;
    struct store *store;
    int lock;
};

/* ---- where to write ---- */

static int
open_writer(struct job *j, struct err *e) {
    char path[RUN_PATH + 32];
    struct err busy;
    j->lock = lock_run(j->run.dir, &busy);
    if (j->lock >= 0) {
        snprintf(path, sizeof path, "%s/run.db", j->run.dir);
        j->store = store_open(path, STORE_WRITE, true, e);
        return j->store ? 0 : -1;
    }
    j->http = server_connect(j->run.dir);
    if (j->http)
        return 0;
    return lock_is_held(j->run.dir)
               ? err_set(e, "%s: a server starts or stops just now; try again in a moment",
                         j->run.dir)
               : err_set(e, "%s", busy.text);
}

static void
close_writer(struct job *j) {
    store_close(j->store);
    http_free(j->http);
    if (j->lock >= 0)
        close(j->lock);
}

/* 1: it was there already. */
static int
send_import(struct job *j, const struct store_import *in, struct err *e) {
    json_t *rows = json_array(), *body;
    for (size_t i = 0; i < in->results; i++) {
        const struct store_import_result *r = &in->result[i];
        json_array_append_new(rows,
                              json_pack("[s,s,I,I,I]", r->white, r->black, (json_int_t)r->wins,
                                        (json_int_t)r->draws, (json_int_t)r->losses));
    }
    body = json_pack("{s:s,s:s,s:o}", "hash", in->hash, "name", in->name, "results", rows);
    if (j->spec[0])
        json_object_set_new(body, "game", json_string(j->spec));
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    int status = http_call(j->http, "POST", "/api/imports", text, strlen(text), WAIT_S, e);
    free(text);
    if (status != 200)
        return status < 0 ? -1 : http_refusal(j->http, e);
    json_t *answer = http_json(j->http, e);
    int added = answer ? json_is_true(json_object_get(answer, "added")) : 0;
    bool bad = !answer;
    json_decref(answer);
    return bad ? -1 : !added;
}

/* ---- one file ---- */

static int
add_sums(struct job *j, const struct pgn_sums *sums, struct store_import *in, struct err *e) {
    struct store_import_result *row = mem_zero(sums->pairs, sizeof *row);
    for (size_t i = 0; i < sums->pairs; i++) {
        const struct pgn_pair *p = &sums->pair[i];
        row[i] = (struct store_import_result){p->white, p->black, p->wins, p->draws, p->losses};
    }
    in->result = row;
    in->results = sums->pairs;
    int got = j->http ? send_import(j, in, e) : store_import_add(j->store, in, e);
    free(row);
    return got;
}

static void
tell(const char *path, const struct pgn_sums *s, int known) {
    int64_t counted = s->games - s->open - s->own;
    if (known) {
        printf("%s: was imported before; nothing was added\n", path);
        return;
    }
    printf("%s: %" PRId64 " result%s of %zu pair%s of players", path, counted,
           counted == 1 ? "" : "s", s->pairs, s->pairs == 1 ? "" : "s");
    if (s->open)
        printf("; %" PRId64 " without a result left out", s->open);
    if (s->own)
        printf("; %" PRId64 " of this run itself left out", s->own);
    putchar('\n');
}

/* The file's name for people who look at the list later: its last bytes, and nothing that is no
 * text. */
static void
short_name(const char *path, char out[NAME_MOST + 1]) {
    struct buf b = {0};
    const char *slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;
    term_escape(&b, name, strlen(name), false);
    snprintf(out, NAME_MOST + 1, "%s", buf_text(&b));
    if (!b.len)
        snprintf(out, NAME_MOST + 1, "-");
    buf_free(&b);
}

static int
import_text(struct job *j, const char *path, const struct buf *text, struct err *e) {
    struct pgn_sums sums;
    char hash[HASH_HEX], name[NAME_MOST + 1];
    if (pgn_sum(path, text->at ? (const char *)text->at : "", text->len, j->identity, &sums, e) < 0)
        return -1;
    hash_hex(text->at, text->len, hash);
    short_name(path, name);
    struct store_import in = {.hash = hash, .name = name, .at_ms = clock_wall_ms()};
    int got = 0;
    if (j->store && j->spec[0])
        for (struct store_game g = {.id = 1}; !in.game; g.id++) {
            if (store_game_get(j->store, g.id, &g, e) < 0)
                break;
            in.game = strcmp(g.spec, j->spec) ? 0 : g.id;
        }
    if (sums.pairs)
        got = add_sums(j, &sums, &in, e);
    else if (!sums.own)
        got = err_set(e, "%s: no game of it has a result", path);
    if (got >= 0)
        tell(path, &sums, got);
    pgn_sums_free(&sums);
    return got < 0 ? -1 : 0;
}

static int
import_file(struct job *j, const char *path, struct err *e) {
    struct buf text = {0};
    int bad = file_read_named(strcmp(path, "-") ? path : "/dev/stdin", PGN_MOST, &text, e);
    if (!bad)
        bad = import_text(j, path, &text, e);
    buf_free(&text);
    return bad;
}

/* ---- the list, and forgetting ---- */

static int
add_file(void *arg, const struct store_cell *cell, int cells) {
    struct table *t = arg;
    char at[32];
    term_time(at, row_int(cell, cells, "at_ms", 0));
    const char *hash = row_text(cell, cells, "hash");
    table_fmt(t, "%.12s", hash ? hash : "");
    table_add(t, row_text(cell, cells, "matches"));
    table_add(t, at);
    table_add(t, row_text(cell, cells, "game"));
    table_add(t, row_text(cell, cells, "name"));
    return 0;
}

static int
print_list(struct job *j, struct err *e) {
    static const char *const heads[] = {"hash", ">matches", "imported (UTC)", "game", "file", NULL};
    struct table t;
    struct store_bind bind = {":limit", NULL, LIST_MOST};
    table_init(&t, heads);
    int got = store_query(j->run.store, "import_files", &bind, 1, add_file, &t, e);
    table_print(&t, stdout);
    return got < 0 ? -1 : 0;
}

struct search {
    const char *prefix;
    char hash[HASH_HEX];
    int found;
};

static int
match_hash(void *arg, const struct store_cell *cell, int cells) {
    struct search *s = arg;
    const char *hash = row_text(cell, cells, "hash");
    if (!hash || strncmp(hash, s->prefix, strlen(s->prefix)))
        return 0;
    snprintf(s->hash, sizeof s->hash, "%s", hash);
    s->found++;
    return 0;
}

static int
forget(struct job *j, const char *prefix, struct err *e) {
    struct search s = {.prefix = prefix};
    struct store_bind bind = {":limit", NULL, LIST_MOST};
    if (store_query(j->run.store, "import_files", &bind, 1, match_hash, &s, e) < 0)
        return -1;
    if (s.found != 1 || strlen(prefix) < 4)
        return err_set(e,
                       "--remove %.64s: the first digits (4 or more) of one file's hash are "
                       "needed; --list shows them",
                       prefix);
    if (open_writer(j, e) < 0)
        return -1;
    if (j->store)
        return store_import_remove(j->store, s.hash, e) < 0 ? -1 : 0;
    char path[128];
    snprintf(path, sizeof path, "/api/imports/%s", s.hash);
    int status = http_call(j->http, "DELETE", path, NULL, 0, WAIT_S, e);
    return status == 204 ? 0 : status < 0 ? -1 : http_refusal(j->http, e);
}

/* ---- the command ---- */

/* The game of the results: what --game says, or the run's only one. */
static int
choose_game(struct job *j, const char *name, struct err *e) {
    struct conf_game list[CONF_MAX_GAMES];
    size_t n = conf_games(j->run.conf, list);
    for (size_t i = 0; i < n; i++) {
        const struct game *g;
        struct game_args args;
        char spec[sizeof j->spec];
        struct text t;
        if (game_spec_parse(list[i].name, &g, &args, e) < 0)
            return -1;
        text_init(&t, spec, sizeof spec);
        game_spec_text(g, &args, &t);
        if (name ? !strcmp(name, g->name) || !strcmp(name, spec) : n == 1) {
            memcpy(j->spec, spec, sizeof spec);
            return 0;
        }
    }
    return name ? err_set(e, "--game %.80s: the run plays no such game", name) : 0;
}

static int
import(struct job *j, const struct cmd_args *a, struct err *e) {
    const char *remove = cmd_flag(a, "remove");
    bool list = cmd_flag(a, "list") != NULL;
    if (!a->words && !list && !remove)
        return err_usage(e, "say which file: agon import results.pgn");
    if (run_open(&j->run, cmd_flag(a, "run"), e) < 0 ||
        store_run_identity(j->run.store, j->identity, e) < 0 ||
        choose_game(j, cmd_flag(a, "game"), e) < 0)
        return -1;
    if (list)
        return print_list(j, e);
    if (remove)
        return forget(j, remove, e);
    if (open_writer(j, e) < 0)
        return -1;
    for (int i = 0; i < a->words; i++)
        if (import_file(j, a->word[i], e) < 0)
            return -1;
    return 0;
}

static int
run_import(const struct cmd_args *a, struct err *e) {
    struct job j = {.lock = -1};
    int status = import(&j, a, e);
    close_writer(&j);
    run_close(&j.run);
    return status;
}

const struct cmd cmd_import = {
    .name = "import",
    .args = "[FILE]...",
    .help = "Take in results that were played elsewhere (PGN); they count for ratings.",
    .most = CMD_MAX_VALUES,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"game", "GAME", "what was played: one of the run's games (default: its only one)"},
            {"list", NULL, "show the files that were imported"},
            {"remove", "HASH", "forget the results of a file"},
            {0},
        },
    .run = run_import,
};
