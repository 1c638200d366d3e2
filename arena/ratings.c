/* Newton's method on the log-likelihood, which is concave: its Hessian's negative is positive
 * definite (the added draws see to that), is factored by Cholesky, and inverted for the
 * intervals. */
#include "arena/ratings.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

#define ELO (400 / 2.302585092994046) /* of one unit of the logistic scale */
#define Z95 1.959963984540054
#define ROUNDS 100
#define LONGEST_STEP 1.0 /* far from the maximum Newton's steps may be wild */
#define CLOSE 1e-10
#define EXTRA 1.0 /* matches against an average player that every player is given, drawn */

static double
chance(double a, double b) {
    return 1 / (1 + exp(b - a));
}

static bool
counts(const struct rating_pair *p, int players) {
    return p->a >= 0 && p->b >= 0 && p->a < players && p->b < players && p->a != p->b;
}

/* Gradient and negative Hessian [n * n] of the log-likelihood at r. */
static void
derive(const struct rating_pair *pair, size_t pairs, int n, const double *r, double *gradient,
       double *hessian) {
    for (int i = 0; i < n * n; i++)
        hessian[i] = 0;
    for (int i = 0; i < n; i++) {
        double p = chance(r[i], 0);
        gradient[i] = EXTRA * (0.5 - p);
        hessian[i * n + i] = EXTRA * p * (1 - p);
    }
    for (size_t k = 0; k < pairs; k++) {
        const struct rating_pair *x = &pair[k];
        if (!counts(x, n))
            continue;
        double matches = x->wins + x->draws + x->losses, p = chance(r[x->a], r[x->b]);
        double pull = x->wins + x->draws / 2 - matches * p, weight = matches * p * (1 - p);
        gradient[x->a] += pull;
        gradient[x->b] -= pull;
        hessian[x->a * n + x->a] += weight;
        hessian[x->b * n + x->b] += weight;
        hessian[x->a * n + x->b] -= weight;
        hessian[x->b * n + x->a] -= weight;
    }
}

/* In place: the lower triangle becomes L of L L^T. */
static void
factor(double *m, int n) {
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = m[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= m[i * n + k] * m[j * n + k];
            if (i == j)
                m[j * n + j] = sqrt(sum > 1e-12 ? sum : 1e-12);
            else
                m[i * n + j] = sum / m[j * n + j];
        }
    }
}

static void
solve(const double *l, int n, double *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
    for (int i = n; i-- > 0;) { /* by rows of L, too */
        x[i] /= l[i * n + i];
        for (int k = 0; k < i; k++)
            x[k] -= l[i * n + k] * x[i];
    }
}

static void
maximize(const struct rating_pair *pair, size_t pairs, int n, double *r, double *factored) {
    double *step = mem_zero((size_t)n, sizeof *step);
    for (int round = 0; round < ROUNDS; round++) {
        double most = 0;
        derive(pair, pairs, n, r, step, factored);
        factor(factored, n);
        solve(factored, n, step);
        for (int i = 0; i < n; i++)
            most = fmax(most, fabs(step[i]));
        double scale = most > LONGEST_STEP ? LONGEST_STEP / most : 1;
        for (int i = 0; i < n; i++)
            r[i] += scale * step[i];
        if (most < CLOSE)
            break;
    }
    free(step);
}

static void
invert(const double *factored, int n, double *inverse) {
    double *column = mem_zero((size_t)n, sizeof *column);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            column[i] = i == j;
        solve(factored, n, column);
        for (int i = 0; i < n; i++)
            inverse[i * n + j] = column[i];
    }
    free(column);
}

/* Ratings relative to the anchor, or to the mean, with the variance of that difference. */
static void
relate(const double *r, const double *covariance, int n, int anchor, struct rating *out) {
    double mean = 0, all = 0;
    for (int i = 0; i < n; i++)
        mean += r[i] / n;
    for (int i = 0; i < n * n; i++)
        all += covariance[i] / n / n;
    for (int i = 0; i < n; i++) {
        double row = 0, variance;
        for (int j = 0; j < n; j++)
            row += covariance[i * n + j] / n;
        if (anchor >= 0)
            variance = covariance[i * n + i] + covariance[anchor * n + anchor] -
                       2 * covariance[i * n + anchor];
        else
            variance = covariance[i * n + i] + all - 2 * row;
        double margin = Z95 * ELO * sqrt(variance > 0 ? variance : 0);
        out[i].elo = ELO * (r[i] - (anchor >= 0 ? r[anchor] : mean));
        out[i].low = out[i].elo - margin;
        out[i].high = out[i].elo + margin;
    }
}

static int
find_group(struct rating *out, int i) {
    while (out[i].group != i)
        i = out[i].group = out[out[i].group].group;
    return i;
}

static void
count_matches(const struct rating_pair *pair, size_t pairs, int n, struct rating *out) {
    for (int i = 0; i < n; i++)
        out[i] = (struct rating){.group = i};
    for (size_t k = 0; k < pairs; k++) {
        const struct rating_pair *x = &pair[k];
        double matches = x->wins + x->draws + x->losses;
        if (!counts(x, n) || !(matches > 0))
            continue;
        out[x->a].matches += matches;
        out[x->b].matches += matches;
        out[x->a].score += x->wins + x->draws / 2;
        out[x->b].score += x->losses + x->draws / 2;
        int a = find_group(out, x->a), b = find_group(out, x->b);
        out[a > b ? a : b].group = a > b ? b : a;
    }
    for (int i = 0; i < n; i++) {
        out[i].group = find_group(out, i);
        out[i].score = out[i].matches > 0 ? out[i].score / out[i].matches : 0;
    }
}

void
ratings_fit(const struct rating_pair *pair, size_t pairs, int players, int anchor,
            struct rating *out) {
    ensure(players >= 0 && players <= RATINGS_MOST && anchor < players);
    if (!players)
        return;
    size_t n = (size_t)players;
    double *r = mem_zero(n, sizeof *r);
    double *factored = mem_zero(n * n, sizeof *factored);
    double *covariance = mem_zero(n * n, sizeof *covariance);
    count_matches(pair, pairs, players, out);
    maximize(pair, pairs, players, r, factored);
    invert(factored, players, covariance);
    relate(r, covariance, players, anchor, out);
    free(r);
    free(factored);
    free(covariance);
}

void
ratings_interval(double part, double n, double *low, double *high) {
    *low = 0;
    *high = 1;
    if (!(n > 0))
        return;
    double p = part / n, z = Z95 * Z95 / n;
    double middle = (p + z / 2) / (1 + z);
    double margin = Z95 / (1 + z) * sqrt(p * (1 - p) / n + z / (4 * n));
    *low = part > 0 ? middle - margin : 0;
    *high = part < n ? middle + margin : 1;
}
