#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/mat.h"
#include "policy/score.h"
#include "tests/unit/policy/naive.h"

static const struct gen_head plain = {.temperature = 1.0f, .top_p = 1.0f};

static const struct model_config configs[] = {
    {.vocab = 264,
     .dim = 32,
     .layers = 2,
     .heads = 4,
     .kv_heads = 2,
     .hidden = 86,
     .context = 160,
     .tied = true,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-5f},
    {.vocab = 264,
     .dim = 64,
     .layers = 3,
     .heads = 2,
     .kv_heads = 2,
     .hidden = 172,
     .context = 160,
     .tied = true,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-5f},
    {.vocab = 301,
     .dim = 20,
     .layers = 2,
     .heads = 2,
     .kv_heads = 1,
     .hidden = 33,
     .context = 160,
     .tied = false,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-5f},
};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* A policy that ends its replies now and then: the row of END is pulled towards the others'
 * mean. */
static struct model *
make_policy(const struct model_config *c) {
    struct model *m = naive_model(c, 11, 0.25);
    for (int i = 0; i < c->dim; i++)
        m->head[TOKEN_END * c->dim + i] *= 2.0f;
    return m;
}

enum { MATCHES = 150, TURNS = 3, MOST_REPLY = 7, MOST_TURN = 30 };

struct turn {
    int32_t fed[MOST_TURN], said[MOST_REPLY];
    float logp[MOST_REPLY];
    size_t nfed, nsaid;
    bool cut;
};
struct match {
    struct turn turn[TURNS];
};

/* What match `i` is fed in turn `t`: prefixes are shared between many matches. */
static void
make_turns(struct match *m, int i) {
    struct rng r;
    for (int t = 0; t < TURNS; t++) {
        struct turn *u = &m->turn[t];
        rng_init(&r, 1, (uint64_t)(t ? i % 40 : i % 9), RNG_TEST);
        u->nfed = 3 + rng_below(&r, MOST_TURN - 3);
        for (size_t k = 0; k < u->nfed; k++)
            u->fed[k] = (int32_t)rng_below(&r, 90);
        u->fed[0] = t ? TOKEN_NEWS : TOKEN_BOS;
        u->fed[1] = i % 3;
        u->fed[u->nfed - 1] = TOKEN_REPLY;
    }
}

/* Plays matches first, first + step, ... with at most `together` at once; a match plays its turns
 * one after the other in one slot. */
static void
play(const struct model *m, struct gen_head head, struct match *match, int together,
     size_t max_nodes, bool backwards) {
    struct gen *g = gen_new(m, head, max_nodes);
    int slot[MATCHES], playing[MATCHES], turn[MATCHES], n = 0, next = 0;
    while (n || next < MATCHES) {
        while (n < together && next < MATCHES) {
            int i = backwards ? MATCHES - 1 - next : next;
            next++;
            make_turns(&match[i], i);
            playing[n] = i;
            turn[n] = -1;
            slot[n++] = gen_open(g);
        }
        for (int k = n - 1; k >= 0; k--) {
            struct match *a = &match[playing[k]];
            struct gen_reply reply;
            struct rng stream;
            if (turn[k] >= 0) {
                if (!gen_ready(g, slot[k], &reply))
                    continue;
                struct turn *u = &a->turn[turn[k]];
                u->nsaid = reply.n;
                u->cut = reply.cut;
                memcpy(u->said, reply.tokens, reply.n * sizeof *u->said);
                memcpy(u->logp, reply.logp, reply.n * sizeof *u->logp);
            }
            if (++turn[k] == TURNS) {
                gen_close(g, slot[k]);
                slot[k] = slot[--n];
                playing[k] = playing[n];
                turn[k] = turn[n];
                continue;
            }
            struct turn *u = &a->turn[turn[k]];
            rng_init(&stream, 99, (uint64_t)(playing[k] * TURNS + turn[k]), RNG_SEAT);
            gen_feed(g, slot[k], u->fed, u->nfed / 2);
            gen_feed(g, slot[k], u->fed + u->nfed / 2, u->nfed - u->nfed / 2);
            gen_ask(g, slot[k], &stream, MOST_REPLY);
        }
        gen_run(g);
    }
    gen_free(g);
}

/* Adds all matches to a scorer in a shuffled order and compares log-probabilities bit by bit. */
static void
scored_equal(const struct model *m, struct gen_head head, const struct match *match, int threads) {
    struct score *s = score_new(&m->c, head, threads);
    static int32_t node[MATCHES][TURNS][MOST_REPLY];
    for (int k = 0; k < MATCHES; k++) {
        int i = (k * 77 + 5) % MATCHES, at = -1;
        for (int t = 0; t < TURNS; t++) {
            const struct turn *u = &match[i].turn[t];
            at = score_add(s, at, u->fed, u->nfed, false, NULL);
            at = score_add(s, at, u->said, u->nsaid, true, node[i][t]);
        }
    }
    score_forward(s, m);
    for (int i = 0; i < MATCHES; i++)
        for (int t = 0; t < TURNS; t++)
            for (size_t k = 0; k < match[i].turn[t].nsaid; k++)
                assert_memory_equal(&score_logp(s)[node[i][t][k]], &match[i].turn[t].logp[k],
                                    sizeof(float));
    score_free(s);
}

static struct match first[MATCHES], second[MATCHES];

static void
same_replies(const struct match *a, const struct match *b) {
    for (int i = 0; i < MATCHES; i++)
        for (int t = 0; t < TURNS; t++) {
            const struct turn *u = &a[i].turn[t], *v = &b[i].turn[t];
            assert_int_equal(u->nsaid, v->nsaid);
            assert_int_equal(u->cut, v->cut);
            assert_memory_equal(u->said, v->said, u->nsaid * sizeof *u->said);
            assert_memory_equal(u->logp, v->logp, u->nsaid * sizeof *u->logp);
        }
}

/* The same bits whatever plays beside, in whatever order, however small the tree, and in
 * training. */
static void
replies_depend_on_nothing_else(void **state) {
    (void)state;
    const struct gen_head heads[] = {plain, {0.6f, 1.0f}, {1.0f, 0.8f}};
    for (int c = 0; c < CONFIGS; c++) {
        struct model *m = make_policy(&configs[c]);
        play(m, heads[c], first, 64, 0, false);
        int ends = 0, cuts = 0;
        for (int i = 0; i < MATCHES; i++)
            for (int t = 0; t < TURNS; t++)
                first[i].turn[t].cut ? cuts++ : ends++;
        assert_true(ends > 5 && cuts > 5);
        play(m, heads[c], second, 1, 0, false);
        same_replies(first, second);
        play(m, heads[c], second, 17, 0, true);
        same_replies(first, second);
        play(m, heads[c], second, 5, 64, false);
        same_replies(first, second);
        scored_equal(m, heads[c], first, 1 + c % 2);
        model_free(m);
    }
}

static const int32_t opening[] = {TOKEN_BOS, 'a', 'b', TOKEN_REPLY};

static void
samples_follow_the_distribution(void **state) {
    (void)state;
    enum { DRAWS = 40000 };
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, plain, 0);
    double *params = naive_params(m), *logp = mem_zero(4 * 264, sizeof *logp);
    static int count[264];
    memset(count, 0, sizeof count);
    naive_logp(m, params, opening, 4, 1.0, logp);
    for (int i = 0; i < DRAWS; i++) {
        struct rng stream;
        struct gen_reply reply;
        int slot = gen_open(g);
        rng_init(&stream, 5, (uint64_t)i, RNG_SEAT);
        gen_feed(g, slot, opening, 4);
        gen_ask(g, slot, &stream, 1);
        assert_int_equal(gen_run(g), 0);
        assert_true(gen_ready(g, slot, &reply));
        assert_int_equal(reply.n, 1);
        assert_true(reply.cut == (reply.tokens[0] != TOKEN_END));
        count[reply.tokens[0]]++;
        assert_true(fabs((double)reply.logp[0] - logp[3 * 264 + reply.tokens[0]]) < 1e-4);
        gen_close(g, slot);
    }
    double chi = 0.0;
    for (int k = 0; k < 264; k++) {
        double want = DRAWS * exp(logp[3 * 264 + k]);
        chi += (count[k] - want) * (count[k] - want) / want;
    }
    /* 263 degrees of freedom: mean 263, deviation 23. */
    assert_true(chi < 263 + 5 * 23);
    assert_int_equal(gen_stats(g).computed, 4);
    assert_int_equal(gen_stats(g).sampled, DRAWS);
    free(params);
    free(logp);
    gen_free(g);
    model_free(m);
}

static void
greedy_takes_the_best(void **state) {
    (void)state;
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, (struct gen_head){.temperature = 0.0f, .top_p = 1.0f}, 0);
    double *params = naive_params(m), *logp = mem_zero(16 * 264, sizeof *logp);
    struct rng stream;
    struct gen_reply reply;
    int32_t path[16];
    int slot = gen_open(g);
    rng_init(&stream, 1, 1, RNG_SEAT);
    gen_feed(g, slot, opening, 4);
    gen_ask(g, slot, &stream, 8);
    while (gen_run(g))
        continue;
    assert_true(gen_ready(g, slot, &reply));
    memcpy(path, opening, sizeof opening);
    for (size_t k = 0; k < reply.n; k++) {
        naive_logp(m, params, path, 4 + (int)k, 1.0, logp);
        const double *row = logp + (3 + k) * 264;
        int best = 0;
        for (int i = 1; i < 264; i++)
            if (row[i] > row[best])
                best = i;
        assert_int_equal(reply.tokens[k], best);
        assert_true(reply.logp[k] == 0.0f);
        path[4 + k] = best;
    }
    free(params);
    free(logp);
    gen_free(g);
    model_free(m);
}

/* Replies end where the context does, and a context that is too long gives empty replies. */
static void
context_is_a_limit(void **state) {
    (void)state;
    struct model_config c = configs[0];
    c.context = 10;
    struct model *m = make_policy(&c);
    memset(m->head + TOKEN_END * c.dim, 0, (size_t)c.dim * sizeof(float));
    struct gen *g = gen_new(m, plain, 0);
    struct rng stream;
    struct gen_reply reply;
    int32_t filler[12] = {0};
    rng_init(&stream, 1, 1, RNG_SEAT);
    for (size_t fed = 1; fed <= 12; fed++) {
        int slot = gen_open(g);
        gen_feed(g, slot, filler, fed);
        gen_ask(g, slot, &stream, 100);
        while (gen_run(g))
            continue;
        assert_true(gen_ready(g, slot, &reply));
        size_t room = fed < 10 ? 10 - fed : 0;
        assert_true(reply.n == room ? reply.cut || reply.tokens[room - 1] == TOKEN_END
                                    : reply.n < room && reply.tokens[reply.n - 1] == TOKEN_END);
        gen_feed(g, slot, filler, 3);
        gen_ask(g, slot, &stream, 5);
        while (gen_run(g))
            continue;
        assert_true(gen_ready(g, slot, &reply));
        if (fed >= 10)
            assert_true(reply.n == 0 && reply.cut);
        gen_close(g, slot);
    }
    gen_free(g);
    model_free(m);
}

static void
closing_forgets_a_waiting_slot(void **state) {
    (void)state;
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, plain, 0);
    struct rng stream;
    struct gen_reply reply;
    rng_init(&stream, 1, 1, RNG_SEAT);
    int a = gen_open(g), b = gen_open(g);
    assert_int_not_equal(a, b);
    gen_feed(g, a, opening, 4);
    gen_feed(g, b, opening, 3);
    gen_ask(g, a, &stream, 4);
    gen_ask(g, b, &stream, 4);
    assert_false(gen_ready(g, a, &reply));
    gen_close(g, a);
    assert_int_equal(gen_open(g), a);
    assert_false(gen_ready(g, a, &reply));
    while (gen_run(g))
        continue;
    assert_true(gen_ready(g, b, &reply));
    assert_false(gen_ready(g, a, &reply));
    gen_free(g);
    model_free(m);
}

/* Weights that training has driven out of all bounds give some reply, within the vocabulary. */
static void
spoilt_weights_do_no_harm(void **state) {
    (void)state;
    const float spoilt[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 0.0f};
    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++)
        for (int cut = 0; cut < 2; cut++) {
            struct model *m = make_policy(&configs[0]);
            for (size_t i = k % 2; i < m->count; i += 2)
                m->params[i] = spoilt[k];
            struct gen *g = gen_new(m, (struct gen_head){1.0f, cut ? 0.5f : 1.0f}, 0);
            struct rng stream;
            struct gen_reply reply;
            struct gen_outcomes all;
            int slot = gen_open(g);
            rng_init(&stream, 1, k, RNG_SEAT);
            gen_feed(g, slot, opening, 4);
            gen_ask(g, slot, &stream, 6);
            while (gen_run(g))
                continue;
            assert_true(gen_ready(g, slot, &reply) && reply.n >= 1 && reply.n <= 6);
            for (size_t i = 0; i < reply.n; i++)
                assert_true(reply.tokens[i] >= 0 && reply.tokens[i] < configs[0].vocab);
            gen_enumerate(g, opening, 4, 3, 1e-3, 20, NULL, &all);
            gen_outcomes_free(&all);
            gen_free(g);
            model_free(m);
        }
}

/* However much is fed, the tree stays near its bound, and open slots live on. */
static void
tree_is_bounded(void **state) {
    (void)state;
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, plain, 500);
    struct rng r, stream;
    struct gen_reply reply;
    int stays = gen_open(g);
    gen_feed(g, stays, opening, 4);
    rng_init(&r, 1, 1, RNG_TEST);
    rng_init(&stream, 1, 1, RNG_SEAT);
    size_t most = 0;
    for (int i = 0; i < 100; i++) {
        int32_t context[50];
        for (int k = 0; k < 50; k++)
            context[k] = (int32_t)rng_below(&r, 200);
        int slot = gen_open(g);
        gen_feed(g, slot, context, 50);
        gen_ask(g, slot, &stream, 3);
        while (gen_run(g))
            continue;
        gen_close(g, slot);
        most = gen_stats(g).nodes > most ? gen_stats(g).nodes : most;
    }
    assert_true(most > 400 && most < 700);
    gen_ask(g, stays, &stream, 3);
    while (gen_run(g))
        continue;
    assert_true(gen_ready(g, stays, &reply) && reply.n > 0);
    gen_free(g);
    model_free(m);
}

/* Replies that begin with an even byte are of no use. */
static bool
is_even(void *arg, const int32_t *tokens, size_t n) {
    size_t *calls = arg;
    assert_true(n >= 1 && tokens[n - 1] != TOKEN_END);
    ++*calls;
    return tokens[0] % 2 == 0;
}

static void
hopeless_beginnings_are_not_followed(void **state) {
    (void)state;
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, (struct gen_head){0.35f, 0.9f}, 0);
    struct gen_outcomes all, odd;
    size_t calls = 0;
    struct gen_prune prune = {is_even, &calls};
    gen_enumerate(g, opening, 4, 2, 1e-9, 100000, NULL, &all);
    gen_enumerate(g, opening, 4, 2, 1e-9, 100000, &prune, &odd);
    double even = 0.0, sum = odd.rest + odd.hopeless;
    for (size_t i = 0; i < all.count; i++)
        if (all.tokens.at[all.outcome[i].at] % 2 == 0)
            even += all.outcome[i].probability;
    for (size_t i = 0; i < odd.count; i++) {
        int32_t token = odd.tokens.at[odd.outcome[i].at];
        assert_true(token % 2 || token == TOKEN_END);
        sum += odd.outcome[i].probability;
    }
    assert_true(calls > 0 && even > 0.01);
    assert_true(fabs(odd.hopeless - even) < 1e-5);
    assert_true(fabs(sum - 1.0) < 1e-6);
    gen_outcomes_free(&all);
    gen_outcomes_free(&odd);
    gen_free(g);
    model_free(m);
}

/* Two bytes and END, each as likely as its weight says. */
static void
enumeration_is_the_whole_distribution(void **state) {
    (void)state;
    struct model *m = make_policy(&configs[0]);
    struct gen *g = gen_new(m, (struct gen_head){.temperature = 0.35f, .top_p = 0.9f}, 0);
    struct gen_outcomes all;
    gen_enumerate(g, opening, 4, 3, 1e-9, 100000, NULL, &all);
    double sum = all.rest;
    assert_true(all.rest < 1e-6);
    for (size_t i = 0; i < all.count; i++) {
        const struct gen_outcome *o = &all.outcome[i];
        sum += o->probability;
        assert_true(o->n >= 1 && o->n <= 3 && o->at + o->n <= all.tokens.n);
        assert_true(o->cut == (all.tokens.at[o->at + o->n - 1] != TOKEN_END));
    }
    assert_true(fabs(sum - 1.0) < 1e-5);
    /* Probabilities are those that sampling reports. */
    for (int i = 0; i < 200; i++) {
        struct rng stream;
        struct gen_reply reply;
        double logp = 0.0, listed = -1.0;
        int slot = gen_open(g);
        rng_init(&stream, 8, (uint64_t)i, RNG_SEAT);
        gen_feed(g, slot, opening, 4);
        gen_ask(g, slot, &stream, 3);
        while (gen_run(g))
            continue;
        assert_true(gen_ready(g, slot, &reply));
        for (size_t k = 0; k < reply.n; k++)
            logp += (double)reply.logp[k];
        for (size_t k = 0; k < all.count; k++)
            if (all.outcome[k].n == reply.n &&
                !memcmp(all.tokens.at + all.outcome[k].at, reply.tokens, reply.n * sizeof(int32_t)))
                listed = all.outcome[k].probability;
        assert_true(fabs(listed - exp(logp)) < 1e-5);
        gen_close(g, slot);
    }
    gen_outcomes_free(&all);
    gen_enumerate(g, opening, 4, 3, 0.0, 5, NULL, &all);
    assert_int_equal(all.count, 5);
    for (size_t i = 1; i < 5; i++)
        assert_true(all.outcome[i].probability <= 1.0);
    assert_true(all.rest > 0.0);
    gen_outcomes_free(&all);
    gen_free(g);
    model_free(m);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_depend_on_nothing_else),
        cmocka_unit_test(samples_follow_the_distribution),
        cmocka_unit_test(greedy_takes_the_best),
        cmocka_unit_test(context_is_a_limit),
        cmocka_unit_test(closing_forgets_a_waiting_slot),
        cmocka_unit_test(enumeration_is_the_whole_distribution),
        cmocka_unit_test(hopeless_beginnings_are_not_followed),
        cmocka_unit_test(tree_is_bounded),
        cmocka_unit_test(spoilt_weights_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
