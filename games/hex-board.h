/* The board of Hex, which hex and dark_hex share: a rhombus of size x size six-sided cells. x joins
 * the top with the bottom edge, o the left with the right one; exactly one of them can. A cell is
 * row x size + column and touches the cells left and right of it, above and above right, below and
 * below left. Spelled by column and row: b1 is the second cell of the top row. */
#ifndef GAMES_HEX_BOARD_H
#define GAMES_HEX_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { HEX_SIDE_MAX = 11, HEX_CELLS_MAX = HEX_SIDE_MAX * HEX_SIDE_MAX, HEX_FREE = 2 };

struct hex_board {
    uint8_t size;
    uint8_t cell[HEX_CELLS_MAX]; /* a seat or HEX_FREE */
};

void hex_init(struct hex_board *b, int size);
/* Does the chain of marks that `cell` belongs to join its owner's two edges? */
bool hex_joins(const struct hex_board *b, int cell);
void hex_put_cell(const struct hex_board *b, int cell, struct text *out);
void hex_put_board(const struct hex_board *b, struct text *out);

#endif
