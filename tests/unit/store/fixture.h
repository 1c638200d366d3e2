/* What the store's tests share: a database in a folder that goes away, rows to put into it, and raw
 * SQL. */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store.h"

struct fixture {
    char folder[64], path[128];
    struct store
        *store; /* the writer; one game (id 1), two policies (ids 1 scripted, 2 snapshot) */
};

static inline void
ok(int rc, const struct err *e) {
    if (rc < 0)
        fail_msg("%s", e->text);
}

/* The call has failed, and its sentence says so. */
static inline void
refused(int rc, const struct err *e, const char *words) {
    assert_true(rc < 0);
    if (!strstr(e->text, words))
        fail_msg("\"%s\" does not say \"%s\"", e->text, words);
}

static inline struct store *
open_store(const char *path, enum store_mode mode) {
    struct err e;
    struct store *s = store_open(path, mode, false, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static inline int
make_folder(void **state) {
    struct fixture *f = mem_zero(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/agon-test-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/run.db", f->folder);
    *state = f;
    return 0;
}

static inline void
add_players(struct store *s) {
    struct err e;
    struct store_game g = {
        .spec = "kuhn_poker(hands=1,side=0)", .name = "kuhn_poker", .version = 3};
    struct store_policy random = {.kind = "scripted", .name = "random", .step = -1, .at_ms = 1000};
    struct store_policy first = {
        .kind = "snapshot", .name = "aaaa0000", .step = 0, .at_ms = 2000, .kept = true};
    ok(store_game_add(s, &g, &e), &e);
    ok(store_policy_add(s, &random, &e), &e);
    ok(store_policy_add(s, &first, &e), &e);
    assert_int_equal(g.id, 1);
    assert_int_equal(random.id, 1);
    assert_int_equal(first.id, 2);
}

static inline int
set_up(void **state) {
    if (make_folder(state) < 0)
        return -1;
    struct fixture *f = *state;
    f->store = open_store(f->path, STORE_WRITE);
    add_players(f->store);
    return 0;
}

static inline int
tear_down(void **state) {
    struct fixture *f = *state;
    char command[256];
    store_close(f->store);
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", f->folder, f->folder);
    free(f);
    return system(command);
}

/* ---- rows ---- */

static const int32_t fixture_prompt[] = {256, 72, 105, 33};
static const int32_t fixture_tokens[] = {91, 98, 93, 257};
static const float fixture_logp[] = {-0.5f, -1.25f, 0, -3.5f};
static const int32_t fixture_moves[] = {4, 1, 0};

/* A plain match: seat 0 (the snapshot) bets, seat 1 (random) passes, seat 0 wins. */
static inline struct store_match
plain_match(int64_t id, struct store_turn turn[2]) {
    turn[0] = (struct store_turn){.ply = 1,
                                  .seat = 0,
                                  .prompt = fixture_prompt,
                                  .nprompt = 4,
                                  .prompt_text = "Hi!",
                                  .reply = "[b]",
                                  .nreply = 3,
                                  .word = "b",
                                  .action = 1,
                                  .tokens = fixture_tokens,
                                  .logp = fixture_logp,
                                  .ntokens = 4,
                                  .policy = 2};
    turn[1] = (struct store_turn){
        .ply = 2, .seat = 1, .reply = "[p]", .nreply = 3, .word = "p", .action = 0, .policy = 1};
    return (struct store_match){.id = id,
                                .game = 1,
                                .deal = 7,
                                .policy = {2, 1},
                                .loser = -1,
                                .payoff = {0.5, -0.5},
                                .result = 0.5,
                                .moves = fixture_moves,
                                .nmoves = 3,
                                .started_ms = 1750000000000,
                                .ended_ms = 1750000000250,
                                .attempts = 1,
                                .turn = turn,
                                .nturns = 2};
}

/* Adds plain matches first..last, not committed. */
static inline void
add_matches(struct store *s, int64_t first, int64_t last) {
    for (int64_t id = first; id <= last; id++) {
        struct store_turn turn[2];
        struct err e;
        struct store_match m = plain_match(id, turn);
        ok(store_match_add(s, &m, &e), &e);
    }
}

static inline void
commit(struct store *s) {
    struct err e;
    ok(store_commit(s, &e), &e);
}

/* ---- raw SQL, as a person with sqlite3 would write it ---- */

static inline sqlite3 *
raw_open(const char *path) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

static inline void
raw(const char *path, const char *sql) {
    char *why = NULL;
    sqlite3 *db = raw_open(path);
    if (sqlite3_exec(db, sql, NULL, NULL, &why))
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static inline int64_t
file_bytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* All rows as text: columns apart by |, rows by a newline. Valid until the next call. */
static inline const char *
raw_ask(const char *path, const char *sql) {
    static char out[1 << 16];
    size_t at = 0;
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int rc;
    out[0] = '\0';
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
        for (int i = 0, n = sqlite3_column_count(st); i < n; i++) {
            const char *text = (const char *)sqlite3_column_text(st, i);
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", text ? text : "NULL",
                                   i + 1 < n ? "|" : "\n");
            assert_true(at < sizeof out);
        }
    if (rc != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(st);
    sqlite3_close(db);
    return out;
}

static inline void
ask(const char *path, const char *sql, const char *answer) {
    const char *got = raw_ask(path, sql);
    if (strcmp(got, answer))
        fail_msg("%s\nanswers:\n%sand not:\n%s", sql, got, answer);
}

#endif
