/* How strong players are, from sums of matches: the Bradley-Terry model (the chance that a beats b
 * is 1 / (1 + 10^((elo_b - elo_a) / 400))), fitted by maximum likelihood to all results at once, so
 * that the order of the matches does not matter. A draw counts as half a win. Every player has one
 * draw more against an average one, which keeps the rating of somebody who won everything
 * finite. */
#ifndef ARENA_RATINGS_H
#define ARENA_RATINGS_H

#include <stddef.h>

#define RATINGS_MOST 256 /* players */

struct rating_pair { /* matches of players a and b, both numbers from 0 */
    int a, b;
    double wins, draws, losses; /* seen from a */
};

struct rating {
    double elo, low, high; /* with its 95 % interval, both relative to the anchor */
    double matches, score; /* score: wins and half the draws, as a share of the matches */
    int group; /* players of different groups never met, not even by way of others: their
                            * ratings cannot be compared */
};

/* Fills out[players] (at most RATINGS_MOST). `anchor` is the player whose rating is 0 by
 * definition; -1: the mean of all is 0. Pairs of a player with itself, and numbers out of range,
 * are left out. */
void ratings_fit(const struct rating_pair *pair, size_t pairs, int players, int anchor,
                 struct rating *out);

/* Wilson's 95 % interval of a share: `part` of n. 0 and 1 when n is 0. */
void ratings_interval(double part, double n, double *low, double *high);

#endif
