/* Who makes room when there are too many connections. The server's loop and its clients share this
 * thread, so that what the loop finds when it looks is chosen here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena/httpd.h"
#include "base/mem.h"

#define MOST 8

struct fixture {
    struct event_base *base;
    struct httpd *httpd;
    struct httpd_request *kept[2 * MOST];
    int nkept, gone;
    bool answering; /* at once; otherwise requests are kept */
};

static int
on_head(void *arg, struct httpd_request *q, size_t *most) {
    (void)arg;
    (void)q;
    *most = 0;
    return 0;
}

static void
on_gone(struct httpd_request *q) {
    ++*(int *)q->user;
}

static void
on_request(void *arg, struct httpd_request *q) {
    struct fixture *f = arg;
    if (f->answering) {
        httpd_answer(q, &(struct httpd_answer){.status = 204});
        return;
    }
    assert_true(f->nkept < 2 * MOST);
    q->user = &f->gone;
    q->on_gone = on_gone;
    q->soon = true;
    f->kept[f->nkept++] = q;
}

static void
on_refusal(void *arg, int status, const char *why, struct buf *body) {
    (void)arg;
    (void)status;
    buf_put(body, why);
}

static int
set_up(void **state) {
    struct fixture *f = mem_zero(1, sizeof *f);
    struct err e;
    f->base = event_base_new();
    f->httpd = httpd_new(&(struct httpd_setup){.base = f->base,
                                               .host = "127.0.0.1",
                                               .connections = 2 * MOST,
                                               .per_address = MOST,
                                               .head_s = 10,
                                               .body_s = 10,
                                               .idle_s = 10,
                                               .send_s = 10,
                                               .fields = "",
                                               .arg = f,
                                               .on_head = on_head,
                                               .on_request = on_request,
                                               .on_refusal = on_refusal},
                         &e);
    assert_non_null(f->httpd);
    *state = f;
    return 0;
}

static int
tear_down(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < f->nkept; i++)
        httpd_answer(f->kept[i], &(struct httpd_answer){.status = 204});
    httpd_free(f->httpd);
    event_base_free(f->base);
    free(f);
    return 0;
}

static int
dial(struct fixture *f) {
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)httpd_port(f->httpd)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void
ask(int fd) {
    static const char get[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_int_equal(send(fd, get, sizeof get - 1, MSG_NOSIGNAL), sizeof get - 1);
}

static void
turn(struct fixture *f, int times) {
    for (int i = 0; i < times; i++)
        event_base_loop(f->base, EVLOOP_NONBLOCK);
}

/* The status of the answer; 0: none yet. */
static int
status_at(int fd) {
    char line[16] = "";
    ssize_t n = recv(fd, line, sizeof line - 1, MSG_DONTWAIT);
    return n > 9 ? atoi(line + 9) : 0;
}

/* A full house of clients whose requests are being answered. */
static void
fill(struct fixture *f, int fd[MOST]) {
    for (int i = 0; i < MOST; i++) {
        fd[i] = dial(f);
        ask(fd[i]);
        turn(f, 3);
    }
    assert_int_equal(f->nkept, MOST);
}

static void
test_those_at_work_keep_their_places(void **state) {
    struct fixture *f = *state;
    int fd[MOST];
    fill(f, fd);
    int late = dial(f);
    turn(f, 3);
    assert_int_equal(status_at(late), 503);
    assert_int_equal(f->gone, 0);
    assert_int_equal(httpd_counts(f->httpd).refused_full, 1);
    for (int i = 0; i < MOST; i++)
        close(fd[i]);
    close(late);
}

/* The newcomer is seen before the ends of those who left, as it comes to the loop first. */
static void
test_those_who_left_make_room(void **state) {
    struct fixture *f = *state;
    int fd[MOST];
    fill(f, fd);
    int late = dial(f);
    for (int i = 0; i < MOST; i++)
        close(fd[i]);
    f->answering = true;
    ask(late);
    turn(f, 4);
    assert_int_equal(status_at(late), 204);
    assert_int_equal(httpd_counts(f->httpd).refused_full, 0);
    assert_int_equal(f->gone, 1); /* the one that made room; the others may still be listening */
    close(late);
}

static void
test_silent_ones_make_room(void **state) {
    struct fixture *f = *state;
    int fd[MOST];
    for (int i = 0; i < MOST; i++)
        fd[i] = dial(f);
    turn(f, 3);
    f->answering = true;
    int late = dial(f);
    ask(late);
    turn(f, 4);
    assert_int_equal(status_at(late), 204);
    assert_int_equal(httpd_counts(f->httpd).evicted, 1);
    for (int i = 0; i < MOST; i++)
        close(fd[i]);
    close(late);
}

/* Closing the sending side is not leaving, where the answer comes soon. */
static void
test_half_closed_gets_its_answer(void **state) {
    struct fixture *f = *state;
    int fd = dial(f);
    ask(fd);
    turn(f, 3);
    assert_int_equal(f->nkept, 1);
    shutdown(fd, SHUT_WR);
    turn(f, 3);
    assert_int_equal(f->gone, 0);
    httpd_answer(f->kept[--f->nkept], &(struct httpd_answer){.status = 204});
    turn(f, 3);
    assert_int_equal(status_at(fd), 204);
    close(fd);
}

/* Where it comes at some time only, it is. */
static void
test_half_closed_waits_not_for_ever(void **state) {
    struct fixture *f = *state;
    int fd = dial(f);
    ask(fd);
    turn(f, 3);
    assert_int_equal(f->nkept, 1);
    f->kept[0]->soon = false;
    shutdown(fd, SHUT_WR);
    turn(f, 3);
    assert_int_equal(f->gone, 1);
    close(fd);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_those_at_work_keep_their_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_those_who_left_make_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_silent_ones_make_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_closed_gets_its_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_closed_waits_not_for_ever, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
