/* agon verify: replays recorded matches and compares every column with rules, prompt and parser. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/verify.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/scan.h"
#include "cli/table.h"
#include "policy/token.h"

enum { SHOWN = 50 };

struct job {
    struct scan scan;
    uint64_t problems;
};

static void
tell(void *arg, const struct verify_problem *p) {
    struct job *j = arg;
    if (j->problems++ >= SHOWN)
        return;
    struct buf text = {0};
    term_escape(&text, p->text, strlen(p->text), false);
    progress_clear(&j->scan.progress);
    if (p->turn < 0)
        printf("match %" PRId64 ": %s: %s\n", p->match, p->column, buf_text(&text));
    else
        printf("match %" PRId64 ", turn %d: %s: %s\n", p->match, p->turn, p->column,
               buf_text(&text));
    buf_free(&text);
}

static void *
open_game(void *arg, const struct setup *s) {
    return verify_new(s, tell, arg);
}

static void
close_game(void *own) {
    verify_free(own);
}

static void
check(void *arg, struct scan_game *g, const struct store_match *m) {
    (void)arg;
    verify_match(g->own, m);
}

static void
tell_damage(void *arg, int64_t match, const char *why) {
    tell(arg, &(struct verify_problem){match, -1, "row", why});
}

static void
show(const struct job *j, double seconds) {
    struct verify_count sum = {0};
    for (int i = 0; i < j->scan.games; i++) {
        const struct scan_game *g = &j->scan.game[i];
        if (!g->own)
            continue;
        struct verify_count c = verify_count(g->own);
        sum.matches += c.matches;
        sum.turns += c.turns;
        sum.thinned += c.thinned;
    }
    uint64_t skipped = scan_tell_skipped(&j->scan);
    if (j->problems > SHOWN)
        printf("... and %" PRIu64 " more problems\n", j->problems - SHOWN);
    printf("%s: %" PRIu64 " matches, %" PRIu64 " turns", j->scan.run.dir, sum.matches, sum.turns);
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

static void
tell_prompt(struct job *j, int64_t id, const char *column, const char *text) {
    if (j->problems++ >= SHOWN)
        return;
    progress_clear(&j->scan.progress);
    printf("prompt %" PRId64 ": %s: %s\n", id, column, text);
}

/* Prompts stand in a table of their own, each once: their tokens are checked with the matches. */
static int
check_prompt(void *arg, const struct store_prompt *p) {
    struct job *j = arg;
    struct buf spelled = {0}, stored = {0};
    if (!p->hash_fits)
        tell_prompt(j, p->id, "hash", "it is not that of the tokens");
    buf_room(&spelled, p->n + 1);
    spelled.len = tokens_spell(p->tokens, p->n, (char *)spelled.at);
    store_text(buf_text(&spelled), strlen(buf_text(&spelled)), &stored);
    if (p->text && strcmp(p->text, buf_text(&stored)))
        tell_prompt(j, p->id, "text", "it is not what the tokens spell");
    buf_free(&spelled);
    buf_free(&stored);
    return 0;
}

static int
run_verify(const struct cmd_args *a, struct err *e) {
    struct job j = {.problems = 0};
    const long long most = INT64_MAX;
    long long first, last;
    j.scan = (struct scan){.arg = &j, .open = open_game, .match = check, .damaged = tell_damage};
    if (run_number("--from", cmd_flag(a, "from"), 0, most, 0, &first, e) < 0 ||
        run_number("--to", cmd_flag(a, "to"), 0, most, most, &last, e) < 0)
        return -1;
    int status = scan_open(&j.scan, cmd_flag(a, "run"), e);
    int64_t start = clock_mono_us();
    if (!status)
        status = scan_range(&j.scan, first, last, e);
    if (!status && first == 0 && last == most)
        status = store_prompt_each(j.scan.run.store, check_prompt, &j, e);
    if (!status) {
        show(&j, (double)(clock_mono_us() - start) / 1e6);
        status = j.problems > 0;
    }
    scan_close(&j.scan, close_game);
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
