#include "arena/reparse.h"

#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "base/mem.h"

struct reparse {
    struct setup setup; /* with the other parser */
    void (*tell)(void *arg, const struct reparse_change *);
    void *arg;
    struct buf word; /* scratch */
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

const char *
reparse_outcome_name(enum reparse_outcome o) {
    static const char *const names[REPARSE_OUTCOMES] = {"same",  "forfeit",    "ask again",
                                                        "go on", "other move", "damaged"};
    return (unsigned)o < REPARSE_OUTCOMES ? names[o] : "?";
}

struct reparse *
reparse_new(const struct setup *s, const struct answer *answer,
            void (*tell)(void *arg, const struct reparse_change *), void *arg) {
    struct reparse *r = mem_zero(1, sizeof *r);
    r->setup = *s;
    r->setup.answer = answer;
    r->tell = tell;
    r->arg = arg;
    return r;
}

void
reparse_free(struct reparse *r) {
    if (!r)
        return;
    buf_free(&r->word);
    free(r);
}

/* Applies the recorded chance outcomes; false: the record is damaged. */
static bool
pass_chance(struct reparse *r, const struct store_match *m, size_t *at) {
    const struct game *g = r->setup.game;
    while (g->mover(r->state) == GAME_CHANCE && *at < m->nmoves) {
        int action = m->moves[(*at)++];
        if (!game_is_legal(g, r->state, action))
            return false;
        g->apply(r->state, action);
    }
    return true;
}

/* Reads one reply again. What it would change of the match's course; says so where it differs. */
static enum reparse_outcome
read_again(struct reparse *r, const struct store_match *m, int turn, int forgiven) {
    const struct store_turn *t = &m->turn[turn];
    if (t->verdict == VERDICT_CUT || t->verdict == VERDICT_TIME)
        return REPARSE_SAME; /* no parser has seen it */
    buf_clear(&r->word);
    struct reply now = reply_read(&r->setup, r->state, t->reply, t->nreply, false, &r->word);
    bool words = !now.word != !t->word || (now.word && strcmp(now.word, t->word));
    if (now.verdict == t->verdict && now.action == t->action && !words)
        return REPARSE_SAME;
    r->tell(r->arg, &(struct reparse_change){m->id, turn, t, now.verdict, now.action, now.word});
    bool was = t->verdict == VERDICT_OK, is = now.verdict == VERDICT_OK;
    if (was && !is)
        return forgiven < r->setup.retries ? REPARSE_ASK_AGAIN : REPARSE_FORFEIT;
    if (!was && is)
        return REPARSE_GO_ON;
    bool heard = words && r->setup.game->say;
    return was && (now.action != t->action || heard) ? REPARSE_OTHER_MOVE : REPARSE_SAME;
}

/* Makes the recorded move of a turn that had one; false: the record is damaged. */
static bool
make_move(struct reparse *r, const struct store_match *m, const struct store_turn *t, size_t *at) {
    const struct game *g = r->setup.game;
    if (t->verdict != VERDICT_OK)
        return true;
    if (*at >= m->nmoves || m->moves[*at] != t->action || !game_is_legal(g, r->state, t->action))
        return false;
    if (t->word)
        reply_say(&r->setup, r->state, t->word, strlen(t->word));
    g->apply(r->state, m->moves[(*at)++]);
    return pass_chance(r, m, at);
}

struct reparse_match
reparse_match(struct reparse *r, const struct store_match *m) {
    struct reparse_match out = {REPARSE_SAME, -1, m->result};
    size_t at = 0;
    int forgiven = 0;
    r->setup.game->init(r->state, &r->setup.args);
    bool whole = pass_chance(r, m, &at);
    for (int i = 0; whole && i < (int)m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        whole = t->seat == r->setup.game->mover(r->state);
        if (!whole)
            break;
        enum reparse_outcome o = read_again(r, m, i, forgiven);
        if (o != REPARSE_SAME && out.outcome == REPARSE_SAME) {
            out.outcome = o;
            out.turn = i;
            if (o == REPARSE_FORFEIT)
                out.result = t->seat ? 1 : -1;
        }
        forgiven = t->verdict == VERDICT_OK ? 0 : forgiven + 1;
        whole = make_move(r, m, t, &at);
    }
    return whole ? out : (struct reparse_match){REPARSE_DAMAGED, -1, m->result};
}
