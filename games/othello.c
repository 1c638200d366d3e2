/* Othello on 8 x 8 cells. Player 0 is x (black) and moves first. An action is a cell, row x 8 +
 * column from the top left corner, or PASS, which is the only one where nothing can be turned: the
 * numbers are OpenSpiel's.
 *
 * Marks are two bit boards. Lines are followed by shifting all of them at once; a mask keeps a
 * shift from running over the left or right edge. */
#include <string.h>

#include "games/game.h"

enum { PASS = 64 };

struct othello {
    uint64_t mark[2];
    uint8_t turn, over;
    uint8_t spare[6];
};

#define NOT_A 0xfefefefefefefefeull /* all but the left column */
#define NOT_H 0x7f7f7f7f7f7f7f7full

static uint64_t
shift(uint64_t m, int direction) {
    switch (direction) {
    case 0:
        return m << 8;
    case 1:
        return m >> 8;
    case 2:
        return m << 1 & NOT_A;
    case 3:
        return m >> 1 & NOT_H;
    case 4:
        return m << 9 & NOT_A;
    case 5:
        return m >> 9 & NOT_H;
    case 6:
        return m << 7 & NOT_H;
    default:
        return m >> 7 & NOT_A;
    }
}

/* Cells where `own` can be put: behind one or more of `other` in a line from one of `own`. */
static uint64_t
places(uint64_t own, uint64_t other) {
    uint64_t out = 0;
    for (int direction = 0; direction < 8; direction++) {
        uint64_t line = shift(own, direction) & other;
        for (int i = 0; i < 5; i++)
            line |= shift(line, direction) & other;
        out |= shift(line, direction);
    }
    return out & ~(own | other);
}

/* What of `other` a mark of `own` on `cell` turns. */
static uint64_t
turned(uint64_t own, uint64_t other, int cell) {
    uint64_t out = 0;
    for (int direction = 0; direction < 8; direction++) {
        uint64_t line = 0, at = shift(1ull << cell, direction);
        for (; at & other; at = shift(at, direction))
            line |= at;
        if (at & own)
            out |= line;
    }
    return out;
}

/* Every pass but the last two is followed by a mark. */
static int
max_plies(const struct game_args *args) {
    (void)args;
    return 2 * 60;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct othello *s = state;
    (void)args;
    memset(s, 0, sizeof *s);
    s->mark[0] = 1ull << 28 | 1ull << 35;
    s->mark[1] = 1ull << 27 | 1ull << 36;
}

static int
mover(const void *state) {
    const struct othello *s = state;
    return s->over ? GAME_OVER : s->turn;
}

static int
legal(const void *state, int *out) {
    const struct othello *s = state;
    int n = 0;
    for (uint64_t left = places(s->mark[s->turn], s->mark[1 - s->turn]); left; left &= left - 1)
        out[n++] = __builtin_ctzll(left);
    if (!n)
        out[n++] = PASS;
    return n;
}

static void
apply(void *state, int action) {
    struct othello *s = state;
    uint64_t *own = &s->mark[s->turn], *other = &s->mark[1 - s->turn];
    if (action != PASS) {
        uint64_t turn = turned(*own, *other, action);
        *own |= turn | 1ull << action;
        *other &= ~turn;
    }
    s->turn ^= 1;
    s->over = !places(*own, *other) && !places(*other, *own);
}

static int
count(const struct othello *s, int seat) {
    return __builtin_popcountll(s->mark[seat]);
}

static double
result(const void *state) {
    const struct othello *s = state;
    int more = count(s, 0) - count(s, 1);
    return more > 0 ? 1 : more < 0 ? -1 : 0;
}

static void
rules(const void *state, int who, struct text *out) {
    (void)state;
    text_put(out,
             "Othello for two players on a board of 8 rows and 8 columns. x and o take turns, x "
             "first. A turn puts an own mark on a free cell so that one or more of the other's "
             "marks stand in an unbroken line, across, down or diagonally, between it and another "
             "own mark; all marks of the other in such lines become own ones. A player who cannot "
             "do so must pass. When neither can, the game ends and who has more marks wins. The "
             "board shows x, o and . for a free cell. ");
    text_put(out, who == GAME_SEAT_0 ? "You are x and go first. " : "You are o and go second. ");
    text_put(out, "Your move is the column and the row of a cell, for example d3, or pass.");
}

static void
put_board(const struct othello *s, struct text *out) {
    char line[] = "1 ........\n";
    text_put(out, "  abcdefgh\n");
    for (int row = 0; row < 8; row++) {
        line[0] = (char)('1' + row);
        for (int column = 0; column < 8; column++) {
            int cell = 8 * row + column;
            line[2 + column] = s->mark[0] >> cell & 1 ? 'x' : s->mark[1] >> cell & 1 ? 'o' : '.';
        }
        text_add(out, line, row < 7 ? 11 : 10);
    }
}

static void
observe(const void *state, int who, struct text *out) {
    const struct othello *s = state;
    text_fmt(out, "You %c. Marks: x %d, o %d.\n", "xo"[who], count(s, 0), count(s, 1));
    put_board(s, out);
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    if (action == PASS) {
        text_put(out, "pass");
        return;
    }
    text_char(out, (char)('a' + action % 8));
    text_char(out, (char)('1' + action / 8));
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct othello s;
    memcpy(&s, state, sizeof s);
    (void)viewer;
    text_char(out, "xo"[s.turn]);
    text_put(out, action == PASS ? " passes" : " takes ");
    if (action != PASS) {
        spell(&s, action, out);
        text_fmt(out, " and turns %d",
                 __builtin_popcountll(turned(s.mark[s.turn], s.mark[1 - s.turn], action)));
    }
    text_char(out, '.');
    apply(&s, action);
    if (!s.over)
        return;
    double r = result(&s);
    text_fmt(out,
             r > 0   ? " x wins %d:%d."
             : r < 0 ? " o wins %d:%d."
                     : " Draw %d:%d.",
             count(&s, r < 0), count(&s, r >= 0));
}

static void
draw(const void *state, struct text *out) {
    put_board(state, out);
}

const struct game game_othello = {
    .name = "othello",
    .title = "Othello",
    .version = 1,
    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,
    .state_bytes = sizeof(struct othello),
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
