#include "arena/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PATH_ROOM 4096

int
lock_file(const char *run, const char *name, const char *busy, struct err *e) {
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/%s", run, name) >= (int)sizeof path)
        return err_set(e, "the run folder's path is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(e, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return err_set(e, "%s: %s", run, busy);
}

int
lock_run(const char *run, struct err *e) {
    return lock_file(run, "serve.lock", "this run is served by another process already", e);
}

bool
lock_is_held(const char *run) {
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/serve.lock", run) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}
