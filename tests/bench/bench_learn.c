/* Speed of learning: forward and backward pass over a batch of distinct sequences, every token
 * scored, and over a batch of matches that share their prompts. tests/bench/torch_learn.py is the
 * first of these in PyTorch. One thread is measured in processor time, so that other load matters
 * less. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "policy/mat.h"
#include "policy/score.h"

enum { SEQUENCES = 64, LENGTH = 128, ROUNDS = 10 };

static struct model *
make_model(int dim, int layers, int heads, int hidden) {
    struct model_config c = {.vocab = TOKEN_COUNT,
                             .dim = dim,
                             .layers = layers,
                             .heads = heads,
                             .kv_heads = heads,
                             .hidden = hidden,
                             .context = 256,
                             .tied = true,
                             .rope_theta = 10000.0f,
                             .norm_eps = 1e-5f};
    struct model *m = model_new(&c);
    model_init(m, 1, 0.02);
    return m;
}

/* Distinct sequences, all but their first tokens sampled. */
static void
add_distinct(struct score *s) {
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    for (int i = 0; i < SEQUENCES; i++) {
        int32_t token[LENGTH];
        for (int k = 0; k < LENGTH; k++)
            token[k] = (int32_t)rng_below(&r, 256);
        int at = score_add(s, -1, token, 1, false, NULL);
        score_add(s, at, token + 1, LENGTH - 1, true, NULL);
    }
}

/* Two thousand turns: one of 300 situations (a common start of 30 tokens, 40 of their own), a reply
 * of 5 tokens out of few. */
static void
add_matches(struct score *s) {
    struct rng r;
    rng_init(&r, 1, 2, RNG_TEST);
    for (int i = 0; i < 2000; i++) {
        int32_t token[75];
        int which = (int)rng_below(&r, 300), word = (int)rng_below(&r, 3);
        for (int k = 0; k < 70; k++)
            token[k] = k < 30 ? k : (which * 97 + k * (which + 3)) % 256;
        for (int k = 70; k < 75; k++)
            token[k] = k == 74 ? TOKEN_END : word * 20 + k;
        int at = score_add(s, -1, token, 70, false, NULL);
        score_add(s, at, token + 70, 5, true, NULL);
    }
}

static double
seconds(int threads) {
    return threads == 1 ? (double)clock() / CLOCKS_PER_SEC : (double)clock_mono_us() * 1e-6;
}

/* Seconds of the fastest round. */
static double
measure(const struct model *m, void (*add)(struct score *), int threads, size_t *nodes) {
    struct score *s = score_new(&m->c, (struct gen_head){1.0f, 1.0f}, threads);
    float *grad = mem_zero(m->count, sizeof *grad), *w = NULL;
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double start = seconds(threads);
        score_clear(s);
        add(s);
        score_forward(s, m);
        *nodes = score_nodes(s);
        w = mem_grow(w, *nodes, sizeof *w);
        for (size_t k = 0; k < *nodes; k++)
            w[k] = score_logp(s)[k] < 0.0f ? 1.0f : 0.0f;
        score_backward(s, m, w, NULL, NULL, grad);
        double spent = seconds(threads) - start;
        best = spent < best ? spent : best;
    }
    free(grad);
    free(w);
    score_free(s);
    return best;
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    for (int threads = 1; threads <= 2; threads++) {
        size_t nodes;
        struct model *m = make_model(128, 4, 4, 344), *small = make_model(64, 3, 4, 172);
        double spent = measure(m, add_distinct, threads, &nodes);
        printf("learn, dim 128, 4 layers, 64 x 128 distinct, %d threads: %.0f tokens/s\n", threads,
               (double)nodes / spent);
        spent = measure(small, add_matches, threads, &nodes);
        printf("learn, dim 64, 3 layers, 2000 turns of 75 tokens, %d threads: %.0f turns/s (%zu "
               "nodes, %.0f nodes/s)\n",
               threads, 2000.0 / spent, nodes, (double)nodes / spent);
        model_free(m);
        model_free(small);
    }
    return 0;
}
