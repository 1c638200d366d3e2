/* Liar's dice. Everybody rolls dice in secret, then the players take turns in bidding how many of
 * all dice show a face, each bid higher than the last, until one calls. If there are that many, the
 * caller loses a die, otherwise the bidder; a new round begins, the one who did not call bids
 * first. Who has no dice left loses. With the default, one die each, it is OpenSpiel's game: action
 * = (quantity - 1) x sides + face - 1, the number behind the highest bid = call; outcome of a die =
 * face - 1. */
#include <string.h>

#include "games/game.h"

enum {
    DICE_MAX = 5,
    SIDES_MAX = 9,
    MOST_MAX = 40,
    ROUNDS_MAX = 2 * DICE_MAX - 1,
    BIDS_MAX = 480,
    P_DICE = 0,
    P_SIDES = 1,
    P_WILD = 2,
    P_STRICT = 3,
    P_MOST = 4
};

struct round {
    uint8_t dice[2];             /* of each seat */
    uint8_t count[2][SIDES_MAX]; /* of them, by face */
    uint8_t rolled;              /* seat 0's dice, then seat 1's */
    uint8_t starter;
    uint16_t first, bids; /* in liars_dice.bid */
};

struct liars_dice {
    uint8_t sides, wild, strict, most;
    uint8_t highest; /* quantity of any bid of the match */
    uint8_t round;   /* the one being played, from 0 */
    uint8_t over;    /* the last bid of the round was called, and somebody has no dice left */
    struct round at[ROUNDS_MAX];
    uint16_t bid[BIDS_MAX];
};

static const struct game_param params[] = {
    {"dice", PARAM_INT, 1, DICE_MAX, "1", "Dice that each player begins with."},
    {"sides", PARAM_INT, 2, SIDES_MAX, "6", "Sides of a die."},
    {"wild", PARAM_BOOL, 0, 1, "true", "The highest face counts as any face."},
    {"strict", PARAM_BOOL, 0, 1, "false",
     "A bid may lower neither the quantity nor the face; otherwise a higher quantity allows any "
     "face."},
    {"most", PARAM_INT, 0, MOST_MAX, "0", "Highest quantity in a bid; 0: the dice in play."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

/* Bids that a round of `dice` dice can have. */
static int
longest_round(const struct game_args *args, int dice) {
    int most = args->value[P_MOST][0], sides = args->value[P_SIDES][0];
    int quantity = most ? most : dice;
    return args->value[P_STRICT][0] ? quantity + sides - 1 : quantity * sides;
}

static int
longest_match(const struct game_args *args) {
    int n = 0;
    for (int dice = 2 * args->value[P_DICE][0]; dice >= 2; dice--)
        n += longest_round(args, dice);
    return n;
}

static int
check(const struct game_args *args, struct err *e) {
    int n = longest_match(args);
    if (n > BIDS_MAX)
        return err_set(e,
                       "liars_dice: a match may have %d bids, %d are possible: take fewer dice or "
                       "sides, a smaller most, or strict=true",
                       n, BIDS_MAX);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    int n = longest_match(args);
    for (int dice = 2 * args->value[P_DICE][0]; dice >= 2; dice--)
        n += dice + 1;
    return n;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct liars_dice *s = state;
    memset(s, 0, sizeof *s);
    s->sides = (uint8_t)args->value[P_SIDES][0];
    s->wild = (uint8_t)args->value[P_WILD][0];
    s->strict = (uint8_t)args->value[P_STRICT][0];
    s->most = (uint8_t)args->value[P_MOST][0];
    s->at[0].dice[0] = s->at[0].dice[1] = (uint8_t)args->value[P_DICE][0];
    s->highest = s->most ? s->most : (uint8_t)(2 * s->at[0].dice[0]);
}

static int
all_dice(const struct round *r) {
    return r->dice[0] + r->dice[1];
}

static int
mover(const void *state) {
    const struct liars_dice *s = state;
    const struct round *r = &s->at[s->round];
    if (s->over)
        return GAME_OVER;
    return r->rolled < all_dice(r) ? GAME_CHANCE : (r->starter + r->bids) & 1;
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct liars_dice *s = state;
    for (int i = 0; i < s->sides; i++)
        out[i] = (struct game_outcome){i, 1.0 / s->sides};
    return s->sides;
}

static int
call_action(const struct liars_dice *s) {
    return s->highest * s->sides;
}

static int
last_bid(const struct liars_dice *s, const struct round *r) {
    return s->bid[r->first + r->bids - 1];
}

static int
legal(const void *state, int *out) {
    const struct liars_dice *s = state;
    const struct round *r = &s->at[s->round];
    int n = 0, end = (s->most ? s->most : all_dice(r)) * s->sides;
    int last = r->bids ? last_bid(s, r) : -1;
    int face = r->bids && s->strict ? last % s->sides : 0;
    for (int bid = last + 1; bid < end; bid++)
        if (bid % s->sides >= face)
            out[n++] = bid;
    if (r->bids)
        out[n++] = call_action(s);
    return n;
}

/* Dice that count for the last bid of a round. */
static int
counted(const struct liars_dice *s, const struct round *r) {
    int face = last_bid(s, r) % s->sides, wild = s->sides - 1;
    int n = r->count[0][face] + r->count[1][face];
    if (s->wild && face != wild)
        n += r->count[0][wild] + r->count[1][wild];
    return n;
}

static int
caller(const struct round *r) {
    return (r->starter + r->bids) & 1;
}

/* Seat that loses a die in a round whose last bid is called. */
static int
loser(const struct liars_dice *s, const struct round *r) {
    bool held = counted(s, r) > last_bid(s, r) / s->sides;
    return held ? caller(r) : 1 - caller(r);
}

static void
call(struct liars_dice *s) {
    const struct round *r = &s->at[s->round];
    int lost = loser(s, r);
    if (r->dice[lost] == 1) {
        s->over = 1;
        return;
    }
    struct round *next = &s->at[++s->round];
    memcpy(next->dice, r->dice, sizeof next->dice);
    next->dice[lost]--;
    next->starter = (uint8_t)(1 - caller(r));
    next->first = (uint16_t)(r->first + r->bids);
}

static void
apply(void *state, int action) {
    struct liars_dice *s = state;
    struct round *r = &s->at[s->round];
    if (r->rolled < all_dice(r)) {
        r->count[r->rolled++ >= r->dice[0]][action]++;
        return;
    }
    if (action == call_action(s))
        call(s);
    else
        s->bid[r->first + r->bids++] = (uint16_t)action;
}

static double
result(const void *state) {
    const struct liars_dice *s = state;
    return loser(s, &s->at[s->round]) == GAME_SEAT_0 ? -1 : 1;
}

static void
put_rules_of_bids(const struct liars_dice *s, struct text *out) {
    if (s->wild)
        text_fmt(out, "A %d counts as any face. ", s->sides);
    text_put(out, s->strict ? "A bid must raise the quantity or the face and may lower neither. "
                            : "A bid must raise the quantity, with any face, or keep it and raise "
                              "the face. ");
    if (s->most)
        text_fmt(out, "The highest quantity is %d. ", s->most);
    else
        text_put(out, "The highest quantity is the number of all dice. ");
}

static void
rules(const void *state, int who, struct text *out) {
    const struct liars_dice *s = state;
    int dice = s->at[0].dice[0];
    text_fmt(
        out,
        "Liar's dice for two players, you and they. Each has %d di%s of %d sides. All dice are "
        "rolled, and each player sees only the own ones. The players take turns: bid how many "
        "of all the dice, yours and theirs, show a face, for example 2x3 for two that show 3, "
        "or call the other's last bid. ",
        dice, dice == 1 ? "e" : "ce", s->sides);
    put_rules_of_bids(s, out);
    text_put(out, "After a call all dice are shown: if at least as many count as were bid, the "
                  "caller loses a die, otherwise the bidder does. ");
    if (dice > 1)
        text_put(out, "Then a new round begins, and the one who did not call bids first. ");
    text_put(out, "Who has no dice left loses. ");
    text_put(out, who == GAME_SEAT_0 ? "You bid first. " : "They bid first. ");
    text_put(out, "Your move is a bid, for example 1x4, or the word call.");
}

static void
put_dice(const struct liars_dice *s, const struct round *r, int seat, struct text *out) {
    for (int face = 0; face < s->sides; face++)
        for (int i = 0; i < r->count[seat][face]; i++) {
            text_char(out, ' ');
            text_int(out, face + 1);
        }
}

static void
put_bid(const struct liars_dice *s, int bid, struct text *out) {
    text_int(out, bid / s->sides + 1);
    text_char(out, 'x');
    text_int(out, bid % s->sides + 1);
}

static void
put_call(const struct liars_dice *s, const struct round *r, int who, struct text *out) {
    text_put(out, " Their dice");
    put_dice(s, r, 1 - who, out);
    text_put(out, ": ");
    text_int(out, counted(s, r));
    text_put(out, " count.");
    bool lost = loser(s, r) == who;
    if (r->dice[loser(s, r)] > 1)
        text_put(out, lost ? " You lose a die." : " They lose a die.");
    else
        text_put(out, lost ? " You lose." : " You win.");
}

static void
put_round_head(const struct round *r, int number, int who, struct text *out) {
    text_put(out, "Round ");
    text_int(out, number + 1);
    text_put(out, ", dice ");
    text_int(out, r->dice[who]);
    text_char(out, '-');
    text_int(out, r->dice[1 - who]);
    text_put(out, ". ");
}

/* A round as `who` knows it, without what the seat to move may do. */
static void
put_round(const struct liars_dice *s, int number, int who, struct text *out) {
    const struct round *r = &s->at[number];
    bool called = number < s->round || s->over;
    if (s->at[0].dice[0] > 1)
        put_round_head(r, number, who, out);
    if (r->rolled < (who == GAME_SEAT_0 ? r->dice[0] : all_dice(r))) {
        text_put(out, "Not rolled yet.");
        return;
    }
    text_put(out, "Your dice");
    put_dice(s, r, who, out);
    text_put(out, r->bids ? ". Bids" : ". No bid");
    for (int i = 0; i < r->bids; i++) {
        text_char(out, ' ');
        put_bid(s, s->bid[r->first + i], out);
    }
    text_char(out, '.');
    if (!called)
        return;
    text_put(out, caller(r) == who ? " You call." : " They call.");
    put_call(s, r, who, out);
}

static void
observe(const void *state, int who, struct text *out) {
    const struct liars_dice *s = state;
    for (int i = 0; i <= s->round; i++) {
        if (i)
            text_char(out, '\n');
        put_round(s, i, who, out);
    }
}

/* Only the last of the viewer's dice is told, with the others. */
static void
narrate_roll(const struct liars_dice *s, int action, int viewer, struct text *out) {
    struct round r = s->at[s->round];
    if (r.rolled + 1 != (viewer == GAME_SEAT_0 ? r.dice[0] : all_dice(&r)))
        return;
    r.count[viewer][action]++;
    if (s->at[0].dice[0] > 1)
        text_fmt(out, "Round %d. ", s->round + 1);
    text_put(out, "Your dice");
    put_dice(s, &r, viewer, out);
    text_char(out, '.');
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    const struct liars_dice *s = state;
    const struct round *r = &s->at[s->round];
    if (r->rolled < all_dice(r)) {
        narrate_roll(s, action, viewer, out);
        return;
    }
    text_put(out, caller(r) == viewer ? "You " : "They ");
    if (action == call_action(s)) {
        text_put(out, "call.");
        put_call(s, r, viewer, out);
        return;
    }
    text_put(out, "bid ");
    put_bid(s, action, out);
    text_char(out, '.');
}

static void
spell(const void *state, int action, struct text *out) {
    const struct liars_dice *s = state;
    if (mover(s) == GAME_CHANCE)
        text_int(out, action + 1);
    else if (action == call_action(s))
        text_put(out, "call");
    else
        put_bid(s, action, out);
}

static void
draw(const void *state, struct text *out) {
    const struct liars_dice *s = state;
    const struct round *r = &s->at[s->round];
    text_fmt(out, "Round %d", s->round + 1);
    for (int seat = 0; seat < 2; seat++) {
        text_fmt(out, "\nPlayer %d has %d dice:", seat, r->dice[seat]);
        put_dice(s, r, seat, out);
    }
    for (int i = 0; i < r->bids; i++) {
        text_fmt(out, "\nPlayer %d bids ", (r->starter + i) & 1);
        put_bid(s, s->bid[r->first + i], out);
    }
    if (s->over)
        text_fmt(out, "\nPlayer %d calls: %d count", caller(r), counted(s, r));
}

const struct game game_liars_dice = {
    .name = "liars_dice",
    .title = "Liar's dice",
    .version = 1,
    .state_bytes = sizeof(struct liars_dice),
    .params = params,
    .check = check,
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
