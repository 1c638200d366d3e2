/* Started with vfork, because limits have to be set between fork and exec and a copy of a large
 * process is slow; the child's few calls touch no memory of the parent. Input is a socket (a
 * write to a dead process then is an error and no signal), output and error output are pipes.
 * One poll loop writes the request and reads both pipes, so that neither side can block the
 * other. */
#include "games/extern/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#define OPEN_FILES 256
#define WORDS 2048         /* bytes of error output that are kept */
#define READ 65536         /* bytes at most of one read */
#define HOLD 1024          /* bytes of questions that are gathered before they are sent */
#define PATIENCE_US 300000 /* for a process to end when it is asked to */
#define ENV_MOST 32

extern char **environ;

struct process {
    pid_t pid; /* 0: it has ended */
    int status;
    int in, out, err;
    struct buf unsent; /* lines, from byte `sent` on */
    size_t sent;
    struct buf got;       /* of its output: from `next` on, lines that nobody has taken yet */
    size_t next, scanned; /* no line's end is in the first bytes behind `next` */
    int asked;            /* lines without an answer */
    char words[WORDS];
    size_t nwords;
};

/* ---- start ---- */

/* All that the child needs, made before it exists. */
struct launch {
    const char *const *argv;
    char *env[ENV_MOST + 1];
    const char *folder;
    struct process_limits limits;
    int fd[3]; /* its 0, 1 and 2 */
    pid_t parent;
    volatile int why; /* errno of the step that failed */
};

/* A game needs no keys and passwords of its user. */
static void
choose_env(struct launch *l) {
    static const char *const keep[] = {
        "PATH",       "HOME", "LANG",    "LC_ALL",      "LC_CTYPE",        "TZ",       "TMPDIR",
        "PYTHONPATH", "USER", "LOGNAME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "AGON_HOME"};
    static const char *const fixed[] = {"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
                                        "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
    size_t n = 0;
    for (char **at = environ; at && *at; at++)
        for (size_t i = 0; i < sizeof keep / sizeof *keep && n < ENV_MOST - 4; i++) {
            size_t len = strlen(keep[i]);
            if (strncmp(*at, keep[i], len) == 0 && (*at)[len] == '=')
                l->env[n++] = *at;
        }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        l->env[n++] = (char *)fixed[i];
}

static int
limit(int what, rlim_t soft) {
    struct rlimit now;
    if (getrlimit(what, &now) < 0)
        return -1;
    if (now.rlim_max != RLIM_INFINITY && soft > now.rlim_max)
        soft = now.rlim_max;
    now.rlim_cur = now.rlim_max = soft; /* hard: it shall not raise them again */
    return setrlimit(what, &now);
}

static int
confine(const struct launch *l) {
    if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    if (getppid() != l->parent) /* it died before the line above */
        _exit(127);
    const struct process_limits *most = &l->limits;
    if (most->memory_mb && limit(RLIMIT_AS, (rlim_t)most->memory_mb << 20) < 0)
        return -1;
    return limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_CPU, (rlim_t)most->cpu_seconds) < 0 ||
                   limit(RLIMIT_FSIZE, (rlim_t)most->file_mb << 20) < 0 ||
                   limit(RLIMIT_NOFILE, OPEN_FILES) < 0
               ? -1
               : 0;
}

static void child(struct launch *l) __attribute__((noreturn, noinline));

/* Between vfork and exec: system calls only. The descriptors are above 2 and close on exec. */
static void
child(struct launch *l) {
    sigset_t none;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP)
            sigaction(s, &plain, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < 3; i++)
        if (dup2(l->fd[i], i) < 0)
            goto failed;
    if ((l->folder && chdir(l->folder) < 0) || confine(l) < 0)
        goto failed;
    syscall(SYS_close_range, 3u, ~0u, 4u); /* 4: CLOSE_RANGE_CLOEXEC */
    execve(l->argv[0], (char *const *)l->argv, l->env);
failed:
    l->why = errno;
    _exit(127);
}

static pid_t
launch(struct launch *l) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old); /* no handler may run in the child */
    l->parent = getpid();
    pid_t pid = vfork();
    if (pid == 0)
        child(l);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = why;
    return pid;
}

/* A pair of descriptors above 2 that close on exec: [0] ours, [1] the child's. */
static int
make_pair(int pair[2], int child_writes) {
    if (!child_writes) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
            return -1;
    } else if (pipe2(pair, O_CLOEXEC) < 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++)
        if (pair[i] <= 2) {
            int high = fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
            close(pair[i]);
            pair[i] = high;
        }
    return pair[0] < 0 || pair[1] < 0 ? -1 : 0;
}

static void
close_all(const int *fd, int n) {
    for (int i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

struct process *
process_start(const char *const *argv, const char *folder, const struct process_limits *limits,
              struct err *e) {
    struct launch l = {.argv = argv, .folder = folder, .limits = *limits};
    int fd[6] = {-1, -1, -1, -1, -1, -1};
    if (make_pair(fd, 0) < 0 || make_pair(fd + 2, 1) < 0 || make_pair(fd + 4, 1) < 0) {
        err_set(e, "cannot start %s: no descriptors are left (%s)", argv[0], strerror(errno));
        close_all(fd, 6);
        return NULL;
    }
    l.fd[0] = fd[1];
    l.fd[1] = fd[3];
    l.fd[2] = fd[5];
    choose_env(&l);
    pid_t pid = launch(&l);
    close_all((int[]){fd[1], fd[3], fd[5]}, 3);
    if (pid < 0 || l.why) {
        err_set(e, "cannot start %s: %s", argv[0], strerror(pid < 0 ? errno : l.why));
        if (pid > 0)
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        close_all((int[]){fd[0], fd[2], fd[4]}, 3);
        return NULL;
    }
    struct process *p = mem_zero(1, sizeof *p);
    *p = (struct process){.pid = pid, .in = fd[0], .out = fd[2], .err = fd[4]};
    int ours[3] = {p->in, p->out, p->err};
    for (int i = 0; i < 3; i++)
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
    return p;
}

/* ---- end ---- */

/* The group outlives its leader, whose number stays taken until it is waited for: signal first. */
static void
kill_group(struct process *p) {
    if (!p->pid)
        return;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
}

static void
release(struct process *p) {
    kill_group(p);
    if (p->in >= 0)
        close(p->in);
    close(p->out);
    close(p->err);
    buf_free(&p->unsent);
    buf_free(&p->got);
    free(p);
}

void
process_kill(struct process *p) {
    if (p)
        release(p);
}

void
process_stop(struct process *p) {
    if (!p)
        return;
    close(p->in);
    p->in = -1;
    siginfo_t info = {0};
    for (int64_t until = clock_mono_us() + PATIENCE_US; p->pid && clock_mono_us() < until;) {
        /* Leaves the process to be waited for, so that its group's number is still its own. */
        if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
            break;
        usleep(500);
    }
    release(p);
}

/* ---- error output ---- */

/* Keeps the end of what is there to read; false at its end. */
static bool
hear(struct process *p) {
    char at[4096];
    ssize_t n = read(p->err, at, sizeof at);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    size_t add = (size_t)n < WORDS ? (size_t)n : WORDS;
    size_t old = p->nwords + add > WORDS ? WORDS - add : p->nwords;
    memmove(p->words, p->words + p->nwords - old, old);
    memcpy(p->words + old, at + (size_t)n - add, add);
    p->nwords = old + add;
    return true;
}

void
process_last_words(struct process *p, char *out, size_t cap) {
    for (int i = 0; i < 64 && hear(p) && errno != EAGAIN; i++)
        errno = 0;
    size_t end = p->nwords;
    while (end && strchr(" \t\r\n", p->words[end - 1]))
        end--;
    size_t at = end;
    while (at && p->words[at - 1] != '\n')
        at--;
    char line[WORDS + 1];
    size_t n = 0;
    for (; at < end; at++)
        line[n++] = p->words[at] ? p->words[at] : '?';
    line[n] = '\0';
    utf8_show(line, out, cap);
}

/* ---- questions ---- */

static enum process_fault fail(struct process *p, enum process_fault why, struct err *e,
                               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* How the process ended, when it did, and what it said last, behind the sentence that is there. */
static void
add_circumstances(struct process *p, bool ended, struct err *e) {
    char words[300], all[sizeof e->text];
    process_last_words(p, words, sizeof words);
    int n = snprintf(all, sizeof all, "%s", e->text);
    if (ended && WIFSIGNALED(p->status))
        n += snprintf(all + n, sizeof all - (size_t)n, " (it was ended by signal %d, %s)",
                      WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
    else if (ended)
        n += snprintf(all + n, sizeof all - (size_t)n, " (it ended with exit status %d)",
                      WEXITSTATUS(p->status));
    if (words[0])
        snprintf(all + n, sizeof all - (size_t)n, "; its last words: %s", words);
    err_set(e, "%s", all);
}

static enum process_fault
fail(struct process *p, enum process_fault why, struct err *e, const char *fmt, ...) {
    struct err own;
    e = e ? e : &own;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, 300, fmt, ap);
    va_end(ap);
    siginfo_t info = {0};
    bool ended = false;
    for (int i = 0; why == PROCESS_CRASH && p->pid && !ended && i < 100; i++) {
        ended = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
        if (!ended && i < 99)
            usleep(500);
    }
    kill_group(p);
    add_circumstances(p, ended, e);
    return why;
}

/* Writes what it can; -1 when the other side is gone. */
static int
tell(struct process *p) {
    while (p->sent < p->unsent.len) {
        ssize_t n = send(p->in, p->unsent.at + p->sent, p->unsent.len - p->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        p->sent += (size_t)n;
    }
    buf_clear(&p->unsent);
    p->sent = 0;
    return 0;
}

enum heard { HEARD_NOTHING, HEARD_SOMETHING, HEARD_END, HEARD_FLOOD };

/* Reads once, behind what is there of a line. */
static enum heard
listen_once(struct process *p) {
    size_t have = p->got.len - p->next;
    if (have > PROCESS_LINE)
        return HEARD_FLOOD;
    if (p->next && have)
        memmove(p->got.at, p->got.at + p->next, have);
    p->got.len = have;
    p->next = 0;
    buf_room(&p->got, READ);
    ssize_t n = read(p->out, p->got.at + have, READ);
    if (n == 0)
        return HEARD_END;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? HEARD_NOTHING : HEARD_END;
    p->got.len += (size_t)n;
    return HEARD_SOMETHING;
}

/* Takes a line that has been read whole. */
static bool
take_line(struct process *p, const char **line, size_t *n) {
    const unsigned char *at = p->got.at + p->next;
    size_t have = p->got.len - p->next;
    const unsigned char *end =
        have > p->scanned ? memchr(at + p->scanned, '\n', have - p->scanned) : NULL;
    if (!end) {
        p->scanned = have;
        return false;
    }
    *line = (const char *)at;
    *n = (size_t)(end - at);
    p->next += *n + 1;
    p->scanned = 0;
    return true;
}

/* Nothing may be waiting before a question is asked. */
static enum process_fault
expect_silence(struct process *p, struct err *e) {
    if (listen_once(p) == HEARD_END)
        return fail(p, PROCESS_CRASH, e, "the program closed its output");
    if (p->got.len)
        return fail(p, PROCESS_CRASH, e, "the program spoke out of turn");
    return PROCESS_FINE;
}

enum process_fault
process_post(struct process *p, const char *line, size_t n, struct err *e) {
    if (!p->pid)
        return fail(p, PROCESS_CRASH, e, "the program is not running");
    if (!p->asked && expect_silence(p, e) != PROCESS_FINE)
        return PROCESS_CRASH;
    buf_add(&p->unsent, line, n);
    p->asked++;
    if (p->unsent.len - p->sent >= HOLD && tell(p) < 0)
        return fail(p, PROCESS_CRASH, e, "the program does not read its input");
    return PROCESS_FINE;
}

static enum process_fault
flood(struct process *p, struct err *e) {
    return fail(p, PROCESS_CRASH, e, "the program wrote more than %u bytes without an end",
                PROCESS_LINE);
}

/* Waits until a stream has something, sends and reads: once. */
static enum process_fault
wait_once(struct process *p, int64_t until, bool *errors, double seconds, struct err *e) {
    if (tell(p) < 0)
        return fail(p, PROCESS_CRASH, e, "the program does not read its input");
    struct pollfd on[3] = {{.fd = p->out, .events = POLLIN},
                           {.fd = *errors ? p->err : -1, .events = POLLIN},
                           {.fd = p->unsent.len ? p->in : -1, .events = POLLOUT}};
    int64_t left = until - clock_mono_us();
    int ready = left > 0 ? poll(on, 3, (int)(left / 1000) + 1) : 0;
    if (ready == 0)
        return fail(p, PROCESS_TIME, e, "the program gave no answer within %g s", seconds);
    if (ready > 0 && on[1].revents)
        *errors = hear(p);
    if (ready < 0 || !on[0].revents)
        return PROCESS_FINE;
    switch (listen_once(p)) {
    case HEARD_END:
        return fail(p, PROCESS_CRASH, e, "the program closed its output");
    case HEARD_FLOOD:
        return flood(p, e);
    default:
        return PROCESS_FINE;
    }
}

enum process_fault
process_next(struct process *p, double seconds, const char **answer, size_t *len, struct err *e) {
    int64_t until = clock_mono_us() + (int64_t)(seconds * 1e6);
    bool errors = true;
    ensure(p->asked > 0);
    if (!p->pid)
        return fail(p, PROCESS_CRASH, e, "the program is not running");
    while (!take_line(p, answer, len)) {
        enum process_fault bad = wait_once(p, until, &errors, seconds, e);
        if (bad != PROCESS_FINE)
            return bad;
    }
    if (*len >= PROCESS_LINE)
        return flood(p, e);
    if (--p->asked == 0 && p->unsent.len)
        return fail(p, PROCESS_CRASH, e, "the program answered before it was asked");
    if (p->asked == 0 && p->next < p->got.len)
        return fail(p, PROCESS_CRASH, e, "the program gave two answers to one question");
    return PROCESS_FINE;
}

enum process_fault
process_ask(struct process *p, const char *line, size_t n, double seconds, const char **answer,
            size_t *len, struct err *e) {
    enum process_fault bad = process_post(p, line, n, e);
    return bad == PROCESS_FINE ? process_next(p, seconds, answer, len, e) : bad;
}

double
process_cpu(const struct process *p) {
    clockid_t clock;
    struct timespec t;
    if (!p->pid || clock_getcpuclockid(p->pid, &clock) || clock_gettime(clock, &t) < 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
