/* Phantom tic-tac-toe: tic-tac-toe in which nobody sees the other's marks. A turn tries a cell: if
 * the other's mark is there, the player learns so and tries again (or, with abrupt = true, has lost
 * the turn). Of the other's tries a player is told nothing, not even how many there were
 * (OpenSpiel's obstype "reveal-nothing"). Player 0 is x and moves first. An action is a cell, 0 to
 * 8, row by row.
 *
 * A view tells the own tries in their order, so that nothing is forgotten. */
#include <string.h>

#include "games/game.h"

enum { CELLS = 9, ALL = 0x1ff, P_ABRUPT = 0 };

struct phantom {
    uint16_t mark[2];  /* cells of x and of o, bit = cell */
    uint16_t known[2]; /* cells that each seat has tried */
    uint8_t tries[2];
    uint8_t tried[2][CELLS]; /* in order */
    uint8_t abrupt, turn, over, spare;
};

static const struct game_param params[] = {
    {"abrupt", PARAM_BOOL, 0, 1, "false", "Trying a cell that is taken loses the turn."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static bool
has_line(unsigned m) {
    return (m & m >> 3 & m >> 6 & 0x007) || (m & m >> 1 & m >> 2 & 0x049) || (m & 0x111) == 0x111 ||
           (m & 0x054) == 0x054;
}

static int
max_plies(const struct game_args *args) {
    (void)args;
    return 2 * CELLS - 1;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct phantom *s = state;
    memset(s, 0, sizeof *s);
    s->abrupt = (uint8_t)args->value[P_ABRUPT][0];
}

static int
mover(const void *state) {
    const struct phantom *s = state;
    return s->over ? GAME_OVER : s->turn;
}

static int
legal(const void *state, int *out) {
    const struct phantom *s = state;
    int n = 0;
    for (unsigned left = ALL & ~(unsigned)s->known[s->turn]; left; left &= left - 1)
        out[n++] = __builtin_ctz(left);
    return n;
}

static bool
is_free(const struct phantom *s, int cell) {
    return !((s->mark[0] | s->mark[1]) >> cell & 1);
}

static void
apply(void *state, int action) {
    struct phantom *s = state;
    int who = s->turn;
    bool free = is_free(s, action);
    if (free)
        s->mark[who] |= (uint16_t)(1u << action);
    s->known[who] |= (uint16_t)(1u << action);
    s->tried[who][s->tries[who]++] = (uint8_t)action;
    s->over = has_line(s->mark[who]) || (s->mark[0] | s->mark[1]) == ALL;
    if (free || s->abrupt)
        s->turn ^= 1;
}

static double
result(const void *state) {
    const struct phantom *s = state;
    return has_line(s->mark[0]) ? 1 : has_line(s->mark[1]) ? -1 : 0;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct phantom *s = state;
    text_put(out, "Phantom tic-tac-toe for two players. The board has 3 rows of 3 cells, numbered\n"
                  "012\n345\n678\n"
                  "x and o take turns, x first, and do not see each other's marks. A turn tries a "
                  "cell that you do not know to be taken: if it is free, it gets your mark; if "
                  "not, you see the other's mark there and ");
    text_put(out, s->abrupt ? "your turn is over. " : "must try another cell. ");
    text_put(out, "Who has three own marks in a row, a column or a diagonal wins at once; a full "
                  "board without such a line is a draw. The board shows the marks that you know "
                  "of, and the numbers of the other cells. ");
    text_put(out,
             who == GAME_SEAT_0 ? "You are x and move first. " : "You are o and move second. ");
    text_put(out, "Your move is the number of a cell, for example 4.");
}

/* The marks on `cells`. */
static void
put_board(const struct phantom *s, unsigned cells, struct text *out) {
    char board[11] = "012\n345\n678";
    for (int cell = 0; cell < CELLS; cell++) {
        char *at = &board[cell + cell / 3];
        if (cells & s->mark[0] & 1u << cell)
            *at = 'x';
        else if (cells & s->mark[1] & 1u << cell)
            *at = 'o';
    }
    text_add(out, board, sizeof board);
}

static void
put_tries(const struct phantom *s, int who, struct text *out) {
    text_put(out, "tried");
    for (int i = 0; i < s->tries[who]; i++) {
        text_char(out, ' ');
        text_char(out, (char)('0' + s->tried[who][i]));
    }
    text_put(out, s->tries[who] ? "." : " nothing.");
}

static void
put_outcome(const struct phantom *s, int who, struct text *out) {
    double r = who == GAME_SEAT_0 ? result(s) : -result(s);
    text_put(out, r > 0 ? " You win." : r < 0 ? " You lose." : " Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct phantom *s = state;
    text_put(out, who == GAME_SEAT_0 ? "You x.\n" : "You o.\n");
    put_board(s, s->known[who], out);
    text_put(out, "\nYou ");
    put_tries(s, who, out);
    if (s->over)
        put_outcome(s, who, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct phantom s;
    memcpy(&s, state, sizeof s);
    int who = s.turn;
    bool free = is_free(&s, action);
    apply(&s, action);
    if (who == viewer) {
        text_put(out, free ? "You take " : "Their mark is on ");
        text_char(out, (char)('0' + action));
        text_put(out, free ? "." : s.abrupt ? "; your turn is over." : "; try again.");
    }
    if (s.over) {
        if (who != viewer)
            text_put(out, "They take a cell.");
        put_outcome(&s, viewer, out);
    }
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    text_char(out, (char)('0' + action));
}

static void
draw(const void *state, struct text *out) {
    const struct phantom *s = state;
    put_board(s, ALL, out);
    for (int who = 0; who < 2; who++) {
        text_put(out, who ? "\no " : "\nx ");
        put_tries(s, who, out);
    }
}

const struct game game_phantom_ttt = {
    .name = "phantom_ttt",
    .title = "Phantom tic-tac-toe",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct phantom),
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
