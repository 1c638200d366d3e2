#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
text_init(struct text *t, char *at, size_t cap) {
    *t = (struct text){.at = at, .cap = cap};
    at[0] = '\0';
}

void
text_add(struct text *t, const char *s, size_t n) {
    size_t room = t->cap - 1 - t->len;
    if (n > room) {
        n = room;
        t->cut = true;
    }
    memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

void
text_put(struct text *t, const char *s) {
    text_add(t, s, strlen(s));
}

void
text_char(struct text *t, char c) {
    text_add(t, &c, 1);
}

void
text_int(struct text *t, long n) {
    char digits[24];
    size_t at = sizeof digits;
    unsigned long v = n < 0 ? 0ul - (unsigned long)n : (unsigned long)n;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    if (n < 0)
        digits[--at] = '-';
    text_add(t, digits + at, sizeof digits - at);
}

void
text_fmt(struct text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->at + t->len, t->cap - t->len, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    if ((size_t)n >= t->cap - t->len) {
        t->cut = true;
        t->len = t->cap - 1;
    } else {
        t->len += (size_t)n;
    }
}
