/* Trade with talk: each player holds goods, and values them in a way that the other does not see.
 * On a turn a player may take the offer that stands and make a new one; whose goods gained more in
 * value in the end wins. With resources=2 the goods and values are fixed and opposed, with
 * resources=5 dealt.
 *
 * An offer stands until it is taken or another one is made, whatever is said; taking one's own
 * offer withdraws it. An action is one number, so an offer has at most two kinds of goods on a
 * side, at most 50 of each: action = 2 x (give x BUNDLES + ask) + 1 where the standing offer is
 * taken; give = ask = 0 where none is made. There are too many to list: legal() lists simple ones,
 * allows() knows all. */
#include <string.h>

#include "games/offer.h"
#include "games/talk.h"

enum { KINDS = OFFER_KINDS, BUNDLES = OFFER_BUNDLES, TURNS_MAX = 31, DEALT = 4 * KINDS };
enum { P_RESOURCES = 0, P_TURNS = 1, P_TALK = 2 };

struct negotiation {
    uint8_t kinds, turns, talk;
    uint8_t turn;             /* the one being played, from 0; = turns: over */
    uint8_t dealt;            /* numbers dealt, of DEALT: goods of both, then values of both */
    uint8_t offerer;          /* who made the standing offer */
    int32_t offer;            /* give x BUNDLES + ask; 0: none stands */
    int32_t taken[TURNS_MAX]; /* actions */
    int32_t start[2];         /* worth of the goods at the start */
    uint8_t have[2][KINDS], value[2][KINDS];
    struct talk said[2];
};

static const char *const names[2][KINDS] = {
    {"Wood", "Gold", "", "", ""},
    {"Wheat", "Wood", "Sheep", "Brick", "Ore"},
};

static const struct game_param params[] = {
    {"resources", PARAM_INT, 2, KINDS, "2", "Kinds of goods: 2 (fixed) or 5 (dealt)."},
    {"turns", PARAM_INT, 1, TURNS_MAX, "10", "Turns of both players together."},
    {"talk", PARAM_BOOL, 0, 1, "true", "The players see each other's words."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
check(const struct game_args *args, struct err *e) {
    int kinds = args->value[P_RESOURCES][0];
    if (kinds != 2 && kinds != KINDS)
        return err_set(e, "negotiation: resources is %d; it must be 2 or %d", kinds, KINDS);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    return (args->value[P_RESOURCES][0] == KINDS ? DEALT : 0) + args->value[P_TURNS][0];
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static int
worth(const struct negotiation *s, int who) {
    int sum = 0;
    for (int i = 0; i < s->kinds; i++)
        sum += s->have[who][i] * s->value[who][i];
    return sum;
}

static void
init(void *state, const struct game_args *args) {
    struct negotiation *s = state;
    memset(s, 0, sizeof *s);
    s->kinds = (uint8_t)args->value[P_RESOURCES][0];
    s->turns = (uint8_t)args->value[P_TURNS][0];
    s->talk = (uint8_t)args->value[P_TALK][0];
    if (s->kinds == KINDS)
        return;
    s->dealt = DEALT;
    for (int seat = 0; seat < 2; seat++) {
        s->have[seat][0] = s->have[seat][1] = 10;
        s->value[seat][seat] = 5;
        s->value[seat][1 - seat] = 15;
        s->start[seat] = worth(s, seat);
    }
}

static int
mover(const void *state) {
    const struct negotiation *s = state;
    if (s->dealt < DEALT)
        return GAME_CHANCE;
    return s->turn == s->turns ? GAME_OVER : s->turn % 2;
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct negotiation *s = state;
    static const int value[KINDS][2] = {{5, 6}, {8, 12}, {12, 18}, {20, 30}, {32, 40}};
    bool goods = s->dealt < 2 * KINDS;
    int low = goods ? 5 : value[s->dealt % KINDS][0];
    int high = goods ? 25 : value[s->dealt % KINDS][1];
    for (int i = low; i <= high; i++)
        out[i - low] = (struct game_outcome){i, 1.0 / (high - low + 1)};
    return high - low + 1;
}

static void
deal(struct negotiation *s, int number) {
    int at = s->dealt++, seat = at / KINDS % 2;
    (at < 2 * KINDS ? s->have : s->value)[seat][at % KINDS] = (uint8_t)number;
    if (s->dealt == DEALT - KINDS || s->dealt == DEALT)
        s->start[seat] = worth(s, seat);
}

static const char *const *
names_of(const struct negotiation *s) {
    return names[s->kinds == KINDS];
}

static bool
has(const struct negotiation *s, int who, int bundle) {
    struct bundle b = bundle_of(bundle);
    for (int i = 0; i < KINDS; i++)
        if (b.quantity[i] > s->have[who][i])
            return false;
    return true;
}

static void
hand_over(struct negotiation *s, int from, int bundle) {
    struct bundle b = bundle_of(bundle);
    for (int i = 0; i < KINDS; i++) {
        s->have[from][i] = (uint8_t)(s->have[from][i] - b.quantity[i]);
        s->have[1 - from][i] = (uint8_t)(s->have[1 - from][i] + b.quantity[i]);
    }
}

static void
take_offer(struct negotiation *s, int who) {
    if (who != s->offerer) {
        hand_over(s, s->offerer, s->offer / BUNDLES);
        hand_over(s, who, s->offer % BUNDLES);
    }
    s->offer = 0;
}

static bool
can_take(const struct negotiation *s, int who) {
    return s->offer && (who == s->offerer || has(s, who, s->offer % BUNDLES));
}

static bool
is_known(const struct negotiation *s, int bundle) {
    struct bundle b = bundle_of(bundle);
    for (int i = s->kinds; i < KINDS; i++)
        if (b.quantity[i])
            return false;
    return true;
}

static bool
allows(const void *state, int action) {
    struct negotiation s;
    memcpy(&s, state, sizeof s);
    int who = s.turn % 2;
    if (action < 0 || action / 2 >= BUNDLES * BUNDLES || (action % 2 && !can_take(&s, who)))
        return false;
    if (action % 2)
        take_offer(&s, who);
    int give = action / 2 / BUNDLES, ask = action / 2 % BUNDLES;
    if (!give || !ask)
        return !give && !ask;
    return has(&s, who, give) && is_known(&s, ask);
}

/* One kind for another, in a few quantities. */
static int
legal(const void *state, int *out) {
    const struct negotiation *s = state;
    static const uint8_t sizes[2][6] = {{1, 2, 3, 5, 10, 0}, {1, 3, 0}};
    const uint8_t *size = sizes[s->kinds == KINDS];
    int who = s->turn % 2, n = 0;
    out[n++] = 0;
    if (can_take(s, who))
        out[n++] = 1;
    for (int give = 0; give < s->kinds; give++)
        for (int x = 0; size[x] && size[x] <= s->have[who][give]; x++)
            for (int ask = 0; ask < s->kinds; ask++)
                for (int y = 0; give != ask && size[y]; y++) {
                    struct bundle a = {{0}}, b = {{0}};
                    a.quantity[give] = size[x];
                    b.quantity[ask] = size[y];
                    out[n++] = 2 * (bundle_number(&a) * BUNDLES + bundle_number(&b));
                }
    return n;
}

/* All of a turn but the words. */
static void
act(struct negotiation *s, int action) {
    int who = s->turn % 2;
    if (action % 2)
        take_offer(s, who);
    if (action / 2) {
        s->offer = action / 2;
        s->offerer = (uint8_t)who;
    }
    s->taken[s->turn++] = action;
}

static void
apply(void *state, int action) {
    struct negotiation *s = state;
    if (s->dealt < DEALT) {
        deal(s, action);
        return;
    }
    talk_pass(&s->said[s->turn % 2]);
    act(s, action);
}

static int
gain(const struct negotiation *s, int who) {
    return worth(s, who) - s->start[who];
}

static double
result(const void *state) {
    const struct negotiation *s = state;
    int a = gain(s, 0), b = gain(s, 1);
    return (a > b) - (a < b);
}

static void
rules(const void *state, int who, struct text *out) {
    const struct negotiation *s = state;
    const char *const *name = names_of(s);
    text_put(out, "Negotiation for two players, you and they. Each holds goods:");
    for (int i = 0; i < s->kinds; i++) {
        text_put(out, i ? ", " : " ");
        text_put(out, name[i]);
    }
    text_fmt(out,
             ". You know what yours are worth to you; they may value them otherwise. In %d turns, "
             "taken by both alternately, you trade. At the end, whose goods gained more in value "
             "wins; equal gains are a draw. On your turn write ",
             s->turns);
    text_fmt(out,
             "[offer: 2 %s -> 1 %s] to give 2 %s and get 1 %s (at most two kinds on a side, only "
             "what you have), [accept] to take the offer that stands, if you have what it asks, or "
             "anything else, or [deny], to pass. You may accept and offer in one turn. An offer "
             "stands until it is accepted or another one is made; [accept] of your own offer "
             "withdraws it. ",
             name[0], name[1], name[0], name[1]);
    if (s->talk)
        text_put(out, "They read all that you write; what they write stands in quotes. ");
    text_put(out, who == GAME_SEAT_0 ? "You go first." : "You go second.");
}

static void
put_good(const struct negotiation *s, int who, int kind, struct text *out) {
    text_put(out, kind ? ", " : " ");
    text_int(out, s->have[who][kind]);
    text_char(out, ' ');
    text_put(out, names_of(s)[kind]);
    text_put(out, " at ");
    text_int(out, s->value[who][kind]);
}

/* Goods with what each is worth to their owner. */
static void
put_holdings(const struct negotiation *s, int who, struct text *out) {
    for (int i = 0; i < s->kinds; i++)
        put_good(s, who, i, out);
}

static void
put_goods(const struct negotiation *s, int who, struct text *out) {
    text_put(out, "You have");
    put_holdings(s, who, out);
    text_put(out, ": worth ");
    text_int(out, worth(s, who));
    text_put(out, ", gain ");
    text_int(out, gain(s, who));
    text_char(out, '.');
}

static void
put_offer(const struct negotiation *s, int offer, struct text *out) {
    bundle_put(offer / BUNDLES, names_of(s), out);
    text_put(out, " for ");
    bundle_put(offer % BUNDLES, names_of(s), out);
}

/* `own`: the offer that stands, and may be taken, is the mover's. */
static void
put_action(const struct negotiation *s, int action, bool own, bool you, struct text *out) {
    text_put(out, you ? "You " : "They ");
    if (action % 2)
        text_put(out, own ? "withdraw the offer" : "accept");
    if (action / 2) {
        text_put(out, action % 2 ? " and offer " : "offer ");
        put_offer(s, action / 2, out);
    } else if (action == 0) {
        text_put(out, "pass");
    }
    text_char(out, '.');
}

static void
put_history(const struct negotiation *s, int who, struct text *out) {
    int offerer = 0;
    for (int i = 0; i < s->turn; i++) {
        text_char(out, '\n');
        text_int(out, i + 1);
        text_char(out, ' ');
        put_action(s, s->taken[i], offerer == i % 2, who == i % 2, out);
        if (s->taken[i] / 2)
            offerer = i % 2;
    }
}

static void
put_end(const struct negotiation *s, int who, struct text *out) {
    double won = who == GAME_SEAT_0 ? result(s) : -result(s);
    text_fmt(out, " You gained %d, they gained %d.", gain(s, who), gain(s, 1 - who));
    text_put(out, won > 0 ? " You win." : won < 0 ? " You lose." : " Draw.");
}

static void
put_turn(const struct negotiation *s, struct text *out) {
    text_put(out, "\nTurn ");
    text_int(out, s->turn + 1);
    text_put(out, " of ");
    text_int(out, s->turns);
    text_char(out, '.');
}

static void
observe(const void *state, int who, struct text *out) {
    const struct negotiation *s = state;
    if (s->dealt < (who == GAME_SEAT_0 ? DEALT - KINDS : DEALT)) {
        text_put(out, "The goods are being dealt.");
        return;
    }
    put_goods(s, who, out);
    put_history(s, who, out);
    talk_put(&s->said[who], "\nYou said: ", out);
    talk_put(&s->said[1 - who], "\nThey said: ", out);
    if (s->offer) {
        text_put(out, s->offerer == who ? "\nYour offer stands: " : "\nTheir offer stands: ");
        put_offer(s, s->offer, out);
        text_char(out, '.');
    }
    if (s->turn == s->turns)
        put_end(s, who, out);
    else
        put_turn(s, out);
}

/* What the viewer is told behind the action: the goods after a trade, the end. Only `traded` and
 * the last turn have something to tell. */
static void
narrate_effect(const void *state, int action, int viewer, bool traded, struct text *out) {
    struct negotiation s; /* without words, which are long */
    memcpy(&s, state, offsetof(struct negotiation, said));
    act(&s, action);
    if (traded) {
        text_char(out, ' ');
        put_goods(&s, viewer, out);
    }
    if (mover(&s) == GAME_OVER)
        put_end(&s, viewer, out);
}

static void
narrate_deal(const void *state, int number, int viewer, struct text *out) {
    const struct negotiation *before = state;
    if (before->dealt + 1 != (viewer == GAME_SEAT_0 ? DEALT - KINDS : DEALT))
        return;
    struct negotiation s;
    memcpy(&s, state, offsetof(struct negotiation, said));
    deal(&s, number);
    put_goods(&s, viewer, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    const struct negotiation *s = state;
    if (s->dealt < DEALT) {
        narrate_deal(s, action, viewer, out);
        return;
    }
    int seat = s->turn % 2;
    const struct talk *said = &s->said[seat];
    if (seat != viewer && talk_is_fresh(said)) {
        talk_put(said, "They say: ", out);
        text_char(out, ' ');
    }
    bool own = s->offerer == seat, traded = action % 2 && !own;
    put_action(s, action, own, seat == viewer, out);
    if (traded || s->turn + 1 == s->turns)
        narrate_effect(s, action, viewer, traded, out);
}

static void
spell(const void *state, int action, struct text *out) {
    const struct negotiation *s = state;
    const char *accept = action % 2 ? "accept" : "pass";
    if (s->dealt < DEALT) {
        text_int(out, action);
        return;
    }
    if (action < 2) {
        text_put(out, accept);
        return;
    }
    text_put(out, action % 2 ? "[accept] [offer: " : "offer: ");
    bundle_put(action / 2 / BUNDLES, names_of(s), out);
    text_put(out, " -> ");
    bundle_put(action / 2 % BUNDLES, names_of(s), out);
    if (action % 2)
        text_char(out, ']');
}

static int
parse(const void *state, const char *word, size_t n) {
    const struct negotiation *s = state;
    bool accepts = talk_find(word, n, "[accept]") || talk_is(word, n, "accept");
    int offer = offer_find(word, n, names_of(s), s->kinds);
    return offer < 0 ? -1 : 2 * offer + (accepts && s->offer);
}

static void
say(void *state, const char *words, size_t n) {
    struct negotiation *s = state;
    if (s->talk)
        talk_hear(&s->said[s->turn % 2], words, n);
}

static void
draw(const void *state, struct text *out) {
    const struct negotiation *s = state;
    for (int seat = 0; seat < 2; seat++) {
        text_fmt(out, "%sPlayer %d:", seat ? "\n" : "", seat);
        put_holdings(s, seat, out);
        if (s->dealt == DEALT)
            text_fmt(out, ", gain %d", gain(s, seat));
        talk_put(&s->said[seat], ", said: ", out);
    }
    if (s->offer) {
        text_fmt(out, "\nPlayer %d offers ", s->offerer);
        put_offer(s, s->offer, out);
    }
}

const struct game game_negotiation = {
    .name = "negotiation",
    .title = "Negotiation",
    .version = 1,
    .state_bytes = sizeof(struct negotiation),
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
    .parse = parse,
    .draw = draw,
    .say = say,
    .allows = allows,
};
