/* Connect Four: pieces fall to the lowest free cell of a column; four in a line win. Player 0 is x
 * and moves first. An action is a column from 0.
 *
 * One bit board for each player: column after column from the bottom up, with one bit always empty
 * above each column, so that a line found by shifting never runs from one column into the next. */
#include <string.h>

#include "games/game.h"

enum { P_ROWS = 0, P_COLUMNS = 1, NOBODY = 2 };

struct connect_four {
    uint64_t mark[2];
    uint8_t rows, columns, plies;
    uint8_t winner; /* a seat or NOBODY */
    uint8_t spare[4];
};

static const struct game_param params[] = {
    {"rows", PARAM_INT, 4, 12, "6", "Height of the board."},
    {"columns", PARAM_INT, 4, 10, "7", "Width of the board."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
check(const struct game_args *args, struct err *e) {
    int rows = args->value[P_ROWS][0], columns = args->value[P_COLUMNS][0];
    if ((rows + 1) * columns > 64)
        return err_set(e,
                       "a board of %d rows and %d columns is too large: (rows + 1) x columns "
                       "must be at most 64",
                       rows, columns);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    return args->value[P_ROWS][0] * args->value[P_COLUMNS][0];
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct connect_four *s = state;
    memset(s, 0, sizeof *s);
    s->rows = (uint8_t)args->value[P_ROWS][0];
    s->columns = (uint8_t)args->value[P_COLUMNS][0];
    s->winner = NOBODY;
}

static int
mover(const void *state) {
    const struct connect_four *s = state;
    return s->winner != NOBODY || s->plies == s->rows * s->columns ? GAME_OVER : s->plies & 1;
}

static uint64_t
cell(const struct connect_four *s, int row, int column) {
    return 1ull << (column * (s->rows + 1) + row);
}

static bool
column_free(const struct connect_four *s, int column) {
    return !((s->mark[0] | s->mark[1]) & cell(s, s->rows - 1, column));
}

static int
legal(const void *state, int *out) {
    const struct connect_four *s = state;
    int n = 0;
    for (int column = 0; column < s->columns; column++)
        if (column_free(s, column))
            out[n++] = column;
    return n;
}

static bool
four_along(uint64_t m, int step) {
    uint64_t pair = m & m >> step;
    return (pair & pair >> 2 * step) != 0;
}

static bool
has_four(uint64_t m, int rows) {
    return four_along(m, 1) || four_along(m, rows) || four_along(m, rows + 1) ||
           four_along(m, rows + 2);
}

static void
apply(void *state, int action) {
    struct connect_four *s = state;
    int who = s->plies & 1, height = s->rows + 1;
    uint64_t column = ((1ull << s->rows) - 1) << action * height;
    /* Adding 1 at the foot of a column carries to its lowest free cell. */
    uint64_t all = (s->mark[0] | s->mark[1]) & column;
    s->mark[who] |= (all + (1ull << action * height)) & column;
    s->plies++;
    if (has_four(s->mark[who], s->rows))
        s->winner = (uint8_t)who;
}

static double
result(const void *state) {
    const struct connect_four *s = state;
    return s->winner == NOBODY ? 0 : s->winner == GAME_SEAT_0 ? 1 : -1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct connect_four *s = state;
    text_fmt(
        out,
        "Connect Four for two players on a board of %d rows and %d columns, numbered from 0. x "
        "and o take turns, x first. A turn drops your piece into a column, where it falls to "
        "the lowest free cell. Who has four own pieces in a line, across, down or diagonally, "
        "wins at once; a full board without such a line is a draw. The board shows x, o and . "
        "for a free cell; above it stand the numbers of the columns that are not full. ",
        s->rows, s->columns);
    text_put(out,
             who == GAME_SEAT_0 ? "You are x and move first. " : "You are o and move second. ");
    text_put(out, "Your move is the number of a column that is not full, for example 3.");
}

static void
put_board(const struct connect_four *s, struct text *out) {
    char line[16];
    for (int column = 0; column < s->columns; column++)
        line[column] = column_free(s, column) ? (char)('0' + column) : '-';
    text_add(out, line, s->columns);
    line[0] = '\n';
    for (int row = s->rows - 1; row >= 0; row--) {
        for (int column = 0; column < s->columns; column++) {
            uint64_t at = cell(s, row, column);
            line[1 + column] = s->mark[0] & at ? 'x' : s->mark[1] & at ? 'o' : '.';
        }
        text_add(out, line, (size_t)s->columns + 1);
    }
}

static void
observe(const void *state, int who, struct text *out) {
    text_put(out, who == GAME_SEAT_0 ? "You x.\n" : "You o.\n");
    put_board(state, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct connect_four s;
    memcpy(&s, state, sizeof s);
    (void)viewer;
    text_put(out, s.plies & 1 ? "o drops " : "x drops ");
    text_int(out, action);
    text_char(out, '.');
    apply(&s, action);
    if (s.winner != NOBODY)
        text_put(out, s.winner ? " o wins." : " x wins.");
    else if (mover(&s) == GAME_OVER)
        text_put(out, " Draw.");
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    text_int(out, action);
}

static void
draw(const void *state, struct text *out) {
    put_board(state, out);
}

const struct game game_connect_four = {
    .name = "connect_four",
    .title = "Connect Four",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct connect_four),
    .params = params,
    .check = check,
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
