/* Replays recorded matches and compares every column with what the rules, the prompt template and
 * the answer parser say it must be: chance outcomes against the deal's random stream, movers,
 * legality, prompt tokens, the spelling of the sampled tokens, word, action, verdict, reason,
 * loser, result and payoffs. It prepares prompts by itself rather than by the runner's code, so
 * that each checks the other. It does not evaluate the policy again. */
#ifndef ARENA_VERIFY_H
#define ARENA_VERIFY_H

#include "arena/setup.h"
#include "store/store.h"

struct verify_problem { /* valid during the call */
    int64_t match;
    int turn; /* index of the turn; -1: the match row itself */
    const char *column;
    const char *text; /* what is there and what should be; may hold text from players */
};

struct verify_count {
    uint64_t matches, turns;
    uint64_t thinned; /* turns without tokens, mostly thinned out: no spelling to compare */
    uint64_t problems;
};

struct verify; /* opaque */

/* s is borrowed. tell() is called for every problem; several may stand in one match. */
struct verify *verify_new(const struct setup *s,
                          void (*tell)(void *arg, const struct verify_problem *), void *arg);
void verify_free(struct verify *v);
/* m is a match of the setup's game. Returns the number of problems found in it. */
int verify_match(struct verify *v, const struct store_match *m);
struct verify_count verify_count(const struct verify *v);

/* Appends what a match adds to the context of `seat`, about to move in `state`, at its turn number
 * `turn`. history and news may be NULL. */
void verify_prompt(const struct setup *s, const void *state, int seat, int turn,
                   const char *history, const char *news, struct tokens *out);

#endif
