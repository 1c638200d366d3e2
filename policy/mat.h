/* Dense products on OpenBLAS, with plain loops beside them as the tested oracle. The only file that
 * includes cblas.h is mat.c.
 *
 * Row invariance: y = x W^T is computed so that a row of y depends on its row of x and on W only,
 * to the bit, not on how many other rows are in the call nor on its place among them. OpenBLAS's
 * sgemm chooses kernels by shape and handles ragged edges apart, so rows are padded, at most to a
 * multiple of MAT_ROWS, and kernels that cannot keep rows apart are not chosen. mat_check() proves
 * it on the given shapes at start, and compares with the plain loops. */
#ifndef POLICY_MAT_H
#define POLICY_MAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define MAT_ROWS 48

/* Rows that a buffer for `rows` rows must have room for (x and y of mat_apply). */
static inline size_t
mat_padded(size_t rows) {
    return (rows + MAT_ROWS - 1) / MAT_ROWS * MAT_ROWS;
}

/* y (rows, out) = x (rows, in) w^T, w (out, in). x and y have room for mat_padded(rows) rows; rows
 * past `rows` of x are read (they must hold finite numbers), those of y are written with
 * rubbish. */
void mat_apply(float *y, const float *x, const float *w, size_t rows, size_t in, size_t out);
/* dx (rows, in) = dy (rows, out) w. */
void mat_back_input(float *dx, const float *dy, const float *w, size_t rows, size_t in, size_t out);
/* dw (out, in) += dy^T (out, rows) x (rows, in). */
void mat_back_weight(float *dw, const float *dy, const float *x, size_t rows, size_t in,
                     size_t out);

/* The same by plain loops. */
void mat_plain_apply(float *y, const float *x, const float *w, size_t rows, size_t in, size_t out);
void mat_plain_back_input(float *dx, const float *dy, const float *w, size_t rows, size_t in,
                          size_t out);
void mat_plain_back_weight(float *dw, const float *dy, const float *x, size_t rows, size_t in,
                           size_t out);

/* Row-wise helpers of the transformer; deterministic, no libm in the loops, written to
 * vectorise. */
float mat_dot(const float *a, const float *b, size_t n);

/* Chooses OPENBLAS_CORETYPE for this processor and runs this program again with it, unless it is
 * set (a user's choice is respected) or nothing better is known. Call first thing in main(); on
 * return the library is as it should be. One BLAS thread a process. */
void mat_choose_kernel(char **argv);
/* "SkylakeX", as OpenBLAS names the kernel in use. */
const char *mat_kernel(void);
/* Compares with the plain loops, and checks row invariance, for weights of `shapes` (out, in)
 * pairs. -1 and e: this kernel cannot be trusted on this processor; use another
 * OPENBLAS_CORETYPE. */
int mat_check(const size_t (*shapes)[2], size_t n, struct err *e);

#endif
