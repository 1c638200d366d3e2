/* The run's summary as one page: where it stands, its curves, what was measured, how matches
 * ended. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/export-html.h"
#include "cli/html.h"
#include "cli/member.h"
#include "cli/rows.h"
#include "cli/table.h"

enum { POINTS = 400, EVALS = 10000, SHOWN = 40, COLUMNS = 16 };

/* ---- tables of named questions ---- */

struct listing {
    FILE *out;
    const char *const *heads, *const *names; /* both end with NULL */
};

static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    struct listing *l = arg;
    const char *text[COLUMNS];
    char number[COLUMNS][32];
    for (int i = 0; l->names[i]; i++) {
        text[i] = row_text(cell, cells, l->names[i]);
        char *end;
        double v = text[i] ? strtod(text[i], &end) : 0;
        if (text[i] && *text[i] && !*end && strchr(text[i], '.')) {
            snprintf(number[i], sizeof number[i], "%.5g", v);
            text[i] = number[i];
        }
    }
    html_row(l->out, l->heads, text);
    return 0;
}

static int
list(struct export *x, const char *title, const char *question, int64_t limit,
     const char *const *heads, const char *const *names) {
    struct listing l = {x->out, heads, names};
    struct store_bind bind = {":limit", NULL, limit};
    fputs("<h2>", x->out);
    html_text(x->out, title);
    fputs("</h2>\n", x->out);
    html_table_begin(x->out, heads);
    int got = store_query(x->run.store, question, &bind, limit ? 1 : 0, add_row, &l, x->e);
    html_table_end(x->out);
    return got < 0 ? -1 : 0;
}

/* ---- curves of the steps ---- */

static const char *const measured[] = {"step",      "invalid", "reward_0",  "baseline_0", "entropy",
                                       "kl_magnet", "loss",    "grad_norm", "matches_s"};
enum { MEASURED = sizeof measured / sizeof *measured };

struct curves {
    double *value[MEASURED]; /* [n] */
    size_t n;
};

static int
add_point(void *arg, const struct store_cell *cell, int cells) {
    struct curves *c = arg;
    if (c->n == POINTS)
        return 1;
    for (int i = 0; i < MEASURED; i++)
        c->value[i][c->n] = row_real(cell, cells, measured[i], NAN);
    c->n++;
    return 0;
}

static void
draw(struct export *x, const struct curves *c, const char *title, int first, int last,
     const char *const *names) {
    struct html_series s[HTML_SERIES];
    size_t n = 0;
    for (int i = first; i <= last; i++, n++)
        s[n] = (struct html_series){names[n], c->value[0], c->value[i], c->n};
    html_chart(x->out, title, "step", s, n);
}

static int
write_curves(struct export *x) {
    static const char *const invalid[] = {"invalid replies"};
    static const char *const reward[] = {"mean payoff of seat 0", "its baseline"};
    static const char *const entropy[] = {"entropy of a reply's token", "KL to the magnet"};
    struct curves c = {.n = 0};
    struct store_bind bind = {":points", NULL, POINTS};
    for (int i = 0; i < MEASURED; i++)
        c.value[i] = mem_zero(POINTS, sizeof **c.value);
    int got = store_query(x->run.store, "series", &bind, 1, add_point, &c, x->e);
    if (got >= 0) {
        draw(x, &c, "Share of matches that ended by an invalid reply", 1, 1, invalid);
        draw(x, &c, "Payoff", 2, 3, reward);
        draw(x, &c, "The policy", 4, 5, entropy);
    }
    for (int i = 0; i < MEASURED; i++)
        free(c.value[i]);
    return got < 0 ? -1 : 0;
}

/* ---- evaluations ---- */

struct eval {
    int64_t step;
    char game[256];
    bool mixture;
    double nash_conv, invalid, win, loss;
    char against[64], at[32];
};

struct evals {
    struct eval *list; /* newest first */
    size_t n;
};

static int
add_eval(void *arg, const struct store_cell *cell, int cells) {
    struct evals *all = arg;
    const char *report = row_text(cell, cells, "report"), *game = row_text(cell, cells, "game");
    json_t *o = report ? json_loads(report, 0, NULL) : NULL;
    const json_t *first = json_array_get(json_object_get(o, "against"), 0);
    const char *name = json_string_value(json_object_get(first, "name"));
    if (!(all->n & (all->n - 1)))
        all->list = mem_grow(all->list, all->n ? 2 * all->n : 1, sizeof *all->list);
    struct eval *v = &all->list[all->n++];
    *v = (struct eval){.step = row_int(cell, cells, "step", 0),
                       .mixture = !row_text(cell, cells, "policy_id"),
                       .nash_conv = member_real(o, "nash_conv"),
                       .invalid = member_real(o, "invalid"),
                       .win = member_real(first, "win") / member_real(first, "matches"),
                       .loss = member_real(first, "loss") / member_real(first, "matches")};
    snprintf(v->game, sizeof v->game, "%s", game ? game : "?");
    snprintf(v->against, sizeof v->against, "%.60s", name ? name : "");
    term_time(v->at, row_int(cell, cells, "at_ms", 0));
    json_decref(o);
    return 0;
}

/* Points of one game, oldest first; `field` is the place of the number in struct eval. */
static size_t
collect(const struct evals *all, const char *game, bool mixture, size_t field, double *px,
        double *py) {
    size_t n = 0;
    for (size_t i = all->n; i-- > 0;) {
        const struct eval *v = &all->list[i];
        double y = *(const double *)((const char *)v + field);
        if (v->mixture != mixture || strcmp(v->game, game) || !isfinite(y))
            continue;
        px[n] = (double)v->step;
        py[n++] = y;
    }
    return n;
}

static void
draw_game(struct export *x, const struct evals *all, const char *game) {
    static const struct {
        const char *name;
        bool mixture;
        size_t field;
    } lines[] = {{"newest snapshot", false, offsetof(struct eval, nash_conv)},
                 {"mixture of snapshots", true, offsetof(struct eval, nash_conv)},
                 {"wins", false, offsetof(struct eval, win)},
                 {"losses", false, offsetof(struct eval, loss)}};
    enum { LINES = sizeof lines / sizeof *lines };
    struct html_series s[LINES];
    double *room = mem_zero(2 * LINES * all->n + 1, sizeof *room);
    char title[400];
    for (size_t i = 0; i < LINES; i++) {
        double *px = room + 2 * i * all->n, *py = px + all->n;
        s[i] = (struct html_series){lines[i].name, px, py,
                                    collect(all, game, lines[i].mixture, lines[i].field, px, py)};
    }
    snprintf(title, sizeof title, "%s: NashConv (0 is an equilibrium)", game);
    html_chart(x->out, title, "step", s, 2);
    if (!s[0].n) {
        snprintf(title, sizeof title, "%s: share of matches against the first opponent", game);
        html_chart(x->out, title, "step", s + 2, 2);
    }
    free(room);
}

static const char *
shown(double v, double scale, char out[32]) {
    if (!isfinite(v))
        return NULL;
    snprintf(out, 32, "%.4f", v * scale);
    return out;
}

static void
write_eval_table(FILE *out, const struct evals *all) {
    static const char *const heads[] = {">step", "game",    "policy",  ">NashConv", ">invalid",
                                        ">wins", ">losses", "against", "at (UTC)",  NULL};
    fputs("<h2>Measured</h2>\n", out);
    html_table_begin(out, heads);
    for (size_t i = 0; i < all->n && i < SHOWN; i++) {
        const struct eval *v = &all->list[i];
        char step[32], a[32], b[32], c[32], d[32];
        snprintf(step, sizeof step, "%lld", (long long)v->step);
        const char *cells[] = {step,
                               v->game,
                               v->mixture ? "mixture" : "newest snapshot",
                               shown(v->nash_conv, 1, a),
                               shown(v->invalid, 1, b),
                               shown(v->win, 1, c),
                               shown(v->loss, 1, d),
                               *v->against ? v->against : NULL,
                               v->at};
        html_row(out, heads, cells);
    }
    html_table_end(out);
}

static int
write_evals(struct export *x) {
    struct evals all = {0};
    struct store_bind bind = {":limit", NULL, EVALS};
    int got = store_query(x->run.store, "evals", &bind, 1, add_eval, &all, x->e);
    for (size_t i = 0; got >= 0 && i < all.n; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(all.list[k].game, all.list[i].game) != 0;
        if (first)
            draw_game(x, &all, all.list[i].game);
    }
    if (got >= 0 && write_curves(x) < 0)
        got = -1;
    if (got > 0)
        write_eval_table(x->out, &all);
    free(all.list);
    return got < 0 ? -1 : 0;
}

/* ---- the page ---- */

static int
write_status(void *arg, const struct store_cell *cell, int cells) {
    static const char *const names[][2] = {{"step", "learner step"},
                                           {"policy", "newest policy"},
                                           {"matches", "matches"},
                                           {"turns", "turns"},
                                           {"tokens", "tokens"},
                                           {"forfeits", "matches lost by a fault"},
                                           {"aborted", "matches given up"},
                                           {"snapshots", "snapshots"}};
    static const char *const heads[] = {"", "", NULL};
    struct export *x = arg;
    html_table_begin(x->out, heads);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        html_row(x->out, heads, (const char *[]){names[i][1], row_text(cell, cells, names[i][0])});
    html_table_end(x->out);
    return 0;
}

static void
write_title(struct export *x, char title[256]) {
    const char *slash = strrchr(x->run.dir, '/');
    snprintf(title, 256, "Agon: run %.200s", slash && slash[1] ? slash + 1 : x->run.dir);
}

static int
write_summary(struct export *x) {
    static const char *const end_heads[] = {"kind",   "reason",  ">matches",
                                            ">turns", ">tokens", NULL};
    static const char *const end_names[] = {"kind", "reason", "matches", "turns", "tokens", NULL};
    static const char *const lost_heads[] = {"reason", "game", "player", "kind", ">matches", NULL};
    static const char *const lost_names[] = {"reason", "game", "player", "kind", "matches", NULL};
    static const char *const fact_heads[] = {"fact", "value", NULL};
    static const char *const fact_names[] = {"key", "value", NULL};
    static const char *const game_heads[] = {"game", ">version", ">matches", NULL};
    static const char *const game_names[] = {"spec", "version", "matches", NULL};
    char title[256], at[32];
    write_title(x, title);
    term_time(at, clock_wall_ms());
    html_begin(x->out, title);
    fputs("<p class=\"dim\">Written ", x->out);
    html_text(x->out, at);
    fputs(" UTC. Times are UTC.</p>\n", x->out);
    if (store_query(x->run.store, "status", NULL, 0, write_status, x, x->e) < 0 ||
        write_evals(x) < 0 || list(x, "How matches ended", "ends", 0, end_heads, end_names) < 0 ||
        list(x, "Lost by a fault", "forfeits", SHOWN, lost_heads, lost_names) < 0 ||
        list(x, "Games", "games", 0, game_heads, game_names) < 0 ||
        list(x, "Facts of the run", "run", 0, fact_heads, fact_names) < 0)
        return -1;
    html_end(x->out);
    return 0;
}

int
export_html(struct export *x, int64_t id) {
    return id ? export_html_match(x, id) : write_summary(x);
}
