/* Files that are named by their content, copied and checked. */
#ifndef CLI_COPY_H
#define CLI_COPY_H

#include <stdbool.h>

#include "base/err.h"

#define COPY_NONE (-2) /* there is no such file */

/* Copies so that `to` is there whole or not at all, and has this SHA-256. Returns its bytes,
 * COPY_NONE, or -1. */
long long copy_file(const char *from, const char *to, const char *hash, struct err *e);
bool copy_is(const char *path, const char *hash); /* is it there, with this SHA-256? */
int copy_sync(const char *path, struct err *e);   /* to the disk */

#endif
