#include "base/rng.h"

#include <math.h>

void
rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014): spreads near-by seeds over all keys. */
static uint64_t
mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void
rng_init(struct rng *r, uint64_t seed, uint64_t id, unsigned purpose) {
    uint64_t key = mix(mix(seed) ^ purpose);
    *r = (struct rng){.key = {(uint32_t)key, (uint32_t)(key >> 32)}, .id = id};
}

uint32_t
rng_u32(struct rng *r) {
    if (!r->left) {
        uint32_t counter[4] = {(uint32_t)r->n, (uint32_t)(r->n >> 32), (uint32_t)r->id,
                               (uint32_t)(r->id >> 32)};
        rng_philox(counter, r->key, r->out);
        r->n++;
        r->left = 4;
    }
    return r->out[4 - r->left--];
}

uint64_t
rng_u64(struct rng *r) {
    uint64_t low = rng_u32(r);
    return low | (uint64_t)rng_u32(r) << 32;
}

uint32_t
rng_below(struct rng *r, uint32_t n) {
    /* Lemire's multiply and reject: exact for every n. */
    uint64_t m = (uint64_t)rng_u32(r) * n;
    uint32_t floor = (0u - n) % n;
    while ((uint32_t)m < floor)
        m = (uint64_t)rng_u32(r) * n;
    return (uint32_t)(m >> 32);
}

double
rng_unit(struct rng *r) {
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

double
rng_normal(struct rng *r) {
    double u = 1.0 - rng_unit(r), v = rng_unit(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
