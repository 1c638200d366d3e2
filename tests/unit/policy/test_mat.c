#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/mat.h"
#include "policy/vec.h"

static float *
random_floats(size_t n, unsigned id) {
    float *p = mem_alloc((n + 1) * sizeof *p);
    struct rng r;
    rng_init(&r, 4, id, RNG_TEST);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)rng_normal(&r);
    return p;
}

/* Every entry within a rounding bound of the double-precision sum `want`. */
static void
close_all(const float *got, const double *want, size_t n, size_t terms) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= 2e-5 * sqrt((double)terms)))
            fail_msg("entry %zu: %g instead of %g", i, (double)got[i], want[i]);
}

static const size_t shapes[][3] = {/* rows, in, out */
                                   {1, 1, 1},    {1, 3, 2},     {2, 5, 7},    {5, 16, 16},
                                   {7, 64, 8},   {47, 48, 12},  {48, 32, 32}, {49, 33, 51},
                                   {50, 17, 50}, {63, 24, 25},  {64, 77, 26}, {96, 64, 264},
                                   {97, 86, 31}, {130, 128, 9}, {240, 31, 65}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void
products_are_right(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        size_t rows = shapes[k][0], in = shapes[k][1], out = shapes[k][2], room = mat_padded(rows);
        float *x = random_floats(room * in, 1), *w = random_floats(out * in, 2);
        float *y = random_floats(room * out, 3), *dx = random_floats(rows * in, 4);
        float *dw = random_floats(out * in, 5);
        double *ey = mem_zero(rows * out, sizeof *ey), *ex = mem_zero(rows * in, sizeof *ex);
        double *ew = mem_zero(out * in, sizeof *ew);
        for (int plain = 0; plain < 2; plain++) {
            (plain ? mat_plain_apply : mat_apply)(y, x, w, rows, in, out);
            for (size_t r = 0; r < rows; r++)
                for (size_t o = 0; o < out; o++) {
                    ey[r * out + o] = 0.0;
                    for (size_t i = 0; i < in; i++)
                        ey[r * out + o] += (double)x[r * in + i] * (double)w[o * in + i];
                }
            close_all(y, ey, rows * out, in);
            memset(ex, 0, rows * in * sizeof *ex);
            for (size_t i = 0; i < out * in; i++)
                ew[i] = (double)dw[i];
            for (size_t r = 0; r < rows; r++)
                for (size_t o = 0; o < out; o++)
                    for (size_t i = 0; i < in; i++) {
                        ex[r * in + i] += (double)y[r * out + o] * (double)w[o * in + i];
                        ew[o * in + i] += (double)y[r * out + o] * (double)x[r * in + i];
                    }
            (plain ? mat_plain_back_input : mat_back_input)(dx, y, w, rows, in, out);
            (plain ? mat_plain_back_weight : mat_back_weight)(dw, y, x, rows, in, out);
            close_all(dx, ex, rows * in, 10 * out * in);
            close_all(dw, ew, out * in, 10 * rows * in);
        }
        free(x);
        free(w);
        free(y);
        free(dx);
        free(dw);
        free(ey);
        free(ex);
        free(ew);
    }
}

/* A row has the same bits alone and among any number of others, at any place. */
static void
rows_do_not_see_each_other(void **state) {
    (void)state;
    enum { ROWS = 300 };
    static const size_t widths[][2] = {{32, 32},  {32, 96},  {64, 264}, {86, 32}, {128, 25},
                                       {128, 26}, {128, 51}, {128, 50}, {64, 8},  {40, 333}};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        size_t in = widths[k][0], out = widths[k][1];
        float *x = random_floats(ROWS * in, 1), *w = random_floats(out * in, 2);
        float *part = mem_alloc(mat_padded(ROWS) * in * sizeof *part);
        float *once = mem_alloc(mat_padded(ROWS) * out * sizeof *once);
        float *y = mem_alloc(mat_padded(ROWS) * out * sizeof *y);
        memset(part, 0, mat_padded(ROWS) * in * sizeof *part);
        memcpy(part, x, ROWS * in * sizeof *part);
        mat_apply(once, part, w, ROWS, in, out);
        for (size_t rows = 1; rows <= 130; rows++) {
            size_t at = rows * 7 % (ROWS - rows);
            memcpy(part, x + at * in, rows * in * sizeof *part);
            mat_apply(y, part, w, rows, in, out);
            assert_memory_equal(y, once + at * out, rows * out * sizeof *y);
        }
        free(x);
        free(w);
        free(part);
        free(once);
        free(y);
    }
}

static void
kernel_passes_its_check(void **state) {
    (void)state;
    static const size_t list[][2] = {{96, 32}, {32, 32}, {172, 32}, {32, 86}, {264, 32}, {16, 8}};
    struct err e = {.text = ""};
    if (mat_check(list, sizeof list / sizeof *list, &e))
        fail_msg("%s", e.text);
    assert_true(strlen(mat_kernel()) > 2);
}

static void
dot_is_right(void **state) {
    (void)state;
    float *a = random_floats(200, 1), *b = random_floats(200, 2);
    for (size_t n = 0; n < 200; n++) {
        double want = 0.0;
        for (size_t i = 0; i < n; i++)
            want += (double)a[i] * (double)b[i];
        assert_true(fabs((double)mat_dot(a, b, n) - want) < 1e-5 * (1.0 + sqrt((double)n)));
        assert_true(fabs((double)vec_dot(a, b, n) - want) < 1e-5 * (1.0 + sqrt((double)n)));
    }
    free(a);
    free(b);
}

static void
exponential_is_right(void **state) {
    (void)state;
    float e[LANES];
    for (double x = -87.2; x < 88.2; x += 0.00371) {
        vec_store(e, vec_exp(vec_all((float)x)));
        for (int i = 0; i < LANES; i++)
            assert_true(fabs((double)e[i] / exp((double)(float)x) - 1.0) < 2e-7);
    }
    const float edge[] = {0.0f, -0.0f, -INFINITY, -88.0f, -1e30f, 1e30f, INFINITY};
    const double want[] = {1.0, 1.0, 0.0, 0.0, 0.0, exp((double)88.3f), exp((double)88.3f)};
    for (int i = 0; i < 7; i++) {
        vec_store(e, vec_exp(vec_all(edge[i])));
        assert_true(fabs((double)e[3] - want[i]) <= 2e-7 * want[i]);
    }
}

static void
folds_are_right(void **state) {
    (void)state;
    float *a = random_floats(LANES, 9), top = a[0];
    double sum = 0.0;
    for (int i = 0; i < LANES; i++) {
        sum += (double)a[i];
        top = a[i] > top ? a[i] : top;
    }
    assert_true(fabs((double)vec_sum(vec_load(a)) - sum) < 1e-5);
    assert_true(vec_top(vec_load(a)) == top);
    assert_true(vec_sum(vec_load_some(a, 3, 0.0f)) == (a[0] + a[2]) + a[1]);
    free(a);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),      cmocka_unit_test(rows_do_not_see_each_other),
        cmocka_unit_test(kernel_passes_its_check), cmocka_unit_test(dot_is_right),
        cmocka_unit_test(exponential_is_right),    cmocka_unit_test(folds_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
