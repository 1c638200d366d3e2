#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { EVERY_US = 200000, WIDTH = 30, SLOW_SECONDS = 2 };

void
progress_begin(struct progress *p, const char *what) {
    const char *term = getenv("TERM");
    int64_t now = clock_mono_us();
    *p = (struct progress){.what = what,
                           .shown = isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb")),
                           .start_us = now,
                           .told_us = now};
}

static void
draw_bar(uint64_t done, uint64_t total) {
    int full = (int)((double)done / (double)total * WIDTH);
    fputs(" [", stderr);
    for (int i = 0; i < WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%", 100 * (double)done / (double)total);
}

/* Is it time to draw again? */
static bool
is_due(struct progress *p) {
    int64_t now = p->shown ? clock_mono_us() : 0;
    if (!p->shown || now - p->told_us < EVERY_US)
        return false;
    p->told_us = now;
    p->drawn = true;
    return true;
}

void
progress_part(struct progress *p, const char *doing, uint64_t done, uint64_t total) {
    if (!is_due(p))
        return;
    fprintf(stderr, "\r%s", doing);
    if (total)
        draw_bar(done < total ? done : total, total);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void
progress_show(struct progress *p, uint64_t done, uint64_t total) {
    if (!is_due(p))
        return;
    double seconds = (double)(p->told_us - p->start_us) / 1e6;
    fprintf(stderr, "\r%" PRIu64 " %s", done, p->what);
    if (total) {
        done = done < total ? done : total;
        draw_bar(done, total);
        double left = done ? seconds / (double)done * (double)(total - done) : 0;
        if (seconds > SLOW_SECONDS && done)
            fprintf(stderr, ", %.0f s left", left);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

void
progress_clear(struct progress *p) {
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}
