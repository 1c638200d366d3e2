/* Colonel Blotto (Borel 1921): both players spread the same number of coins over some fields, at
 * the same time; who has more coins on a field wins it, and who wins more fields wins the game.
 * Player 0 writes the plan first, unseen.
 *
 * An action is the number of a division of the coins, in the order of the first field's coins, then
 * of the second's and so on (OpenSpiel's numbers). */
#include <string.h>

#include "games/game.h"

enum { FIELDS_MAX = 6, COINS_MAX = 30, P_COINS = 0, P_FIELDS = 1, NONE = -1 };

struct blotto {
    int16_t plan[2]; /* action of each seat, or NONE */
    int8_t coins, fields;
};

static const struct game_param params[] = {
    {"coins", PARAM_INT, 1, COINS_MAX, "10", "Coins of each player."},
    {"fields", PARAM_INT, 2, FIELDS_MAX, "3", "Fields to win."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

/* Ways to divide `coins` among `fields`: binomial(coins + fields - 1, fields - 1). */
static int
count_plans(int coins, int fields) {
    int n = 1;
    for (int i = 1; i < fields; i++)
        n = n * (coins + i) / i;
    return n;
}

static int
check(const struct game_args *args, struct err *e) {
    int coins = args->value[P_COINS][0], fields = args->value[P_FIELDS][0];
    int n = count_plans(coins, fields);
    if (n > GAME_MAX_ACTIONS)
        return err_set(e, "%d coins can be divided among %d fields in %d ways; %d are possible",
                       coins, fields, n, GAME_MAX_ACTIONS);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    (void)args;
    return 2;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct blotto *s = state;
    memset(s, 0, sizeof *s);
    s->plan[0] = s->plan[1] = NONE;
    s->coins = (int8_t)args->value[P_COINS][0];
    s->fields = (int8_t)args->value[P_FIELDS][0];
}

static int
mover(const void *state) {
    const struct blotto *s = state;
    return s->plan[0] == NONE ? GAME_SEAT_0 : s->plan[1] == NONE ? GAME_SEAT_1 : GAME_OVER;
}

static int
legal(const void *state, int *out) {
    const struct blotto *s = state;
    int n = count_plans(s->coins, s->fields);
    for (int i = 0; i < n; i++)
        out[i] = i;
    return n;
}

static void
apply(void *state, int action) {
    struct blotto *s = state;
    s->plan[s->plan[0] != NONE] = (int16_t)action;
}

/* The coins on each field of plan number `action`. */
static void
read_plan(const struct blotto *s, int action, int *coins) {
    int left = s->coins;
    for (int field = 0; field < s->fields - 1; field++) {
        coins[field] = 0;
        for (;;) {
            int n = count_plans(left - coins[field], s->fields - field - 1);
            if (action < n)
                break;
            action -= n;
            coins[field]++;
        }
        left -= coins[field];
    }
    coins[s->fields - 1] = left;
}

/* Fields that `who` wins, both plans being made. */
static int
fields_won(const struct blotto *s, int who) {
    int own[FIELDS_MAX], other[FIELDS_MAX], n = 0;
    read_plan(s, s->plan[who], own);
    read_plan(s, s->plan[1 - who], other);
    for (int field = 0; field < s->fields; field++)
        n += own[field] > other[field];
    return n;
}

static double
result(const void *state) {
    int more = fields_won(state, 0) - fields_won(state, 1);
    return more > 0 ? 1 : more < 0 ? -1 : 0;
}

static void
put_plan(const struct blotto *s, int action, struct text *out) {
    int coins[FIELDS_MAX];
    read_plan(s, action, coins);
    for (int field = 0; field < s->fields; field++) {
        if (field)
            text_char(out, ' ');
        text_int(out, coins[field]);
    }
}

static void
rules(const void *state, int who, struct text *out) {
    const struct blotto *s = state;
    (void)who;
    text_fmt(out,
             "Colonel Blotto for two players. Each divides %d coins among %d fields without seeing "
             "what the other does. Who has more coins on a field wins it; with equal coins nobody "
             "does. Who wins more fields wins the game; equal numbers are a draw. Your move is the "
             "number of your coins on each field in order; they must add up to %d. For example ",
             s->coins, s->fields, s->coins);
    put_plan(s, count_plans(s->coins, s->fields) / 2, out);
    text_char(out, '.');
}

static void
put_outcome(const struct blotto *s, int who, struct text *out) {
    int own = fields_won(s, who), other = fields_won(s, 1 - who);
    text_put(out, "They ");
    put_plan(s, s->plan[1 - who], out);
    text_fmt(out, ". Fields %d:%d. ", own, other);
    text_put(out, own > other ? "You win." : own < other ? "You lose." : "Draw.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct blotto *s = state;
    if (s->plan[who] == NONE) {
        text_fmt(out, "%d coins, %d fields. No plan yet.", s->coins, s->fields);
        return;
    }
    text_put(out, "You ");
    put_plan(s, s->plan[who], out);
    text_char(out, '.');
    if (mover(s) != GAME_OVER)
        return;
    text_char(out, ' ');
    put_outcome(s, who, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct blotto s;
    memcpy(&s, state, sizeof s);
    int who = mover(&s);
    apply(&s, action);
    if (who == viewer) {
        text_put(out, "You ");
        put_plan(&s, action, out);
        text_put(out, mover(&s) == GAME_OVER ? ". " : ".");
    }
    if (mover(&s) == GAME_OVER)
        put_outcome(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    put_plan(state, action, out);
}

static void
draw(const void *state, struct text *out) {
    const struct blotto *s = state;
    for (int who = 0; who < 2; who++) {
        text_fmt(out, who ? " Player %d: " : "Player %d: ", who);
        if (s->plan[who] == NONE)
            text_char(out, '-');
        else
            put_plan(s, s->plan[who], out);
        text_char(out, '.');
    }
    if (mover(s) == GAME_OVER)
        text_fmt(out, " Fields %d:%d.", fields_won(s, 0), fields_won(s, 1));
}

const struct game game_blotto = {
    .name = "blotto",
    .title = "Colonel Blotto",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct blotto),
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
