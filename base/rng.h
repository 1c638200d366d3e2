/* Counter-based random streams: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011). A stream is named by (run seed, id, purpose); the n-th number of a stream
 * depends on nothing else, so the order in which matches are played does not matter. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/* One number per use of randomness; never renumber, stored matches depend on it. */
enum rng_purpose {
    RNG_DEAL = 1,     /* chance nodes; id = deal id */
    RNG_SEAT = 2,     /* + seat: sampling of that seat's replies; id = match id */
    RNG_SCHEDULE = 8, /* who meets whom; id = match id */
    RNG_INIT = 9,     /* first weights; id = tensor index */
    RNG_TEST = 15,
};

struct rng {
    uint32_t key[2];
    uint64_t id;
    uint64_t n; /* blocks drawn */
    uint32_t out[4];
    unsigned left; /* words of `out` not given out yet */
};

void rng_init(struct rng *r, uint64_t seed, uint64_t id, unsigned purpose);
uint32_t rng_u32(struct rng *r);
uint64_t rng_u64(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* uniform in [0, n), exactly; n >= 1 */
double rng_unit(struct rng *r);                /* uniform in [0, 1), 53 bits */
double rng_normal(struct rng *r);              /* standard normal (Box-Muller) */

/* The bare block function, for test vectors. */
void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
