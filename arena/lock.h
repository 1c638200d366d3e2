/* The lock of a run folder: whoever holds it may write to the run's database. Two would be two
 * writers. The system drops it with the process that holds it. */
#ifndef ARENA_LOCK_H
#define ARENA_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* Returns a descriptor that holds the lock until it is closed; -1 with e when another process
 * has it. */
int lock_run(const char *run, struct err *e);
/* The same with another file of the folder, and other words for `another has it`. */
int lock_file(const char *run, const char *name, const char *busy, struct err *e);
/* Does some process hold the first one? False where nobody does, and where that cannot be told. */
bool lock_is_held(const char *run);

#endif
