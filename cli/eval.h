/* Measuring a policy. Exactly, where the game can be solved: in every information set the prompt of
 * a match is built, the policy's distribution over whole replies is enumerated, and the replies are
 * read by the run's answer parser; the result is a strategy of the solver. Otherwise, and against
 * named players, by matches: seats balanced, the same deals for everybody. */
#ifndef CLI_EVAL_H
#define CLI_EVAL_H

#include <stdbool.h>

#include "arena/setup.h"
#include "cli/progress.h"
#include "games/solve.h"
#include "policy/model.h"

#define EVAL_EPSILON 1e-4 /* mass of replies that may stay unlisted in one information set */
#define EVAL_FIRST_ID \
    (1ll << 40) /* ids of evaluation matches and deals: far from those of training */

/* ---- exactly (cli/eval.c) ---- */

/* Does what the policy does depend on the information set only? If not, `why` is a sentence. */
bool eval_is_exact(const struct setup *s, bool scripted, const char **why);

/* What the snapshot does, as a strategy [solve_width]. *rest = greatest mass left unlisted in one
 * set (it counts as invalid). */
void eval_model(const struct setup *s, const struct solve *game, const struct model *m,
                double *strategy, double *rest);
/* The same of a scripted player. */
int eval_scripted(const struct setup *s, const struct solve *game, const char *name,
                  double *strategy, struct err *e);
/* Expected number of decisions of one match under the strategy; NaN where counting takes too
 * long. */
double eval_decisions(const struct setup *s, const struct solve *game, const double *strategy);

/* ---- by matches (cli/eval-matches.c) ---- */

struct eval_side { /* who plays: models, one drawn per pair of matches, or a scripted player */
    struct model **model; /* [models]; owned, emptied by eval_matches */
    int models;           /* 0: scripted */
    char name[72];        /* for people; a scripted player's own name */
};

struct eval_tally { /* as one seat */
    int matches, win, draw, loss;
    long long decisions;        /* of the measured */
    int invalid, invalid_other; /* matches that ended by a fault of the measured, of the opponent */
    int failed;                 /* matches that the game itself failed: in no other number */
    char why[400];              /* of the last of them */
    double payoff, squares;     /* sums of the zero-sum payoff, [-1, 1], and of its square */
};

/* Plays `matches` (rounded up to an even number) of a against b; tally[i] counts a's matches as
 * seat i. Takes the models of both. */
int eval_matches(const struct setup *s, struct eval_side *a, struct eval_side *b, int matches,
                 struct eval_tally tally[2], struct progress *p, struct err *e);
void eval_side_free(struct eval_side *side);

#endif
