/* Scripted players: one table (policy/players.c), one file each in policy/players/. They see the
 * true state, so that perfect ones can exist; `random` and `first` look at the legal list only.
 *   random | first | minimax | equilibrium | fixed:ACTION[,ACTION...] */
#ifndef POLICY_PLAYER_H
#define POLICY_PLAYER_H

#include "base/err.h"
#include "base/rng.h"
#include "games/game.h"

struct player_kind {
    const char *name; /* before the ':' of a player's name */
    const char *help; /* one sentence, for `agon policies --scripted` and docs */
    /* arg: what stands behind ':' ("" when nothing does). NULL + e, or the player's own data. */
    void *(*open)(const char *arg, const struct game *g, const struct game_args *args,
                  struct err *e);
    /* Returns an action. */
    int (*choose)(void *self, const struct game *g, const void *state, struct rng *r);
    void (*close)(void *self);
};

struct player;                                   /* opaque */
const struct player_kind *player_kind_at(int i); /* NULL past the last */
bool player_is_scripted(const char *name);       /* "random", "fixed:bet", ...: is it one? */
/* minimax refuses games with chance or hidden information, equilibrium games too large to solve. */
struct player *player_open(const char *name, const struct game *g, const struct game_args *args,
                           struct err *e);
int player_choose(struct player *p, const void *state, struct rng *r);
void player_close(struct player *p);

#endif
