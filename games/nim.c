/* Nim: take any number of objects from one pile; who takes the last object wins (or loses, with
 * misere=true). Player 0 moves first. Action = pile x PILE_MAX + objects - 1. */
#include <string.h>

#include "games/game.h"

enum { PILE_MAX = 60, P_PILES = 0, P_MISERE = 1 };

struct nim {
    uint8_t pile[GAME_MAX_LIST];
    uint8_t piles, turn; /* turn: the seat to move, or that would have to move at the end */
    uint8_t misere;
};

static const struct game_param params[] = {
    {"piles", PARAM_LIST, 1, PILE_MAX, "3-4-5", "Objects in each pile at the start."},
    {"misere", PARAM_BOOL, 0, 1, "false", "Who takes the last object loses."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    int sum = 0;
    for (int i = 0; i < args->count[P_PILES]; i++)
        sum += args->value[P_PILES][i];
    return sum;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct nim *s = state;
    memset(s, 0, sizeof *s);
    s->piles = (uint8_t)args->count[P_PILES];
    for (int i = 0; i < GAME_MAX_LIST && i < s->piles; i++)
        s->pile[i] = (uint8_t)args->value[P_PILES][i];
    s->misere = (uint8_t)args->value[P_MISERE][0];
}

static int
mover(const void *state) {
    const struct nim *s = state;
    for (int i = 0; i < s->piles; i++)
        if (s->pile[i])
            return s->turn;
    return GAME_OVER;
}

static int
legal(const void *state, int *out) {
    const struct nim *s = state;
    int n = 0;
    for (int i = 0; i < s->piles; i++)
        for (int take = 1; take <= s->pile[i]; take++)
            out[n++] = i * PILE_MAX + take - 1;
    return n;
}

static void
apply(void *state, int action) {
    struct nim *s = state;
    s->pile[action / PILE_MAX] -= (uint8_t)(action % PILE_MAX + 1);
    s->turn ^= 1;
}

static double
result(const void *state) {
    const struct nim *s = state;
    /* The seat that would move now did not take the last object. */
    int winner = s->misere ? s->turn : 1 - s->turn;
    return winner == GAME_SEAT_0 ? 1 : -1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct nim *s = state;
    text_put(out, "Nim for two players. There are piles of objects, numbered from 0. Players take "
                  "turns; a turn takes one or more objects from a single pile. Who takes the very "
                  "last object ");
    text_put(out, s->misere ? "loses. " : "wins. ");
    text_put(out, "The position lists pile:objects. ");
    text_put(out, who == GAME_SEAT_0 ? "You move first. " : "You move second. ");
    text_put(out, "Your move is two numbers, the pile and how many objects you take from it: for "
                  "example 0 2 takes 2 objects from pile 0.");
}

static void
put_piles(const struct nim *s, struct text *out) {
    text_put(out, "Piles");
    for (int i = 0; i < s->piles; i++) {
        text_char(out, ' ');
        text_int(out, i);
        text_char(out, ':');
        text_int(out, s->pile[i]);
    }
}

static void
observe(const void *state, int who, struct text *out) {
    (void)who;
    put_piles(state, out);
}

static void
put_action(int action, struct text *out) {
    text_int(out, action / PILE_MAX);
    text_char(out, ' ');
    text_int(out, action % PILE_MAX + 1);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct nim s;
    memcpy(&s, state, sizeof s);
    text_put(out, s.turn == viewer ? "You take " : "They take ");
    put_action(action, out);
    text_char(out, '.');
    apply(&s, action);
    if (mover(&s) == GAME_OVER)
        text_put(out, (result(&s) > 0) == (viewer == GAME_SEAT_0) ? " You win." : " You lose.");
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    put_action(action, out);
}

static void
draw(const void *state, struct text *out) {
    put_piles(state, out);
}

const struct game game_nim = {
    .name = "nim",
    .title = "Nim",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct nim),
    .params = params,
    .max_plies = max_plies,
    .unit = unit,
    .init = init,
    .mover = mover,
    .legal = legal,
    .apply = apply,
    .result = result,
    .rules = rules,
    .observe = observe,
    .narrate = narrate,
    .spell = spell,
    .draw = draw,
};
