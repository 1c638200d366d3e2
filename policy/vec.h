/* Sixteen floats at a time, in the compiler's portable vectors: one instruction on AVX-512, several
 * on less. No result depends on the width of the processor or on the compiler: every operation is
 * per lane, sums fold in a fixed order, and products are fused with sums only where vec_fma() says
 * so (the build sets -ffp-contract=off). It does depend on whether the processor fuses at all. */
#ifndef POLICY_VEC_H
#define POLICY_VEC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

/* All functions here are inlined; how vectors would be passed does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

enum { LANES = 16 };
typedef float vec __attribute__((vector_size(64)));
typedef int32_t vec_int __attribute__((vector_size(64)));

#define VEC_INLINE static inline __attribute__((always_inline))

VEC_INLINE vec
vec_all(float x) {
    return (vec){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

VEC_INLINE vec
vec_load(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

VEC_INLINE void
vec_store(float *p, vec v) {
    memcpy(p, &v, sizeof v);
}

/* The first n lanes (n <= 16) from p, the others `rest`. */
VEC_INLINE vec
vec_load_some(const float *p, size_t n, float rest) {
    vec v = vec_all(rest);
    if (n == LANES) /* the usual numbers, without a call */
        memcpy(&v, p, sizeof v);
    else if (n == LANES / 2)
        memcpy(&v, p, LANES / 2 * sizeof *p);
    else
        memcpy(&v, p, n * sizeof *p);
    return v;
}

VEC_INLINE void
vec_store_some(float *p, vec v, size_t n) {
    if (n == LANES)
        memcpy(p, &v, sizeof v);
    else if (n == LANES / 2)
        memcpy(p, &v, LANES / 2 * sizeof *p);
    else
        memcpy(p, &v, n * sizeof *p);
}

/* a * b + c, rounded once where the processor can. */
VEC_INLINE vec
vec_fma(vec a, vec b, vec c) {
#if defined(__AVX512F__)
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    __m256 x[2], y[2], z[2];
    memcpy(x, &a, sizeof a);
    memcpy(y, &b, sizeof b);
    memcpy(z, &c, sizeof c);
    z[0] = _mm256_fmadd_ps(x[0], y[0], z[0]);
    z[1] = _mm256_fmadd_ps(x[1], y[1], z[1]);
    memcpy(&c, z, sizeof c);
    return c;
#else
    return a * b + c;
#endif
}

/* Lane by lane: a where mask is set, else b. */
VEC_INLINE vec
vec_pick(vec_int mask, vec a, vec b) {
    return (vec)((mask & (vec_int)a) | (~mask & (vec_int)b));
}

VEC_INLINE vec
vec_max(vec a, vec b) {
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b); /* the same, in one instruction */
#else
    return vec_pick(a > b, a, b);
#endif
}

VEC_INLINE vec
vec_min(vec a, vec b) {
#if defined(__AVX512F__)
    return (vec)_mm512_min_ps((__m512)a, (__m512)b);
#else
    return vec_pick(a < b, a, b);
#endif
}

#define VEC_FOLD(v, with)                                                                         \
    do {                                                                                          \
        v = with(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, \
                                            6, 7));                                               \
        v = with(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9,   \
                                            10, 11));                                             \
        v = with(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15,   \
                                            12, 13));                                             \
        v = with(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12,   \
                                            15, 14));                                             \
    } while (0)

VEC_INLINE vec
vec_plus(vec a, vec b) {
    return a + b;
}

VEC_INLINE float
vec_sum(vec v) {
    VEC_FOLD(v, vec_plus);
    return v[0];
}

VEC_INLINE float
vec_top(vec v) {
    VEC_FOLD(v, vec_max);
    return v[0];
}

/* e^x to about 1e-7 of its value: x = n ln 2 + r, a polynomial in r (Cephes' expf), times 2^n.
 * Below -87.3 the result is exactly 0 (also for -infinity), above 88.3 it stays at e^88.3. */
VEC_INLINE vec
vec_exp(vec x) {
    const vec round = vec_all(12582912.0f); /* 1.5 * 2^23: adding it rounds to a whole number */
    vec_int tiny = x < vec_all(-87.3f);
    x = vec_min(x, vec_all(88.3f));
    vec t = vec_fma(x, vec_all(1.44269504088896341f), round);
    vec n = t - round;
    vec r = vec_fma(n, vec_all(-0.693359375f), x);
    r = vec_fma(n, vec_all(2.12194440e-4f), r);
    vec p = vec_all(1.9875691500e-4f);
    p = vec_fma(p, r, vec_all(1.3981999507e-3f));
    p = vec_fma(p, r, vec_all(8.3334519073e-3f));
    p = vec_fma(p, r, vec_all(4.1665795894e-2f));
    p = vec_fma(p, r, vec_all(1.6666665459e-1f));
    p = vec_fma(p, r, vec_all(5.0000001201e-1f));
    p = vec_fma(p, r * r, r + vec_all(1.0f));
    vec_int power = ((vec_int)t - (vec_int)round + 127) << 23;
    return vec_pick(tiny, vec_all(0.0f), p * (vec)power);
}

/* Sums of n terms over sixteen lanes. */
VEC_INLINE float
vec_dot(const float *a, const float *b, size_t n) {
    vec sum = vec_all(0.0f);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum = vec_fma(vec_load(a + i), vec_load(b + i), sum);
    if (i < n)
        sum = vec_fma(vec_load_some(a + i, n - i, 0.0f), vec_load_some(b + i, n - i, 0.0f), sum);
    return vec_sum(sum);
}

#endif
