/* The environments of TextArena 0.7.3 that are known: the game of ours with the same rules, and how
 * the original reads replies, which is copied here to the letter, oddities included. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "arena/conform-int.h"

enum { NUMBER_MAX = 1000000 };

static bool
is_space(char c) {
    return isspace((unsigned char)c);
}

static const char *
skip_blanks(const char *p) {
    while (is_space(*p))
        p++;
    return p;
}

/* Digits at *p, which moves behind them; -1: there are none. Greater numbers are NUMBER_MAX. */
static int
read_number(const char **p) {
    if (!isdigit((unsigned char)**p))
        return -1;
    int n = 0;
    for (; isdigit((unsigned char)**p); ++*p)
        n = n >= NUMBER_MAX / 10 ? NUMBER_MAX : 10 * n + (**p - '0');
    return n;
}

/* One bracket "[col 3]" or "[2 1]" at `p`, which points behind its '['. */
static bool
read_bracket(const struct conform_env *c, const char *p, struct text *out) {
    size_t n = strlen(c->before);
    text_init(out, out->at, out->cap);
    if (c->inner_blanks)
        p = skip_blanks(p);
    if (n && strncasecmp(p, c->before, n) == 0)
        p = skip_blanks(p + n);
    for (int i = 0; i < c->numbers; i++) {
        if (i)
            p = skip_blanks(p);
        int number = read_number(&p);
        if (number < 0)
            return false;
        text_fmt(out, "%s%d", i ? " " : "", number);
    }
    if (c->inner_blanks)
        p = skip_blanks(p);
    return *p == ']';
}

static bool
read_numbers(const struct conform_env *c, const char *reply, struct text *out) {
    char at[CONFORM_WORD];
    bool any = false;
    for (const char *p = strchr(reply, '['); p; p = strchr(p + 1, '[')) {
        struct text found;
        text_init(&found, at, sizeof at);
        if (!read_bracket(c, p + 1, &found) || (any && !c->last))
            continue;
        text_init(out, out->at, out->cap);
        text_put(out, at);
        any = true;
    }
    return any;
}

/* "[a2a3]" or "[a02a03]". */
static bool
read_cells(const struct conform_env *c, const char *reply, struct text *out) {
    (void)c;
    for (const char *p = strchr(reply, '['); p; p = strchr(p, '[')) {
        int cells = 0;
        p++;
        text_init(out, out->at, out->cap);
        for (; cells < 2 && isalpha((unsigned char)*p); cells++) {
            text_char(out, *p++);
            const char *digits = p;
            int row = read_number(&p);
            if (row < 0 || p - digits > 2)
                break;
            text_int(out, row);
        }
        if (cells == 2 && *p == ']')
            return true;
    }
    return false;
}

static bool
read_tokens(const struct conform_env *c, const char *reply, struct text *out) {
    const char *best = NULL;
    for (const struct conform_token *t = c->tokens; t->shown; t++) {
        char token[CONFORM_WORD];
        snprintf(token, sizeof token, "[%s]", t->shown);
        const char *at = strcasestr(reply, token);
        if (!at || (best && (c->ranked || at >= best)))
            continue;
        best = at;
        text_init(out, out->at, out->cap);
        text_put(out, t->word);
    }
    return best != NULL;
}

/* "[Call]" anywhere, else the first "[Bid: 2, 3]", the colon and the comma being optional. */
static bool
read_bid(const struct conform_env *c, const char *reply, struct text *out) {
    (void)c;
    if (strcasestr(reply, "[call]")) {
        text_put(out, "call");
        return true;
    }
    for (const char *p = strcasestr(reply, "[bid"); p; p = strcasestr(p, "[bid")) {
        p = skip_blanks(p + 4);
        if (*p == ':')
            p = skip_blanks(p + 1);
        int quantity = read_number(&p);
        const char *gap = p;
        while (*p == ',' || is_space(*p))
            p++;
        int face = quantity >= 0 && p > gap ? read_number(&p) : -1;
        if (face >= 0 && *p == ']') {
            text_fmt(out, "%dx%d", quantity, face);
            return true;
        }
    }
    return false;
}

/* ---- chance ---- */

static int
outcome_face(const struct game *g, const void *state, long long draw) {
    (void)g;
    (void)state;
    return draw >= 1 && draw <= NUMBER_MAX ? (int)draw - 1 : -1;
}

static int
outcome_number(const struct game *g, const void *state, long long draw) {
    (void)g;
    (void)state;
    return draw >= 0 && draw <= NUMBER_MAX ? (int)draw : -1;
}

enum { SNAKE_SIDE = 5 };

/* The draw-th free cell, column by column; our cells are numbered row by row. */
static int
outcome_snake(const struct game *g, const void *state, long long draw) {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = g->chance(state, out);
    for (int column = 0; column < SNAKE_SIDE; column++)
        for (int i = 0; i < n; i++)
            if (out[i].action % SNAKE_SIDE == column && draw-- == 0)
                return out[i].action;
    return -1;
}

static int
snake_cell(const json_t *position) {
    json_int_t x = json_integer_value(json_array_get(position, 0));
    json_int_t y = json_integer_value(json_array_get(position, 1));
    bool on = x >= 0 && x < SNAKE_SIDE && y >= 0 && y < SNAKE_SIDE;
    return on ? (int)(y * SNAKE_SIDE + x) : -1;
}

/* Where snakes and apples are at the start. Two apples on one cell, which the original may draw,
 * our game cannot have. */
static int
deal_snake(const json_t *match, int *out, int room) {
    const json_t *initial = json_object_get(match, "initial");
    const json_t *snakes = json_object_get(initial, "snakes");
    const json_t *apples = json_object_get(initial, "apples");
    int n = 0;
    for (int i = 0; i < 2; i++) {
        const json_t *snake = json_object_get(snakes, i ? "1" : "0");
        const json_t *positions = json_object_get(snake, "positions");
        out[n++] = snake_cell(json_array_get(positions, 0));
    }
    for (size_t i = 0; i < json_array_size(apples) && n < room; i++)
        out[n++] = snake_cell(json_array_get(apples, i));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (out[i] < 0 || out[i] == out[j])
                return -1;
    return n;
}

/* ---- the table ---- */

static const struct conform_token pig_tokens[] = {{"roll", "roll"}, {"hold", "hold"}, {NULL, NULL}};
static const struct conform_token rps_tokens[] = {
    {"rock", "rock"},         {"r", "rock"},     {"paper", "paper"}, {"p", "paper"},
    {"scissors", "scissors"}, {"s", "scissors"}, {NULL, NULL}};
static const struct conform_token snake_tokens[] = {
    {"up", "up"},  {"w", "up"},        {"down", "down"}, {"s", "down"}, {"left", "left"},
    {"a", "left"}, {"right", "right"}, {"d", "right"},   {NULL, NULL}};

static const struct conform_fault dice_faults[] = {
    {"script:bid-zero-quantity",
     "the original takes bids of no dice at all, which cannot be called, and of a million"},
    {NULL, NULL}};

#define LIARS_DICE .bare = true, .read = read_bid, .outcome = outcome_face, .faults = dice_faults
#define PIG .bare = true, .read = read_tokens, .tokens = pig_tokens, .outcome = outcome_face
#define NIM .bare = true, .read = read_numbers, .before = "", .numbers = 2, .inner_blanks = true

const struct conform_env conform_envs[] = {
    {.name = "Breakthrough-v0",
     .spec = "breakthrough(diagonal=false)",
     .params = "{\"board_size\":8,\"is_open\":true}",
     .bare = true,
     .read = read_cells},
    {.name = "Breakthrough-v0-tiny",
     .spec = "breakthrough(rows=5,columns=5,diagonal=false)",
     .params = "{\"board_size\":5,\"is_open\":true}",
     .bare = true,
     .read = read_cells},
    {.name = "ConnectFour-v0",
     .spec = "connect_four",
     .params = "{\"is_open\":true,\"num_rows\":6,\"num_cols\":7}",
     .bare = true,
     .read = read_numbers,
     .before = "col",
     .numbers = 1,
     .last = true},
    /* A choice without [Defect] cooperates, whatever else it says. */
    {.name = "IteratedPrisonersDilemma-v0",
     .spec = "prisoners_dilemma",
     .params = "{\"num_rounds\":10,\"communication_turns\":1,\"cooperate_reward\":3,"
               "\"defect_reward\":5,\"sucker_reward\":0,\"mutual_defect_reward\":1}"},
    {.name = "IteratedRockPaperScissors-v0",
     .spec = "rock_paper_scissors(rounds=9)",
     .params = "{\"num_rounds\":9}",
     .bare = true,
     .read = read_tokens,
     .tokens = rps_tokens},
    /* Bids may be far above the dice in play there. */
    {.name = "LiarsDice-v0",
     .spec = "liars_dice(dice=5,wild=false,strict=true,most=40)",
     .params = "{\"num_dice\":5}",
     LIARS_DICE},
    {.name = "LiarsDice-v0-small",
     .spec = "liars_dice(dice=3,wild=false,strict=true,most=40)",
     .params = "{\"num_dice\":3}",
     LIARS_DICE},
    {.name = "Nim-v0", .spec = "nim(piles=3-4-5)", .params = "{\"piles\":[3,4,5]}", NIM},
    {.name = "Nim-v0-large",
     .spec = "nim(piles=5-7-9-11-2)",
     .params = "{\"piles\":[5,7,9,11,2]}",
     NIM},
    {.name = "PigDice-v0",
     .spec = "pig(goal=100,moves=100,must_hold=false)",
     .params = "{\"winning_score\":100,\"max_turns\":100}",
     PIG},
    {.name = "PigDice-v0-short",
     .spec = "pig(goal=50,moves=25,must_hold=false)",
     .params = "{\"winning_score\":50,\"max_turns\":25}",
     PIG},
    /* One turn more than max_turns. */
    {.name = "SimpleNegotiation-v0",
     .spec = "negotiation(resources=5,turns=11)",
     .params = "{\"max_turns\":10}",
     .bare = true,
     .outcome = outcome_number,
     .passes = true},
    {.name = "SimpleNegotiation-v1",
     .spec = "negotiation(resources=2,turns=10)",
     .params = "{\"max_turns\":10}",
     .passes = true,
     .cheap = true},
    /* A turn there is the move of one snake, and one turn more than max_turns is asked for. */
    {.name = "Snake-v0",
     .spec = "snake(width=5,height=5,apples=2,turns=20)",
     .params = "{\"width\":5,\"height\":5,\"num_apples\":2,\"max_turns\":40}",
     .bare = true,
     .read = read_tokens,
     .tokens = snake_tokens,
     .ranked = true,
     .outcome = outcome_snake,
     .deal = deal_snake,
     .idle = true,
     .dies = true},
    {.name = "TicTacToe-v0",
     .spec = "tic_tac_toe",
     .params = "{}",
     .bare = true,
     .read = read_numbers,
     .before = "",
     .numbers = 1,
     .inner_blanks = true},
    {.name = NULL},
};
