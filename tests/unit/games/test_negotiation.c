/* Negotiation by hand: offers as numbers and as words, trades, and what is told. */
#include <stdlib.h>

#include "base/rng.h"
#include "games/offer.h"
#include "games/solve.h"
#include "play.h"

static void
every_bundle_has_its_number(void **state) {
    (void)state;
    for (int number = 1; number < OFFER_BUNDLES; number++) {
        struct bundle b = bundle_of(number);
        assert_int_equal(bundle_number(&b), number);
    }
    assert_true(2ll * OFFER_BUNDLES * OFFER_BUNDLES < INT32_MAX);
    static const struct bundle none[] = {
        {{0}}, {{51, 0, 0, 0, 0}}, {{-1, 0, 0, 0, 0}}, {{1, 1, 1, 0, 0}}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(bundle_number(&none[i]), 0);
}

/* The spelling of what a reply means, or "illegal". */
static const char *
meaning(const struct play *p, const char *reply) {
    static char at[GAME_WORD];
    struct text t;
    text_init(&t, at, sizeof at);
    int action = play_read(p, reply);
    if (action < 0)
        text_put(&t, "illegal");
    else
        p->g->spell(p->s, action, &t);
    return at;
}

static void
deal(struct play *p, const int *number) {
    while (p->g->mover(p->s) == GAME_CHANCE)
        play_outcome(p, *number++);
}

static const int dealt[] = {10, 11, 12, 13, 14, 20, 21, 22, 23, 24,
                            5,  10, 15, 25, 40, 6,  8,  12, 20, 32};

static void
offers_are_found_anywhere_in_a_reply(void **state) {
    (void)state;
    static const struct {
        const char *reply, *meaning;
    } read[] = {
        {"[Offer: 3 Wood -> 2 Ore]", "offer: 3 Wood -> 2 Ore"},
        {"I say [offer: I give 3 wood\n->2 ore.] please", "offer: 3 Wood -> 2 Ore"},
        {"[Offer 3 Woods, 2 Sheeps -> 1 Ore and 4 Wheat]",
         "offer: 3 Wood, 2 Sheep -> 4 Wheat, 1 Ore"},
        {"[Offer: 1 Wood, 2 Wood -> 1 Ore]", "offer: 3 Wood -> 1 Ore"},
        {"Offer: 3 Wood -> 2 Ore", "offer: 3 Wood -> 2 Ore"},
        {"[Offer: 1 Wood -> 1 Ore] [Offer: 2 Wood -> 1 Ore]", "offer: 1 Wood -> 1 Ore"},
        {"[Offer [Offer: 2 Wood -> 1 Ore]", "offer: 2 Wood -> 1 Ore"},
        {"[Deny] [Offer: 2 Wood -> 1 Ore]", "offer: 2 Wood -> 1 Ore"},
        {"[Offer: 11 Wood -> 50 Ore]", "offer: 11 Wood -> 50 Ore"},
        {"I offer 2 Wood -> 1 Ore", "pass"},
        {"[Deny]", "pass"},
        {"", "pass"},
        {"[Offer]", "pass"},
        {"[Accept]", "pass"}, /* nothing to accept */
        {"[Offer: ]", "illegal"},
        {"[Offer: 3 Wood]", "illegal"},
        {"[Offer: 3 Wood -> ]", "illegal"},
        {"[Offer: -> 3 Wood]", "illegal"},
        {"[Offer: 1 Wood -> 1 Ore -> 1 Wood]", "illegal"},
        {"[Offer: 12 Wood -> 1 Ore]", "illegal"}, /* only 11 are there */
        {"[Offer: 6 Wood, 6 Wood -> 1 Ore]", "illegal"},
        {"[Offer: 0 Wood -> 1 Ore]", "illegal"},
        {"[Offer: 0 Wood, 1 Sheep -> 1 Ore]", "illegal"},
        {"[Offer: 1 Wood -> 51 Ore]", "illegal"},
        {"[Offer: 99999999999999999999 Wood -> 1 Ore]", "illegal"},
        {"[Offer: 3 Silver -> 1 Ore]", "illegal"},
        {"[Offer: some Wood -> 1 Ore]", "illegal"},
        {"[Offer: 1 Wood, 1 Ore, 1 Sheep -> 1 Wheat]", "illegal"}, /* three kinds */
    };
    struct play p;
    play_start(&p, "negotiation(resources=5)");
    deal(&p, dealt);
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        if (strcmp(meaning(&p, read[i].reply), read[i].meaning) != 0)
            fail_msg("'%s' means '%s'", read[i].reply, meaning(&p, read[i].reply));
    play_start(&p, "negotiation");
    assert_string_equal(meaning(&p, "[Offer: 3 Wood -> 2 Ore]"), "illegal");
    assert_string_equal(meaning(&p, "[Offer: 3 Wood -> 2 Gold]"), "offer: 3 Wood -> 2 Gold");
}

static void
an_accepted_offer_is_a_trade(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "negotiation(turns=4)");
    assert_string_equal(play_view(&p, 0),
                        "You have 10 Wood at 5, 10 Gold at 15: worth 200, gain 0.\nTurn 1 of 4.");
    p.g->say(p.s, "[Offer: 4 Wood -> 3 Gold]?", 26);
    assert_string_equal(play_told(&p, "[Offer: 4 Wood -> 3 Gold]", 1),
                        "They say: \"[Offer: 4 Wood -> 3 Gold]?\". They offer 4 Wood for 3 Gold.");
    assert_string_equal(play_told(&p, "[Offer: 4 Wood -> 3 Gold]", 0),
                        "You offer 4 Wood for 3 Gold.");
    play_reply(&p, "[Offer: 4 Wood -> 3 Gold]");
    assert_string_equal(play_view(&p, 1),
                        "You have 10 Wood at 15, 10 Gold at 5: worth 200, gain 0.\n"
                        "1 They offer 4 Wood for 3 Gold.\n"
                        "They said: \"[Offer: 4 Wood -> 3 Gold]?\".\n"
                        "Their offer stands: 4 Wood for 3 Gold.\nTurn 2 of 4.");
    /* 14 Wood are there once the offer is taken. */
    assert_string_equal(meaning(&p, "[offer: 14 Wood -> 1 Gold]"), "illegal");
    assert_string_equal(meaning(&p, "Yes. [accept] [offer: 14 Wood -> 1 Gold]"),
                        "[accept] [offer: 14 Wood -> 1 Gold]");
    assert_string_equal(play_told(&p, "[accept]", 0),
                        "They accept. You have 6 Wood at 5, 13 Gold at 15: worth 225, gain 25.");
    play_reply(&p, "[accept]");
    play_replies(&p, "pass|pass");
    assert_string_equal(play_view(&p, 1),
                        "You have 14 Wood at 15, 7 Gold at 5: worth 245, gain 45.\n"
                        "1 They offer 4 Wood for 3 Gold.\n2 You accept.\n3 They pass.\n4 You pass."
                        " You gained 45, they gained 25. You win.");
    play_pays(&p, -1);
}

static void
an_offer_stands_until_it_is_taken_or_replaced(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "negotiation(turns=8)");
    play_replies(&p, "[offer: 1 Wood -> 1 Gold]|[deny]|what now?");
    assert_string_equal(meaning(&p, "[accept]"), "accept");
    play_replies(&p, "[offer: 2 Wood -> 1 Gold]");
    play_replies(&p, "[offer: 3 Wood -> 1 Gold]|hm");
    assert_string_equal(play_told(&p, "[accept]", 1), "They withdraw the offer.");
    play_replies(&p, "[accept]|[accept]"); /* its own; then there is none */
    play_pays(&p, 0);
    play_start(&p, "negotiation(turns=3)");
    play_replies(&p, "[offer: 1 Wood -> 11 Gold]");
    assert_string_equal(meaning(&p, "[accept]"), "illegal"); /* 11 Gold are not there */
    play_replies(&p, "[offer: 2 Gold -> 1 Wood]|[accept]");
    play_pays(&p, 1); /* 25 against 5 */
}

static void
only_the_owner_sees_goods_and_values(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "negotiation(resources=5,turns=1)");
    deal(&p, dealt);
    assert_string_equal(play_view(&p, 1),
                        "You have 20 Wheat at 6, 21 Wood at 8, 22 Sheep at 12, 23 Brick at 20, 24 "
                        "Ore at 32: worth 1780, gain 0.\nTurn 1 of 1.");
    play_start(&p, "negotiation(resources=5,turns=1)");
    for (int i = 0; i < 15; i++) {
        assert_string_equal(play_view(&p, 0), "The goods are being dealt.");
        play_outcome(&p, dealt[i]);
    }
    assert_string_equal(play_view(&p, 0),
                        "You have 10 Wheat at 5, 11 Wood at 10, 12 Sheep at 15, 13 Brick at 25, 14 "
                        "Ore at 40: worth 1225, gain 0.\nTurn 1 of 1.");
    assert_string_equal(play_view(&p, 1), "The goods are being dealt.");
}

static void
talk_can_be_turned_off(void **state) {
    (void)state;
    struct play p, silent;
    play_start(&p, "negotiation(talk=false)");
    silent = p;
    play_say(&p, "hello");
    play_reply(&silent, "hello");
    assert_memory_equal(p.s, silent.s, p.g->state_bytes);
}

/* Goods are neither made nor lost, whatever is allowed is spelled so that it is read again, and
 * words are the only way to an action that is not listed. */
static void
random_trades_keep_the_goods(void **state) {
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, 0, RNG_TEST);
    for (int match = 0; match < 300; match++) {
        struct play p;
        play_start(&p, match % 2 ? "negotiation(resources=5,turns=20)" : "negotiation(turns=20)");
        deal(&p, dealt);
        while (p.g->mover(p.s) != GAME_OVER) {
            struct bundle side[2] = {{{0}}};
            for (int i = 0; i < 4; i++)
                side[i % 2].quantity[rng_below(&rng, 5)] = (int)rng_below(&rng, 12);
            int offer = bundle_number(&side[0]) * OFFER_BUNDLES + bundle_number(&side[1]);
            int action = 2 * offer + (int)rng_below(&rng, 2);
            if (!game_is_legal(p.g, p.s, action))
                action &= 1;
            if (!game_is_legal(p.g, p.s, action))
                action = 0;
            char word[GAME_WORD];
            struct text t;
            text_init(&t, word, sizeof word);
            p.g->spell(p.s, action, &t);
            assert_false(t.cut);
            if (play_read(&p, word) != action)
                fail_msg("'%s' is read as %d, not as %d", word, play_read(&p, word), action);
            p.g->apply(p.s, action);
            int have[2][5], sum = 0;
            const char *view[2] = {NULL, NULL};
            for (int seat = 0; seat < 2; seat++) {
                view[seat] = play_view(&p, seat) + strlen("You have");
                for (int i = 0; i < (match % 2 ? 5 : 2); i++) {
                    have[seat][i] = (int)strtol(view[seat] + 1, NULL, 10);
                    assert_in_range(have[seat][i], 0, 50);
                    sum += have[seat][i];
                    view[seat] = strpbrk(view[seat] + 1, ",:");
                }
            }
            assert_int_equal(sum, match % 2 ? 170 : 40);
        }
    }
    struct play p;
    play_start(&p, "negotiation");
    assert_false(game_is_legal(p.g, p.s, -1));
    assert_false(game_is_legal(p.g, p.s, INT32_MAX));
    assert_false(game_is_legal(p.g, p.s, 2)); /* asks, gives nothing */
    assert_false(game_is_legal(p.g, p.s, 2 * OFFER_BUNDLES));
}

static void
it_cannot_be_solved(void **state) {
    (void)state;
    struct play p;
    struct err e;
    play_start(&p, "negotiation(turns=1)");
    assert_null(solve_new(p.g, &p.args, 1000, &e));
    assert_non_null(strstr(e.text, "more is legal than can be listed"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bundle_has_its_number),
        cmocka_unit_test(offers_are_found_anywhere_in_a_reply),
        cmocka_unit_test(an_accepted_offer_is_a_trade),
        cmocka_unit_test(an_offer_stands_until_it_is_taken_or_replaced),
        cmocka_unit_test(only_the_owner_sees_goods_and_values),
        cmocka_unit_test(talk_can_be_turned_off),
        cmocka_unit_test(random_trades_keep_the_goods),
        cmocka_unit_test(it_cannot_be_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
