/* Snake for two: both snakes move one cell at the same time; who runs into the wall or a snake
 * dies, and an apple makes a snake one cell longer. The rules, order of draws included, are those
 * of TextArena's Snake-v0, where a turn is the move of one snake, so that its max_turns is 2 x
 * turns. Player 0 writes the move first, unseen.
 *
 * Chance puts snake 0 on a cell off the edge, snake 1 on one of those furthest from it, then the
 * apples, and a new apple whenever one is eaten: for snake 0 before snake 1 has moved. An action at
 * a seat is a direction, at chance a cell, row from below x width + column. A view tells all moves
 * and apples in their order, so that nothing is forgotten. */
#include <string.h>

#include "games/game.h"

enum { SIDE_MAX = 10, CELLS_MAX = SIDE_MAX * SIDE_MAX, TURNS_MAX = 100, APPLES_MAX = 5 };
enum { P_WIDTH = 0, P_HEIGHT = 1, P_APPLES = 2, P_TURNS = 3, WALL = -1 };
/* What happens next. */
enum { START_0, START_1, LAY, MOVE_0, MOVE_1, RENEW_0, RENEW_1, DONE };

struct snake {
    uint8_t width, height, apples, turns;
    uint8_t phase, turn; /* turn: finished ones */
    uint8_t dead[2], eaten[2];
    uint8_t start[2], length[2];
    uint8_t body[2][CELLS_MAX]; /* from the head on */
    uint8_t move[2][TURNS_MAX];
    uint8_t apple[CELLS_MAX]; /* 1: there is one */
    uint8_t laid;             /* apples so far, and their cells in order */
    uint8_t spot[APPLES_MAX + 2 * TURNS_MAX];
};

static const struct game_param params[] = {
    {"width", PARAM_INT, 4, SIDE_MAX, "5", "Columns of the board."},
    {"height", PARAM_INT, 4, SIDE_MAX, "5", "Rows of the board."},
    {"apples", PARAM_INT, 1, APPLES_MAX, "2", "Apples on the board."},
    {"turns", PARAM_INT, 1, TURNS_MAX, "20", "Moves of each snake after which apples decide."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static const char *const direction[] = {"up", "down", "left", "right"};

static int
max_plies(const struct game_args *args) {
    return 2 + args->value[P_APPLES][0] + 4 * args->value[P_TURNS][0];
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct snake *s = state;
    memset(s, 0, sizeof *s);
    s->width = (uint8_t)args->value[P_WIDTH][0];
    s->height = (uint8_t)args->value[P_HEIGHT][0];
    s->apples = (uint8_t)args->value[P_APPLES][0];
    s->turns = (uint8_t)args->value[P_TURNS][0];
}

static int
mover(const void *state) {
    const struct snake *s = state;
    switch (s->phase) {
    case MOVE_0:
        return GAME_SEAT_0;
    case MOVE_1:
        return GAME_SEAT_1;
    case DONE:
        return GAME_OVER;
    default:
        return GAME_CHANCE;
    }
}

static bool
is_free(const struct snake *s, int cell) {
    for (int seat = 0; seat < 2; seat++)
        if (memchr(s->body[seat], cell, s->length[seat]))
            return false;
    return !s->apple[cell];
}

static int
distance(const struct snake *s, int a, int b) {
    int x = a % s->width - b % s->width, y = a / s->width - b / s->width;
    return x * x + y * y;
}

static int
list_starts(const struct snake *s, uint8_t *out) {
    int n = 0, furthest = 0;
    for (int cell = 0; cell < s->width * s->height; cell++) {
        int x = cell % s->width, y = cell / s->width;
        if (x == 0 || x == s->width - 1 || y == 0 || y == s->height - 1)
            continue;
        int d = s->phase == START_1 ? distance(s, cell, s->start[0]) : 0;
        if (d > furthest)
            n = 0, furthest = d;
        if (d == furthest)
            out[n++] = (uint8_t)cell;
    }
    return n;
}

static int
list_free(const struct snake *s, uint8_t *out) {
    int n = 0;
    for (int cell = 0; cell < s->width * s->height; cell++)
        if (is_free(s, cell))
            out[n++] = (uint8_t)cell;
    return n;
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct snake *s = state;
    uint8_t cell[CELLS_MAX];
    int n = s->phase <= START_1 ? list_starts(s, cell) : list_free(s, cell);
    for (int i = 0; i < n; i++)
        out[i] = (struct game_outcome){cell[i], 1.0 / n};
    return n;
}

static int
legal(const void *state, int *out) {
    (void)state;
    for (int i = 0; i < 4; i++)
        out[i] = i;
    return 4;
}

/* The cell that the snake's last move leads to, or WALL. */
static int
target(const struct snake *s, int seat) {
    int head = s->body[seat][0], x = head % s->width, y = head / s->width;
    switch (s->move[seat][s->turn]) {
    case 0:
        return y + 1 < s->height ? head + s->width : WALL;
    case 1:
        return y > 0 ? head - s->width : WALL;
    case 2:
        return x > 0 ? head - 1 : WALL;
    default:
        return x + 1 < s->width ? head + 1 : WALL;
    }
}

/* Does a body lie on `cell` after the moves? A tail moves away unless its snake eats. */
static bool
hits_body(const struct snake *s, const bool *gone, const int *to, int cell) {
    for (int seat = 0; seat < 2; seat++) {
        int stays = gone[seat] ? 0 : s->length[seat] - !s->apple[to[seat]];
        if (memchr(s->body[seat], cell, (size_t)stays))
            return true;
    }
    return false;
}

static void
collide(struct snake *s) {
    const int to[2] = {target(s, 0), target(s, 1)};
    bool swap = to[0] == s->body[1][0] && to[1] == s->body[0][0];
    bool both = to[0] == to[1] || swap;
    const bool gone[2] = {both || to[0] == WALL, both || to[1] == WALL};
    for (int seat = 0; seat < 2; seat++)
        s->dead[seat] = gone[seat] || hits_body(s, gone, to, to[seat]);
}

/* Moves a snake; true when an apple was eaten and can be put somewhere else. */
static bool
advance(struct snake *s, int seat) {
    int to = target(s, seat);
    bool eats = s->apple[to];
    s->length[seat] += eats;
    s->eaten[seat] += eats;
    s->apple[to] = 0;
    memmove(s->body[seat] + 1, s->body[seat], s->length[seat] - 1u);
    s->body[seat][0] = (uint8_t)to;
    uint8_t cell[CELLS_MAX];
    return eats && list_free(s, cell);
}

static void
finish_turn(struct snake *s) {
    bool renew = advance(s, 1);
    s->turn++;
    s->phase = s->turn == s->turns ? DONE : renew ? RENEW_1 : MOVE_0;
}

static void
apply_chance(struct snake *s, int cell) {
    if (s->phase <= START_1) {
        int seat = s->phase++;
        s->start[seat] = s->body[seat][0] = (uint8_t)cell;
        s->length[seat] = 1;
        return;
    }
    s->apple[cell] = 1;
    s->spot[s->laid++] = (uint8_t)cell;
    if (s->phase == RENEW_0)
        finish_turn(s);
    else
        s->phase = s->laid < s->apples ? LAY : MOVE_0;
}

static void
apply(void *state, int action) {
    struct snake *s = state;
    if (s->phase != MOVE_0 && s->phase != MOVE_1) {
        apply_chance(s, action);
        return;
    }
    s->move[s->phase == MOVE_1][s->turn] = (uint8_t)action;
    if (s->phase++ == MOVE_0)
        return;
    collide(s);
    if (s->dead[0] || s->dead[1]) {
        s->turn++;
        s->phase = DONE;
    } else if (advance(s, 0)) {
        s->phase = RENEW_0;
    } else {
        finish_turn(s);
    }
}

static double
result(const void *state) {
    const struct snake *s = state;
    int more = s->dead[0] == s->dead[1] ? s->eaten[0] - s->eaten[1] : s->dead[1] - s->dead[0];
    return more > 0 ? 1 : more < 0 ? -1 : 0;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct snake *s = state;
    text_fmt(out,
             "Snake for two players on a board of %d columns (letters) and %d rows (numbered from "
             "below). Each has a snake of one cell; both move at once, one cell up, down, left or "
             "right, without seeing the other's move. A snake dies when it leaves the board, when "
             "both heads go to the same cell or change places, or when its head meets a body, its "
             "own included; the last cell of a body moves away in time unless that snake eats. An "
             "apple makes a snake one cell longer, and another apple appears on a free cell. Who "
             "survives the other wins. If both die in the same turn, or after %d turns, who has "
             "eaten more apples wins; equal numbers are a draw. The board shows heads X and O, "
             "bodies x and o, apples * and free cells as dots. Below it stand for each snake its "
             "first cell and its moves (u, d, l, r), and the cells of all apples so far. ",
             s->width, s->height, s->turns);
    text_put(out, who == GAME_SEAT_0 ? "You are x. " : "You are o. ");
    text_put(out, "Your move is one word: up, down, left or right.");
}

static void
put_cell(const struct snake *s, int cell, struct text *out) {
    text_char(out, (char)('a' + cell % s->width));
    text_int(out, cell / s->width + 1);
}

static void
put_board(const struct snake *s, struct text *out) {
    char at[CELLS_MAX];
    memset(at, '.', sizeof at);
    for (int cell = 0; cell < s->width * s->height; cell++)
        if (s->apple[cell])
            at[cell] = '*';
    for (int seat = 0; seat < 2; seat++)
        for (int i = s->length[seat] - 1; i >= 0; i--)
            at[s->body[seat][i]] = (i ? "xo" : "XO")[seat];
    for (int row = s->height - 1; row >= 0; row--) {
        text_fmt(out, s->height > 9 ? "%2d " : "%d ", row + 1);
        text_add(out, at + row * s->width, s->width);
        text_char(out, '\n');
    }
    text_put(out, s->height > 9 ? "   " : "  ");
    text_add(out, "abcdefghij", s->width);
}

/* Everything that has happened; `own`: snake 0's move is told before snake 1 has moved. */
static void
put_log(const struct snake *s, bool own, struct text *out) {
    for (int seat = 0; seat < 2 && s->length[seat]; seat++) {
        int moves = s->turn + (s->phase == RENEW_0 || (s->phase == MOVE_1 && own && seat == 0));
        text_put(out, seat ? "\no " : "\nx ");
        put_cell(s, s->start[seat], out);
        text_put(out, moves ? " " : "");
        for (int i = 0; i < moves; i++)
            text_char(out, direction[s->move[seat][i]][0]);
    }
    text_put(out, s->laid ? "\n*" : "");
    for (int i = 0; i < s->laid; i++) {
        text_char(out, ' ');
        put_cell(s, s->spot[i], out);
    }
}

static void
put_outcome(const struct snake *s, int who, struct text *out) {
    double r = who == GAME_SEAT_0 ? result(s) : -result(s);
    if (s->dead[who])
        text_put(out, " You die.");
    if (s->dead[1 - who])
        text_put(out, " They die.");
    text_fmt(out, " Apples %d:%d.", s->eaten[who], s->eaten[1 - who]);
    text_put(out, r > 0 ? " You win." : r < 0 ? " You lose." : " Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct snake *s = state;
    text_fmt(out, "You %c. Turn %d of %d.", "xo"[who], s -> turn + (s->phase != DONE), s -> turns);
    text_fmt(out, " Apples %d:%d.\n", s->eaten[who], s->eaten[1 - who]);
    put_board(s, out);
    put_log(s, who == GAME_SEAT_0, out);
    if (s->phase == DONE) {
        text_put(out, "\nOver.");
        put_outcome(s, who, out);
    }
}

static void
narrate_chance(const struct snake *s, int cell, int viewer, struct text *out) {
    if (s->phase <= START_1)
        text_put(out, s->phase == viewer ? "You start at " : "They start at ");
    else
        text_put(out, "An apple is at ");
    put_cell(s, cell, out);
    text_char(out, '.');
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct snake s;
    memcpy(&s, state, sizeof s);
    int who = mover(&s), turn = s.turn;
    apply(&s, action);
    if (who == GAME_CHANCE)
        narrate_chance(state, action, viewer, out);
    if (who == viewer)
        text_fmt(out, "You go %s.", direction[action]);
    if (who == GAME_SEAT_1)
        text_fmt(out, "%sThey go %s.", viewer ? " " : "", direction[s.move[1 - viewer][turn]]);
    if (s.phase == DONE)
        put_outcome(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    if (mover(state) == GAME_CHANCE)
        put_cell(state, action, out);
    else
        text_put(out, direction[action]);
}

static void
draw(const void *state, struct text *out) {
    put_board(state, out);
    put_log(state, true, out);
}

const struct game game_snake = {
    .name = "snake",
    .title = "Snake for two",
    .version = 1,
    .state_bytes = sizeof(struct snake),
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
