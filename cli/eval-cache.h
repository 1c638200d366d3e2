/* Strategies of snapshots that were enumerated before, in <run>/cache/: a snapshot never changes,
 * and a mixture is measured again and again. A file that is missing, foreign or damaged is just
 * enumerated again; a folder that cannot be written to is no trouble. */
#ifndef CLI_EVAL_CACHE_H
#define CLI_EVAL_CACHE_H

#include <stdbool.h>

#include "base/conf.h"
#include "cli/eval.h"

struct eval_cache {
    const char *run; /* the run's folder; "" or NULL: nothing is kept */
    const struct conf *conf;
    const struct setup *setup;
    const struct solve *game;
};

bool eval_cache_load(const struct eval_cache *c, const char *snapshot, double *strategy,
                     double *rest);
void eval_cache_save(const struct eval_cache *c, const char *snapshot, const double *strategy,
                     double rest);
/* Removes what is kept of snapshots whose file is gone. */
void eval_cache_prune(const struct eval_cache *c);

#endif
