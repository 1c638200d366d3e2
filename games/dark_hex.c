/* Dark Hex: Hex in which nobody sees the other's marks. A turn tries a cell: if the other's mark is
 * there, the player learns so and tries again (or, with abrupt = true, has lost the turn). Of the
 * other's tries a player is told nothing, not even how many there were (OpenSpiel's obstype
 * "reveal-nothing"). Player 0 is x, joins top and bottom, and moves first. An action is a cell, row
 * x size + column.
 *
 * A view tells the own tries in their order, so that nothing is forgotten. */
#include <string.h>

#include "games/game.h"
#include "games/hex-board.h"

enum { P_SIZE = 0, P_ABRUPT = 1, NOBODY = 2 };

struct dark_hex {
    struct hex_board board;    /* the truth */
    struct hex_board known[2]; /* what each seat knows of it */
    uint8_t tries[2];          /* made by each seat */
    uint8_t tried[2][HEX_CELLS_MAX];
    uint8_t abrupt, turn, winner; /* winner: a seat or NOBODY */
};

static const struct game_param params[] = {
    {"size", PARAM_INT, 2, HEX_SIDE_MAX, "3", "Rows, and columns, of the board."},
    {"abrupt", PARAM_BOOL, 0, 1, "false", "Trying a cell that is taken loses the turn."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    return 2 * args->value[P_SIZE][0] * args->value[P_SIZE][0] - 1;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct dark_hex *s = state;
    memset(s, 0, sizeof *s);
    hex_init(&s->board, args->value[P_SIZE][0]);
    s->known[0] = s->known[1] = s->board;
    s->abrupt = (uint8_t)args->value[P_ABRUPT][0];
    s->winner = NOBODY;
}

static int
mover(const void *state) {
    const struct dark_hex *s = state;
    return s->winner != NOBODY ? GAME_OVER : s->turn;
}

static int
legal(const void *state, int *out) {
    const struct dark_hex *s = state;
    int n = 0;
    for (int cell = 0; cell < s->board.size * s->board.size; cell++)
        if (s->known[s->turn].cell[cell] == HEX_FREE)
            out[n++] = cell;
    return n;
}

static void
apply(void *state, int action) {
    struct dark_hex *s = state;
    int who = s->turn;
    bool free = s->board.cell[action] == HEX_FREE;
    if (free)
        s->board.cell[action] = (uint8_t)who;
    s->known[who].cell[action] = s->board.cell[action];
    s->tried[who][s->tries[who]++] = (uint8_t)action;
    if (free && hex_joins(&s->board, action))
        s->winner = (uint8_t)who;
    if (free || s->abrupt)
        s->turn ^= 1;
}

static double
result(const void *state) {
    const struct dark_hex *s = state;
    return s->winner == GAME_SEAT_0 ? 1 : -1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct dark_hex *s = state;
    text_fmt(
        out,
        "Dark Hex for two players on a board of %d rows of %d six-sided cells; each row stands "
        "half a cell further to the right than the row above. x and o take turns, x first, and "
        "do not see each other's marks. A turn tries a cell that you do not know to be taken: "
        "if it is free, it gets your mark; if not, you see the other's mark there and ",
        s->board.size, s->board.size);
    text_put(out, s->abrupt ? "your turn is over. " : "must try another cell. ");
    text_put(out, "x wins by joining the top and the bottom edge with an unbroken chain of x, o by "
                  "joining the left and the right edge with o. A cell touches the cells left and "
                  "right of it, the two above it and the two below it: b2 touches a2, c2, b1, c1, "
                  "a3 and b3. The board shows the marks that you know of, and . for the other "
                  "cells. ");
    text_put(out, who == GAME_SEAT_0 ? "You are x, join top and bottom and move first. "
                                     : "You are o, join left and right and move second. ");
    text_put(out, "Your move is the column and the row of a cell, for example b1.");
}

static void
put_tries(const struct dark_hex *s, int who, struct text *out) {
    text_put(out, "tried");
    for (int i = 0; i < s->tries[who]; i++) {
        text_char(out, ' ');
        hex_put_cell(&s->board, s->tried[who][i], out);
    }
    text_put(out, s->tries[who] ? "." : " nothing.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct dark_hex *s = state;
    text_put(out, who == GAME_SEAT_0 ? "You x, top to bottom.\n" : "You o, left to right.\n");
    hex_put_board(&s->known[who], out);
    text_put(out, "\nYou ");
    put_tries(s, who, out);
    if (s->winner != NOBODY)
        text_put(out, s->winner == who ? " You win." : " You lose.");
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct dark_hex s;
    memcpy(&s, state, sizeof s);
    int who = s.turn;
    bool free = s.board.cell[action] == HEX_FREE;
    apply(&s, action);
    if (who == viewer) {
        text_put(out, free ? "You take " : "Their mark is on ");
        hex_put_cell(&s.board, action, out);
        text_put(out, free ? "." : s.abrupt ? "; your turn is over." : "; try again.");
        if (s.winner != NOBODY)
            text_put(out, " You win.");
    } else if (s.winner != NOBODY) {
        text_put(out, "They have joined their edges. You lose.");
    }
}

static void
spell(const void *state, int action, struct text *out) {
    const struct dark_hex *s = state;
    hex_put_cell(&s->board, action, out);
}

static void
draw(const void *state, struct text *out) {
    const struct dark_hex *s = state;
    hex_put_board(&s->board, out);
    for (int who = 0; who < 2; who++) {
        text_put(out, who ? "\no " : "\nx ");
        put_tries(s, who, out);
    }
}

const struct game game_dark_hex = {
    .name = "dark_hex",
    .title = "Dark Hex",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct dark_hex),
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
