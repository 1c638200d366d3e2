/* Who meets whom: a pure function of (settings, seed, match id, iteration, policies there are), so
 * that a schedule can be computed again after a restart and does not depend on the number of
 * workers. */
#ifndef ARENA_SCHEDULE_H
#define ARENA_SCHEDULE_H

#include "arena/match.h"

struct schedule_game {
    int64_t id; /* of the database */
    double weight;
    const int64_t
        *opponent; /* [nopponents] policy ids of the scripted opponents that can play it */
    size_t nopponents;
};

struct schedule {
    uint64_t seed;
    bool pairs;             /* every deal twice, opponents changing seats */
    double older, scripted; /* shares of matches against older snapshots and scripted players */
    int64_t warmup;         /* iterations before this one are random against random */
    int64_t random;         /* policy id of the scripted player `random` */
    const struct schedule_game *game; /* [ngames], at least one */
    size_t ngames;
};

/* Both matches of a pair are of one game, drawn in proportion to the weights.
 * `older_id` [nolder]: policy ids of the kept older snapshots, ascending. */
void schedule_match(const struct schedule *s, int64_t id, int64_t iteration, int64_t newest,
                    const int64_t *older_id, size_t nolder, struct match_job *out);

/* Which snapshot files stay: those of the newest `SCHEDULE_RECENT` steps, and those whose step is a
 * multiple of a stride that doubles as the run grows, so that about `keep` are left, evenly
 * spread. */
#define SCHEDULE_RECENT 8
bool schedule_keeps(int64_t step, int64_t newest, int64_t keep);

#endif
