#include "cli/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

#define PIECE (1 << 16)

int
copy_sync(const char *path, struct err *e) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int bad = fd < 0 || fsync(fd) < 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return bad ? err_set(e, "%s: cannot write to the disk: %s", path, strerror(why)) : 0;
}

/* Reads all of `in`, writes it to `out` (NULL: only reads), fills the hash. */
static long long
pass_on(FILE *in, FILE *out, char hex[HASH_HEX]) {
    char piece[PIECE];
    struct hash *h = hash_new();
    long long bytes = 0;
    size_t n;
    bool bad = false;
    while (!bad && (n = fread(piece, 1, sizeof piece, in))) {
        hash_add(h, piece, n);
        bytes += (long long)n;
        bad = out && fwrite(piece, 1, n, out) != n;
    }
    int why = errno;
    bad = bad || ferror(in);
    hash_end(h, hex);
    errno = why;
    return bad ? -1 : bytes;
}

/* NULL: errno is ENOENT where there is no such file. */
static FILE *
open_in(const char *path, struct err *e) {
    errno = 0;
    int fd = file_open(path, e);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !f) {
        err_set(e, "%s: %s", path, strerror(errno));
        close(fd);
    }
    return f;
}

bool
copy_is(const char *path, const char *hash) {
    char hex[HASH_HEX] = "";
    FILE *f = open_in(path, NULL);
    bool good = f && pass_on(f, NULL, hex) >= 0 && !strcmp(hex, hash);
    if (f)
        fclose(f);
    return good;
}

long long
copy_file(const char *from, const char *to, const char *hash, struct err *e) {
    char temp[8192], hex[HASH_HEX];
    FILE *in = open_in(from, e);
    if (!in)
        return errno == ENOENT ? COPY_NONE : -1;
    snprintf(temp, sizeof temp, "%s.tmp%ld", to, (long)getpid());
    FILE *out = fopen(temp, "wbe");
    long long bytes = out ? pass_on(in, out, hex) : -1;
    if (out && bytes >= 0 && (fflush(out) || fsync(fileno(out))))
        bytes = -1;
    int why = errno;
    fclose(in);
    if (out && fclose(out) && bytes >= 0) {
        why = errno;
        bytes = -1;
    }
    if (bytes < 0)
        err_set(e, "%s: cannot copy to %s: %s", from, to, strerror(why));
    else if (strcmp(hex, hash))
        bytes = err_set(e, "%s: is damaged: its content does not fit its name", from);
    else if (file_rename(temp, to, e) < 0)
        bytes = -1;
    if (bytes < 0)
        unlink(temp);
    return bytes;
}
