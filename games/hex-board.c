/* The board of Hex: joined edges and drawing. */
#include "games/hex-board.h"

#include <string.h>

void
hex_init(struct hex_board *b, int size) {
    memset(b, 0, sizeof *b);
    memset(b->cell, HEX_FREE, sizeof b->cell);
    b->size = (uint8_t)size;
}

bool
hex_joins(const struct hex_board *b, int cell) {
    static const int step[6][2] = {{0, -1}, {0, 1}, {-1, 0}, {-1, 1}, {1, 0}, {1, -1}};
    int who = b->cell[cell], size = b->size, todo = 1;
    bool seen[HEX_CELLS_MAX] = {false}, first = false, last = false;
    uint8_t at[HEX_CELLS_MAX]; /* the chain's cells; the first `todo` of them are to be looked at */
    at[0] = (uint8_t)cell;
    seen[cell] = true;
    while (todo) {
        int row = at[--todo] / size, column = at[todo] % size;
        int along = who ? column : row;
        first = first || along == 0;
        last = last || along == size - 1;
        for (int i = 0; i < 6; i++) {
            int r = row + step[i][0], c = column + step[i][1], next = r * size + c;
            if (r < 0 || r >= size || c < 0 || c >= size || seen[next] || b->cell[next] != who)
                continue;
            seen[next] = true;
            at[todo++] = (uint8_t)next;
        }
    }
    return first && last;
}

void
hex_put_cell(const struct hex_board *b, int cell, struct text *out) {
    text_char(out, (char)('a' + cell % b->size));
    text_int(out, cell / b->size + 1);
}

/* Each row stands half a cell further to the right, as the cells do. */
void
hex_put_board(const struct hex_board *b, struct text *out) {
    char line[3 * HEX_SIDE_MAX + 1];
    text_add(out, "   a b c d e f g h i j k", 2 + 2 * (size_t)b->size);
    for (int row = 0; row < b->size; row++) {
        size_t n = 0;
        while (n < (size_t)row)
            line[n++] = ' ';
        for (int column = 0; column < b->size; column++) {
            line[n++] = ' ';
            line[n++] = "xo."[b->cell[row * b->size + column]];
        }
        text_fmt(out, "\n%2d", row + 1);
        text_add(out, line, n);
    }
}
