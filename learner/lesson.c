/* The loss of a step, with T the sampled tokens and N = lesson_divisor():
 *
 *   1/N * sum_T [ term(token) - entropy * H(pi(. | context))
 *                 + magnet_kl * KL(pi(. | context) || magnet(. | context)) ]
 *
 * The last two are over the contexts in which tokens were sampled, once for each time, and are
 * differentiated with the visits held fixed. The warm-up has the first term only. */
#include "learner/lesson.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learner/sequence.h"
#include "policy/score.h"

struct lesson_work {
    struct score *score; /* of the head in use; made when first needed */
    bool score_is_warmup;
    struct visits visits; /* the chunk's sampled tokens */
    float *weight;        /* [3][cap]: of log-probabilities, entropies, divergences */
    size_t cap;
};

struct lesson *
lesson_new(const struct plan *p, size_t params) {
    struct lesson *b = mem_zero(1, sizeof *b);
    b->plan = p;
    b->count = params;
    b->grad = mem_aligned(params * sizeof(float));
    b->work = mem_zero(1, sizeof *b->work);
    return b;
}

void
lesson_free(struct lesson *b) {
    if (!b)
        return;
    score_free(b->work->score);
    visits_free(&b->work->visits);
    free(b->work->weight);
    free(b->work);
    baselines_free(&b->baselines);
    free(b->sample);
    free(b->game);
    free(b->grad);
    free(b);
}

/* The warm-up imitates a player that knows no nucleus: tokens outside it would have probability
 * 0. */
static void
choose_score(struct lesson *b) {
    struct lesson_work *w = b->work;
    if (w->score && w->score_is_warmup == b->warmup) {
        score_clear(w->score);
        return;
    }
    score_free(w->score);
    struct gen_head head = b->plan->head;
    if (b->warmup)
        head.top_p = 1;
    w->score = score_new(&b->plan->model, head, b->plan->threads);
    w->score_is_warmup = b->warmup;
}

void
lesson_begin(struct lesson *b, int64_t step, int64_t policy, const struct baselines *baselines) {
    b->warmup = plan_is_warmup(b->plan, step);
    b->objective = b->warmup ? &objective_imitate : b->plan->objective;
    b->policy = policy;
    baselines_copy(&b->baselines, baselines);
    b->nsample = 0;
    memset(b->grad, 0, b->count * sizeof(float));
    b->leased = b->matches = b->invalid = b->tokens = b->turns = 0;
    b->games = 0;
    b->nodes = 0;
    b->loss = b->entropy = b->kl = b->drift = 0;
    for (int seat = 0; seat < 2; seat++) {
        b->ret[seat] = b->advantage[seat] = 0;
        b->seats[seat] = 0;
    }
    choose_score(b);
    visits_clear(&b->work->visits);
}

/* ---- matches ---- */

static struct lesson_game *
game_of(struct lesson *b, int64_t id) {
    size_t i = 0;
    while (i < b->games && b->game[i].id < id)
        i++;
    if (i == b->games || b->game[i].id != id) {
        b->game = mem_grow(b->game, b->games + 1, sizeof *b->game);
        memmove(b->game + i + 1, b->game + i, (b->games - i) * sizeof *b->game);
        b->game[i] = (struct lesson_game){.id = id};
        b->games++;
    }
    return &b->game[i];
}

static void
add_sample(struct lesson *b, struct lesson_game *g, const struct store_sample *s) {
    if (b->nsample == b->sample_cap) {
        b->sample_cap = b->sample_cap ? 2 * b->sample_cap : 256;
        b->sample = mem_grow(b->sample, b->sample_cap, sizeof *b->sample);
    }
    b->sample[b->nsample++] = *s;
    b->ret[s->seat] += s->ret;
    b->advantage[s->seat] += s->advantage;
    b->seats[s->seat]++;
    g->ret[s->seat] += s->ret;
    g->seats[s->seat]++;
}

static int
check_kind(const struct lesson *b, const struct store_match *m, struct err *e) {
    enum match_kind want = b->warmup ? MATCH_WARMUP : MATCH_TRAIN;
    if (m->kind == want)
        return 0;
    return err_set(e,
                   "match %" PRId64 ": is a %s match, but the step it was leased for needs %s "
                   "matches (learner.warmup is %" PRId64 ")",
                   m->id, match_kind_name(m->kind), match_kind_name(want), b->plan->warmup);
}

int
lesson_match(struct lesson *b, const struct store_match *m, struct err *e) {
    if (m->kind != MATCH_TRAIN && m->kind != MATCH_WARMUP)
        return 0;
    if (check_kind(b, m, e) < 0)
        return -1;
    b->leased++;
    /* Where the game itself failed, nobody's play is to blame. */
    bool broken = (m->reason == END_CRASH || m->reason == END_TIME) && m->loser < 0;
    if (m->reason == END_ABORTED || broken)
        return 0;
    struct lesson_game *game = game_of(b, m->game);
    b->matches++;
    b->invalid += m->reason == END_INVALID;
    game->matches++;
    game->invalid += m->reason == END_INVALID;
    bool taken[2];
    double before[2] = {0, 0}, advantage[2] = {0, 0};
    for (int seat = 0; seat < 2; seat++)
        taken[seat] = b->warmup || m->policy[seat] == b->policy;
    if (!b->warmup)
        baselines_match(&b->baselines, m->game, m->payoff, taken, before, advantage);
    for (int seat = 0; seat < 2; seat++) {
        if (!taken[seat])
            continue;
        add_sample(b, game,
                   &(struct store_sample){.match = m->id,
                                          .seat = seat,
                                          .ret = m->payoff[seat],
                                          .baseline = before[seat],
                                          .advantage = advantage[seat]});
        struct sequence_rule rule = {
            .config = &b->plan->model, .conversation = b->plan->conversation, .imitate = b->warmup};
        int turns =
            sequence_add(b->work->score, &rule, m, seat, advantage[seat], &b->work->visits, e);
        if (turns < 0)
            return -1;
        b->turns += turns;
    }
    return 0;
}

/* ---- the gradient of a chunk ---- */

static void
make_weights(struct lesson_work *w, size_t nodes) {
    if (nodes > w->cap) {
        w->weight = mem_grow(w->weight, 3 * nodes, sizeof *w->weight);
        w->cap = nodes;
    }
    memset(w->weight, 0, 3 * w->cap * sizeof *w->weight);
}

/* Sums the terms over the chunk's tokens, and at each node the weights. */
static void
add_terms(struct lesson *b, bool magnet) {
    struct lesson_work *w = b->work;
    const float *logp = score_logp(w->score), *entropy = score_entropy(w->score);
    const float *kl = magnet ? score_kl(w->score) : NULL;
    float *w_logp = w->weight, *w_entropy = w_logp + w->cap, *w_kl = w_entropy + w->cap;
    const float entropy_weight = b->warmup ? 0 : (float)-b->plan->entropy;
    for (size_t i = 0; i < w->visits.n; i++) {
        const struct visit *v = &w->visits.at[i];
        struct objective_token token = {.logp = (double)logp[v->node],
                                        .behaviour = (double)v->behaviour,
                                        .advantage = v->advantage};
        struct objective_term term = b->objective->term(&token);
        b->loss += term.loss;
        b->drift += token.behaviour - token.logp;
        b->entropy += (double)entropy[v->parent];
        w_logp[v->node] += (float)term.weight;
        w_entropy[v->parent] += entropy_weight;
        if (magnet) {
            b->kl += (double)kl[v->parent];
            w_kl[v->parent] += (float)b->plan->magnet_kl;
        }
    }
}

void
lesson_chunk(struct lesson *b, const struct model *m, const struct model *magnet) {
    struct lesson_work *w = b->work;
    size_t nodes = score_nodes(w->score);
    if (w->visits.n) {
        bool with_magnet = !b->warmup && b->plan->magnet_kl > 0;
        bool with_entropy = !b->warmup && b->plan->entropy > 0;
        score_forward(w->score, m);
        if (with_magnet)
            score_reference(w->score, magnet);
        make_weights(w, nodes);
        add_terms(b, with_magnet);
        score_backward(w->score, m, w->weight, with_entropy ? w->weight + w->cap : NULL,
                       with_magnet ? w->weight + 2 * w->cap : NULL, b->grad);
    }
    b->nodes += nodes;
    b->tokens += (int64_t)w->visits.n;
    score_clear(w->score);
    visits_clear(&w->visits);
}

/* ---- what it came to ---- */

double
lesson_divisor(const struct lesson *b) {
    if (!b->objective->per_token)
        return b->plan->normalizer;
    return b->tokens ? (double)b->tokens : 1;
}

double
lesson_loss(const struct lesson *b) {
    double sum = b->loss;
    if (!b->warmup)
        sum += b->plan->magnet_kl * b->kl - b->plan->entropy * b->entropy;
    return sum / lesson_divisor(b);
}

static double
ratio(double sum, int64_t n) {
    return n ? sum / (double)n : (double)NAN;
}

/* Over the games, each with as many matches as it had. */
static double
mean_baseline(const struct lesson *b, int seat) {
    double sum = 0;
    if (b->games == 1)
        return baselines_value(&b->baselines, b->game[0].id, seat);
    for (size_t i = 0; i < b->games; i++)
        sum += (double)b->game[i].matches * baselines_value(&b->baselines, b->game[i].id, seat);
    return b->matches ? sum / (double)b->matches : 0;
}

void
lesson_metrics(const struct lesson *b, struct metrics *out) {
    for (int seat = 0; seat < 2; seat++) {
        out->at[METRIC_REWARD_0 + seat] = ratio(b->ret[seat], b->seats[seat]);
        if (b->warmup)
            continue;
        out->at[METRIC_ADVANTAGE_0 + seat] = ratio(b->advantage[seat], b->seats[seat]);
        out->at[METRIC_BASELINE_0 + seat] = mean_baseline(b, seat);
    }
    out->at[METRIC_LOSS] = lesson_loss(b);
    out->at[METRIC_ENTROPY] = ratio(b->entropy, b->tokens);
    if (!b->warmup) {
        out->at[METRIC_KL_SAMPLER] = ratio(b->drift, b->tokens);
        if (b->plan->magnet_kl > 0)
            out->at[METRIC_KL_MAGNET] = ratio(b->kl, b->tokens);
    }
    out->at[METRIC_REPLY_TOKENS] = ratio((double)b->tokens, b->turns);
    out->at[METRIC_INVALID] = ratio((double)b->invalid, b->matches);
    out->at[METRIC_MATCHES] = (double)b->matches;
    out->at[METRIC_TOKENS] = (double)b->tokens;
    out->at[METRIC_NODES] = (double)b->nodes;
}
