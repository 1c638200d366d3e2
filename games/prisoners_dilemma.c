/* The prisoner's dilemma over several rounds, with talk before each; who has more points in the end
 * wins, by however little. Both choose at the same time: seat 0's choice is taken first, and seat 1
 * does not see it, nor any words with it, before its own. Actions: 0 = cooperate, 1 = defect; in
 * talk 0 = speak, the only one, whatever the words. A choice without [defect] in it cooperates. */
#include <string.h>

#include "games/talk.h"

enum { COOPERATE = 0, DEFECT = 1, ROUNDS_MAX = 50, P_ROUNDS = 0, P_TALK = 1, P_POINTS = 2 };
enum { REWARD = 0, TEMPTATION = 1, SUCKER = 2, PUNISHMENT = 3, POINTS = 4 };

struct dilemma {
    uint8_t rounds, talk;
    uint8_t round; /* the one being played, from 0; = rounds: over */
    uint8_t step;  /* in it: 2 x talk messages, then two choices */
    uint8_t points[POINTS];
    uint8_t choice[ROUNDS_MAX][2];
    struct talk said[2];
};

static const struct game_param params[] = {
    {"rounds", PARAM_INT, 1, ROUNDS_MAX, "10", "Rounds in a match."},
    {"talk", PARAM_INT, 0, 8, "1", "Messages of each player before each choice."},
    {"points", PARAM_LIST, 0, 100, "3-5-0-1",
     "Points for both who cooperate, for defecting alone, for cooperating alone, for both who "
     "defect."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
check(const struct game_args *args, struct err *e) {
    if (args->count[P_POINTS] != POINTS)
        return err_set(e, "prisoners_dilemma: points are %d numbers, as in points=3-5-0-1, not %d",
                       POINTS, args->count[P_POINTS]);
    return 0;
}

static int
max_plies(const struct game_args *args) {
    return args->value[P_ROUNDS][0] * (2 * args->value[P_TALK][0] + 2);
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct dilemma *s = state;
    memset(s, 0, sizeof *s);
    s->rounds = (uint8_t)args->value[P_ROUNDS][0];
    s->talk = (uint8_t)args->value[P_TALK][0];
    for (int i = 0; i < POINTS; i++)
        s->points[i] = (uint8_t)args->value[P_POINTS][i];
}

static int
mover(const void *state) {
    const struct dilemma *s = state;
    return s->round == s->rounds ? GAME_OVER : s->step % 2;
}

static bool
talking(const struct dilemma *s) {
    return s->step < 2 * s->talk;
}

static int
legal(const void *state, int *out) {
    out[0] = COOPERATE;
    out[1] = DEFECT;
    return talking(state) ? 1 : 2;
}

static void
apply(void *state, int action) {
    struct dilemma *s = state;
    int seat = s->step % 2;
    if (talking(s))
        talk_pass(&s->said[seat]);
    else
        s->choice[s->round][seat] = (uint8_t)action;
    if (++s->step == 2 * s->talk + 2) {
        s->step = 0;
        s->round++;
    }
}

/* Points of `who` in a finished round. */
static int
round_points(const struct dilemma *s, int round, int who) {
    int mine = s->choice[round][who], theirs = s->choice[round][1 - who];
    static const int outcome[2][2] = {{REWARD, SUCKER}, {TEMPTATION, PUNISHMENT}};
    return s->points[outcome[mine][theirs]];
}

static int
total(const struct dilemma *s, int who) {
    int n = 0;
    for (int i = 0; i < s->round; i++)
        n += round_points(s, i, who);
    return n;
}

static double
result(const void *state) {
    const struct dilemma *s = state;
    int a = total(s, 0), b = total(s, 1);
    return (a > b) - (a < b);
}

static void
rules(const void *state, int who, struct text *out) {
    const struct dilemma *s = state;
    const uint8_t *p = s->points;
    text_fmt(
        out,
        "The prisoner's dilemma for two players, you and they, over %d round%s. In a round both "
        "choose at the same time to cooperate or to defect. If both cooperate, each gets %d; if "
        "both defect, each gets %d; if one defects alone, that one gets %d and the other %d. "
        "Who has more points in the end wins the match; equal points are a draw. ",
        s->rounds, s->rounds == 1 ? "" : "s", p[REWARD], p[PUNISHMENT], p[TEMPTATION], p[SUCKER]);
    if (s->talk)
        text_fmt(out,
                 "Before each choice you talk: %d message%s each in turn, any text; %s first. What "
                 "they say stands in quotes and binds nobody. ",
                 s->talk, s->talk == 1 ? "" : "s", who == GAME_SEAT_0 ? "you speak" : "they speak");
    text_put(out, "Your choice is a reply with [cooperate] or [defect] in it; without [defect] it "
                  "cooperates. Choices are shown when both are made, words with them are not.");
}

static void
put_end(const struct dilemma *s, int who, struct text *out) {
    double won = who == GAME_SEAT_0 ? result(s) : -result(s);
    text_put(out, won > 0 ? " You win." : won < 0 ? " You lose." : " Draw.");
}

static void
put_points(const struct dilemma *s, int who, struct text *out) {
    text_fmt(out, "Points: you %d, they %d.", total(s, who), total(s, 1 - who));
}

/* What the present step asks for. */
static void
put_step(const struct dilemma *s, int who, struct text *out) {
    int choices = s->step - 2 * s->talk;
    if (talking(s) && s->talk > 1)
        text_fmt(out, " Message %d of %d.", s->step / 2 + 1, s->talk);
    else if (choices == 1 && who == GAME_SEAT_0)
        text_fmt(out, " You %s.", s->choice[s->round][0] == DEFECT ? "defect" : "cooperate");
    if (mover(s) != who)
        text_put(out, " Wait.");
    else
        text_put(out, talking(s) ? " Speak." : " Choose.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct dilemma *s = state;
    bool over = s->round == s->rounds;
    text_fmt(out, "Round %d of %d. ", over ? s->rounds : s->round + 1, s->rounds);
    put_points(s, who, out);
    if (s->round)
        text_put(out, " So far, you-they:");
    for (int i = 0; i < s->round; i++)
        text_fmt(out, " %c%c", "CD"[s->choice[i][who]], "CD"[s->choice[i][1 - who]]);
    if (s->round)
        text_char(out, '.');
    talk_put(&s->said[who], " You said: ", out);
    talk_put(&s->said[1 - who], " They said: ", out);
    if (over)
        put_end(s, who, out);
    else
        put_step(s, who, out);
}

static void
narrate_talk(const struct dilemma *s, int viewer, struct text *out) {
    const struct talk *said = &s->said[s->step % 2];
    if (s->step % 2 == viewer)
        return;
    if (talk_is_fresh(said))
        talk_put(said, "They say: ", out);
    else
        text_put(out, "They say nothing.");
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    struct dilemma s;
    memcpy(&s, state, sizeof s);
    if (talking(&s)) {
        narrate_talk(&s, viewer, out);
        return;
    }
    int seat = s.step % 2;
    if (seat == viewer)
        text_put(out, action == DEFECT ? "You defect." : "You cooperate.");
    apply(&s, action);
    if (seat == GAME_SEAT_0)
        return;
    int round = s.round - 1, theirs = s.choice[round][1 - viewer];
    if (viewer == GAME_SEAT_1)
        text_char(out, ' ');
    text_put(out, theirs == DEFECT ? "They defect." : "They cooperate.");
    text_fmt(out, " You get %d, they get %d. ", round_points(&s, round, viewer),
             round_points(&s, round, 1 - viewer));
    put_points(&s, viewer, out);
    if (mover(&s) == GAME_OVER)
        put_end(&s, viewer, out);
}

static void
spell(const void *state, int action, struct text *out) {
    text_put(out, talking(state) ? "..." : action == DEFECT ? "defect" : "cooperate");
}

static int
parse(const void *state, const char *word, size_t n) {
    if (talking(state))
        return COOPERATE;
    return talk_find(word, n, "[defect]") || talk_is(word, n, "defect") ? DEFECT : COOPERATE;
}

static void
say(void *state, const char *words, size_t n) {
    struct dilemma *s = state;
    if (talking(s))
        talk_hear(&s->said[s->step % 2], words, n);
}

static void
draw(const void *state, struct text *out) {
    const struct dilemma *s = state;
    text_fmt(out, "Points: %d-%d.", total(s, 0), total(s, 1));
    for (int seat = 0; seat < 2; seat++)
        talk_put(&s->said[seat], seat ? "\nPlayer 1: " : "\nPlayer 0: ", out);
    for (int i = 0; i < s->round; i++)
        text_fmt(out, "%c%c%c", i ? ' ' : '\n', "CD"[s->choice[i][0]], "CD"[s->choice[i][1]]);
}

const struct game game_prisoners_dilemma = {
    .name = "prisoners_dilemma",
    .title = "Prisoner's dilemma",
    .version = 1,
    .flags = GAME_NO_CHANCE,
    .state_bytes = sizeof(struct dilemma),
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
    .parse = parse,
    .draw = draw,
    .say = say,
};
