/* The configuration: what is accepted, what is refused and where, and that writing and reading
 * agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/file.h"
#include "base/mem.h"

static struct conf *
parse(const char *yaml) {
    struct conf *c = conf_new();
    struct err e;
    if (conf_parse(c, yaml, strlen(yaml), "a.yaml", &e) < 0)
        fail_msg("%s", e.text);
    return c;
}

static void
test_defaults(void **state) {
    (void)state;
    struct conf *c = conf_new();
    assert_string_equal(conf_text(c, "game"), "kuhn_poker");
    assert_int_equal(conf_int(c, "seed"), 1);
    assert_true(conf_bool(c, "model.tied"));
    assert_true(conf_real(c, "model.norm_eps") == 1e-5);
    assert_true(conf_real(c, "eval.every") == 20);
    assert_true(conf_real(c, "model.dim") == 64);
    assert_string_equal(conf_text(c, "learner.mode"), "periodic");
    assert_string_equal(conf_place(c, "seed"), "default");
    conf_free(c);
    conf_free(NULL);
}

static void
test_keys(void **state) {
    (void)state;
    struct conf *c = parse("# a comment\n"
                           "learner:\n"
                           "  lr: 2e-4\n"
                           "  magnet: {kl: 0.5, rate: 1}\n"
                           "  baseline_decay: 0.5\n"
                           "model.dim: 32\n"
                           "learner.magnet: {}\n"
                           "learner.clip: 0\n");
    assert_true(conf_real(c, "learner.lr") == 2e-4);
    assert_true(conf_real(c, "learner.magnet.kl") == 0.5);
    assert_true(conf_real(c, "learner.magnet.rate") == 1);
    assert_true(conf_real(c, "learner.baseline_decay") == 0.5);
    assert_true(conf_real(c, "learner.clip") == 0);
    assert_int_equal(conf_int(c, "model.dim"), 32);
    assert_string_equal(conf_place(c, "learner.magnet.kl"), "a.yaml:4:12");
    conf_free(c);
}

static void
test_values(void **state) {
    (void)state;
    struct conf *c = parse("workers.deadline: 1500ms\n"
                           "eval.every: '1.5h'\n"
                           "learner.lr_end: -1\n"
                           "learner.eps: 1E-9\n"
                           "model.tied: false\n"
                           "seed: 9007199254740991\n"
                           "prompt:\n"
                           "  template: |\n"
                           "    Rules: {rules}\n"
                           "    Now: {view}\n"
                           "  follow_up: \"\"\n"
                           "  answer: \"boxed\"\n");
    assert_true(conf_real(c, "workers.deadline") == 1.5);
    assert_true(conf_real(c, "eval.every") == 5400);
    assert_true(conf_real(c, "learner.lr_end") == -1);
    assert_true(conf_real(c, "learner.eps") == 1e-9);
    assert_false(conf_bool(c, "model.tied"));
    assert_true(conf_int(c, "seed") == 9007199254740991);
    assert_string_equal(conf_text(c, "prompt.template"), "Rules: {rules}\nNow: {view}\n");
    assert_string_equal(conf_text(c, "prompt.follow_up"), "");
    assert_string_equal(conf_text(c, "prompt.answer"), "boxed");
    conf_free(c);
}

static void
test_nothing_written(void **state) {
    (void)state;
    conf_free(parse(""));
    conf_free(parse("# only words\n"));
    conf_free(parse("---\n"));
    conf_free(parse("{}"));
}

/* Every refusal: the file, then the start of the sentence and something that it must hold. */
static const struct {
    const char *yaml, *start, *holds;
} refusals[] = {
    {"seed: 1\nlearnr:\n  lr: 1\n", "a.yaml:2:1: there is no option \"learnr\"",
     "mean \"learner\""},
    {"learner:\n  lrr: 1\n", "a.yaml:2:3: there is no option \"learner.lrr\"", "\"learner.lr\""},
    {"lr: 1\n", "a.yaml:1:1: there is no option \"lr\"", "\"learner.lr\""},
    {"learner.dim: 1\n", "a.yaml:1:1: there is no option", "\"model.dim\""},
    {"laerner.lr: 1\n", "a.yaml:1:1: there is no option", "\"learner.lr\""},
    {"wrokers.count: 1\n", "a.yaml:1:1: there is no option", "\"workers.count\""},
    {"completely_else: 1\n", "a.yaml:1:1: there is no option", "`agon options`"},
    {"? \"\"\n: 1\n", "a.yaml:1:3: this key is empty", ""},
    {"\"se\\0ed\": 1\n", "a.yaml:1:1: this key", "NUL"},
    {"seed: 1\nseed: 2\n", "a.yaml:2:1: \"seed\" comes twice", ""},
    {"learner: {}\nlearner: {}\n", "a.yaml:2:1: \"learner\" comes twice", ""},
    {"learner:\n  lr: 1\nlearner.lr: 1\n", "a.yaml:3:1: learner.lr was set in line 2", ""},
    {"seed: {a: 1}\n", "a.yaml:1:7: seed takes one value, not a map", ""},
    {"seed: [1]\n", "a.yaml:1:7: seed takes one value, not a list", ""},
    {"- 1\n", "a.yaml:1:1: a list is not allowed", ""},
    {"? {a: b}\n: 1\n", "a.yaml:1:3: a key must be an option's name", ""},
    {"? [a]\n: 1\n", "a.yaml:1:3: a list is not allowed", ""},
    {"learner: 3\n", "a.yaml:1:10: \"learner\" is a section", ""},
    {"just words\n", "a.yaml:1:1: a configuration is made of lines", ""},
    {"seed:\n", "a.yaml:1:6: seed has no value", ""},
    {"seed: ~\n", "a.yaml:1:7: seed has no value", ""},
    {"prompt.template: null\n", "a.yaml:1:18: prompt.template has no value", "\"\""},
    {"seed: &x 1\n", "a.yaml:1:7: anchors", ""},
    {"model: &x {dim: 8}\n", "a.yaml:1:8: anchors", ""},
    {"seed: *x\n", "a.yaml:1:7: aliases", ""},
    {"*x : 1\n", "a.yaml:1:1: aliases", ""},
    {"seed: !!int 1\n", "a.yaml:1:7: tags", ""},
    {"model: !x {dim: 8}\n", "a.yaml:1:8: tags", ""},
    {"%TAG ! tag:x,1:\n---\nseed: 1\n", "a.yaml:1:1: %TAG", ""},
    {"seed: 1\n---\nseed: 2\n", "a.yaml:2:1: a second document", ""},
    {"seed: 1\n...\n---\n", "a.yaml:3:1: a second document", ""},
    {"seed: \"1\n", "a.yaml:2:1: this is not YAML", ""},
    {"game: b: c\n", "a.yaml:1:8: this is not YAML", ""},
    {"seed: 1\n\tgame: x\n", "a.yaml:2:1: this is not YAML", ""},
    {"seed: 1\ngame: \xff\n", "a.yaml:2:7: byte 0xff is not UTF-8", ""},
    {"game: \xc3\xa4 \xed\xa0\x80\n", "a.yaml:1:9: byte 0xed is not UTF-8", ""},
    {"game: \x01\n", "a.yaml:1:7: byte 0x01 is not allowed", ""},
    {"game: \"a\\0b\"\n", "a.yaml:1:7: game holds a NUL", ""},
    {"game: \"a\\x1b[2J\"\n", "a.yaml:1:7: game is \"a\\x1b[2J\"", "control characters"},
    {"game: \"a\\x85\"\n", "a.yaml:1:7: game is", "control characters"},
    {"seed: 1_000\n", "a.yaml:1:7: seed is \"1_000\"", "whole number from 0 to 9007199254740991"},
    {"seed: 0x10\n", "a.yaml:1:7: seed is", "whole number"},
    {"seed: 010\n", "a.yaml:1:7: seed is", "whole number"},
    {"seed: +1\n", "a.yaml:1:7: seed is", "whole number"},
    {"seed: 1.0\n", "a.yaml:1:7: seed is", "whole number"},
    {"seed: '1'\n", "a.yaml:1:7: seed is", "without quotes"},
    {"seed: -1\n", "a.yaml:1:7: seed is", "from 0"},
    {"seed: 9007199254740992\n", "a.yaml:1:7: seed is", "whole number"},
    {"seed: 99999999999999999999\n", "a.yaml:1:7: seed is", "whole number"},
    {"learner.lr: fast\n", "a.yaml:1:13: learner.lr is \"fast\"", "a number from 0 to 10"},
    {"learner.lr: .inf\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"learner.lr: nan\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"learner.lr: 1e999\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"learner.lr: 1.\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"learner.lr: 1e\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"learner.lr: 11\n", "a.yaml:1:13: learner.lr is", "a number"},
    {"model.tied: yes\n", "a.yaml:1:13: model.tied is \"yes\"", "true or false"},
    {"model.tied: True\n", "a.yaml:1:13: model.tied is \"True\"", "true or false"},
    {"eval.every: 90\n", "a.yaml:1:13: eval.every is \"90\"", "250ms, 90s, 5m or 1h"},
    {"eval.every: 1d\n", "a.yaml:1:13: eval.every is \"1d\"", "from 1s to 86400s"},
    {"eval.every: 25h\n", "a.yaml:1:13: eval.every is", "a time"},
    {"eval.every: 1h30m\n", "a.yaml:1:13: eval.every is", "a time"},
    {"learner.mode: perodic\n", "a.yaml:1:15: learner.mode is \"perodic\"; it must be sync or",
     "did you mean \"periodic\""},
    {"learner.mode: sync|periodic\n", "a.yaml:1:15: learner.mode is", "sync or periodic"},
    {"learner.mode: \"\"\n", "a.yaml:1:15: learner.mode is \"\"", "sync or periodic"},
};

static void
test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct conf *c = conf_new();
        struct err e = {.text = "accepted"};
        int got = conf_parse(c, refusals[i].yaml, strlen(refusals[i].yaml), "a.yaml", &e);
        if (got != -1 || strncmp(e.text, refusals[i].start, strlen(refusals[i].start)) ||
            !strstr(e.text, refusals[i].holds))
            fail_msg("%swanted: %s ... %s\ngot:    %s", refusals[i].yaml, refusals[i].start,
                     refusals[i].holds, e.text);
        conf_free(c);
    }
}

static void
test_sizes(void **state) {
    (void)state;
    struct conf *c = conf_new();
    struct err e;
    char *big = mem_alloc(70000);
    memset(big, '#', 70000);
    assert_int_equal(conf_parse(c, big, 65536, "a.yaml", &e), 0);
    assert_int_equal(conf_parse(c, big, 65537, "a.yaml", &e), -1);
    assert_non_null(strstr(e.text, "a.yaml: longer than the 65536 bytes"));
    memcpy(big, "game: x", 7);
    memset(big + 7, 'y', 4096);
    assert_int_equal(conf_parse(c, big, 6 + 4096, "a.yaml", &e), 0);
    assert_int_equal(conf_parse(c, big, 6 + 4097, "a.yaml", &e), -1);
    assert_non_null(strstr(e.text, "at most 4096 bytes"));
    memset(big, 'k', 5000);
    memcpy(big + 5000, ": 1", 3);
    assert_int_equal(conf_parse(c, big, 5003, "a.yaml", &e), -1);
    for (int i = 0; i < 10000; i++)
        memcpy(big + 6 * i, "seed: ", 6);
    assert_int_equal(conf_parse(c, big, 60000, "a.yaml", &e), -1);
    memset(big, '{', 60000);
    assert_int_equal(conf_parse(c, big, 60000, "a.yaml", &e), -1);
    memset(big, '[', 60000);
    assert_int_equal(conf_parse(c, big, 60000, "a.yaml", &e), -1);
    free(big);
    conf_free(c);
}

static void
test_failed_value_keeps_old(void **state) {
    (void)state;
    struct conf *c = conf_new();
    struct err e;
    assert_int_equal(conf_set(c, "game=nim", &e), 0);
    assert_int_equal(conf_set(c, "game=\x1b", &e), -1);
    assert_string_equal(conf_text(c, "game"), "nim");
    conf_free(c);
}

static void
test_set(void **state) {
    (void)state;
    struct conf *c = conf_new();
    struct err e;
    assert_int_equal(conf_set(c, "learner.lr=0.5", &e), 0);
    assert_int_equal(conf_set(c, "prompt.template=a=b: {view}\n", &e), 0);
    assert_int_equal(conf_set(c, "prompt.follow_up=", &e), 0);
    assert_true(conf_real(c, "learner.lr") == 0.5);
    assert_string_equal(conf_text(c, "prompt.template"), "a=b: {view}\n");
    assert_string_equal(conf_text(c, "prompt.follow_up"), "");
    assert_string_equal(conf_place(c, "learner.lr"), "--set");
    assert_int_equal(conf_set(c, "learner.lr", &e), -1);
    assert_non_null(strstr(e.text, "KEY=VALUE"));
    assert_int_equal(conf_set(c, "=1", &e), -1);
    assert_int_equal(conf_set(c, "learner.rl=1", &e), -1);
    assert_string_equal(e.text,
                        "--set: there is no option \"learner.rl\"; did you mean \"learner.lr\"?");
    assert_int_equal(conf_set(c, "learner=3", &e), -1);
    assert_string_equal(e.text, "--set: \"learner\" is a section, not an option; write "
                                "learner.OPTION (`agon options learner` lists them)");
    assert_int_equal(conf_set(c, "learne=3", &e), -1);
    assert_non_null(strstr(e.text, "did you mean \"learner\"?"));
    assert_int_equal(conf_set(c, "learner.lr= 1", &e), -1);
    assert_int_equal(conf_set(c, "learner.lr=1 ", &e), -1);
    assert_int_equal(conf_set(c, "game=\xff", &e), -1);
    conf_free(c);
}

/* Writes and reads c, and demands the same values, fixed or not. Returns the number of bytes. */
static size_t
assert_round_trip(const struct conf *c) {
    struct conf *again = conf_new();
    struct buf first = {0}, second = {0};
    struct err e;
    conf_write(c, &first);
    if (conf_parse(again, buf_text(&first), first.len, "w", &e) < 0)
        fail_msg("%s in\n%s", e.text, buf_text(&first));
    const struct conf_option *o;
    for (size_t i = 0; (o = conf_option_at(i)); i++) {
        if (o->type == CONF_TEXT || o->type == CONF_CHOICE || o->type == CONF_GAMES)
            assert_string_equal(conf_text(again, o->key), conf_text(c, o->key));
        else if (o->type == CONF_BOOL)
            assert_int_equal(conf_bool(again, o->key), conf_bool(c, o->key));
        else
            assert_true(conf_real(again, o->key) == conf_real(c, o->key));
    }
    conf_write(again, &second);
    assert_string_equal(buf_text(&first), buf_text(&second));
    size_t n = first.len;
    buf_free(&first);
    buf_free(&second);
    conf_free(again);
    return n;
}

static const char *const texts[] = {
    "",
    " ",
    "true",
    "No",
    "null",
    "~",
    "1",
    "1e3",
    "-",
    "- a",
    "a: b",
    "a #b",
    "#",
    "{view}",
    "[x]",
    "*a",
    "&a",
    "!a",
    "%a",
    "@",
    "`",
    "'",
    "\"",
    "\\",
    "\\n",
    "a\nb",
    "\n",
    "\n\n",
    " a",
    "a ",
    "a\n ",
    "\ta",
    "a\t\n",
    "---",
    "...",
    "?",
    "|",
    ">",
    "http://x/y?z",
    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
    "\xc2\xa0",
    "\xe2\x80\xa8",
    "\xe2\x80\xa9x",
    "\xef\xbb\xbf",
    "\xef\xbf\xbe",
    "Rules first, in one long line of text: {rules}\nThen: {view}\nAnd: [x]\n",
    "Rules first, in one long line of text: {rules}\nThen: {view}\nAnd: [x]",
    "Rules first, in one long line of text: {rules}\n\nThen: {view}\n",
    "Rules first, in one long line of text: {rules}\n  Then: {view}\n",
    "Rules first, in one long line of text: {rules} \nThen: {view}\n",
    "# Rules first, in one long line of text: {rules}\n--- Then\n...\n",
    "Rules first, in one long line of text: \xe2\x80\xa8{rules}\n",
    "Rules first, in one long line of text: \tx\n",
    "Rules first, in one long line of text: \xef\xbf\xbe\n",
    "Rules first, in one long line of text: \xf0\x9f\x98\x80\n",
};

static void
test_write_texts(void **state) {
    (void)state;
    struct conf *c = conf_new();
    struct err e;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char set[256];
        snprintf(set, sizeof set, "prompt.template=%s", texts[i]);
        assert_int_equal(conf_set(c, set, &e), 0);
        assert_round_trip(c);
    }
    conf_free(c);
}

static void
test_write_numbers(void **state) {
    (void)state;
    static const char *const reals[] = {"0.1",
                                        "1e-7",
                                        "3.0000000000000004",
                                        "0.30000000000000004",
                                        "9.999999999999999",
                                        "1e-300",
                                        "4.9e-324",
                                        "10"};
    static const char *const times[] = {
        "1s",   "90s", "1001ms", "3600.0000000000005s", "7200.000000000001s",
        "0.7h", "24h", "1.1m",   "59.99999999999999m"};
    struct conf *c = conf_new();
    struct err e;
    char set[128];
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        snprintf(set, sizeof set, "learner.lr=%s", reals[i]);
        assert_int_equal(conf_set(c, set, &e), 0);
        assert_round_trip(c);
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(set, sizeof set, "eval.every=%s", times[i]);
        assert_int_equal(conf_set(c, set, &e), 0);
        assert_round_trip(c);
    }
    conf_free(c);
}

/* The largest texts in every option, at their longest when written, still make a file that is
 * read. */
static void
test_write_largest(void **state) {
    (void)state;
    static const char *const fill[] = {"\"", "\n", "ab\n", "\xef\xbb\xbf"};
    struct conf *c = conf_new();
    const struct conf_option *o;
    struct err e;
    for (size_t f = 0; f < sizeof fill / sizeof *fill; f++) {
        for (size_t i = 0; (o = conf_option_at(i)); i++) {
            if (o->type != CONF_TEXT)
                continue;
            struct buf set = {0};
            buf_fmt(&set, "%s=", o->key);
            for (size_t n = 0; n + strlen(fill[f]) <= 4096; n += strlen(fill[f]))
                buf_put(&set, fill[f]);
            assert_int_equal(conf_set(c, buf_text(&set), &e), 0);
            buf_free(&set);
        }
        assert_true(assert_round_trip(c) <= 65536);
    }
    conf_free(c);
}

static void
test_table(void **state) {
    (void)state;
    const struct conf_option *o;
    char seen[8192] = "\n";
    for (size_t i = 0; (o = conf_option_at(i)); i++) {
        char line[160];
        snprintf(line, sizeof line, "\n%s\n", o->key);
        assert_null(strstr(seen, line));
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s\n", o->key);
        if (o->type == CONF_INT || o->type == CONF_REAL || o->type == CONF_TIME)
            assert_true(o->min < o->max);
        assert_true((o->type == CONF_CHOICE) == (o->choices != NULL));
        assert_true(strlen(o->help) > 5 && o->help[strlen(o->help) - 1] == '.');
    }
    assert_null(conf_option_at(1000000));
}

static void
test_full_yaml(void **state) {
    (void)state;
    struct buf want = {0}, got = {0};
    struct conf *c = conf_new();
    struct err e;
    conf_write_help(&want);
    if (file_read("configs/full.yaml", 65536, &got, &e) < 0)
        fail_msg("%s", e.text);
    if (strcmp(buf_text(&want), buf_text(&got)))
        fail_msg("configs/full.yaml is out of date: agon options --yaml > configs/full.yaml");
    assert_int_equal(conf_load(c, "configs/full.yaml", &e), 0);
    struct conf *plain = conf_new();
    assert_null(conf_conflict(c, plain));
    buf_clear(&want);
    buf_clear(&got);
    conf_write(plain, &want);
    conf_write(c, &got);
    assert_string_equal(buf_text(&want), buf_text(&got));
    buf_free(&want);
    buf_free(&got);
    conf_free(c);
    conf_free(plain);
}

static void
test_conflict(void **state) {
    (void)state;
    struct conf *a = conf_new(), *b = conf_new();
    struct err e;
    assert_int_equal(conf_set(a, "workers.count=7", &e), 0);
    assert_null(conf_conflict(a, b));
    assert_int_equal(conf_set(a, "model.dim=128", &e), 0);
    assert_string_equal(conf_conflict(a, b)->key, "model.dim");
    assert_int_equal(conf_set(a, "game=nim", &e), 0);
    assert_string_equal(conf_conflict(b, a)->key, "game");
    conf_free(a);
    conf_free(b);
}

static void
assert_games(const struct conf *c, const char *want) {
    struct conf_game list[CONF_MAX_GAMES];
    struct buf got = {0};
    size_t n = conf_games(c, list);
    for (size_t i = 0; i < n; i++)
        buf_fmt(&got, "%s%s %g", i ? ", " : "", list[i].name, list[i].weight);
    assert_string_equal(buf_text(&got), want);
    buf_free(&got);
}

static void
test_games(void **state) {
    (void)state;
    struct err e;
    struct conf *c = conf_new();
    assert_games(c, "kuhn_poker 1");
    conf_free(c);
    c = parse("seed: 3\ngames:\n  - {name: nim(piles=3-4), weight: 2}\n  - name: tic_tac_toe\n"
              "  - {weight: 0.5, name: \"kuhn_poker(hands=2,side=1)\"}\nmodel.dim: 32\n");
    assert_games(c, "nim(piles=3-4) 2, tic_tac_toe 1, kuhn_poker(hands=2,side=1) 0.5");
    assert_string_equal(conf_text(c, "game"), "nim(piles=3-4)");
    assert_string_equal(conf_place(c, "games"), "a.yaml:2:1");
    assert_int_equal(conf_int(c, "model.dim"), 32);
    assert_round_trip(c);
    struct conf *other = parse("seed: 3\ngames: nim(piles=3-4):2,tic_tac_toe\nmodel.dim: 32\n");
    assert_string_equal(conf_conflict(c, other)->key, "games");
    assert_int_equal(
        conf_set(other, "games=nim(piles=3-4):2,tic_tac_toe,kuhn_poker(hands=2,side=1):.5", &e),
        -1);
    assert_int_equal(
        conf_set(other, "games=nim(piles=3-4):2,tic_tac_toe,kuhn_poker(hands=2,side=1):0.5", &e),
        0);
    assert_null(conf_conflict(c, other));
    /* The last one counts, and one game is `game`. */
    assert_int_equal(conf_set(c, "game=nim", &e), 0);
    assert_games(c, "nim 1");
    assert_round_trip(c);
    assert_int_equal(conf_set(other, "games=nim:7", &e), 0);
    assert_games(other, "nim 1");
    assert_null(conf_conflict(c, other));
    assert_round_trip(other);
    assert_int_equal(conf_set(other, "games=nim,", &e), -1);
    assert_int_equal(conf_set(other, "games=nim(a", &e), -1);
    assert_int_equal(conf_set(other, "games=nim:1:2", &e), -1);
    assert_int_equal(conf_set(other, "games=nim:0,pig", &e), -1);
    assert_int_equal(conf_set(other, "games=,pig", &e), -1);
    assert_games(other, "nim 1");
    conf_free(other);
    conf_free(c);
}

static void
test_games_refused(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *start, *part;
    } bad[] = {
        {"game: nim\ngames: [{name: pig}, {name: nim}]\n", "a.yaml:2:1: ", "(line 1)"},
        {"games: [{name: pig}, {name: nim}]\ngame: nim\n", "a.yaml:2:1: ", "(line 1)"},
        {"games: []\n", "a.yaml:1:8: ", "empty"},
        {"games: [nim]\n", "a.yaml:1:9: ", "{name: kuhn_poker, weight: 2}"},
        {"games: [[{name: nim}]]\n", "a.yaml:1:9: ", "{name: kuhn_poker, weight: 2}"},
        {"games: [{name: nim},\n  {weight: 1}]\n", "a.yaml:2:3: ", "no name"},
        {"games: [{name: nim},\n  {name: pig, wieght: 1}]\n", "a.yaml:2:15: ", "wieght"},
        {"games: [{name: nim}, {name: nim, weight: 2}]\n", "a.yaml:1:29: ", "comes twice"},
        {"games: [{name: nim, name: pig}]\n", "a.yaml:1:21: ", "comes twice"},
        {"games: [{name: nim, weight: 0}]\n", "a.yaml:1:29: ", "\"0\""},
        {"games: [{name: nim, weight: -1}]\n", "a.yaml:1:29: ", "\"-1\""},
        {"games: [{name: nim, weight: much}]\n", "a.yaml:1:29: ", "\"much\""},
        {"games: [{name: nim, weight: \"2\"}]\n", "a.yaml:1:29: ", "without quotes"},
        {"games: [{name: nim, weight: 1e99}]\n", "a.yaml:1:29: ", "1e+06"},
        {"games: [{name: [nim]}]\n", "a.yaml:1:16: ", "one value each"},
        {"games: [{name: {a: nim}}]\n", "a.yaml:1:16: ", "one value each"},
        {"games: [{name: \"\"}]\n", "a.yaml:1:16: ", "no game's name"},
        {"games: [{name: \"a,b\"}]\n", "a.yaml:1:16: ", "no game's name"},
        {"games: [{name: \"a:b\"}]\n", "a.yaml:1:16: ", "no game's name"},
        {"games: [{name: \"a(b\"}]\n", "a.yaml:1:16: ", "no game's name"},
        {"games: [&a {name: nim}]\n", "a.yaml:1:9: ", "anchors"},
        {"games: !!seq [{name: nim}]\n", "a.yaml:1:8: ", "tags"},
        {"games: {name: nim}\n", "a.yaml:1:8: ", "takes one value"},
    };
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct conf *c = conf_new();
        assert_int_equal(conf_parse(c, bad[i].yaml, strlen(bad[i].yaml), "a.yaml", &e), -1);
        if (strncmp(e.text, bad[i].start, strlen(bad[i].start)) || !strstr(e.text, bad[i].part))
            fail_msg("%s gives: %s", bad[i].yaml, e.text);
        conf_free(c);
    }
    struct buf many = {0};
    struct conf *c = conf_new();
    buf_put(&many, "games:\n");
    for (int i = 0; i < CONF_MAX_GAMES; i++)
        buf_fmt(&many, "- {name: g%d}\n", i);
    assert_int_equal(conf_parse(c, buf_text(&many), many.len, "a.yaml", &e), 0);
    buf_put(&many, "- {name: last}\n");
    assert_int_equal(conf_parse(c, buf_text(&many), many.len, "a.yaml", &e), -1);
    assert_non_null(strstr(e.text, "a.yaml:18:3: games: more than the 16 games"));
    buf_free(&many);
    conf_free(c);
}

static void
test_load(void **state) {
    (void)state;
    struct conf *c = conf_new();
    struct err e;
    assert_int_equal(conf_load(c, "/nonexistent/x.yaml", &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/x.yaml: cannot open"));
    assert_int_equal(conf_load(c, "base", &e), -1);
    assert_non_null(strstr(e.text, "folder"));
    conf_free(c);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_nothing_written),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_failed_value_keeps_old),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_write_texts),
        cmocka_unit_test(test_write_numbers),
        cmocka_unit_test(test_write_largest),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_full_yaml),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_games),
        cmocka_unit_test(test_games_refused),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
