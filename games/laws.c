/* Plays the matches of a law check: random ones, second worlds for each seat, and replays. */
#include "games/laws.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "games/extern/extern.h"
#include "games/laws-int.h"

enum { PLIES_MAX = 100000 };

int
laws_broken(struct laws *l, const char *law, const char *fmt, ...) {
    char what[700], at[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    struct text spec;
    text_init(&spec, at, sizeof at);
    if (strcmp(law, "definition") == 0)
        return err_set(l->e, "law 'definition' is broken: %s", what);
    game_spec_text(l->g, l->args, &spec);
    return err_set(l->e, "law '%s' is broken: %s match %d action %d: %s", law, at, l->match, l->ply,
                   what);
}

/* A match that was played: what a replay must repeat, and what a second world must tell again. */
struct record {
    struct buf actions; /* int each */
    struct buf digests; /* of texts, then of bytes: two uint64_t a state */
    struct laws_story story[2];
};

static void
record_free(struct record *r) {
    buf_free(&r->actions);
    buf_free(&r->digests);
    laws_story_free(&r->story[0]);
    laws_story_free(&r->story[1]);
}

/* State memory with a guard behind it, all bytes `fill` at first. */
struct board {
    _Alignas(16) unsigned char at[GAME_MAX_STATE + LAWS_GUARD];
    unsigned char fill;
};

static int
board_check(struct laws *l, const struct board *b, const char *function) {
    for (size_t i = 0; i < LAWS_GUARD; i++)
        if (b->at[l->g->state_bytes + i] != b->fill)
            return laws_broken(l, "size", "%s() wrote behind the %zu bytes of the state", function,
                               l->g->state_bytes);
    return 0;
}

static int
board_init(struct laws *l, struct board *b, unsigned char fill) {
    b->fill = fill;
    memset(b->at, fill, sizeof b->at);
    l->g->init(b->at, l->args);
    return board_check(l, b, "init");
}

/* The story that a second world has to tell its seat again. */
struct guide {
    int seat;
    const struct laws_story *story; /* NULL: no guide, or no longer */
    size_t at;                      /* bytes of it told so far */
};

static int
random_action(struct laws *l, const void *state) {
    if (l->g->mover(state) == GAME_CHANCE)
        return game_draw(l->g, state, rng_unit(&l->rng));
    int legal[GAME_MAX_ACTIONS];
    int n = l->g->legal(state, legal);
    return legal[rng_below(&l->rng, (uint32_t)n)];
}

static int
list_actions(const struct game *g, const void *state, int *action) {
    if (g->mover(state) != GAME_CHANCE)
        return g->legal(state, action);
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = g->chance(state, out);
    for (int i = 0; i < n; i++)
        action[i] = out[i].action;
    return n;
}

/* A random action that tells the guide's seat what it was told in the first world, or nothing at
 * all; -1 when there is none (the worlds part here). */
static int
guided_action(struct laws *l, const void *state, struct guide *guide) {
    int action[GAME_MAX_ACTIONS];
    int n = list_actions(l->g, state, action);
    const char *next = (const char *)guide->story->told.at + guide->at;
    bool ended = guide->at == guide->story->told.len;
    for (; n > 0; n--) {
        int pick = (int)rng_below(&l->rng, (uint32_t)n);
        char at[GAME_TEXT];
        struct text token;
        text_init(&token, at, sizeof at);
        laws_token(l, state, action[pick], guide->seat, &token);
        if (token.len == 0)
            return action[pick];
        if (!ended && strcmp(next, at) == 0) {
            guide->at += token.len + 1;
            return action[pick];
        }
        action[pick] = action[n - 1];
    }
    return -1;
}

static int
choose(struct laws *l, const void *state, struct guide *guide) {
    if (guide->story) {
        int action = guided_action(l, state, guide);
        if (action >= 0)
            return action;
        guide->story = NULL;
    }
    return random_action(l, state);
}

static int
visit(struct laws *l, const struct board *b, struct record *r) {
    uint64_t digest[2];
    if (laws_check_state(l, b->at, &digest[0]))
        return -1;
    digest[1] = hash_quick(b->at, l->g->state_bytes, 0);
    buf_add(&r->digests, digest, sizeof digest);
    for (int seat = 0; seat < 2; seat++)
        if (laws_worlds_check(l, b->at, seat, &r->story[seat]))
            return -1;
    return 0;
}

static int
play(struct laws *l, struct guide guide, struct record *r) {
    struct board b;
    l->ply = 0;
    if (board_init(l, &b, 0xaa))
        return -1;
    for (;; l->ply++) {
        if (visit(l, &b, r))
            return -1;
        if (l->g->mover(b.at) == GAME_OVER)
            return 0;
        if (l->ply == l->max_plies)
            return laws_broken(l, "end", "the match goes on after max_plies() = %d actions",
                               l->max_plies);
        int action = choose(l, b.at, &guide);
        for (int seat = 0; seat < 2; seat++) {
            char at[GAME_TEXT];
            struct text token;
            text_init(&token, at, sizeof at);
            laws_token(l, b.at, action, seat, &token);
            laws_story_add(&r->story[seat], &token);
        }
        buf_add(&r->actions, &action, sizeof action);
        l->g->apply(b.at, action);
        if (board_check(l, &b, "apply"))
            return -1;
    }
}

/* The same actions in memory that held other bytes; between any two of them the state moves. */
static int
replay(struct laws *l, const struct record *r) {
    struct board b[2];
    size_t plies = r->actions.len / sizeof(int);
    l->ply = 0;
    if (board_init(l, &b[0], 0x55))
        return -1;
    for (size_t i = 0;; i++, l->ply++) {
        struct board *at = &b[i % 2];
        uint64_t was[2], now;
        memcpy(was, r->digests.at + i * sizeof was, sizeof was);
        if (hash_quick(at->at, l->g->state_bytes, 0) != was[1])
            return laws_broken(l, "replay", "the state's bytes differ");
        if (laws_check_state(l, at->at, &now))
            return -1;
        if (now != was[0])
            return laws_broken(l, "replay", "the texts or lists differ");
        if (i == plies)
            return 0;
        int action;
        memcpy(&action, r->actions.at + i * sizeof action, sizeof action);
        b[(i + 1) % 2] = *at;
        memset(at->at, 0xee, sizeof at->at);
        l->g->apply(b[(i + 1) % 2].at, action);
    }
}

static int
check_match(struct laws *l) {
    struct record first = {0};
    int bad = play(l, (struct guide){0}, &first) || replay(l, &first);
    bool hidden = !(l->g->flags & GAME_PERFECT_INFO);
    for (int seat = 0; seat < 2 && hidden && !bad; seat++) {
        struct record second = {0};
        bad = play(l, (struct guide){seat, &first.story[seat], 0}, &second);
        record_free(&second);
    }
    record_free(&first);
    return bad ? -1 : 0;
}

static bool
is_name(const char *s) {
    if (!s || !(s[0] >= 'a' && s[0] <= 'z') || strlen(s) > 40)
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

static int
check_params(struct laws *l) {
    const struct game *g = l->g;
    for (int i = 0; g->params && g->params[i].name; i++) {
        const struct game_param *p = &g->params[i];
        if (i == GAME_MAX_PARAMS)
            return laws_broken(l, "definition", "%s has more than %d parameters", g->name,
                               GAME_MAX_PARAMS);
        if (!is_name(p->name) || p->min > p->max || !p->def || !p->help || !p->help[0])
            return laws_broken(l, "definition",
                               "parameter %d of %s needs a name, a range, a default and a help", i,
                               g->name);
    }
    return 0;
}

static int
check_definition(struct laws *l) {
    const struct game *g = l->g;
    if (!is_name(g->name))
        return laws_broken(l, "definition", "a name is small letters, digits and _, up to 40");
    if (!g->title || !g->title[0] || g->version < 1)
        return laws_broken(l, "definition", "%s needs a title and a version from 1 on", g->name);
    if (g->state_bytes < 1 || g->state_bytes > GAME_MAX_STATE)
        return laws_broken(l, "definition", "%s has a state of %zu bytes; 1 to %d are possible",
                           g->name, g->state_bytes, GAME_MAX_STATE);
    bool chance = g->chance || (g->flags & GAME_NO_CHANCE);
    if (!g->max_plies || !g->unit || !g->init || !g->mover || !chance || !g->legal || !g->apply ||
        !g->result || !g->rules || !g->observe || !g->narrate || !g->spell)
        return laws_broken(l, "definition", "%s lacks a function", g->name);
    if (check_params(l))
        return -1;
    l->max_plies = g->max_plies(l->args);
    if (l->max_plies < 1 || l->max_plies > PLIES_MAX)
        return laws_broken(l, "definition", "%s has max_plies() = %d; 1 to %d are possible",
                           g->name, l->max_plies, PLIES_MAX);
    double unit = g->unit(l->args);
    if (!(unit > 0) || !isfinite(unit))
        return laws_broken(l, "definition", "%s has unit() = %g", g->name, unit);
    return 0;
}

int
laws_check(const struct game *g, const struct game_args *args, uint64_t seed, int matches,
           struct err *e) {
    struct laws l = {.g = g, .args = args, .e = e};
    rng_init(&l.rng, seed, 0, RNG_TEST);
    if (check_definition(&l))
        return -1;
    l.worlds = laws_worlds_new();
    int bad = 0;
    const char *why;
    uint64_t before = game_faults(g, NULL);
    for (l.match = 0; l.match < matches && !bad; l.match++) {
        bad = check_match(&l);
        /* Whatever else looks wrong then follows from this. */
        if (game_faults(g, &why) != before)
            bad = laws_broken(&l, "answer", "%s", why);
    }
    laws_worlds_free(l.worlds);
    return bad;
}
