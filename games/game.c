/* What can be done with any game through its contract alone: reading a player's word, asking whether
 * an action is legal, drawing at a chance node. Nothing here knows a particular game. */
#include "games/game.h"

#include <string.h>

#include "base/err.h"

static bool
is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char
lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
same_word(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static int
parse_by_spelling(const struct game *g, const void *state, const char *word, size_t n) {
    int legal[GAME_MAX_ACTIONS];
    int count = g->legal(state, legal);
    for (int i = 0; i < count; i++) {
        char at[GAME_WORD];
        struct text t;
        text_init(&t, at, sizeof at);
        g->spell(state, legal[i], &t);
        if (t.len == n && same_word(at, word, n))
            return legal[i];
    }
    return -1;
}

int
game_parse(const struct game *g, const void *state, const char *word, size_t n) {
    int mover = g->mover(state);
    if (mover != GAME_SEAT_0 && mover != GAME_SEAT_1)
        return -1;
    while (n && is_blank(word[0]))
        word++, n--;
    while (n && is_blank(word[n - 1]))
        n--;
    if (n == 0)
        return -1;
    if (!g->parse)
        return n < GAME_WORD ? parse_by_spelling(g, state, word, n) : -1;
    int action = g->parse(state, word, n);
    return action >= 0 && game_is_legal(g, state, action) ? action : -1;
}

bool
game_is_legal(const struct game *g, const void *state, int action) {
    int mover = g->mover(state);
    if (mover == GAME_OVER)
        return false;
    if (mover == GAME_CHANCE) {
        struct game_outcome out[GAME_MAX_ACTIONS];
        int n = g->chance(state, out);
        for (int i = 0; i < n; i++)
            if (out[i].action == action)
                return true;
        return false;
    }
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state, legal);
    for (int i = 0; i < n; i++)
        if (legal[i] == action)
            return true;
    return false;
}

int
game_draw(const struct game *g, const void *state, double u) {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = g->chance(state, out);
    ensure(n >= 1);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += out[i].probability;
        if (u < sum)
            return out[i].action;
    }
    /* The sum may end a rounding error below 1. */
    return out[n - 1].action;
}

void
game_spell_legal(const struct game *g, const void *state, struct text *out) {
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state, legal);
    for (int i = 0; i < n; i++) {
        if (i)
            text_put(out, ", ");
        g->spell(state, legal[i], out);
    }
}
