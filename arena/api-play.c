/* A person at the page plays. The server must not compute, so a match runs in a process of its own,
 * `agon play --json`, over a socket pair that is its input and output. An answer waits until the
 * process wants the person's next move or has ended. Processes whose person has gone are ended
 * after a while, and there are only so many. */
#include "arena/api-int.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define SESSIONS_MOST 8
#define ANSWER_US 30000000 /* then it is told that the opponent still thinks */
#define LEFT_ALONE_US 600000000
#define LINE_MOST (64u << 10)
#define EVENTS_MOST (4u << 20) /* bytes of a whole match */
#define REPLY_MOST (16u << 10)

extern char **environ;

enum play_state { PLAY_THINKING, PLAY_TURN, PLAY_OVER, PLAY_FAILED };

struct session {
    struct session *next;
    struct plays *plays;
    char id[33];
    char game[256], against[256];
    int seat;
    pid_t pid; /* 0: it has been waited for */
    struct bufferevent *stream;
    enum play_state state;
    struct buf events; /* JSON values, separated by commas */
    size_t told;       /* bytes of them that the waiting answer does not repeat */
    struct httpd_request *waiting;
    int waiting_status;
    int64_t until_us, used_us;
};

struct plays {
    struct api *api;
    struct session *sessions;
};

static const char *
state_name(enum play_state s) {
    static const char *const names[] = {[PLAY_THINKING] = "thinking",
                                        [PLAY_TURN] = "turn",
                                        [PLAY_OVER] = "over",
                                        [PLAY_FAILED] = "failed"};
    return names[s];
}

/* ---- answers ---- */

static void
answer(struct session *s, struct httpd_request *q, int status, size_t from) {
    struct buf body = {0};
    struct json_out j = {.out = &body};
    json_out_open(&j, NULL, '{');
    json_out_text(&j, "session", s->id);
    json_out_text(&j, "game", s->game);
    json_out_text(&j, "against", *s->against ? s->against : NULL);
    json_out_int(&j, "seat", s->seat);
    json_out_text(&j, "state", state_name(s->state));
    json_out_open(&j, "events", '[');
    if (from < s->events.len)
        json_out_raw(&j, NULL, s->events.at + from, s->events.len - from);
    json_out_close(&j, ']');
    json_out_close(&j, '}');
    api_answer(q, status, &body);
}

static void
end_wait(struct session *s) {
    struct httpd_request *q = s->waiting;
    s->waiting = NULL;
    if (!q)
        return;
    q->on_gone = NULL;
    answer(s, q, s->waiting_status, s->told);
}

static void
on_gone(struct httpd_request *q) {
    struct session *s = q->user;
    s->waiting = NULL;
    httpd_end(q);
}

static void
wait_for(struct session *s, struct httpd_request *q, int status) {
    s->waiting = q;
    s->waiting_status = status;
    s->until_us = clock_mono_us() + ANSWER_US;
    q->user = s;
    q->on_gone = on_gone;
}

/* ---- what the process says ---- */

static void
add_event(struct session *s, const char *text, size_t n) {
    if (s->events.len)
        buf_add(&s->events, ",", 1);
    buf_add(&s->events, text, n);
}

static void
fail(struct session *s, const char *why) {
    struct buf text = {0};
    struct json_out j = {.out = &text};
    if (s->state == PLAY_OVER || s->state == PLAY_FAILED)
        return;
    json_out_open(&j, NULL, '{');
    json_out_text(&j, "event", "error");
    json_out_text(&j, "message", why);
    json_out_close(&j, '}');
    add_event(s, (const char *)text.at, text.len);
    buf_free(&text);
    s->state = PLAY_FAILED;
    end_wait(s);
}

static void
on_line(struct session *s, const char *line, size_t n) {
    json_t *v = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(v, "event"));
    if (!event || s->events.len + n > EVENTS_MOST) {
        fail(s, event ? "the match is too long" : "the match's process says what nobody can read");
        json_decref(v);
        return;
    }
    add_event(s, line, n);
    if (!strcmp(event, "turn") || !strcmp(event, "refused"))
        s->state = PLAY_TURN;
    else if (!strcmp(event, "end"))
        s->state = PLAY_OVER;
    else if (!strcmp(event, "error"))
        s->state = PLAY_FAILED;
    if (s->state != PLAY_THINKING)
        end_wait(s);
    json_decref(v);
}

static void
on_read(struct bufferevent *stream, void *arg) {
    struct session *s = arg;
    struct evbuffer *in = bufferevent_get_input(stream);
    char *line;
    size_t n;
    while (s->stream && (line = evbuffer_readln(in, &n, EVBUFFER_EOL_LF))) {
        if (n <= LINE_MOST)
            on_line(s, line, n);
        else
            fail(s, "the match's process says too much");
        free(line);
    }
    if (evbuffer_get_length(in) > LINE_MOST) {
        evbuffer_drain(in, evbuffer_get_length(in));
        fail(s, "the match's process says too much");
    }
}

static void
on_event(struct bufferevent *stream, short what, void *arg) {
    (void)stream;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        fail(arg, "the match's process has ended");
}

/* ---- life and death ---- */

static int
spawn(struct session *s, int fd, const char *run, const char *seed) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, defaults;
    char seat[2] = {(char)('0' + s->seat), '\0'};
    const char *argv[16] = {"agon", "play", "--json", "--run", run, "--seat", seat};
    int n = 7;
    if (*s->against) {
        argv[n++] = "--against";
        argv[n++] = s->against;
    }
    if (*seed) {
        argv[n++] = "--seed";
        argv[n++] = seed;
    }
    argv[n++] = "--";
    argv[n++] = s->game;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fd, 0);
    posix_spawn_file_actions_adddup2(&files, fd, 1);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &defaults);
    int bad = posix_spawn(&s->pid, "/proc/self/exe", &files, &how, (char **)(size_t)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (bad)
        s->pid = 0;
    return bad;
}

static int
start(struct session *s, const char *seed, struct err *e) {
    struct serve *serve = s->plays->api->s;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set(e, "cannot make a socket pair: %s", strerror(errno));
    int bad = spawn(s, pair[1], serve->run, seed);
    close(pair[1]);
    if (bad) {
        close(pair[0]);
        return err_set(e, "cannot start a process: %s", strerror(bad));
    }
    evutil_make_socket_nonblocking(pair[0]);
    s->stream = bufferevent_socket_new(serve->base, pair[0], BEV_OPT_CLOSE_ON_FREE);
    ensure(s->stream);
    bufferevent_setcb(s->stream, on_read, NULL, on_event, s);
    bufferevent_enable(s->stream, EV_READ | EV_WRITE);
    return 0;
}

/* Ends the process; with `wait` it is waited for, else by a later tick. */
static bool
stop(struct session *s, bool wait) {
    if (s->stream) {
        bufferevent_free(s->stream);
        s->stream = NULL;
        if (s->pid)
            kill(s->pid, SIGKILL); /* it holds nothing that could be lost */
    }
    if (s->pid && waitpid(s->pid, NULL, wait ? 0 : WNOHANG) != 0)
        s->pid = 0;
    return !s->pid;
}

static void
free_session(struct session *s) {
    struct session **at = &s->plays->sessions;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    fail(s, "the match was ended");
    end_wait(s);
    buf_free(&s->events);
    free(s);
}

static struct session *
find(struct call *c) {
    for (struct session *s = c->api->plays->sessions; s; s = s->next)
        if (!strcmp(s->id, c->word) && s->stream) {
            s->used_us = clock_mono_us();
            return s;
        }
    api_refuse(c->q, 404, "session", "there is no such match, or it was left alone for too long");
    return NULL;
}

/* ---- calls ---- */

/* A text of the body that becomes an argument of a program: short, and no flag. */
static bool
take_word(struct call *c, const char *key, char out[256]) {
    json_t *v = json_object_get(c->body, key);
    const char *text = json_string_value(v);
    out[0] = '\0';
    if (!v || json_is_null(v))
        return true;
    if (text && *text && *text != '-' && strlen(text) < 256 &&
        strlen(text) == json_string_length(v)) {
        memcpy(out, text, strlen(text) + 1);
        return true;
    }
    api_refuse(c->q, 400, key, "%s: a text of 1 to 255 bytes that does not begin with -", key);
    return false;
}

static bool
take_numbers(struct call *c, int *seat, char seed[24]) {
    json_t *v = json_object_get(c->body, "seat"), *w = json_object_get(c->body, "seed");
    json_int_t number = json_integer_value(v);
    seed[0] = '\0';
    *seat = (int)number;
    if (v && !json_is_null(v) && (!json_is_integer(v) || number < 0 || number > 1)) {
        api_refuse(c->q, 400, "seat", "seat: 0 or 1");
        return false;
    }
    if (!w || json_is_null(w))
        return true;
    number = json_integer_value(w);
    if (!json_is_integer(w) || number < 0 || number > 9007199254740991) {
        api_refuse(c->q, 400, "seed", "seed: a number from 0 to 9007199254740991");
        return false;
    }
    snprintf(seed, 24, "%lld", (long long)number);
    return true;
}

/* Room for one more: of the matches that have ended, the oldest goes. */
static bool
make_room(struct plays *p) {
    struct session *oldest = NULL;
    int n = 0;
    for (struct session *s = p->sessions; s; s = s->next) {
        n += s->stream != NULL;
        if (s->stream && s->state >= PLAY_OVER && (!oldest || s->used_us < oldest->used_us))
            oldest = s;
    }
    if (n < SESSIONS_MOST)
        return true;
    if (oldest)
        stop(oldest, false);
    return oldest != NULL;
}

void
post_play(struct call *c) {
    struct plays *p = c->api->plays;
    struct session *s = mem_zero(1, sizeof *s);
    char seed[24];
    struct err e;
    if (!take_word(c, "game", s->game) || !take_word(c, "against", s->against) ||
        !take_numbers(c, &s->seat, seed)) {
        free(s);
        return;
    }
    if (!make_room(p)) {
        free(s);
        api_refuse(c->q, 503, "full", "%d people play already", SESSIONS_MOST);
        return;
    }
    if (!*s->game)
        snprintf(s->game, sizeof s->game, "%s", c->s->setup.spec);
    random_hex(s->id);
    s->plays = p;
    s->used_us = clock_mono_us();
    if (start(s, seed, &e) < 0) {
        free(s);
        api_refuse(c->q, 503, "process", "%s", e.text);
        return;
    }
    s->next = p->sessions;
    p->sessions = s;
    log_info("play", "somebody plays %s", s->game);
    wait_for(s, c->q, 201);
}

void
get_play(struct call *c) {
    struct session *s = find(c);
    if (s)
        answer(s, c->q, 200, 0);
}

void
post_play_reply(struct call *c) {
    struct session *s = find(c);
    json_t *v = json_object_get(c->body, "reply");
    if (!s)
        return;
    if (s->state != PLAY_TURN || s->waiting) {
        api_refuse(c->q, 409, "state", "it is not your turn: the match is %s",
                   s->waiting ? "being asked by somebody else" : state_name(s->state));
        return;
    }
    if (!json_is_string(v) || json_string_length(v) > REPLY_MOST) {
        api_refuse(c->q, 400, "reply", "reply: a text of at most %u bytes", REPLY_MOST);
        return;
    }
    json_t *line = json_pack("{s:O}", "reply", v);
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    s->state = PLAY_THINKING;
    s->told = s->events.len + (s->events.len > 0); /* the comma, too */
    wait_for(s, c->q, 200);
    bufferevent_write(s->stream, text, strlen(text));
    bufferevent_write(s->stream, "\n", 1);
    free(text);
}

void
delete_play(struct call *c) {
    struct session *s = find(c);
    if (!s)
        return;
    fail(s, "the match was ended");
    stop(s, false);
    httpd_answer(c->q,
                 &(struct httpd_answer){.status = 204, .fields = "Cache-Control: no-store\r\n"});
}

/* ---- time ---- */

void
play_tick(struct api *a) {
    int64_t now = clock_mono_us();
    for (struct session *s = a->plays->sessions, *next; s; s = next) {
        next = s->next;
        if (s->waiting && now > s->until_us)
            end_wait(s);
        if (s->pid && waitpid(s->pid, NULL, WNOHANG) == s->pid)
            s->pid = 0;
        if (s->stream && (now - s->used_us > LEFT_ALONE_US)) {
            fail(s, "the match was left alone for too long");
            stop(s, false);
        }
        if (!s->stream && stop(s, false))
            free_session(s);
    }
}

int
play_sessions(const struct api *a) {
    int n = 0;
    for (const struct session *s = a->plays->sessions; s; s = s->next)
        n += s->stream != NULL;
    return n;
}

void
play_start(struct api *a) {
    a->plays = mem_zero(1, sizeof *a->plays);
    a->plays->api = a;
}

void
play_stop(struct api *a) {
    if (!a->plays)
        return;
    while (a->plays->sessions) {
        stop(a->plays->sessions, true);
        free_session(a->plays->sessions);
    }
    free(a->plays);
    a->plays = NULL;
}
