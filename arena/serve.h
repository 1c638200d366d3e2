/* The arena server: owns the event loop, the workers, the schedule, the database and the HTTP API.
 * It never computes and never blocks for long. */
#ifndef ARENA_SERVE_H
#define ARENA_SERVE_H

#include "base/err.h"

/* Runs until SIGTERM, SIGINT or POST /api/shutdown. `run` holds config.yaml. 0, or -1 and e. */
int serve_run(const char *run, struct err *e);

#endif
