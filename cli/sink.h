/* Where a command's output goes: standard output, or a file that is there whole or not at all
 * (temporary file, fsync, rename). A name that ends in .zst is compressed. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

#define SINK_PATH 4096

struct sink {
    FILE *out;  /* write here */
    FILE *file; /* of the bytes that reach the disk; the same unless they are compressed */
    char path[SINK_PATH], temp[SINK_PATH + 32]; /* "": standard output */
    void *zstd;
};

/* `path` NULL or "-": standard output. A folder, or a file that cannot be made, is an error. */
int sink_open(struct sink *s, const char *path, struct err *e);
/* keep: the file gets its name; false: it is removed. Fails when something could not be written. */
int sink_close(struct sink *s, bool keep, struct err *e);

#endif
