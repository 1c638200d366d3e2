/* Leduc hold'em (Southey et al. 2005): six cards (J, Q, K in two suits), ante 1, one private card
 * each, a round of betting, one card on the table, a second round. Bets and raises are 2 chips in
 * the first round and 4 in the second, at most two a round. A pair with the table card wins, then
 * the higher rank; equal ranks split the pot. Numbers of cards and actions are OpenSpiel's: card =
 * 2 x rank + suit; 0 = fold, 1 = check or call, 2 = bet or raise. */
#include <string.h>

#include "games/game.h"

enum { CARDS = 6, ANTE = 1, RAISES_MAX = 2, ROUND_MOVES = 4, UNIT = 13 };
enum { FOLD = 0, CALL = 1, RAISE = 2, NOBODY = 2 };

struct leduc {
    int8_t dealt;   /* cards given out: two private ones, then the one on the table */
    int8_t card[3]; /* of seat 0, of seat 1, on the table */
    int8_t round;   /* 0 or 1 */
    int8_t turn;    /* seat to move */
    int8_t raises;  /* in this round */
    int8_t folded;  /* seat that folded, or NOBODY */
    int8_t over;
    int8_t stake[2]; /* chips put in */
    int8_t moves[2]; /* of each round */
    int8_t move[2][ROUND_MOVES];
};

static int
max_plies(const struct game_args *args) {
    (void)args;
    return 3 + 2 * ROUND_MOVES;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return UNIT;
}

static void
init(void *state, const struct game_args *args) {
    struct leduc *s = state;
    (void)args;
    memset(s, 0, sizeof *s);
    s->folded = NOBODY;
    s->stake[0] = s->stake[1] = ANTE;
}

static bool
card_due(const struct leduc *s) {
    return s->dealt < 2 || (s->dealt == 2 && s->round == 1);
}

static int
mover(const void *state) {
    const struct leduc *s = state;
    return s->over ? GAME_OVER : card_due(s) ? GAME_CHANCE : s->turn;
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct leduc *s = state;
    int n = 0;
    for (int card = 0; card < CARDS; card++) {
        bool gone = false;
        for (int i = 0; i < s->dealt; i++)
            gone = gone || s->card[i] == card;
        if (!gone)
            out[n++] = (struct game_outcome){card, 1.0 / (CARDS - s->dealt)};
    }
    return n;
}

static bool
facing_bet(const struct leduc *s) {
    return s->stake[1 - s->turn] > s->stake[s->turn];
}

static int
legal(const void *state, int *out) {
    const struct leduc *s = state;
    int n = 0;
    if (facing_bet(s))
        out[n++] = FOLD;
    out[n++] = CALL;
    if (s->raises < RAISES_MAX)
        out[n++] = RAISE;
    return n;
}

static void
end_round(struct leduc *s) {
    if (s->round == 1) {
        s->over = 1;
        return;
    }
    s->round = 1;
    s->raises = 0;
    s->turn = 0;
}

static void
apply(void *state, int action) {
    struct leduc *s = state;
    if (card_due(s)) {
        s->card[s->dealt++] = (int8_t)action;
        return;
    }
    bool answered = facing_bet(s), opened = s->moves[s->round] > 0;
    s->move[s->round][s->moves[s->round]++] = (int8_t)action;
    int8_t *mine = &s->stake[s->turn], theirs = s->stake[1 - s->turn];
    if (action == FOLD) {
        s->folded = s->turn;
        s->over = 1;
        return;
    }
    *mine = theirs;
    if (action == RAISE) {
        *mine = (int8_t)(*mine + (s->round == 0 ? 2 : 4));
        s->raises++;
    } else if (answered || opened) {
        end_round(s);
        return;
    }
    s->turn ^= 1;
}

/* A pair beats everything, otherwise the rank counts. */
static int
strength(const struct leduc *s, int seat) {
    int rank = s->card[seat] / 2;
    return rank == s->card[2] / 2 ? 3 : rank;
}

static int
chips(const struct leduc *s) {
    if (s->folded != NOBODY)
        return s->folded == GAME_SEAT_0 ? -s->stake[0] : s->stake[1];
    int a = strength(s, 0), b = strength(s, 1);
    return a > b ? s->stake[1] : a < b ? -s->stake[0] : 0;
}

static double
result(const void *state) {
    return (double)chips(state) / UNIT;
}

static void
put_card(int card, struct text *out) {
    text_char(out, "JQK"[card / 2]);
    text_char(out, "hs"[card % 2]);
}

static void
rules(const void *state, int who, struct text *out) {
    (void)state;
    text_put(
        out,
        "Leduc hold'em poker for two players, you and they. The deck has six cards: J, Q and "
        "K (the highest) of hearts (h) and of spades (s), written for example Qh. Each player "
        "puts 1 chip into the pot and gets one card, which only its owner sees. A round of "
        "betting follows, then one card is laid on the table for both, then a second round. In "
        "a round the first player may check or bet; after a bet, the other may fold, call or "
        "raise. A bet or a raise is 2 chips in round 1 and 4 chips in round 2, and there are "
        "at most two of them in a round. A round ends when a bet is called or both check. Who "
        "folds loses the pot. At the end a card of the same rank as the table's wins, "
        "otherwise the higher rank; equal ranks split the pot. ");
    text_put(out, who == GAME_SEAT_0 ? "You go first in both rounds. "
                                     : "You go second in both rounds. ");
    text_put(out, "Your move is one word: check, bet, fold, call or raise, as the moment allows.");
}

/* The word for `action` after `moves` moves of a round of which `raises` were bets or raises;
 * `facing`: there is something to call. */
static const char *
move_word(int action, bool facing, int raises) {
    if (action == FOLD)
        return "fold";
    if (action == CALL)
        return facing ? "call" : "check";
    return raises ? "raise" : "bet";
}

static void
put_round(const struct leduc *s, int round, struct text *out) {
    int raises = 0;
    text_put(out, "Moves:");
    for (int i = 0; i < s->moves[round]; i++) {
        int action = s->move[round][i];
        text_char(out, ' ');
        text_put(out, move_word(action, raises > 0, raises));
        raises += action == RAISE;
    }
}

static void
put_outcome(const struct leduc *s, int who, struct text *out) {
    int won = who == GAME_SEAT_0 ? chips(s) : -chips(s);
    if (s->folded == NOBODY) {
        text_put(out, " Their card ");
        put_card(s->card[1 - who], out);
        text_char(out, '.');
    }
    if (won)
        text_fmt(out, won > 0 ? " You win %d." : " You lose %d.", won > 0 ? won : -won);
    else
        text_put(out, " The pot is split.");
}

/* Only ever grows at its end, so that the views of a match share their beginnings. The pot is not
 * told: it follows from the moves. */
static void
put_table(const struct leduc *s, struct text *out) {
    put_round(s, 0, out);
    if (s->dealt == 3) {
        text_put(out, ". Table ");
        put_card(s->card[2], out);
        text_put(out, ". ");
        put_round(s, 1, out);
    }
}

static void
observe(const void *state, int who, struct text *out) {
    const struct leduc *s = state;
    if (s->dealt <= who) {
        text_put(out, "No card yet.");
        return;
    }
    text_put(out, "Your card ");
    put_card(s->card[who], out);
    text_put(out, ". ");
    put_table(s, out);
    if (s->over) {
        text_char(out, '.');
        put_outcome(s, who, out);
    }
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct leduc s;
    memcpy(&s, state, sizeof s);
    if (card_due(&s)) {
        if (s.dealt < 2 && s.dealt != viewer)
            return;
        text_put(out, s.dealt < 2 ? "Your card is " : "The table card is ");
        put_card(action, out);
        text_char(out, '.');
        return;
    }
    text_put(out, s.turn == viewer ? "You " : "They ");
    text_put(out, move_word(action, facing_bet(&s), s.raises));
    text_char(out, '.');
    apply(&s, action);
    if (s.over)
        put_outcome(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    const struct leduc *s = state;
    if (card_due(s))
        put_card(action, out);
    else
        text_put(out, move_word(action, facing_bet(s), s->raises));
}

static void
draw(const void *state, struct text *out) {
    const struct leduc *s = state;
    text_put(out, "Cards:");
    for (int seat = 0; seat < 2; seat++) {
        text_char(out, ' ');
        if (s->dealt > seat)
            put_card(s->card[seat], out);
        else
            text_char(out, '-');
    }
    text_put(out, ". ");
    put_table(s, out);
    if (s->over)
        text_fmt(out, ". Player 0: %+d.", chips(s));
}

const struct game game_leduc_poker = {
    .name = "leduc_poker",
    .title = "Leduc hold'em",
    .version = 1,
    .state_bytes = sizeof(struct leduc),
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
