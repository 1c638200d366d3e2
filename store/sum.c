/* Checksums of rows. A row of `match` and one of `turn` carries the sum of what was written, so
 * that a change of any column is noticed where no rule could tell. What thinning takes away has a
 * half of its own: the upper 32 bits are of a turn's tokens and log-probabilities, the lower ones
 * of the rest. */
#include "store/store-int.h"

#include <string.h>

static uint64_t
add_int(uint64_t h, int64_t v) {
    return hash_fnv_more(h, &v, sizeof v);
}

static uint64_t
add_real(uint64_t h, double v) {
    v += 0.0; /* SQLite keeps no -0 */
    return hash_fnv_more(h, &v, sizeof v);
}

/* With its length, so that nothing can move from one column to the next; NULL is not "". */
static uint64_t
add_text(uint64_t h, const void *p, size_t n, bool there) {
    h = add_int(h, there ? (int64_t)n : -1);
    return there ? hash_fnv_more(h, p, n) : h;
}

static uint32_t
fold(uint64_t h) {
    return (uint32_t)(h ^ h >> 32);
}

int64_t
sum_match(const struct store_match *m, const char *detail) {
    uint64_t h = add_int(HASH_FNV, m->id);
    h = add_int(h, (int64_t)m->kind);
    h = add_int(h, m->iteration);
    h = add_int(h, m->game);
    h = add_int(h, m->deal);
    h = add_int(h, m->policy[0]);
    h = add_int(h, m->policy[1]);
    h = add_int(h, (int64_t)m->reason);
    h = add_int(h, m->loser);
    h = add_real(h, m->payoff[0]);
    h = add_real(h, m->payoff[1]);
    h = add_real(h, m->result);
    h = add_text(h, m->moves, m->nmoves * sizeof *m->moves, true);
    h = add_int(h, m->started_ms);
    h = add_int(h, m->ended_ms);
    h = add_int(h, m->attempts);
    h = add_text(h, detail, detail ? strlen(detail) : 0, detail != NULL);
    return fold(h);
}

int64_t
sum_turn(int64_t match, int64_t number, const struct store_turn *t) {
    uint64_t h = add_int(HASH_FNV, match), payload;
    h = add_int(h, number);
    h = add_int(h, t->ply);
    h = add_int(h, t->seat);
    h = add_int(h, t->policy);
    h = add_text(h, t->prompt, t->nprompt * sizeof *t->prompt, true);
    h = add_int(h, (int64_t)t->verdict);
    h = add_int(h, t->action);
    h = add_text(h, t->word, t->word ? strlen(t->word) : 0, t->word != NULL);
    h = add_text(h, t->reply, t->nreply, true);
    payload = add_text(HASH_FNV, t->tokens, t->ntokens * sizeof *t->tokens, true);
    payload = add_text(payload, t->logp, t->ntokens * sizeof *t->logp, t->logp && t->ntokens);
    return (int64_t)((uint64_t)fold(payload) << 32 | fold(h));
}

bool
sum_fits_turn(int64_t sum, int64_t match, int64_t number, const struct store_turn *t,
              bool thinned) {
    uint64_t differs = (uint64_t)(sum ^ sum_turn(match, number, t));
    return thinned ? (uint32_t)differs == 0 : differs == 0;
}
