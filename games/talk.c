#include "games/talk.h"

#include <string.h>

void
talk_hear(struct talk *t, const char *words, size_t n) {
    memset(t, 0, sizeof *t);
    t->n = (uint16_t)(n < GAME_TALK ? n : GAME_TALK);
    t->fresh = 1;
    memcpy(t->at, words, t->n);
}

void
talk_pass(struct talk *t) {
    if (!t->fresh)
        memset(t, 0, sizeof *t);
    t->fresh = 0;
}

bool
talk_is_fresh(const struct talk *t) {
    return t->fresh && t->n;
}

void
talk_put(const struct talk *t, const char *lead, struct text *out) {
    if (!t->n)
        return;
    text_put(out, lead);
    game_quote_words(t->at, t->n, out);
    text_char(out, '.');
}

bool
talk_is(const char *reply, size_t n, const char *token) {
    return n == strlen(token) && talk_find(reply, n, token) == reply;
}

const char *
talk_find(const char *reply, size_t n, const char *token) {
    size_t len = strlen(token);
    bool letter = token[0] >= 'a' && token[0] <= 'z';
    for (size_t i = 0; i + len <= n; i++) {
        if (!letter) { /* mostly a bracket: skip to the next one */
            const char *next = memchr(reply + i, token[0], n - i);
            if (!next || (i = (size_t)(next - reply)) + len > n)
                break;
        }
        size_t same = 0;
        while (same < len) {
            char c = reply[i + same];
            if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != token[same])
                break;
            same++;
        }
        if (same == len)
            return reply + i;
    }
    return NULL;
}
