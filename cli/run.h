/* A run folder as its readers see it: config.yaml (every option), run.db (opened read-only),
 * snapshots/. Commands that look at a run take --run DIR and otherwise the newest run under
 * runs/. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>

#include "base/conf.h"
#include "base/err.h"
#include "games/game.h"
#include "policy/model.h"
#include "store/store.h"

#define RUN_PATH 4096

struct run {
    char dir[RUN_PATH];  /* "" when there is no run: options are the defaults, store is NULL */
    struct conf *conf;   /* owned */
    struct store *store; /* owned; read-only */
    const struct game *game[CONF_MAX_GAMES]; /* [games] the run's; NULL: it is not here */
    size_t games;
};

/* The folder to read: `dir` itself (NULL: the run under runs/ whose database changed last). */
int run_find(const char *dir, char out[RUN_PATH], struct err *e);
int run_open(struct run *r, const char *dir, struct err *e);
/* The same, but where dir is NULL and there is no run at all, r holds the defaults and no store. */
int run_open_any(struct run *r, const char *dir, struct err *e);
void run_close(struct run *r); /* a zeroed r is fine */

bool run_plays(const struct run *r, const struct game *g); /* with any parameters */

/* "latest", a hash's unique prefix, or a scripted player's name (id 0 when the run never met
 * it). */
int run_policy(const struct run *r, const char *name, struct store_policy *out, struct err *e);
bool run_has_snapshot(const struct run *r, const struct store_policy *p); /* is its file there? */
/* The weights of a snapshot; a file that was thinned out is an error that says so. */
struct model *run_model(const struct run *r, const struct store_policy *p, struct err *e);
/* The kept snapshots of training proper (step > learner.warmup), ascending by step; the newest
 * snapshot is always the last of them. *out is the caller's to free; returns how many, -1 on
 * error. */
int run_snapshots(const struct run *r, struct store_policy **out, struct err *e);
/* Chooses at most `want` (>= 1) of the `have` snapshots, spread evenly over the steps, the last
 * always among them. Fills place[want] with indices; returns how many. */
int run_spread(const struct store_policy *list, int have, int want, int *place);

/* Names and words from outside, as they may appear in one line: "3f9a12cd" of a snapshot's hash. */
void run_policy_label(const struct store_policy *p, char out[48]);

/* A whole number of a flag within [min, max]; `def` when the flag was not given. */
int run_number(const char *flag, const char *text, long long min, long long max, long long def,
               long long *out, struct err *e);

#endif
