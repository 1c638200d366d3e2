#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
file_open(const char *path, struct err *e) {
    /* Without waiting: a pipe would be opened when its writer comes. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(e, "%s: cannot open: %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    bool folder = S_ISDIR(st.st_mode);
    close(fd);
    return err_set(e,
                   folder ? "%s: is a folder, a file is needed"
                          : "%s: is a pipe or a device, an ordinary file is needed",
                   path);
}

/* Reads to the end, and closes. */
static int
read_all(int fd, const char *path, size_t max, struct buf *out, struct err *e) {
    size_t total = 0;
    ssize_t n = 1;
    while (n && total <= max) {
        buf_room(out, 65536);
        n = read(fd, out->at + out->len, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        out->len += (size_t)n;
        total += (size_t)n;
    }
    int why = errno;
    close(fd);
    if (n < 0)
        return err_set(e, "%s: cannot read: %s", path, strerror(why));
    return total > max ? err_set(e, "%s: longer than the %zu bytes allowed", path, max) : 0;
}

int
file_read(const char *path, size_t max, struct buf *out, struct err *e) {
    int fd = file_open(path, e);
    return fd < 0 ? -1 : read_all(fd, path, max, out, e);
}

int
file_read_named(const char *path, size_t max, struct buf *out, struct err *e) {
    struct stat st;
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return file_read(path, max, out, e);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, "%s: cannot open: %s", path, strerror(errno));
    return read_all(fd, path, max, out, e);
}

static int
write_all(int fd, const unsigned char *p, size_t n) {
    while (n) {
        ssize_t done = write(fd, p, n > 1u << 30 ? 1u << 30 : n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static void
sync_folder(const char *path) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *(slash == folder ? slash + 1 : slash) = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

int
file_write(const char *path, const void *p, size_t n, bool sync, struct err *e) {
    char temp[4096];
    if (snprintf(temp, sizeof temp, "%s.tmp%ld", path, (long)getpid()) >= (int)sizeof temp)
        return err_set(e, "%s: path too long", path);
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(e, "%s: cannot create: %s", temp, strerror(errno));
    int bad = write_all(fd, p, n) < 0 || (sync && fsync(fd) < 0);
    int why = errno;
    if (close(fd) < 0 && !bad) {
        bad = 1;
        why = errno;
    }
    if (!bad && rename(temp, path) < 0) {
        bad = 1;
        why = errno;
    }
    if (bad) {
        unlink(temp);
        return err_set(e, "%s: cannot write: %s", path, strerror(why));
    }
    if (sync)
        sync_folder(path);
    return 0;
}

int
file_rename(const char *from, const char *to, struct err *e) {
    if (rename(from, to) < 0)
        return err_set(e, "%s: cannot rename to %s: %s", from, to, strerror(errno));
    sync_folder(to);
    return 0;
}

int
file_mkdirs(const char *path, struct err *e) {
    char part[4096];
    if (!*path || snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return err_set(e, "%s: path empty or too long", path);
    for (char *s = part + 1;; s++) {
        if (*s != '/' && *s)
            continue;
        char keep = *s;
        *s = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return err_set(e, "%s: cannot create the folder: %s", part, strerror(errno));
        *s = keep;
        if (!keep)
            break;
    }
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, "%s: is not a folder", path);
    return 0;
}

bool
file_exists(const char *path) {
    return access(path, F_OK) == 0;
}
