/* The table of scripted players. A player's name is its kind's, or "kind:argument". */
#include "policy/player.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "policy/players/kinds.h"

static const struct player_kind *const kinds[] = {
    &player_random, &player_first, &player_minimax, &player_equilibrium, &player_fixed,
};

struct player {
    const struct player_kind *kind;
    const struct game *game;
    void *self;
};

const struct player_kind *
player_kind_at(int i) {
    return i >= 0 && (size_t)i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

static const struct player_kind *
find_kind(const char *name) {
    size_t n = strcspn(name, ":");
    const struct player_kind *k;
    for (int i = 0; (k = player_kind_at(i)); i++)
        if (strlen(k->name) == n && memcmp(k->name, name, n) == 0)
            return k;
    return NULL;
}

bool
player_is_scripted(const char *name) {
    return find_kind(name) != NULL;
}

int
player_no_argument(const char *name, const char *arg, struct err *e) {
    if (*arg)
        return err_set(e, "takes no argument: write just '%s'", name);
    return 0;
}

static void
refuse_name(const char *name, struct err *e) {
    char at[256];
    struct text known;
    text_init(&known, at, sizeof at);
    const struct player_kind *k;
    for (int i = 0; (k = player_kind_at(i)); i++)
        text_fmt(&known, "%s%s", i ? ", " : "", k->name);
    err_set(e, "there is no scripted player '%.80s'; there are: %s", name, at);
}

struct player *
player_open(const char *name, const struct game *g, const struct game_args *args, struct err *e) {
    const struct player_kind *kind = find_kind(name);
    if (!kind) {
        refuse_name(name, e);
        return NULL;
    }
    const char *colon = strchr(name, ':');
    void *self = kind->open(colon ? colon + 1 : "", g, args, e);
    if (!self) {
        err_prefix(e, "player '%.80s'", name);
        return NULL;
    }
    struct player *p = mem_alloc(sizeof *p);
    *p = (struct player){kind, g, self};
    return p;
}

int
player_choose(struct player *p, const void *state, struct rng *r) {
    return p->kind->choose(p->self, p->game, state, r);
}

void
player_close(struct player *p) {
    if (!p)
        return;
    p->kind->close(p->self);
    free(p);
}
