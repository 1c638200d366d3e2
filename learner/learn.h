/* The learner process: takes finished matches from a run, makes the next snapshot, and so on until
 * learner.steps. docs/learning.md describes what it computes. */
#ifndef LEARNER_LEARN_H
#define LEARNER_LEARN_H

#include "base/err.h"

/* Runs the learner of the run folder `run` next to its `agon serve`. Returns 0 at the last step
 * or when SIGTERM or SIGINT came, -1 with e on trouble that it cannot mend. */
int learn_run(const char *run, struct err *e);

#endif
