/* Exact minimax with a table of solved states. A state's search stops as soon as a child is worth
 * the most a payoff can be, so values stay exact while much of the game is never visited. No
 * bounds, no depth limit: it is meant for games that can be solved. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "games/index.h"
#include "games/solve.h"

enum { DEPTH_MAX = 10000 };

struct level {
    int legal[GAME_MAX_ACTIONS];
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

struct minimax {
    const struct game *g;
    size_t max_states, states, cap;
    unsigned char *state; /* [states][state_bytes] */
    double *value;        /* [states] player 0's */
    struct index seen;
    struct level **level; /* [DEPTH_MAX + 1], made when first needed */
};

struct minimax *
minimax_new(const struct game *g, size_t max_states, struct err *e) {
    unsigned need = GAME_PERFECT_INFO | GAME_NO_CHANCE;
    if ((g->flags & need) != need) {
        err_set(e, "%s has chance or hidden information: minimax does not apply to it", g->name);
        return NULL;
    }
    struct minimax *m = mem_zero(1, sizeof *m);
    m->g = g;
    m->max_states = max_states;
    m->level = mem_zero(DEPTH_MAX + 1, sizeof m->level[0]);
    return m;
}

void
minimax_free(struct minimax *m) {
    if (!m)
        return;
    for (int i = 0; i <= DEPTH_MAX; i++)
        free(m->level[i]);
    free(m->level);
    free(m->state);
    free(m->value);
    index_free(&m->seen);
    free(m);
}

static bool
recall(const struct minimax *m, const void *state, uint64_t hash, double *value) {
    size_t bytes = m->g->state_bytes;
    uint64_t i;
    for (size_t at = SIZE_MAX; index_next(&m->seen, hash, &at, &i);)
        if (memcmp(m->state + i * bytes, state, bytes) == 0) {
            *value = m->value[i];
            return true;
        }
    return false;
}

static int
remember(struct minimax *m, const void *state, uint64_t hash, double value, struct err *e) {
    size_t bytes = m->g->state_bytes;
    if (m->states == m->max_states)
        return err_set(e, "%s: minimax needs more than %zu states", m->g->name, m->max_states);
    if (m->states == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 1024;
        m->state = mem_grow(m->state, m->cap, bytes);
        m->value = mem_grow(m->value, m->cap, sizeof m->value[0]);
    }
    memcpy(m->state + m->states * bytes, state, bytes);
    m->value[m->states] = value;
    index_add(&m->seen, hash, m->states++);
    return 0;
}

static struct level *
level_at(struct minimax *m, int depth) {
    if (!m->level[depth])
        m->level[depth] = mem_alloc(sizeof *m->level[depth]);
    return m->level[depth];
}

/* Player 0's value of the state of level `depth`. */
static int
search(struct minimax *m, int depth, double *value, struct err *e) {
    struct level *l = level_at(m, depth);
    int mover = m->g->mover(l->state);
    if (mover == GAME_OVER) {
        *value = m->g->result(l->state);
        return 0;
    }
    uint64_t hash = hash_fnv(l->state, m->g->state_bytes);
    if (recall(m, l->state, hash, value))
        return 0;
    if (depth == DEPTH_MAX)
        return err_set(e, "%s: a match is longer than %d actions", m->g->name, DEPTH_MAX);
    double sign = mover == GAME_SEAT_0 ? 1 : -1, best = -2;
    int n = m->g->legal(l->state, l->legal);
    for (int i = 0; i < n && best < 1; i++) {
        double v;
        struct level *below = level_at(m, depth + 1);
        memcpy(below->state, l->state, m->g->state_bytes);
        m->g->apply(below->state, l->legal[i]);
        if (search(m, depth + 1, &v, e))
            return -1;
        if (sign * v > best)
            best = sign * v;
    }
    *value = sign * best;
    return remember(m, l->state, hash, *value, e);
}

int
minimax_optimal(struct minimax *m, const void *state, int *optimal, double *value, struct err *e) {
    int mover = m->g->mover(state);
    if (mover != GAME_SEAT_0 && mover != GAME_SEAT_1)
        return err_set(e, "%s: nobody is to move", m->g->name);
    double sign = mover == GAME_SEAT_0 ? 1 : -1, best = -2;
    int legal[GAME_MAX_ACTIONS], count = 0;
    int n = m->g->legal(state, legal);
    for (int i = 0; i < n; i++) {
        double v;
        struct level *l = level_at(m, 0);
        memcpy(l->state, state, m->g->state_bytes);
        m->g->apply(l->state, legal[i]);
        if (search(m, 0, &v, e))
            return -1;
        if (sign * v > best) {
            best = sign * v;
            count = 0;
        }
        if (sign * v >= best)
            optimal[count++] = legal[i];
    }
    *value = sign * best;
    return count;
}
