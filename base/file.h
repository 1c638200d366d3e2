/* Whole files: read with a bound, written so that they exist completely or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the file's bytes to `out`. A file longer than `max` bytes is an error. */
int file_read(const char *path, size_t max, struct buf *out, struct err *e);
/* Temporary file in the same folder, fsync when `sync`, rename, fsync of the folder when `sync`. */
int file_write(const char *path, const void *p, size_t n, bool sync, struct err *e);
/* A finished file gets its name, for good: the folder is synced. */
int file_rename(const char *from, const char *to, struct err *e);
int file_mkdirs(const char *path, struct err *e); /* like mkdir -p; mode 0777 & ~umask */
bool file_exists(const char *path);

#endif
