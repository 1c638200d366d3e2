#include "arena/reply.h"

#include <string.h>

enum { WORD = GAME_WORD * 4 }; /* a longer one is no action of any game without talk */

/* Appends room for a text of n bytes and returns it; room's length does not change yet. */
static char *
space(struct buf *room, size_t n) {
    buf_room(room, n);
    return (char *)room->at + room->len;
}

struct reply
reply_read(const struct setup *s, const void *state, const char *text, size_t n, bool cut,
           struct buf *room) {
    struct reply out = {.verdict = VERDICT_CUT, .action = -1};
    if (cut)
        return out;
    if (!n)
        text = "";
    bool talk = s->game->say != NULL;
    size_t cap = talk ? n + 1 : WORD;
    struct text word;
    text_init(&word, space(room, cap), cap);
    bool none = answer_extract(s->answer, text, n, &word) < 0;
    /* In a game with talk saying nothing may be a move. */
    if (none && !(talk && !memchr(text, '\0', n))) {
        out.verdict = VERDICT_NO_WORD;
        return out;
    }
    room->len += word.len + 1;
    out.word = word.at;
    out.nword = word.len;
    out.action = word.cut ? -1 : game_parse(s->game, state, word.at, word.len);
    out.verdict = out.action < 0 ? VERDICT_ILLEGAL : VERDICT_OK;
    return out;
}

void
reply_say(const struct setup *s, void *state, const char *word, size_t n) {
    char clean[GAME_TALK + 1];
    if (s->game->say)
        s->game->say(state, clean, game_clean_words(word, n, clean, sizeof clean));
}
