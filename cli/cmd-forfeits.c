/* agon forfeits: who loses matches for another reason than play, and how often. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/ratings.h"
#include "cli/filter.h"
#include "cli/listing.h"
#include "cli/rows.h"
#include "cli/run.h"

enum { BINDS = 6, LIMIT = 50, COLUMNS = 6, CELLS = 16 };

static const char *const groups[] = {"reason", "game", "policy", "seat", "kind"};
#define GROUPS ((int)(sizeof groups / sizeof *groups))

struct job {
    struct listing listing;
    struct listing_column show[GROUPS + COLUMNS];
};

/* The row with Wilson's interval of its share. */
static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    struct job *j = arg;
    struct store_cell row[CELLS];
    char low_text[32], high_text[32];
    double low, high;
    ratings_interval(row_real(cell, cells, "forfeits", 0), row_real(cell, cells, "played", 0), &low,
                     &high);
    memcpy(row, cell, (size_t)cells * sizeof *row);
    snprintf(low_text, sizeof low_text, "%.6f", low);
    snprintf(high_text, sizeof high_text, "%.6f", high);
    row[cells] = (struct store_cell){"low", low_text, STORE_REAL};
    row[cells + 1] = (struct store_cell){"high", high_text, STORE_REAL};
    return listing_row(&j->listing, row, cells + 2);
}

/* "reason,game": each of the words is a group; none twice. */
static int
check_groups(const char *by, struct job *j, struct err *e) {
    int n = 0;
    bool given[GROUPS] = {false};
    for (const char *at = by; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        int i = 0;
        while (i < GROUPS && (strlen(groups[i]) != len || strncmp(groups[i], at, len)))
            i++;
        if (i == GROUPS || given[i])
            return err_usage(e,
                             "--by %.80s: some of reason, game, policy, seat, kind are needed, "
                             "each once, with commas between",
                             by);
        given[i] = true;
        at += len;
    }
    for (int i = 0; i < GROUPS; i++)
        if (given[i])
            j->show[n++] = (struct listing_column){groups[i], i == 3 ? ">seat" : groups[i], 0};
    static const struct listing_column numbers[] = {
        {"forfeits", ">forfeits", 0}, {"played", ">of", 0},    {"share", ">share", 4},
        {"low", ">at least", 4},      {"high", ">at most", 4}, {0}};
    memcpy(j->show + n, numbers, sizeof numbers);
    j->listing.show = j->show;
    return 0;
}

static int
ask(struct run *r, struct job *j, const struct cmd_args *a, struct err *e) {
    struct store_bind bind[BINDS];
    const char *by = cmd_flag(a, "by");
    long long limit;
    int n = 0;
    by = by ? by : "reason,game,seat";
    if (check_groups(by, j, e) < 0 || listing_style(a, &j->listing.style, e) < 0 ||
        run_number("--limit", cmd_flag(a, "limit"), 1, 10000, LIMIT, &limit, e) < 0 ||
        run_open(r, cmd_flag(a, "run"), e) < 0)
        return -1;
    bind[n++] = (struct store_bind){.name = ":limit", .number = limit};
    bind[n++] = (struct store_bind){.name = ":by", .text = by};
    int filters = filter_matches(r, a, bind + n, e);
    if (filters < 0)
        return -1;
    return store_query(r->store, "forfeit_shares", bind, (size_t)(n + filters), add_row, j, e);
}

static int
run_forfeits(const struct cmd_args *a, struct err *e) {
    struct run r = {0};
    struct job j = {.listing = {.rows = 0}};
    int status = ask(&r, &j, a, e);
    listing_end(&j.listing);
    if (status == 0 && j.listing.style == LISTING_TABLE)
        printf("%s: no match was forfeited.\n", r.dir);
    run_close(&r);
    return status < 0 ? -1 : 0;
}

const struct cmd cmd_forfeits = {
    .name = "forfeits",
    .args = "",
    .help = "Count matches lost for another reason than play, with shares and 95 % intervals.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"by", "LIST",
             "what to tell apart, of reason,game,policy,seat,kind (default: "
             "reason,game,seat)"},
            FILTER_FLAGS,
            {"limit", "N", "at most so many rows (default 50)"},
            LISTING_FLAGS,
            {0},
        },
    .run = run_forfeits,
};
