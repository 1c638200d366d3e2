/* Positions of recorded matches as spectators see them. Built-in rules are pure functions, so a
 * thread may run them; games from outside are not drawn, since asking them would mean to run
 * somebody's program here, and neither are matches of another version of the rules. */
#include "arena/api-int.h"

#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "base/mem.h"

struct drawing {
    struct setup setup; /* with the game in view, and nothing else */
    const struct store_match *match;
    size_t at;   /* moves that have been made */
    size_t turn; /* the first turn that was asked at that point, or later */
    bool broken; /* a move was not legal: the record is damaged */
    unsigned char *state;
};

static const struct game *
find_built_in(const struct store_game *row) {
    const struct game *g;
    for (int i = 0; (g = game_at(i)); i++)
        if (!strcmp(g->name, row->name))
            return g->version == row->version && !row->hash[0] ? g : NULL;
    return NULL;
}

struct drawing *
drawing_new(struct store *db, const struct store_match *m) {
    struct store_game row;
    struct setup setup = {0};
    if (store_game_get(db, m->game, &row, NULL) < 0)
        return NULL;
    setup.game = find_built_in(&row);
    if (!setup.game || !setup.game->draw ||
        game_spec_parse(row.spec, &setup.game, &setup.args, NULL) < 0)
        return NULL;
    struct drawing *d = mem_zero(1, sizeof *d);
    d->setup = setup;
    d->match = m;
    d->state = mem_aligned(GAME_MAX_STATE);
    setup.game->init(d->state, &setup.args);
    return d;
}

void
drawing_free(struct drawing *d) {
    if (!d)
        return;
    free(d->state);
    free(d);
}

/* In games with talk the words of the reply go along with its move. */
static void
say(struct drawing *d) {
    const struct store_match *m = d->match;
    for (; d->turn < m->nturns && (size_t)m->turn[d->turn].ply <= d->at; d->turn++) {
        const struct store_turn *t = &m->turn[d->turn];
        if ((size_t)t->ply == d->at && t->verdict == VERDICT_OK && t->word)
            reply_say(&d->setup, d->state, t->word, strlen(t->word));
    }
}

void
drawing_write(struct drawing *d, struct json_out *j, size_t moves) {
    char text[GAME_TEXT];
    struct text t;
    for (; d && !d->broken && d->at < moves && d->at < d->match->nmoves; d->at++) {
        int action = d->match->moves[d->at];
        d->broken = !game_is_legal(d->setup.game, d->state, action);
        if (d->broken)
            break;
        say(d);
        d->setup.game->apply(d->state, action);
    }
    if (!d || d->broken) {
        json_out_null(j, "drawing");
        return;
    }
    text_init(&t, text, sizeof text);
    d->setup.game->draw(d->state, &t);
    json_out_bytes(j, "drawing", text, t.len);
}
