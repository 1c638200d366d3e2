/* Speed of generation, one thread, in processor time (so that other load matters less).
 *
 * "decode": 64 seats with contexts of their own sample on and on, so that nothing is found in the
 * prefix tree; beside it, the bare matrix products of the same rows. "cached": matches of a small
 * game whose few situations are all known; what is left is feeding, sampling and looking up. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "policy/gen.h"
#include "policy/mat.h"

enum { SEATS = 64, CONTEXT = 32, ROUNDS = 48, REPLY = 1 << 20 };

static const struct gen_head head = {.temperature = 1.0f, .top_p = 1.0f};

struct size {
    const char *name;
    int dim, layers, heads, hidden; /* half as many key heads, as in configs/ */
};
static const struct size sizes[] = {
    {"dim 32, 2 layers", 32, 2, 2, 86},
    {"dim 64, 3 layers", 64, 3, 4, 172},
    {"dim 128, 4 layers", 128, 4, 4, 344},
};

static struct model *
make_model(const struct size *s) {
    struct model_config c = {.vocab = TOKEN_COUNT,
                             .dim = s->dim,
                             .layers = s->layers,
                             .heads = s->heads,
                             .kv_heads = s->heads / 2,
                             .hidden = s->hidden,
                             .context = 2048,
                             .tied = true,
                             .rope_theta = 10000.0f,
                             .norm_eps = 1e-5f};
    struct model *m = model_new(&c);
    model_init(m, 1, 0.02);
    return m;
}

static double
seconds_since(clock_t start) {
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Rows per second of the products alone, SEATS rows a time. */
static double
bare(const struct model *m) {
    size_t dim = (size_t)m->c.dim, hidden = (size_t)m->c.hidden, wide = 2 * dim;
    wide = wide > 2 * hidden ? wide : 2 * hidden;
    wide = wide > TOKEN_COUNT ? wide : TOKEN_COUNT;
    float *x = mem_aligned(mat_padded(SEATS) * wide * sizeof *x);
    float *y = mem_aligned(mat_padded(SEATS) * wide * sizeof *y);
    for (size_t i = 0; i < mat_padded(SEATS) * wide; i++)
        x[i] = (float)(i % 7) - 3.0f;
    clock_t start = clock();
    for (int round = 0; round < ROUNDS; round++) {
        for (int l = 0; l < m->c.layers; l++) {
            const struct model_layer *w = &m->layer[l];
            mat_apply(y, x, w->wq, SEATS, dim, 2 * dim);
            mat_apply(y, x, w->wo, SEATS, dim, dim);
            mat_apply(y, x, w->gate, SEATS, dim, 2 * hidden);
            mat_apply(y, x, w->down, SEATS, hidden, dim);
        }
        mat_apply(y, x, m->head, SEATS, dim, TOKEN_COUNT);
    }
    double rate = SEATS * ROUNDS / seconds_since(start);
    free(x);
    free(y);
    return rate;
}

static void
ask(struct gen *g, int slot, uint64_t id) {
    struct rng stream;
    rng_init(&stream, 3, id, RNG_SEAT);
    gen_ask(g, slot, &stream, REPLY);
}

/* Tokens per second of SEATS seats that go on talking; a seat that said END is asked again. */
static double
decode(const struct model *m) {
    struct gen *g = gen_new(m, head, 0);
    int slot[SEATS];
    for (int i = 0; i < SEATS; i++) {
        int32_t context[CONTEXT];
        for (int k = 0; k < CONTEXT; k++)
            context[k] = (i * 31 + k * 7) % 256;
        slot[i] = gen_open(g);
        gen_feed(g, slot[i], context, CONTEXT);
        ask(g, slot[i], (uint64_t)i);
    }
    gen_run(g); /* the contexts */
    uint64_t before = gen_stats(g).sampled;
    clock_t start = clock();
    for (int round = 0; round < ROUNDS; round++)
        if (gen_run(g) < SEATS)
            for (int i = 0; i < SEATS; i++) {
                struct gen_reply r;
                if (gen_ready(g, slot[i], &r))
                    ask(g, slot[i], (uint64_t)(SEATS * (round + 1) + i));
            }
    double rate = (double)(gen_stats(g).sampled - before) / seconds_since(start);
    gen_free(g);
    return rate;
}

/* Tokens sampled per second when all is known: few contexts of 60 tokens, replies of few tokens
 * from a small set, a new slot for every reply. */
static double
cached(const struct model *m) {
    struct gen *g = gen_new(m, (struct gen_head){0.02f, 0.6f}, 0);
    uint64_t sampled = 0;
    double spent = 0.0;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        clock_t start = clock();
        uint64_t before = gen_stats(g).sampled;
        int slot[SEATS];
        for (int i = 0; i < SEATS; i++) {
            int32_t context[60];
            struct rng stream;
            for (int k = 0; k < 60; k++)
                context[k] = k < 40 ? k : (i % 12 * 5 + k) % 256;
            slot[i] = gen_open(g);
            gen_feed(g, slot[i], context, 60);
            rng_init(&stream, 3, (uint64_t)(round * SEATS + i), RNG_SEAT);
            gen_ask(g, slot[i], &stream, 6);
        }
        while (gen_run(g))
            continue;
        for (int i = 0; i < SEATS; i++)
            gen_close(g, slot[i]);
        if (round >= ROUNDS) {
            spent += seconds_since(start);
            sampled += gen_stats(g).sampled - before;
        }
    }
    gen_free(g);
    return (double)sampled / spent;
}

static double
best_of(double (*measure)(const struct model *), const struct model *m) {
    double best = 0.0;
    for (int i = 0; i < 20; i++) {
        double rate = measure(m);
        best = rate > best ? rate : best;
    }
    return best;
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct model *m = make_model(&sizes[i]);
        double products = best_of(bare, m), tokens = best_of(decode, m), known = best_of(cached, m);
        printf("decode, %s, 64 seats, %s: %.0f tokens/s, %.0f %% of the products alone (%.0f); all "
               "known: %.0f tokens/s\n",
               sizes[i].name, mat_kernel(), tokens, 100.0 * tokens / products, products, known);
        model_free(m);
    }
    return 0;
}
