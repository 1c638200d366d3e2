/* agon matches: recorded matches, newest first, as a table for people or as lines for programs. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/rows.h"
#include "cli/run.h"
#include "cli/table.h"

enum { BINDS = 6, LIMIT = 20 };

enum style { AS_TABLE, AS_JSON, AS_CSV };

struct listing {
    enum style style;
    bool several; /* games: which one is a column then */
    struct table table;
    int rows;
};

static void
add_row(struct listing *l, const struct store_cell *cell, int cells) {
    static const char *const names[] = {"id",      "game",    "kind",    "iteration",
                                        "player0", "player1", "outcome", "reason",
                                        "turns",   "started", NULL};
    struct table *t = &l->table;
    for (int i = 0; names[i]; i++) {
        if (!l->several && !strcmp(names[i], "game"))
            continue;
        const char *s = row_text(cell, cells, names[i]);
        if (!strcmp(names[i], "started") && s)
            table_fmt(t, "%.19s", s);
        else
            table_add(t, s);
    }
}

static int
each(void *arg, const struct store_cell *cell, int cells) {
    struct listing *l = arg;
    if (l->style == AS_JSON) {
        row_print_json(stdout, cell, cells);
    } else if (l->style == AS_CSV) {
        if (!l->rows)
            row_print_csv(stdout, cell, cells, true);
        row_print_csv(stdout, cell, cells, false);
    } else {
        add_row(l, cell, cells);
    }
    l->rows++;
    return 0;
}

static int
one_of(const char *flag, const char *value, const char *(*name)(int), int count, struct err *e) {
    char list[256];
    struct text t;
    if (!value)
        return 0;
    text_init(&t, list, sizeof list);
    for (int i = 0; i < count; i++) {
        if (!strcmp(value, name(i)))
            return 0;
        text_fmt(&t, "%s%s", i ? ", " : "", name(i));
    }
    return err_set(e, "--%s %.40s: there are %s", flag, value, list);
}

static const char *
kind_name(int i) {
    return match_kind_name((enum match_kind)i);
}

static const char *
reason_name(int i) {
    return match_reason_name((enum match_reason)i);
}

/* Fills the parameters of the query that were asked for; returns how many. */
static int
bind_filters(const struct run *r, const struct cmd_args *a, struct store_bind *bind,
             struct err *e) {
    const char *game = cmd_flag(a, "game"), *kind = cmd_flag(a, "kind");
    const char *reason = cmd_flag(a, "reason"), *policy = cmd_flag(a, "policy");
    long long limit, before;
    int n = 0;
    if (run_number("--limit", cmd_flag(a, "limit"), 1, 10000, LIMIT, &limit, e) < 0 ||
        run_number("--before", cmd_flag(a, "before"), 0, INT64_MAX, -1, &before, e) < 0 ||
        one_of("kind", kind, kind_name, MATCH_PLAY + 1, e) < 0 ||
        one_of("reason", reason, reason_name, END_REASONS, e) < 0)
        return -1;
    bind[n++] = (struct store_bind){.name = ":limit", .number = limit};
    if (before >= 0)
        bind[n++] = (struct store_bind){.name = ":before", .number = before};
    if (game)
        bind[n++] = (struct store_bind){.name = ":game", .text = game};
    if (kind)
        bind[n++] = (struct store_bind){.name = ":kind", .text = kind};
    if (reason)
        bind[n++] = (struct store_bind){.name = ":reason", .text = reason};
    if (policy) {
        struct store_policy p;
        if (run_policy(r, policy, &p, e) < 0)
            return -1;
        if (!p.id)
            return err_set(e, "--policy %.40s: it has played no match of %s", policy, r->dir);
        bind[n++] = (struct store_bind){.name = ":policy", .number = p.id};
    }
    return n;
}

static void
print_end(const struct run *r, const struct listing *l, int binds) {
    if (l->style != AS_TABLE)
        return;
    if (l->rows)
        printf("\n%s: `agon replay ID` prints a match, --before ID shows older ones.\n", r->dir);
    else if (binds > 1)
        printf("%s: no match is like that.\n", r->dir);
    else
        printf("%s: no match is recorded yet.\n", r->dir);
}

static int
run_matches(const struct cmd_args *a, struct err *e) {
    static const char *const heads[] = {">match",  "kind",   ">step",  "seat 0",      "seat 1",
                                        "outcome", "reason", ">turns", "began (UTC)", NULL};
    static const char *const with_game[] = {">match", "game",        "kind",    ">step",
                                            "seat 0", "seat 1",      "outcome", "reason",
                                            ">turns", "began (UTC)", NULL};
    struct run r = {0};
    struct store_bind bind[BINDS];
    struct listing l = {.style = cmd_flag(a, "json")  ? AS_JSON
                                 : cmd_flag(a, "csv") ? AS_CSV
                                                      : AS_TABLE};
    if (run_open(&r, cmd_flag(a, "run"), e) < 0)
        return -1;
    int n = bind_filters(&r, a, bind, e), status = -1;
    if (n >= 0) {
        l.several = r.games > 1;
        table_init(&l.table, l.several ? with_game : heads);
        status = store_query(r.store, "matches", bind, (size_t)n, each, &l, e);
        if (l.style == AS_TABLE && l.rows)
            table_print(&l.table, stdout);
        if (status >= 0)
            print_end(&r, &l, n);
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
            {"game", "GAME", "of this game"},
            {"policy", "POLICY", "with this policy in a seat: latest, a hash, a scripted player"},
            {"reason", "REASON", "that ended so: play, invalid, \"no answer\", ..."},
            {"kind", "KIND", "train, warmup, eval or play"},
            {"limit", "N", "at most so many (default 20)"},
            {"before", "ID", "older than match ID"},
            {"json", NULL, "one JSON object a line"},
            {"csv", NULL, "comma-separated values"},
            {0},
        },
    .run = run_matches,
};
