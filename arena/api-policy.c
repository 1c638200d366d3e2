/* Policies: one with its ancestors and results, the table of who beats whom, the ratings. */
#include "arena/api-int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/ratings.h"
#include "base/mem.h"

#define NEWEST 32
#define EVALS_MOST 1000
#define ANCESTORS 20
#define RESULTS 200

/* ---- who beats whom ---- */

struct payoffs {
    struct json_out *j;
    int64_t rows, limit;
    bool more;
};

static int
add_payoff(void *arg, const struct store_cell *cell, int cells) {
    struct payoffs *p = arg;
    double matches = row_number(cell, cells, "matches"), low, high;
    double won = row_number(cell, cells, "wins") + row_number(cell, cells, "draws") / 2;
    if (p->rows++ == p->limit) {
        p->more = true;
        return 1;
    }
    ratings_interval(won, matches, &low, &high);
    json_out_open(p->j, NULL, '{');
    row_members(p->j, cell, cells);
    json_out_real(p->j, "score", matches > 0 ? won / matches : NAN);
    json_out_real(p->j, "low", low);
    json_out_real(p->j, "high", high);
    json_out_close(p->j, '}');
    return 0;
}

static int
write_payoffs(struct task *t, struct store *db, struct json_out *j, const char *policy,
              int64_t limit) {
    struct store_bind bind[4];
    struct payoffs p = {.j = j, .limit = limit};
    struct err e;
    size_t n = 0;
    bind[n++] = (struct store_bind){":limit", NULL, limit + 1};
    if (policy)
        bind[n++] = (struct store_bind){":policy", policy, 0};
    if (http_query_find(&t->query, "game"))
        bind[n++] = (struct store_bind){":game", http_query_find(&t->query, "game"), 0};
    if (http_query_find(&t->query, "kind"))
        bind[n++] = (struct store_bind){":kind", http_query_find(&t->query, "kind"), 0};
    json_out_open(j, "payoff", '[');
    if (store_query(db, "payoff", bind, n, add_payoff, &p, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    json_out_bool(j, "complete", !p.more);
    return 0;
}

static int
read_payoff(struct task *t, struct store *db, struct json_out *j) {
    json_out_open(j, NULL, '{');
    if (write_payoffs(t, db, j, http_query_find(&t->query, "policy"),
                      api_number(&t->query, "limit", API_ROWS_MOST)) < 0)
        return -1;
    json_out_close(j, '}');
    return 0;
}

void
get_payoff(struct call *c) {
    api_ask(c, read_payoff, NULL);
}

/* ---- one policy ---- */

static int
add_members(void *arg, const struct store_cell *cell, int cells) {
    row_members(arg, cell, cells);
    return 0;
}

static int
read_policy(struct task *t, struct store *db, struct json_out *j) {
    struct store_bind bind[] = {{":id", NULL, t->id}, {":limit", NULL, ANCESTORS}};
    char text[24];
    struct err e;
    snprintf(text, sizeof text, "%lld", (long long)t->id);
    struct store_bind evals[] = {{":policy", text, 0}, {":limit", NULL, ANCESTORS}};
    json_out_open(j, NULL, '{');
    int rows = store_query(db, "policy", bind, 1, add_members, j, &e);
    if (rows < 0)
        return task_fail_store(t, db, &e);
    if (!rows)
        return task_fail(t, 404, "policy", "there is no such policy");
    if (rows_array(t, db, j, "lineage", "lineage", bind, 2) < 0 ||
        write_payoffs(t, db, j, text, RESULTS) < 0 ||
        rows_array(t, db, j, "evals", "evals", evals, 2) < 0)
        return -1;
    json_out_close(j, '}');
    return 0;
}

void
get_policy(struct call *c) {
    api_ask(c, read_policy, NULL);
}

/* ---- ratings ---- */

struct player {
    int64_t id;
    double matches;
    int place; /* among the rated; -1: not one of them */
};

#define STRANGERS_MOST 4096
#define IMPORTS_MOST 200000

struct results {
    struct {
        int64_t a, b;
        double wins, draws, losses;
    } * pair;
    struct player *player; /* ascending by id once they are known */
    size_t pairs, players;
    int64_t policies; /* of the run, rated or not */
    /* For evaluations: */
    struct store *db;
    bool without_forfeits;
    struct stranger { /* a player that the run does not know: id -1, -2, ... */
        char name[256];
        bool outside; /* from an import */
    } * stranger;
    int strangers;
};

static void
add_pair(struct results *r, int64_t a, int64_t b, double wins, double draws, double losses) {
    r->pair = mem_grow(r->pair, r->pairs + 1, sizeof *r->pair);
    r->pair[r->pairs].a = a;
    r->pair[r->pairs].b = b;
    r->pair[r->pairs].wins = fmax(0, wins);
    r->pair[r->pairs].draws = fmax(0, draws);
    r->pair[r->pairs++].losses = fmax(0, losses);
}

static int
add_result(void *arg, const struct store_cell *cell, int cells) {
    struct results *r = arg;
    const char *a = row_cell(cell, cells, "policy0_id"), *b = row_cell(cell, cells, "policy1_id");
    if (!a || !b)
        return 0;
    add_pair(r, strtoll(a, NULL, 10), strtoll(b, NULL, 10), row_number(cell, cells, "wins"),
             row_number(cell, cells, "draws"), row_number(cell, cells, "losses"));
    r->policies = (int64_t)row_number(cell, cells, "policies");
    return 0;
}

/* 0: there are too many of them. */
static int64_t
find_stranger(struct results *r, const char *name, bool outside) {
    for (int i = 0; i < r->strangers; i++)
        if (r->stranger[i].outside == outside && !strcmp(r->stranger[i].name, name))
            return -1 - i;
    if (r->strangers == STRANGERS_MOST || strlen(name) >= sizeof r->stranger[0].name)
        return 0;
    r->stranger = mem_grow(r->stranger, (size_t)r->strangers + 1, sizeof *r->stranger);
    struct stranger *x = &r->stranger[r->strangers];
    x->outside = outside;
    snprintf(x->name, sizeof x->name, "%s", name);
    return -1 - r->strangers++;
}

/* A player of an evaluation: scripted, or some digits of a snapshot's hash. */
static int64_t
find_opponent(struct results *r, const char *name) {
    struct store_policy p;
    return store_policy_find(r->db, name, &p, NULL) == 1 ? p.id : find_stranger(r, name, false);
}

/* A name in somebody else's file is a policy of the run only where it can mean nothing else: a
 * scripted player's name, a whole hash, or a label as exports have it ("step 60 (3f9a12cd)"). */
static int64_t
find_outsider(struct results *r, const char *name) {
    struct store_policy p;
    long long step = -1;
    char digits[HASH_HEX] = "", label[STORE_LABEL];
    int got = 0;
    if (sscanf(name, "step %lld (%8[0-9a-f])", &step, digits) == 2) {
        got = store_policy_find(r->db, digits, &p, NULL) == 1;
        if (got)
            store_policy_label(&p, label);
        got = got && !strcmp(label, name);
    } else if (store_policy_find(r->db, name, &p, NULL) == 1) {
        got = !strcmp(p.name, name);
    }
    return got ? p.id : find_stranger(r, name, true);
}

static int
add_import(void *arg, const struct store_cell *cell, int cells) {
    struct results *r = arg;
    const char *white = row_cell(cell, cells, "white"), *black = row_cell(cell, cells, "black");
    int64_t a = white ? find_outsider(r, white) : 0, b = black ? find_outsider(r, black) : 0;
    if (a && b && a != b)
        add_pair(r, a, b, row_number(cell, cells, "wins"), row_number(cell, cells, "draws"),
                 row_number(cell, cells, "losses"));
    return 0;
}

static double
count_of(const json_t *o, const char *name) {
    const json_t *v = json_object_get(o, name);
    return json_is_number(v) ? json_number_value(v) : 0;
}

/* Evaluations by matches are not in the tables of matches: their reports hold the sums. */
static int
add_eval(void *arg, const struct store_cell *cell, int cells) {
    struct results *r = arg;
    const char *id = row_cell(cell, cells, "policy_id"), *text = row_cell(cell, cells, "report");
    json_t *report = id && text ? json_loads(text, 0, NULL) : NULL, *x;
    size_t i;
    json_array_foreach(json_object_get(report, "against"), i, x) {
        const char *name = json_string_value(json_object_get(x, "name"));
        int64_t other = name ? find_opponent(r, name) : 0;
        if (!other)
            continue;
        bool without = r->without_forfeits;
        double win = count_of(x, "win") - (without ? count_of(x, "invalid_other") : 0);
        double loss = count_of(x, "loss") - (without ? count_of(x, "invalid") : 0);
        add_pair(r, strtoll(id, NULL, 10), other, win, count_of(x, "draw"), loss);
    }
    json_decref(report);
    return 0;
}

static int
by_id(const void *a, const void *b) {
    const struct player *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int
by_matches(const void *a, const void *b) {
    const struct player *x = a, *y = b;
    return x->matches != y->matches ? (x->matches < y->matches) - (x->matches > y->matches)
                                    : (x->id < y->id) - (x->id > y->id);
}

static struct player *
find_player(const struct results *r, int64_t id) {
    struct player key = {.id = id};
    return bsearch(&key, r->player, r->players, sizeof *r->player, by_id);
}

/* Names every player once, and gives places to those with the most matches. */
static int
seat_players(struct results *r) {
    r->player = mem_zero(2 * r->pairs + 1, sizeof *r->player);
    size_t all = 0, n = 0;
    for (size_t i = 0; i < r->pairs; i++) {
        double matches = r->pair[i].wins + r->pair[i].draws + r->pair[i].losses;
        r->player[all++] = (struct player){r->pair[i].a, matches, -1};
        r->player[all++] = (struct player){r->pair[i].b, matches, -1};
    }
    qsort(r->player, all, sizeof *r->player, by_id);
    for (size_t i = 0; i < all; i++) {
        if (n && r->player[n - 1].id == r->player[i].id)
            r->player[n - 1].matches += r->player[i].matches;
        else
            r->player[n++] = r->player[i];
    }
    r->players = n;
    /* The newest are rated however little they have played, of the others those who have most. */
    size_t older = n > NEWEST ? n - NEWEST : 0;
    int rated = 0;
    for (size_t i = older; i < n; i++)
        r->player[i].place = rated++;
    qsort(r->player, older, sizeof *r->player, by_matches);
    for (size_t i = 0; i < older && rated < RATINGS_MOST; i++)
        r->player[i].place = rated++;
    qsort(r->player, n, sizeof *r->player, by_id);
    return rated;
}

struct rated { /* a player with its rating, for the answer */
    struct store_policy policy;
    const char *stranger; /* its name, where the run does not know it */
    struct rating rating;
    int place; /* before the list was sorted */
};

static int
by_elo(const void *a, const void *b) {
    const struct rated *x = a, *y = b;
    return (x->rating.elo < y->rating.elo) - (x->rating.elo > y->rating.elo);
}

static void
write_rated(struct json_out *j, const struct rated *r) {
    const struct store_policy *p = &r->policy;
    char label[STORE_LABEL];
    store_policy_label(p, label);
    json_out_open(j, NULL, '{');
    if (p->id)
        json_out_id(j, "policy_id", p->id);
    else
        json_out_null(j, "policy_id");
    json_out_text(j, "label", r->stranger ? r->stranger : label);
    json_out_text(j, "kind", p->kind);
    json_out_int(j, "step", p->step);
    json_out_real(j, "elo", r->rating.elo);
    json_out_real(j, "low", r->rating.low);
    json_out_real(j, "high", r->rating.high);
    json_out_int(j, "matches", (int64_t)r->rating.matches);
    json_out_real(j, "score", r->rating.score);
    json_out_int(j, "group", r->rating.group);
    json_out_close(j, '}');
}

/* Who met whom: [a, b, wins of a, draws, wins of b], a and b indices into the list above. */
static void
write_pairs(struct json_out *j, const struct rating_pair *pair, size_t pairs,
            const struct rated *rated, int n) {
    int *at = mem_zero((size_t)n + 1, sizeof *at);
    for (int i = 0; i < n; i++)
        at[rated[i].place] = i;
    json_out_open(j, "pairs", '[');
    for (size_t i = 0; i < pairs; i++) {
        const struct rating_pair *p = &pair[i];
        if (p->a < 0 || p->b < 0)
            continue;
        json_out_open(j, NULL, '[');
        json_out_int(j, NULL, at[p->a]);
        json_out_int(j, NULL, at[p->b]);
        json_out_real(j, NULL, p->wins);
        json_out_real(j, NULL, p->draws);
        json_out_real(j, NULL, p->losses);
        json_out_close(j, ']');
    }
    json_out_close(j, ']');
    free(at);
}

/* The rating 0 belongs to the scripted player `random`, where it has played; else to the mean. */
static void
rate(const struct results *r, struct store *db, int n, struct json_out *j) {
    struct rating_pair *pair = mem_zero(r->pairs + 1, sizeof *pair);
    struct rating *rating = mem_zero((size_t)n + 1, sizeof *rating);
    struct rated *rated = mem_zero((size_t)n + 1, sizeof *rated);
    int anchor = -1;
    for (size_t i = 0; i < r->pairs; i++)
        pair[i] = (struct rating_pair){find_player(r, r->pair[i].a)->place,
                                       find_player(r, r->pair[i].b)->place, r->pair[i].wins,
                                       r->pair[i].draws, r->pair[i].losses};
    for (size_t i = 0; i < r->players; i++) {
        int place = r->player[i].place;
        if (place < 0)
            continue;
        struct store_policy *p = &rated[place].policy;
        int64_t id = r->player[i].id;
        if (id > 0 && store_policy_get(db, id, p, NULL) < 0)
            *p = (struct store_policy){.id = id, .kind = "unknown", .step = -1};
        if (id < 0) {
            const struct stranger *x = &r->stranger[-1 - id];
            *p = (struct store_policy){.step = -1};
            snprintf(p->kind, sizeof p->kind, "%s", x->outside ? "outside" : "scripted");
            rated[place].stranger = x->name;
        }
        const char *name = rated[place].stranger ? rated[place].stranger : p->name;
        if (!strcmp(p->kind, "scripted") && !strcmp(name, "random"))
            anchor = place;
    }
    ratings_fit(pair, r->pairs, n, anchor, rating);
    for (int i = 0; i < n; i++) {
        rated[i].rating = rating[i];
        rated[i].place = i;
    }
    qsort(rated, (size_t)n, sizeof *rated, by_elo);
    json_out_text(j, "anchor", anchor >= 0 ? "random" : "mean");
    json_out_open(j, "ratings", '[');
    for (int i = 0; i < n; i++)
        write_rated(j, &rated[i]);
    json_out_close(j, ']');
    write_pairs(j, pair, r->pairs, rated, n);
    free(pair);
    free(rating);
    free(rated);
}

static int
add_evals(const struct task *t, struct results *r, struct err *e) {
    const char *game = http_query_find(&t->query, "game");
    struct store_bind bind[] = {{":limit", NULL, EVALS_MOST}, {":game", game ? game : "", 0}};
    return store_query(r->db, "evals", bind, 2, add_eval, r, e);
}

static int
add_imports(const struct task *t, struct results *r, struct err *e) {
    const char *game = http_query_find(&t->query, "game");
    struct store_bind bind[] = {{":limit", NULL, IMPORTS_MOST}, {":game", game ? game : "", 0}};
    return store_query(r->db, "imports", bind, 2, add_import, r, e);
}

static int
read_ratings(struct task *t, struct store *db, struct json_out *j) {
    struct results r = {0};
    struct store_bind bind[4];
    struct err e;
    size_t n = 0;
    const char *forfeits = http_query_find(&t->query, "forfeits");
    bool without = forfeits && !strcmp(forfeits, "no");
    bind[n++] = (struct store_bind){":limit", NULL, RATINGS_MOST};
    if (without)
        bind[n++] = (struct store_bind){":forfeits", "no", 0};
    if (http_query_find(&t->query, "game"))
        bind[n++] = (struct store_bind){":game", http_query_find(&t->query, "game"), 0};
    if (http_query_find(&t->query, "kind"))
        bind[n++] = (struct store_bind){":kind", http_query_find(&t->query, "kind"), 0};
    r.db = db;
    r.without_forfeits = without;
    int got = store_query(db, "results", bind, n, add_result, &r, &e);
    const char *kind = http_query_find(&t->query, "kind");
    if (got >= 0 && (!kind || !strcmp(kind, "eval")) && add_evals(t, &r, &e) < 0)
        got = -1;
    if (got >= 0 && !kind && add_imports(t, &r, &e) < 0)
        got = -1;
    json_out_open(j, NULL, '{');
    if (got >= 0) {
        json_out_bool(j, "forfeits", !without);
        int rated = seat_players(&r);
        json_out_bool(j, "complete", r.policies <= RATINGS_MOST && r.players <= RATINGS_MOST);
        rate(&r, db, rated, j);
    }
    json_out_close(j, '}');
    free(r.pair);
    free(r.player);
    free(r.stranger);
    return got < 0 ? task_fail_store(t, db, &e) : 0;
}

void
get_ratings(struct call *c) {
    api_ask_slow(c, read_ratings, NULL);
}
