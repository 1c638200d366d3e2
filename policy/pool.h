/* A few threads that work off numbered tasks. The caller works too. */
#ifndef POLICY_POOL_H
#define POLICY_POOL_H

#include <stddef.h>

struct pool; /* opaque */

struct pool *pool_new(int threads); /* threads >= 1, the caller included */
void pool_free(struct pool *p);
int pool_threads(const struct pool *p);
/* Calls fn(arg, task, worker) for every task in [0, tasks), worker in [0, threads); returns when
 * all are done. Which worker does which task is open. */
void pool_run(struct pool *p, void (*fn)(void *arg, size_t task, int worker), void *arg,
              size_t tasks);

#endif
