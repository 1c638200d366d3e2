/* agon matches: recorded matches as a table for people or as lines for programs. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/filter.h"
#include "cli/listing.h"
#include "cli/run.h"

enum { BINDS = FILTER_BINDS + 9, LIMIT = 20 };

static const struct listing_column columns[] = {
    {"id", ">match", 0},
    {"game", "game", 0}, /* GAME_COLUMN: of a run with several games */
    {"kind", "kind", 0},
    {"iteration", ">step", 0},
    {"player0", "seat 0", 0},
    {"player1", "seat 1", 0},
    {"outcome", "outcome", 0},
    {"reason", "reason", 0},
    {"turns", ">turns", 0},
    {"started", "began (UTC)", 19},
    {0},
};
enum { GAME_COLUMN = 1 };

static const char *const sorts[] = {"newest",  "oldest",   "longest", "shortest",
                                    "slowest", "quickest", NULL};
static const char *const results[] = {"0", "1", "draw", "none", NULL};

static struct store_bind *
add_number(struct store_bind *at, const char *name, long long number) {
    *at = (struct store_bind){.name = name, .number = number};
    return at + 1;
}

/* Ids, times and lengths. Returns the end of what was filled in, or NULL. */
static struct store_bind *
bind_ranges(const struct cmd_args *a, struct store_bind *at, struct err *e) {
    static const char *const times[][2] = {{"since", ":since"}, {"until", ":until"}};
    const char *length = cmd_flag(a, "length");
    long long before, after;
    int64_t ms, now = clock_wall_ms(), turns[2];
    if (run_number("--before", cmd_flag(a, "before"), 0, INT64_MAX, -1, &before, e) < 0 ||
        run_number("--after", cmd_flag(a, "after"), 0, INT64_MAX, -1, &after, e) < 0 ||
        (length && filter_range("--length", length, turns, e) < 0))
        return NULL;
    if (before >= 0)
        at = add_number(at, ":before", before);
    if (after >= 0)
        at = add_number(at, ":after", after);
    for (int i = 0; i < 2; i++) {
        const char *value = cmd_flag(a, times[i][0]);
        if (value && filter_time(i ? "--until" : "--since", value, now, &ms, e) < 0)
            return NULL;
        if (value)
            at = add_number(at, times[i][1], ms);
    }
    if (length && turns[0] >= 0)
        at = add_number(at, ":least", turns[0]);
    if (length && turns[1] >= 0)
        at = add_number(at, ":most", turns[1]);
    return at;
}

/* Fills the parameters of the query that were asked for; returns how many. */
static int
bind_filters(const struct run *r, const struct cmd_args *a, struct store_bind bind[BINDS],
             struct err *e) {
    const char *sort = cmd_flag(a, "sort"), *result = cmd_flag(a, "result");
    long long limit;
    if (run_number("--limit", cmd_flag(a, "limit"), 1, 10000, LIMIT, &limit, e) < 0 ||
        filter_word("--sort", sort, sorts, e) < 0 ||
        filter_word("--result", result, results, e) < 0)
        return -1;
    int n = filter_matches(r, a, bind, e);
    struct store_bind *at = n < 0 ? NULL : bind_ranges(a, bind + n, e);
    if (!at)
        return -1;
    at = add_number(at, ":limit", limit);
    if (result)
        *at++ = (struct store_bind){.name = ":result", .text = result};
    if (sort && strcmp(sort, "newest") && strcmp(sort, "oldest"))
        *at++ = (struct store_bind){.name = ":sort", .text = sort};
    return (int)(at - bind);
}

static const char *
find_question(const char *sort) {
    if (!sort || !strcmp(sort, "newest"))
        return "matches";
    return strcmp(sort, "oldest") ? "matches_by" : "matches_oldest";
}

static void
print_end(const struct run *r, const struct listing *l, const char *sort, bool filtered) {
    if (l->style != LISTING_TABLE)
        return;
    if (l->rows)
        printf("\n%s: `agon replay ID` prints a match, %s.\n", r->dir,
               !sort || !strcmp(sort, "newest") ? "--before ID shows older ones"
               : !strcmp(sort, "oldest")        ? "--after ID shows newer ones"
                                                : "--limit N shows more");
    else if (filtered)
        printf("%s: no match is like that.\n", r->dir);
    else
        printf("%s: no match is recorded yet.\n", r->dir);
}

static int
run_matches(const struct cmd_args *a, struct err *e) {
    struct run r = {0};
    struct store_bind bind[BINDS];
    struct listing l = {.rows = 0};
    struct listing_column show[sizeof columns / sizeof *columns];
    const char *sort = cmd_flag(a, "sort");
    if (listing_style(a, &l.style, e) < 0 || run_open(&r, cmd_flag(a, "run"), e) < 0)
        return -1;
    int n = bind_filters(&r, a, bind, e), status = -1;
    if (n >= 0) {
        memcpy(show, columns, sizeof show);
        if (r.games <= 1)
            memmove(show + GAME_COLUMN, show + GAME_COLUMN + 1,
                    sizeof show - (GAME_COLUMN + 1) * sizeof *show);
        l.show = show;
        status = store_query(r.store, find_question(sort), bind, (size_t)n, listing_row, &l, e);
        listing_end(&l);
        if (status >= 0)
            print_end(&r, &l, sort, n > 1);
    }
    run_close(&r);
    return status < 0 ? -1 : 0;
}

const struct cmd cmd_matches = {
    .name = "matches",
    .args = "",
    .help = "List recorded matches, newest first.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            FILTER_FLAGS,
            {"result", "RESULT", "0 or 1 (that seat won), draw, or none (aborted)"},
            {"length", "RANGE", "with so many turns: 5, 5-8, 5-, -8"},
            {"since", "TIME",
             "begun at or after: 2026-12-01, \"2026-12-01 05:30\" (UTC), or 10m, "
             "2h, 3d ago"},
            {"until", "TIME", "begun before"},
            {"before", "ID", "older than match ID"},
            {"after", "ID", "newer than match ID"},
            {"sort", "ORDER", "newest (default), oldest, longest, shortest, slowest, quickest"},
            {"limit", "N", "at most so many (default 20)"},
            LISTING_FLAGS,
            {0},
        },
    .run = run_matches,
};
