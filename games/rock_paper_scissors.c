/* Rock, paper, scissors over several rounds; who wins more of them wins the match. Both choose at
 * the same time: seat 0's choice is taken first, and seat 1 does not see it before its own. Actions
 * as in OpenSpiel: 0 = rock, 1 = paper, 2 = scissors. */
#include <string.h>

#include "games/game.h"

enum { ROUNDS_MAX = 100, P_ROUNDS = 0 };

struct rps {
    uint8_t rounds;
    uint8_t plies; /* choices made; even: seat 0's turn */
    uint8_t choice[2 * ROUNDS_MAX];
};

static const char *const words[] = {"rock", "paper", "scissors"};

static const struct game_param params[] = {
    {"rounds", PARAM_INT, 1, ROUNDS_MAX, "3", "Rounds in a match."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    return 2 * args->value[P_ROUNDS][0];
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct rps *s = state;
    memset(s, 0, sizeof *s);
    s->rounds = (uint8_t)args->value[P_ROUNDS][0];
}

static int
mover(const void *state) {
    const struct rps *s = state;
    return s->plies == 2 * s->rounds ? GAME_OVER : s->plies % 2;
}

static int
legal(const void *state, int *out) {
    (void)state;
    for (int i = 0; i < 3; i++)
        out[i] = i;
    return 3;
}

static void
apply(void *state, int action) {
    struct rps *s = state;
    s->choice[s->plies++] = (uint8_t)action;
}

/* Seat that won a finished round, or -1. */
static int
round_winner(const struct rps *s, int round) {
    int ahead = (s->choice[2 * round] - s->choice[2 * round + 1] + 3) % 3;
    return ahead == 1 ? 0 : ahead == 2 ? 1 : -1;
}

static int
rounds_won(const struct rps *s, int who) {
    int n = 0;
    for (int i = 0; i < s->plies / 2; i++)
        n += round_winner(s, i) == who;
    return n;
}

static double
result(const void *state) {
    const struct rps *s = state;
    int a = rounds_won(s, 0), b = rounds_won(s, 1);
    return (a > b) - (a < b);
}

static void
rules(const void *state, int who, struct text *out) {
    const struct rps *s = state;
    (void)who;
    text_put(out,
             "Rock, paper, scissors for two players, you and they. Both choose at the same time: "
             "rock beats scissors, scissors beat paper, paper beats rock; equal choices are a "
             "draw. ");
    if (s->rounds > 1)
        text_fmt(out, "The match has %d rounds; who wins more rounds wins the match. ", s->rounds);
    text_put(out, "Your move is one word: rock, paper or scissors.");
}

static void
put_wins(const struct rps *s, int who, struct text *out) {
    text_fmt(out, "You won %d, they won %d.", rounds_won(s, who), rounds_won(s, 1 - who));
}

static void
put_end(const struct rps *s, int who, struct text *out) {
    double won = who == GAME_SEAT_0 ? result(s) : -result(s);
    text_put(out, won > 0 ? " You win." : won < 0 ? " You lose." : " Draw.");
}

/* Finished rounds as pairs of first letters: the viewer's choice, then the other one's. */
static void
put_rounds(const struct rps *s, int who, struct text *out) {
    text_put(out, " So far, you-they:");
    for (int i = 0; i < s->plies / 2; i++)
        text_fmt(out, " %c%c", words[s->choice[2 * i + who]][0],
                 words[s->choice[2 * i + 1 - who]][0]);
    text_char(out, '.');
}

static void
observe(const void *state, int who, struct text *out) {
    const struct rps *s = state;
    bool over = mover(s) == GAME_OVER;
    text_fmt(out, "Round %d of %d. ", over ? s->rounds : s->plies / 2 + 1, s->rounds);
    put_wins(s, who, out);
    if (s->plies > 1)
        put_rounds(s, who, out);
    if (s->plies % 2 && who == GAME_SEAT_0)
        text_fmt(out, " Your choice %s.", words[s->choice[s->plies - 1]]);
    if (over)
        put_end(s, who, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct rps s;
    memcpy(&s, state, sizeof s);
    int seat = s.plies % 2;
    apply(&s, action);
    if (seat == viewer)
        text_fmt(out, "You choose %s.", words[action]);
    if (seat == GAME_SEAT_0)
        return;
    if (viewer == GAME_SEAT_1)
        text_char(out, ' ');
    int winner = round_winner(&s, s.plies / 2 - 1);
    text_fmt(out, "They choose %s. ", words[s.choice[s.plies - 1 - viewer]]);
    text_put(out, winner < 0         ? "The round is a draw. "
                  : winner == viewer ? "You win the round. "
                                     : "They win the round. ");
    put_wins(&s, viewer, out);
    if (mover(&s) == GAME_OVER)
        put_end(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    (void)state;
    text_put(out, words[action]);
}

static void
draw(const void *state, struct text *out) {
    const struct rps *s = state;
    text_fmt(out, "Rounds won: %d-%d.", rounds_won(s, 0), rounds_won(s, 1));
    for (int i = 0; i < s->plies; i++) {
        text_put(out, i % 2 ? " - " : "\n");
        text_put(out, words[s->choice[i]]);
    }
}

const struct game game_rock_paper_scissors = {
    .name = "rock_paper_scissors",
    .title = "Rock, paper, scissors",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct rps),
    .params = params,
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
