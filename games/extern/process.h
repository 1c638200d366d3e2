/* A contained child process that answers lines with lines: a session and process group of its
 * own, no descriptors but 0, 1 and 2, bounded memory, processor time, files and output, killed
 * when this process dies. What it writes to its error output is kept in part, to be told with a
 * fault. It is killed with its whole group at the first fault; nothing is ever read from it
 * after that. */
#ifndef GAMES_EXTERN_PROCESS_H
#define GAMES_EXTERN_PROCESS_H

#include <stddef.h>

#include "base/err.h"

#define PROCESS_LINE (1u << 20) /* bytes of an answer, the line's end included */

enum process_fault {
    PROCESS_FINE,
    PROCESS_CRASH, /* it ended, closed a stream, wrote too much or out of turn */
    PROCESS_TIME,  /* no answer in time */
};

struct process_limits {
    int memory_mb;   /* of address space; 0: no limit */
    int cpu_seconds; /* of the process, over its whole life */
    int file_mb;     /* of a file that it writes */
};

struct process; /* opaque */

/* argv[0] is a path; `folder` is the working directory, NULL: this process's own. */
struct process *process_start(const char *const *argv, const char *folder,
                              const struct process_limits *limits, struct err *e);
/* Asks it to end by closing its input, then less kindly; NULL is fine. */
void process_stop(struct process *p);

void process_kill(struct process *p); /* at once, and frees it; NULL is fine */

/* Takes a line (n bytes, its end included) to be sent; its answer is not waited for. On a fault the
 * process is dead and e says why; so it is with the next one. */
enum process_fault process_post(struct process *p, const char *line, size_t n, struct err *e);
/* The answer to the oldest line that has none yet; there is one. *answer is valid until the next
 * call and has no line's end; it may hold any other byte. `seconds` begin now. */
enum process_fault process_next(struct process *p, double seconds, const char **answer, size_t *len,
                                struct err *e);
/* Both at once. */
enum process_fault process_ask(struct process *p, const char *line, size_t n, double seconds,
                               const char **answer, size_t *len, struct err *e);
/* Processor seconds that it has used so far. */
double process_cpu(const struct process *p);
/* The last line that it wrote to its error output, made printable; "" when there is none. */
void process_last_words(struct process *p, char *out, size_t cap);

#endif
