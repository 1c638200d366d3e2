/* Every built-in game keeps the laws, and planted wrong games break the law they should. A wrong
 * game is a right one with one function replaced. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "games/laws.h"

static void
keeps_the_laws(const char *spec, int matches) {
    const struct game *g;
    struct game_args args;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e) || laws_check(g, &args, 7, matches, &e))
        fail_msg("%s", e.text);
}

static void
built_in_games_keep_the_laws(void **state) {
    (void)state;
    for (int i = 0; game_at(i); i++)
        keeps_the_laws(game_at(i)->name, 60);
}

static void
so_do_their_variants(void **state) {
    (void)state;
    static const char *const specs[] = {
        "kuhn_poker(hands=2)",
        "kuhn_poker(hands=20,side=4)",
        "kuhn_poker(side=-4)",
        "connect_four(rows=4,columns=4)",
        "connect_four(rows=12,columns=4)",
        "connect_four(rows=5,columns=10)",
        "nim(piles=1)",
        "nim(piles=5-7-9-11-2,misere=true)",
        "battleship(rows=1,columns=1,ships=1,shots=1)",
        "battleship(rows=4,columns=4,ships=4-4-4-4)",
        "blotto(coins=1,fields=2)",
        "breakthrough(diagonal=false)",
        "breakthrough(rows=3,columns=2,home=1,diagonal=false)",
        "dark_hex(size=2)",
        "dark_hex(abrupt=true)",
        "goofspiel(cards=2,order=1)",
        "goofspiel(cards=13,hidden=true,difference=true)",
        "goofspiel(cards=5,order=2,hidden=true)",
        "hex(size=2)",
        "phantom_ttt(abrupt=true)",
        "snake(width=4,height=4,apples=5,turns=1)",
        "snake(width=10,height=10,apples=5,turns=100)",
        "liars_dice(dice=2,sides=3)",
        "liars_dice(dice=3)",
        "liars_dice(dice=3,wild=false,strict=true,most=12)",
        "liars_dice(dice=2,sides=6,most=12)",
        "negotiation(resources=5,turns=12)",
        "negotiation(turns=1,talk=false)",
        "pig(goal=1,moves=1)",
        "pig(goal=30,moves=10,must_hold=false)",
        "prisoners_dilemma(rounds=3,talk=0)",
        "prisoners_dilemma(rounds=2,talk=8,points=0-0-0-0)",
        "rock_paper_scissors(rounds=1)",
        "rock_paper_scissors(rounds=20)",
        "truth_and_deception(talk=0)",
        "truth_and_deception(talk=50)",
    };
    static const char *const large[] = {
        "battleship(rows=6,columns=6,ships=6-3-2-1,shots=36)",
        "blotto(coins=5,fields=6)",
        "breakthrough(rows=10,columns=10)",
        "dark_hex(size=11,abrupt=true)",
        "hex(size=11)",
        "nim(piles=60-60-60-60-60-60-60-60)",
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        keeps_the_laws(specs[i], 30);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        keeps_the_laws(large[i], 2);
}

/* ---- wrong games ---- */

static const struct game *
right(const char *name) {
    const struct game *g = game_find(name);
    assert_non_null(g);
    return g;
}

static void
breaks_with(const char *spec, const struct game *g, const char *law, const char *part) {
    const struct game *from;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse(spec, &from, &args, &e), 0);
    if (laws_check(g, &args, 7, 60, &e) == 0)
        fail_msg("the law '%s' was not missed", law);
    char start[64];
    struct text t;
    text_init(&t, start, sizeof start);
    text_fmt(&t, "law '%s' is broken: ", law);
    if (strncmp(e.text, start, strlen(start)) != 0 || !strstr(e.text, part))
        fail_msg("wanted %s...%s, got: %s", start, part, e.text);
}

static void
breaks(const struct game *g, const char *law, const char *part) {
    breaks_with(g->name ? g->name : "nim", g, law, part);
}

static void
observe_everything(const void *state, int who, struct text *out) {
    right("kuhn_poker")->observe(state, who, out);
    text_put(out, " ");
    right("kuhn_poker")->draw(state, out);
}

/* Nobody meets the same eight hands twice by chance: only a second world finds this. */
static void
observe_everything_late(const void *state, int who, struct text *out) {
    right("kuhn_poker")->observe(state, who, out);
    if (strstr(out->at, "Hand 8"))
        right("kuhn_poker")->draw(state, out);
}

static void
observe_little(const void *state, int who, struct text *out) {
    (void)state;
    text_put(out, who ? "You are second." : "You are first.");
}

static int
legal_by_hidden_card(const void *state, int *out) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    right("kuhn_poker")->draw(state, &t); /* "Cards: J Q. ..." */
    out[0] = 0;
    out[1] = 1;
    return at[9] == 'K' ? 1 : 2;
}

static void
a_leak_is_found(void **state) {
    (void)state;
    struct game g = *right("kuhn_poker");
    g.observe = observe_everything;
    breaks(&g, "leak", "was told the same but sees");
    g.observe = observe_everything_late;
    breaks_with("kuhn_poker(hands=10)", &g, "leak", "was told the same but sees");
    g = *right("kuhn_poker");
    g.legal = legal_by_hidden_card;
    breaks(&g, "leak", "legal actions differ");
}

static void
tell_nothing(const void *state, int action, int viewer, struct text *out) {
    (void)state;
    (void)action;
    (void)viewer;
    (void)out;
}

static void
hiding_is_found(void **state) {
    (void)state;
    struct game g = *right("kuhn_poker");
    g.observe = observe_little;
    breaks(&g, "hiding", "told apart");
    g = *right("tic_tac_toe");
    g.observe = observe_little;
    breaks(&g, "hiding", "in different states");
    /* A view that says more than was ever narrated. */
    g = *right("kuhn_poker");
    g.narrate = tell_nothing;
    breaks(&g, "leak", "was told the same but sees");
}

static void
say_and_move(void *state, const char *words, size_t n) {
    right("prisoners_dilemma")->say(state, words, n);
    right("prisoners_dilemma")->apply(state, 0);
}

static void
say_too_much(void *state, const char *words, size_t n) {
    right("prisoners_dilemma")->say(state, words, n);
    ((unsigned char *)state)[right("prisoners_dilemma")->state_bytes + 3] = 1;
}

/* Who speaks, speaks for both. */
static void
apply_by_words(void *state, int action) {
    const struct game *g = right("prisoners_dilemma");
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(state, g->mover(state), &t);
    g->apply(state, action);
    if (strstr(at, "You said"))
        g->apply(state, 0);
}

static void
observe_without_bounds(const void *state, int who, struct text *out) {
    right("prisoners_dilemma")->observe(state, who, out);
    for (int i = 0; i < 40 && strstr(out->at, "xxx"); i++)
        text_put(out, "...................................................................."
                      "....................................................................");
}

static void
words_with_effects_are_found(void **state) {
    (void)state;
    struct game g = *right("prisoners_dilemma");
    g.say = say_and_move;
    breaks(&g, "talk", "words change who moves");
    g.say = say_too_much;
    breaks(&g, "talk", "say() wrote behind");
    g = *right("prisoners_dilemma");
    g.observe = observe_without_bounds;
    breaks(&g, "talk", "a view with words does not fit");
    g = *right("prisoners_dilemma");
    g.apply = apply_by_words;
    breaks(&g, "talk", "words change what action 0 leads to");
}

static double
pay_too_much(const void *state) {
    return 1.5 * right("tic_tac_toe")->result(state);
}

static double
pay_nan(const void *state) {
    (void)state;
    return NAN;
}

static void
wrong_payoffs_are_found(void **state) {
    (void)state;
    struct game g = *right("tic_tac_toe");
    g.result = pay_too_much;
    breaks(&g, "payoff", "1.5 is outside");
    g.result = pay_nan;
    breaks(&g, "payoff", "nan is outside");
}

static void
apply_nothing(void *state, int action) {
    (void)state;
    (void)action;
}

static void
endless_games_are_found(void **state) {
    (void)state;
    struct game g = *right("tic_tac_toe");
    g.apply = apply_nothing;
    breaks(&g, "end", "max_plies() = 9");
}

static void
spell_always_the_same(const void *state, int action, struct text *out) {
    (void)state;
    (void)action;
    text_put(out, "go");
}

static void
spell_case_only(const void *state, int action, struct text *out) {
    (void)state;
    text_put(out, action ? "Go" : "gO");
}

static void
spell_too_long(const void *state, int action, struct text *out) {
    (void)state;
    for (int i = 0; i < GAME_WORD; i++)
        text_char(out, (char)('a' + action));
}

static void
spell_with_blank(const void *state, int action, struct text *out) {
    right("nim")->spell(state, action, out);
    text_char(out, ' ');
}

static int
parse_only_small_letters(const void *state, const char *word, size_t n) {
    (void)state;
    if (n == 5 && memcmp(word, "check", n) == 0)
        return 0;
    if (n == 3 && memcmp(word, "bet", n) == 0)
        return 1;
    return word[0] == 'f' ? 0 : word[0] == 'c' ? 1 : -1;
}

static int
parse_swapped(const void *state, const char *word, size_t n) {
    (void)state;
    return n && (word[0] == 'c' || word[0] == 'C') ? 1 : 0;
}

static void
misspelling_is_found(void **state) {
    (void)state;
    struct game g = *right("kuhn_poker");
    g.spell = spell_always_the_same;
    breaks(&g, "spelling", "two legal actions are spelled 'go'");
    g.spell = spell_case_only;
    breaks(&g, "spelling", "two legal actions are spelled 'go'");
    g.spell = spell_too_long;
    breaks(&g, "spelling", "too long");
    g = *right("nim");
    g.spell = spell_with_blank;
    breaks(&g, "spelling", "begins or ends with a blank");
    g = *right("kuhn_poker");
    g.parse = parse_only_small_letters;
    breaks(&g, "parse", "'CHECK' is read as -1, not as 0");
    g.parse = parse_swapped;
    breaks(&g, "parse", "'check' is read as 1, not as 0");
}

static void
observe_and_write(const void *state, int who, struct text *out) {
    right("tic_tac_toe")->observe(state, who, out);
    ((unsigned char *)(uintptr_t)state)[3] ^= 0x40;
}

static int
legal_and_write(const void *state, int *out) {
    int n = right("tic_tac_toe")->legal(state, out);
    ((unsigned char *)(uintptr_t)state)[3] ^= 0x40;
    return n;
}

static void
writing_queries_are_found(void **state) {
    (void)state;
    struct game g = *right("tic_tac_toe");
    g.observe = observe_and_write;
    breaks(&g, "query", "observe()");
    g = *right("tic_tac_toe");
    g.legal = legal_and_write;
    breaks(&g, "query", "legal()");
}

/* The one place with a state of its own: that is the fault to be found. */
static int hidden_counter;

static void
observe_counter(const void *state, int who, struct text *out) {
    right("tic_tac_toe")->observe(state, who, out);
    text_fmt(out, "\nTurn %d", hidden_counter);
}

static void
apply_and_count(void *state, int action) {
    right("tic_tac_toe")->apply(state, action);
    hidden_counter++;
}

static void
init_almost(void *state, const struct game_args *args) {
    _Alignas(16) unsigned char start[GAME_MAX_STATE];
    right("tic_tac_toe")->init(start, args);
    memcpy(state, start,
           right("tic_tac_toe")->state_bytes); /* the bytes behind stay as they were */
}

static void
hidden_state_is_found(void **state) {
    (void)state;
    struct game g = *right("tic_tac_toe");
    g.observe = observe_counter;
    g.apply = apply_and_count;
    breaks(&g, "replay", "the texts or lists differ");
    g = *right("tic_tac_toe");
    g.init = init_almost;
    g.state_bytes += 2;
    breaks(&g, "replay", "the state's bytes differ");
    g = *right("tic_tac_toe");
    g.state_bytes -= 1;
    breaks(&g, "size", "init() wrote behind the 5 bytes");
}

static int
chance_of_half(const void *state, struct game_outcome *out) {
    int n = right("kuhn_poker")->chance(state, out);
    for (int i = 0; i < n; i++)
        out[i].probability = 0.5;
    return n;
}

static int
chance_of_nothing(const void *state, struct game_outcome *out) {
    int n = right("kuhn_poker")->chance(state, out);
    out[0].probability = 0;
    return n;
}

static int
legal_backwards(const void *state, int *out) {
    (void)state;
    out[0] = 1;
    out[1] = 0;
    return 2;
}

static int
legal_none(const void *state, int *out) {
    (void)state;
    (void)out;
    return 0;
}

static int
mover_nobody(const void *state) {
    (void)state;
    return 4;
}

static void
wrong_lists_and_turns_are_found(void **state) {
    (void)state;
    struct game g = *right("kuhn_poker");
    g.chance = chance_of_half;
    breaks(&g, "chance", "sum to 1.5");
    g.chance = chance_of_nothing;
    breaks(&g, "chance", "probability 0");
    g = *right("kuhn_poker");
    g.legal = legal_backwards;
    breaks(&g, "legal", "action 0 stands behind 1");
    g.legal = legal_none;
    breaks(&g, "legal", "empty");
    g = *right("kuhn_poker");
    g.flags |= GAME_NO_CHANCE;
    breaks(&g, "turn", "chance is to move");
    g.mover = mover_nobody;
    breaks(&g, "turn", "mover() gave 4");
}

static void
observe_at_length(const void *state, int who, struct text *out) {
    (void)state;
    (void)who;
    for (int i = 0; i < GAME_TEXT; i++)
        text_char(out, 'a');
}

static void
observe_with_newline(const void *state, int who, struct text *out) {
    right("tic_tac_toe")->observe(state, who, out);
    text_char(out, '\n');
}

static void
observe_control(const void *state, int who, struct text *out) {
    right("tic_tac_toe")->observe(state, who, out);
    text_put(out, "\033[1m");
}

static void
rules_of_the_state(const void *state, int who, struct text *out) {
    right("tic_tac_toe")->observe(state, who, out);
}

static void
wrong_texts_are_found(void **state) {
    (void)state;
    struct game g = *right("tic_tac_toe");
    g.observe = observe_at_length;
    breaks(&g, "text", "does not fit");
    g.observe = observe_with_newline;
    breaks(&g, "text", "ends with a newline");
    g.observe = observe_control;
    breaks(&g, "text", "control character 27");
    g = *right("tic_tac_toe");
    g.rules = rules_of_the_state;
    breaks(&g, "text", "depend on the state");
}

static double
unit_nothing(const struct game_args *args) {
    (void)args;
    return 0;
}

static void
incomplete_definitions_are_found(void **state) {
    (void)state;
    struct game g = *right("nim");
    g.unit = unit_nothing;
    breaks(&g, "definition", "unit() = 0");
    g = *right("nim");
    g.spell = NULL;
    breaks(&g, "definition", "lacks a function");
    g = *right("kuhn_poker");
    g.chance = NULL;
    breaks(&g, "definition", "lacks a function");
    g = *right("nim");
    g.state_bytes = GAME_MAX_STATE + 1;
    breaks(&g, "definition", "a state of 4097 bytes");
    g = *right("nim");
    g.version = 0;
    breaks(&g, "definition", "version");
    g = *right("nim");
    g.name = NULL;
    breaks(&g, "definition", "a name is");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_games_keep_the_laws),
        cmocka_unit_test(so_do_their_variants),
        cmocka_unit_test(a_leak_is_found),
        cmocka_unit_test(hiding_is_found),
        cmocka_unit_test(words_with_effects_are_found),
        cmocka_unit_test(wrong_payoffs_are_found),
        cmocka_unit_test(endless_games_are_found),
        cmocka_unit_test(misspelling_is_found),
        cmocka_unit_test(writing_queries_are_found),
        cmocka_unit_test(hidden_state_is_found),
        cmocka_unit_test(wrong_lists_and_turns_are_found),
        cmocka_unit_test(wrong_texts_are_found),
        cmocka_unit_test(incomplete_definitions_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
