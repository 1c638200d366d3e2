/* Lists of token ids and the way back to text. */
#include "policy/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void
room(struct tokens *t, size_t more) {
    if (more <= t->cap - t->n)
        return;
    size_t cap = t->cap ? t->cap : 64;
    while (cap - t->n < more)
        cap *= 2;
    t->at = mem_grow(t->at, cap, sizeof *t->at);
    t->cap = cap;
}

void
tokens_free(struct tokens *t) {
    free(t->at);
    *t = (struct tokens){0};
}

void
tokens_clear(struct tokens *t) {
    t->n = 0;
}

void
tokens_add(struct tokens *t, int32_t id) {
    room(t, 1);
    t->at[t->n++] = id;
}

void
tokens_text(struct tokens *t, const char *s, size_t n) {
    room(t, n);
    for (size_t i = 0; i < n; i++)
        t->at[t->n + i] = (unsigned char)s[i];
    t->n += n;
}

size_t
tokens_spell(const int32_t *ids, size_t n, char *out) {
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= 0 && ids[i] < 256)
            out[len++] = (char)ids[i];
    out[len] = '\0';
    return len;
}
