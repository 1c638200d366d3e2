#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
goes_on(char c) { /* a byte inside a UTF-8 character */
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* What is too long loses its middle: the place stands in front, the mend at the end. */
static void
shorten(const char *whole, size_t n, char *out, size_t cap) {
    static const char gap[] = " ... ";
    size_t head = (cap - sizeof gap) / 2, tail = cap - sizeof gap - head;
    const char *rest = whole + n - tail;
    while (head && goes_on(whole[head]))
        head--;
    while (*rest && goes_on(*rest))
        rest++;
    snprintf(out, cap, "%.*s%s%s", (int)head, whole, gap, rest);
}

static void
set(struct err *e, bool usage, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
    char *whole = n >= (int)sizeof e->text ? malloc((size_t)n + 1) : NULL;
    if (whole) {
        vsnprintf(whole, (size_t)n + 1, fmt, again);
        shorten(whole, (size_t)n, e->text, sizeof e->text);
        free(whole);
    }
    va_end(again);
    e->usage = usage;
}

int
err_set(struct err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (e)
        set(e, false, fmt, ap);
    va_end(ap);
    return -1;
}

int
err_usage(struct err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (e)
        set(e, true, fmt, ap);
    va_end(ap);
    return -1;
}

int
err_prefix(struct err *e, const char *fmt, ...) {
    if (!e)
        return -1;
    struct err prefix;
    char old[sizeof e->text];
    memcpy(old, e->text, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(prefix.text, sizeof prefix.text, fmt, ap);
    va_end(ap);
    bool usage = e->usage;
    err_set(e, "%s: %s", prefix.text, old);
    e->usage = usage;
    return -1;
}

void
panic_at(const char *file, int line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "agon: this is a bug, please report it: %s:%d: ", file, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}
