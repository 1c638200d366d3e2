/* agon why: from a step of the learner to the samples and matches that made it, and from a match to
 * the step that learned from it, or to the reason why none did. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/filter.h"
#include "cli/listing.h"
#include "cli/member.h"
#include "cli/rows.h"
#include "cli/run.h"

enum { LIMIT = 10, CELLS = 24 };

struct job {
    struct run run;
    struct listing listing;
    const char *baseline; /* of the run: role, shared or none */
    json_t *out;          /* of --json */
    json_t *match;        /* the row of the match that is asked for */
};

/* ---- a step ---- */

static const struct listing_column sample_columns[] = {
    {"match_id", ">match", 0}, {"kind", "kind", 0},          {"game", "game", 0},
    {"seat", ">seat", 0},      {"role", "role", 0},          {"player", "player", 0},
    {"ret", ">return", 4},     {"baseline", ">baseline", 4}, {"advantage", ">advantage", 4},
    {"tokens", ">tokens", 0},  {"reason", "reason", 0},      {0}};
static const struct listing_column role_columns[] = {{"game", "game", 0},
                                                     {"kind", "kind", 0},
                                                     {"seat", ">seat", 0},
                                                     {"samples", ">samples", 0},
                                                     {"ret", ">mean return", 4},
                                                     {"baseline", ">baseline", 4},
                                                     {"advantage", ">advantage", 4},
                                                     {"largest_advantage", ">largest", 4},
                                                     {0}};

/* The texts of a row as they may be shown on a terminal. */
static json_t *
clean(json_t *row) {
    const char *key;
    json_t *v;
    json_object_foreach(row, key, v) {
        const char *s = json_string_value(v);
        struct buf b = {0};
        if (!s)
            continue;
        term_escape(&b, s, strlen(s), false);
        json_object_set_new(row, key, json_string(buf_text(&b)));
        buf_free(&b);
    }
    return row;
}

static int
keep_row(void *arg, const struct store_cell *cell, int cells) {
    json_t **row = arg;
    json_decref(*row);
    *row = row_json(cell, cells);
    return 0;
}

static int
keep_rows(void *arg, const struct store_cell *cell, int cells) {
    json_array_append_new(arg, row_json(cell, cells));
    return 0;
}

/* A sample's row with the baseline's role that it was measured against. */
static int
add_sample(void *arg, const struct store_cell *cell, int cells) {
    struct job *j = arg;
    struct store_cell row[CELLS];
    const char *kind = row_text(cell, cells, "kind"), *seat = row_text(cell, cells, "seat");
    const char *role = j->baseline;
    if (kind && !strcmp(kind, "warmup"))
        role = "none"; /* imitated */
    else if (!strcmp(role, "role"))
        role = seat;
    memcpy(row, cell, (size_t)cells * sizeof *row);
    row[cells] = (struct store_cell){"role", role, STORE_TEXT};
    if (j->listing.style == LISTING_JSON)
        return keep_rows(json_object_get(j->out, "samples"), row, cells + 1);
    return listing_row(&j->listing, row, cells + 1);
}

static double
real(const json_t *row, const char *name) {
    return json_number_value(json_object_get(row, name));
}

static void
print_head(const json_t *step, const json_t *sum) {
    printf("%s, %s UTC, from %s%s\n", member_text(step, "policy_after"), member_text(step, "at"),
           member_text(step, "policy_before"),
           json_is_true(json_object_get(step, "refused")) || member_int(step, "refused")
               ? ": refused (loss or gradient were not finite), the weights stayed"
               : "");
    if (!member_int(sum, "leased")) {
        puts("The first weights: they were not learned.");
        return;
    }
    printf("matches %lld to %lld: %lld, %lld learned from (%lld deals), %lld samples\n"
           "replies %lld, %lld of them distinct (prompt and reply); %lld tokens\n"
           "advantage: |mean| %.4f, |largest| %.4f; %lld samples raised, %lld lowered; staleness "
           "%lld\n",
           member_int(step, "first_match"), member_int(step, "last_match"),
           member_int(sum, "leased"), member_int(sum, "matches"), member_int(sum, "deals"),
           member_int(sum, "samples"), member_int(sum, "replies"),
           member_int(sum, "distinct_replies"), member_int(sum, "tokens"),
           real(sum, "mean_advantage"), real(sum, "largest_advantage"), member_int(sum, "raised"),
           member_int(sum, "lowered"), member_int(sum, "staleness"));
}

static int
ask_samples(struct job *j, const struct store_bind *step, const char *sort, long long limit,
            struct err *e) {
    const struct store_bind bind[] = {
        *step, {":sort", sort ? sort : "", 0}, {":limit", NULL, limit}};
    return store_query(j->run.store, "why", bind, 3, add_sample, j, e);
}

/* The step's row, its sums and its roles as members of `out`; -1 where there is no such step. */
static int
ask_sums(struct job *j, const struct store_bind *step, struct err *e) {
    json_t *row = NULL, *sum = NULL, *roles = json_array();
    struct store *db = j->run.store;
    int status = store_query(db, "steps", step, 1, keep_row, &row, e);
    if (status > 0)
        status = store_query(db, "why_sum", step, 1, keep_row, &sum, e);
    if (status > 0)
        status = store_query(db, "why_roles", step, 1, keep_rows, roles, e);
    json_object_set_new(j->out, "step", row ? row : json_null());
    json_object_set_new(j->out, "sum", sum ? sum : json_null());
    json_object_set_new(j->out, "roles", roles);
    json_object_set_new(j->out, "samples", json_array());
    return status < 0 ? -1 : 0;
}

static int
find_step(struct job *j, const char *given, struct store_bind *bind, struct err *e) {
    char state[HASH_HEX];
    int64_t newest;
    long long step;
    if (store_step_last(j->run.store, &newest, state, e) < 0)
        return -1;
    if (newest < 0)
        return err_set(e, "%s: the learner has made no step yet", j->run.dir);
    step = newest;
    if (strcmp(given, "latest") && run_number("step", given, 0, INT64_MAX, 0, &step, e) < 0)
        return -1;
    if (step > newest)
        return err_set(e, "%s has no step %lld; the newest is %" PRId64 " (`agon why latest`)",
                       j->run.dir, step, newest);
    *bind = (struct store_bind){":step", NULL, step};
    return 0;
}

static int
print_roles(struct job *j, const struct store_bind *step, struct err *e) {
    struct listing l = {.show = role_columns};
    putchar('\n');
    int rows = store_query(j->run.store, "why_roles", step, 1, listing_row, &l, e);
    listing_end(&l);
    return rows;
}

static int
why_step(struct job *j, const struct cmd_args *a, struct err *e) {
    static const char *const sorts[] = {"advantage", "match", NULL};
    const char *sort = cmd_flag(a, "sort");
    struct store_bind step;
    bool table = j->listing.style == LISTING_TABLE;
    long long limit;
    if (run_number("--limit", cmd_flag(a, "limit"), 0, INT32_MAX, table ? LIMIT : INT32_MAX, &limit,
                   e) < 0 ||
        filter_word("--sort", sort, sorts, e) < 0 || find_step(j, a->word[0], &step, e) < 0)
        return -1;
    if (j->listing.style != LISTING_CSV && ask_sums(j, &step, e) < 0)
        return -1;
    const json_t *sum = json_object_get(j->out, "sum");
    if (table)
        print_head(clean(json_object_get(j->out, "step")), sum);
    if (table && member_int(sum, "samples")) {
        if (print_roles(j, &step, e) < 0)
            return -1;
        putchar('\n');
    }
    j->listing.show = sample_columns;
    int rows = ask_samples(j, &step, sort, limit, e);
    listing_end(&j->listing);
    if (rows >= 0 && table && rows < member_int(sum, "samples"))
        printf("\n%lld samples in all; --limit N shows more, `agon replay ID` a match.\n",
               member_int(sum, "samples"));
    return rows < 0 ? -1 : 0;
}

/* ---- a match ---- */

/* Why a seat of the match has no sample. */
static void
explain(const json_t *m, const char *player, char out[256]) {
    const char *kind = member_text(m, "kind"), *reason = member_text(m, "reason");
    bool nobody = json_is_null(json_object_get(m, "loser"));
    bool leased = json_is_integer(json_object_get(m, "lease"));
    bool broken = nobody && (!strcmp(reason, "crash") || !strcmp(reason, "time"));
    if (!strcmp(kind, "eval"))
        snprintf(out, 256, "matches of evaluations are never learned from");
    else if (!strcmp(kind, "play"))
        snprintf(out, 256, "matches against people are never learned from");
    else if (!strcmp(reason, "aborted") || broken)
        snprintf(out, 256, "it has no result (%.40s), and is never learned from", reason);
    else if (leased && json_is_integer(json_object_get(m, "step")))
        snprintf(out, 256,
                 "step %lld took the match, but %.80s was not the policy that learned: only the "
                 "newest snapshot's seats are learned from",
                 member_int(m, "step"), player);
    else if (leased)
        snprintf(out, 256,
                 "waiting: a learner was given it and has not acknowledged the step; if that "
                 "learner has stopped, the next one gets it again");
    else if (member_int(m, "id") <= member_int(m, "last_leased"))
        snprintf(out, 256, "no lease holds it, though later matches were leased");
    else
        snprintf(out, 256, "waiting: it is of the matches that step %lld will learn from",
                 member_int(m, "iteration") + 1);
}

static void
print_seat(const json_t *m, const json_t *seat, const char *why) {
    printf("seat %lld, %s, return %+.4g: ", member_int(seat, "seat"), member_text(seat, "player"),
           real(seat, "payoff"));
    if (why)
        printf("not learned from: %s\n", why);
    else if (!strcmp(member_text(m, "kind"), "warmup"))
        printf("imitated in step %lld (warm-up: no advantage)\n",
               member_int(seat, "learned_in_step"));
    else
        printf("step %lld learned from it, baseline %+.4f, advantage %+.4f, staleness %lld%s\n",
               member_int(seat, "learned_in_step"), real(seat, "baseline"), real(seat, "advantage"),
               member_int(seat, "staleness"),
               member_int(m, "refused") ? "; the step was refused, the weights stayed" : "");
}

static int
add_seat(void *arg, const struct store_cell *cell, int cells) {
    struct job *j = arg;
    struct store_cell row[CELLS];
    char why[256] = "";
    json_t *seat = row_json(cell, cells);
    if (j->listing.style == LISTING_TABLE)
        clean(seat);
    bool learned = json_is_integer(json_object_get(seat, "learned_in_step"));
    if (!learned)
        explain(j->match, member_text(seat, "player"), why);
    memcpy(row, cell, (size_t)cells * sizeof *row);
    row[cells] = (struct store_cell){"why_not", why, learned ? STORE_NULL : STORE_TEXT};
    if (j->listing.style == LISTING_JSON)
        keep_rows(json_object_get(j->out, "seats"), row, cells + 1);
    else if (j->listing.style == LISTING_CSV)
        listing_row(&j->listing, row, cells + 1);
    else
        print_seat(j->match, seat, learned ? NULL : why);
    json_decref(seat);
    return ferror(stdout) != 0;
}

static int
no_match(struct job *j, long long id, struct err *e) {
    int64_t last = store_match_last(j->run.store, e);
    if (last < 0)
        return -1;
    if (!last)
        return err_set(e, "%s: no match is recorded yet", j->run.dir);
    return err_set(e, "%s has no match %lld; the newest is %" PRId64 " (`agon matches` lists them)",
                   j->run.dir, id, last);
}

static int
why_match(struct job *j, const char *given, struct err *e) {
    struct store_bind id = {":id", NULL, 0};
    json_t *row = NULL;
    long long number_given;
    if (run_number("--match", given, 0, INT64_MAX, 0, &number_given, e) < 0)
        return -1;
    id.number = number_given;
    int rows = store_query(j->run.store, "why_match", &id, 1, keep_row, &row, e);
    j->match = row;
    json_object_set_new(j->out, "match", row ? row : json_null());
    json_object_set_new(j->out, "seats", json_array());
    if (rows <= 0)
        return rows < 0 ? -1 : no_match(j, number_given, e);
    if (j->listing.style == LISTING_TABLE) {
        clean(row);
        printf("match %lld: %s, %s, ended by %s, learner step %lld was newest\n",
               member_int(row, "id"), member_text(row, "kind"), member_text(row, "game"),
               member_text(row, "reason"), member_int(row, "iteration"));
    }
    rows = store_query(j->run.store, "seats", &id, 1, add_seat, j, e);
    listing_end(&j->listing);
    return rows < 0 ? -1 : 0;
}

static int
run_why(const struct cmd_args *a, struct err *e) {
    struct job j = {.out = json_object()};
    const char *match = cmd_flag(a, "match");
    int status = -1;
    if (!match == !a->words) {
        err_usage(e, "a step or a match is needed: `agon why STEP`, `agon why --match ID`");
    } else if (!listing_style(a, &j.listing.style, e) && !run_open(&j.run, cmd_flag(a, "run"), e)) {
        j.baseline = conf_text(j.run.conf, "learner.baseline");
        status = match ? why_match(&j, match, e) : why_step(&j, a, e);
    }
    if (!status && j.listing.style == LISTING_JSON) {
        json_dumpf(j.out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
        putchar('\n');
    }
    json_decref(j.out);
    run_close(&j.run);
    return status;
}

const struct cmd cmd_why = {
    .name = "why",
    .args = "[STEP]",
    .help = "Trace a learner step to the matches that made it, or a match to its step.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"match", "ID", "which step learned from this match, or why none did"},
            {"sort", "ORDER", "samples by advantage (default: the largest first) or match"},
            {"limit", "N", "samples to list, at most (default 10; --json, --csv: all)"},
            {"table", NULL, "text and tables (the default)"},
            {"json", NULL, "one JSON object"},
            {"csv", NULL, "the samples, or the match's seats, as CSV"},
            {0},
        },
    .run = run_why,
};
