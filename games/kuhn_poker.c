/* Kuhn poker (Kuhn 1950): three cards J < Q < K, ante 1 chip, one bet of 1 chip. The pots are real:
 * a called bet plays for 2 chips each. Actions as in OpenSpiel: 0 = pass (check or fold), 1 = bet
 * (bet or call).
 *
 * With hands > 1 that many independent hands are played, the seats take turns in going first, and
 * the chips are summed. A view tells all hands so far, so that nothing is forgotten. `side` chips
 * go from seat 1 to seat 0 whatever happens: it changes the value of the seats, never the best
 * play. */
#include <string.h>

#include "games/game.h"

enum { HANDS_MAX = 20, SIDE_MAX = 4, P_HANDS = 0, P_SIDE = 1 };

struct hand {
    int8_t dealt;   /* cards given out: 0, 1 or 2 */
    int8_t card[2]; /* of seat 0 and seat 1; 0 = J, 1 = Q, 2 = K */
    int8_t moves;   /* made so far, at most 3 */
    int8_t move[3]; /* 0 = pass, 1 = bet */
};

struct kuhn {
    int8_t hands, side;
    int8_t hand; /* the one being played, from 0 */
    struct hand at[HANDS_MAX];
};

static const struct game_param params[] = {
    {"hands", PARAM_INT, 1, HANDS_MAX, "1",
     "Hands in a match; the seats take turns in going first."},
    {"side", PARAM_INT, -SIDE_MAX, SIDE_MAX, "0",
     "Chips that seat 1 pays to seat 0 in every match, which makes the seats unequal."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
abs_int(int n) {
    return n < 0 ? -n : n;
}

static int
max_plies(const struct game_args *args) {
    return 5 * args->value[P_HANDS][0];
}

static double
unit(const struct game_args *args) {
    return 2 * args->value[P_HANDS][0] + abs_int(args->value[P_SIDE][0]);
}

static void
init(void *state, const struct game_args *args) {
    struct kuhn *s = state;
    memset(s, 0, sizeof *s);
    s->hands = (int8_t)args->value[P_HANDS][0];
    s->side = (int8_t)args->value[P_SIDE][0];
}

static bool
facing_bet(const struct hand *h) {
    return h->moves > 0 && h->move[h->moves - 1] == 1;
}

static bool
hand_over(const struct hand *h) {
    return h->moves == 3 || (h->moves == 2 && (h->move[0] == 1 || h->move[1] == 0));
}

/* Seat that makes move number `i` of hand `hand`. */
static int
seat_of_move(int hand, int i) {
    return (hand + i) & 1;
}

static bool
folded(const struct hand *h) {
    return h->moves >= 2 && h->move[h->moves - 2] == 1 && h->move[h->moves - 1] == 0;
}

/* Chips that seat 0 wins in a finished hand. */
static int
hand_chips(const struct kuhn *s, int hand) {
    const struct hand *h = &s->at[hand];
    if (folded(h))
        return seat_of_move(hand, h->moves - 1) == GAME_SEAT_0 ? -1 : 1;
    int stake = facing_bet(h) ? 2 : 1;
    return h->card[0] > h->card[1] ? stake : -stake;
}

static int
mover(const void *state) {
    const struct kuhn *s = state;
    const struct hand *h = &s->at[s->hand];
    if (h->dealt < 2)
        return GAME_CHANCE;
    return hand_over(h) ? GAME_OVER : seat_of_move(s->hand, h->moves);
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct kuhn *s = state;
    const struct hand *h = &s->at[s->hand];
    int n = 0;
    for (int card = 0; card < 3; card++)
        if (h->dealt == 0 || card != h->card[0])
            out[n++] = (struct game_outcome){card, h->dealt ? 1.0 / 2 : 1.0 / 3};
    return n;
}

static int
legal(const void *state, int *out) {
    (void)state;
    out[0] = 0;
    out[1] = 1;
    return 2;
}

static void
apply(void *state, int action) {
    struct kuhn *s = state;
    struct hand *h = &s->at[s->hand];
    if (h->dealt < 2) {
        h->card[h->dealt++] = (int8_t)action;
        return;
    }
    h->move[h->moves++] = (int8_t)action;
    if (hand_over(h) && s->hand + 1 < s->hands)
        s->hand++;
}

static double
result(const void *state) {
    const struct kuhn *s = state;
    int chips = s->side;
    for (int i = 0; i < s->hands; i++)
        chips += hand_chips(s, i);
    return (double)chips / (2 * s->hands + abs_int(s->side));
}

static char
card_name(int card) {
    return "JQK"[card];
}

static void
put_chips(struct text *out, int n) {
    text_int(out, n);
    text_put(out, n == 1 ? " chip" : " chips");
}

static void
put_rules_of_match(const struct kuhn *s, int who, struct text *out) {
    if (s->hands > 1)
        text_fmt(out,
                 " The match has %d such hands, each with a fresh deal; the players take turns in "
                 "going first. All chips won and lost are added up.",
                 s->hands);
    if (s->side) {
        bool get = (s->side > 0) == (who == GAME_SEAT_0);
        text_put(out, get ? " Whatever happens, they also pay you "
                          : " Whatever happens, you also pay them ");
        put_chips(out, abs_int(s->side));
        text_put(out, " once a match.");
    }
}

static void
rules(const void *state, int who, struct text *out) {
    const struct kuhn *s = state;
    text_put(out,
             "Kuhn poker for two players, you and they. The deck has three cards: J, Q and K; K is "
             "the highest, J the lowest. Each player puts 1 chip into the pot and gets one card, "
             "which only its owner sees. The first player may check or bet 1 chip more. After a "
             "bet, the other may fold (the bettor takes the pot) or call (put in 1 chip as well; "
             "the higher card takes the pot). After a check, the second player may check (the "
             "higher card takes the pot) or bet; then the first player may fold or call. So a hand "
             "is won or lost for 1 chip, or for 2 chips when a bet was called.");
    put_rules_of_match(s, who, out);
    const char *first = s->hands > 1 ? " in the first hand" : "";
    text_fmt(out, " You go %s%s.", who == GAME_SEAT_0 ? "first" : "second", first);
    text_put(out, " Your move is one word: check or bet, or after a bet fold or call.");
}

static void
put_move(const struct hand *h, int action, struct text *out) {
    if (facing_bet(h))
        text_put(out, action ? "call" : "fold");
    else
        text_put(out, action ? "bet" : "check");
}

static void
put_moves(const struct hand *h, struct text *out) {
    struct hand before = *h;
    text_put(out, "Moves:");
    for (int i = 0; i < h->moves; i++) {
        before.moves = (int8_t)i;
        text_char(out, ' ');
        put_move(&before, h->move[i], out);
    }
    text_put(out, h->moves ? "." : " none.");
}

static void
put_outcome(const struct kuhn *s, int hand, int who, struct text *out) {
    const struct hand *h = &s->at[hand];
    int won = who == GAME_SEAT_0 ? hand_chips(s, hand) : -hand_chips(s, hand);
    if (!folded(h))
        text_fmt(out, " Their card %c.", card_name(h->card[1 - who]));
    text_fmt(out, won > 0 ? " You win %d." : " You lose %d.", abs_int(won));
}

static void
put_hand(const struct kuhn *s, int hand, int who, struct text *out) {
    const struct hand *h = &s->at[hand];
    if (s->hands > 1)
        text_fmt(out, "Hand %d, you go %s. ", hand + 1,
                 seat_of_move(hand, 0) == who ? "first" : "second");
    if (h->dealt <= who) {
        text_put(out, "No card yet.");
        return;
    }
    text_fmt(out, "Your card %c. ", card_name(h->card[who]));
    put_moves(h, out);
    if (hand_over(h))
        put_outcome(s, hand, who, out);
}

static void
observe(const void *state, int who, struct text *out) {
    const struct kuhn *s = state;
    for (int i = 0; i <= s->hand; i++) {
        if (i)
            text_char(out, '\n');
        put_hand(s, i, who, out);
    }
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct kuhn s;
    memcpy(&s, state, sizeof s);
    int hand = s.hand;
    struct hand *h = &s.at[hand];
    if (h->dealt < 2) {
        if (h->dealt == viewer) {
            if (s.hands > 1)
                text_fmt(out, "Hand %d. ", hand + 1);
            text_fmt(out, "Your card is %c.", card_name(action));
        }
        return;
    }
    text_put(out, seat_of_move(hand, h->moves) == viewer ? "You " : "They ");
    put_move(h, action, out);
    text_char(out, '.');
    apply(&s, action);
    if (hand_over(h))
        put_outcome(&s, hand, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    const struct kuhn *s = state;
    const struct hand *h = &s->at[s->hand];
    if (h->dealt < 2)
        text_char(out, card_name(action));
    else
        put_move(h, action, out);
}

static void
draw(const void *state, struct text *out) {
    const struct kuhn *s = state;
    for (int i = 0; i <= s->hand; i++) {
        const struct hand *h = &s->at[i];
        if (i)
            text_char(out, '\n');
        text_fmt(out, "Cards: %c %c. ", h->dealt > 0 ? card_name(h->card[0]) : '-',
                 h->dealt > 1 ? card_name(h->card[1]) : '-');
        put_moves(h, out);
        if (hand_over(h))
            text_fmt(out, " Player 0: %+d.", hand_chips(s, i));
    }
}

const struct game game_kuhn_poker = {
    .name = "kuhn_poker",
    .title = "Kuhn poker",
    .version = 1,
    .state_bytes = sizeof(struct kuhn),
    .params = params,
    .max_plies = max_plies,
    .unit = unit,
    .init = init,
    .mover = mover,
    .chance = chance,
    .legal = legal,
    .apply = apply,
    .result = result,
    .rules = rules,
    .observe = observe,
    .narrate = narrate,
    .spell = spell,
    .draw = draw,
};
