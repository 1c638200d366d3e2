/* Hex (Hein 1942): marks on a rhombus of six-sided cells; who joins the own two edges wins, and one
 * of the two always can. Player 0 is x, joins top and bottom, and moves first. An action is a cell,
 * row x size + column. */
#include <string.h>

#include "games/game.h"
#include "games/hex-board.h"

enum { P_SIZE = 0, NOBODY = 2 };

struct hex {
    struct hex_board board;
    uint8_t turn, winner; /* winner: a seat or NOBODY */
};

static const struct game_param params[] = {
    {"size", PARAM_INT, 2, HEX_SIDE_MAX, "3", "Rows, and columns, of the board."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    return args->value[P_SIZE][0] * args->value[P_SIZE][0];
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct hex *s = state;
    memset(s, 0, sizeof *s);
    hex_init(&s->board, args->value[P_SIZE][0]);
    s->winner = NOBODY;
}

static int
mover(const void *state) {
    const struct hex *s = state;
    return s->winner != NOBODY ? GAME_OVER : s->turn;
}

static int
legal(const void *state, int *out) {
    const struct hex *s = state;
    int n = 0;
    for (int cell = 0; cell < s->board.size * s->board.size; cell++)
        if (s->board.cell[cell] == HEX_FREE)
            out[n++] = cell;
    return n;
}

static void
apply(void *state, int action) {
    struct hex *s = state;
    s->board.cell[action] = s->turn;
    if (hex_joins(&s->board, action))
        s->winner = s->turn;
    s->turn ^= 1;
}

static double
result(const void *state) {
    const struct hex *s = state;
    return s->winner == GAME_SEAT_0 ? 1 : -1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct hex *s = state;
    text_fmt(
        out,
        "Hex for two players on a board of %d rows of %d six-sided cells; each row stands half "
        "a cell further to the right than the row above. x and o take turns, x first. A turn "
        "puts your mark on a free cell. x wins by joining the top and the bottom edge with an "
        "unbroken chain of x, o by joining the left and the right edge with o. A cell touches "
        "the cells left and right of it, the two above it and the two below it: b2 touches a2, "
        "c2, b1, c1, a3 and b3. The board shows x, o and . for a free cell. ",
        s->board.size, s->board.size);
    text_put(out, who == GAME_SEAT_0 ? "You are x, join top and bottom and move first. "
                                     : "You are o, join left and right and move second. ");
    text_put(out, "Your move is the column and the row of a free cell, for example b1.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct hex *s = state;
    text_put(out, who == GAME_SEAT_0 ? "You x, top to bottom.\n" : "You o, left to right.\n");
    hex_put_board(&s->board, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct hex s;
    memcpy(&s, state, sizeof s);
    (void)viewer;
    text_put(out, s.turn ? "o takes " : "x takes ");
    hex_put_cell(&s.board, action, out);
    text_char(out, '.');
    apply(&s, action);
    if (s.winner != NOBODY)
        text_put(out, s.winner ? " o wins." : " x wins.");
}

static void
spell(const void *state, int action, struct text *out) {
    const struct hex *s = state;
    hex_put_cell(&s->board, action, out);
}

static void
draw(const void *state, struct text *out) {
    const struct hex *s = state;
    hex_put_board(&s->board, out);
}

const struct game game_hex = {
    .name = "hex",
    .title = "Hex",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct hex),
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
