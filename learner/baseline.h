/* Role-conditioned advantages: for each (game, role) an exponential moving average of that
 * role's returns, b <- decay * b + (1 - decay) * R, starting at 0. The advantage of a return is
 * R - b with the average as it was before the match. Pure: no clock, no files; matches are given
 * in id order. */
#ifndef LEARNER_BASELINE_H
#define LEARNER_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum baseline_kind {
    BASELINE_NONE,   /* the advantage is the return */
    BASELINE_SHARED, /* one average per game, whoever plays which role */
    BASELINE_ROLE,   /* one average per game and role */
};
#define BASELINE_ROLE_SHARED (-1) /* the `role` of a shared average */

struct baseline {
    int64_t game;
    int role;
    double value;
    int64_t count; /* returns taken in */
};
struct baselines {
    enum baseline_kind kind;
    double decay;
    struct baseline *at; /* owned; ascending by (game, role) */
    size_t n;
};

/* "none", "shared" or "role"; -1 for any other word. */
int baseline_kind_find(const char *name, enum baseline_kind *kind);

void baselines_free(struct baselines *b);
void baselines_copy(struct baselines *to, const struct baselines *from);
/* Sets an average, as found in the database. */
void baselines_set(struct baselines *b, const struct baseline *row);
/* The average that a role is measured against now; 0 when there is none yet. */
double baselines_value(const struct baselines *b, int64_t game, int role);
/* One match. `taken[seat]` says whose return counts (the seats that learn). Fills the baseline
 * and the advantage of each taken seat, both from before the match, then takes the returns in.
 * Both seats of a match are measured before either is taken in: a seat must not be measured
 * against its own outcome. */
void baselines_match(struct baselines *b, int64_t game, const double ret[2], const bool taken[2],
                     double before[2], double advantage[2]);

#endif
