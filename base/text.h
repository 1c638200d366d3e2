/* A bounded text under construction in the caller's memory. Always NUL-terminated; what does not
 * fit is cut and `cut` is set, so a caller can tell. Used where malloc is not allowed (the
 * rules). */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    char *at;   /* borrowed */
    size_t cap; /* bytes at `at`, the terminating NUL included; at least 1 */
    size_t len;
    bool cut;
};

void text_init(struct text *t, char *at, size_t cap);
void text_fmt(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What text_add() and text_int() do where something does not fit, or a number is long. */
void text_fill(struct text *t, const char *s);
void text_number(struct text *t, long n);

/* Here, as views are made of many short pieces; lengths of literals are then known. */
inline void
text_add(struct text *t, const char *s, size_t n) {
    if (n > t->cap - 1 - t->len) {
        text_fill(t, s);
        return;
    }
    memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

inline void
text_put(struct text *t, const char *s) {
    text_add(t, s, strlen(s));
}

inline void
text_char(struct text *t, char c) {
    text_add(t, &c, 1);
}

inline void
text_int(struct text *t, long n) {
    if (n >= 0 && n < 10)
        text_char(t, (char)('0' + n));
    else
        text_number(t, n);
}

#endif
