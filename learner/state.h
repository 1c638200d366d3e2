/* What the learner knows between two steps: the weights, the magnet, the optimizer's moments and
 * the counters. On disk the weights are a snapshot (policy/snap.h) and the rest is
 * RUN/state/<hash>.safetensors, which names its snapshot. Both are named by the SHA-256 of their
 * bytes and written whole or not at all. A file that is missing, damaged or of another model is
 * an error, never fresh weights. */
#ifndef LEARNER_STATE_H
#define LEARNER_STATE_H

#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "learner/optim.h"
#include "learner/plan.h"
#include "policy/model.h"

#define STATE_KEEP 3 /* state files that stay: the newest so many */

struct state {
    int64_t step;                    /* the step that made the weights; 0 = the first weights */
    int64_t updates;                 /* of the optimizer since its moments were zero */
    struct model *model, *magnet;    /* owned */
    float *moment[OPTIM_MOMENTS];    /* [model->count]; NULL where the optimizer has none; owned */
    char snapshot[HASH_HEX];         /* of the weights, as saved */
    char hash[HASH_HEX];             /* of the state file; "" while what is here is not saved */
    char kept[STATE_KEEP][HASH_HEX]; /* files in RUN/state, newest first; "": none */
};

/* Room for a model of the plan; everything zero, step -1. */
struct state *state_new(const struct plan *p);
void state_free(struct state *s); /* NULL is fine */
/* The first weights, from the run's seed: step 0. */
void state_init(struct state *s, const struct plan *p);
/* The moments start anew: at the end of the warm-up. */
void state_forget(struct state *s);

/* Writes RUN/snapshots/<s->snapshot> and RUN/state/<s->hash>, sets both names. */
int state_save(struct state *s, const struct plan *p, const char *run, struct err *e);
/* Reads the state of that hash and the snapshot it names. On failure *s is not to be used. */
int state_load(struct state *s, const struct plan *p, const char *run, const char *hash,
               struct err *e);
/* To be called when s is acknowledged: its file is now the newest, and the file that was the newest
 * STATE_KEEP steps ago goes. */
void state_thin(struct state *s, const char *run);
/* To be called when s was loaded, or before the first is saved: RUN/state keeps the file of s
 * and the newest others, STATE_KEEP together; what else a killed learner left behind goes. */
void state_sweep(struct state *s, const char *run);

#endif
