/* Which setups can be measured exactly, the strategies of scripted players, and the length of
 * matches. The strategies of snapshots are in cli/eval-model.c. */
#include "cli/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/player.h"

enum { MAX_DEPTH = 200 };
static const long count_bound = 3000000;         /* positions that eval_decisions visits at most */
static const long program_bound = 30000;         /* the same where each is asked of a program */
static const size_t equilibrium_work = 20000000; /* node visits, roughly */

bool
eval_is_exact(const struct setup *s, bool scripted, const char **why) {
    struct prompt_uses uses = prompt_uses(s->prompt);
    *why = NULL;
    if (s->max_turns && s->max_turns < s->game->max_plies(&s->args))
        *why = "match.max_turns cuts matches short, which the solver does not model";
    else if (scripted)
        return true; /* it reads no prompt and says nothing */
    else if (s->game->say)
        *why = "players talk in this game, and what they say is no part of the solver's tree";
    else if (prompt_mode(s->prompt) == PROMPT_CONVERSATION)
        *why = "in conversation mode a reply depends on all that was said before; exact evaluation "
               "needs prompt.mode: observation";
    else if (uses.history || uses.news)
        *why = "{history} and {news} of the prompt tell more than the information set; exact "
               "evaluation needs a template without them";
    return !*why;
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
    long visited, most;
    double decisions;
};

static void
visit(struct walk *w, int depth, double reach) {
    const struct game *g = w->setup->game;
    unsigned char *state = w->stack + (size_t)depth * w->bytes, *child = state + w->bytes;
    int who = g->mover(state);
    if (++w->visited > w->most || who == GAME_OVER || depth + 1 >= MAX_DEPTH)
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
    bool asked = s->game->flags & GAME_HISTORY;
    struct walk w = {.setup = s,
                     .game = game,
                     .strategy = strategy,
                     .most = asked ? program_bound : count_bound};
    w.bytes = (s->game->state_bytes + 15) / 16 * 16;
    w.stack = mem_aligned(MAX_DEPTH * w.bytes);
    s->game->init(w.stack, &s->args);
    visit(&w, 0, 1);
    free(w.stack);
    return w.visited > w.most ? NAN : w.decisions;
}
