#include "cli/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/token.h"

#define NAMES_MOST 10000000 /* ids count up from 1: a greater one is damage */

static void *
room_for(void *list, size_t *n, int64_t id, size_t size) {
    size_t more = (size_t)id + 1;
    if (more <= *n)
        return list;
    more += more / 2;
    list = mem_grow(list, more, size);
    memset((char *)list + *n * size, 0, (more - *n) * size);
    *n = more;
    return list;
}

const struct store_policy *
export_policy(struct export *x, int64_t id) {
    struct export_names *n = &x->names;
    if (id > NAMES_MOST || id < 1) {
        err_set(x->e, "table match: policy %lld does not exist", (long long)id);
        return NULL;
    }
    n->policy = room_for(n->policy, &n->policies, id, sizeof *n->policy);
    struct store_policy *p = &n->policy[id];
    return p->id || store_policy_get(x->run.store, id, p, x->e) == 0 ? p : NULL;
}

const struct store_game *
export_game(struct export *x, int64_t id) {
    struct export_names *n = &x->names;
    if (id > NAMES_MOST || id < 1) {
        err_set(x->e, "table match: game %lld does not exist", (long long)id);
        return NULL;
    }
    n->game = room_for(n->game, &n->games, id, sizeof *n->game);
    struct store_game *g = &n->game[id];
    return g->id || store_game_get(x->run.store, id, g, x->e) == 0 ? g : NULL;
}

const char *
export_real(double v, char out[EXPORT_NUMBER]) {
    if (!isfinite(v))
        return "null";
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, EXPORT_NUMBER, "%.*g", digits, v);
        double back = strtod(out, NULL);
        if (!(back < v) && !(back > v))
            break;
    }
    return out;
}

const char *
export_float(float v, char out[EXPORT_NUMBER]) {
    if (!isfinite(v))
        return "null";
    for (int digits = 4; digits <= 9; digits++) {
        snprintf(out, EXPORT_NUMBER, "%.*g", digits, (double)v);
        float back = strtof(out, NULL);
        if (!(back < v) && !(back > v))
            break;
    }
    return out;
}

void
export_spell(const int32_t *ids, size_t n, struct buf *out) {
    buf_clear(out);
    buf_room(out, n + 1);
    out->len = tokens_spell(ids, n, (char *)out->at);
}
