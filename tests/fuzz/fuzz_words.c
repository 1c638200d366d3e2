/* Whatever a player writes, every built-in game takes it as one of its legal actions or as none,
 * and goes on with it by its own laws. The first byte picks the game; then each line is the reply
 * of whoever is to move, and where it means nothing a number drawn from it decides. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "games/game.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
listed(const int *legal, int n, int action) {
    for (int i = 0; i < n; i++)
        if (legal[i] == action)
            return true;
    return false;
}

static void
check_text(const struct text *t) {
    ensure(t->len < GAME_TEXT && !t->cut && t->at[t->len] == '\0');
    ensure(utf8_valid(t->at, t->len) == t->len);
}

/* All that is said of a state, and of the action that is taken in it. */
static void
check_texts(const struct game *g, const void *s, int action) {
    char at[GAME_TEXT];
    struct text t;
    for (int who = 0; who < 2; who++) {
        text_init(&t, at, sizeof at);
        g->observe(s, who, &t);
        check_text(&t);
        text_init(&t, at, sizeof at);
        g->narrate(s, action, who, &t);
        check_text(&t);
    }
    text_init(&t, at, sizeof at);
    g->spell(s, action, &t);
    check_text(&t);
}

/* As a match reads it: the words as they come, then, when they were taken, cleaned and told. */
static int
answer(const struct game *g, void *s, const char *line, size_t n) {
    int legal[GAME_MAX_ACTIONS], count = g->legal(s, legal);
    char *exact = mem_alloc(n + 1); /* a sanitizer sees a reader that goes too far */
    memcpy(exact, line, n);
    exact[n] = '\0';
    int action = n ? game_parse(g, s, exact, n) : -1;
    ensure(action < 0 || listed(legal, count, action) || (g->allows && g->allows(s, action)));
    if (action < 0)
        action = legal[hash_fnv(line, n) % (uint64_t)count];
    if (g->say) {
        char clean[GAME_TALK + 1];
        g->say(s, clean, game_clean_words(exact, n, clean, sizeof clean));
    }
    free(exact);
    return action;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static _Alignas(16) unsigned char s[GAME_MAX_STATE];
    struct game_args args;
    int games = 0, plies = 0, mover;
    while (game_at(games))
        games++;
    if (!size)
        return 0;
    const struct game *g = game_at(data[0] % games);
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    if (game_args_default(g, &args, NULL) < 0)
        return 0;
    g->init(s, &args);
    while ((mover = g->mover(s)) != GAME_OVER && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        int action = mover == GAME_CHANCE
                         ? game_draw(g, s, (double)(hash_fnv(at, n) >> 11) / 9007199254740992.0)
                         : answer(g, s, at, n);
        check_texts(g, s, action);
        g->apply(s, action);
        ensure(++plies <= g->max_plies(&args));
        if (mover != GAME_CHANCE || !n)
            at = stop ? stop + 1 : end;
    }
    ensure(mover != GAME_OVER || (g->result(s) >= -1 && g->result(s) <= 1));
    return 0;
}
