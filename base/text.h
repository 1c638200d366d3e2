/* A bounded text under construction in the caller's memory. Always NUL-terminated; what does not
 * fit is cut and `cut` is set, so a caller can tell. Used where malloc is not allowed (the
 * rules). */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *at;   /* borrowed */
    size_t cap; /* bytes at `at`, the terminating NUL included; at least 1 */
    size_t len;
    bool cut;
};

void text_init(struct text *t, char *at, size_t cap);
void text_put(struct text *t, const char *s);
void text_add(struct text *t, const char *s, size_t n);
void text_int(struct text *t, long n);
void text_fmt(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Here, as the views of boards are made of it. */
static inline void
text_char(struct text *t, char c) {
    if (t->len + 1 == t->cap) {
        t->cut = true;
        return;
    }
    t->at[t->len++] = c;
    t->at[t->len] = '\0';
}

#endif
