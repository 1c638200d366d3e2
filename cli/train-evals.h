/* Evaluations on their way into the run's database, for `agon train`. One that the server does not
 * take now, as it is starting again or its database is busy, waits and is sent again; one that it
 * refuses, or that still waits when the run ends, goes to a file of the run. Nothing is dropped in
 * silence. */
#ifndef CLI_TRAIN_EVALS_H
#define CLI_TRAIN_EVALS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/http.h"

struct train_evals {
    const char *dir; /* of the run; borrowed */
    json_t *waiting; /* bodies to be sent, oldest first; owned, NULL: none */
    bool said;       /* that some wait */
};

/* What `agon eval --json` printed of a game; it is sent by the next train_evals_send(). */
void train_evals_add(struct train_evals *v, json_t *result);
/* Sends what waits, as long as the server takes it. http: NULL when it cannot be reached. Prints a
 * line when something must wait, once until all is sent, and for each that is refused. */
void train_evals_send(struct train_evals *v, struct http *http);
/* The run ends: what still waits goes to the file, and that is said. */
void train_evals_end(struct train_evals *v);

#endif
