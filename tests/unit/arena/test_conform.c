/* Recorded matches (tests/golden/rules) are replayed without a difference, planted differences are
 * found, and files that are none are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arena/conform.h"
#include "base/buf.h"
#include "base/file.h"

/* A skipped match shows a fault of the original: bids of no dice and of a million dice; two apples
 * on one cell. Other faults, whose matches are replayed all the same, are in arena/conform-env.c.
 */
static const struct {
    const char *env;
    int matches, steps, skipped;
} golden[] = {
    {"Breakthrough-v0", 20, 982, 0},
    {"Breakthrough-v0-tiny", 20, 256, 0},
    {"ConnectFour-v0", 21, 333, 0},
    {"IteratedPrisonersDilemma-v0", 20, 800, 0},
    {"IteratedRockPaperScissors-v0", 20, 300, 0},
    {"LiarsDice-v0", 20, 530, 1},
    {"LiarsDice-v0-small", 20, 286, 0},
    {"Nim-v0", 20, 131, 0},
    {"Nim-v0-large", 20, 279, 0},
    {"PigDice-v0", 20, 1143, 0},
    {"PigDice-v0-short", 20, 436, 0},
    {"SimpleNegotiation-v0", 22, 222, 0},
    {"SimpleNegotiation-v1", 20, 182, 0},
    {"Snake-v0", 19, 408, 1},
    {"TicTacToe-v0", 20, 143, 0},
};

static void
golden_path(char out[200], const char *env) {
    snprintf(out, 200, "tests/golden/rules/%s.jsonl", env);
}

static void
keep_first(void *arg, const struct conform_difference *d) {
    char *out = arg;
    if (!*out)
        snprintf(out, 500, "line %d, match %lld, step %d: %s", d->line, d->match, d->step, d->what);
}

static void
recorded_matches_are_replayed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct conform_count c = {0};
        struct err e;
        char path[200], first[500] = "";
        golden_path(path, golden[i].env);
        if (conform_file(path, keep_first, first, &c, &e))
            fail_msg("%s (tests run in the top folder)", e.text);
        if (c.differences)
            fail_msg("%s: %d differences; %s", path, c.differences, first);
        assert_string_equal(first, "");
        assert_int_equal(c.matches, golden[i].matches);
        assert_int_equal(c.steps, golden[i].steps);
        assert_int_equal(c.skipped, golden[i].skipped);
    }
}

static void
every_environment_has_its_matches(void **state) {
    (void)state;
    size_t n = sizeof golden / sizeof golden[0];
    for (size_t i = 0; i < n; i++)
        assert_string_equal(conform_env_name((int)i), golden[i].env);
    assert_null(conform_env_name((int)n));
    assert_null(conform_env_name(-1));
}

/* Runs a text as a file. Returns what the first difference says, or the error, or "none". */
static const char *
run_text(const char *text, size_t n) {
    static char said[1100];
    char path[] = "/tmp/agon-conform-XXXXXX";
    struct conform_count c = {0};
    struct err e;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), n);
    close(fd);
    said[0] = '\0';
    if (conform_file(path, keep_first, said, &c, &e))
        snprintf(said, sizeof said, "%s", e.text + strlen(path));
    else
        assert_int_equal(c.differences > 0, said[0] != '\0');
    unlink(path);
    return said[0] ? said : "none";
}

/* The golden file with the first `old` behind the first `after` replaced. */
static const char *
run_changed(const char *env, const char *after, const char *old, const char *new) {
    struct buf file = {0}, changed = {0};
    struct err e;
    char path[200];
    golden_path(path, env);
    assert_int_equal(file_read(path, 1 << 20, &file, &e), 0);
    const char *text = buf_text(&file), *at = strstr(text, after);
    assert_non_null(at);
    at = strstr(at, old);
    assert_non_null(at);
    buf_add(&changed, text, (size_t)(at - text));
    buf_put(&changed, new);
    buf_put(&changed, at + strlen(old));
    const char *said = run_text((const char *)changed.at, changed.len);
    buf_free(&file);
    buf_free(&changed);
    return said;
}

static void
planted_differences_are_found(void **state) {
    (void)state;
    static const struct {
        const char *env, *after, *old, *new, *what;
    } plant[] = {
        {"TicTacToe-v0", "steps", "],[1,", "],[0,",
         "player 0 replies, but the other one is to move"},
        {"TicTacToe-v0", "steps", ",1,[]", ",0,[]", "step 0: '[5]' was illegal, but is legal"},
        {"TicTacToe-v0", "\"end\"", "win", "draw", "it ended as draw, but pays"},
        {"TicTacToe-v0", "rewards", "\"0\":1", "\"0\":-1",
         "it paid -1 and -1, but must pay 1 and -1"},
        {"TicTacToe-v0", "\"end\"", "win", "invalid", "not by an illegal reply too many"},
        {"Nim-v0", "steps", "[0 ", "[7 ", "was legal, but is illegal"},
        {"ConnectFour-v0", "\"steps\"", "],[1,", "],[1,\"[col 0]\",1,[]],[1,",
         "the other one is to"},
        {"PigDice-v0", "steps", "1,[4]", "1,[7]", "7 is drawn, which cannot be"},
        {"PigDice-v0", "steps", "1,[4]", "1,[]", "something is to be drawn, but nothing is"},
        {"PigDice-v0", "steps", "1,[4]", "1,[4,4]", "4 is drawn, but nothing is to be drawn"},
        {"PigDice-v0-short", "steps", "1,[4]", "1,[1]", "player 0 replies, but the other one"},
        {"LiarsDice-v0", "\"chance\":[", "4,", "", "something is to be drawn, but nothing is"},
        {"LiarsDice-v0", "[Call]\",1,[", "2,", "", "something is to be drawn, but nothing is"},
        {"LiarsDice-v0-small", "steps", "Bid: 2, 2", "Bid: 5, 4", "was legal, but is illegal"},
        {"IteratedRockPaperScissors-v0", "rewards", "\"0\":1", "\"0\":0", "it paid 0 and -1"},
        {"IteratedRockPaperScissors-v0", "steps", "[scissors]", "[well]", "was legal, but is"},
        {"IteratedPrisonersDilemma-v0", "\"match\":4", "[1,\"[Cooperate]\",1,[]]],",
         "[1,\"[Defect]\",1,[]]],", "it ended as draw, but pays -1"},
        {"SimpleNegotiation-v0", "chance", "18", "28", "28 is drawn, which cannot be"},
        {"SimpleNegotiation-v0", "steps", "3 Brick", "99 Brick", "was legal, but is illegal"},
        {"SimpleNegotiation-v1", "steps", "6 Gold -> 2 Gold", "11 Gold -> 2 Gold",
         "but is illegal"},
        {"SimpleNegotiation-v1", "\"lost\"", "0,[]]],\"rewards\"",
         "0,[]],[0,\"hm\",1,[]]],\"rewards\"", "the match should have ended"},
        {"Snake-v0", "initial", "[3,1]", "[0,0]", "is drawn, which cannot be"},
        {"Breakthrough-v0", "steps", "],[1,\"[", "],[1,\"[a1", "was legal, but is illegal"},
    };
    for (size_t i = 0; i < sizeof plant / sizeof plant[0]; i++) {
        const char *said = run_changed(plant[i].env, plant[i].after, plant[i].old, plant[i].new);
        if (!strstr(said, plant[i].what) || said[0] == ':')
            fail_msg("plant %zu, %s: '%s' for '%s' gives: %s", i, plant[i].env, plant[i].new,
                     plant[i].old, said);
    }
}

static void
what_is_no_such_file_is_refused(void **state) {
    (void)state;
#define HEAD "{\"env\":\"TicTacToe-v0\",\"params\":{}}\n"
    static const struct {
        const char *text, *what;
    } bad[] = {
        {"", "the file is empty"},
        {"\n\n", "the file is empty"},
        {"{", ":1: this is not JSON"},
        {"[]\n", ":1: the first line must name the environment"},
        {"{\"env\":3}\n", ":1: the first line must name the environment"},
        {"{\"env\":\"Chess-v0\"}\n", "'Chess-v0' is none of Breakthrough-v0, "},
        {"{\"env\":\"TicTacToe-v0\"}\n", "can be checked with the parameters {} only"},
        {"{\"env\":\"Nim-v0\",\"params\":{\"piles\":[9]}}\n",
         "with the parameters {\"piles\":[3,4,5]}"},
        {HEAD "[1,2]\n", ":2: a match must have \"steps\""},
        {HEAD "{\"steps\":[]}\n", ":2: a match must have \"steps\""},
        {HEAD "{\"steps\":[3]}\n", ":2: a step must be [player, \"reply\", 1 or 0, [draws]]"},
        {HEAD "{\"steps\":[[0,\"[4]\"]]}\n", ":2: a step must be"},
        {HEAD "{\"steps\":[[0,4,1,[]]]}\n", ":2: a step must be"},
        {HEAD "{\"steps\":[[0,\"[4]\",1,[]]]}\n", ":2: a match must have its \"end\""},
        {HEAD "{\"error_allowance\":-1,\"steps\":[[0,\"[4]\",1,[]]]}\n",
         ":2: \"error_allowance\" must"},
        {HEAD "{\"steps\":[[7,\"[4]\",1,[]]],\"end\":\"win\"}\n",
         "player 7 replies, but the other"},
        {HEAD "\n{\"steps\":[[0,\"[4]\",1,[]]],\"end\":\"win\"}",
         "it ended, but goes on by the rules"},
        {HEAD "\xff\n", ":2: this is not JSON"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *said = run_text(bad[i].text, strlen(bad[i].text));
        if (!strstr(said, bad[i].what))
            fail_msg("text %zu gives: %s", i, said);
    }
    struct conform_count c = {0};
    struct err e;
    assert_int_equal(conform_file("/nowhere/at/all", NULL, NULL, &c, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere/at/all"));
}

/* Every cut of a file gives differences or an error, never a crash. */
static void
cut_files_do_no_harm(void **state) {
    (void)state;
    struct buf file = {0};
    struct err e;
    assert_int_equal(file_read("tests/golden/rules/Snake-v0.jsonl", 1 << 20, &file, &e), 0);
    for (size_t n = 0; n < 2500 && n < file.len; n += 7)
        run_text((const char *)file.at, n);
    buf_free(&file);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_matches_are_replayed),
        cmocka_unit_test(every_environment_has_its_matches),
        cmocka_unit_test(planted_differences_are_found),
        cmocka_unit_test(what_is_no_such_file_is_refused),
        cmocka_unit_test(cut_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
