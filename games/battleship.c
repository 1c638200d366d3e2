/* Battleship on small boards: both players place their ships in turns, unseen, then shoot at single
 * cells in turns. A shot is told to be water, a hit, or the hit that sinks a ship. The match ends
 * when all ships of a player are sunk or both have used up their shots; sunk ships count.
 *
 * Numbers of actions are OpenSpiel's (allow_repeated_shots = false, loss_multiplier = 1, every
 * ship's value 1): a shot is a cell, row x columns + column from the top; a ship across from a cell
 * to the right is cells + cell; a ship down from it is 2 x cells + cell. A view tells all shots in
 * their order, so that nothing is forgotten. */
#include <string.h>

#include "games/game.h"

enum { SIDE_MAX = 6, CELLS_MAX = SIDE_MAX * SIDE_MAX, SHIPS_MAX = 4 };
enum { P_ROWS = 0, P_COLUMNS = 1, P_SHIPS = 2, P_SHOTS = 3 };
enum { WATER = 0, HIT = 1, SUNK = 2 };

/* Sets of cells are bits of a uint64_t. */
struct battleship {
    uint64_t ship[2][SHIPS_MAX]; /* cells of each ship of each seat; 0: not placed yet */
    uint8_t rows, columns, ships, shots;
    uint8_t length[SHIPS_MAX];
    uint8_t placed, fired; /* ships and shots of both seats together */
    uint8_t shot[2][CELLS_MAX];
    uint8_t over;
    uint8_t spare[1];
};

static const struct game_param params[] = {
    {"rows", PARAM_INT, 1, SIDE_MAX, "4", "Height of each player's board."},
    {"columns", PARAM_INT, 1, SIDE_MAX, "4", "Width of each player's board."},
    {"ships", PARAM_LIST, 1, SIDE_MAX, "2-3", "Lengths of each player's ships, at most 4 ships."},
    {"shots", PARAM_INT, 1, CELLS_MAX, "10", "Shots of each player."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

/* The cells of a ship placed by `action`; 0 when it would leave the board. */
static uint64_t
ship_cells(const struct battleship *s, int length, int action) {
    int cells = s->rows * s->columns, down = action >= 2 * cells, cell = action % cells;
    int room = down ? s->rows - cell / s->columns : s->columns - cell % s->columns;
    int step = down ? s->columns : 1;
    uint64_t out = 0;
    for (int i = 0; i < length && length <= room; i++)
        out |= 1ull << (cell + i * step);
    return out;
}

/* Placements of ship number `ship` that leave room for the later ones; returns how many, and with
 * out = NULL stops at the first. */
static int
list_placements(const struct battleship *s, int ship, uint64_t taken, int *out) {
    int n = 0, cells = s->rows * s->columns, length = s->length[ship];
    for (int action = cells; action < (length > 1 ? 3 : 2) * cells; action++) {
        uint64_t at = ship_cells(s, length, action);
        if (!at || at & taken)
            continue;
        if (ship + 1 < s->ships && !list_placements(s, ship + 1, taken | at, NULL))
            continue;
        if (!out)
            return 1;
        out[n++] = action;
    }
    return n;
}

static void
init(void *state, const struct game_args *args) {
    struct battleship *s = state;
    memset(s, 0, sizeof *s);
    s->rows = (uint8_t)args->value[P_ROWS][0];
    s->columns = (uint8_t)args->value[P_COLUMNS][0];
    s->ships = (uint8_t)args->count[P_SHIPS];
    s->shots = (uint8_t)args->value[P_SHOTS][0];
    for (int i = 0; i < SHIPS_MAX && i < s->ships; i++)
        s->length[i] = (uint8_t)args->value[P_SHIPS][i];
}

static int
check(const struct game_args *args, struct err *e) {
    struct battleship s;
    if (args->count[P_SHIPS] > SHIPS_MAX)
        return err_set(e, "there are %d ships; at most %d are possible", args->count[P_SHIPS],
                       SHIPS_MAX);
    init(&s, args);
    if (s.shots > s.rows * s.columns)
        return err_set(e, "shots=%d is more than the board's %d cells", s.shots,
                       s.rows * s.columns);
    if (!list_placements(&s, 0, 0, NULL))
        return err_set(e, "the ships do not fit on a board of %d rows and %d columns", s.rows,
                       s.columns);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    return 2 * (args->count[P_SHIPS] + args->value[P_SHOTS][0]);
}

static double
unit(const struct game_args *args) {
    return args->count[P_SHIPS];
}

static bool
placing(const struct battleship *s) {
    return s->placed < 2 * s->ships;
}

static int
turn(const struct battleship *s) {
    return (placing(s) ? s->placed : s->fired) & 1;
}

static int
mover(const void *state) {
    const struct battleship *s = state;
    return s->over ? GAME_OVER : turn(s);
}

static int
shots_of(const struct battleship *s, int who) {
    return (s->fired + 1 - who) / 2;
}

/* Cells of the first `n` shots of `who`. */
static uint64_t
shot_cells(const struct battleship *s, int who, int n) {
    uint64_t out = 0;
    for (int i = 0; i < n; i++)
        out |= 1ull << s->shot[who][i];
    return out;
}

static uint64_t
fleet(const struct battleship *s, int who) {
    uint64_t out = 0;
    for (int i = 0; i < s->ships; i++)
        out |= s->ship[who][i];
    return out;
}

/* Ships of the other that `who` has sunk. */
static int
sunk_by(const struct battleship *s, int who) {
    uint64_t shots = shot_cells(s, who, shots_of(s, who));
    int n = 0;
    for (int i = 0; i < s->ships; i++)
        n += s->ship[1 - who][i] && !(s->ship[1 - who][i] & ~shots);
    return n;
}

static int
legal(const void *state, int *out) {
    const struct battleship *s = state;
    int who = turn(s), n = 0;
    if (placing(s))
        return list_placements(s, s->placed / 2, fleet(s, who), out);
    uint64_t shots = shot_cells(s, who, shots_of(s, who));
    for (int cell = 0; cell < s->rows * s->columns; cell++)
        if (!(shots >> cell & 1))
            out[n++] = cell;
    return n;
}

static void
apply(void *state, int action) {
    struct battleship *s = state;
    int who = turn(s);
    if (placing(s)) {
        int ship = s->placed++ / 2;
        s->ship[who][ship] = ship_cells(s, s->length[ship], action);
        return;
    }
    s->shot[who][s->fired++ / 2] = (uint8_t)action;
    s->over = s->fired == 2 * s->shots || sunk_by(s, who) == s->ships;
}

static double
result(const void *state) {
    const struct battleship *s = state;
    return (double)(sunk_by(s, 0) - sunk_by(s, 1)) / s->ships;
}

/* WATER, HIT or SUNK: what shot number `i` of `who` was when it was fired. */
static int
shot_effect(const struct battleship *s, int who, int i) {
    uint64_t shots = shot_cells(s, who, i + 1), at = 1ull << s->shot[who][i];
    for (int j = 0; j < s->ships; j++)
        if (s->ship[1 - who][j] & at)
            return s->ship[1 - who][j] & ~shots ? HIT : SUNK;
    return WATER;
}

static void
put_cell(const struct battleship *s, int cell, struct text *out) {
    text_char(out, (char)('a' + cell % s->columns));
    text_int(out, cell / s->columns + 1);
}

static void
put_ship_names(const struct battleship *s, struct text *out) {
    for (int i = 0; i < s->ships; i++)
        text_fmt(out, "%s%c of length %d", i ? ", " : "", 'p' + i, s->length[i]);
}

static void
rules(const void *state, int who, struct text *out) {
    const struct battleship *s = state;
    text_fmt(out,
             "Battleship for two players, you and they. Each has a board of %d rows and %d columns "
             "that the other does not see, and places these ships on it, which may touch but not "
             "overlap: ",
             s->rows, s->columns);
    put_ship_names(s, out);
    text_fmt(out,
             ". Then the players shoot in turns, %d shots each, never twice at one cell. A shot is "
             "told to be water, hit, or sunk when it was the last cell of a ship. The match ends "
             "when all ships of a player are sunk, or after all shots; who has sunk more ships "
             "wins. Your board shows your ships, in capitals where they are hit; theirs shows * "
             "for a hit. On both - is a shot into water and . any other cell. ",
             s->shots);
    text_put(out, who == GAME_SEAT_0 ? "You go first. " : "You go second. ");
    text_put(out, "Your move is a cell, for example a1; to place a ship, the cell of its left or "
                  "upper end and right or down, for example a1 right");
    text_put(out, " (a ship of length 1: the cell only).");
}

static char
own_mark(const struct battleship *s, int who, int cell, uint64_t shots) {
    for (int i = 0; i < s->ships; i++)
        if (s->ship[who][i] >> cell & 1)
            return (char)((shots >> cell & 1 ? 'P' : 'p') + i);
    return shots >> cell & 1 ? '-' : '.';
}

static char
their_mark(const struct battleship *s, int who, int cell) {
    uint64_t shots = shot_cells(s, who, shots_of(s, who));
    if (!(shots >> cell & 1))
        return '.';
    return fleet(s, 1 - who) >> cell & 1 ? '*' : '-';
}

static void
put_board(const struct battleship *s, int who, bool own, struct text *out) {
    char line[SIDE_MAX];
    uint64_t shots = shot_cells(s, 1 - who, shots_of(s, 1 - who));
    text_put(out, "  ");
    text_add(out, "abcdef", s->columns);
    for (int row = 0; row < s->rows; row++) {
        for (int column = 0; column < s->columns; column++) {
            int cell = row * s->columns + column;
            line[column] = own ? own_mark(s, who, cell, shots) : their_mark(s, who, cell);
        }
        text_fmt(out, "\n%d ", row + 1);
        text_add(out, line, s->columns);
    }
}

static const char *
effect_word(int effect) {
    return effect == WATER ? "water" : effect == HIT ? "hit" : "sunk";
}

static void
put_shots(const struct battleship *s, int who, struct text *out) {
    for (int i = 0; i < shots_of(s, who); i++) {
        text_put(out, i ? ", " : " ");
        put_cell(s, s->shot[who][i], out);
        text_char(out, ' ');
        text_put(out, effect_word(shot_effect(s, who, i)));
    }
    text_put(out, shots_of(s, who) ? "." : " nothing.");
}

static void
put_outcome(const struct battleship *s, int who, struct text *out) {
    int own = sunk_by(s, who), other = sunk_by(s, 1 - who);
    text_fmt(out, " Ships sunk %d:%d. ", own, other);
    text_put(out, own > other ? "You win." : own < other ? "You lose." : "Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct battleship *s = state;
    text_put(out, "Yours:\n");
    put_board(s, who, true, out);
    int ship = (s->placed + 1 - who) / 2;
    if (ship < s->ships) {
        text_fmt(out, "\nNext ship %c, length %d.", 'p' + ship, s->length[ship]);
        return;
    }
    text_put(out, "\nTheirs:\n");
    put_board(s, who, false, out);
    text_put(out, "\nYou shot");
    put_shots(s, who, out);
    text_put(out, "\nThey shot");
    put_shots(s, 1 - who, out);
    text_fmt(out, "\nShots left %d.", s->shots - shots_of(s, who));
    if (s->over)
        put_outcome(s, who, out);
}

static void
spell(const void *state, int action, struct text *out) {
    const struct battleship *s = state;
    int cells = s->rows * s->columns;
    put_cell(s, action % cells, out);
    if (placing(s) && s->length[s->placed / 2] > 1)
        text_put(out, action >= 2 * cells ? " down" : " right");
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct battleship s;
    memcpy(&s, state, sizeof s);
    int who = turn(&s);
    if (placing(&s)) {
        if (who != viewer)
            return;
        text_fmt(out, "You place ship %c at ", 'p' + s.placed / 2);
        spell(&s, action, out);
        text_char(out, '.');
        return;
    }
    apply(&s, action);
    text_put(out, who == viewer ? "You shoot at " : "They shoot at ");
    put_cell(&s, action, out);
    text_put(out, ": ");
    text_put(out, effect_word(shot_effect(&s, who, shots_of(&s, who) - 1)));
    text_char(out, '.');
    if (s.over)
        put_outcome(&s, viewer, out);
}

static void
draw(const void *state, struct text *out) {
    const struct battleship *s = state;
    for (int who = 0; who < 2; who++) {
        text_fmt(out, "%sPlayer %d:\n", who ? "\n" : "", who);
        put_board(s, who, true, out);
        text_put(out, "\nShot");
        put_shots(s, who, out);
    }
}

const struct game game_battleship = {
    .name = "battleship",
    .title = "Battleship",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct battleship),
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
