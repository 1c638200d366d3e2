/* What can be done with any game through its contract alone: reading a player's word, asking
 * whether an action is legal, drawing at a chance node, cleaning and quoting what players say.
 * Nothing here knows a particular game. */
#include "games/game.h"

#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

static bool
is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char
lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
same_word(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static int
parse_by_spelling(const struct game *g, const void *state, const char *word, size_t n) {
    int legal[GAME_MAX_ACTIONS];
    int count = g->legal(state, legal);
    for (int i = 0; i < count; i++) {
        char at[GAME_WORD];
        struct text t;
        text_init(&t, at, sizeof at);
        g->spell(state, legal[i], &t);
        if (t.len == n && same_word(at, word, n))
            return legal[i];
    }
    return -1;
}

int
game_parse(const struct game *g, const void *state, const char *word, size_t n) {
    int mover = g->mover(state);
    if (mover != GAME_SEAT_0 && mover != GAME_SEAT_1)
        return -1;
    while (n && is_blank(word[0]))
        word++, n--;
    while (n && is_blank(word[n - 1]))
        n--;
    /* Where players talk, saying nothing can be a move. */
    if (n == 0 && !g->say)
        return -1;
    if (!g->parse)
        return n < GAME_WORD ? parse_by_spelling(g, state, word, n) : -1;
    int action = g->parse(state, word, n);
    return action >= 0 && game_is_legal(g, state, action) ? action : -1;
}

bool
game_is_legal(const struct game *g, const void *state, int action) {
    int mover = g->mover(state);
    if (mover == GAME_OVER)
        return false;
    if (mover == GAME_CHANCE) {
        struct game_outcome out[GAME_MAX_ACTIONS];
        int n = g->chance(state, out);
        for (int i = 0; i < n; i++)
            if (out[i].action == action)
                return true;
        return false;
    }
    if (g->allows)
        return g->allows(state, action);
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state, legal);
    for (int i = 0; i < n; i++)
        if (legal[i] == action)
            return true;
    return false;
}

int
game_draw(const struct game *g, const void *state, double u) {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = g->chance(state, out);
    ensure(n >= 1);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += out[i].probability;
        if (u < sum)
            return out[i].action;
    }
    /* The sum may end a rounding error below 1. */
    return out[n - 1].action;
}

void
game_spell_legal(const struct game *g, const void *state, struct text *out) {
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state, legal);
    for (int i = 0; i < n; i++) {
        if (i)
            text_put(out, ", ");
        g->spell(state, legal[i], out);
    }
}

/* Characters that change how others look, or that nobody sees: controls, joiners and marks of
 * direction, separators of lines, tags, private and unassigned ends of planes. */
static bool
is_hidden(uint32_t c) {
    static const uint32_t range[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},        {0x61c, 0x61c},
        {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},    {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},    {0xe000, 0xf8ff},
        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},    {0xfff0, 0xfffb},
        {0xfffe, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (c >= range[i][0] && c <= range[i][1])
            return true;
    return false;
}

/* How many of the first n bytes, `most` at most, stay as they are: printable ASCII. */
static size_t
plain_length(const char *in, size_t n, size_t most) {
    size_t i = 0;
    while (i < n && i < most && in[i] >= ' ' && in[i] <= '~')
        i++;
    return i;
}

size_t
game_clean_words(const char *in, size_t n, char *out, size_t cap) {
    size_t len = 0;
    for (size_t i = 0, step; i < n; i += step) {
        uint32_t c;
        size_t plain = plain_length(in + i, n - i, cap - 1 - len);
        memcpy(out + len, in + i, plain);
        i += plain;
        len += plain;
        if (i == n)
            break;
        step = utf8_char(in + i, n - i, &c);
        bool bad = step == 0 || is_hidden(c);
        size_t more = bad ? 1 : step;
        if (len + more + 1 > cap)
            break;
        if (bad)
            out[len] = step && is_blank(in[i]) ? ' ' : '?';
        else
            memcpy(out + len, in + i, step);
        len += more;
        step = step ? step : 1;
    }
    out[len] = '\0';
    return len;
}

void
game_quote_words(const char *words, size_t n, struct text *out) {
    text_char(out, '"');
    for (const char *quote; (quote = memchr(words, '"', n));) {
        size_t before = (size_t)(quote - words);
        text_add(out, words, before);
        text_char(out, '\'');
        words += before + 1;
        n -= before + 1;
    }
    text_add(out, words, n);
    text_char(out, '"');
}
