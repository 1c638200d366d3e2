#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
err_set(struct err *e, const char *fmt, ...) {
    if (!e)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return -1;
}

int
err_prefix(struct err *e, const char *fmt, ...) {
    if (!e)
        return -1;
    char old[sizeof e->text];
    memcpy(old, e->text, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->text)
        snprintf(e->text + n, sizeof e->text - (size_t)n, ": %s", old);
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
