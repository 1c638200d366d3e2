#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

static const char *const names[] = {"debug", "info", "warn", "error"};
static int least = -1;

void
log_level(enum log_level level) {
    least = (int)level;
}

static int
level_from_environment(void) {
    const char *s = getenv("AGON_LOG");
    for (int i = 0; s && i < 4; i++)
        if (!strcmp(s, names[i]))
            return i;
    return LOG_INFO;
}

void
log_line(enum log_level level, const char *module, const char *fmt, ...) {
    if (least < 0)
        least = level_from_environment();
    if ((int)level < least)
        return;
    char text[2048], line[8400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct tm tm;
    gmtime_r(&t.tv_sec, &tm);
    size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ %s %s ", t.tv_nsec / 1000000,
                          names[level], module);
    utf8_show(text, line + n, sizeof line - 1 - n);
    n += strlen(line + n);
    line[n++] = '\n';
    /* One write, so that lines of several processes do not mix. */
    if (write(STDERR_FILENO, line, n) < 0)
        return;
}
