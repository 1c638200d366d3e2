/* The learner's side of serve's HTTP API (docs/api.md): a session, leases of matches,
 * acknowledged steps. It knows where serve is from RUN/serve.json, which it reads again whenever
 * serve does not answer, because serve may have been started again on another port. */
#ifndef LEARNER_LINK_H
#define LEARNER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

enum link_result {
    LINK_OK,
    LINK_WAIT, /* nothing to lease yet: ask again */
    LINK_LOST, /* no answer, or another serve than before: open a new session; e says why */
    LINK_STOP, /* the caller asked to stop */
    LINK_FAIL, /* there is no point in going on; e says why */
};

struct link; /* opaque */

struct link_patience { /* seconds */
    double start;      /* for serve.json to appear */
    double lost;       /* for a serve that does not answer */
};

struct link_session { /* where serve says that the run stands */
    int64_t step;     /* newest acknowledged step; -1: none */
    int64_t policy;
    char state[HASH_HEX], snapshot[HASH_HEX];
};
struct link_lease {
    int64_t id, first, last;
};

/* stop() is asked now and then while waiting. */
struct link *link_new(const char *run, struct link_patience patience, bool (*stop)(void *arg),
                      void *arg);
void link_free(struct link *l);
/* Finds serve and opens a session; the session before it, whoever has it, ends. OK, STOP or
 * FAIL. */
enum link_result link_open(struct link *l, struct link_session *out, struct err *e);
/* The next `count` training matches: serve waits a few seconds for them, then the answer is
 * WAIT. */
enum link_result link_lease(struct link *l, int64_t count, struct link_lease *out, struct err *e);
/* Acknowledges a step. `body` is the JSON object without its opening brace and without
 * "session". */
enum link_result link_step(struct link *l, const struct buf *body, int64_t *policy, struct err *e);

#endif
