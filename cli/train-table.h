/* The table that `agon train` prints: one row for each game of each evaluation. */
#ifndef CLI_TRAIN_TABLE_H
#define CLI_TRAIN_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"

#define TRAIN_AGAINST_MOST 8 /* opponents that are shown; the database has all */

struct train_against { /* shares of the matches, 0 to 1 */
    char name[48];
    double win, loss;
};

struct train_row { /* one game; what was not measured is NAN */
    int64_t step;
    char game[CONF_MAX_SPEC]; /* canonical */
    double nash_conv, mixture, invalid;
    bool exact; /* nash_conv and mixture, else `against` */
    struct train_against against[TRAIN_AGAINST_MOST];
    int nagainst;
};

struct train_table {
    struct train_row row[CONF_MAX_GAMES]; /* of the newest evaluation */
    int n, printed;                       /* evaluations that were printed so far */
    bool several;                         /* the run has several games */
};

struct train_speed { /* what stands at the left of each row */
    int64_t played;
    double seconds, matches_s, tokens_s;
};

/* Takes in a line of `agon eval --json`: the newest snapshot's, and later the mixture's. */
void train_table_latest(struct train_table *t, const json_t *o);
void train_table_mixture(struct train_table *t, const json_t *o);

bool train_table_exact(const struct train_table *t); /* some game was solved */
void train_table_print(struct train_table *t, const struct train_speed *s);
void train_table_report(const struct train_table *t); /* the last evaluation, in sentences */

#endif
