/* Speed of the match database, side by side with bare prepared statements that insert the same rows
 * into the same tables. Times are processor time, so that other work on the machine does not show;
 * only the slowest commit is by the clock. One line a number. Usage: bench_store [MATCHES [FOLDER]]
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/store.h"

#define BATCH 500
#define PROMPTS 24
#define MOST_TURNS 8
#define ROUNDS 3

struct shape {
    const char *name;
    int turns_least, turns_most; /* of a match */
    int prompt;                  /* tokens of a prompt */
    int reply;                   /* tokens of a reply, at most; a byte each */
    bool fresh;                  /* every prompt is a new one */
};

static const struct shape shapes[] = {
    {"short replies", 2, 3, 60, 8, false},
    {"thinking replies", 2, 3, 60, 300, false},
    {"fresh prompts", 4, 8, 120, 8, true},
};

struct made { /* a match and what it points to */
    struct store_match match;
    struct store_turn turn[MOST_TURNS];
    int32_t moves[MOST_TURNS + 1];
    char text[40]; /* the moves as text, for the bare statements */
    int32_t prompt[MOST_TURNS][160], tokens[MOST_TURNS][512];
    float logp[MOST_TURNS][512];
    char reply[MOST_TURNS][512];
};

static void
fail(const char *what) {
    fprintf(stderr, "bench_store: %s\n", what);
    exit(1);
}

static int64_t
cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
make_turn(struct made *m, const struct shape *shape, int i, struct rng *r) {
    int n = 1 + (int)rng_below(r, (uint32_t)shape->reply);
    int32_t topic = (int32_t)rng_below(r, PROMPTS);
    for (int k = 0; k < shape->prompt; k++)
        m->prompt[i][k] = topic * 7 + k % 90;
    if (shape->fresh)
        memcpy(m->prompt[i], (int32_t[]){(int32_t)m->match.id, i}, 2 * sizeof(int32_t));
    for (int k = 0; k < n; k++) {
        m->reply[i][k] = (char)('a' + rng_below(r, 26));
        m->tokens[i][k] = m->reply[i][k];
        m->logp[i][k] = (float)-rng_unit(r) * 4;
    }
    m->moves[i + 1] = (int32_t)rng_below(r, 3);
    m->turn[i] = (struct store_turn){
        .ply = i + 1,
        .seat = i % 2,
        .prompt = m->prompt[i],
        .nprompt = (size_t)shape->prompt,
        .reply = m->reply[i],
        .nreply = (size_t)n,
        .word = "bet",
        .action = m->moves[i + 1],
        .tokens = m->tokens[i],
        .logp = m->logp[i],
        .ntokens = (size_t)n,
        .policy = 1,
    };
}

static void
make_match(struct made *m, const struct shape *shape, int64_t id) {
    struct rng r;
    rng_init(&r, 1, (uint64_t)id, RNG_TEST);
    int turns = shape->turns_least +
                (int)rng_below(&r, (uint32_t)(shape->turns_most - shape->turns_least + 1));
    double result = rng_below(&r, 2) ? 1 : -1;
    m->match = (struct store_match){
        .id = id,
        .game = 1,
        .deal = id / 2,
        .policy = {1, 1},
        .loser = -1,
        .payoff = {result, -result},
        .result = result,
        .moves = m->moves,
        .nmoves = (size_t)turns + 1,
        .started_ms = 1750000000000 + id,
        .ended_ms = 1750000000050 + id,
        .attempts = 1,
        .turn = m->turn,
        .nturns = (size_t)turns,
    };
    m->moves[0] = (int32_t)rng_below(&r, 6);
    for (int i = 0; i < turns; i++)
        make_turn(m, shape, i, &r);
    size_t at = 0;
    for (int i = 0; i <= turns; i++)
        at += (size_t)snprintf(m->text + at, sizeof m->text - at, i ? " %d" : "%d", m->moves[i]);
}

/* Matches i .. i + BATCH - 1; made outside the time that is measured. Returns how many. */
static int
make_batch(struct made *batch, const struct shape *shape, int i, int n) {
    int count = n - i < BATCH ? n - i : BATCH;
    for (int k = 0; k < count; k++)
        make_match(&batch[k], shape, i + k + 1);
    return count;
}

static void
remove_db(const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static struct store *
open_new(const char *path) {
    struct err e;
    remove_db(path);
    struct store *s = store_open(path, STORE_WRITE, false, &e);
    struct store_game g = {
        .spec = "kuhn_poker(hands=1,side=0)", .name = "kuhn_poker", .version = 1};
    struct store_policy p = {.kind = "snapshot", .name = "00", .kept = true};
    if (!s || store_game_add(s, &g, &e) < 0 || store_policy_add(s, &p, &e) < 0)
        fail(e.text);
    return s;
}

struct written {
    double seconds, slowest_ms;
    int64_t rows;
};

static struct written
write_store(const char *path, const struct shape *shape, struct made *batch, int n) {
    struct err e;
    struct written w = {0};
    struct store *s = open_new(path);
    for (int i = 0; i < n; i += BATCH) {
        int count = make_batch(batch, shape, i, n);
        int64_t start = cpu_us();
        for (int k = 0; k < count; k++) {
            if (store_match_add(s, &batch[k].match, &e) < 0)
                fail(e.text);
            w.rows += 1 + (int64_t)batch[k].match.nturns;
        }
        int64_t clock = clock_mono_us();
        if (store_commit(s, &e) < 0)
            fail(e.text);
        double ms = (double)(clock_mono_us() - clock) / 1e3;
        w.slowest_ms = ms > w.slowest_ms ? ms : w.slowest_ms;
        w.seconds += (double)(cpu_us() - start) / 1e6;
    }
    store_close(s);
    return w;
}

/* ---- the same rows by bare statements ---- */

static sqlite3_stmt *
prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
        fail(sqlite3_errmsg(db));
    return st;
}

static void
run(sqlite3 *db, sqlite3_stmt *st) {
    if (sqlite3_step(st) != SQLITE_DONE)
        fail(sqlite3_errmsg(db));
    sqlite3_reset(st);
}

static void
bare_match(sqlite3 *db, sqlite3_stmt *st, const struct made *made) {
    const struct store_match *m = &made->match;
    sqlite3_bind_int64(st, 1, m->id);
    sqlite3_bind_text(st, 2, "train", 5, SQLITE_STATIC);
    sqlite3_bind_int64(st, 3, 0);
    sqlite3_bind_int64(st, 4, 1);
    sqlite3_bind_int64(st, 5, m->deal);
    sqlite3_bind_int64(st, 6, 1);
    sqlite3_bind_int64(st, 7, 1);
    sqlite3_bind_text(st, 8, "play", 4, SQLITE_STATIC);
    sqlite3_bind_double(st, 9, m->payoff[0]);
    sqlite3_bind_double(st, 10, m->payoff[1]);
    sqlite3_bind_double(st, 11, m->result);
    sqlite3_bind_text(st, 12, made->text, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 13, m->started_ms);
    sqlite3_bind_int64(st, 14, m->ended_ms);
    sqlite3_bind_int64(st, 15, 1);
    run(db, st);
}

static void
bare_turn(sqlite3 *db, sqlite3_stmt *st, const struct made *m, int i, int64_t prompt) {
    const struct store_turn *t = &m->turn[i];
    sqlite3_bind_int64(st, 1, m->match.id);
    sqlite3_bind_int64(st, 2, i);
    sqlite3_bind_int64(st, 3, t->ply);
    sqlite3_bind_int64(st, 4, t->seat);
    sqlite3_bind_int64(st, 5, 1);
    sqlite3_bind_int64(st, 6, prompt);
    sqlite3_bind_text(st, 7, "ok", 2, SQLITE_STATIC);
    sqlite3_bind_int64(st, 8, t->action);
    sqlite3_bind_text(st, 9, t->word, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 10, t->reply, (int)t->nreply, SQLITE_STATIC);
    sqlite3_bind_int64(st, 11, 0);
    sqlite3_bind_int64(st, 12, (int64_t)t->ntokens);
    sqlite3_bind_blob(st, 13, t->tokens, (int)(t->ntokens * 4), SQLITE_STATIC);
    sqlite3_bind_blob(st, 14, t->logp, (int)(t->ntokens * 4), SQLITE_STATIC);
    run(db, st);
}

struct bare {
    sqlite3 *db;
    sqlite3_stmt *match, *turn, *prompt;
    int64_t prompts;
};

static void
bare_write(struct bare *b, const struct shape *shape, const struct made *m) {
    bare_match(b->db, b->match, m);
    for (int i = 0; i < (int)m->match.nturns; i++) {
        if (b->prompts < PROMPTS || shape->fresh) {
            b->prompts++;
            sqlite3_bind_int64(b->prompt, 1, (int64_t)((uint64_t)b->prompts * 0x9e3779b97f4a7c15u));
            sqlite3_bind_blob(b->prompt, 2, m->turn[i].prompt, (int)(m->turn[i].nprompt * 4),
                              SQLITE_STATIC);
            run(b->db, b->prompt);
        }
        int64_t prompt = shape->fresh ? b->prompts : m->turn[i].prompt[0] / 7 + 1;
        bare_turn(b->db, b->turn, m, i, prompt);
    }
}

static void
bare_open(struct bare *b, const char *path) {
    store_close(open_new(path));
    if (sqlite3_open(path, &b->db))
        fail("cannot open");
    sqlite3_exec(b->db,
                 "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;"
                 "PRAGMA cache_size = -65536",
                 NULL, NULL, NULL);
    b->match = prepare(
        b->db, "INSERT INTO match (id, kind, iteration, game_id, deal, policy0_id, policy1_id,"
               " reason, payoff0, payoff1, result, moves, started_ms, ended_ms, attempts)"
               " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)");
    b->turn = prepare(
        b->db, "INSERT INTO turn (match_id, turn_no, ply, seat, policy_id, prompt_id, verdict,"
               " action, word, reply, escaped, ntokens, tokens, logp)"
               " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)");
    b->prompt = prepare(b->db, "INSERT INTO prompt (hash, tokens) VALUES (?1, ?2)");
}

static double
write_bare(const char *path, const struct shape *shape, struct made *batch, int n) {
    struct bare b = {0};
    double seconds = 0;
    bare_open(&b, path);
    for (int i = 0; i < n; i += BATCH) {
        int count = make_batch(batch, shape, i, n);
        int64_t start = cpu_us();
        sqlite3_exec(b.db, "BEGIN", NULL, NULL, NULL);
        for (int k = 0; k < count; k++)
            bare_write(&b, shape, &batch[k]);
        sqlite3_exec(b.db, "COMMIT", NULL, NULL, NULL);
        seconds += (double)(cpu_us() - start) / 1e6;
    }
    sqlite3_finalize(b.match);
    sqlite3_finalize(b.turn);
    sqlite3_finalize(b.prompt);
    sqlite3_close(b.db);
    return seconds;
}

/* ---- the learner's side ---- */

struct seen {
    int64_t matches, tokens;
};

static int
see(void *arg, const struct store_match *m) {
    struct seen *seen = arg;
    seen->matches++;
    for (size_t i = 0; i < m->nturns; i++)
        seen->tokens += (int64_t)m->turn[i].ntokens;
    return 0;
}

static double
read_range(struct store *s, int64_t first, int64_t last) {
    struct err e;
    struct seen seen = {0};
    int64_t start = cpu_us();
    if (store_match_each(s, first, last, see, &seen, &e) < 0)
        fail(e.text);
    if (seen.matches != last - first + 1)
        fail("matches are missing");
    return (double)(cpu_us() - start) / 1e3;
}

static double
acknowledge(struct store *s, int64_t step, int64_t first, int64_t last) {
    struct err e;
    struct store_lease l = {.first = first, .last = last};
    size_t n = (size_t)(last - first + 1) * 2;
    struct store_sample *sample = mem_zero(n, sizeof *sample);
    for (size_t i = 0; i < n; i++)
        sample[i] = (struct store_sample){first + (int64_t)i / 2, (int)i % 2, 1, 0.25, 0.75};
    char hash[HASH_HEX];
    snprintf(hash, sizeof hash, "%064lld", (long long)step);
    int64_t policy;
    struct store_step st = {.step = step,
                            .policy_before = 1,
                            .snapshot = hash,
                            .state = hash,
                            .lease = &l,
                            .nlease = 1,
                            .sample = sample,
                            .nsample = n};
    if (step == 0)
        st.nlease = st.nsample = 0;
    else if (store_lease_add(s, &l, &e) < 0)
        fail(e.text);
    int64_t start = cpu_us();
    if (store_step_ack(s, &st, &policy, &e) != 0)
        fail(e.text);
    free(sample);
    return (double)(cpu_us() - start) / 1e3;
}

static void
measure_learner(const char *path, const struct shape *shape, int n) {
    struct err e;
    struct store *w = store_open(path, STORE_WRITE, false, &e),
                 *r = store_open(path, STORE_READ, false, &e);
    if (!w || !r)
        fail(e.text);
    double read = 0, ack = 0;
    acknowledge(w, 0, 1, 1);
    int steps = 0;
    for (int64_t first = 1; first + 511 <= n && steps < 40; first += 512, steps++) {
        read += read_range(r, first, first + 511);
        ack += acknowledge(w, steps + 1, first, first + 511);
    }
    if (steps)
        printf(
            "store, %s: read 512 matches: %.2f ms\nstore, %s: acknowledge 1024 samples: %.2f ms\n",
            shape->name, read / steps, shape->name, ack / steps);
    store_close(r);
    store_close(w);
}

static int64_t
file_bytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static double
least(double a, double b) {
    return a == 0 || b < a ? b : a;
}

static void
measure(const char *path, const struct shape *shape, int n) {
    struct made *batch = mem_zero(BATCH, sizeof *batch);
    double store = 0, bare = 0;
    struct written w;
    for (int i = 0; i < ROUNDS; i++) {
        bare = least(bare, write_bare(path, shape, batch, n));
        w = write_store(path, shape, batch, n);
        store = least(store, w.seconds);
    }
    printf("store, %s: %.0f matches/s, %.0f rows/s\n", shape->name, n / store,
           (double)w.rows / store);
    printf("store, %s: %.0f %% of bare statements (%.0f matches/s)\n", shape->name,
           100 * bare / store, n / bare);
    printf("store, %s: %.0f bytes a match; slowest commit of %d: %.1f ms\n", shape->name,
           (double)file_bytes(path) / n, BATCH, w.slowest_ms);
    measure_learner(path, shape, n);
    remove_db(path);
    free(batch);
}

int
main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 20000;
    char path[256];
    snprintf(path, sizeof path, "%s/bench-store-%ld.db", argc > 2 ? argv[2] : "/tmp",
             (long)getpid());
    if (n < 1 || n > 1000000)
        fail("MATCHES: a number from 1 to 1000000 is needed");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure(path, &shapes[i], n);
    return 0;
}
