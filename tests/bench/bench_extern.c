/* Round trips with external programs: a bare echo of lines in Python; one that reads and writes
 * JSON with Python's json module, as a program without our helper would; and a Python game whose
 * every position is new, one match at a time and many side by side. They are measured in turns, in
 * short slices, and the best slice of each counts: the machine may have other things to do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "games/extern/extern.h"
#include "games/extern/process.h"
#include "games/extern/program.h"

#define SLICE 0.1 /* seconds */
#define SLICES 20
#define MATCHES 128 /* side by side */
#define PYTHON "/usr/bin/env"

static const char echo[] = "import sys,os\n"
                           "for line in sys.stdin.buffer: os.write(1, line)\n";

static const char json_echo[] =
    "import sys,os,json\n"
    "state = {'type': 'state', 'id': 1, 'views': ['turn 10, sum 36000'] * 2, 'told': ['5'] * 2,\n"
    "         'mover': 0, 'legal': [(i, str(i)) for i in range(9)]}\n"
    "for line in sys.stdin.buffer:\n"
    "    state['id'] = json.loads(line)['id']\n"
    "    os.write(1, json.dumps(state).encode() + b'\\n')\n";

static double
since(int64_t start) {
    return (double)(clock_mono_us() - start) / 1e6;
}

static struct process *
open_echo(const char *script, struct err *e) {
    const char *argv[] = {PYTHON, "python3", "-c", script, NULL};
    struct process_limits limits = {.cpu_seconds = 600, .file_mb = 1};
    return process_start(argv, NULL, &limits, e);
}

static double
bench_echo(struct process *p) {
    static const char line[] = "{\"type\":\"act\",\"id\":1000,\"from\":0,\"to\":0,\"action\":5}\n";
    struct err e;
    const char *answer;
    size_t n;
    long count = 0;
    int64_t start = clock_mono_us();
    while (since(start) < SLICE)
        for (int i = 0; i < 50; i++, count++)
            if (process_ask(p, line, sizeof line - 1, 10, &answer, &n, &e) != PROCESS_FINE)
                panic("%s", e.text);
    return (double)count / since(start);
}

static const struct game *
open_game(const char *name, const char *script, struct err *e) {
    char folder[4096], hash[HASH_HEX];
    if (!getcwd(folder, sizeof folder))
        panic("the working folder has no name");
    json_t *row =
        json_pack("{s:s,s:[s,s,s],s:s,s:s,s:i,s:f,s:s,s:s,s:i,s:i}", "kind", "program", "command",
                  PYTHON, "python3", script, "program", PYTHON, "folder", folder, "memory_mb", 4096,
                  "deadline", 10.0, "name", name, "title", "Wide", "version", 1, "speaks", 1);
    struct registry_row r = {.command = {PYTHON, "python3", script},
                             .program = PYTHON,
                             .folder = folder,
                             .limits = {.memory_mb = 4096, .cpu_seconds = 600, .file_mb = 1}};
    struct hello h;
    const struct game *g;
    struct process *p = program_greet(&r, &h, e);
    if (!p || registry_hash_command(r.command, folder, hash, e) < 0)
        return NULL;
    process_stop(p);
    json_object_set_new(row, "added", json_string("now"));
    json_object_set_new(row, "hash", json_string(hash));
    json_object_set(row, "hello", h.json);
    hello_free(&h);
    if (registry_row_read(row, &r, e) < 0 || extern_try(&r, &g, e) < 0)
        return NULL;
    return g;
}

struct bench {
    const struct game *g;
    struct game_args args;
    struct rng rng;
    void *table[MATCHES];
    bool begun;
    const struct game *crash; /* tried once a round; NULL: none */
};

/* One match of a game whose program fails. */
static void
try_crash(const struct game *g) {
    static _Alignas(16) unsigned char state[GAME_MAX_STATE];
    struct game_args args = {0};
    g->init(state, &args);
    g->apply(state, 0);
    if (g->mover(state) != GAME_OVER || !game_fault(g, state, NULL))
        panic("%s does not fail", g->name);
}

/* Random matches: one question for each new position, and all that a match needs to know of it. */
static double
bench_game(struct bench *b, bool texts) {
    const struct game *g = b->g;
    char at[GAME_TEXT];
    struct text t;
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
    long plies = 0;
    int64_t start = clock_mono_us();
    while (since(start) < SLICE) {
        g->init(state, &b->args);
        while (g->mover(state) != GAME_OVER) {
            int legal[GAME_MAX_ACTIONS];
            int n = g->legal(state, legal), action = legal[rng_below(&b->rng, (uint32_t)n)];
            for (int who = 0; texts && who < 2; who++) {
                text_init(&t, at, sizeof at);
                g->observe(state, who, &t);
                g->narrate(state, action, who, &t);
            }
            g->apply(state, action);
            plies++;
        }
    }
    const char *why;
    if (game_faults(g, &why))
        panic("%s", why);
    return (double)plies / since(start);
}

/* The same with many matches side by side, as a worker plays them: it is said of each what will be
 * done before any is looked at. */
static double
bench_matches(struct bench *b) {
    const struct game *g = b->g;
    int action[MATCHES];
    long plies = 0;
    int64_t start = clock_mono_us();
    while (since(start) < SLICE) {
        for (int i = 0; i < MATCHES; i++) {
            int legal[GAME_MAX_ACTIONS];
            if (!b->table[i])
                b->table[i] = mem_aligned(GAME_MAX_STATE);
            if (!b->begun || g->mover(b->table[i]) == GAME_OVER)
                g->init(b->table[i], &b->args);
            int n = g->legal(b->table[i], legal);
            action[i] = legal[rng_below(&b->rng, (uint32_t)n)];
            game_foresee(g, b->table[i], action[i]);
        }
        b->begun = true;
        if (b->crash)
            try_crash(b->crash);
        for (int i = 0; i < MATCHES; i++, plies++) {
            g->apply(b->table[i], action[i]);
            g->mover(b->table[i]);
        }
    }
    const char *why;
    if (game_faults(g, &why))
        panic("%s", why);
    return (double)plies / since(start);
}

static double
best(double a, double b) {
    return a > b ? a : b;
}

int
main(void) {
    struct err e;
    char home[] = "/tmp/agon-bench-XXXXXX"; /* the user's own list of games is not touched */
    if (!mkdtemp(home))
        panic("%s: %s", home, strerror(errno));
    setenv("AGON_HOME", home, 1);
    struct bench b = {.g = open_game("wide", "tests/bench/wide_game.py", &e)};
    const struct game *crash = b.g ? open_game("crash", "tests/bench/crash_game.py", &e) : NULL;
    struct process *p = open_echo(echo, &e), *json = open_echo(json_echo, &e);
    if (!crash || !p || !json || game_args_default(b.g, &b.args, &e) < 0)
        panic("%s", e.text);
    rng_init(&b.rng, 1, 1, RNG_TEST);
    for (int i = 0; i < PROGRAM_FAILURES; i++) /* now it is in quarantine */
        try_crash(crash);
    double bare = 0, with_json = 0, plain = 0, texts = 0, many = 0, beside = 0;
    for (int i = 0; i < SLICES; i++) {
        bare = best(bare, bench_echo(p));
        with_json = best(with_json, bench_echo(json));
        plain = best(plain, bench_game(&b, false));
        texts = best(texts, bench_game(&b, true));
        many = best(many, bench_matches(&b));
        b.crash = crash;
        beside = best(beside, bench_matches(&b));
        b.crash = NULL;
    }
    printf("extern_echo %.0f round trips/s\n", bare);
    printf("extern_json_echo %.0f round trips/s (%.0f %% of the echo)\n", with_json,
           100 * with_json / bare);
    printf("extern_python_game %.0f moves/s (%.0f %% of the echo)\n", plain, 100 * plain / bare);
    printf("extern_python_game_with_texts %.0f moves/s (%.0f %% of the echo)\n", texts,
           100 * texts / bare);
    printf("extern_python_game_%d_matches %.0f moves/s (%.0f %% of the echo)\n", MATCHES, many,
           100 * many / bare);
    printf("extern_beside_quarantine %.0f moves/s (%.0f %% of those without)\n", beside,
           100 * beside / many);
    process_stop(p);
    process_stop(json);
    for (int i = 0; i < MATCHES; i++)
        free(b.table[i]);
    extern_rest();
    char lock[sizeof home + 32];
    snprintf(lock, sizeof lock, "%s/games.json.lock", home);
    unlink(lock);
    rmdir(home);
    return 0;
}
