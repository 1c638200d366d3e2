/* Pig (Scarne 1945): on your turn roll a die as often as you like; 2 to 6 add to the turn total, a
 * 1 loses the total and ends the turn, holding banks it. Who first has `goal` points wins; after
 * `moves` moves the turn in hand is the last one and the higher score wins. Who has enough points
 * to win must hold, as in OpenSpiel; with must_hold=false only a turn total that is enough by
 * itself must be held, which bounds a match. Actions as in OpenSpiel: 0 = roll, 1 = hold; outcome
 * of a roll = face - 1. */
#include <string.h>

#include "games/game.h"

enum { ROLL = 0, HOLD = 1, FACES = 6, P_GOAL = 0, P_MOVES = 1, P_MUST_HOLD = 2 };

struct pig {
    int16_t goal, moves;
    int16_t left; /* moves until the turn in hand is the last one */
    int16_t score[2];
    int16_t total;   /* of the turn in hand */
    uint8_t turn;    /* seat to move */
    uint8_t rolling; /* the die */
    uint8_t late;    /* that roll came when no move was left */
    uint8_t over, must_hold;
};

static const struct game_param params[] = {
    {"goal", PARAM_INT, 1, 1000, "100", "Points that win."},
    {"moves", PARAM_INT, 1, 2000, "100",
     "Rolls and holds of both players after which the turn in hand is the last one."},
    {"must_hold", PARAM_BOOL, 0, 1, "true", "Who has enough points to win must hold."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    /* The longest last turn rolls twos only; a roll is two actions. */
    int last = (args->value[P_GOAL][0] + 1) / 2 + 1;
    return 2 * (args->value[P_MOVES][0] + last);
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct pig *s = state;
    memset(s, 0, sizeof *s);
    s->goal = (int16_t)args->value[P_GOAL][0];
    s->moves = s->left = (int16_t)args->value[P_MOVES][0];
    s->must_hold = (uint8_t)args->value[P_MUST_HOLD][0];
}

static int
mover(const void *state) {
    const struct pig *s = state;
    return s->over ? GAME_OVER : s->rolling ? GAME_CHANCE : s->turn;
}

static int
chance(const void *state, struct game_outcome *out) {
    (void)state;
    for (int i = 0; i < FACES; i++)
        out[i] = (struct game_outcome){i, 1.0 / FACES};
    return FACES;
}

static int
legal(const void *state, int *out) {
    const struct pig *s = state;
    int n = 0, banked = s->must_hold ? s->score[s->turn] : 0;
    if (banked + s->total < s->goal)
        out[n++] = ROLL;
    out[n++] = HOLD;
    return n;
}

static void
end_turn(struct pig *s, bool late) {
    s->over = late || s->score[s->turn] >= s->goal;
    s->total = 0;
    s->turn ^= 1;
}

static void
apply(void *state, int action) {
    struct pig *s = state;
    bool late = s->rolling ? s->late : s->left == 0;
    if (s->rolling) {
        s->rolling = s->late = 0;
        if (action == 0)
            end_turn(s, late);
        else
            s->total = (int16_t)(s->total + action + 1);
        return;
    }
    s->left = (int16_t)(s->left - !late);
    if (action == ROLL) {
        s->rolling = 1;
        s->late = late;
        return;
    }
    s->score[s->turn] = (int16_t)(s->score[s->turn] + s->total);
    end_turn(s, late);
}

static double
result(const void *state) {
    const struct pig *s = state;
    return (s->score[0] > s->score[1]) - (s->score[0] < s->score[1]);
}

static void
rules(const void *state, int who, struct text *out) {
    const struct pig *s = state;
    text_fmt(out,
             "Pig for two players, you and they, with one die. On your turn, roll the die as often "
             "as you like: 2 to 6 are added to your turn total, but a 1 loses the turn total and "
             "ends your turn. Hold, and the turn total is added to your score and your turn ends. "
             "Who first has %d points wins. ",
             s->goal);
    if (s->must_hold)
        text_put(out, "Once your score and turn total are enough to win, you must hold. ");
    else
        text_fmt(out, "A turn total of %d or more must be held. ", s->goal);
    text_fmt(out,
             "The match also ends with the first turn that goes on, or begins, after %d moves "
             "(rolls and holds of both players): the higher score wins, equal scores are a draw. ",
             s->moves);
    text_put(out, who == GAME_SEAT_0 ? "You go first. " : "You go second. ");
    text_put(out, "Your move is one word: roll or hold.");
}

static void
put_scores(const struct pig *s, int who, struct text *out) {
    text_fmt(out, "You %d, they %d.", s->score[who], s->score[1 - who]);
}

static void
put_end(const struct pig *s, int who, struct text *out) {
    double won = who == GAME_SEAT_0 ? result(s) : -result(s);
    text_put(out, won > 0 ? " You win." : won < 0 ? " You lose." : " Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct pig *s = state;
    put_scores(s, who, out);
    if (s->over) {
        put_end(s, who, out);
        return;
    }
    text_fmt(out, s->turn == who ? " Your turn total %d." : " Their turn total %d.", s->total);
    if (s->left)
        text_fmt(out, " Moves left %d.", s->left);
    else
        text_put(out, " Last turn.");
}

/* What happened when a turn has ended. */
static void
put_turn_end(const struct pig *s, int who, struct text *out) {
    text_char(out, ' ');
    put_scores(s, who, out);
    if (s->over)
        put_end(s, who, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct pig s;
    memcpy(&s, state, sizeof s);
    int turn = s.turn;
    bool rolled = s.rolling;
    text_put(out, turn == viewer ? "You " : "They ");
    apply(&s, action);
    if (!rolled && action == ROLL)
        text_put(out, "roll.");
    else if (!rolled)
        text_put(out, "hold.");
    else if (action == 0)
        text_put(out, "roll 1 and lose the turn total.");
    else
        text_fmt(out, "roll %d. Turn total %d.", action + 1, s.total);
    if (turn != s.turn)
        put_turn_end(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    const struct pig *s = state;
    if (s->rolling)
        text_int(out, action + 1);
    else
        text_put(out, action == ROLL ? "roll" : "hold");
}

static void
draw(const void *state, struct text *out) {
    const struct pig *s = state;
    text_fmt(out, "Player 0: %d. Player 1: %d.", s->score[0], s->score[1]);
    if (!s->over)
        text_fmt(out, " Player %d has a turn total of %d.", s->turn, s->total);
}

const struct game game_pig = {
    .name = "pig",
    .title = "Pig",
    .version = 1,
    .flags = GAME_PERFECT_INFO,
    .state_bytes = sizeof(struct pig),
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
