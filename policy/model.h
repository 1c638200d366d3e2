/* A transformer of the Llama architecture: token embedding, `layers` blocks of (RMSNorm,
 * grouped-query attention with RoPE, RMSNorm, SwiGLU), a last RMSNorm, and the output head (the
 * embedding itself when tied). float32 throughout. All parameters lie in one block, so that an
 * optimizer step is one flat loop and a snapshot is one write. Weights are (out, in) row-major, as
 * in Hugging Face files; RoPE pairs dimension i with i + head_dim/2 (Hugging Face's "rotate
 * half"). */
#ifndef POLICY_MODEL_H
#define POLICY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct model_config {
    int vocab;    /* V */
    int dim;      /* C */
    int layers;   /* L */
    int heads;    /* H; head_dim D = C / H, even */
    int kv_heads; /* G; divides H */
    int hidden;   /* F: width of the SwiGLU */
    int context;  /* longest sequence, in tokens */
    bool tied;    /* output head = embedding */
    float rope_theta, norm_eps;
};

struct model_layer { /* pointers into the one block */
    float *norm1;    /* (C) */
    float *wq;       /* (H*D, C) */
    float *wk;       /* (G*D, C) */
    float *wv;       /* (G*D, C) */
    float *wo;       /* (C, H*D) */
    float *norm2;    /* (C) */
    float *gate;     /* (F, C) */
    float *up;       /* (F, C) */
    float *down;     /* (C, F) */
};

struct model {
    struct model_config c;
    size_t count;              /* number of parameters */
    float *params;             /* [count], 64-byte aligned; owned */
    float *embed;              /* (V, C) */
    struct model_layer *layer; /* [L]; owned */
    float *norm;               /* (C) */
    float *head;               /* (V, C); == embed when tied */
};

/* Bounds and divisibility; the sentence names the field. */
int model_config_check(const struct model_config *c, struct err *e);
struct model *model_new(const struct model_config *c); /* zero weights; c has been checked */
void model_free(struct model *m);
void model_copy(struct model *to, const struct model *from); /* same configuration */
/* Normal(0, std) for matrices (wo and down divided by sqrt(2 L)), 1 for norms; from (seed,
 * RNG_INIT). */
void model_init(struct model *m, uint64_t seed, double std);

/* The tensors in file order, under their Hugging Face names
 * ("model.layers.0.self_attn.q_proj.weight"). */
struct model_tensor {
    char name[96];
    int rows, cols; /* cols == 0: a vector of `rows` */
    size_t offset;  /* into params */
};
/* 0, or -1 past the last */
int model_tensor(const struct model *m, int i, struct model_tensor *out);

#endif
