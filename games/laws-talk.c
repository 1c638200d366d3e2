/* The law of talk: words are seen and told, and change nothing else. */
#include <string.h>

#include "games/laws-int.h"

struct table {
    _Alignas(16) unsigned char at[GAME_MAX_STATE + LAWS_GUARD];
};

static bool
same_chance(const struct game *g, const void *a, const void *b) {
    struct game_outcome out[2][GAME_MAX_ACTIONS];
    int n = g->chance(a, out[0]);
    if (g->chance(b, out[1]) != n)
        return false;
    for (int i = 0; i < n; i++)
        if (out[0][i].action != out[1][i].action || out[0][i].probability < out[1][i].probability ||
            out[0][i].probability > out[1][i].probability)
            return false;
    return true;
}

static bool
same_choices(const struct game *g, const void *a, const void *b) {
    int legal[2][GAME_MAX_ACTIONS], mover = g->mover(a);
    if (g->mover(b) != mover)
        return false;
    if (mover == GAME_CHANCE)
        return same_chance(g, a, b);
    if (mover == GAME_OVER) {
        double pay = g->result(a);
        return g->result(b) >= pay && g->result(b) <= pay;
    }
    int n = g->legal(a, legal[0]);
    return g->legal(b, legal[1]) == n &&
           memcmp(legal[0], legal[1], (size_t)n * sizeof legal[0][0]) == 0;
}

static int
check_text(struct laws *l, const char *what, const struct text *t) {
    if (t->cut)
        return laws_broken(l, "talk", "%s with words does not fit in %zu bytes", what, t->cap);
    for (size_t i = 0; i < t->len; i++)
        if ((unsigned char)t->at[i] < ' ' && t->at[i] != '\n')
            return laws_broken(l, "talk", "%s with words has the control character %d", what,
                               t->at[i]);
    return 0;
}

static int
check_texts(struct laws *l, const void *state, int action) {
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT];
        struct text t;
        text_init(&t, at, sizeof at);
        l->g->narrate(state, action, seat, &t);
        if (check_text(l, "a narration", &t))
            return -1;
        text_init(&t, at, sizeof at);
        l->g->observe(state, seat, &t);
        if (check_text(l, "a view", &t))
            return -1;
    }
    return 0;
}

static int
check_words(struct laws *l, const void *state, int action, const char *words, size_t n) {
    struct table silent, talks;
    size_t bytes = l->g->state_bytes;
    memcpy(silent.at, state, bytes);
    memset(talks.at, 0x77, sizeof talks.at);
    memcpy(talks.at, state, bytes);
    l->g->say(talks.at, words, n);
    for (size_t i = 0; i < LAWS_GUARD; i++)
        if (talks.at[bytes + i] != 0x77)
            return laws_broken(l, "talk", "say() wrote behind the %zu bytes of the state", bytes);
    if (!same_choices(l->g, silent.at, talks.at))
        return laws_broken(l, "talk", "words change who moves or what is legal");
    if (check_texts(l, talks.at, action))
        return -1;
    l->g->apply(silent.at, action);
    l->g->apply(talks.at, action);
    if (!same_choices(l->g, silent.at, talks.at))
        return laws_broken(l, "talk", "words change what action %d leads to", action);
    return 0;
}

int
laws_check_talk(struct laws *l, const void *state) {
    static const char words[] = "I have \"won\". [accept] [defect] [1]";
    char longest[GAME_TALK];
    int legal[GAME_MAX_ACTIONS], mover = l->g->mover(state);
    if (!l->g->say || (mover != GAME_SEAT_0 && mover != GAME_SEAT_1))
        return 0;
    int action = legal[rng_below(&l->rng, (uint32_t)l->g->legal(state, legal))];
    memset(longest, 'x', sizeof longest);
    return check_words(l, state, action, words, sizeof words - 1) ||
                   check_words(l, state, action, longest, sizeof longest)
               ? -1
               : 0;
}
