/* agon verify: replays recorded matches and compares every column with rules, prompt and parser. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/verify.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/run.h"
#include "cli/table.h"
#include "games/extern/extern.h"

enum { SHOWN = 50, MAX_GAMES = 1000, AT_ONCE = 50000, LONGEST_GAP = 100000 };

struct known_game {
    int64_t id;
    struct setup setup;    /* the run's, for this game; the prompt is borrowed */
    struct verify *verify; /* NULL: cannot be replayed, for the reason in `why` */
    char why[512];
    uint64_t skipped;
};

struct job {
    struct run run;
    struct setup setup;
    bool ready, progress;
    struct known_game *game; /* [games]; pointers into it do not outlive a growth */
    int games;
    uint64_t problems, matches;
    int64_t last_seen, told_us;
};

static void
tell(void *arg, const struct verify_problem *p) {
    struct job *j = arg;
    if (j->problems++ >= SHOWN)
        return;
    struct buf text = {0};
    term_escape(&text, p->text, strlen(p->text), false);
    if (p->turn < 0)
        printf("match %" PRId64 ": %s: %s\n", p->match, p->column, buf_text(&text));
    else
        printf("match %" PRId64 ", turn %d: %s: %s\n", p->match, p->turn, p->column,
               buf_text(&text));
    buf_free(&text);
}

static void
prepare_game(struct job *j, struct known_game *k, const struct store_game *row) {
    struct err e;
    k->setup = j->setup;
    if (game_spec_parse(row->spec, &k->setup.game, &k->setup.args, &e) < 0) {
        snprintf(k->why, sizeof k->why, "%.500s", e.text);
    } else if (game_same(k->setup.game, row->version, row->hash, &e) < 0) {
        snprintf(k->why, sizeof k->why, "%.200s: %.280s", row->spec, e.text);
    } else {
        snprintf(k->setup.spec, sizeof k->setup.spec, "%s", row->spec);
        k->verify = verify_new(&k->setup, tell, j);
    }
}

static struct known_game *
find_game(struct job *j, int64_t id, struct err *e) {
    for (int i = 0; i < j->games; i++)
        if (j->game[i].id == id)
            return &j->game[i];
    struct store_game row;
    if (store_game_get(j->run.store, id, &row, e) < 0)
        return NULL;
    if (j->games == MAX_GAMES) {
        err_set(e, "table game: more than %d games", MAX_GAMES);
        return NULL;
    }
    struct known_game *k = &j->game[j->games++];
    k->id = id;
    prepare_game(j, k, &row);
    return k;
}

struct visit {
    struct job *job;
    struct err *e;
    bool stop; /* e is not about a row of the match, but ends it all */
};

static void
show_progress(struct job *j) {
    if (!j->progress || clock_mono_us() - j->told_us < 200000)
        return;
    j->told_us = clock_mono_us();
    fprintf(stderr, "\r%" PRIu64 " matches ", j->matches);
}

static int
visit(void *arg, const struct store_match *m) {
    struct visit *v = arg;
    struct known_game *k = find_game(v->job, m->game, v->e);
    v->stop = !k;
    if (!k)
        return -1;
    v->job->matches++;
    v->job->last_seen = m->id;
    if (k->verify)
        verify_match(k->verify, m);
    else
        k->skipped++;
    if (!(v->job->matches & 1023))
        show_progress(v->job);
    return v->job->matches % AT_ONCE ? 0 : 1;
}

static void
show(const struct job *j, double seconds) {
    struct verify_count sum = {0};
    uint64_t skipped = 0;
    for (int i = 0; i < j->games; i++) {
        const struct known_game *k = &j->game[i];
        if (k->verify) {
            struct verify_count c = verify_count(k->verify);
            sum.matches += c.matches;
            sum.turns += c.turns;
            sum.thinned += c.thinned;
        }
        skipped += k->skipped;
        if (k->skipped)
            printf("not checked: %" PRIu64 " matches: %s\n", k->skipped, k->why);
    }
    if (j->problems > SHOWN)
        printf("... and %" PRIu64 " more problems\n", j->problems - SHOWN);
    printf("%s: %" PRIu64 " matches, %" PRIu64 " turns", j->run.dir, sum.matches, sum.turns);
    if (sum.thinned)
        printf(" (%" PRIu64 " without token payload: thinned)", sum.thinned);
    printf(" in %.1f s (%.0f matches/s): ", seconds, (double)sum.matches / (seconds + 1e-9));
    if (j->problems)
        printf("%" PRIu64 " problem%s.\n", j->problems, j->problems == 1 ? "" : "s");
    else if (sum.matches)
        puts(skipped ? "what could be checked is right." : "all right.");
    else
        puts("nothing to check.");
}

/* Reads on behind a match whose rows do not decode: it is found by reading one id at a time. 1
 * found and told, 0 there is none up to `last`, -1 error. */
static int
pass_undecodable(struct visit *v, long long *from, long long last) {
    int64_t newest = store_match_last(v->job->run.store, v->e);
    if (newest < 0)
        return -1;
    if (last > newest)
        last = newest;
    for (long long id = *from, tried = 0; id <= last && tried < LONGEST_GAP; id++, tried++) {
        if (store_match_each(v->job->run.store, id, id, visit, v, v->e) >= 0)
            continue;
        if (v->stop)
            return -1;
        tell(v->job, &(struct verify_problem){id, -1, "row", v->e->text});
        *from = id + 1;
        return 1;
    }
    return 0;
}

/* In portions, each of which sees one state of the database: a reader that held on to one for long
 * would keep the write-ahead log of a run that trains from being cut. */
static int
verify_range(struct visit *v, long long first, long long last) {
    while (first <= last) {
        v->job->last_seen = first - 1;
        int more = store_match_each(v->job->run.store, first, last, visit, v, v->e);
        if (more == 0 || v->job->last_seen >= last)
            return more < 0 ? -1 : 0;
        first = v->job->last_seen + 1;
        if (more > 0)
            continue;
        struct err why = *v->e;
        if (v->stop || pass_undecodable(v, &first, last) != 1) {
            *v->e = why;
            return -1;
        }
    }
    return 0;
}

static int
open_job(struct job *j, const struct cmd_args *a, long long range[2], struct err *e) {
    const long long most = INT64_MAX;
    if (run_number("--from", cmd_flag(a, "from"), 0, most, 0, &range[0], e) < 0 ||
        run_number("--to", cmd_flag(a, "to"), 0, most, most, &range[1], e) < 0 ||
        run_open(&j->run, cmd_flag(a, "run"), e) < 0 || setup_load(&j->setup, j->run.conf, e) < 0)
        return -1;
    j->ready = true;
    j->progress = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    j->game = mem_zero(MAX_GAMES, sizeof *j->game);
    return 0;
}

static int
run_verify(const struct cmd_args *a, struct err *e) {
    struct job j = {0};
    long long range[2];
    int status = open_job(&j, a, range, e);
    if (!status) {
        struct visit v = {.job = &j, .e = e};
        int64_t start = clock_mono_us();
        status = verify_range(&v, range[0], range[1]);
        if (j.progress)
            fputs("\r                    \r", stderr);
        if (status >= 0) {
            show(&j, (double)(clock_mono_us() - start) / 1e6);
            status = j.problems > 0;
        }
    }
    for (int i = 0; i < j.games; i++)
        verify_free(j.game[i].verify);
    free(j.game);
    if (j.ready)
        setup_free(&j.setup);
    run_close(&j.run);
    return status;
}

const struct cmd cmd_verify = {
    .name = "verify",
    .args = "",
    .help = "Replay every recorded match and compare each column with rules, prompt and parser.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"from", "ID", "first match (default: 0)"},
            {"to", "ID", "last match (default: the newest)"},
            {0},
        },
    .run = run_verify,
};
