#include "arena/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "base/mem.h"
#include "base/rng.h"
#include "games/extern/extern.h"

#define ALTERED "one of the row's columns was changed after it was written"

struct verify {
    const struct setup *setup;
    struct prompt_uses uses;
    int move_limit;
    void (*tell)(void *arg, const struct verify_problem *);
    void *arg;
    struct verify_count count;

    /* the match in hand */
    const struct store_match *m;
    int problems, turn; /* turn: index of the one in hand, -1 = none */
    size_t moves;       /* applied so far */
    int turns[2], forgiven;
    struct rng deal;
    struct buf history[2];
    size_t news[2];
    struct tokens prompt;     /* scratch */
    struct buf spelled, word; /* scratch */
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

struct verify *
verify_new(const struct setup *s, void (*tell)(void *arg, const struct verify_problem *),
           void *arg) {
    struct verify *v = mem_zero(1, sizeof *v);
    v->setup = s;
    v->uses = prompt_uses(s->prompt);
    v->move_limit = s->game->max_plies(&s->args);
    v->tell = tell;
    v->arg = arg;
    return v;
}

void
verify_free(struct verify *v) {
    if (!v)
        return;
    buf_free(&v->history[0]);
    buf_free(&v->history[1]);
    buf_free(&v->spelled);
    buf_free(&v->word);
    tokens_free(&v->prompt);
    free(v);
}

struct verify_count
verify_count(const struct verify *v) {
    return v->count;
}

static void problem(struct verify *v, const char *column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
problem(struct verify *v, const char *column, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    v->problems++;
    v->count.problems++;
    v->tell(v->arg, &(struct verify_problem){v->m->id, v->turn, column, text});
}

void
verify_prompt(const struct setup *s, const void *state, int seat, int turn, const char *history,
              const char *news, struct tokens *out) {
    const struct game *g = s->game;
    struct prompt_uses uses = prompt_uses(s->prompt);
    char rules[GAME_TEXT] = "", view[GAME_TEXT] = "", legal[GAME_TEXT] = "";
    struct text t;
    if (uses.rules) {
        text_init(&t, rules, sizeof rules);
        g->rules(state, seat, &t);
    }
    if (uses.view) {
        text_init(&t, view, sizeof view);
        g->observe(state, seat, &t);
    }
    if (uses.legal) {
        text_init(&t, legal, sizeof legal);
        game_spell_legal(g, state, &t);
    }
    prompt_build(s->prompt, turn,
                 &(struct prompt_parts){.rules = rules,
                                        .view = view,
                                        .history = history,
                                        .news = news,
                                        .legal = legal,
                                        .seat = seat == 0 ? "0" : "1",
                                        .game = g->name},
                 out);
}

static void
narrate(struct verify *v, int action) {
    if (!v->uses.history && !v->uses.news)
        return;
    for (int seat = 0; seat < 2; seat++) {
        char line[GAME_TEXT];
        struct text t;
        text_init(&t, line, sizeof line);
        v->setup->game->narrate(v->state, action, seat, &t);
        if (t.len)
            buf_fmt(&v->history[seat], "%s\n", line);
    }
}

static void
take_move(struct verify *v, int action) {
    narrate(v, action);
    v->setup->game->apply(v->state, action);
    v->moves++;
}

/* Applies recorded chance outcomes up to the next seat's turn or the end. False: cannot go on. */
static bool
pass_chance(struct verify *v) {
    const struct game *g = v->setup->game;
    while (g->mover(v->state) == GAME_CHANCE) {
        int drawn = game_draw(g, v->state, rng_unit(&v->deal));
        if (v->moves >= v->m->nmoves) {
            if (v->m->reason == END_PLAY)
                problem(v, "moves", "they end before chance has moved");
            return false;
        }
        int action = v->m->moves[v->moves];
        if (action != drawn)
            problem(v, "moves", "move %zu is the chance outcome %d, but deal %lld draws %d",
                    v->moves, action, (long long)v->m->deal, drawn);
        if (!game_is_legal(g, v->state, action)) {
            problem(v, "moves", "move %zu is %d, which is no chance outcome here", v->moves,
                    action);
            return false;
        }
        take_move(v, action);
    }
    return true;
}

/* ---- one turn ---- */

static void
check_prompt(struct verify *v, const struct store_turn *t) {
    int seat = t->seat;
    const char *history = buf_text(&v->history[seat]);
    tokens_clear(&v->prompt);
    verify_prompt(v->setup, v->state, seat, v->turns[seat], history, history + v->news[seat],
                  &v->prompt);
    size_t n = t->nprompt < v->prompt.n ? t->nprompt : v->prompt.n, same = 0;
    while (same < n && t->prompt[same] == v->prompt.at[same])
        same++;
    if (same < n)
        problem(v, "prompt", "token %zu is %d, but the template gives %d", same, t->prompt[same],
                v->prompt.at[same]);
    else if (t->nprompt != v->prompt.n)
        problem(v, "prompt", "it has %zu tokens, but the template gives %zu", t->nprompt,
                v->prompt.n);
}

static void
check_tokens(struct verify *v, const struct store_turn *t) {
    buf_clear(&v->spelled);
    buf_room(&v->spelled, t->ntokens + 1);
    size_t n = tokens_spell(t->tokens, t->ntokens, (char *)v->spelled.at);
    if (n != t->nreply || (n && memcmp(v->spelled.at, t->reply, n)))
        problem(v, "reply", "its %zu bytes are not what its %zu tokens spell", t->nreply,
                t->ntokens);
    bool ended = t->ntokens && t->tokens[t->ntokens - 1] == TOKEN_END;
    if (ended == (t->verdict == VERDICT_CUT))
        problem(v, "tokens",
                ended ? "the reply is called cut, but it has an end token"
                      : "the end token is missing, but the reply is not called cut");
    if (!t->logp)
        return;
    if (t->ntokens > (size_t)v->setup->max_reply)
        problem(v, "tokens", "%zu of them, but prompt.max_reply is %d", t->ntokens,
                v->setup->max_reply);
    for (size_t i = 0; i < t->ntokens; i++)
        if (!isfinite(t->logp[i]) || t->logp[i] > 1e-5f) {
            problem(v, "logp", "number %zu is %g: no log-probability", i, (double)t->logp[i]);
            return;
        }
}

static const char *
or_none(const char *word) {
    return word ? word : "none";
}

/* Returns true when the action was applied. */
static bool
check_answer(struct verify *v, const struct store_turn *t) {
    /* A cut is seen in the tokens, a time-out was on a clock. */
    struct reply j = {.verdict = t->verdict, .action = -1};
    buf_clear(&v->word);
    if (t->verdict != VERDICT_CUT && t->verdict != VERDICT_TIME)
        j = reply_read(v->setup, v->state, t->reply, t->nreply, false, &v->word);
    if (!j.word != !t->word || (j.word && strcmp(j.word, t->word)))
        problem(v, "word", "it is \"%.80s\", but the %s parser finds \"%.80s\" in the reply",
                or_none(t->word), v->setup->answer->name, or_none(j.word));
    if (j.verdict != t->verdict)
        problem(v, "verdict", "it is \"%s\", but must be \"%s\"",
                t->verdict < VERDICTS ? turn_verdict_name(t->verdict) : "?",
                turn_verdict_name(j.verdict));
    if (j.action != t->action)
        problem(v, "action", "it is %d, but the word means %d", t->action, j.action);
    if (t->verdict != VERDICT_OK)
        return false;
    if (v->moves >= v->m->nmoves) {
        problem(v, "moves", "the action of this turn is missing among them");
        return false;
    }
    int move = v->m->moves[v->moves];
    if (move != t->action)
        problem(v, "moves", "move %zu is %d, but the turn's action is %d", v->moves, move,
                t->action);
    if (j.verdict == VERDICT_OK)
        reply_say(v->setup, v->state, j.word, j.nword);
    return true;
}

/* True: the match goes on behind this turn. */
static bool
check_turn(struct verify *v, const struct store_turn *t) {
    int mover = v->setup->game->mover(v->state);
    v->count.turns++;
    if (mover == GAME_OVER) {
        problem(v, "ply", "a turn was asked for after the end of the match");
        return false;
    }
    if (t->seat != mover) {
        problem(v, "seat", "it is %d, but seat %d is to move", t->seat, mover);
        return false;
    }
    if (t->ply < 0 || (size_t)t->ply != v->moves)
        problem(v, "ply", "it is %d, but %zu moves were made before", t->ply, v->moves);
    if (t->policy != v->m->policy[mover])
        problem(v, "policy", "it is %lld, but the seat belongs to %lld", (long long)t->policy,
                (long long)v->m->policy[mover]);
    if (t->nprompt || v->m->kind != MATCH_PLAY) /* a person reads no prompt */
        check_prompt(v, t);
    if (t->ntokens && t->tokens)
        check_tokens(v, t);
    else if (t->verdict != VERDICT_TIME)
        v->count.thinned++;
    v->news[mover] = v->history[mover].len;
    bool played = check_answer(v, t);
    v->turns[mover]++;
    if (!played) {
        v->forgiven++;
        return t->verdict != VERDICT_OK;
    }
    v->forgiven = 0;
    int move = v->m->moves[v->moves];
    if (!game_is_legal(v->setup->game, v->state, move)) {
        problem(v, "moves", "move %zu is %d, which is not legal", v->moves, move);
        return false;
    }
    take_move(v, move);
    return true;
}

/* ---- the end ---- */

static const char *
reason_text(const struct store_match *m) {
    return m->reason < END_REASONS ? match_reason_name(m->reason) : "?";
}

/* The result that the reason and the last position call for; false when the reason cannot be. */
static bool
check_reason(struct verify *v, double *result) {
    const struct store_match *m = v->m;
    const struct store_turn *last = m->nturns ? &m->turn[m->nturns - 1] : NULL;
    bool over = v->setup->game->mover(v->state) == GAME_OVER;
    bool fault = m->loser == 0 || m->loser == 1;
    const char *wrong = NULL;
    *result = fault ? (m->loser ? 1 : -1) : 0;
    switch (m->reason) {
    case END_PLAY:
        wrong = over ? NULL : "the match is not over by the rules";
        if (over)
            *result = v->setup->game->result(v->state);
        break;
    case END_INVALID:
        if (!last || (last->verdict != VERDICT_NO_WORD && last->verdict != VERDICT_ILLEGAL))
            wrong = "the last reply is not invalid";
        break;
    case END_NO_ANSWER:
        if (!last || last->verdict == VERDICT_OK || last->verdict == VERDICT_ILLEGAL)
            wrong = "the last turn has an answer";
        break;
    case END_TURN_LIMIT:
        if (over)
            wrong = "the match is over by the rules";
        else if ((int)m->nmoves < v->move_limit &&
                 (!v->setup->max_turns || (int)m->nturns < v->setup->max_turns))
            wrong = "the limit was not reached";
        break;
    case END_ABORTED:
        *result = 0;
        break;
    case END_TIME:
    case END_CRASH:
        break;
    case END_REASONS:
    default:
        wrong = "there is no such reason";
    }
    bool by_reply = m->reason == END_INVALID || m->reason == END_NO_ANSWER;
    if (!wrong && by_reply && v->forgiven <= v->setup->retries)
        wrong = "match.retries forgives the last reply";
    if (wrong)
        problem(v, "reason", "it is \"%s\", but %s", reason_text(m), wrong);
    return !wrong;
}

static void
check_loser(struct verify *v) {
    const struct store_match *m = v->m;
    bool needed = m->reason == END_INVALID || m->reason == END_NO_ANSWER;
    if (m->loser < -1 || m->loser > 1)
        problem(v, "loser", "it is %d: no seat", m->loser);
    else if (needed && m->loser < 0)
        problem(v, "loser", "a match that ends by \"%s\" has one", reason_text(m));
    else if (m->loser >= 0 && (m->reason == END_PLAY || m->reason == END_TURN_LIMIT))
        problem(v, "loser", "it is %d, but nobody is at fault in \"%s\"", m->loser, reason_text(m));
    else if (needed && m->nturns && m->turn[m->nturns - 1].seat != m->loser)
        problem(v, "loser", "it is %d, but seat %d gave the last reply", m->loser,
                m->turn[m->nturns - 1].seat);
}

/* A game from outside may have failed, now or when the match was played: its position tells nothing
 * then. */
static bool
check_fault(struct verify *v) {
    const char *why = game_fault(v->setup->game, v->state, NULL);
    enum match_reason r = v->m->reason;
    bool failed = v->m->loser < 0 && (r == END_CRASH || r == END_TIME || r == END_ABORTED);
    if (why && !failed)
        problem(v, "moves", "the game fails when they are made again: %s", why);
    return why != NULL;
}

static void
check_end(struct verify *v) {
    const struct store_match *m = v->m;
    double result;
    v->turn = -1;
    if (check_fault(v))
        return;
    if (v->moves < m->nmoves)
        problem(v, "moves", "%zu are recorded, but the turns account for %zu", m->nmoves, v->moves);
    check_loser(v);
    if (!check_reason(v, &result))
        return;
    /* Exact comparison: the same program computes the same double from the same position. */
    if (!(m->result >= result && m->result <= result))
        problem(v, "result", "it is %.17g, but must be %.17g", m->result, result);
    double payoff[2] = {result, -result};
    if (m->loser >= 0 && m->loser <= 1 && m->reason != END_ABORTED && v->setup->spiral) {
        payoff[m->loser] = -1.5;
        payoff[1 - m->loser] = 0.5;
    }
    for (int seat = 0; seat < 2; seat++)
        if (!(m->payoff[seat] >= payoff[seat] && m->payoff[seat] <= payoff[seat]))
            problem(v, seat ? "payoff1" : "payoff0", "it is %.17g, but must be %.17g",
                    m->payoff[seat], payoff[seat]);
}

static void
begin(struct verify *v, const struct store_match *m) {
    v->m = m;
    v->problems = 0;
    v->turn = -1;
    v->moves = 0;
    v->forgiven = 0;
    for (int seat = 0; seat < 2; seat++) {
        v->turns[seat] = 0;
        v->news[seat] = 0;
        buf_clear(&v->history[seat]);
    }
    rng_init(&v->deal, v->setup->seed, (uint64_t)m->deal, RNG_DEAL);
    v->setup->game->init(v->state, &v->setup->args);
}

/* What no rule can tell (a time, a log-probability, a policy that never moved) the rows' checksums
 * tell. */
static int
check_sums(struct verify *v) {
    if (v->m->altered)
        problem(v, "sum", ALTERED);
    for (size_t i = 0; i < v->m->nturns; i++) {
        v->turn = (int)i;
        if (v->m->turn[i].altered)
            problem(v, "sum", ALTERED);
    }
    v->turn = -1;
    int found = v->problems;
    v->problems = 0; /* they do not say that the replay cannot go on */
    return found;
}

int
verify_match(struct verify *v, const struct store_match *m) {
    begin(v, m);
    v->count.matches++;
    int sums = check_sums(v);
    bool on = pass_chance(v);
    for (size_t i = 0; on && i < m->nturns; i++) {
        v->turn = (int)i;
        if (v->forgiven > v->setup->retries) {
            problem(v, "verdict", "the match should have ended by the reply before this one");
            break;
        }
        on = check_turn(v, &m->turn[i]);
        v->turn = -1;
        if (on)
            on = pass_chance(v);
    }
    if (on || !v->problems) /* where the replay had to stop, its end says nothing */
        check_end(v);
    return v->problems + sums;
}
