/* agon eval: how good is a policy? Exact values where the game can be solved, matches otherwise and
 * against named players. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/ratings.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/eval-cache.h"
#include "cli/run.h"
#include "cli/table.h"
#include "policy/player.h"

enum { MAX_OPPONENTS = 32 };

struct job {
    struct run run;
    struct setup all;            /* of the run */
    bool ready, only_exact;      /* ready: `all` is loaded */
    const char *policy;          /* as asked for */
    char label[48];              /* for people */
    char name[HASH_HEX];         /* for programs: the whole hash, a player's name, "mixture" */
    int64_t policy_id, step;     /* id 0: the mixture, or a player that the run never met */
    struct store_policy *member; /* [members]; the mixture has several; owned */
    int members;
    int matches;

    /* the game in hand */
    struct setup setup; /* `all` with it in view */
    const char *opponent[MAX_OPPONENTS];
    int opponents;
    char *listed;    /* text that opponent[] points into; owned */
    json_t *skipped; /* players that cannot play it, with why; owned */

    struct solve *solve;        /* NULL: not exact */
    double *strategy, *against; /* [solve_width] */
    struct solve_report report;
    double rest, decisions;
    char why[512]; /* why not exact; "" when it is */
};

static int
set_option(struct conf *c, const char *key, const char *value, struct err *e) {
    struct buf set = {0};
    buf_fmt(&set, "%s=%s", key, value);
    int bad = conf_set(c, buf_text(&set), e);
    buf_free(&set);
    return bad;
}

/* Where the run has several games, a bare name means that one of them, with its parameters. */
static int
choose_game(struct conf *c, const char *name, struct err *e) {
    struct conf_game list[CONF_MAX_GAMES];
    size_t n = conf_games(c, list), len = strlen(name);
    for (size_t i = 0; n > 1 && i < n; i++)
        if (!strncmp(list[i].name, name, len) && (!list[i].name[len] || list[i].name[len] == '('))
            return set_option(c, "game", list[i].name, e);
    return set_option(c, "game", name, e);
}

static int
open_job(struct job *j, const struct cmd_args *a, struct err *e) {
    long long n = 0;
    if (run_open_any(&j->run, cmd_flag(a, "run"), e) < 0)
        return -1;
    const char *game = cmd_flag(a, "game"), *seed = cmd_flag(a, "seed");
    if (game && choose_game(j->run.conf, game, e) < 0)
        return -1;
    if (seed && set_option(j->run.conf, "seed", seed, e) < 0)
        return -1;
    if (setup_load(&j->all, j->run.conf, e) < 0)
        return -1;
    j->ready = true;
    j->only_exact = cmd_flag(a, "exact") != NULL;
    if (run_number("--matches", cmd_flag(a, "matches"), 2, 10000000,
                   conf_int(j->run.conf, "eval.matches"), &n, e) < 0)
        return -1;
    j->matches = (int)(n + (n & 1));
    j->policy = cmd_flag(a, "policy") ? cmd_flag(a, "policy") : a->words ? a->word[0] : "latest";
    return 0;
}

/* ---- who is measured ---- */

static int
find_mixture(struct job *j, struct err *e) {
    if (!j->run.store)
        return err_set(
            e, "a mixture is made of a run's snapshots, and there is no run here: start one "
               "with `agon train configs/kuhn.yaml`");
    struct store_policy *all;
    int have = run_snapshots(&j->run, &all, e);
    if (have <= 0) {
        if (have == 0)
            err_set(e, "%s: this run has no snapshot yet", j->run.dir);
        return -1;
    }
    int want = (int)conf_int(j->run.conf, "eval.mixture");
    int *place = mem_zero((size_t)want, sizeof *place);
    j->members = run_spread(all, have, want, place);
    j->member = mem_zero((size_t)j->members, sizeof *j->member);
    for (int i = 0; i < j->members; i++)
        j->member[i] = all[place[i]];
    j->step = all[have - 1].step;
    snprintf(j->name, sizeof j->name, "mixture");
    snprintf(j->label, sizeof j->label, "mixture");
    free(place);
    free(all);
    return 0;
}

static int
find_policy(struct job *j, struct err *e) {
    if (!strcmp(j->policy, "mixture"))
        return find_mixture(j, e);
    struct store_policy p;
    if (run_policy(&j->run, j->policy, &p, e) < 0)
        return -1;
    run_policy_label(&p, j->label);
    snprintf(j->name, sizeof j->name, "%s", p.name);
    j->policy_id = p.id;
    j->step = p.step;
    if (!strcmp(p.kind, "snapshot")) {
        j->member = mem_copy(&p, sizeof p);
        j->members = 1;
    }
    return 0;
}

/* ---- exact ---- */

static void
start_exact(struct job *j) {
    const char *why;
    struct err e;
    if (!eval_is_exact(&j->setup, !j->members, &why)) {
        snprintf(j->why, sizeof j->why, "%s", why);
        return;
    }
    size_t most = (size_t)conf_int(j->run.conf, "eval.max_nodes");
    j->solve = solve_new(j->setup.game, &j->setup.args, most, &e);
    if (!j->solve)
        snprintf(j->why, sizeof j->why, "%.500s", e.text);
}

/* The newest snapshot may be thinned out before it is loaded; then there is a newer one. */
static struct model *
load_latest(struct job *j, struct err *e) {
    struct model *m = run_model(&j->run, &j->member[0], e);
    for (int i = 0; i < 10 && !m && !run_has_snapshot(&j->run, &j->member[0]); i++) {
        free(j->member);
        j->member = NULL;
        j->members = 0;
        if (find_policy(j, e) < 0)
            return NULL;
        m = run_model(&j->run, &j->member[0], e);
    }
    return m;
}

/* Loads member i. One of a mixture whose file has just been thinned out by the run is left out of
 * it: then NULL without an error (*gone), and the next member has taken its place. */
static struct model *
load_member(struct job *j, int i, bool *gone, struct err *e) {
    struct model *m =
        strcmp(j->policy, "latest") ? run_model(&j->run, &j->member[i], e) : load_latest(j, e);
    *gone = !m && j->members > 1 && !run_has_snapshot(&j->run, &j->member[i]);
    if (*gone) {
        j->members--;
        memmove(j->member + i, j->member + i + 1, (size_t)(j->members - i) * sizeof *j->member);
    }
    return m;
}

/* The strategy of member i; as load_member() where its file is gone. */
static int
member_strategy(struct job *j, const struct eval_cache *cache, int i, double *out, bool *gone,
                struct err *e) {
    double rest;
    *gone = false;
    if (!eval_cache_load(cache, j->member[i].name, out, &rest)) {
        struct model *m = load_member(j, i, gone, e);
        if (!m)
            return *gone ? 0 : -1;
        eval_model(&j->setup, j->solve, m, out, &rest);
        model_free(m);
        eval_cache_save(cache, j->member[i].name, out, rest);
    }
    j->rest = rest > j->rest ? rest : j->rest;
    return 0;
}

static int
model_strategies(struct job *j, double *out, struct err *e) {
    size_t width = solve_width(j->solve);
    const struct eval_cache cache = {j->run.dir, j->run.conf, &j->setup, j->solve};
    double **each = mem_zero((size_t)j->members, sizeof *each);
    double *weight = mem_zero((size_t)j->members, sizeof *weight);
    int n = 0, held = 0, status = 0;
    struct progress progress;
    progress_begin(&progress, "snapshots");
    while (n < j->members && !status) {
        bool gone;
        progress_show(&progress, (uint64_t)n, (uint64_t)j->members);
        if (held == n)
            each[held++] = mem_zero(width, sizeof **each);
        status = member_strategy(j, &cache, n, each[n], &gone, e);
        n += !status && !gone;
    }
    progress_clear(&progress);
    for (int i = 0; i < n; i++)
        weight[i] = 1.0 / n;
    if (!status && n == 1)
        memcpy(out, each[0], width * sizeof *out);
    else if (!status)
        solve_mixture(j->solve, (const double *const *)each, weight, (size_t)n, out);
    if (!status && !j->policy_id)
        eval_cache_prune(&cache);
    for (int i = 0; i < held; i++)
        free(each[i]);
    free(each);
    free(weight);
    return status;
}

static int
measure_exact(struct job *j, struct err *e) {
    j->strategy = mem_zero(solve_width(j->solve), sizeof *j->strategy);
    j->against = mem_zero(solve_width(j->solve), sizeof *j->against);
    int status = j->members ? model_strategies(j, j->strategy, e)
                            : eval_scripted(&j->setup, j->solve, j->policy, j->strategy, e);
    if (status < 0)
        return -1;
    solve_evaluate(j->solve, j->strategy, &j->report);
    j->decisions = eval_decisions(&j->setup, j->solve, j->strategy);
    return 0;
}

/* ---- matches ---- */

/* The option names players for all games of a run; one that cannot play this one is left out. */
static bool
is_able(struct job *j, const char *name) {
    struct err e;
    if (j->all.ngames == 1 || !player_is_scripted(name))
        return true;
    struct player *p = player_open(name, j->setup.game, &j->setup.args, &e);
    if (!p)
        json_object_set_new(j->skipped, name, json_string(e.text));
    player_close(p);
    return p != NULL;
}

static void
list_opponents(struct job *j, const struct cmd_args *a) {
    const char *name;
    for (int i = 0; i < MAX_OPPONENTS && (name = cmd_flag_nth(a, "against", i)); i++)
        j->opponent[j->opponents++] = name;
    bool open = (j->setup.game->flags & GAME_PERFECT_INFO) != 0;
    if (j->opponents || j->only_exact || (j->solve && !open))
        return;
    char *save = NULL;
    j->listed = mem_text(conf_text(j->run.conf, "eval.opponents"));
    for (char *s = strtok_r(j->listed, " ", &save); s && j->opponents < MAX_OPPONENTS;
         s = strtok_r(NULL, " ", &save))
        if (is_able(j, s))
            j->opponent[j->opponents++] = s;
}

/* The measured policy, for matches. */
static int
load_mine(struct job *j, struct eval_side *side, struct err *e) {
    snprintf(side->name, sizeof side->name, "%s", j->policy);
    side->model = mem_zero((size_t)j->members + 1, sizeof(struct model *));
    while (side->models < j->members) {
        bool gone;
        struct model *m = load_member(j, side->models, &gone, e);
        if (m)
            side->model[side->models++] = m;
        else if (!gone)
            return -1;
    }
    return 0;
}

static int
load_other(struct job *j, const struct store_policy *p, const char *name, struct eval_side *side,
           struct err *e) {
    snprintf(side->name, sizeof side->name, "%s", name);
    if (strcmp(p->kind, "snapshot"))
        return 0;
    side->model = mem_zero(1, sizeof(struct model *));
    side->model[0] = run_model(&j->run, p, e);
    side->models = side->model[0] != NULL;
    return side->models ? 0 : -1;
}

static json_t *
pair(double a, double b) {
    return json_pack("[f,f]", a, b);
}

static json_t *
tally_json(const struct job *j, const struct eval_tally *t) {
    const int k[3] = {t->win, t->draw, t->loss};
    static const char *const names[3] = {"win", "draw", "loss"};
    json_t *o = json_pack("{s:i,s:i,s:i,s:i}", "matches", t->matches, "win", t->win, "draw",
                          t->draw, "loss", t->loss);
    json_t *interval = json_object();
    double n = t->matches > 0 ? t->matches : 1;
    for (int i = 0; i < 3; i++) {
        double low, high;
        ratings_interval(k[i], t->matches, &low, &high);
        json_object_set_new(interval, names[i], pair(low, high));
    }
    json_object_set_new(o, "interval", interval);
    json_object_set_new(o, "mean", json_real(t->payoff / n * j->setup.game->unit(&j->setup.args)));
    json_object_set_new(o, "invalid", json_integer(t->invalid));
    json_object_set_new(o, "invalid_other", json_integer(t->invalid_other));
    json_object_set_new(o, "decisions", json_integer(t->decisions));
    if (t->failed)
        json_object_set_new(o, "failed", json_integer(t->failed));
    return o;
}

static struct eval_tally
both(const struct eval_tally t[2]) {
    return (struct eval_tally){
        .matches = t[0].matches + t[1].matches,
        .win = t[0].win + t[1].win,
        .draw = t[0].draw + t[1].draw,
        .loss = t[0].loss + t[1].loss,
        .decisions = t[0].decisions + t[1].decisions,
        .invalid = t[0].invalid + t[1].invalid,
        .invalid_other = t[0].invalid_other + t[1].invalid_other,
        .failed = t[0].failed + t[1].failed,
        .payoff = t[0].payoff + t[1].payoff,
        .squares = t[0].squares + t[1].squares,
    };
}

/* The exact value of each seat against a scripted opponent, in natural units. */
static int
exact_against(struct job *j, const char *name, double value[2], struct err *e) {
    double *other = mem_zero(solve_width(j->solve), sizeof *other);
    if (eval_scripted(&j->setup, j->solve, name, other, e) < 0) {
        free(other);
        return -1;
    }
    for (int seat = 0; seat < 2; seat++) {
        memcpy(j->against, other, solve_width(j->solve) * sizeof *other);
        for (size_t i = 0; i < solve_sets(j->solve); i++) {
            const struct solve_info *info = solve_info(j->solve, i);
            if (info->seat == seat)
                memcpy(j->against + info->at, j->strategy + info->at,
                       ((size_t)info->actions + 1) * sizeof *other);
        }
        struct solve_report r;
        solve_evaluate(j->solve, j->against, &r);
        value[seat] = seat ? -r.value : r.value;
    }
    free(other);
    return 0;
}

static int
measure_against(struct job *j, const char *name, json_t *list, struct err *e) {
    struct store_policy p;
    if (run_policy(&j->run, name, &p, e) < 0)
        return -1;
    bool snapshot = !strcmp(p.kind, "snapshot");
    struct eval_side mine = {0}, other = {0};
    struct eval_tally tally[2];
    int status = load_mine(j, &mine, e);
    if (!status)
        status = load_other(j, &p, name, &other, e);
    struct progress progress;
    progress_begin(&progress, "matches");
    if (!status)
        status = eval_matches(&j->setup, &mine, &other, j->matches, tally, &progress, e);
    progress_clear(&progress);
    eval_side_free(&mine);
    eval_side_free(&other);
    if (status < 0)
        return err_prefix(e, "against %s", name);
    struct eval_tally sum = both(tally);
    const char *why = tally[tally[0].failed ? 0 : 1].why;
    if (!sum.matches)
        return err_set(e, "against %s: every match failed: %s", name, why);
    json_t *o = tally_json(j, &sum);
    json_object_set_new(o, "name", json_string(name));
    if (sum.failed)
        json_object_set_new(o, "why", json_string(why));
    json_object_set_new(o, "seats",
                        json_pack("[o,o]", tally_json(j, &tally[0]), tally_json(j, &tally[1])));
    double value[2];
    if (j->solve && !snapshot && !exact_against(j, name, value, NULL))
        json_object_set_new(o, "value", pair(value[0], value[1]));
    json_array_append_new(list, o);
    return 0;
}

static int
measure_matches(struct job *j, json_t *list, struct err *e) {
    for (int i = 0; i < j->opponents; i++)
        if (measure_against(j, j->opponent[i], list, e) < 0)
            return -1;
    return 0;
}

/* ---- showing ---- */

/* The share of the policy's decisions that end the match as invalid: exact, or over all matches. */
static double
invalid_per_decision(const struct job *j, const json_t *against) {
    double solved = j->solve ? (j->report.forfeit[0] + j->report.forfeit[1]) / j->decisions : NAN;
    if (isfinite(solved))
        return solved;
    double invalid = 0, decisions = 0;
    for (size_t i = 0; i < json_array_size(against); i++) {
        const json_t *o = json_array_get(against, i);
        invalid += json_number_value(json_object_get(o, "invalid"));
        decisions += json_number_value(json_object_get(o, "decisions"));
    }
    return decisions > 0 ? invalid / decisions : NAN;
}

static json_t *
number(double v) {
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *
result_json(struct job *j, json_t *against, double seconds) {
    json_t *o = json_pack("{s:s,s:s,s:I,s:I,s:s}", "game", j->setup.spec, "policy", j->name,
                          "policy_id", (json_int_t)j->policy_id, "step", (json_int_t)j->step,
                          "kind", j->solve ? "exact" : "matches");
    if (j->solve) {
        const struct solve_report *r = &j->report;
        json_object_set_new(o, "value", pair(r->value, 0 - r->value));
        json_object_set_new(o, "best_response", pair(r->best[0], r->best[1]));
        json_object_set_new(o, "nash_conv", json_real(r->nash_conv));
        json_object_set_new(o, "forfeit", pair(r->forfeit[0], r->forfeit[1]));
        json_object_set_new(o, "sets", json_integer((json_int_t)solve_sets(j->solve)));
        json_object_set_new(o, "rest", json_real(j->rest));
    } else {
        json_object_set_new(o, "why_not_exact", json_string(j->why));
    }
    json_object_set_new(o, "invalid", number(invalid_per_decision(j, against)));
    json_object_set_new(o, "snapshots", json_integer(j->members));
    json_object_set_new(o, "seed", json_integer((json_int_t)j->setup.seed));
    json_object_set_new(o, "seconds", json_real(seconds));
    json_object_set(o, "against", against);
    if (json_object_size(j->skipped))
        json_object_set(o, "skipped", j->skipped);
    return o;
}

static void
show_exact(const struct job *j, const json_t *against) {
    static const char *const heads[] = {"", ">value", ">best response", ">gain", ">invalid", NULL};
    const struct solve_report *r = &j->report;
    const double value[2] = {r->value, 0 - r->value};
    struct table t;
    table_init(&t, heads);
    for (int seat = 0; seat < 2; seat++) {
        table_fmt(&t, "seat %d", seat);
        table_fmt(&t, "%+.4f", value[seat]);
        table_fmt(&t, "%+.4f", r->best[seat]);
        table_fmt(&t, "%.4f", r->best[seat] - value[seat]);
        table_fmt(&t, "%.2f %%", 100 * r->forfeit[seat]);
    }
    printf("exact, over all %zu information sets\n\n", solve_sets(j->solve));
    table_print(&t, stdout);
    printf("\nNashConv %.4f: what both seats together could gain by best responses; 0 is an "
           "equilibrium.\n",
           r->nash_conv);
    double each = invalid_per_decision(j, against);
    if (isfinite(each))
        printf("Invalid replies: %.3f %% of decisions", 100 * each);
    if (j->members)
        printf("%s at most %.0e of any decision was not enumerated (counted as invalid)",
               isfinite(each) ? ";" : "Enumeration:", j->rest);
    if (isfinite(each) || j->members)
        puts(".");
}

static void
add_tally(struct table *t, const char *name, const char *seat, const json_t *o) {
    static const char *const keys[] = {"win", "draw", "loss"};
    table_add(t, name);
    table_add(t, seat);
    double n = json_number_value(json_object_get(o, "matches"));
    table_fmt(t, "%.0f", n);
    n = n > 0 ? n : 1;
    for (int i = 0; i < 3; i++) {
        const json_t *range = json_object_get(json_object_get(o, "interval"), keys[i]);
        table_fmt(t, "%.1f (%.1f-%.1f)", 100 * json_number_value(json_object_get(o, keys[i])) / n,
                  100 * json_real_value(json_array_get(range, 0)),
                  100 * json_real_value(json_array_get(range, 1)));
    }
    table_fmt(t, "%+.4f", json_real_value(json_object_get(o, "mean")));
    table_fmt(t, "%.1f", 100 * json_number_value(json_object_get(o, "invalid")) / n);
}

static void
show_matches(const struct job *j, const json_t *against) {
    static const char *const heads[] = {"against", "as",    ">matches",   ">win %", ">draw %",
                                        ">loss %", ">mean", ">invalid %", NULL};
    struct table t;
    table_init(&t, heads);
    for (size_t i = 0; i < json_array_size(against); i++) {
        const json_t *o = json_array_get(against, i), *seats = json_object_get(o, "seats");
        const char *name = json_string_value(json_object_get(o, "name"));
        add_tally(&t, name, "seat 0", json_array_get(seats, 0));
        add_tally(&t, "", "seat 1", json_array_get(seats, 1));
        add_tally(&t, "", "both", o);
    }
    printf(
        "\nby matches, both seats on the same deals, seed %llu (in brackets: 95 %% intervals)\n\n",
        (unsigned long long)j->setup.seed);
    table_print(&t, stdout);
    for (size_t i = 0; i < json_array_size(against); i++) {
        const json_t *o = json_array_get(against, i), *value = json_object_get(o, "value");
        const char *why = json_string_value(json_object_get(o, "why"));
        if (why)
            printf("%lld matches against %s failed and are not counted: %s\n",
                   (long long)json_integer_value(json_object_get(o, "failed")),
                   json_string_value(json_object_get(o, "name")), why);
        if (value)
            printf("exact value against %s: %+.4f as seat 0, %+.4f as seat 1\n",
                   json_string_value(json_object_get(o, "name")),
                   json_real_value(json_array_get(value, 0)),
                   json_real_value(json_array_get(value, 1)));
    }
}

static void
show(const struct job *j, const json_t *against, double seconds) {
    printf("%s, policy %s", j->setup.game->title, j->label);
    if (!j->policy_id && j->members)
        printf(" of %d snapshots", j->members);
    if (j->step >= 0)
        printf(" (step %lld)", (long long)j->step);
    printf(", %.1f s: ", seconds);
    if (j->solve)
        show_exact(j, against);
    else
        printf("by matches, because it cannot be exact: %s\n", j->why);
    if (json_array_size(against))
        show_matches(j, against);
    const char *name;
    json_t *why;
    json_object_foreach(j->skipped, name, why)
        printf("%s takes no part: %s\n", name, json_string_value(why));
}

static void
forget_game(struct job *j) {
    solve_free(j->solve);
    free(j->strategy);
    free(j->against);
    free(j->listed);
    json_decref(j->skipped);
    j->solve = NULL;
    j->strategy = j->against = NULL;
    j->listed = NULL;
    j->skipped = NULL;
    j->opponents = 0;
    j->rest = j->decisions = 0;
    j->why[0] = '\0';
}

static void
print(struct job *j, json_t *against, double seconds, bool as_json) {
    if (!as_json) {
        show(j, against, seconds);
        return;
    }
    json_t *o = result_json(j, against, seconds);
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(o);
}

static int
measure_game(struct job *j, size_t i, const struct cmd_args *a, struct err *e) {
    int64_t start = clock_mono_us();
    int status = 0;
    json_t *against = json_array();
    j->setup = setup_view(&j->all, &j->all.games[i]);
    j->skipped = json_object();
    start_exact(j);
    if (j->solve || !j->only_exact) {
        list_opponents(j, a);
        if (j->solve)
            status = measure_exact(j, e);
        if (!status)
            status = measure_matches(j, against, e);
        if (!status)
            print(j, against, (double)(clock_mono_us() - start) / 1e6, cmd_flag(a, "json"));
    }
    json_decref(against);
    forget_game(j);
    return status;
}

static int
run_eval(const struct cmd_args *a, struct err *e) {
    struct job j = {0};
    int status = open_job(&j, a, e);
    if (!status)
        status = find_policy(&j, e);
    for (size_t i = 0; i < j.all.ngames && !status; i++) {
        if (i && !cmd_flag(a, "json"))
            putchar('\n');
        status = measure_game(&j, i, a, e);
    }
    free(j.member);
    if (j.ready)
        setup_free(&j.all);
    run_close(&j.run);
    return status;
}

const struct cmd cmd_eval = {
    .name = "eval",
    .args = "[POLICY]",
    .help = "Measure a policy: exact value and NashConv where solvable, else matches.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"game", "GAME", "one of the run's games (default: each in turn), or another game"},
            {"policy", "POLICY",
             "latest (default), mixture, a snapshot's hash, or a scripted player"},
            {"against", "PLAYER", "also play matches against it; may be given again"},
            {"matches", "N", "matches against each player (default: option eval.matches)"},
            {"seed", "N", "seed of the matches (default: the run's)"},
            {"exact", NULL, "only exactly: nothing where the game is too large to solve"},
            {"json", NULL, "print one line of JSON for each game"},
            {0},
        },
    .needs_mat = true,
    .run = run_eval,
};
