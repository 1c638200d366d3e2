/* Products by OpenBLAS, the plain loops beside them, and the choice and proof of the kernel.
 *
 * How row invariance is reached (measured on OpenBLAS 0.3.21): most kernels for x86 sum an element
 * of the product in the same order wherever it lies, but they treat ragged edges apart, and those
 * for AVX-512 have others for small matrices (rows * outputs <= 1200). So rows are padded to a
 * multiple of STEP; narrow products start at MAT_ROWS rows, and the narrowest are cut into calls
 * of exactly MAT_ROWS rows. Two kernels cannot be used: Haswell and Zen, in which every second
 * group of six rows takes another path. Sandybridge, at two thirds of their speed, is taken for
 * such processors. */
#include "policy/mat.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"

enum {
    STEP = 24,   /* rows of a wide product are a multiple of this */
    WIDE = 51,   /* outputs from which STEP rows are past the small-matrix kernels */
    NARROW = 25, /* outputs up to which even MAT_ROWS rows may meet them */
    DOT_LANES = 16,
};

static void
apply_rows(float *y, const float *x, const float *w, size_t rows, size_t in, size_t out) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)out, (int)in, 1.0f, x,
                (int)in, w, (int)in, 0.0f, y, (int)out);
}

void
mat_apply(float *y, const float *x, const float *w, size_t rows, size_t in, size_t out) {
    if (!rows || !out)
        return;
    if (out >= WIDE) {
        apply_rows(y, x, w, (rows + STEP - 1) / STEP * STEP, in, out);
    } else if (out > NARROW) {
        apply_rows(y, x, w, mat_padded(rows), in, out);
    } else {
        for (size_t r = 0; r < rows; r += MAT_ROWS)
            apply_rows(y + r * out, x + r * in, w, MAT_ROWS, in, out);
    }
}

void
mat_back_input(float *dx, const float *dy, const float *w, size_t rows, size_t in, size_t out) {
    if (rows && in && out)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)in, (int)out, 1.0f,
                    dy, (int)out, w, (int)in, 0.0f, dx, (int)in);
}

void
mat_back_weight(float *dw, const float *dy, const float *x, size_t rows, size_t in, size_t out) {
    if (rows && in && out)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in, (int)rows, 1.0f, dy,
                    (int)out, x, (int)in, 1.0f, dw, (int)in);
}

void
mat_plain_apply(float *y, const float *x, const float *w, size_t rows, size_t in, size_t out) {
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < out; o++)
            y[r * out + o] = mat_dot(x + r * in, w + o * in, in);
}

void
mat_plain_back_input(float *dx, const float *dy, const float *w, size_t rows, size_t in,
                     size_t out) {
    memset(dx, 0, rows * in * sizeof *dx);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < out; o++)
            for (size_t i = 0; i < in; i++)
                dx[r * in + i] += dy[r * out + o] * w[o * in + i];
}

void
mat_plain_back_weight(float *dw, const float *dy, const float *x, size_t rows, size_t in,
                      size_t out) {
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < out; o++)
            for (size_t i = 0; i < in; i++)
                dw[o * in + i] += dy[r * out + o] * x[r * in + i];
}

float
mat_dot(const float *a, const float *b, size_t n) {
    float lane[DOT_LANES] = {0};
    size_t i = 0;
    for (; i + DOT_LANES <= n; i += DOT_LANES)
        for (size_t l = 0; l < DOT_LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i + l < n; l++)
        lane[l] += a[i + l] * b[i + l];
    for (size_t half = DOT_LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* The fastest kernel for this processor that keeps rows apart, or NULL to leave the choice to the
 * library. */
static const char *
best_kernel(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx"))
        return "Sandybridge";
    if (__builtin_cpu_supports("sse4.2"))
        return "Nehalem";
#endif
    return NULL;
}

void
mat_choose_kernel(char **argv) {
    static const char guard[] = "AGON_KERNEL_CHOSEN"; /* so that a failing choice cannot loop */
    const char *best = best_kernel();
    bool chosen = getenv("OPENBLAS_CORETYPE") || !best || !strcasecmp(best, mat_kernel());
    openblas_set_num_threads(1);
    /* With a number from the environment, the library does not even start its threads. */
    if ((chosen && getenv("OPENBLAS_NUM_THREADS")) || getenv(guard))
        return;
    if ((!chosen && setenv("OPENBLAS_CORETYPE", best, 1)) ||
        setenv("OPENBLAS_NUM_THREADS", "1", 1) || setenv(guard, "1", 1))
        return;
    execv("/proc/self/exe", argv);
    log_warn("mat", "cannot start again with OPENBLAS_CORETYPE=%s; going on with %s",
             chosen ? mat_kernel() : best, mat_kernel());
}

const char *
mat_kernel(void) {
    return openblas_get_corename();
}

enum { CHECK_ROWS = 7 * MAT_ROWS, BACK_ROWS = 100 };

struct trial { /* one shape under test */
    size_t out, in;
    float *x, *y, *once, *w; /* CHECK_ROWS rows each; w (out, in) */
    float *got, *want;       /* gradients, of BACK_ROWS rows or of w */
};

/* Entries within the rounding of `terms` products of numbers below 1. */
static int
check_close(const struct trial *t, const float *got, const float *want, size_t n, size_t terms,
            struct err *e) {
    double tolerance = 1e-5 * sqrt((double)terms);
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance))
            return err_set(e,
                           "matrix kernel %s: a (%zu, %zu) product is wrong (%g, not %g); set "
                           "OPENBLAS_CORETYPE to another kernel",
                           mat_kernel(), t->out, t->in, (double)got[i], (double)want[i]);
    return 0;
}

/* Rows [at, at + rows) of x, moved to the start, must give the same bits as in the large call. */
static int
check_rows(const struct trial *t, size_t at, size_t rows, struct err *e) {
    mat_apply(t->y, t->x + at * t->in, t->w, rows, t->in, t->out);
    if (memcmp(t->y, t->once + at * t->out, rows * t->out * sizeof *t->y))
        return err_set(
            e,
            "matrix kernel %s: a row of a (%zu, %zu) product changes with the other rows "
            "of the call; set OPENBLAS_CORETYPE to another kernel (SkylakeX, Sandybridge, "
            "Nehalem)",
            mat_kernel(), t->out, t->in);
    return 0;
}

/* Both gradients; w stands in for the outputs', which only have to be numbers below 1. */
static int
check_back(const struct trial *t, struct err *e) {
    const float *dy = t->w; /* (in, out) as well as (out, in) */
    size_t rows = t->in < BACK_ROWS ? t->in : BACK_ROWS, weights = t->out * t->in;
    mat_back_input(t->got, dy, t->w, rows, t->in, t->out);
    mat_plain_back_input(t->want, dy, t->w, rows, t->in, t->out);
    if (check_close(t, t->got, t->want, rows * t->in, t->out, e))
        return -1;
    memset(t->got, 0, weights * sizeof *t->got);
    memset(t->want, 0, weights * sizeof *t->want);
    mat_back_weight(t->got, dy, t->x, rows, t->in, t->out);
    mat_plain_back_weight(t->want, dy, t->x, rows, t->in, t->out);
    return check_close(t, t->got, t->want, weights, rows, e);
}

static int
check_trial(const struct trial *t, struct err *e) {
    mat_apply(t->once, t->x, t->w, CHECK_ROWS, t->in, t->out);
    mat_plain_apply(t->y, t->x, t->w, CHECK_ROWS, t->in, t->out);
    if (check_close(t, t->once, t->y, CHECK_ROWS * t->out, t->in, e) || check_back(t, e))
        return -1;
    static const size_t counts[] = {1,  2,  3,  7,  16, 23,  24,  25, 33,
                                    48, 49, 64, 96, 97, 144, 200, 240};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t last = (CHECK_ROWS - mat_padded(counts[i])); /* reads stay inside x */
        const size_t at[] = {0, 1, last / 2, last};
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            if (at[k] <= last && check_rows(t, at[k], counts[i], e))
                return -1;
    }
    return 0;
}

static float *
random_numbers(size_t n, struct rng *r) {
    float *p = mem_alloc(n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(rng_u32(r) >> 8) * 0x1p-23f - 1.0f;
    return p;
}

int
mat_check(const size_t (*shapes)[2], size_t n, struct err *e) {
    int rc = 0;
    struct rng r;
    rng_init(&r, 1, 0, RNG_TEST);
    for (size_t s = 0; s < n && !rc; s++) {
        struct trial t = {.out = shapes[s][0], .in = shapes[s][1]};
        size_t most = t.out > BACK_ROWS ? t.out : BACK_ROWS;
        t.x = random_numbers(CHECK_ROWS * t.in, &r);
        t.w = random_numbers(t.out * t.in, &r);
        t.y = mem_alloc(CHECK_ROWS * t.out * sizeof *t.y);
        t.once = mem_alloc(CHECK_ROWS * t.out * sizeof *t.once);
        t.got = mem_alloc(most * t.in * sizeof *t.got);
        t.want = mem_alloc(most * t.in * sizeof *t.want);
        rc = check_trial(&t, e);
        free(t.x);
        free(t.w);
        free(t.y);
        free(t.once);
        free(t.got);
        free(t.want);
    }
    return rc;
}
