/* The HTTP server against the least that libevent can do: evhttp answering the same bytes without
 * any checks. Both are asked by wrk over 64 kept-alive connections, in turns; what counts is the
 * ratio, since wrk shares the processors with them. Then 500 connections that never finish a head
 * are added. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define ROUNDS 3
#define SLOW 500

extern char **environ;

static pid_t
run(const char *const *argv, const char *out) {
    posix_spawn_file_actions_t files;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &files, NULL, (char **)(size_t)argv, environ))
        pid = 0;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* ---- the bare server ---- */

static const char body[] = "{\"ok\":true,\"workers\":2,\"workers_ready\":2,\"paused\":false}";

static void
on_request(struct evhttp_request *q, void *arg) {
    (void)arg;
    evhttp_add_header(evhttp_request_get_output_headers(q), "Content-Type", "application/json");
    evbuffer_add(evhttp_request_get_output_buffer(q), body, sizeof body - 1);
    evhttp_send_reply(q, 200, NULL, NULL);
}

/* A child that serves until it is killed; its port. */
static pid_t
start_bare(int *port) {
    int pipes[2];
    if (pipe(pipes) < 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct event_base *base = event_base_new();
        struct evhttp *http = evhttp_new(base);
        struct sockaddr_in a;
        socklen_t n = sizeof a;
        struct evhttp_bound_socket *b = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
        if (!b || getsockname(evhttp_bound_socket_get_fd(b), (struct sockaddr *)&a, &n) < 0)
            _exit(1);
        int p = ntohs(a.sin_port);
        if (write(pipes[1], &p, sizeof p) != sizeof p)
            _exit(1);
        evhttp_set_gencb(http, on_request, NULL);
        event_base_dispatch(base);
        _exit(0);
    }
    close(pipes[1]);
    if (read(pipes[0], port, sizeof *port) != sizeof *port)
        *port = 0;
    close(pipes[0]);
    return pid;
}

/* ---- the real one ---- */

static pid_t
start_agon(const char *self, const char *folder, int *port) {
    char program[4096], run_folder[256], card[300];
    const char *slash = strstr(self, "/tests/bench/");
    snprintf(program, sizeof program, "%.*s/agon", slash ? (int)(slash - self) : 0, self);
    snprintf(run_folder, sizeof run_folder, "%s/run", folder);
    snprintf(card, sizeof card, "%s/serve.json", run_folder);
    const char *argv[] = {
        program,           "serve", "tests/int/tiny.yaml",    "--run", run_folder, "--set",
        "workers.count=1", "--set", "serve.per_address=1024", NULL};
    pid_t pid = run(argv, "/dev/null");
    *port = 0;
    for (int i = 0; pid && i < 200 && !*port; i++) {
        struct buf text = {0};
        usleep(50000);
        if (file_read(card, 4096, &text, NULL) == 0) {
            json_t *v = json_loadb((const char *)text.at, text.len, 0, NULL);
            *port = (int)json_integer_value(json_object_get(v, "port"));
            json_decref(v);
        }
        buf_free(&text);
    }
    return pid;
}

/* ---- asking ---- */

struct measured {
    double rate, p99_ms;
};

static double
milliseconds(const char *s) {
    char *end;
    double v = strtod(s, &end);
    return !strncmp(end, "us", 2) ? v / 1000 : !strncmp(end, "ms", 2) ? v : v * 1000;
}

static struct measured
ask(int port, const char *path, const char *folder) {
    char url[128], out[256];
    struct measured m = {0, 0};
    struct buf text = {0};
    int status;
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, path);
    snprintf(out, sizeof out, "%s/wrk", folder);
    const char *argv[] = {"wrk", "-t1", "-c64", "-d2s", "--latency", url, NULL};
    pid_t pid = run(argv, out);
    if (pid && waitpid(pid, &status, 0) == pid && file_read(out, 65536, &text, NULL) == 0) {
        const char *rate = strstr(buf_text(&text), "Requests/sec:");
        const char *p99 = strstr(buf_text(&text), " 99%");
        m.rate = rate ? strtod(rate + 13, NULL) : 0;
        m.p99_ms = p99 ? milliseconds(p99 + 4) : 0;
        if (strstr(buf_text(&text), "Non-2xx") || strstr(buf_text(&text), "Socket errors"))
            printf("http: answers were missing or wrong\n");
    }
    buf_free(&text);
    return m;
}

/* Processor time that a process has used, in seconds. */
static double
processor_time(pid_t pid) {
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    const char *end = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    if (end)
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    if (f)
        fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static int
connect_to(int port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* wrk knows only small numbers */
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
        send(fd, "GET / HTT", 9, MSG_NOSIGNAL) == 9)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

struct server {
    pid_t pid;
    int port;
    const char *path;
    double rate, microseconds; /* of processor time a request */
};

static void
ask_server(struct server *s, const char *folder) {
    double before = processor_time(s->pid);
    double rate = ask(s->port, s->path, folder).rate;
    s->rate += rate / ROUNDS;
    s->microseconds += (processor_time(s->pid) - before) / (2 * rate) * 1e6 / ROUNDS;
}

static void
compare(struct server *bare, struct server *agon, const char *folder) {
    for (int i = 0; i < ROUNDS; i++) {
        ask_server(bare, folder);
        ask_server(agon, folder);
    }
    printf("http_bare_per_s %.0f\nhttp_agon_per_s %.0f\nhttp_ratio %.2f\n", bare->rate, agon->rate,
           agon->rate / bare->rate);
    printf("http_bare_us %.1f\nhttp_agon_us %.1f\nhttp_ratio_of_processor_time %.2f\n",
           bare->microseconds, agon->microseconds, bare->microseconds / agon->microseconds);
    int fd[SLOW], n = 0;
    struct measured before = ask(agon->port, agon->path, folder);
    for (int i = 0; i < SLOW; i++) {
        fd[i] = connect_to(agon->port);
        n += fd[i] >= 0;
    }
    struct measured with = ask(agon->port, agon->path, folder);
    for (int i = 0; i < SLOW; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    printf("http_p99_ms %.2f\nhttp_p99_ms_with_%d_slow %.2f\n", before.p99_ms, n, with.p99_ms);
}

int
main(int argc, char **argv) {
    char folder[] = "/tmp/agon-bench-XXXXXX";
    struct server bare = {.path = "/"}, agon = {.path = "/api/health"};
    (void)argc;
    if (system("command -v wrk >/dev/null 2>&1")) {
        printf("# skipped: there is no wrk\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder))
        return 1;
    bare.pid = start_bare(&bare.port);
    agon.pid = start_agon(argv[0], folder, &agon.port);
    if (bare.port && agon.port)
        compare(&bare, &agon, folder);
    else
        printf("http: a server did not start\n");
    if (bare.pid > 0)
        kill(bare.pid, SIGTERM);
    if (agon.pid > 0)
        kill(agon.pid, SIGTERM);
    while (wait(NULL) > 0)
        ;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || !bare.port || !agon.port;
}
