/* Errors and the log: sentences are bounded, and no text from outside can forge or hide a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"

static void
test_err(void **state) {
    (void)state;
    struct err e;
    assert_int_equal(err_set(&e, "row %d is bad", 3), -1);
    assert_string_equal(e.text, "row 3 is bad");
    assert_int_equal(err_prefix(&e, "%s:%d", "a.yaml", 7), -1);
    assert_string_equal(e.text, "a.yaml:7: row 3 is bad");
    assert_false(e.usage);
    assert_int_equal(err_usage(&e, "--limit %s: a number is needed", "x"), -1);
    assert_string_equal(e.text, "--limit x: a number is needed");
    err_prefix(&e, "agon matches");
    assert_string_equal(e.text, "agon matches: --limit x: a number is needed");
    assert_true(e.usage);
    err_set(&e, "something else");
    assert_false(e.usage);
    assert_int_equal(err_set(NULL, "nobody listens"), -1);
    assert_int_equal(err_usage(NULL, "nobody listens"), -1);
    assert_int_equal(err_prefix(NULL, "nobody listens"), -1);
}

static void
test_err_is_bounded(void **state) {
    (void)state;
    struct err e;
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    err_set(&e, "%s", big);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "place");
    assert_memory_equal(e.text, "place: xxx", 10);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "%s", big);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    /* What was typed may be long: what is wrong with it stands there all the same. */
    err_set(&e, "--limit %s: a whole number is needed", big);
    assert_memory_equal(e.text, "--limit xxx", 11);
    assert_string_equal(strrchr(e.text, ':'), ": a whole number is needed");
    err_prefix(&e, "%s", big);
    assert_non_null(strstr(e.text, ": a whole number is needed"));
}

static void
test_err_cuts_between_characters(void **state) {
    (void)state;
    for (int before = 0; before < 4; before++) {
        struct err e;
        char big[6003] = "abc";
        for (size_t i = (size_t)before; i + 4 < sizeof big; i += 3)
            memcpy(big + i, "\xe2\x82\xac", 4);
        err_set(&e, "%s", big);
        assert_true(strlen(e.text) > sizeof e.text - 8);
        assert_int_equal(utf8_valid(e.text, strlen(e.text)), strlen(e.text));
    }
}

/* What `say` writes to stderr, in a process of its own; its status in *status. */
static const char *
hear(void (*say)(void), int *status) {
    static char heard[20000];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        for (int s = 1; s < 32; s++)
            signal(s, SIG_DFL);
        say();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], heard + n, sizeof heard - 1 - n)) > 0;)
        n += (size_t)got;
    heard[n] = '\0';
    close(ends[0]);
    waitpid(child, status, 0);
    return heard;
}

static void
say_lines(void) {
    log_level(LOG_INFO);
    log_debug("test", "not shown");
    log_info("test", "he said: %s", "a\nb\x1b[2J\r\x7f\xc2\x9bm\xff ok \xc3\xa4");
    log_error("test", "%s", "second");
}

static void
test_log_escapes(void **state) {
    (void)state;
    int status;
    const char *heard = hear(say_lines, &status);
    assert_int_equal(status, 0);
    const char *want = "Z info test he said: a\\x0ab\\x1b[2J\\x0d\\x7f\\x9bm\\xff ok \xc3\xa4\n";
    if (!strstr(heard, want))
        fail_msg("got: %s", heard);
    assert_non_null(strstr(heard, "Z error test second\n"));
    assert_null(strstr(heard, "not shown"));
    assert_int_equal(heard[4], '-');
    assert_int_equal(heard[10], 'T');
}

static void
say_long(void) {
    char big[9000];
    memset(big, 1, sizeof big - 1);
    big[sizeof big - 1] = '\0';
    log_warn("test", "%s", big);
}

static void
test_log_is_bounded(void **state) {
    (void)state;
    int status;
    const char *heard = hear(say_long, &status);
    assert_int_equal(status, 0);
    size_t n = strlen(heard);
    assert_true(n > 2000 && n < 9000);
    assert_int_equal(heard[n - 1], '\n');
    assert_int_equal(strcspn(heard, "\n"), n - 1);
}

static void
say_environment(void) {
    setenv("AGON_LOG", "error", 1);
    log_warn("test", "hidden");
    log_error("test", "shown");
}

static void
test_log_level(void **state) {
    (void)state;
    int status;
    const char *heard = hear(say_environment, &status);
    assert_null(strstr(heard, "hidden"));
    assert_non_null(strstr(heard, "shown"));
}

static void
say_panic(void) {
    ensure(1 + 1 == 3);
}

static void
test_panic(void **state) {
    (void)state;
    int status;
    const char *heard = hear(say_panic, &status);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(heard, "test_err.c:"));
    assert_non_null(strstr(heard, "1 + 1 == 3"));
}

static void
say_too_much(void) {
    mem_zero(SIZE_MAX / 2, 3);
}

static void
test_memory(void **state) {
    (void)state;
    int status;
    const char *heard = hear(say_too_much, &status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_non_null(strstr(heard, "out of memory"));
    unsigned char *p = mem_aligned(100);
    assert_int_equal((uintptr_t)p % 64, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i], 0);
    free(p);
    free(mem_alloc(0));
    free(mem_zero(0, 8));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_err_is_bounded),
        cmocka_unit_test(test_err_cuts_between_characters),
        cmocka_unit_test(test_log_escapes),
        cmocka_unit_test(test_log_is_bounded),
        cmocka_unit_test(test_log_level),
        cmocka_unit_test(test_panic),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
