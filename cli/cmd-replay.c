/* agon replay: one recorded match, turn by turn. Everything that players wrote is escaped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "arena/verify.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/run.h"
#include "cli/table.h"
#include "games/extern/extern.h"

struct replay {
    struct run run;
    struct setup setup;
    bool ready, verify, seen;
    int problems;
    struct err *e;
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

static void
print_text(struct replay *r, const char *label,
           void (*write)(const void *state, int who, struct text *out), int who) {
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    write(r->state, who, &t);
    printf("  %s\n", label);
    term_block(stdout, "    ", text, t.len);
}

/* The prompt as one text: each piece's control token as its name in angle brackets. */
static void
print_prompt(const int32_t *ids, size_t n) {
    static const char *const names[TOKEN_COUNT - TOKEN_BOS] = {"BOS",  "END",  "TEXT",  "RULES",
                                                               "VIEW", "NEWS", "LEGAL", "REPLY"};
    struct buf all = {0}, piece = {0};
    for (size_t i = 0; i < n; i++) {
        int32_t id = ids[i];
        if (id >= 0 && id < TOKEN_BOS) {
            buf_u8(&piece, (uint8_t)id);
            if (i + 1 < n && ids[i + 1] >= 0 && ids[i + 1] < TOKEN_BOS)
                continue;
            term_quote(&all, buf_text(&piece), piece.len);
            buf_clear(&piece);
        } else if (id >= TOKEN_BOS && id < TOKEN_COUNT) {
            buf_fmt(&all, "<%s>", names[id - TOKEN_BOS]);
        } else {
            buf_fmt(&all, "<%d>", (int)id);
        }
    }
    printf("  prompt   %s\n", n ? buf_text(&all) : "(thinned out)");
    buf_free(&all);
    buf_free(&piece);
}

static void
print_reply(const struct store_turn *t) {
    struct buf b = {0};
    term_quote(&b, t->nreply ? t->reply : "", t->nreply);
    printf("  reply    %s", buf_text(&b));
    if (t->logp && t->ntokens) {
        double sum = 0;
        for (size_t i = 0; i < t->ntokens; i++)
            sum += (double)t->logp[i];
        printf("   (%zu tokens, log-probability %.4f)", t->ntokens, sum);
    } else if (t->ntokens) {
        printf("   (%zu tokens)", t->ntokens);
    }
    buf_clear(&b);
    if (t->word)
        term_quote(&b, t->word, strlen(t->word));
    printf("\n  word     %s, verdict %s\n", t->word ? buf_text(&b) : "none",
           t->verdict < VERDICTS ? turn_verdict_name(t->verdict) : "?");
    buf_free(&b);
}

static void
policy_text(const struct run *run, int64_t id, char out[64]) {
    struct store_policy p;
    char label[48];
    if (store_policy_get(run->store, id, &p, NULL) < 0) {
        snprintf(out, 64, "policy %" PRId64, id);
        return;
    }
    run_policy_label(&p, label);
    if (!strcmp(p.kind, "snapshot"))
        snprintf(out, 64, "%.8s (step %" PRId64 ")", label, p.step);
    else
        snprintf(out, 64, "%s", label);
}

static bool
apply(struct replay *r, int action) {
    const struct game *g = r->setup.game;
    if (!game_is_legal(g, r->state, action)) {
        printf("  (move %d is not legal here: the record is damaged)\n", action);
        return false;
    }
    g->apply(r->state, action);
    return true;
}

/* Applies chance outcomes and says what they were; false: the record is damaged. */
static bool
pass_chance(struct replay *r, const struct store_match *m, size_t *at) {
    const struct game *g = r->setup.game;
    while (*at < m->nmoves && g->mover(r->state) == GAME_CHANCE) {
        int action = m->moves[(*at)++];
        char name[GAME_WORD * 4] = "?";
        struct buf shown = {0};
        struct text t;
        text_init(&t, name, sizeof name);
        if (game_is_legal(g, r->state, action))
            g->spell(r->state, action, &t);
        term_escape(&shown, name, strlen(name), false);
        printf("chance: %s\n", buf_text(&shown));
        buf_free(&shown);
        if (!apply(r, action))
            return false;
    }
    return true;
}

static bool
print_turn(struct replay *r, const struct store_match *m, size_t i, size_t *at) {
    const struct store_turn *t = &m->turn[i];
    char who[64];
    policy_text(&r->run, t->policy, who);
    printf("\nturn %zu: seat %d, %s\n", i, t->seat, who);
    if (t->seat != r->setup.game->mover(r->state)) {
        puts("  (this seat is not to move: the record is damaged)");
        return false;
    }
    print_text(r, "view", r->setup.game->observe, t->seat);
    print_prompt(t->prompt, t->nprompt);
    print_reply(t);
    if (t->verdict != VERDICT_OK)
        return true;
    if (t->word)
        reply_say(&r->setup, r->state, t->word, strlen(t->word));
    return *at < m->nmoves && apply(r, m->moves[(*at)++]) && pass_chance(r, m, at);
}

static void
print_end(const struct replay *r, const struct store_match *m) {
    const struct game *g = r->setup.game;
    double chips = m->result * g->unit(&r->setup.args);
    printf("\nend: %s", match_reason_name(m->reason));
    if (m->loser >= 0)
        printf(" (seat %d)", m->loser);
    if (m->reason == END_ABORTED)
        printf(", no result");
    else if (m->result > 0 || m->result < 0)
        printf(", seat %d wins %g", m->result > 0 ? 0 : 1, chips > 0 ? chips : -chips);
    else
        printf(", a draw");
    printf("; payoffs %+g %+g\n", m->payoff[0], m->payoff[1]);
    if (m->detail) {
        struct buf text = {0};
        term_escape(&text, m->detail, strlen(m->detail), false);
        printf("detail: %s\n", buf_text(&text));
        buf_free(&text);
    }
}

static void
print_head(const struct replay *r, const struct store_match *m) {
    char when[32], who[2][64];
    term_time(when, m->started_ms);
    for (int seat = 0; seat < 2; seat++)
        policy_text(&r->run, m->policy[seat], who[seat]);
    printf("match %" PRId64 ": %s, %s, %s UTC\nseat 0: %s\nseat 1: %s\ndeal %" PRId64
           ", learner step %" PRId64 "\n\n",
           m->id, r->setup.spec, match_kind_name(m->kind), when, who[0], who[1], m->deal,
           m->iteration);
}

static void
tell(void *arg, const struct verify_problem *p) {
    struct replay *r = arg;
    struct buf text = {0};
    term_escape(&text, p->text, strlen(p->text), false);
    r->problems++;
    if (p->turn < 0)
        printf("problem: %s: %s\n", p->column, buf_text(&text));
    else
        printf("problem: turn %d: %s: %s\n", p->turn, p->column, buf_text(&text));
    buf_free(&text);
}

static int
set_game(struct replay *r, int64_t id) {
    struct store_game row;
    if (store_game_get(r->run.store, id, &row, r->e) < 0 ||
        game_spec_parse(row.spec, &r->setup.game, &r->setup.args, r->e) < 0)
        return -1;
    if (game_same(r->setup.game, row.version, row.hash, r->e) < 0)
        return err_prefix(r->e, "%s", row.name);
    snprintf(r->setup.spec, sizeof r->setup.spec, "%s", row.spec);
    return 0;
}

static int
visit(void *arg, const struct store_match *m) {
    struct replay *r = arg;
    size_t at = 0;
    r->seen = true;
    if (set_game(r, m->game) < 0)
        return -1;
    r->setup.game->init(r->state, &r->setup.args);
    print_head(r, m);
    bool on = pass_chance(r, m, &at);
    for (size_t i = 0; on && i < m->nturns; i++)
        on = print_turn(r, m, i, &at);
    print_end(r, m);
    if (r->verify) {
        struct verify *v = verify_new(&r->setup, tell, r);
        putchar('\n');
        if (!verify_match(v, m))
            puts("verified: rules, prompts, parser and payoffs give the same record.");
        verify_free(v);
    }
    return 0;
}

static int
replay(struct replay *r, const struct cmd_args *a, struct err *e) {
    long long id = 0;
    bool newest = strcmp(a->word[0], "latest") == 0;
    if ((!newest && run_number("match", a->word[0], 0, INT64_MAX, 0, &id, e) < 0) ||
        run_open(&r->run, cmd_flag(a, "run"), e) < 0 || setup_load(&r->setup, r->run.conf, e) < 0)
        return -1;
    r->ready = true;
    if (newest && (id = store_match_last(r->run.store, e)) < 0)
        return -1;
    r->e = e;
    r->verify = cmd_flag(a, "verify") != NULL;
    if (store_match_each(r->run.store, id, id, visit, r, e) < 0)
        return -1;
    if (r->seen)
        return r->problems > 0;
    struct err why;
    int64_t last = store_match_last(r->run.store, &why);
    if (last <= 0)
        return err_set(e, "%s: no match is recorded yet", r->run.dir);
    return err_set(e, "%s has no match %lld; the newest is %" PRId64 " (`agon matches` lists them)",
                   r->run.dir, id, last);
}

static int
run_replay(const struct cmd_args *a, struct err *e) {
    struct replay *r = mem_zero(1, sizeof *r);
    int status = replay(r, a, e);
    if (r->ready)
        setup_free(&r->setup);
    run_close(&r->run);
    free(r);
    return status;
}

const struct cmd cmd_replay = {
    .name = "replay",
    .args = "ID",
    .help = "Print a recorded match (or the latest) turn by turn: view, prompt, reply, verdict, "
            "result.",
    .least = 1,
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"verify", NULL, "derive everything again from rules and moves, and compare"},
            {0},
        },
    .run = run_replay,
};
