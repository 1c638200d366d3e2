/* From a gradient to new weights: divide, clip, optimize, move the magnet. */
#ifndef LEARNER_UPDATE_H
#define LEARNER_UPDATE_H

#include <stdbool.h>

#include "learner/lesson.h"
#include "learner/state.h"

/* Takes s from step `step - 1` to `step` with the gradient of b. Returns false when the step is
 * refused because the loss or the gradient is not finite: the weights, the magnet and the
 * moments stay as they were, only the step counts. *norm is the length of the divided gradient
 * before clipping. Marks s as not saved (s->hash). */
bool update_apply(struct state *s, const struct lesson *b, const struct plan *p, int64_t step,
                  double *norm);

#endif
