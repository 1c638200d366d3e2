/* Games from outside: the lines of the protocol against everything that a program may write,
 * the scan of JSON behind them, the cage, the registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "games/extern/cache.h"
#include "games/extern/extern.h"
#include "games/extern/message.h"
#include "games/extern/process.h"
#include "games/extern/program.h"
#include "games/extern/registry.h"
#include "games/extern/scan.h"
#include "games/laws.h"

/* ---- JSON ---- */

static bool
skips(const char *json) {
    struct scan s;
    size_t n = strlen(json);
    char *copy = mem_copy(json, n + 1), *room = mem_alloc(n + 1);
    char *exact = mem_alloc(n + 1); /* a sanitizer sees a reader that goes too far */
    memcpy(exact, copy, n);
    scan_init(&s, exact, n, room);
    scan_skip(&s);
    bool whole = !s.bad && !scan_peek(&s);
    free(copy);
    free(room);
    free(exact);
    return whole;
}

static void
json_is_read_strictly(void **state) {
    (void)state;
    static const char *const good[] = {
        "0",
        "-1.5e+10",
        "[]",
        "{}",
        " [ 1 , 2 ] ",
        "{\"a\":[true,false,null]}",
        "\"\\ud83d\\ude00\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xc3\xa4\"",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"};
    static const char *const bad[] = {
        "",
        "-",
        "01",
        "1.",
        ".5",
        "1e",
        "+1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "tru",
        "\"",
        "\"\\x\"",
        "\"\\u00g0\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"\x01\"",
        "\"\xff\"",
        "\"\xc3\"",
        "\"\xc0\x80\"",
        "[",
        "{",
        "{\"a\":",
        "[1",
        "nul",
        "NaN",
        "Infinity",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!skips(good[i]))
            fail_msg("not read: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (skips(bad[i]))
            fail_msg("read: %s", bad[i]);
}

static void
strings_and_numbers_are_decoded(void **state) {
    (void)state;
    static const char text[] = "[\"a\\u00e4\\ud83d\\ude00\\n\",-12,9223372036854775808,1.5]";
    char room[sizeof text];
    struct scan s;
    bool first = true;
    scan_init(&s, text, sizeof text - 1, room);
    scan_expect(&s, '[');
    assert_true(scan_more(&s, &first, ']'));
    assert_string_equal(scan_string(&s), "a\xc3\xa4\xf0\x9f\x98\x80\n");
    assert_true(scan_more(&s, &first, ']'));
    struct scan_number n = scan_number(&s);
    assert_true(n.whole && n.value == -12);
    assert_true(scan_more(&s, &first, ']'));
    n = scan_number(&s);
    assert_true(!n.whole && n.real > 9.2e18);
    assert_true(scan_more(&s, &first, ']'));
    n = scan_number(&s);
    assert_true(!n.whole && n.real > 1.4 && n.real < 1.6);
    assert_false(scan_more(&s, &first, ']'));
    assert_false(s.bad);
}

/* ---- scenes ---- */

/* NULL, or the complaint about a line. */
static const char *
complaint(const char *line, const struct hello *h) {
    static struct err e;
    size_t n = strlen(line);
    char *exact = mem_alloc(n ? n : 1);
    memcpy(exact, line, n);
    struct scene *s = scene_read(exact, n, 7, h, &e);
    free(exact);
    free(s);
    return s ? NULL : e.text;
}

#define STATE "{\"type\":\"state\",\"id\":7,\"views\":[\"v\",\"w\"],"

static void
a_scene_is_read(void **state) {
    (void)state;
    struct hello h = {0};
    struct err e;
    const char *line =
        STATE "\"more\":{\"of\":[1]},\"legal\":[[5,\"five\"],[2,\"two\"]],\"told\":[\"\",\"x\\n\"],"
              "\"mover\":1}";
    struct scene *s = scene_read(line, strlen(line), 7, &h, &e);
    assert_non_null(s);
    assert_int_equal(s->mover, GAME_SEAT_1);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->action[0], 2);
    assert_string_equal(s->word[0], "two");
    assert_string_equal(s->word[1], "five");
    assert_string_equal(s->view[1], "w");
    assert_string_equal(s->told[1], "x"); /* a line's end at the end is taken off */
    assert_null(s->rules[0]);
    free(s);
    line = STATE "\"mover\":\"chance\",\"outcomes\":[[0,0.3333333,\"a\"],[1,0.6666666,\"b\"]]}";
    s = scene_read(line, strlen(line), 7, &h, &e);
    assert_non_null(s);
    double sum = s->probability[0] + s->probability[1];
    assert_true(sum > 1 - 1e-12 && sum < 1 + 1e-12);
    free(s);
    line = STATE "\"mover\":\"over\",\"result\":-0.5}";
    s = scene_read(line, strlen(line), 7, &h, &e);
    assert_non_null(s);
    assert_true(s->result < -0.4 && s->result > -0.6);
    free(s);
}

/* LONG: a table. */
static void
hostile_lines_are_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"", "no JSON object"},
        {"null", "no JSON object"},
        {"[]", "no JSON object"},
        {"{}", "answered another question"},
        {"{\"id\":7}", "\"type\" must be \"state\""},
        {"{\"id\":8,\"type\":\"state\"}", "another question than number 7"},
        {"{\"id\":7.0,\"type\":\"state\"}", "another question"},
        {"{\"id\":7,\"type\":\"refused\"}", "\"type\" must be \"state\""},
        {"{\"id\":7,\"id\":7,\"type\":\"state\"}", "\"id\" is there twice"},
        {"{\"type\":\"error\",\"id\":7,\"text\":\"no \\u001b[2J\"}",
         "the program says: no \\x1b[2J"},
        {STATE "\"mover\":0}", "\"legal\" must be there"},
        {STATE "\"mover\":2,\"legal\":[[1,\"a\"]]}", "\"mover\" must be 0, 1"},
        {STATE "\"mover\":\"me\"}", "\"mover\" must be"},
        {STATE "\"mover\":0,\"legal\":[]}", "list of 1 to 512"},
        {STATE "\"mover\":0,\"legal\":{}}", "\"legal\" must be a list"},
        {STATE "\"mover\":0,\"legal\":[[1,\"a\"],[1,\"b\"]]}", "action 1 is in \"legal\" twice"},
        {STATE "\"mover\":0,\"legal\":[[-1,\"a\"]]}", "whole number from 0"},
        {STATE "\"mover\":0,\"legal\":[[1.5,\"a\"]]}", "whole number from 0"},
        {STATE "\"mover\":0,\"legal\":[[1073741824,\"a\"]]}", "whole number from 0"},
        {STATE "\"mover\":0,\"legal\":[[99999999999999999999,\"a\"]]}", "whole number from 0"},
        {STATE "\"mover\":0,\"legal\":[[1,\"\"]]}", "the word of action 1"},
        {STATE "\"mover\":0,\"legal\":[[1,\"a\\u0007\"]]}", "the word of action 1"},
        {STATE "\"mover\":0,\"legal\":[[1]]}", "must be [action, \"word\"]"},
        {STATE "\"mover\":0,\"legal\":[[1,\"a\",2]]}", "must be [action, \"word\"]"},
        {STATE "\"mover\":\"chance\",\"outcomes\":[[0,0.5,\"a\"],[1,0.4,\"b\"]]}", "sum to 0.9"},
        {STATE "\"mover\":\"chance\",\"outcomes\":[[0,1.5,\"a\"],[1,-0.5,\"b\"]]}",
         "above 0, up to 1"},
        {STATE "\"mover\":\"chance\",\"outcomes\":[[0,0,\"a\"],[1,1,\"b\"]]}", "above 0, up to 1"},
        {STATE "\"mover\":\"chance\",\"legal\":[[0,\"a\"]]}", "\"outcomes\" must be there"},
        {STATE "\"mover\":0,\"legal\":[[0,\"a\"]],\"outcomes\":[[0,1,\"a\"]]}", "cannot both"},
        {STATE "\"mover\":\"over\"}", "\"result\" must be"},
        {STATE "\"mover\":\"over\",\"result\":1.01}", "\"result\" must be"},
        {STATE "\"mover\":\"over\",\"result\":1e999}", "\"result\" must be"},
        {STATE "\"mover\":\"over\",\"result\":\"1\"}", "\"result\" is not what"},
        {STATE "\"mover\":\"over\",\"result\":0,\"told\":[\"a\"]}",
         "\"told\" must be a list of two"},
        {STATE "\"mover\":\"over\",\"result\":0,\"told\":[\"a\",\"\\u0000\"]}",
         "\"told\" must be a list"},
        {STATE "\"mover\":\"over\",\"result\":0,\"told\":[\"a\",\"\\t\"]}",
         "without control characters"},
        {STATE "\"mover\":\"over\",\"result\":0}x", "goes on behind it"},
        {STATE "\"mover\":\"over\",\"result\":0}{}", "goes on behind it"},
        {STATE "\"mover\":\"over\",\"result\":0", "no JSON"},
        {STATE "\"mover\":0,\"open\":true,\"legal\":[[0,\"a\"]]}", "\"open\" is for programs"},
        {"{\"type\":\"state\",\"id\":7,\"views\":[\"\",\"w\"],\"mover\":0,\"legal\":[[0,\"a\"]]}",
         "must tell the seat"},
    };
    struct hello h = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = complaint(bad[i].line, &h);
        if (!why || !strstr(why, bad[i].part))
            fail_msg("%s gives: %s", bad[i].line, why ? why : "no complaint");
    }
    h.flags = GAME_NO_CHANCE;
    assert_non_null(strstr(complaint(STATE "\"mover\":\"chance\",\"outcomes\":[[0,1,\"a\"]]}", &h),
                           "no chance"));
    h.open = true;
    assert_null(complaint("{\"id\":7,\"type\":\"refused\"}", &h));
}

static void
long_lists_and_texts_are_refused(void **state) {
    (void)state;
    struct hello h = {0};
    struct buf line = {0};
    for (int n = GAME_MAX_ACTIONS; n <= GAME_MAX_ACTIONS + 1; n++) {
        buf_clear(&line);
        buf_put(&line, STATE "\"mover\":0,\"legal\":[");
        for (int i = 0; i < n; i++)
            buf_fmt(&line, "%s[%d,\"w%d\"]", i ? "," : "", i, i);
        buf_put(&line, "]}");
        assert_int_equal(complaint(buf_text(&line), &h) == NULL, n == GAME_MAX_ACTIONS);
    }
    for (int n = GAME_TEXT - 1; n <= GAME_TEXT; n++) {
        buf_clear(&line);
        buf_fmt(&line, STATE "\"mover\":\"over\",\"result\":0,\"told\":[\"%0*d\",\"\"]}", n, 0);
        assert_int_equal(complaint(buf_text(&line), &h) == NULL, n == GAME_TEXT - 1);
    }
    buf_free(&line);
}

/* ---- hello ---- */

#define HELLO(more)                                                                        \
    "{\"type\":\"hello\",\"protocol\":1,\"name\":\"x_1\",\"title\":\"X\",\"max_plies\":3," \
    "\"rules\":[\"r\",\"s\"]" more "}"

static const char *
hello_complaint(const char *line) {
    static struct err e;
    struct hello h;
    if (hello_read(line, strlen(line), &h, &e) < 0)
        return e.text;
    hello_free(&h);
    return NULL;
}

static void
a_hello_is_checked(void **state) {
    (void)state;
    assert_null(hello_complaint(HELLO("")));
    assert_null(hello_complaint(HELLO(
        ",\"params\":[{\"name\":\"n\",\"type\":\"list\",\"min\":1,\"max\":9,\"default\":\"3-4\","
        "\"help\":\"h\"}],\"sessions\":5,\"unit\":2.5,\"chance\":false")));
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"{}", "did not answer hello"},
        {"x", "no JSON"},
        {"[1]", "no JSON object"},
        {"{\"type\":\"hello\",\"protocol\":2}", "speaks version 2"},
        {"{\"type\":\"hello\",\"protocol\":\"1\"}", "\"protocol\" must be"},
        {"{\"type\":\"hello\",\"protocol\":1,\"name\":\"X\"}", "\"name\" must begin"},
        {"{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\"}", "\"title\" must be"},
        {HELLO(",\"sessions\":0"), "\"sessions\" must be"},
        {HELLO(",\"unit\":0"), "\"unit\" must be"},
        {HELLO(",\"version\":0"), "\"version\" must be"},
        {HELLO(",\"chance\":1"), "\"chance\" must be true or false"},
        {HELLO(",\"params\":{}"), "\"params\" must be a list"},
        {HELLO(",\"params\":[{\"name\":\"n\"}]"), "parameter n: \"default\""},
        {HELLO(
             ",\"params\":[{\"name\":\"n\",\"type\":\"int\",\"min\":1,\"max\":9,\"default\":\"10\","
             "\"help\":\"h\"}]"),
         "\"default\" must be"},
        {HELLO(
             ",\"params\":[{\"name\":\"n\",\"type\":\"int\",\"min\":1,\"max\":0,\"default\":\"1\","
             "\"help\":\"h\"}]"),
         "\"max\" must be"},
        {HELLO(",\"params\":[{\"name\":\"n\",\"type\":\"real\",\"default\":\"1\",\"help\":\"h\"}]"),
         "\"type\" must be"},
        {"{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\",\"title\":\"X\",\"max_plies\":1001,"
         "\"rules\":[\"r\",\"s\"]}",
         "\"max_plies\" must be"},
        {"{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\",\"title\":\"X\",\"max_plies\":1,"
         "\"rules\":[\"r\",\"\"]}",
         "\"rules\" must be"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = hello_complaint(bad[i].line);
        if (!why || !strstr(why, bad[i].part))
            fail_msg("%s gives: %s", bad[i].line, why ? why : "no complaint");
    }
}

static void
requests_are_written(void **state) {
    (void)state;
    struct buf b = {0};
    struct hello h = {.param = {{"n", PARAM_INT, 0, 9, "1", "h"},
                                {"l", PARAM_LIST, 0, 9, "1", "h"},
                                {"b", PARAM_BOOL, 0, 1, "true", "h"}}};
    struct game_args args = {.count = {1, 2, 1}, .value = {{5}, {3, 4}, {1}}};
    new_request(&b, 9, 2, &h, &args);
    new_action(&b, 4);
    new_text(&b, "a\"\\\n", 4);
    new_end(&b);
    assert_string_equal(
        buf_text(&b),
        "{\"type\":\"new\",\"id\":9,\"to\":2,\"args\":{\"n\":5,\"l\":[3,4],\"b\":true},"
        "\"actions\":[4,\"a\\\"\\\\\\u000a\"]}\n");
    buf_clear(&b);
    act_request(&b, 1, 2, 3, 4, NULL, 0);
    assert_string_equal(buf_text(&b),
                        "{\"type\":\"act\",\"id\":1,\"from\":2,\"to\":3,\"action\":4}\n");
    buf_free(&b);
}

/* ---- the cage ---- */

static const struct process_limits limits = {.memory_mb = 1024, .cpu_seconds = 20, .file_mb = 1};

static struct process *
shell(const char *script) {
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct err e;
    struct process *p = process_start(argv, NULL, &limits, &e);
    if (!p)
        fail_msg("%s", e.text);
    return p;
}

static enum process_fault
ask(struct process *p, double seconds, char *answer, struct err *e) {
    const char *at;
    size_t n;
    enum process_fault bad = process_ask(p, "hi\n", 3, seconds, &at, &n, e);
    if (bad == PROCESS_FINE)
        snprintf(answer, 100, "%.*s", (int)n, at);
    return bad;
}

static void
a_process_answers(void **state) {
    (void)state;
    struct err e;
    char answer[100];
    struct process *p = shell("while read x; do echo \"got $x\"; done");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(p, 5, answer, &e), PROCESS_FINE);
        assert_string_equal(answer, "got hi");
    }
    process_stop(p);
    process_stop(NULL);
}

/* Answers come in the order of the questions, however they are cut. */
static void
several_questions_are_posted(void **state) {
    (void)state;
    struct err e;
    const char *at;
    size_t n;
    struct process *p =
        shell("read a; read b; printf \"$a\\n$b\"; sleep 0.1; echo; read c; echo $c");
    assert_int_equal(process_post(p, "1\n", 2, &e), PROCESS_FINE);
    assert_int_equal(process_post(p, "22\n", 3, &e), PROCESS_FINE);
    assert_int_equal(process_next(p, 5, &at, &n, &e), PROCESS_FINE);
    assert_true(n == 1 && at[0] == '1');
    assert_int_equal(process_post(p, "333\n", 4, &e), PROCESS_FINE);
    assert_int_equal(process_next(p, 5, &at, &n, &e), PROCESS_FINE);
    assert_true(n == 2 && memcmp(at, "22", 2) == 0);
    assert_int_equal(process_next(p, 5, &at, &n, &e), PROCESS_FINE);
    assert_true(n == 3 && memcmp(at, "333", 3) == 0);
    process_stop(p);
    p = shell("read a; printf '1\\n2\\n3\\n'; sleep 100");
    assert_int_equal(process_post(p, "1\n", 2, &e), PROCESS_FINE);
    assert_int_equal(process_post(p, "2\n", 2, &e), PROCESS_FINE);
    assert_int_equal(process_next(p, 5, &at, &n, &e), PROCESS_FINE);
    assert_int_equal(process_next(p, 5, &at, &n, &e), PROCESS_CRASH);
    assert_non_null(strstr(e.text, "two answers"));
    process_stop(p);
}

static void
a_process_that_fails_is_told(void **state) {
    (void)state;
    static const struct {
        const char *script, *part;
        enum process_fault fault;
        double seconds;
    } bad[] = {
        {"exit 3", "exit status 3", PROCESS_CRASH, 5},
        {"read x; kill -SEGV $$", "signal 11", PROCESS_CRASH, 5},
        {"read x; echo oh dear >&2; exit 1", "its last words: oh dear", PROCESS_CRASH, 5},
        {"read x; sleep 100", "no answer within 0.1 s", PROCESS_TIME, 0.1},
        {"trap '' TERM INT HUP; read x; sleep 100 & sleep 100", "no answer", PROCESS_TIME, 0.1},
        {"read x; exec >&-; sleep 100", "closed its output", PROCESS_CRASH, 5},
        {"read x; printf 'a\\nb\\n'", "two answers", PROCESS_CRASH, 5},
        {"echo early; read x; sleep 100", "out of turn", PROCESS_CRASH, 5},
        {"read x; exec cat /dev/zero", "without an end", PROCESS_CRASH, 5},
        {"read x; cat /dev/zero >&2", "no answer", PROCESS_TIME, 0.2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {.text = ""};
        char answer[100];
        struct process *p = shell(bad[i].script);
        usleep(strstr(bad[i].script, "early") ? 100000 : 0);
        int64_t start = clock_mono_us();
        enum process_fault got = ask(p, bad[i].seconds, answer, &e);
        if (got == PROCESS_FINE) /* the second answer may come after the first was taken */
            got = ask(p, bad[i].seconds, answer, &e);
        if (got != bad[i].fault || (!strstr(e.text, bad[i].part) && !strstr(e.text, "out of turn")))
            fail_msg("%s gives %d: %s", bad[i].script, (int)got, e.text);
        assert_true(clock_mono_us() - start < 4000000);
        assert_int_equal(ask(p, 1, answer, &e), PROCESS_CRASH); /* it stays dead */
        process_stop(p);
    }
}

static void
a_process_is_confined(void **state) {
    (void)state;
    struct err e;
    char answer[100];
    setenv("AGON_TEST_SECRET", "42", 1);
    int leak = dup(0); /* some descriptor that must not get through */
    struct process *p =
        shell("read x; echo \"$(ls /proc/self/fd | wc -l) [$AGON_TEST_SECRET] $(ulimit -c) "
              "$(ulimit -v) $(ulimit -t)\"; read x");
    assert_int_equal(ask(p, 5, answer, &e), PROCESS_FINE);
    close(leak);
    /* 0, 1, 2 and that of the listing itself */
    assert_string_equal(answer, "4 [] 0 1048576 20");
    process_stop(p);
    const char *argv[] = {"/no/such/program", NULL};
    assert_null(process_start(argv, NULL, &limits, &e));
    assert_non_null(strstr(e.text, "No such file"));
}

static void
the_whole_group_ends(void **state) {
    (void)state;
    struct err e;
    char answer[100];
    struct process *p = shell("sleep 1000 & read x; echo $!; read x; sleep 1000");
    assert_int_equal(ask(p, 5, answer, &e), PROCESS_FINE);
    int child = atoi(answer);
    assert_int_equal(ask(p, 0.1, answer, &e), PROCESS_TIME);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    for (int i = 0; i < 200 && file_exists(path); i++) {
        struct buf b = {0};
        if (file_read(path, 4096, &b, NULL) < 0 || strstr(buf_text(&b), ") Z "))
            i = 200; /* nobody has waited for it yet */
        buf_free(&b);
        usleep(5000);
    }
    struct buf b = {0};
    bool alive = file_read(path, 4096, &b, NULL) == 0 && !strstr(buf_text(&b), ") Z ");
    buf_free(&b);
    assert_false(alive);
    process_stop(p);
}

/* ---- the registry ---- */

static char home[64];

static json_t *
row(const char *name, char digit) {
    char hash[HASH_HEX];
    memset(hash, digit, HASH_HEX - 1);
    hash[HASH_HEX - 1] = '\0';
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:s,s:s}", "name", name, "title", "T", "kind",
                     "shared", "version", 1, "speaks", GAME_ABI, "hash", hash, "added", "now",
                     "path", "/nowhere/x.so");
}

static int
version_of(const char *name) {
    struct registry_row r;
    struct err e;
    if (registry_find(name, &r, &e) != 1)
        return 0;
    int version = r.version;
    registry_free(&r);
    return version;
}

static void
put(const char *name, char digit) {
    struct err e;
    json_t *o = row(name, digit);
    if (registry_put(o, &e) < 0)
        fail_msg("%s", e.text);
    json_decref(o);
}

static void
rows_are_kept_with_versions(void **state) {
    (void)state;
    struct err e;
    struct registry_row r;
    assert_int_equal(registry_find("one", &r, &e), 0);
    put("two", 'a');
    put("one", 'a');
    assert_int_equal(version_of("one"), 1);
    put("one", 'a');
    assert_int_equal(version_of("one"), 1);
    put("one", 'b');
    assert_int_equal(version_of("one"), 2);
    put("one", 'a');
    assert_int_equal(version_of("one"), 3);
    char hash[HASH_HEX] = "";
    memset(hash, 'c', HASH_HEX - 1);
    assert_int_equal(registry_quarantine("one", hash, "why", &e), 0); /* another content */
    assert_int_equal(registry_find("one", &r, &e), 1);
    assert_null(r.quarantine);
    registry_free(&r);
    memset(hash, 'a', HASH_HEX - 1);
    assert_int_equal(registry_quarantine("one", hash, "why", &e), 0);
    const struct game *g;
    assert_int_equal(extern_find("one", &g, &e), -1);
    assert_non_null(strstr(e.text, "in quarantine: why"));
    assert_int_equal(extern_find("two", &g, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere/x.so"));
    assert_int_equal(registry_remove("one", &e), 1);
    assert_int_equal(registry_remove("one", &e), 0);
    assert_int_equal(registry_remove("two", &e), 1);
}

static void
a_damaged_registry_is_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "games.json:1:"},
        {"{", "games.json:1:"},
        {"{\"format\":2,\"games\":[]}", "no list of games of format 1"},
        {"{\"format\":1,\"games\":{}}", "no list of games"},
        {"{\"format\":1,\"games\":[{\"name\":\"one\"}]}", "a row needs"},
        {"{\"format\":1,\"games\":[{\"name\":\"one\",\"title\":\"t\",\"added\":\"x\",\"hash\":"
         "\"1\"}]}",
         "SHA-256"},
    };
    char path[128];
    struct err e;
    struct registry_row r;
    snprintf(path, sizeof path, "%s/games.json", home);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(file_write(path, bad[i].text, strlen(bad[i].text), false, &e), 0);
        if (registry_find("one", &r, &e) != -1 || !strstr(e.text, bad[i].part))
            fail_msg("%s gives: %s", bad[i].text, e.text);
        assert_null(game_find("one"));
    }
    unlink(path);
}

/* ---- whole programs ---- */

/* A game in shell: two seats say 1 or 2 in turn, twice each; the first word decides. */
static const char script[] =
    "while read -r line; do case $line in\n"
    "*hello*) echo '{\"type\":\"hello\",\"protocol\":1,\"name\":\"shell_game\",\"title\":\"S\","
    "\"max_plies\":2,\"chance\":false,\"sessions\":2,\"rules\":[\"r\",\"r\"]}';;\n"
    "*) id=${line#*'\"id\":'}; id=${id%%,*}; acts=${line##*'\"actions\":['}; acts=${acts%%']'*}\n"
    "case $line in *'\"act\"'*) a=${line##*:}; acts=$held${held:+,}${a%\\}};; esac; held=$acts\n"
    "head=\"{\\\"type\\\":\\\"state\\\",\\\"id\\\":$id,\\\"views\\\":[\\\"<$acts>\\\",\\\"<$acts>"
    "\\\"],\"\n"
    "case $acts in '') echo "
    "\"$head\\\"mover\\\":0,\\\"legal\\\":[[1,\\\"one\\\"],[2,\\\"two\\\"]]}\";;\n"
    "?) told=\"\\\"told\\\":[\\\"$acts\\\",\\\"$acts\\\"],\"\n"
    "echo \"$head$told\\\"mover\\\":1,\\\"legal\\\":[[1,\\\"one\\\"],[2,\\\"two\\\"]]}\";;\n"
    "2,2) exit 9;;\n"
    "*) told=\"\\\"told\\\":[\\\"${acts#*,}\\\",\\\"${acts#*,}\\\"],\"\n"
    "echo \"$head$told\\\"mover\\\":\\\"over\\\",\\\"result\\\":1}\";; esac;; esac; done\n";

/* `first` stands before the script, `more` among what it says of itself. */
static void
write_script(const char *path, const char *first, const char *more) {
    static const char at[] = "\"sessions\":2,";
    struct buf b = {0};
    struct err e;
    const char *middle = strstr(script, at);
    buf_put(&b, first);
    buf_add(&b, script, (size_t)(middle - script));
    buf_put(&b, more);
    buf_put(&b, middle);
    assert_int_equal(file_write(path, b.at, b.len, false, &e), 0);
    buf_free(&b);
}

static const struct game *
shell_game(char *path, size_t cap, const char *first, const char *more) {
    struct err e;
    struct hello h;
    char hash[HASH_HEX];
    const struct game *g = NULL;
    snprintf(path, cap, "%s/game.sh", home);
    write_script(path, first, more);
    json_t *o = json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:[s,s],s:s,s:s,s:i,s:f}", "name", "shell_game",
                          "title", "S", "kind", "program", "version", 1, "speaks", 1, "added",
                          "now", "command", "/bin/sh", path, "program", "/bin/sh", "folder", home,
                          "memory_mb", 1024, "deadline", 5.0);
    struct registry_row r = {
        .command = {"/bin/sh", path}, .program = "/bin/sh", .folder = home, .limits = limits};
    struct process *p = program_greet(&r, &h, &e);
    if (!p || registry_hash_command(r.command, home, hash, &e) < 0)
        fail_msg("%s", e.text);
    process_stop(p);
    json_object_set_new(o, "hash", json_string(hash));
    json_object_set(o, "hello", h.json);
    hello_free(&h);
    if (registry_put(o, &e) < 0 || extern_find("shell_game", &g, &e) != 1)
        fail_msg("%s", e.text);
    json_decref(o);
    return g;
}

static void
go(const struct game *g, void *s, const struct game_args *args, int a, int b) {
    g->init(s, args);
    assert_int_equal(g->mover(s), 0);
    g->apply(s, a);
    assert_int_equal(g->mover(s), 1);
    g->apply(s, b);
    assert_int_equal(g->mover(s), GAME_OVER);
}

static void
a_program_plays_fails_and_comes_back(void **state) {
    (void)state;
    char path[128], at[GAME_TEXT];
    struct text t;
    struct game_args args;
    struct err e;
    enum game_fault_kind kind;
    _Alignas(16) unsigned char s[GAME_MAX_STATE], other[GAME_MAX_STATE];
    const struct game *g = shell_game(path, sizeof path, "", ""), *again;
    assert_int_equal(game_args_default(g, &args, &e), 0);
    go(g, s, &args, 1, 2);
    assert_null(game_fault(g, s, &kind));
    assert_true(g->result(s) > 0);
    /* a position that is in nobody's cache and session any more */
    g->init(other, &args);
    g->apply(other, 2);
    extern_rest();
    text_init(&t, at, sizeof at);
    g->observe(other, 0, &t);
    assert_string_equal(at, "<2>");
    go(g, s, &args, 2, 2);
    assert_non_null(strstr(game_fault(g, s, &kind), "exit status 9"));
    assert_int_equal(kind, FAULT_CRASH);
    assert_int_equal(game_faults(g, NULL), 1);
    assert_int_equal(g->mover(s), GAME_OVER); /* it was told, so this tries again */
    assert_int_equal(game_faults(g, NULL), 2);
    go(g, s, &args, 1, 1); /* it was started again */
    assert_null(game_fault(g, s, &kind));
    assert_true(g->result(s) > 0);
    for (int i = 0; i < PROGRAM_FAILURES; i++)
        go(g, s, &args, 2, 2);
    assert_int_equal(extern_find("shell_game", &again, &e), -1);
    assert_non_null(strstr(e.text, "in quarantine: 5 failures in a row"));
    g->init(s, &args);
    g->apply(s, 1);
    assert_null(game_fault(g, s, &kind)); /* known already */
    g->apply(s, 2);
    g->apply(s, 1); /* not known */
    assert_int_equal(g->mover(s), GAME_OVER);
    g->init(s, &args);
    g->apply(s, 2);
    g->apply(s, 2);
    assert_non_null(strstr(game_fault(g, s, &kind), "quarantine"));
    assert_int_equal(kind, FAULT_REFUSED);
    assert_int_equal(laws_check(g, &args, 1, 20, &e), -1);
    assert_non_null(strstr(e.text, "law 'answer' is broken"));
}

static void
a_changed_file_is_refused(void **state) {
    (void)state;
    char path[128];
    struct err e;
    struct game_args args;
    enum game_fault_kind kind;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    const struct game *g = shell_game(path, sizeof path, "", ""), *again;
    assert_int_equal(game_args_default(g, &args, &e), 0);
    assert_int_equal(game_same(g, 1, game_hash(g), &e), 0);
    assert_int_equal(game_same(g, 1, "", &e), -1);
    assert_int_equal(game_same(game_find("nim"), 1, "", &e), 0);
    assert_string_equal(game_hash(game_find("nim")), "");
    extern_rest();
    FILE *f = fopen(path, "a");
    fputs("# changed\n", f);
    fclose(f);
    g->init(s, &args);
    g->apply(s, 1);
    g->apply(s, 2);
    g->apply(s, 2);
    g->init(s, &args);
    g->apply(s, 2);
    g->apply(s, 1);
    assert_int_equal(g->mover(s), GAME_OVER);
    assert_non_null(strstr(game_fault(g, s, &kind), "changed since it was registered"));
    assert_int_equal(kind, FAULT_REFUSED);
    struct registry_row r;
    assert_int_equal(registry_find("shell_game", &r, &e), 1);
    r.version = 7; /* as if it were another one: it has to be loaded anew */
    assert_int_equal(extern_try(&r, &again, &e), -1);
    assert_non_null(strstr(e.text, "have changed since it was registered"));
    registry_free(&r);
}

static void
expect_view(const struct game *g, const void *s, const char *view) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(s, 0, &t);
    assert_string_equal(at, view);
}

/* The third line that it says is held back until it says the fourth: it has to be asked ahead. */
static const char holds[] = "echo() { out=\"$out$*\n\"; n=$((n + 1)); "
                            "if [ $n -ne 3 ]; then printf \"$out\"; out=; fi; }\n";

static void
a_program_is_asked_ahead(void **state) {
    (void)state;
    char path[128];
    struct game_args args;
    struct err e;
    enum game_fault_kind kind;
    _Alignas(16) unsigned char a[GAME_MAX_STATE], b[GAME_MAX_STATE];
    const struct game *g = shell_game(path, sizeof path, holds, "\"ahead\":2,");
    assert_int_equal(game_args_default(g, &args, &e), 0);
    g->init(a, &args);
    g->init(b, &args);
    game_foresee(g, a, 1); /* nothing is known of the position itself yet: nothing is done */
    assert_int_equal(g->mover(a), 0);
    game_foresee(g, a, 1);
    game_foresee(g, a, 1);
    game_foresee(g, b, 2);
    game_foresee(g, b, 3); /* no room: left to whoever looks */
    g->apply(a, 1);
    g->apply(b, 2);
    assert_int_equal(g->mover(a), 1);
    expect_view(g, a, "<1>");
    expect_view(g, b, "<2>");
    /* The first of two ends the program: the other one is asked again, and not blamed. */
    game_foresee(g, b, 2);
    game_foresee(g, a, 2);
    g->apply(a, 2);
    g->apply(b, 2);
    assert_int_equal(g->mover(a), GAME_OVER);
    assert_null(game_fault(g, a, &kind));
    assert_true(g->result(a) > 0);
    assert_non_null(strstr(game_fault(g, b, &kind), "exit status 9"));
    assert_int_equal(game_faults(g, NULL), 1);
    /* What was asked and never looked at harms nobody. */
    g->init(a, &args);
    game_foresee(g, a, 1);
    extern_rest();
    go(g, a, &args, 1, 1);
    game_foresee(game_find("nim"), a, 1); /* no program: nothing */
}

static void
texts_are_remembered(void **state) {
    (void)state;
    struct texts t = {0};
    size_t n;
    assert_true(texts_add(&t, 5, "ab", 2));
    assert_true(texts_add(&t, 5, "ab", 2));
    assert_false(texts_add(&t, 5, "ac", 2));
    assert_string_equal(texts_find(&t, 5, &n), "ab");
    assert_null(texts_find(&t, 6, &n));
    texts_free(&t);
}

static int
make_home(void **state) {
    (void)state;
    snprintf(home, sizeof home, "/tmp/agon-extern-XXXXXX");
    if (!mkdtemp(home))
        return -1;
    setenv("AGON_HOME", home, 1);
    setenv("AGON_LOG", "error", 1);
    return 0;
}

static int
drop_home(void **state) {
    (void)state;
    static const char *const files[] = {"games.json", "games.json.lock", "game.sh"};
    extern_rest();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", home, files[i]);
        unlink(path);
    }
    return rmdir(home);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_strictly),
        cmocka_unit_test(strings_and_numbers_are_decoded),
        cmocka_unit_test(a_scene_is_read),
        cmocka_unit_test(hostile_lines_are_refused_with_a_reason),
        cmocka_unit_test(long_lists_and_texts_are_refused),
        cmocka_unit_test(a_hello_is_checked),
        cmocka_unit_test(requests_are_written),
        cmocka_unit_test(a_process_answers),
        cmocka_unit_test(several_questions_are_posted),
        cmocka_unit_test(a_process_that_fails_is_told),
        cmocka_unit_test(a_process_is_confined),
        cmocka_unit_test(the_whole_group_ends),
        cmocka_unit_test(rows_are_kept_with_versions),
        cmocka_unit_test(a_damaged_registry_is_told),
        cmocka_unit_test(texts_are_remembered),
        cmocka_unit_test(a_program_plays_fails_and_comes_back),
        cmocka_unit_test(a_changed_file_is_refused),
        cmocka_unit_test(a_program_is_asked_ahead),
    };
    return cmocka_run_group_tests(tests, make_home, drop_home);
}
