/* Plays the first of the listed words that is legal here; the first legal action where none is. A
 * word cannot contain a comma. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/players/kinds.h"

static int
check_words(const char *arg, struct err *e) {
    if (!*arg)
        return err_set(e, "needs at least one action: fixed:ACTION[,ACTION...]");
    for (const char *s = arg;; s++) {
        size_t n = strcspn(s, ",");
        if (!n)
            return err_set(e, "has an empty action in its list");
        if (n >= GAME_WORD)
            return err_set(e, "has an action of %zu bytes in its list; %d are the most", n,
                           GAME_WORD - 1);
        s += n;
        if (!*s)
            return 0;
    }
}

static void *
open_fixed(const char *arg, const struct game *g, const struct game_args *args, struct err *e) {
    (void)g;
    (void)args;
    if (check_words(arg, e) < 0)
        return NULL;
    return mem_text(arg);
}

static int
choose_fixed(void *self, const struct game *g, const void *state, struct rng *r) {
    (void)r;
    for (const char *s = self;; s++) {
        size_t n = strcspn(s, ",");
        int action = game_parse(g, state, s, n);
        if (action >= 0)
            return action;
        s += n;
        if (!*s)
            break;
    }
    int legal[GAME_MAX_ACTIONS];
    g->legal(state, legal);
    return legal[0];
}

const struct player_kind player_fixed = {
    "fixed",
    "fixed:ACTION[,ACTION...] plays the first of these that is legal, else the first legal action.",
    open_fixed,
    choose_fixed,
    free,
};
