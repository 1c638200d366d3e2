#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PARENT "AGON_PARENT"
#define MOST_ARGS 30

extern char **environ;

/* The child gets a process group of its own: Ctrl-C is the parent's to act on. */
static int
attributes(posix_spawnattr_t *a) {
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_init(a);
    posix_spawnattr_setsigmask(a, &none);
    posix_spawnattr_setsigdefault(a, &defaults);
    posix_spawnattr_setpgroup(a, 0);
    return posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                           POSIX_SPAWN_SETPGROUP);
}

int
child_start(struct child *c, const char *const *argv, const char *out, const char *log,
            struct err *e) {
    char *args[MOST_ARGS + 2] = {NULL}, name[] = "agon", parent[32];
    int n = 0;
    args[n++] = name;
    while (*argv && n <= MOST_ARGS)
        args[n++] = (char *)*argv++;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    setenv(PARENT, parent, 1);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (out)
        posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    else
        posix_spawn_file_actions_adddup2(&files, 2, 1);
    posix_spawnattr_t how;
    attributes(&how);
    int status = posix_spawn(&c->pid, "/proc/self/exe", &files, &how, args, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    unsetenv(PARENT);
    if (status) {
        c->pid = 0;
        return err_set(e, "cannot start agon %s (log %s): %s", args[1], log, strerror(status));
    }
    return 0;
}

bool
child_ended(struct child *c) {
    if (!c->pid)
        return false;
    pid_t got = waitpid(c->pid, &c->status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    c->pid = 0;
    return true;
}

void
child_stop(struct child *c, double seconds) {
    if (!c->pid)
        return;
    int64_t until = clock_mono_us() + (int64_t)(seconds * 1e6);
    kill(c->pid, SIGTERM);
    while (!child_ended(c)) {
        if (clock_mono_us() > until)
            kill(c->pid, SIGKILL);
        usleep(5000);
    }
}

bool
child_ok(const struct child *c) {
    return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

void
child_describe(const struct child *c, char *out, size_t cap) {
    if (WIFSIGNALED(c->status))
        snprintf(out, cap, "killed by signal %d", WTERMSIG(c->status));
    else
        snprintf(out, cap, "exit status %d", WEXITSTATUS(c->status));
}

void
child_follow_parent(void) {
    const char *parent = getenv(PARENT);
    if (!parent)
        return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != (pid_t)strtol(parent, NULL, 10))
        raise(SIGTERM);
    unsetenv(PARENT);
}
