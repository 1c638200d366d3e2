/* Attention of one row over its ancestors in a prefix tree, in the order of their positions, and
 * its reverse. What a row gets depends on its query and on its ancestors' keys and values only:
 * each score is summed in a fixed order over dimensions, each output in a fixed order over
 * positions. */
#ifndef POLICY_ATTEND_H
#define POLICY_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#include "policy/model.h"

/* Numbers that follow from the configuration. */
struct shape {
    size_t vocab, dim, layers, heads, groups, hidden, context; /* groups = kv_heads */
    size_t head;                                               /* D: dimensions of a head */
    size_t lane;                                               /* D rounded up to whole vectors */
    size_t kv;                                                 /* groups * head: numbers in a key */
    size_t kv_row; /* groups * lane: numbers in a stored row of values */
    size_t qkv;    /* dim + 2 kv: query, key and value side by side */
};
struct shape shape_of(const struct model_config *c);

/* The tree as attention sees it, by place (see policy/tree.h; places are where keys are kept). */
struct spine {
    const int32_t *token, *parent, *chain, *depth;
};

struct span { /* neighbours: places [lo, lo + n) hold positions [pos, pos + n) */
    size_t lo, n, pos;
};

enum { ATTEND_ROWS = 4 }; /* most rows that are worked on together */

struct sight {         /* what a row sees: its ancestors and itself; scratch of one thread */
    struct span *span; /* [context] */
    size_t spans, n;   /* n positions */
    size_t *row;       /* [context + slack] by position: where its row starts */
    float *space;      /* memory of the two below, with slack before, between and behind */
    float *score;      /* [ATTEND_ROWS][heads][width] by position */
    float *pull;       /* the same for gradients */
    size_t width;
    float *scale;    /* [ATTEND_ROWS][heads] */
    float *q, *dout; /* [ATTEND_ROWS][heads][lane] in hand, zeros up to whole vectors */
};
void sight_init(struct sight *s, const struct shape *h);
void sight_free(struct sight *s);
/* Finds what `place` sees; rows of values (or keys) to be summed are `stride` numbers apart. */
void sight_find(struct sight *s, const struct spine *t, int32_t place, size_t stride);

/* Numbers per vector in one layer's store of keys, and where a place's number i lies: keys are kept
 * in tiles of 16 places, dimension by dimension, so that 16 scores are computed at once. */
static inline size_t
tile_at(size_t kv, size_t place, size_t i) {
    return (place / 16 * kv + i) * 16 + place % 16;
}

/* out[row] (heads * head) = attention, for one row or for two of which the second is the first's
 * child and neighbour; `s` is what the last of them sees. q is rotated and scaled, keys in tiles,
 * values in rows of kv_row. */
void attend(const struct shape *h, struct sight *s, size_t rows, const float *const *q,
            const float *keys, const float *values, float *const *out);

/* The reverse, for rows as above. Gradients of keys and values go to rows of kv_row
 * numbers per place or, for places below `from`, which other threads work on, to `side_*` by
 * position. */
struct attend_back {
    size_t rows;
    const float *q[ATTEND_ROWS]; /* as in the forward pass */
    const float *keys, *value_tiles;
    const float *key_rows; /* key of place p at key_rows + p * key_stride */
    size_t key_stride;
    const float *out[ATTEND_ROWS], *dout[ATTEND_ROWS]; /* [dim] */
    float *dq[ATTEND_ROWS];                            /* [dim], set */
    float *dkeys, *dvalues;                            /* [places][kv_row], added to */
    size_t from;
    float *side_dkeys, *side_dvalues; /* [context][kv_row], added to */
};
void attend_back(const struct shape *h, struct sight *s, const struct attend_back *b);

#endif
