/* Does what is said in a run's games fit in with its options? */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "arena/setup.h"

/* Plays a few matches between random players, which nobody keeps, and measures their prompts and
 * replies. -1 and e where a snapshot could never play: model.context has no room for the first
 * thing that a seat is asked, or prompt.max_reply none for any reply. Where only later ones do not
 * fit, a note goes to standard output. Takes a few seconds at most. */
int fit_check(const struct setup *s, struct err *e);

#endif
