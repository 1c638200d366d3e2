/* Breakthrough (Troyka 2000): pieces step forward, straight or diagonally, and take diagonally; who
 * reaches the far row first wins. Player 0 is x, starts on the lowest rows and moves up.
 *
 * Numbers of actions are OpenSpiel's, whose row 0 is our row 1: ((row x columns + column) x 6 +
 * direction) x 2 + takes, where the directions are left, straight and right for x, then for o.
 * OpenSpiel has home = 1 below 6 rows. TextArena plays diagonal = false, where a seat may be left
 * without a move: it loses. */
#include <string.h>

#include "games/game.h"

enum { SIDE_MAX = 10, FREE = 2, NOBODY = 2 };
enum { P_ROWS = 0, P_COLUMNS = 1, P_HOME = 2, P_DIAGONAL = 3 };

struct breakthrough {
    uint8_t rows, columns, home, diagonal;
    uint8_t turn, winner;              /* winner: a seat or NOBODY */
    uint8_t pieces[2];                 /* left to each seat */
    uint8_t cell[SIDE_MAX * SIDE_MAX]; /* row x columns + column: a seat or FREE */
};

/* An action taken apart. */
struct step {
    int from, to; /* cells */
    bool takes;
};

static const struct game_param params[] = {
    {"rows", PARAM_INT, 3, SIDE_MAX, "8", "Height of the board."},
    {"columns", PARAM_INT, 2, SIDE_MAX, "8", "Width of the board."},
    {"home", PARAM_INT, 1, 2, "2", "Rows that each player's pieces fill at the start."},
    {"diagonal", PARAM_BOOL, 0, 1, "true", "Pieces may step diagonally onto a free cell as well."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
check(const struct game_args *args, struct err *e) {
    int rows = args->value[P_ROWS][0], home = args->value[P_HOME][0];
    if (rows <= 2 * home)
        return err_set(e, "%d rows are too few for home=%d: a row between the players must be free",
                       rows, home);
    return 0;
}

/* Every step brings a piece one row on. */
static int
max_plies(const struct game_args *args) {
    int rows = args->value[P_ROWS][0], home = args->value[P_HOME][0];
    int way = 0;
    for (int i = 1; i <= home; i++)
        way += rows - i;
    return 2 * args->value[P_COLUMNS][0] * way;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct breakthrough *s = state;
    memset(s, 0, sizeof *s);
    memset(s->cell, FREE, sizeof s->cell);
    s->rows = (uint8_t)args->value[P_ROWS][0];
    s->columns = (uint8_t)args->value[P_COLUMNS][0];
    s->home = (uint8_t)args->value[P_HOME][0];
    s->diagonal = (uint8_t)args->value[P_DIAGONAL][0];
    s->winner = NOBODY;
    int filled = s->columns * s->home;
    memset(s->cell, 0, (size_t)filled);
    memset(s->cell + s->rows * s->columns - filled, 1, (size_t)filled);
    s->pieces[0] = s->pieces[1] = (uint8_t)filled;
}

static int
mover(const void *state) {
    const struct breakthrough *s = state;
    return s->winner != NOBODY ? GAME_OVER : s->turn;
}

static struct step
step_of(const struct breakthrough *s, int action) {
    int from = action / 12, direction = action / 2 % 6;
    int forward = direction < 3 ? s->columns : -s->columns;
    return (struct step){from, from + forward + direction % 3 - 1, action % 2};
}

/* The actions of the piece on `from`, behind out[n]; returns the new n. */
static int
list_steps(const struct breakthrough *s, int from, int *out, int n) {
    int row = from / s->columns, column = from % s->columns;
    if (s->turn ? row == 0 : row == s->rows - 1)
        return n;
    int ahead = from + (s->turn ? -s->columns : s->columns);
    for (int side = -1; side <= 1; side++) {
        if (column + side < 0 || column + side >= s->columns)
            continue;
        int there = s->cell[ahead + side];
        bool takes = side && there == 1 - s->turn;
        if (takes || (there == FREE && (!side || s->diagonal)))
            out[n++] = (from * 6 + 3 * s->turn + side + 1) * 2 + takes;
    }
    return n;
}

static int
legal(const void *state, int *out) {
    const struct breakthrough *s = state;
    int n = 0;
    for (int from = 0; from < s->rows * s->columns; from++)
        if (s->cell[from] == s->turn)
            n = list_steps(s, from, out, n);
    return n;
}

static bool
is_stuck(const struct breakthrough *s) {
    int steps[3];
    for (int from = 0; from < s->rows * s->columns; from++)
        if (s->cell[from] == s->turn && list_steps(s, from, steps, 0))
            return false;
    return true;
}

static void
apply(void *state, int action) {
    struct breakthrough *s = state;
    struct step step = step_of(s, action);
    int who = s->turn, row = step.to / s->columns;
    s->cell[step.from] = FREE;
    s->cell[step.to] = (uint8_t)who;
    s->pieces[1 - who] -= step.takes;
    s->turn ^= 1;
    if (row == (who ? 0 : s->rows - 1) || is_stuck(s))
        s->winner = (uint8_t)who;
}

static double
result(const void *state) {
    const struct breakthrough *s = state;
    return s->winner == GAME_SEAT_0 ? 1 : -1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct breakthrough *s = state;
    text_fmt(out,
             "Breakthrough for two players on a board of %d rows and %d columns. x moves up and "
             "begins, o moves down; they take turns. A turn moves one own piece one row forward: "
             "straight onto a free cell, or diagonally onto a cell %s, which is taken off the "
             "board. Straight ahead nothing can be taken. Who first brings a piece to the other's "
             "edge of the board wins; a player without pieces or without a move loses. The board "
             "shows x, o and . for a free cell. ",
             s->rows, s->columns,
             s->diagonal ? "that is free or holds a piece of the other"
                         : "with a piece of the other");
    text_put(out, who == GAME_SEAT_0 ? "You are x, move up and go first. "
                                     : "You are o, move down and go second. ");
    int from = who == GAME_SEAT_0 ? s->home : s->rows - s->home + 1;
    text_fmt(out,
             "Your move is the cell of your piece and the cell it goes to, for example a%da%d.",
             from, who == GAME_SEAT_0 ? from + 1 : from - 1);
}

static void
put_board(const struct breakthrough *s, struct text *out) {
    char line[SIDE_MAX + 1];
    for (int row = s->rows - 1; row >= 0; row--) {
        for (int column = 0; column < s->columns; column++)
            line[column] = "xo."[s->cell[row * s->columns + column]];
        line[s->columns] = '\n';
        text_fmt(out, s->rows > 9 ? "%2d " : "%d ", row + 1);
        text_add(out, line, (size_t)s->columns + 1);
    }
    text_put(out, s->rows > 9 ? "   " : "  ");
    text_add(out, "abcdefghij", s->columns);
}

static void
observe(const void *state, int who, struct text *out) {
    text_put(out, who == GAME_SEAT_0 ? "You x, up.\n" : "You o, down.\n");
    put_board(state, out);
}

static void
put_cell(const struct breakthrough *s, int cell, struct text *out) {
    text_char(out, (char)('a' + cell % s->columns));
    text_int(out, cell / s->columns + 1);
}

static void
spell(const void *state, int action, struct text *out) {
    struct step step = step_of(state, action);
    put_cell(state, step.from, out);
    put_cell(state, step.to, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct breakthrough s;
    memcpy(&s, state, sizeof s);
    (void)viewer;
    text_put(out, s.turn ? "o moves " : "x moves ");
    spell(state, action, out);
    text_put(out, step_of(&s, action).takes ? " and takes." : ".");
    apply(&s, action);
    if (s.winner != NOBODY)
        text_put(out, s.winner ? " o wins." : " x wins.");
}

static void
draw(const void *state, struct text *out) {
    put_board(state, out);
}

const struct game game_breakthrough = {
    .name = "breakthrough",
    .title = "Breakthrough",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct breakthrough),
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
