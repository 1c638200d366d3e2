/* Prompts of all information sets go through one generator, whose prefix tree then holds everything
 * that sets have in common. A first pass asks for one sampled reply in every set at once: it computes
 * the prompts and the likeliest replies in large batches, and the enumeration that follows finds
 * nearly all of what it needs in the tree. What is measured does not depend on that pass. */
#include "cli/eval.h"

#include <math.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "arena/verify.h"
#include "base/mem.h"
#include "policy/player.h"

enum { WARM_SLOTS = 480, MAX_REPLIES = 4096, MAX_DEPTH = 200 };
static const long count_bound = 3000000;         /* positions that eval_decisions visits at most */
static const size_t equilibrium_work = 20000000; /* node visits, roughly */

bool
eval_is_exact(const struct setup *s, const char **why) {
    struct prompt_uses uses = prompt_uses(s->prompt);
    *why = NULL;
    if (prompt_mode(s->prompt) == PROMPT_CONVERSATION)
        *why = "in conversation mode a reply depends on all that was said before; exact evaluation "
               "needs prompt.mode: observation";
    else if (uses.history || uses.news)
        *why = "{history} and {news} of the prompt tell more than the information set; exact "
               "evaluation needs a template without them";
    else if (s->max_turns && s->max_turns < s->game->max_plies(&s->args))
        *why = "match.max_turns cuts matches short, which the solver does not model";
    return !*why;
}

/* ---- snapshots ---- */

static void
all_prompts(const struct setup *s, const struct solve *game, struct tokens *all, size_t *at) {
    size_t sets = solve_sets(game);
    for (size_t i = 0; i < sets; i++) {
        const struct solve_info *info = solve_info(game, i);
        at[i] = all->n;
        verify_prompt(s, info->state, info->seat, 0, NULL, NULL, all);
    }
    at[sets] = all->n;
}

static void
warm(struct gen *gen, const struct setup *s, const struct tokens *all, const size_t *at,
     size_t sets) {
    int *slot = mem_zero(WARM_SLOTS, sizeof *slot);
    for (size_t first = 0; first < sets; first += WARM_SLOTS) {
        size_t n = sets - first < WARM_SLOTS ? sets - first : WARM_SLOTS;
        for (size_t i = 0; i < n; i++) {
            struct rng stream;
            rng_init(&stream, s->seed, first + i, RNG_SEAT);
            slot[i] = gen_open(gen);
            gen_feed(gen, slot[i], all->at + at[first + i], at[first + i + 1] - at[first + i]);
            gen_ask(gen, slot[i], &stream, s->max_reply);
        }
        while (gen_run(gen) > 0)
            ;
        for (size_t i = 0; i < n; i++)
            gen_close(gen, slot[i]);
    }
    free(slot);
}

/* With the parser `whole`, a reply whose beginning begins no legal word can only be invalid. */
struct listen {
    const struct setup *setup;
    const struct solve_info *info;
    struct gen_prune prune;
};

static bool
begins(const char *word, const char *said, size_t n) {
    size_t len = strlen(word);
    if (strncasecmp(word, said, n < len ? n : len))
        return false;
    for (; len < n; len++)
        if (!isspace((unsigned char)said[len]))
            return false;
    return true;
}

static bool
is_hopeless(void *arg, const int32_t *tokens, size_t n) {
    const struct listen *l = arg;
    const struct game *g = l->setup->game;
    char said[GAME_WORD], word[GAME_WORD];
    if (n >= sizeof said || n > GAME_WORD / 2)
        return false;
    size_t len = tokens_spell(tokens, n, said), from = 0;
    while (from < len && isspace((unsigned char)said[from]))
        from++;
    if (begins("<think>", said + from, len - from) || !strncmp(said + from, "<think>", 7))
        return false;
    for (int i = 0; i < l->info->actions; i++) {
        struct text t;
        text_init(&t, word, sizeof word);
        g->spell(l->info->state, l->info->action[i], &t);
        if (begins(word, said + from, len - from))
            return false;
    }
    return true;
}

/* What the search may leave out: nothing, where the parser finds words inside a reply or the game reads
 * them in its own way. */
static const struct gen_prune *
prune_of(const struct setup *s, const struct listen *l) {
    return !strcmp(s->answer->name, "whole") && !s->game->parse ? &l->prune : NULL;
}

/* Adds one reply's probability to the action that it means, or to the forfeit. */
static void
add_reply(const struct setup *s, const struct solve_info *info, const struct gen_outcomes *list,
          const struct gen_outcome *o, struct buf *text, double *p) {
    int chosen = info->actions;
    if (!o->cut) {
        char word[GAME_WORD * 4];
        struct text w;
        text_init(&w, word, sizeof word);
        buf_clear(text);
        buf_room(text, o->n + 1);
        size_t n = tokens_spell(list->tokens.at + o->at, o->n, (char *)text->at);
        int action = -1;
        if (!answer_extract(s->answer, (const char *)text->at, n, &w) && !w.cut)
            action = game_parse(s->game, info->state, word, w.len);
        for (int i = 0; i < info->actions && action >= 0; i++)
            if (info->action[i] == action)
                chosen = i;
    }
    p[chosen] += o->probability;
}

/* With r retries an invalid reply (probability q) is followed by the same question again: the chance of
 * each action grows by 1 + q + ... + q^r, that of a forfeit shrinks to q^(r+1). */
static void
retry(double *p, int actions, int retries) {
    double q = p[actions], factor = 1, power = q;
    for (int i = 0; i < retries; i++) {
        factor += power;
        power *= q;
    }
    for (int i = 0; i < actions; i++)
        p[i] *= factor;
    p[actions] = power;
}

void
eval_model(const struct setup *s, const struct solve *game, const struct model *m, double *strategy,
           double *rest) {
    size_t sets = solve_sets(game);
    size_t *at = mem_zero(sets + 1, sizeof *at);
    struct tokens all = {0};
    struct buf text = {0};
    struct gen *gen = gen_new(m, s->head, 0);
    struct listen listen = {.setup = s, .prune = {.hopeless = is_hopeless, .arg = &listen}};
    all_prompts(s, game, &all, at);
    warm(gen, s, &all, at, sets);
    *rest = 0;
    memset(strategy, 0, solve_width(game) * sizeof *strategy);
    for (size_t i = 0; i < sets; i++) {
        const struct solve_info *info = solve_info(game, i);
        double *p = strategy + info->at, sum = 0;
        struct gen_outcomes list = {0};
        listen.info = info;
        gen_enumerate(gen, all.at + at[i], at[i + 1] - at[i], s->max_reply, EVAL_EPSILON,
                      MAX_REPLIES, prune_of(s, &listen), &list);
        for (size_t k = 0; k < list.count; k++)
            add_reply(s, info, &list, &list.outcome[k], &text, p);
        /* The listed and the rest make 1 up to rounding; the strategy must make it exactly. */
        for (int k = 0; k < info->actions; k++)
            sum += p[k];
        p[info->actions] = sum < 1 ? 1 - sum : 0;
        if (list.rest > *rest)
            *rest = list.rest;
        retry(p, info->actions, s->retries);
        gen_outcomes_free(&list);
    }
    gen_free(gen);
    tokens_free(&all);
    buf_free(&text);
    free(at);
}

/* ---- scripted players ---- */

static int
minimax_strategy(const struct setup *s, const struct solve *game, double *strategy, struct err *e) {
    struct minimax *m = minimax_new(s->game, 5000000, e);
    int n = m ? 0 : -1;
    for (size_t i = 0; i < solve_sets(game) && n >= 0; i++) {
        const struct solve_info *info = solve_info(game, i);
        int best[GAME_MAX_ACTIONS];
        double value;
        n = minimax_optimal(m, info->state, best, &value, e);
        for (int k = 0, j = 0; k < info->actions; k++)
            if (j < n && info->action[k] == best[j]) {
                strategy[info->at + (size_t)k] = 1.0 / n;
                j++;
            }
    }
    minimax_free(m);
    return n < 0 ? -1 : 0;
}

/* A player that looks at the information set only and does not draw lots is asked once in each. */
static int
chosen_strategy(const struct setup *s, const struct solve *game, const char *name, double *strategy,
                struct err *e) {
    struct player *p = player_open(name, s->game, &s->args, e);
    if (!p)
        return -1;
    if (!strcmp(name, "minimax")) {
        player_close(p);
        return minimax_strategy(s, game, strategy, e);
    }
    for (size_t i = 0; i < solve_sets(game); i++) {
        const struct solve_info *info = solve_info(game, i);
        struct rng r;
        rng_init(&r, s->seed, i, RNG_SEAT);
        int action = player_choose(p, info->state, &r);
        for (int k = 0; k < info->actions; k++)
            if (info->action[k] == action)
                strategy[info->at + (size_t)k] = 1;
    }
    player_close(p);
    return 0;
}

static bool
not_yet(void *arg, int round, double nash_conv) {
    (void)round;
    return nash_conv > *(const double *)arg;
}

/* As the equilibrium player finds it (policy/players/equilibrium.c). */
static void
equilibrium_strategy(const struct setup *s, const struct solve *game, double *strategy) {
    size_t rounds = equilibrium_work / (solve_nodes(game) + 1);
    rounds = rounds < 200 ? 200 : rounds > 20000 ? 20000 : rounds;
    double enough = 1e-6 * s->game->unit(&s->args);
    solve_equilibrium(game, (int)rounds, strategy, not_yet, &enough);
}

int
eval_scripted(const struct setup *s, const struct solve *game, const char *name, double *strategy,
              struct err *e) {
    memset(strategy, 0, solve_width(game) * sizeof *strategy);
    if (!strcmp(name, "random"))
        solve_uniform(game, strategy);
    else if (!strcmp(name, "equilibrium"))
        equilibrium_strategy(s, game, strategy);
    else
        return chosen_strategy(s, game, name, strategy, e);
    return 0;
}

/* ---- expected length ---- */

struct walk {
    const struct setup *setup;
    const struct solve *game;
    const double *strategy;
    unsigned char *stack; /* [MAX_DEPTH] states */
    size_t bytes;
    long visited;
    double decisions;
};

static void
visit(struct walk *w, int depth, double reach) {
    const struct game *g = w->setup->game;
    unsigned char *state = w->stack + (size_t)depth * w->bytes, *child = state + w->bytes;
    int who = g->mover(state);
    if (++w->visited > count_bound || who == GAME_OVER || depth + 1 >= MAX_DEPTH)
        return;
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = 0;
    if (who == GAME_CHANCE) {
        n = g->chance(state, out);
    } else {
        const struct solve_info *info = solve_find(w->game, state);
        w->decisions += reach;
        n = info->actions;
        for (int i = 0; i < n; i++)
            out[i] = (struct game_outcome){info->action[i], w->strategy[info->at + (size_t)i]};
    }
    for (int i = 0; i < n; i++) {
        if (out[i].probability <= 0)
            continue;
        memcpy(child, state, w->bytes);
        g->apply(child, out[i].action);
        visit(w, depth + 1, reach * out[i].probability);
    }
}

double
eval_decisions(const struct setup *s, const struct solve *game, const double *strategy) {
    if (s->game->max_plies(&s->args) >= MAX_DEPTH - 1)
        return NAN;
    struct walk w = {.setup = s, .game = game, .strategy = strategy};
    w.bytes = (s->game->state_bytes + 15) / 16 * 16;
    w.stack = mem_aligned(MAX_DEPTH * w.bytes);
    s->game->init(w.stack, &s->args);
    visit(&w, 0, 1);
    free(w.stack);
    return w.visited > count_bound ? NAN : w.decisions;
}
