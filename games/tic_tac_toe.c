/* Tic-tac-toe: three in a row on nine cells. Player 0 is x and moves first. An action is a cell,
 * 0 to 8, row by row; marks are two bit sets. */
#include <string.h>

#include "games/game.h"

struct tic_tac_toe {
    uint16_t mark[2]; /* cells of x and of o, bit = cell */
    uint16_t plies;
};

enum { ALL = 0x1ff };

static bool
has_line(unsigned m) {
    return (m & m >> 3 & m >> 6 & 0x007) || (m & m >> 1 & m >> 2 & 0x049) || (m & 0x111) == 0x111 ||
           (m & 0x054) == 0x054;
}

static unsigned
free_cells(const struct tic_tac_toe *s) {
    return ALL & ~((unsigned)s->mark[0] | s->mark[1]);
}

static int
max_plies(const struct game_args *args) {
    (void)args;
    return 9;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    (void)args;
    memset(state, 0, sizeof(struct tic_tac_toe));
}

static int
mover(const void *state) {
    const struct tic_tac_toe *s = state;
    /* Only the last mover can have completed a line. */
    if (has_line(s->mark[(s->plies + 1) & 1]) || s->plies == 9)
        return GAME_OVER;
    return s->plies & 1;
}

static int
legal(const void *state, int *out) {
    int n = 0;
    for (unsigned left = free_cells(state); left; left &= left - 1)
        out[n++] = __builtin_ctz(left);
    return n;
}

static void
apply(void *state, int action) {
    struct tic_tac_toe *s = state;
    s->mark[s->plies & 1] |= (uint16_t)(1u << action);
    s->plies++;
}

static double
result(const void *state) {
    const struct tic_tac_toe *s = state;
    return has_line(s->mark[0]) ? 1 : has_line(s->mark[1]) ? -1 : 0;
}

static void
rules(const void *state, int who, struct text *out) {
    (void)state;
    text_put(out, "Tic-tac-toe for two players. The board has 3 rows of 3 cells, numbered\n"
                  "012\n345\n678\n"
                  "x and o take turns, x first. A turn puts your mark into a free cell. Who has "
                  "three own marks in a row, a column or a diagonal wins at once; a full board "
                  "without such a line is a draw. The board shows x, o and the numbers of the free "
                  "cells. ");
    text_put(out,
             who == GAME_SEAT_0 ? "You are x and move first. " : "You are o and move second. ");
    text_put(out, "Your move is the number of a free cell, for example 4.");
}

static void
put_board(const struct tic_tac_toe *s, struct text *out) {
    char board[11] = "012\n345\n678";
    for (int cell = 0; cell < 9; cell++) {
        char *at = &board[cell + cell / 3];
        if (s->mark[0] >> cell & 1)
            *at = 'x';
        else if (s->mark[1] >> cell & 1)
            *at = 'o';
    }
    text_add(out, board, sizeof board);
}

static void
observe(const void *state, int who, struct text *out) {
    text_put(out, who == GAME_SEAT_0 ? "You x.\n" : "You o.\n");
    put_board(state, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct tic_tac_toe s;
    memcpy(&s, state, sizeof s);
    (void)viewer;
    text_put(out, s.plies & 1 ? "o takes " : "x takes ");
    text_char(out, (char)('0' + action));
    text_char(out, '.');
    int who = s.plies & 1;
    apply(&s, action);
    if (has_line(s.mark[who]))
        text_put(out, who ? " o wins." : " x wins.");
    else if (s.plies == 9)
        text_put(out, " Draw.");
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    text_char(out, (char)('0' + action));
}

static void
draw(const void *state, struct text *out) {
    put_board(state, out);
}

const struct game game_tic_tac_toe = {
    .name = "tic_tac_toe",
    .title = "Tic-tac-toe",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct tic_tac_toe),
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
