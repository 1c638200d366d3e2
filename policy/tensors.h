/* safetensors files (huggingface.co/docs/safetensors): 8-byte little-endian header length, JSON
 * header, then raw tensor bytes. Only F32 is written; F32, F16 and BF16 are read (widened to
 * float32). The reader trusts nothing: header length, JSON, names, shapes, offsets, overlaps, holes
 * and sizes are checked before any of it is used. */
#ifndef POLICY_TENSORS_H
#define POLICY_TENSORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct tensor_view { /* what to write */
    const char *name;
    int64_t shape[4];
    int dims;
    const float *data;
};
struct tensor_meta {
    const char *key, *value;
};

/* Serialises to `out`: deterministic bytes for equal input (metadata in the order given). */
void tensors_encode(const struct tensor_view *t, size_t n, const struct tensor_meta *meta,
                    size_t nmeta, struct buf *out);

struct tensors; /* a decoded file; opaque, owns its bytes */
/* `where` names the file in errors. Takes the buffer (it is emptied), also on failure. */
struct tensors *tensors_decode(struct buf *bytes, const char *where, struct err *e);
void tensors_free(struct tensors *t);
size_t tensors_count(const struct tensors *t);
const char *tensors_name(const struct tensors *t, size_t i);
/* Metadata value, or NULL. */
const char *tensors_meta(const struct tensors *t, const char *key);
/* Copies tensor `name` of exactly this shape (dims numbers) to out as float32; -1 and e when it is
 * missing, of another shape, or holds a value that is not finite. */
int tensors_read(const struct tensors *t, const char *name, const int64_t *shape, int dims,
                 float *out, struct err *e);

#endif
