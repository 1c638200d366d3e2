/* The match runner: plays many matches at once, without an event loop, processes or a database.
 *
 * A match is a job (ids, deal, who sits where). The runner advances every match until it waits for
 * a snapshot's reply, evaluates the waiting seats of each snapshot as one batch, and goes on. A
 * finished match is handed over as a `struct store_match`. What a match becomes depends on its job,
 * the run's seed and the snapshots only, not on what is in flight beside it. */
#ifndef ARENA_MATCH_H
#define ARENA_MATCH_H

#include "arena/setup.h"
#include "policy/model.h"
#include "store/store.h"

struct match_job {
    int64_t id;
    enum match_kind kind;
    int64_t iteration;
    int64_t game; /* game id of the database */
    int64_t deal;
    int64_t policy[2]; /* policy id of each seat; its player must have been added before */
    int attempts;
};

struct runner; /* opaque */

/* s is borrowed. The runner plays the game in its view, whatever game id a job has, */
struct runner *runner_new(const struct setup *s);
/* or, where games are added, those that jobs name. `s` is the same setup with this game in view,
 * borrowed. All games are added before the first guest; at most CONF_MAX_GAMES. */
void runner_add_game(struct runner *r, int64_t id, const struct setup *s);
void runner_free(struct runner *r);

/* Who may sit at a table: policy id `id` is a model (taken) or the scripted player `name`. Adding
 * an id again is a no-op (and frees the model). -1 and e when the scripted player cannot play any
 * of the games. */
int runner_add_model(struct runner *r, int64_t id, struct model *m, struct err *e);
int runner_add_scripted(struct runner *r, int64_t id, const char *name, struct err *e);
bool runner_has(const struct runner *r, int64_t id);
/* Is there this game, and can this policy, which has been added, play it? */
bool runner_can_play(const struct runner *r, int64_t game, int64_t id);
/* Forgets players that no running match uses, until at most `most` models are left; oldest ids go
 * first, those listed in keep[] stay. */
void runner_trim(struct runner *r, const int64_t *keep, size_t nkeep, size_t most);

void runner_start(struct runner *r, const struct match_job *j); /* both policies can play it */
size_t runner_active(const struct runner *r);
/* One round, or half a second of it where the game is slow. done() receives each match that ended
 * in it; its pointers are valid during the call. */
void runner_step(struct runner *r, void (*done)(void *arg, const struct store_match *m), void *arg);

#endif
