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
text_fill(struct text *t, const char *s) {
    size_t room = t->cap - 1 - t->len;
    memcpy(t->at + t->len, s, room);
    t->len += room;
    t->at[t->len] = '\0';
    t->cut = true;
}

void
text_number(struct text *t, long n) {
    char digits[24];
    size_t at = sizeof digits;
    unsigned long v = n < 0 ? 0ul - (unsigned long)n : (unsigned long)n;
    for (; v >= 10; v /= 10)
        digits[--at] = (char)('0' + v % 10);
    digits[--at] = (char)('0' + v);
    if (n < 0)
        digits[--at] = '-';
    text_add(t, digits + at, sizeof digits - at);
}

/* For callers that do not inline them, and games that were built before. */
extern inline void text_add(struct text *t, const char *s, size_t n);
extern inline void text_put(struct text *t, const char *s);
extern inline void text_char(struct text *t, char c);
extern inline void text_int(struct text *t, long n);

static void
add_format(struct text *t, const char *fmt, va_list ap) {
    int n = vsnprintf(t->at + t->len, t->cap - t->len, fmt, ap);
    if (n < 0)
        n = 0;
    if ((size_t)n >= t->cap - t->len) {
        t->cut = true;
        t->len = t->cap - 1;
    } else {
        t->len += (size_t)n;
    }
}

/* %s, %d, %c and %% only: false when there is another one, and t is to be set back. */
static bool
add_simple(struct text *t, const char *fmt, va_list ap) {
    for (const char *stop; *fmt; fmt = stop + 2) {
        stop = strchrnul(fmt, '%');
        text_add(t, fmt, (size_t)(stop - fmt));
        switch (*stop ? stop[1] : '\0') {
        case 's':
            text_put(t, va_arg(ap, const char *));
            break;
        case 'd':
            text_int(t, va_arg(ap, int));
            break;
        case 'c':
            text_char(t, (char)va_arg(ap, int));
            break;
        case '%':
            text_char(t, '%');
            break;
        default:
            return !*stop;
        }
    }
    return true;
}

/* Games say much in few formats, and most of the C library's time for them is its generality. */
void
text_fmt(struct text *t, const char *fmt, ...) {
    va_list ap, again;
    struct text before = *t;
    va_start(ap, fmt);
    va_copy(again, ap);
    if (!add_simple(t, fmt, ap)) {
        *t = before;
        add_format(t, fmt, again);
    }
    va_end(again);
    va_end(ap);
}
