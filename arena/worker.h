/* A worker process: gets jobs from serve over a socket, plays them, sends the matches back. */
#ifndef ARENA_WORKER_H
#define ARENA_WORKER_H

#include "base/err.h"
#include "policy/model.h"

/* Serves the socket `fd` until its other end closes it (0) or something fails (-1 and e; serve has
 * been told). */
int worker_run(int fd, struct err *e);
/* Are this model's dense products right on this processor, to the bit where they must be? */
int worker_check_kernel(const struct model_config *c, struct err *e);

#endif
