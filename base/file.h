/* Whole files: read with a bound, written so that they exist completely or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* An ordinary file, open for reading: the descriptor or -1. A pipe, which would wait for a writer,
 * a device or a folder is refused. */
int file_open(const char *path, struct err *e);
/* Appends the bytes of an ordinary file to `out`. A file longer than `max` bytes is an error. */
int file_read(const char *path, size_t max, struct buf *out, struct err *e);
/* The same of a file that somebody named just now, which may be a pipe (`<(...)`, /dev/stdin): what
 * comes until its end is read, and waited for. */
int file_read_named(const char *path, size_t max, struct buf *out, struct err *e);
/* Temporary file in the same folder, fsync when `sync`, rename, fsync of the folder when `sync`. */
int file_write(const char *path, const void *p, size_t n, bool sync, struct err *e);
/* A finished file gets its name, for good: the folder is synced. */
int file_rename(const char *from, const char *to, struct err *e);
int file_mkdirs(const char *path, struct err *e); /* like mkdir -p; mode 0777 & ~umask */
bool file_exists(const char *path);

#endif
