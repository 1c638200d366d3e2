/* How far a long command has come: a bar on standard error where that is a terminal, nothing
 * elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "matches"; borrowed */
    bool shown, drawn;
    int64_t start_us, told_us;
};

void progress_begin(struct progress *p, const char *what);
/* total 0: nobody knows. Draws at most five times a second. */
void progress_show(struct progress *p, uint64_t done, uint64_t total);
/* The same of what has no unit: "copying run.db [###...]". */
void progress_part(struct progress *p, const char *doing, uint64_t done, uint64_t total);
/* Takes the bar away: at the end, and before a line is printed. */
void progress_clear(struct progress *p);

#endif
