/* The forward pass of the transformer over nodes of a prefix tree, in batches.
 *
 * Generation and learning run exactly this code. A row's results depend on the row's token, its
 * ancestors and the weights only (policy/mat.h, policy/attend.h), so both get the same bits.
 *
 * Keys and values stay, per place, for descendants that come in later calls. With `keep`, what the
 * backward pass needs stays as well; then all nodes must come in one call. */
#ifndef POLICY_FORWARD_H
#define POLICY_FORWARD_H

#include <stdbool.h>

#include "policy/attend.h"
#include "policy/gen.h"
#include "policy/model.h"
#include "policy/pool.h"

struct layer_store {
    float *keys;        /* [places], in tiles; see tile_at() */
    float *values;      /* [places][kv_row] */
    float *value_tiles; /* with keep, as keys */
    /* With keep, one row each (else all layers share one): */
    float *x;    /* [rows][dim] input */
    float *qkv;  /* [rows][qkv] rotated and scaled query, rotated key, value */
    float *att;  /* [rows][dim] attention output; last layer: wanted rows only, as for the rest */
    float *mid;  /* [rows][dim] after attention */
    float *gate; /* [rows][2 hidden] gate and up, before SiLU; NULL unless keep_gate */
};

struct scratch { /* of one thread; CHUNK rows each */
    struct sight sight;
    float *norm, *att, *mid, *gate, *act;
    int32_t *order;
};

enum { CHUNK = 240 }; /* most rows worked on at a time; a multiple of MAT_ROWS */

struct forward {
    struct shape h;
    struct model_config c;
    struct gen_head head;
    bool keep;
    struct pool *pool;           /* borrowed */
    float *cosine, *sine;        /* [context][head / 2] */
    struct layer_store *layer;   /* [layers] */
    float *last;                 /* [wanted][dim] output of the last layer, with keep */
    size_t places, rows, wanted; /* room */
    float *memory;               /* of all rows; see lay_out() */
    size_t memory_floats;
    size_t most_gates;       /* floats that layers' `gate` may take together; if they would take */
    bool keep_gate;          /* more, they are not kept: the backward pass computes them again */
    struct scratch *scratch; /* [threads] */
};

struct forward *forward_new(const struct model_config *c, struct gen_head head, bool keep,
                            struct pool *pool);
void forward_free(struct forward *f);
/* Makes room for places [0, n), keeping keys and values. */
void forward_room(struct forward *f, size_t n);
/* Moves the keys and values of place `from` of `old` to `to`. */
void forward_move(struct forward *f, size_t to, const struct forward *old, size_t from);

struct forward_job {
    const struct model *m;
    const struct spine *tree;
    const int32_t
        *row; /* [rows] places to compute; their ancestors are in the list or done before */
    size_t rows;
    const int32_t *want; /* [wanted] indices into row: whose distribution is needed */
    size_t wanted;
    float *logp; /* [mat_padded(wanted)][vocab]: log-probabilities (policy/head.h) */
};
void forward_run(struct forward *f, const struct forward_job *job);

/* How many entries of a list of rows (`pick`, indices into job->row; NULL: all of them) can be
 * worked on together by attend(), from entry i on, before `end`. */
size_t forward_together(const struct forward_job *job, const int32_t *pick, size_t i, size_t end);
/* y = x / rms(x) * weight for one row; returns 1 / rms. */
float forward_norm(float *y, const float *x, const float *weight, size_t n, float eps);

#endif
