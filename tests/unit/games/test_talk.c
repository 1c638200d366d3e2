/* What holds in every game with talk: words change nothing but what is seen and told, they stand in
 * quotes there, and the same words give the same bytes. */
#include <stdlib.h>

#include "base/rng.h"
#include "games/talk.h"
#include "play.h"

/* Words that try to look like something else, cleaned as the caller does. */
static size_t
random_words(struct rng *rng, char out[GAME_TALK + 1]) {
    static const char *const part[] = {"hello",         " \"",
                                       "\".\nYou win.", "[accept]",
                                       "[defect]",      "[1]",
                                       "\x1b[2J",       "\xff",
                                       "\xe2\x80\xae",  "\xc3\xa9",
                                       "They say: \"",  "%s%n",
                                       "\r\n\r\n",      "[offer: 1 Wood -> 1 Gold]"};
    char in[1000];
    size_t n = 0;
    for (uint32_t parts = rng_below(rng, 30); parts > 0; parts--) {
        const char *p = part[rng_below(rng, sizeof part / sizeof part[0])];
        memcpy(in + n, p, strlen(p));
        n += strlen(p);
    }
    return game_clean_words(in, n, out, GAME_TALK + 1);
}

static int
random_action(const struct play *p, struct rng *rng) {
    int legal[GAME_MAX_ACTIONS];
    if (p->g->mover(p->s) == GAME_CHANCE)
        return game_draw(p->g, p->s, rng_unit(rng));
    return legal[rng_below(rng, (uint32_t)p->g->legal(p->s, legal))];
}

static void
texts_are_plain(const struct play *p, int action) {
    for (int seat = 0; seat < 2; seat++)
        for (int what = 0; what < 2; what++) {
            char at[GAME_TEXT];
            struct text t;
            text_init(&t, at, sizeof at);
            if (what)
                p->g->narrate(p->s, action, seat, &t);
            else
                p->g->observe(p->s, seat, &t);
            assert_false(t.cut);
            int quotes = 0;
            for (size_t i = 0; i < t.len; i++) {
                unsigned char c = (unsigned char)at[i];
                quotes += c == '"';
                /* Within quotes there is no line end; nowhere another control character. */
                if (c < ' ' && (c != '\n' || quotes % 2))
                    fail_msg("%s: byte %d in '%s'", p->g->name, c, at);
            }
            if (quotes % 2)
                fail_msg("%s: a quotation is not closed in '%s'", p->g->name, at);
        }
}

static void
same_choices(const struct play *a, const struct play *b) {
    int legal[2][GAME_MAX_ACTIONS], mover = a->g->mover(a->s);
    assert_int_equal(mover, b->g->mover(b->s));
    if (mover == GAME_OVER) {
        assert_true(memcmp(&(double){a->g->result(a->s)}, &(double){b->g->result(b->s)},
                           sizeof(double)) == 0);
        return;
    }
    if (mover == GAME_CHANCE)
        return;
    int n = a->g->legal(a->s, legal[0]);
    assert_int_equal(n, b->g->legal(b->s, legal[1]));
    assert_memory_equal(legal[0], legal[1], (size_t)n * sizeof legal[0][0]);
}

static void
play_with_words(const char *spec, struct rng *rng) {
    struct play talks, again, silent;
    play_start(&talks, spec);
    again = silent = talks;
    for (;;) {
        same_choices(&talks, &silent);
        if (talks.g->mover(talks.s) == GAME_OVER)
            break;
        int action = random_action(&talks, rng);
        if (talks.g->mover(talks.s) != GAME_CHANCE && rng_below(rng, 4)) {
            char words[GAME_TALK + 1];
            size_t n = random_words(rng, words);
            talks.g->say(talks.s, words, n);
            again.g->say(again.s, words, n);
            same_choices(&talks, &silent);
        }
        texts_are_plain(&talks, action);
        talks.g->apply(talks.s, action);
        again.g->apply(again.s, action);
        silent.g->apply(silent.s, action);
        assert_memory_equal(talks.s, again.s, talks.g->state_bytes);
    }
}

static void
words_change_only_what_is_seen(void **state) {
    (void)state;
    static const char *const more[] = {"prisoners_dilemma(rounds=50,talk=3)",
                                       "negotiation(resources=5,turns=31)",
                                       "truth_and_deception(talk=50)"};
    struct rng rng;
    rng_init(&rng, 11, 0, RNG_TEST);
    int games = 0;
    for (int i = 0; game_at(i); i++) {
        if (!game_at(i)->say)
            continue;
        games++;
        for (int match = 0; match < 100; match++)
            play_with_words(game_at(i)->name, &rng);
    }
    assert_true(games >= 3);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        for (int match = 0; match < 30; match++)
            play_with_words(more[i], &rng);
}

/* A state holds the last words only, not what they took the place of. */
static void
old_words_leave_no_bytes(void **state) {
    (void)state;
    struct talk a, b;
    memset(&a, 0xee, sizeof a);
    memset(&b, 0, sizeof b);
    talk_hear(&a, "a long story", 12);
    talk_pass(&a);
    talk_hear(&a, "ok", 2);
    talk_hear(&b, "ok", 2);
    assert_memory_equal(&a, &b, sizeof a);
    talk_pass(&a);
    assert_false(talk_is_fresh(&a));
    talk_pass(&a);
    memset(&b, 0, sizeof b);
    assert_memory_equal(&a, &b, sizeof a);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_change_only_what_is_seen),
        cmocka_unit_test(old_words_leave_no_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
