/* Training a run: server, workers and learner as processes, watched and restarted; a live line; a
 * table row after each evaluation. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "base/conf.h"
#include "base/err.h"

/* Until `seconds` have passed (0: no limit), learner.steps is reached, or SIGINT/SIGTERM. `dir`
 * holds config.yaml. `first` and `last` are said in the opening line. */
int train_run(const char *dir, const struct conf *conf, bool resumed, double seconds,
              struct err *e);

#endif
