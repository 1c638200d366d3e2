/* The gradient of a step against finite differences of the stated loss; chunks; what a step
 * measures; what is refused; and that a policy learns the word that wins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learner/lesson.h"
#include "learner/update.h"
#include "policy/mat.h"
#include "policy/score.h"
#include "tests/unit/learner/bandit.h"
#include "tests/unit/learner/fixture.h"

#define POLICY 5
#define GAME 3

/* Options that use every term of the loss. */
static const char *const all_terms[] = {"learner.entropy=0.3", "learner.magnet.kl=0.2",
                                        "sampling.temperature=1.5", NULL};

static struct state *
first_state(const struct plan *p) {
    struct state *s = state_new(p);
    state_init(s, p);
    return s;
}

static void
take(struct lesson *b, const struct bandit *m, size_t from, size_t to) {
    struct err e = {.text = ""};
    for (size_t i = from; i < to; i++) {
        if (lesson_match(b, &m->at[i].m, &e) < 0)
            fail_msg("%s", e.text);
    }
}

static void
whole(struct lesson *b, const struct bandit *m, const struct state *s, int64_t step) {
    struct baselines none = {.kind = b->plan->baseline, .decay = b->plan->baseline_decay};
    lesson_begin(b, step, POLICY, &none);
    take(b, m, 0, m->n);
    lesson_chunk(b, s->model, s->magnet);
}

/* The loss as docs/learning.md states it, sample by sample, without any merging: one tree a
 * turn. */
static double
stated_loss(const struct plan *p, const struct bandit *m, const struct state *s) {
    struct baselines b = {.kind = p->baseline, .decay = p->baseline_decay};
    struct score *sc = score_new(&p->model, p->head, 1);
    double sum = 0, before[2], advantage[2] = {0, 0};
    for (size_t i = 0; i < m->n; i++) {
        const struct store_match *x = &m->at[i].m;
        baselines_match(&b, x->game, x->payoff, (const bool[2]){true, true}, before, advantage);
        for (size_t k = 0; k < x->nturns; k++) {
            const struct store_turn *t = &x->turn[k];
            int32_t nodes[BANDIT_REPLY];
            score_clear(sc);
            int at = score_add(sc, -1, t->prompt, t->nprompt, false, NULL);
            score_add(sc, at, t->tokens, t->ntokens, true, nodes);
            score_forward(sc, s->model);
            score_reference(sc, s->magnet);
            for (size_t j = 0; j < t->ntokens; j++) {
                int context = j ? nodes[j - 1] : at;
                sum -= advantage[t->seat] * (double)score_logp(sc)[nodes[j]];
                sum -= p->entropy * (double)score_entropy(sc)[context];
                sum += p->magnet_kl * (double)score_kl(sc)[context];
            }
        }
    }
    score_free(sc);
    baselines_free(&b);
    return sum / p->normalizer;
}

static void
disturb(struct model *m, double size) {
    struct rng r;
    rng_init(&r, 8, 8, RNG_TEST);
    for (size_t i = 0; i < m->count; i++)
        m->params[i] += (float)(size * rng_normal(&r));
}

/* Directional derivatives: along the gradient itself, and along random directions. */
static void
gradient_of_the_stated_loss(void **state) {
    (void)state;
    struct plan p = fixture_plan(all_terms);
    struct state *s = first_state(&p);
    disturb(s->magnet, 0.05);
    struct bandit m = bandit_play(s->model, p.head, 1, 20, GAME, POLICY);
    struct lesson *b = lesson_new(&p, s->model->count);
    whole(b, &m, s, 1);
    assert_true(fabs(lesson_loss(b) - stated_loss(&p, &m, s)) < 1e-5);
    float *theta = mem_copy(s->model->params, s->model->count * sizeof(float));
    struct rng r;
    rng_init(&r, 2, 2, RNG_TEST);
    for (int trial = 0; trial < 4; trial++) {
        double *way = mem_zero(s->model->count, sizeof *way), length = 0, slope = 0;
        for (size_t i = 0; i < s->model->count; i++) {
            way[i] = trial ? rng_normal(&r) : (double)b->grad[i];
            length += way[i] * way[i];
        }
        length = sqrt(length);
        double loss[2];
        const double h = 2e-2;
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < s->model->count; i++)
                s->model->params[i] = theta[i] + (float)((side ? h : -h) * way[i] / length);
            loss[side] = stated_loss(&p, &m, s);
        }
        for (size_t i = 0; i < s->model->count; i++)
            slope += way[i] / length * (double)b->grad[i] / p.normalizer;
        double measured = (loss[1] - loss[0]) / (2 * h);
        assert_true(fabs(slope - measured) < 2e-4 + 0.01 * fabs(measured));
        free(way);
    }
    free(theta);
    lesson_free(b);
    bandit_free(&m);
    state_free(s);
}

static void
chunks_add_up(void **state) {
    (void)state;
    struct plan p = fixture_plan(all_terms);
    struct state *s = first_state(&p);
    disturb(s->magnet, 0.05);
    struct bandit m = bandit_play(s->model, p.head, 1, 64, GAME, POLICY);
    struct lesson *a = lesson_new(&p, s->model->count), *b = lesson_new(&p, s->model->count),
                  *c = lesson_new(&p, s->model->count);
    whole(a, &m, s, 1);
    struct baselines none = {.kind = p.baseline, .decay = p.baseline_decay};
    struct lesson *cut[] = {b, c};
    for (int i = 0; i < 2; i++) {
        lesson_begin(cut[i], 1, POLICY, &none);
        for (size_t at = 0; at < m.n; at += 24) {
            take(cut[i], &m, at, at + 24 < m.n ? at + 24 : m.n);
            lesson_chunk(cut[i], s->model, s->magnet);
        }
    }
    size_t bytes = s->model->count * sizeof(float);
    assert_memory_equal(b->grad, c->grad, bytes);
    double most = 0, gap = 0;
    for (size_t i = 0; i < s->model->count; i++) {
        most = fmax(most, fabs((double)a->grad[i]));
        gap = fmax(gap, fabs((double)a->grad[i] - (double)b->grad[i]));
    }
    assert_true(most > 0.1 && gap < 1e-5 * most);
    assert_true(fabs(lesson_loss(a) - lesson_loss(b)) < 1e-9);
    assert_int_equal(a->nsample, b->nsample);
    for (size_t i = 0; i < a->nsample; i++)
        assert_true(a->sample[i].advantage == b->sample[i].advantage);
    assert_true(a->nodes < b->nodes);
    lesson_free(a);
    lesson_free(b);
    lesson_free(c);
    bandit_free(&m);
    state_free(s);
}

static void
what_is_measured(void **state) {
    (void)state;
    struct plan p = fixture_plan((const char *[]){"learner.batch=32", NULL});
    struct state *s = first_state(&p);
    struct bandit m = bandit_play(s->model, p.head, 1, 32, GAME, POLICY);
    m.at[4].m.reason = END_ABORTED;
    m.at[5].m.kind = MATCH_EVAL;
    m.at[6].m.policy[1] = POLICY + 1; /* another policy's seat is not learned from */
    struct lesson *b = lesson_new(&p, s->model->count);
    whole(b, &m, s, 1);
    int64_t tokens = 0, invalid = 0;
    for (size_t i = 0; i < m.n; i++) {
        const struct store_match *x = &m.at[i].m;
        if (i == 4 || i == 5)
            continue;
        invalid += x->reason == END_INVALID;
        for (size_t k = 0; k < x->nturns; k++)
            tokens += i == 6 && k == 1 ? 0 : (int64_t)x->turn[k].ntokens;
    }
    assert_int_equal(b->leased, 31);
    assert_int_equal(b->matches, 30);
    assert_int_equal(b->nsample, 59);
    assert_int_equal(b->tokens, tokens);
    struct metrics x;
    metrics_clear(&x);
    lesson_metrics(b, &x);
    assert_true(x.at[METRIC_KL_SAMPLER] == 0); /* the very bits that were sampled from */
    assert_true(isnan(x.at[METRIC_KL_MAGNET]));
    assert_true(x.at[METRIC_MATCHES] == 30);
    assert_true(fabs(x.at[METRIC_INVALID] - (double)invalid / 30) < 1e-12);
    assert_true(x.at[METRIC_ENTROPY] > 1 && x.at[METRIC_ENTROPY] < log(TOKEN_COUNT));
    assert_true(x.at[METRIC_NODES] > 8);
    assert_true(isfinite(x.at[METRIC_BASELINE_0]) && x.at[METRIC_BASELINE_0] != 0);
    struct buf text = {0};
    metrics_put(&text, &x);
    assert_non_null(strstr(buf_text(&text), "\"kl_sampler\":0,"));
    assert_non_null(strstr(buf_text(&text), "\"kl_magnet\":null,"));
    buf_free(&text);
    lesson_free(b);
    bandit_free(&m);
    state_free(s);
}

/* Averages are each game's own; the baseline that is shown is their mean. */
static void
two_games(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    struct state *s = first_state(&p);
    struct bandit m = bandit_play(s->model, p.head, 1, 32, GAME, POLICY);
    for (size_t i = 0; i < m.n; i += 3)
        m.at[i].m.game = GAME + 4;
    struct lesson *b = lesson_new(&p, s->model->count);
    whole(b, &m, s, 1);
    assert_int_equal(b->games, 2);
    assert_int_equal(b->game[0].id, GAME);
    assert_int_equal(b->game[1].id, GAME + 4);
    assert_int_equal(b->game[0].matches + b->game[1].matches, b->matches);
    assert_int_equal(b->game[0].invalid + b->game[1].invalid, b->invalid);
    assert_int_equal(b->baselines.n, 4);
    struct metrics x;
    metrics_clear(&x);
    lesson_metrics(b, &x);
    for (int seat = 0; seat < 2; seat++) {
        double ret = b->game[0].ret[seat] + b->game[1].ret[seat], mean = 0;
        for (int i = 0; i < 2; i++)
            mean += baselines_value(&b->baselines, b->game[i].id, seat) *
                    (double)b->game[i].matches / (double)b->matches;
        assert_true(fabs(ret - b->ret[seat]) < 1e-9);
        assert_true(fabs(x.at[METRIC_BASELINE_0 + seat] - mean) < 1e-9);
    }
    lesson_free(b);
    bandit_free(&m);
    state_free(s);
}

static void
expect_error(struct lesson *b, const struct store_match *m, const char *words) {
    struct err e = {.text = ""};
    struct baselines none = {.kind = b->plan->baseline, .decay = b->plan->baseline_decay};
    lesson_begin(b, 1, POLICY, &none);
    assert_int_equal(lesson_match(b, m, &e), -1);
    assert_non_null(strstr(e.text, words));
}

static void
bad_rows_are_errors(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    struct state *s = first_state(&p);
    struct lesson *b = lesson_new(&p, s->model->count);
    struct bandit m = bandit_play(s->model, p.head, 77, 1, GAME, POLICY);
    struct bandit_match *x = m.at;
    int32_t *token = x->tokens[0], keep = *token;
    for (int i = 0; i < 2; i++) {
        *token = i ? -1 : TOKEN_COUNT;
        expect_error(b, &x->m, "match 77, turn 0: a token id is outside");
    }
    *token = keep;
    int32_t big[64] = {0};
    x->turn[0].prompt = big;
    x->turn[0].nprompt = 64;
    expect_error(b, &x->m, "context of 16");
    x->turn[0].nprompt = 0;
    expect_error(b, &x->m, "without a prompt");
    x->m.kind = MATCH_WARMUP;
    expect_error(b, &x->m, "learner.warmup is 0");
    lesson_free(b);
    bandit_free(&m);
    state_free(s);
}

/* The weights, magnet and moments of a refused step are those before it. */
static void
expect_refused(const struct plan *p, struct bandit *m, struct state *s) {
    struct lesson *b = lesson_new(p, s->model->count);
    size_t bytes = s->model->count * sizeof(float);
    float *before[] = {mem_copy(s->model->params, bytes), mem_copy(s->magnet->params, bytes),
                       mem_copy(s->moment[0], bytes), mem_copy(s->moment[1], bytes)};
    whole(b, m, s, 1);
    double norm;
    assert_false(update_apply(s, b, p, 1, &norm));
    const float *after[] = {s->model->params, s->magnet->params, s->moment[0], s->moment[1]};
    for (int i = 0; i < 4; i++) {
        assert_memory_equal(before[i], after[i], bytes);
        free(before[i]);
    }
    assert_int_equal(s->step, 1);
    assert_int_equal(s->updates, 0);
    lesson_free(b);
}

static void
not_finite_is_refused(void **state) {
    (void)state;
    struct plan p = fixture_plan((const char *[]){"learner.clip=0", NULL});
    struct state *s = first_state(&p);
    struct bandit m = bandit_play(s->model, p.head, 1, 16, GAME, POLICY);
    struct bandit_match *x = &m.at[9];
    double payoff = x->m.payoff[0];
    const double bad[] = {(double)NAN, (double)INFINITY, 1e300, 1e25};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        x->m.payoff[0] = bad[i];
        expect_refused(&p, &m, s);
    }
    x->m.payoff[0] = payoff;
    s->model->params[3] = 1e30f;
    s->model->params[0] = (float)NAN;
    expect_refused(&p, &m, s);
    bandit_free(&m);
    state_free(s);
}

/* The probability of the winning word, both seats together. */
static double
probability(const struct plan *p, const struct state *s) {
    struct score *sc = score_new(&p->model, p->head, 1);
    double sum = 0;
    for (int seat = 0; seat < 2; seat++) {
        int32_t prompt[] = {TOKEN_BOS, TOKEN_VIEW, '0' + seat, TOKEN_REPLY};
        int32_t reply[] = {'a', TOKEN_END}, nodes[2];
        int at = score_add(sc, -1, prompt, 4, false, NULL);
        score_add(sc, at, reply, 2, true, nodes);
        score_forward(sc, s->model);
        sum += 0.5 * exp((double)score_logp(sc)[nodes[0]] + (double)score_logp(sc)[nodes[1]]);
        score_clear(sc);
    }
    score_free(sc);
    return sum;
}

struct run {
    double start, warm, end; /* probability of the winning word */
    char snapshot[HASH_HEX], state[HASH_HEX];
    double loss;
};

static void
learn_bandit(const char *const *options, struct run *out) {
    struct plan p = fixture_plan(options);
    struct state *s = first_state(&p);
    struct lesson *b = lesson_new(&p, s->model->count);
    struct baselines base = {.kind = p.baseline, .decay = p.baseline_decay};
    char run[64];
    fixture_folder(run);
    struct err e = {.text = ""};
    out->start = probability(&p, s);
    for (int64_t step = 1; step <= p.steps; step++) {
        bool warm = plan_is_warmup(&p, step);
        int64_t first = 1 + (step - 1) * p.batch;
        struct bandit m = warm
                              ? bandit_random(first, (size_t)p.batch, GAME, 1)
                              : bandit_play(s->model, p.head, first, (size_t)p.batch, GAME, POLICY);
        lesson_begin(b, step, POLICY, &base);
        for (size_t at = 0; at < m.n; at += (size_t)p.chunk) {
            take(b, &m, at, at + (size_t)p.chunk < m.n ? at + (size_t)p.chunk : m.n);
            lesson_chunk(b, s->model, s->magnet);
        }
        double norm;
        assert_true(update_apply(s, b, &p, step, &norm));
        baselines_copy(&base, &b->baselines);
        if (step == p.warmup) {
            out->warm = probability(&p, s);
            assert_int_equal(base.n, 0);
            assert_int_equal(s->updates, 0);
            assert_memory_equal(s->magnet->params, s->model->params,
                                s->model->count * sizeof(float));
        }
        bandit_free(&m);
    }
    out->loss = lesson_loss(b);
    out->end = probability(&p, s);
    assert_int_equal(state_save(s, &p, run, &e), 0);
    memcpy(out->snapshot, s->snapshot, HASH_HEX);
    memcpy(out->state, s->hash, HASH_HEX);
    baselines_free(&base);
    lesson_free(b);
    state_free(s);
    fixture_remove(run);
}

static void
learns_the_winning_word(void **state) {
    (void)state;
    const char *const options[] = {"learner.steps=60", "learner.warmup=20", "learner.chunk=24",
                                   "learner.warmup_lr=0.02", NULL};
    struct run a, b;
    learn_bandit(options, &a);
    assert_true(a.start < 0.01);
    assert_true(a.warm > 0.4 && a.warm < 0.6); /* the random player's half */
    assert_true(a.end > 0.95);
    learn_bandit(options, &b);
    assert_string_equal(a.snapshot, b.snapshot);
    assert_string_equal(a.state, b.state);
    assert_true(a.loss == b.loss);
}

/* A nucleus is no obstacle to imitation: tokens outside it must be learned too. */
static void
warmup_with_a_nucleus(void **state) {
    (void)state;
    const char *const options[] = {"learner.steps=20", "learner.warmup=20", "sampling.top_p=0.5",
                                   "learner.warmup_lr=0.02", NULL};
    struct run r;
    learn_bandit(options, &r);
    assert_true(isfinite(r.loss) && r.loss < 1);
}

static void
the_magnet_follows(void **state) {
    (void)state;
    struct plan p = fixture_plan((const char *[]){"learner.magnet.rate=0.25", NULL});
    struct state *s = first_state(&p);
    disturb(s->magnet, 0.1);
    struct bandit m = bandit_play(s->model, p.head, 1, 16, GAME, POLICY);
    size_t bytes = s->model->count * sizeof(float);
    float *magnet = mem_copy(s->magnet->params, bytes), *params = mem_copy(s->model->params, bytes);
    struct lesson *b = lesson_new(&p, s->model->count);
    whole(b, &m, s, 1);
    double norm, moved = 0;
    assert_true(update_apply(s, b, &p, 1, &norm));
    for (size_t i = 0; i < s->model->count; i++) {
        double want = 0.75 * (double)magnet[i] + 0.25 * (double)s->model->params[i];
        assert_true(fabs((double)s->magnet->params[i] - want) < 1e-6);
        moved = fmax(moved, fabs((double)s->model->params[i] - (double)params[i]));
    }
    assert_true(moved > 0.5 * p.lr && moved < 1.01 * p.lr); /* AdamW's first step */
    free(magnet);
    free(params);
    lesson_free(b);
    bandit_free(&m);
    state_free(s);
}

/* The gradient is divided and then cut to its largest length: SGD shows it as it is. */
static void
clipping(void **state) {
    (void)state;
    const char *const clips[] = {"learner.clip=0", "learner.clip=0.01"};
    for (int i = 0; i < 2; i++) {
        struct plan p = fixture_plan(
            (const char *[]){"learner.optimizer=sgd", "learner.lr=0.5", clips[i], NULL});
        struct state *s = first_state(&p);
        struct bandit m = bandit_play(s->model, p.head, 1, 16, GAME, POLICY);
        float *old = mem_copy(s->model->params, s->model->count * sizeof(float));
        struct lesson *b = lesson_new(&p, s->model->count);
        whole(b, &m, s, 1);
        double norm, sum = 0;
        assert_true(update_apply(s, b, &p, 1, &norm));
        for (size_t k = 0; k < s->model->count; k++)
            sum += pow((double)s->model->params[k] - (double)old[k], 2);
        assert_true(norm > 0.02);
        assert_true(fabs(sqrt(sum) / (0.5 * (i ? 0.01 : norm)) - 1) < 1e-3);
        free(old);
        lesson_free(b);
        bandit_free(&m);
        state_free(s);
    }
}

static void
threads_do_not_matter(void **state) {
    (void)state;
    const char *const one[] = {"learner.steps=8", "learner.warmup=4", "learner.magnet.kl=0.1",
                               NULL};
    const char *const four[] = {"learner.steps=8", "learner.warmup=4", "learner.magnet.kl=0.1",
                                "learner.threads=4", NULL};
    struct run a, b;
    learn_bandit(one, &a);
    learn_bandit(four, &b);
    assert_string_equal(a.state, b.state);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_the_stated_loss),
        cmocka_unit_test(chunks_add_up),
        cmocka_unit_test(what_is_measured),
        cmocka_unit_test(two_games),
        cmocka_unit_test(bad_rows_are_errors),
        cmocka_unit_test(not_finite_is_refused),
        cmocka_unit_test(learns_the_winning_word),
        cmocka_unit_test(warmup_with_a_nucleus),
        cmocka_unit_test(the_magnet_follows),
        cmocka_unit_test(clipping),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
