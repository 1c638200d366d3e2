/* agon games: what can be played, how it reads, whether it keeps the laws, what it is worth. */
#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cli/cmd.h"
#include "cli/games-conform.h"
#include "cli/games-extern.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/table.h"
#include "games/extern/extern.h"
#include "games/game.h"
#include "games/laws.h"
#include "games/solve.h"

enum { SHOWN_TURNS = 6, ROUNDS = 1000, MATCHES = 1000, MAX_NODES = 20000000 };

struct chosen {
    const struct game *g;
    struct game_args args;
    char spec[256];
};

static int
choose(struct chosen *c, const char *spec, struct err *e) {
    if (game_spec_parse(spec, &c->g, &c->args, e) < 0)
        return -1;
    struct text t;
    text_init(&t, c->spec, sizeof c->spec);
    game_spec_text(c->g, &c->args, &t);
    return 0;
}

/* ---- list ---- */

static const char *
information(const struct game *g) {
    return g->flags & GAME_PERFECT_INFO ? "perfect" : "hidden";
}

static const char *
luck(const struct game *g) {
    return g->flags & GAME_NO_CHANCE ? "no" : "yes";
}

static void
params_text(const struct game *g, char out[256]) {
    struct text t;
    text_init(&t, out, 256);
    for (const struct game_param *p = g->params; p && p->name; p++)
        text_fmt(&t, "%s%s=%s", p == g->params ? "" : " ", p->name, p->def);
    if (!t.len)
        text_put(&t, "-");
}

/* The most actions that a match with default parameters can have. */
static int
longest(const struct game *g) {
    struct game_args args;
    return game_args_default(g, &args, NULL) < 0 ? 0 : g->max_plies(&args);
}

static json_t *
game_json(const struct game *g) {
    json_t *params = json_array();
    for (const struct game_param *p = g->params; p && p->name; p++)
        json_array_append_new(params,
                              json_pack("{s:s,s:s,s:i,s:i,s:s}", "name", p->name, "default", p->def,
                                        "min", p->min, "max", p->max, "help", p->help));
    return json_pack("{s:s,s:s,s:i,s:b,s:b,s:i,s:o}", "name", g->name, "title", g->title, "version",
                     g->version, "perfect_information", (g->flags & GAME_PERFECT_INFO) != 0,
                     "chance", !(g->flags & GAME_NO_CHANCE), "max_plies", longest(g), "parameters",
                     params);
}

static int
list(bool json, struct err *e) {
    static const char *const heads[] = {"game",    "title", "information", "chance",
                                        ">length", "from",  "parameters",  NULL};
    struct table t;
    table_init(&t, heads);
    const struct game *g;
    for (int i = 0; (g = game_at(i)); i++) {
        char params[256];
        if (json) {
            json_t *o = game_json(g);
            json_dumpf(o, stdout, JSON_COMPACT);
            putchar('\n');
            json_decref(o);
            continue;
        }
        params_text(g, params);
        table_add(&t, g->name);
        table_add(&t, g->title);
        table_add(&t, information(g));
        table_add(&t, luck(g));
        table_fmt(&t, "%d", longest(g));
        table_add(&t, "built in");
        table_add(&t, params);
    }
    if (json)
        return games_list_extern_json(e);
    int status = games_list_extern(&t, e);
    if (status == 0) {
        table_print(&t, stdout);
        puts("\nLength: the most moves of a match, chance included.");
        status = games_tell_extern(e);
        puts("A game is named with its parameters in brackets: kuhn_poker(hands=3).\n"
             "`agon games show NAME` prints its rules.");
    }
    return status;
}

/* ---- show ---- */

static void
show_params(const struct game *g) {
    static const char *const heads[] = {"parameter", "default", "range", "meaning", NULL};
    static const char *const types[] = {"", "list of ", ""};
    if (!g->params || !g->params->name)
        return;
    struct table t;
    table_init(&t, heads);
    for (const struct game_param *p = g->params; p->name; p++) {
        table_add(&t, p->name);
        table_add(&t, p->def);
        if (p->type == PARAM_BOOL)
            table_add(&t, "true, false");
        else
            table_fmt(&t, "%s%d to %d", types[p->type], p->min, p->max);
        table_add(&t, p->help);
    }
    table_print(&t, stdout);
    putchar('\n');
}

static void
show_text(const char *head, void (*write)(const void *, int, struct text *), const void *state,
          int who) {
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    write(state, who, &t);
    printf("%s\n", head);
    term_block(stdout, "  ", text, t.len);
}

static void
show_turn(const struct chosen *c, const void *state, int action) {
    char legal[GAME_TEXT], word[GAME_WORD];
    struct text t, w;
    struct buf shown = {0};
    int who = c->g->mover(state);
    char head[64];
    snprintf(head, sizeof head, "seat %d sees", who);
    show_text(head, c->g->observe, state, who);
    text_init(&t, legal, sizeof legal);
    text_init(&w, word, sizeof word);
    game_spell_legal(c->g, state, &t);
    c->g->spell(state, action, &w);
    term_escape(&shown, legal, t.len < 300 ? t.len : 300, false);
    printf("  may say: %s%s\n", buf_text(&shown), t.len > 300 ? " ..." : "");
    buf_clear(&shown);
    term_escape(&shown, word, w.len, false);
    printf("  says:    %s\n\n", buf_text(&shown));
    buf_free(&shown);
}

/* Plays one match at random and prints its first turns and its result. */
static int
show_example(const struct chosen *c, uint64_t seed, struct err *e) {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int legal[GAME_MAX_ACTIONS], turns = 0, who;
    unsigned char *state = mem_aligned(GAME_MAX_STATE);
    struct rng r;
    rng_init(&r, seed, 1, RNG_DEAL);
    c->g->init(state, &c->args);
    printf("\nan example, played at random:\n\n");
    while ((who = c->g->mover(state)) != GAME_OVER) {
        int action;
        if (who == GAME_CHANCE) {
            c->g->chance(state, out);
            action = game_draw(c->g, state, rng_unit(&r));
        } else {
            int n = c->g->legal(state, legal);
            action = legal[rng_below(&r, (uint32_t)n)];
            if (turns++ < SHOWN_TURNS)
                show_turn(c, state, action);
        }
        c->g->apply(state, action);
    }
    if (turns > SHOWN_TURNS)
        printf("... and %d more turns\n\n", turns - SHOWN_TURNS);
    const char *fault = game_fault(c->g, state, NULL);
    if (!fault)
        printf("seat 0 gets %+g\n", c->g->result(state) * c->g->unit(&c->args));
    int status = fault ? err_set(e, "%s", fault) : 0;
    free(state);
    return status;
}

static int
show(const char *spec, uint64_t seed, struct err *e) {
    struct chosen c;
    if (choose(&c, spec, e) < 0)
        return -1;
    unsigned char *state = mem_aligned(GAME_MAX_STATE);
    c.g->init(state, &c.args);
    printf("%s: %s (rules version %d)\n%s information, chance: %s, at most %d moves, payoff 1.0 = "
           "%g\n\n",
           c.spec, c.g->title, c.g->version, information(c.g), luck(c.g), c.g->max_plies(&c.args),
           c.g->unit(&c.args));
    show_params(c.g);
    show_text("rules for seat 0", c.g->rules, state, GAME_SEAT_0);
    show_text("rules for seat 1", c.g->rules, state, GAME_SEAT_1);
    free(state);
    return show_example(&c, seed, e);
}

/* ---- solve ---- */

struct rounds {
    struct progress progress;
    int rounds, done;  /* done: when it was stopped */
    long long seconds; /* the most that it may take; 0: no limit */
};

static bool
tell_progress(void *arg, int round, double nash_conv) {
    struct rounds *r = arg;
    (void)nash_conv;
    progress_show(&r->progress, (uint64_t)round, (uint64_t)r->rounds);
    if (!r->seconds || clock_mono_us() - r->progress.start_us < r->seconds * 1000000)
        return true;
    r->done = round;
    return false;
}

static void
add_row(struct table *t, const char *name, const struct solve_report *r) {
    table_add(t, name);
    table_fmt(t, "%+.6f", r->value);
    table_fmt(t, "%+.6f", r->best[0]);
    table_fmt(t, "%+.6f", r->best[1]);
    table_fmt(t, "%.6f", r->nash_conv);
}

static int
solve(const char *spec, int rounds, long long seconds, bool json, struct err *e) {
    static const char *const heads[] = {"both play",
                                        ">value of seat 0",
                                        ">best reply of seat 0",
                                        ">best reply of seat 1",
                                        ">NashConv",
                                        NULL};
    struct chosen c;
    if (choose(&c, spec, e) < 0)
        return -1;
    struct solve *s = solve_new(c.g, &c.args, MAX_NODES, e);
    if (!s)
        return -1;
    struct rounds r = {.rounds = rounds, .seconds = seconds};
    progress_begin(&r.progress, "rounds of CFR+");
    struct solve_report uniform, best;
    double *strategy = mem_zero(solve_width(s), sizeof *strategy);
    solve_uniform(s, strategy);
    solve_evaluate(s, strategy, &uniform);
    solve_equilibrium(s, rounds, strategy, tell_progress, &r);
    solve_evaluate(s, strategy, &best);
    progress_clear(&r.progress);
    double took = (double)(clock_mono_us() - r.progress.start_us) / 1e6;
    if (r.done)
        rounds = r.done;
    if (json) {
        printf("{\"game\":\"%s\",\"nodes\":%zu,\"sets\":%zu,\"uniform\":{\"value\":%.12g,"
               "\"nash_conv\":%.12g},\"equilibrium\":{\"rounds\":%d,\"value\":%.12g,\"nash_conv\":"
               "%.12g},\"seconds\":%.3f}\n",
               c.spec, solve_nodes(s), solve_sets(s), uniform.value, uniform.nash_conv, rounds,
               best.value, best.nash_conv, took);
    } else {
        struct table t;
        printf("%s: %zu positions, %zu information sets\n\n", c.spec, solve_nodes(s),
               solve_sets(s));
        table_init(&t, heads);
        add_row(&t, "at random", &uniform);
        char name[64];
        snprintf(name, sizeof name, "CFR+, %d rounds", rounds);
        add_row(&t, name, &best);
        table_print(&t, stdout);
        printf("\nValues are in chips or points (%g = the greatest payoff). %.1f s.\n",
               c.g->unit(&c.args), took);
    }
    free(strategy);
    solve_free(s);
    return 0;
}

/* ---- check ---- */

static int
check_one(const char *spec, long long matches, uint64_t seed, struct err *e) {
    struct chosen c;
    if (choose(&c, spec, e) < 0)
        return -1;
    int64_t start = clock_mono_us();
    int bad = laws_check(c.g, &c.args, seed, (int)matches, e);
    double seconds = (double)(clock_mono_us() - start) / 1e6;
    struct buf why = {0};
    if (bad)
        term_escape(&why, e->text, strlen(e->text), false);
    printf("%s  %s: ", bad ? "broken" : "ok    ", c.spec);
    if (bad)
        printf("%s\n", buf_text(&why));
    else
        printf("%lld random matches kept the laws (%.1f s)\n", matches, seconds);
    fflush(stdout);
    buf_free(&why);
    return bad ? 1 : 0;
}

/* Takes games from the shared list until there are none left. */
static int
check_some(atomic_int *next, long long matches, uint64_t seed, struct err *e) {
    int status = 0;
    for (const struct game *g; status >= 0 && (g = game_at(atomic_fetch_add(next, 1)));) {
        int bad = check_one(g->name, matches, seed, e);
        status = bad < 0 ? bad : status | bad;
    }
    return status;
}

/* A process for each processor: the lines come as games are done. */
static int
check_all(long long matches, uint64_t seed, struct err *e) {
    enum { MOST = 64, BROKEN = 1, FAILED = 2 };
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t child[MOST];
    int started = 0, status = 0;
    atomic_int *next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return err_set(e, "no memory to share: %s", strerror(errno));
    fflush(stdout);
    for (; started < n - 1 && started < MOST; started++) {
        child[started] = fork();
        if (child[started] < 0)
            break; /* fewer do it, too */
        if (child[started] == 0) {
            int got = check_some(next, matches, seed, e);
            if (got < 0)
                fprintf(stderr, "agon games: %s\n", e->text);
            fflush(stdout);
            _exit(got < 0 ? FAILED : got ? BROKEN : 0);
        }
    }
    status = check_some(next, matches, seed, e);
    for (int i = 0; i < started; i++) {
        int how = 0;
        while (waitpid(child[i], &how, 0) < 0 && errno == EINTR)
            ;
        if (!WIFEXITED(how) || WEXITSTATUS(how) == FAILED)
            status = err_set(e, "a process that checked games ended early");
        else if (WEXITSTATUS(how) == BROKEN && status == 0)
            status = 1;
    }
    munmap(next, sizeof *next);
    return status;
}

static int
check(const struct cmd_args *a, long long matches, uint64_t seed, struct err *e) {
    if (cmd_flag(a, "all"))
        return check_all(matches, seed, e);
    if (a->words < 2)
        return err_usage(e, "which game? `agon games check NAME`, or --all");
    return check_one(a->word[1], matches, seed, e);
}

static int
run_games(const struct cmd_args *a, struct err *e) {
    static const struct {
        const char *word;
        int (*run)(const struct cmd_args *a, struct err *e);
    } other[] = {{"add", games_add},
                 {"conform", games_conform},
                 {"new", games_new},
                 {"probe", games_probe},
                 {"remove", games_remove}};
    const char *what = a->words ? a->word[0] : "list", *spec = a->words > 1 ? a->word[1] : NULL;
    long long rounds, matches, seed, seconds;
    if (run_number("--rounds", cmd_flag(a, "rounds"), 1, 10000000, ROUNDS, &rounds, e) < 0 ||
        run_number("--matches", cmd_flag(a, "matches"), 1, 100000000, MATCHES, &matches, e) < 0 ||
        run_number("--seconds", cmd_flag(a, "seconds"), 1, 100000000, 0, &seconds, e) < 0 ||
        run_number("--seed", cmd_flag(a, "seed"), 0, INT64_MAX, 1, &seed, e) < 0)
        return -1;
    if (a->words > 2 && strcmp(what, "conform") != 0)
        return err_usage(e, "\"%.40s\" is one argument too many", a->word[2]);
    if (!strcmp(what, "list"))
        return list(cmd_flag(a, "json") != NULL, e);
    if (!strcmp(what, "check"))
        return check(a, matches, (uint64_t)seed, e);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (!strcmp(what, other[i].word))
            return other[i].run(a, e);
    bool shows = !strcmp(what, "show"), solves = !strcmp(what, "solve");
    if (!shows && !solves)
        return err_usage(
            e,
            "\"%.40s\" is none of list, show, check, solve, conform, add, remove and new "
            "(agon games show NAME prints a game)",
            what);
    if (!spec)
        return err_usage(e, "which game? `agon games %s NAME` (`agon games` lists them)", what);
    return shows ? show(spec, (uint64_t)seed, e)
                 : solve(spec, (int)rounds, seconds, cmd_flag(a, "json"), e);
}

const struct cmd cmd_games = {
    .name = "games",
    .args = "[show|check|solve|conform|add|remove|new] [GAME|FILE...]",
    .help = "List the games, print one, hold it to the laws or to recorded matches, solve it "
            "exactly, or register your own.",
    .most = CMD_MAX_VALUES,
    .flags =
        (const struct cmd_flag[]){
            {"all", NULL, "check: every built-in game"},
            {"exec", "COMMAND", "add: a program that plays by docs/protocol.md"},
            {"deadline", "SECONDS", "add: how long the program may take for an answer (default 2)"},
            {"memory", "MIB", "add: how much address space it gets (default 4096)"},
            {"force", NULL, "add: register it although it breaks a law"},
            {"matches", "N", "check, add: random matches (default 1000, 200)"},
            {"seconds", "N",
             "add: stop checking after so long (default 30); solve: stop after so long"},
            {"rounds", "N", "solve: rounds of CFR+ (default 1000)"},
            {"seed", "N", "check, show: seed of the random matches (default 1)"},
            {"json", NULL, "list, solve: JSON, one object a line"},
            {0},
        },
    .run = run_games,
};
