/* Goofspiel: prizes of 1 to `cards` points are shown one after the other; both players bid one card
 * of an equal hand of 1 to `cards` for each, at the same time; the higher card takes the prize,
 * equal cards nobody. Player 0 bids first, unseen. The last round has no choice left and is played
 * at once.
 *
 * Numbers of prizes and bids are OpenSpiel's, one less than what is written on the card. There,
 * `hidden` is imp_info, `difference` is returns_type=point_difference (which is halved). A view
 * tells all rounds so far, so that nothing is forgotten. */
#include <string.h>

#include "games/game.h"

enum { CARDS_MAX = 13, P_CARDS = 0, P_ORDER = 1, P_HIDDEN = 2, P_DIFFERENCE = 3 };
enum { RANDOM = 0, ASCENDING = 1 };

struct goofspiel {
    uint8_t cards, order, hidden, difference;
    uint8_t shown; /* prizes */
    uint8_t round; /* being played, from 0 */
    uint8_t bids;  /* made in it */
    uint8_t prize[CARDS_MAX];
    uint8_t bid[2][CARDS_MAX];
};

static const struct game_param params[] = {
    {"cards", PARAM_INT, 2, CARDS_MAX, "4", "Cards of each player, and prizes."},
    {"order", PARAM_INT, 0, 2, "0", "Order of the prizes: 0 drawn, 1 ascending, 2 descending."},
    {"hidden", PARAM_BOOL, 0, 1, "false", "Only who took a prize is told, not the bids."},
    {"difference", PARAM_BOOL, 0, 1, "false",
     "The difference in points is paid, not only who has more."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
all_points(int cards) {
    return cards * (cards + 1) / 2;
}

static int
max_plies(const struct game_args *args) {
    int each = args->value[P_ORDER][0] == RANDOM ? 3 : 2;
    return each * (args->value[P_CARDS][0] - 1);
}

static double
unit(const struct game_args *args) {
    return args->value[P_DIFFERENCE][0] ? all_points(args->value[P_CARDS][0]) : 1;
}

static void
show_next(struct goofspiel *s) {
    int prize = s->order == ASCENDING ? s->shown : s->cards - 1 - s->shown;
    s->prize[s->shown++] = (uint8_t)prize;
}

static void
init(void *state, const struct game_args *args) {
    struct goofspiel *s = state;
    memset(s, 0, sizeof *s);
    s->cards = (uint8_t)args->value[P_CARDS][0];
    s->order = (uint8_t)args->value[P_ORDER][0];
    s->hidden = (uint8_t)args->value[P_HIDDEN][0];
    s->difference = (uint8_t)args->value[P_DIFFERENCE][0];
    if (s->order != RANDOM)
        show_next(s);
}

static int
mover(const void *state) {
    const struct goofspiel *s = state;
    if (s->round == s->cards)
        return GAME_OVER;
    return s->shown == s->round ? GAME_CHANCE : s->bids;
}

/* Cards of 0 to n - 1 that are not among the first `gone` of `list`, as bits. */
static unsigned
rest(const uint8_t *list, int gone, int n) {
    unsigned bits = (1u << n) - 1;
    for (int i = 0; i < gone; i++)
        bits &= ~(1u << list[i]);
    return bits;
}

static unsigned
hand(const struct goofspiel *s, int seat) {
    return rest(s->bid[seat], s->round + (seat < s->bids), s->cards);
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct goofspiel *s = state;
    int n = 0;
    for (unsigned left = rest(s->prize, s->shown, s->cards); left; left &= left - 1)
        out[n++] = (struct game_outcome){__builtin_ctz(left), 1.0 / (s->cards - s->shown)};
    return n;
}

static int
legal(const void *state, int *out) {
    const struct goofspiel *s = state;
    int n = 0;
    for (unsigned left = hand(s, s->bids); left; left &= left - 1)
        out[n++] = __builtin_ctz(left);
    return n;
}

/* One card is left of each kind: nobody has a choice. */
static void
play_last_round(struct goofspiel *s) {
    unsigned last[2] = {hand(s, 0), hand(s, 1)};
    if (s->shown == s->round) {
        s->prize[s->round] = (uint8_t)__builtin_ctz(rest(s->prize, s->shown, s->cards));
        s->shown++;
    }
    for (int seat = 0; seat < 2; seat++)
        s->bid[seat][s->round] = (uint8_t)__builtin_ctz(last[seat]);
    s->round++;
}

static void
apply(void *state, int action) {
    struct goofspiel *s = state;
    if (s->shown == s->round) {
        s->prize[s->shown++] = (uint8_t)action;
        return;
    }
    s->bid[s->bids++][s->round] = (uint8_t)action;
    if (s->bids < 2)
        return;
    s->bids = 0;
    s->round++;
    if (s->order != RANDOM)
        show_next(s);
    if (s->round == s->cards - 1)
        play_last_round(s);
}

/* +1 when `who` took the prize of `round`, -1 when the other did. */
static int
taken(const struct goofspiel *s, int round, int who) {
    int own = s->bid[who][round], other = s->bid[1 - who][round];
    return (own > other) - (own < other);
}

static int
points(const struct goofspiel *s, int who) {
    int sum = 0;
    for (int round = 0; round < s->round; round++)
        if (taken(s, round, who) > 0)
            sum += s->prize[round] + 1;
    return sum;
}

static double
result(const void *state) {
    const struct goofspiel *s = state;
    int more = points(s, 0) - points(s, 1);
    if (s->difference)
        return (double)more / all_points(s->cards);
    return more > 0 ? 1 : more < 0 ? -1 : 0;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct goofspiel *s = state;
    (void)who;
    text_fmt(out,
             "Goofspiel for two players, you and they. There are %d prizes, worth 1 to %d points, "
             "and each player has %d cards, 1 to %d. In each round a prize is shown, and both "
             "players bid one of their cards without seeing the other's bid. The higher card takes "
             "the prize; with equal cards nobody does. Both cards are used up. ",
             s->cards, s->cards, s->cards, s->cards);
    if (s->hidden)
        text_put(out, "You are told who took the prize, not what the other bid. ");
    text_fmt(out, "The prizes come %s. The last round plays itself. ",
             s->order == RANDOM      ? "in random order"
             : s->order == ASCENDING ? "from the lowest to the highest"
                                     : "from the highest to the lowest");
    text_put(out, s->difference ? "In the end the difference in points is won and lost. "
                                : "Who has more points in the end wins. ");
    text_put(out, "Your move is the number of one of your cards, for example 2.");
}

static void
put_round(const struct goofspiel *s, int round, int who, struct text *out) {
    int won = taken(s, round, who);
    text_fmt(out, "Prize %d: you %d, ", s->prize[round] + 1, s->bid[who][round] + 1);
    if (s->hidden)
        text_put(out, won > 0 ? "won." : won < 0 ? "lost." : "tied.");
    else
        text_fmt(out, "they %d.", s->bid[1 - who][round] + 1);
}

static void
put_cards(unsigned cards, struct text *out) {
    for (; cards; cards &= cards - 1)
        text_fmt(out, " %d", __builtin_ctz(cards) + 1);
    text_char(out, '.');
}

static void
put_outcome(const struct goofspiel *s, int who, struct text *out) {
    int own = points(s, who), other = points(s, 1 - who);
    text_fmt(out, "Points %d:%d. ", own, other);
    text_put(out, own > other ? "You win." : own < other ? "You lose." : "Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct goofspiel *s = state;
    for (int round = 0; round < s->round; round++) {
        put_round(s, round, who, out);
        text_char(out, '\n');
    }
    if (s->round == s->cards) {
        put_outcome(s, who, out);
        return;
    }
    text_fmt(out, "Points %d:%d. Your cards", points(s, who), points(s, 1 - who));
    put_cards(hand(s, who), out);
    if (!s->hidden) {
        text_put(out, " Theirs");
        put_cards(rest(s->bid[1 - who], s->round, s->cards), out);
    }
    if (s->shown > s->round)
        text_fmt(out, " Prize %d.", s->prize[s->round] + 1);
    if (who < s->bids)
        text_fmt(out, " You bid %d.", s->bid[who][s->round] + 1);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct goofspiel s;
    memcpy(&s, state, sizeof s);
    int who = mover(&s), round = s.round;
    apply(&s, action);
    if (who == GAME_CHANCE) {
        text_fmt(out, "The prize is %d.", action + 1);
        return;
    }
    if (who == GAME_SEAT_0) {
        if (viewer == who)
            text_fmt(out, "You bid %d.", action + 1);
        return;
    }
    put_round(&s, round, viewer, out);
    if (s.round == s.cards) {
        text_char(out, ' ');
        put_round(&s, round + 1, viewer, out);
        text_char(out, ' ');
        put_outcome(&s, viewer, out);
    } else if (s.shown > s.round) {
        text_fmt(out, " The prize is %d.", s.prize[s.round] + 1);
    }
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    text_int(out, action + 1);
}

static void
draw(const void *state, struct text *out) {
    const struct goofspiel *s = state;
    for (int round = 0; round < s->round; round++)
        text_fmt(out, "Prize %d: %d against %d.\n", s->prize[round] + 1, s->bid[0][round] + 1,
                 s->bid[1][round] + 1);
    text_fmt(out, "Points %d:%d.", points(s, 0), points(s, 1));
    if (s->shown > s->round)
        text_fmt(out, " Prize %d.", s->prize[s->round] + 1);
    if (s->bids)
        text_fmt(out, " Player 0 bids %d.", s->bid[0][s->round] + 1);
}

const struct game game_goofspiel = {
    .name = "goofspiel",
    .title = "Goofspiel",
    .version = 1,
    .state_bytes = sizeof(struct goofspiel),
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
