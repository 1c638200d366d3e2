/* Child processes that run this program with another command: started with posix_spawn, their
 * output appended to a log (or put into a file), ended with SIGTERM and, when that does not help,
 * SIGKILL. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct child {
    pid_t pid;  /* 0: not running */
    int status; /* of waitpid, when it has ended */
};

/* argv[0] is the command ("serve"), the list ends with NULL. Error output is appended to `log`, and
 * so is output unless `out` names a file to be written anew. */
int child_start(struct child *c, const char *const *argv, const char *out, const char *log,
                struct err *e);
bool child_ended(struct child *c);                /* true once, when it is found to have ended */
void child_stop(struct child *c, double seconds); /* SIGTERM, wait so long, SIGKILL, wait */
bool child_ok(const struct child *c);             /* exit status 0 */
void child_describe(const struct child *c, char *out, size_t cap);

/* In a child: end when the process that started it ends (also by kill -9). */
void child_follow_parent(void);

#endif
