/* One table per match: the state, what each seat has been told, and the record that grows. Records
 * live in the match's own buffers, which are kept and used again, so that playing does not allocate
 * once it is warm. */
#include "arena/match.h"

#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "games/extern/extern.h"
#include "policy/player.h"

#define STEP_US 500000 /* a round that takes longer is broken off, and goes on with the next call */

struct title { /* a game that is played */
    int64_t id;
    const struct setup *setup; /* with the game in view */
    int move_limit;
};

struct guest { /* somebody who may sit at a table */
    int64_t id;
    struct model *model; /* owned; NULL for scripted players */
    struct gen *gen;
    struct player *player[CONF_MAX_GAMES]; /* a scripted one, in each game; NULL: cannot play it */
    int seats;                             /* taken right now */
};

struct turn { /* like struct store_turn, with offsets into the match's buffers */
    int ply, seat, action;
    size_t prompt, nprompt, reply, nreply, word, nword, tokens, ntokens, logp;
    bool has_word, has_logp;
    enum turn_verdict verdict;
    int64_t policy;
};

struct match {
    struct match_job job;
    const struct title *title;
    struct guest *guest[2];
    int slot[2];  /* generation slot of each seat, -1 = none */
    int turns[2]; /* turns each seat has had */
    int forgiven; /* invalid replies in a row */
    struct rng deal;
    int64_t started_ms;
    int waiting;           /* seat whose reply is being generated, -1 = none */
    bool heard;            /* it is there, as the newest turn */
    struct buf history[2]; /* narration so far; news[] of it begin at news[seat] */
    size_t news[2];
    struct tokens ids; /* prompts and replies of all turns */
    struct buf bytes;  /* replies and words of all turns */
    struct buf word;   /* scratch */
    struct turn *turn;
    size_t nturns, turn_cap;
    float *logp;
    size_t nlogp, logp_cap;
    int32_t *move;
    size_t nmoves, move_cap;
    struct match *next; /* in the free list */
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

struct runner {
    const struct setup *setup;
    struct prompt_uses uses;
    struct title title[CONF_MAX_GAMES];
    size_t ntitles;       /* 0: title[0] is the only one, under any id */
    struct guest **guest; /* pointers stay valid while the list grows */
    size_t nguests;
    struct match **active;
    size_t nactive, active_cap;
    size_t left; /* of active, in a round that was broken off */
    struct match *idle;
    struct store_turn *out; /* scratch of hand-over */
    size_t out_cap;
};

struct runner *
runner_new(const struct setup *s) {
    struct runner *r = mem_zero(1, sizeof *r);
    r->setup = s;
    r->uses = prompt_uses(s->prompt);
    r->title[0] = (struct title){.setup = s, .move_limit = s->game->max_plies(&s->args)};
    return r;
}

void
runner_add_game(struct runner *r, int64_t id, const struct setup *s) {
    ensure(r->ntitles < CONF_MAX_GAMES && !r->nguests);
    r->title[r->ntitles++] =
        (struct title){.id = id, .setup = s, .move_limit = s->game->max_plies(&s->args)};
}

/* The index of a game, or -1. */
static int
find_title(const struct runner *r, int64_t id) {
    for (size_t i = 0; i < r->ntitles; i++)
        if (r->title[i].id == id)
            return (int)i;
    return r->ntitles ? -1 : 0;
}

static void
match_free(struct match *m) {
    buf_free(&m->history[0]);
    buf_free(&m->history[1]);
    tokens_free(&m->ids);
    buf_free(&m->bytes);
    buf_free(&m->word);
    free(m->turn);
    free(m->logp);
    free(m->move);
    free(m);
}

static void
guest_free(struct guest *g) {
    gen_free(g->gen);
    model_free(g->model);
    for (size_t i = 0; i < CONF_MAX_GAMES; i++)
        player_close(g->player[i]);
    free(g);
}

void
runner_free(struct runner *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->nactive; i++)
        match_free(r->active[i]);
    while (r->idle) {
        struct match *m = r->idle;
        r->idle = m->next;
        match_free(m);
    }
    for (size_t i = 0; i < r->nguests; i++)
        guest_free(r->guest[i]);
    free(r->guest);
    free(r->active);
    free(r->out);
    free(r);
}

/* ---- guests ---- */

static struct guest *
guest_find(const struct runner *r, int64_t id) {
    for (size_t i = r->nguests; i-- > 0;)
        if (r->guest[i]->id == id)
            return r->guest[i];
    return NULL;
}

static struct guest *
guest_add(struct runner *r, int64_t id) {
    r->guest = mem_grow(r->guest, r->nguests + 1, sizeof *r->guest);
    struct guest *g = mem_zero(1, sizeof *g);
    g->id = id;
    r->guest[r->nguests++] = g;
    return g;
}

bool
runner_has(const struct runner *r, int64_t id) {
    return guest_find(r, id) != NULL;
}

bool
runner_can_play(const struct runner *r, int64_t game, int64_t id) {
    const struct guest *g = guest_find(r, id);
    int title = find_title(r, game);
    return g && title >= 0 && (g->gen || g->player[title]);
}

int
runner_add_model(struct runner *r, int64_t id, struct model *m, struct err *e) {
    if (runner_has(r, id)) {
        model_free(m);
        return 0;
    }
    const struct model_config *want = &r->setup->model, *have = &m->c;
    if (have->vocab != want->vocab) {
        model_free(m);
        return err_set(e, "policy %lld: its vocabulary has %d tokens, this tokenizer %d",
                       (long long)id, have->vocab, want->vocab);
    }
    struct guest *g = guest_add(r, id);
    g->model = m;
    g->gen = gen_new(m, r->setup->head, 0);
    return 0;
}

int
runner_add_scripted(struct runner *r, int64_t id, const char *name, struct err *e) {
    if (runner_has(r, id))
        return 0;
    struct player *p[CONF_MAX_GAMES] = {0};
    size_t n = r->ntitles ? r->ntitles : 1, able = 0;
    for (size_t i = 0; i < n; i++) {
        const struct setup *s = r->title[i].setup;
        p[i] = player_open(name, s->game, &s->args, e);
        able += p[i] != NULL;
    }
    if (!able)
        return -1;
    memcpy(guest_add(r, id)->player, p, sizeof p);
    return 0;
}

static bool
listed(int64_t id, const int64_t *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == id)
            return true;
    return false;
}

void
runner_trim(struct runner *r, const int64_t *keep, size_t nkeep, size_t most) {
    size_t models = 0;
    for (size_t i = 0; i < r->nguests; i++)
        models += r->guest[i]->model != NULL;
    while (models > most) {
        size_t oldest = r->nguests;
        for (size_t i = 0; i < r->nguests; i++) {
            struct guest *g = r->guest[i];
            if (g->model && !g->seats && !listed(g->id, keep, nkeep) &&
                (oldest == r->nguests || g->id < r->guest[oldest]->id))
                oldest = i;
        }
        if (oldest == r->nguests)
            return;
        guest_free(r->guest[oldest]);
        r->guest[oldest] = r->guest[--r->nguests];
        models--;
    }
}

/* ---- records ---- */

void
runner_start(struct runner *r, const struct match_job *j) {
    struct match *m = r->idle;
    if (m)
        r->idle = m->next;
    else
        m = mem_zero(1, sizeof *m);
    m->job = *j;
    int title = find_title(r, j->game);
    ensure(title >= 0);
    m->title = &r->title[title];
    for (int seat = 0; seat < 2; seat++) {
        m->guest[seat] = guest_find(r, j->policy[seat]);
        ensure(m->guest[seat] && (m->guest[seat]->gen || m->guest[seat]->player[title]));
        m->guest[seat]->seats++;
        m->slot[seat] = -1;
        m->turns[seat] = 0;
        m->news[seat] = 0;
        buf_clear(&m->history[seat]);
    }
    m->forgiven = 0;
    m->waiting = -1;
    m->heard = false;
    m->nturns = m->nlogp = m->nmoves = 0;
    tokens_clear(&m->ids);
    buf_clear(&m->bytes);
    m->started_ms = clock_wall_ms();
    rng_init(&m->deal, r->setup->seed, (uint64_t)j->deal, RNG_DEAL);
    m->title->setup->game->init(m->state, &m->title->setup->args);
    if (r->nactive == r->active_cap) {
        r->active_cap = r->active_cap ? 2 * r->active_cap : 64;
        r->active = mem_grow(r->active, r->active_cap, sizeof *r->active);
    }
    r->active[r->nactive++] = m;
}

size_t
runner_active(const struct runner *r) {
    return r->nactive;
}

static struct turn *
turn_add(struct match *m, int seat) {
    if (m->nturns == m->turn_cap) {
        m->turn_cap = m->turn_cap ? 2 * m->turn_cap : 16;
        m->turn = mem_grow(m->turn, m->turn_cap, sizeof *m->turn);
    }
    struct turn *t = &m->turn[m->nturns++];
    *t = (struct turn){
        .ply = (int)m->nmoves, .seat = seat, .action = -1, .policy = m->job.policy[seat]};
    return t;
}

static void
add_move(struct match *m, int action) {
    if (m->nmoves == m->move_cap) {
        m->move_cap = m->move_cap ? 2 * m->move_cap : 32;
        m->move = mem_grow(m->move, m->move_cap, sizeof *m->move);
    }
    m->move[m->nmoves++] = action;
}

/* Tells both seats of the action, where the prompt will want to know, and applies it. */
static void
apply(const struct runner *r, struct match *m, int action) {
    const struct game *g = m->title->setup->game;
    if (r->uses.history || r->uses.news) {
        char line[GAME_TEXT];
        for (int seat = 0; seat < 2; seat++) {
            struct text t;
            text_init(&t, line, sizeof line);
            g->narrate(m->state, action, seat, &t);
            if (t.len) {
                buf_add(&m->history[seat], line, t.len);
                buf_add(&m->history[seat], "\n", 1);
            }
        }
    }
    add_move(m, action);
    g->apply(m->state, action);
}

/* ---- asking ---- */

static void
build_prompt(const struct runner *r, struct match *m, int seat, struct turn *t) {
    const struct game *g = m->title->setup->game;
    char rules[GAME_TEXT] = "", view[GAME_TEXT] = "", legal[GAME_TEXT] = "";
    struct text text;
    if (r->uses.rules) {
        text_init(&text, rules, sizeof rules);
        g->rules(m->state, seat, &text);
    }
    if (r->uses.view) {
        text_init(&text, view, sizeof view);
        g->observe(m->state, seat, &text);
    }
    if (r->uses.legal) {
        text_init(&text, legal, sizeof legal);
        game_spell_legal(g, m->state, &text);
    }
    const char *history = buf_text(&m->history[seat]);
    struct prompt_parts parts = {.rules = rules,
                                 .view = view,
                                 .legal = legal,
                                 .history = history,
                                 .news = history + m->news[seat],
                                 .seat = seat ? "1" : "0",
                                 .game = g->name};
    t->prompt = m->ids.n;
    prompt_build(r->setup->prompt, m->turns[seat], &parts, &m->ids);
    t->nprompt = m->ids.n - t->prompt;
    m->news[seat] = m->history[seat].len;
}

static void
ask_model(const struct runner *r, struct match *m, int seat) {
    struct gen *gen = m->guest[seat]->gen;
    struct turn *t = turn_add(m, seat);
    build_prompt(r, m, seat, t);
    if (m->slot[seat] >= 0 && prompt_mode(r->setup->prompt) == PROMPT_OBSERVATION) {
        gen_close(gen, m->slot[seat]);
        m->slot[seat] = -1;
    }
    if (m->slot[seat] < 0)
        m->slot[seat] = gen_open(gen);
    gen_feed(gen, m->slot[seat], m->ids.at + t->prompt, t->nprompt);
    struct rng stream;
    rng_init(&stream, r->setup->seed, (uint64_t)m->job.id << 16 | (uint64_t)m->turns[seat],
             RNG_SEAT + (unsigned)seat);
    gen_ask(gen, m->slot[seat], &stream, r->setup->max_reply);
    m->waiting = seat;
}

/* ---- endings ---- */

struct ending {
    enum match_reason reason;
    int loser;
    double result;
    const char *detail; /* the game's; valid until it is used again */
};

/* A game from outside can fail, which is no seat's fault. */
static bool
has_failed(const struct match *m, struct ending *end) {
    enum game_fault_kind kind;
    const char *why = game_fault(m->title->setup->game, m->state, &kind);
    if (!why)
        return false;
    *end = (struct ending){.reason = kind == FAULT_TIME      ? END_TIME
                                     : kind == FAULT_REFUSED ? END_ABORTED
                                                             : END_CRASH,
                           .loser = -1,
                           .detail = why};
    return true;
}

static void
hand_over(struct runner *r, struct match *m, const struct ending *end,
          void (*done)(void *, const struct store_match *), void *arg) {
    if (m->nturns > r->out_cap) {
        r->out_cap = m->nturns;
        r->out = mem_grow(r->out, r->out_cap, sizeof *r->out);
    }
    for (size_t i = 0; i < m->nturns; i++) {
        const struct turn *t = &m->turn[i];
        r->out[i] = (struct store_turn){
            .ply = t->ply,
            .seat = t->seat,
            .prompt = m->ids.at + t->prompt,
            .nprompt = t->nprompt,
            .reply = (const char *)m->bytes.at + t->reply,
            .nreply = t->nreply,
            .word = t->has_word ? (const char *)m->bytes.at + t->word : NULL,
            .action = t->action,
            .verdict = t->verdict,
            .tokens = m->ids.at + t->tokens,
            .logp = t->has_logp ? m->logp + t->logp : NULL,
            .ntokens = t->ntokens,
            .policy = t->policy,
        };
    }
    double payoff[2] = {end->result, -end->result};
    if (end->loser >= 0 && end->reason != END_ABORTED && r->setup->spiral) {
        payoff[end->loser] = -1.5;
        payoff[1 - end->loser] = 0.5;
    }
    struct store_match out = {
        .id = m->job.id,
        .kind = m->job.kind,
        .iteration = m->job.iteration,
        .game = m->job.game,
        .deal = m->job.deal,
        .policy = {m->job.policy[0], m->job.policy[1]},
        .reason = end->reason,
        .loser = end->loser,
        .payoff = {payoff[0], payoff[1]},
        .result = end->result,
        .moves = m->move,
        .nmoves = m->nmoves,
        .started_ms = m->started_ms,
        .ended_ms = clock_wall_ms(),
        .attempts = m->job.attempts,
        .detail = end->detail,
        .turn = r->out,
        .nturns = m->nturns,
    };
    done(arg, &out);
}

/* The verdict on the newest turn's reply. */
static void
judge(struct match *m, bool cut) {
    struct turn *t = &m->turn[m->nturns - 1];
    buf_clear(&m->word);
    struct reply said = reply_read(m->title->setup, m->state, (const char *)m->bytes.at + t->reply,
                                   t->nreply, cut, &m->word);
    t->verdict = said.verdict;
    t->action = said.action;
    t->has_word = said.word != NULL;
    if (said.word) {
        t->word = m->bytes.len;
        t->nword = said.nword;
        buf_add(&m->bytes, said.word, said.nword + 1);
    }
    m->turns[t->seat]++;
}

/* What follows from it: applies a good reply's action. Returns true when the match goes on, else
 * sets *reason. */
static bool
act(const struct runner *r, struct match *m, enum match_reason *reason) {
    const struct turn *t = &m->turn[m->nturns - 1];
    if (t->verdict == VERDICT_OK) {
        m->forgiven = 0;
        reply_say(m->title->setup, m->state, (const char *)m->bytes.at + t->word, t->nword);
        apply(r, m, t->action);
        return true;
    }
    if (m->forgiven < r->setup->retries) {
        m->forgiven++;
        return true;
    }
    *reason = t->verdict == VERDICT_CUT ? END_NO_ANSWER : END_INVALID;
    return false;
}

static void
play_scripted(const struct runner *r, struct match *m, int seat) {
    const struct game *g = m->title->setup->game;
    struct rng stream;
    rng_init(&stream, r->setup->seed, (uint64_t)m->job.id << 16 | (uint64_t)m->turns[seat],
             RNG_SEAT + (unsigned)seat);
    int action = player_choose(m->guest[seat]->player[m->title - r->title], m->state, &stream);
    char word[GAME_WORD], reply[GAME_WORD + 64];
    struct text w, out;
    text_init(&w, word, sizeof word);
    text_init(&out, reply, sizeof reply);
    g->spell(m->state, action, &w);
    answer_write(r->setup->answer, word, &out);
    struct turn *t = turn_add(m, seat);
    build_prompt(r, m, seat, t);
    t->reply = m->bytes.len;
    t->nreply = out.len;
    buf_add(&m->bytes, reply, out.len);
    buf_u8(&m->bytes, 0);
    t->tokens = m->ids.n;
    tokens_text(&m->ids, reply, out.len);
    tokens_add(&m->ids, TOKEN_END);
    t->ntokens = m->ids.n - t->tokens;
}

static void
take_reply(struct match *m, const struct gen_reply *reply) {
    struct turn *t = &m->turn[m->nturns - 1];
    t->tokens = m->ids.n;
    t->ntokens = reply->n;
    for (size_t i = 0; i < reply->n; i++)
        tokens_add(&m->ids, reply->tokens[i]);
    t->has_logp = true;
    t->logp = m->nlogp;
    if (m->nlogp + reply->n > m->logp_cap) {
        m->logp_cap = 2 * (m->nlogp + reply->n);
        m->logp = mem_grow(m->logp, m->logp_cap, sizeof *m->logp);
    }
    if (reply->n)
        memcpy(m->logp + m->nlogp, reply->logp, reply->n * sizeof *m->logp);
    m->nlogp += reply->n;
    t->reply = m->bytes.len;
    buf_room(&m->bytes, reply->n + 1);
    t->nreply = tokens_spell(reply->tokens, reply->n, (char *)m->bytes.at + m->bytes.len);
    m->bytes.len += t->nreply + 1;
}

/* Plays on until the match waits for a model (false) or is over (true, with how). */
static bool
advance(const struct runner *r, struct match *m, struct ending *end) {
    const struct game *g = m->title->setup->game;
    *end = (struct ending){.reason = END_PLAY, .loser = -1};
    for (;;) {
        int who = g->mover(m->state);
        if (who == GAME_OVER) {
            if (!has_failed(m, end))
                end->result = g->result(m->state);
            return true;
        }
        if (who == GAME_CHANCE) {
            apply(r, m, game_draw(g, m->state, rng_unit(&m->deal)));
            continue;
        }
        if ((int)m->nmoves >= m->title->move_limit ||
            (r->setup->max_turns && (int)m->nturns >= r->setup->max_turns)) {
            end->reason = END_TURN_LIMIT;
            return true;
        }
        if (m->guest[who]->gen) {
            ask_model(r, m, who);
            return false;
        }
        play_scripted(r, m, who);
        judge(m, false);
        if (!act(r, m, &end->reason)) {
            end->loser = who;
            end->result = who ? 1 : -1;
            has_failed(m, end);
            return true;
        }
    }
}

/* Takes the replies in that are there. All of them before any match goes on: games from outside
 * can work at what comes of one while others are looked at. */
static void
hear(struct runner *r, int64_t until) {
    for (size_t i = r->nactive; i-- > 0 && clock_mono_us() < until;) {
        struct match *m = r->active[i];
        struct gen_reply reply;
        if (m->waiting < 0 || m->heard ||
            !gen_ready(m->guest[m->waiting]->gen, m->slot[m->waiting], &reply))
            continue;
        take_reply(m, &reply);
        judge(m, reply.cut);
        m->heard = true;
        const struct turn *t = &m->turn[m->nturns - 1];
        if (t->verdict == VERDICT_OK)
            game_foresee(m->title->setup->game, m->state, t->action);
    }
}

/* Plays on from a reply that was heard; like advance(). */
static bool
resume(const struct runner *r, struct match *m, struct ending *end) {
    int seat = m->waiting;
    m->waiting = -1;
    m->heard = false;
    enum match_reason reason;
    if (act(r, m, &reason))
        return advance(r, m, end);
    *end = (struct ending){.reason = reason, .loser = seat, .result = seat ? 1 : -1};
    has_failed(m, end);
    return true;
}

static void
retire(struct runner *r, size_t i) {
    struct match *m = r->active[i];
    for (int seat = 0; seat < 2; seat++) {
        if (m->slot[seat] >= 0)
            gen_close(m->guest[seat]->gen, m->slot[seat]);
        m->guest[seat]->seats--;
    }
    r->active[i] = r->active[--r->nactive];
    m->next = r->idle;
    r->idle = m;
}

void
runner_step(struct runner *r, void (*done)(void *arg, const struct store_match *m), void *arg) {
    for (size_t i = 0; i < r->nguests; i++)
        if (r->guest[i]->gen && r->guest[i]->seats)
            gen_run(r->guest[i]->gen);
    int64_t until = clock_mono_us() + STEP_US;
    hear(r, until);
    size_t i = r->left && r->left < r->nactive ? r->left : r->nactive;
    for (r->left = 0; i-- > 0;) {
        struct match *m = r->active[i];
        struct ending end;
        bool over;
        if (m->waiting < 0)
            over = advance(r, m, &end);
        else if (m->heard)
            over = resume(r, m, &end);
        else
            continue;
        if (over) {
            hand_over(r, m, &end, done, arg);
            retire(r, i);
        }
        if (clock_mono_us() > until) {
            r->left = i;
            return;
        }
    }
}
