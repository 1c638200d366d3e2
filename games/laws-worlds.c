/* The laws about knowledge. A seat's story is all that it was told and did; it is the ground truth
 * of what the seat can know. The tables remember what each story led to, over all matches of a run:
 * one story with two views is a leak, one view of a seat to move with two stories hides
 * something. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "games/laws-int.h"

/* What was seen the first time. */
struct seen {
    uint64_t key, truth;
    char *view; /* owned */
};

struct table {
    struct seen *at; /* owned */
    size_t count, cap;
    struct index index;
};

struct laws_worlds {
    struct table by_story; /* truth: the view and the legal actions */
    struct table by_view;  /* truth: the story, or the state */
};

struct laws_worlds *
laws_worlds_new(void) {
    return mem_zero(1, sizeof(struct laws_worlds));
}

static void
table_free(struct table *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i].view);
    free(t->at);
    index_free(&t->index);
}

void
laws_worlds_free(struct laws_worlds *w) {
    if (!w)
        return;
    table_free(&w->by_story);
    table_free(&w->by_view);
    free(w);
}

void
laws_story_free(struct laws_story *s) {
    buf_free(&s->told);
}

void
laws_token(const struct laws *l, const void *state, int action, int seat, struct text *out) {
    if (l->g->mover(state) == seat)
        text_fmt(out, "own %d\n", action);
    l->g->narrate(state, action, seat, out);
}

void
laws_story_add(struct laws_story *s, const struct text *token) {
    if (!token->len)
        return;
    buf_add(&s->told, token->at, token->len + 1);
    s->hash = hash_quick(token->at, token->len, s->hash);
}

/* The entry under `key`; a new one is made from the other arguments when there is none. */
static const struct seen *
meet(struct table *t, uint64_t key, uint64_t truth, const char *view) {
    uint64_t i;
    for (size_t at = SIZE_MAX; index_next(&t->index, key, &at, &i);)
        return &t->at[i];
    if (t->count == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 256;
        t->at = mem_grow(t->at, t->cap, sizeof t->at[0]);
    }
    index_add(&t->index, key, t->count);
    t->at[t->count] = (struct seen){key, truth, mem_text(view)};
    return &t->at[t->count++];
}

static uint64_t
join(uint64_t a, uint64_t b) {
    uint64_t h = (a ^ (b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 31;
}

static uint64_t
hash_legal(const struct laws *l, const void *state) {
    int legal[GAME_MAX_ACTIONS];
    int n = l->g->legal(state, legal);
    return hash_quick(legal, (size_t)n * sizeof legal[0], 0);
}

static int
check_leak(struct laws *l, const void *state, int seat, uint64_t story, const struct text *view) {
    int mover = l->g->mover(state);
    int moment = mover == seat ? 1 : mover == GAME_OVER ? 2 : 0;
    uint64_t truth = hash_quick(view->at, view->len, 0);
    if (moment == 1)
        truth = join(truth, hash_legal(l, state));
    uint64_t key = join(story, (uint64_t)(10 * seat + moment));
    const struct seen *s = meet(&l->worlds->by_story, key, truth, view->at);
    if (s->truth == truth)
        return 0;
    if (strcmp(s->view, view->at) == 0)
        return laws_broken(l, "leak", "seat %d was told the same but its legal actions differ",
                           seat);
    return laws_broken(l, "leak", "seat %d was told the same but sees '%s' or '%s'", seat, s->view,
                       view->at);
}

int
laws_worlds_check(struct laws *l, const void *state, int seat, const struct laws_story *s) {
    bool perfect = l->g->flags & GAME_PERFECT_INFO;
    char at[GAME_TEXT];
    struct text view;
    text_init(&view, at, sizeof at);
    l->g->observe(state, seat, &view);
    uint64_t story = s->hash;
    if (!perfect && check_leak(l, state, seat, story, &view))
        return -1;
    if (l->g->mover(state) != seat)
        return 0;
    uint64_t key = hash_quick(view.at, view.len, (uint64_t)seat);
    uint64_t truth = !perfect                     ? story
                     : l->g->flags & GAME_HISTORY ? hash_legal(l, state)
                                                  : hash_quick(state, l->g->state_bytes, 0);
    if (meet(&l->worlds->by_view, key, truth, at)->truth == truth)
        return 0;
    return laws_broken(l, "hiding", "seat %d sees the same in different %s: '%s'", seat,
                       perfect ? "states" : "situations that it was told apart", at);
}
