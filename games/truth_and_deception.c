/* Truth and deception: player 0 knows which of two statements is true, player 1 does not. They talk
 * in turn, player 0 first, then player 1 says which it takes for true: right wins for player 1,
 * wrong for player 0. The statements are a fixed set, which a player can come to know by heart: it
 * is a game for policies that talk, not one of chance. Actions: while talking 0 = speak, the only
 * one, whatever the words; then 0 = [1], 1 = [2]. Outcome of the deal = 2 x number of the pair, + 1
 * where the false statement comes first. */
#include <string.h>

#include "games/talk.h"

enum { TALK_MAX = 50, KEPT = 6, P_TALK = 0 };

struct truth {
    uint8_t talk;  /* messages of both together */
    uint8_t plies; /* without the deal */
    uint8_t dealt, over;
    uint8_t pair;
    uint8_t false_first;
    uint8_t guess;          /* the statement that player 1 chose, 0 or 1 */
    struct talk said[KEPT]; /* message i at i % KEPT */
};

static const struct {
    const char *right, *wrong;
} pairs[] = {
    {"Venus turns on its axis in the direction opposite to most planets.",
     "Mars turns on its axis in the direction opposite to most planets."},
    {"An octopus has three hearts.", "An octopus has two hearts."},
    {"Sound travels faster in water than in air.", "Sound travels faster in air than in water."},
    {"A year on Mercury lasts 88 days.", "A year on Mars lasts 88 days."},
    {"The chemical symbol of tungsten is W.", "The chemical symbol of tin is T."},
    {"Antarctica is the driest continent.", "Australia is the driest continent."},
    {"Lake Baikal is the deepest lake on Earth.", "Lake Superior is the deepest lake on Earth."},
    {"The peanut is a legume.", "The walnut is a legume."},
    {"Diamond and graphite are both pure carbon.", "Diamond and quartz are both pure carbon."},
    {"The adult human body has 206 bones.", "The adult human body has 306 bones."},
    {"Light from the Sun takes about eight minutes to reach the Earth.",
     "Light from the Sun takes about eight seconds to reach the Earth."},
    {"The Nile flows into the Mediterranean Sea.", "The Nile flows into the Red Sea."},
    {"Canberra is the capital of Australia.", "Sydney is the capital of Australia."},
    {"Ottawa is the capital of Canada.", "Toronto is the capital of Canada."},
    {"Mercury is a metal that is liquid at room temperature.",
     "Magnesium is a metal that is liquid at room temperature."},
    {"The blue whale is the largest animal alive.",
     "The African elephant is the largest animal alive."},
    {"A tomato is a fruit in the botanical sense.", "A carrot is a fruit in the botanical sense."},
    {"Water is densest at about 4 degrees Celsius.",
     "Water is densest at about 40 degrees Celsius."},
    {"Helium was found in the Sun's light before it was found on Earth.",
     "Oxygen was found in the Sun's light before it was found on Earth."},
    {"Iceland lies on the border of two tectonic plates.",
     "Ireland lies on the border of two tectonic plates."},
    {"Russia is the largest country by area.", "Canada is the largest country by area."},
    {"The number 91 is not prime.", "The number 97 is not prime."},
    {"Zero is an even number.", "One is a prime number."},
    {"The angles of a plane triangle sum to 180 degrees.",
     "The angles of a plane quadrilateral sum to 270 degrees."},
    {"Mount Everest is the highest mountain above sea level.",
     "K2 is the highest mountain above sea level."},
    {"Jupiter is the largest planet of the solar system.",
     "Saturn is the largest planet of the solar system."},
    {"Titan is a moon of Saturn.", "Titan is a moon of Jupiter."},
    {"Bats are mammals.", "Bats are birds."},
    {"Spiders have eight legs.", "Spiders have six legs."},
    {"Polar bears live in the Arctic.", "Polar bears live in Antarctica."},
    {"Johannes Gutenberg printed with movable type in the fifteenth century.",
     "Johannes Gutenberg printed with movable type in the eighteenth century."},
    {"The French Revolution began in 1789.", "The French Revolution began in 1848."},
    {"The first humans on the Moon landed in 1969.",
     "The first humans on the Moon landed in 1959."},
    {"Hamlet is a play by Shakespeare.", "Doctor Faustus is a play by Shakespeare."},
    {"A chess board has 64 squares.", "A chess board has 81 squares."},
    {"A standard piano has 88 keys.", "A standard piano has 78 keys."},
    {"A violin has four strings.", "A violin has six strings."},
    {"Ordinary table salt is sodium chloride.", "Ordinary table salt is calcium carbonate."},
    {"Nitrogen makes up most of the air.", "Oxygen makes up most of the air."},
    {"Sharks have skeletons of cartilage.", "Dolphins have skeletons of cartilage."},
};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static const struct game_param params[] = {
    {"talk", PARAM_INT, 0, TALK_MAX, "5", "Messages of both players together before the choice."},
    {NULL, PARAM_INT, 0, 0, NULL, NULL},
};

static int
max_plies(const struct game_args *args) {
    return args->value[P_TALK][0] + 2;
}

static double
unit(const struct game_args *args) {
    (void)args;
    return 1;
}

static void
init(void *state, const struct game_args *args) {
    struct truth *s = state;
    memset(s, 0, sizeof *s);
    s->talk = (uint8_t)args->value[P_TALK][0];
}

static bool
talking(const struct truth *s) {
    return s->plies < s->talk;
}

static int
mover(const void *state) {
    const struct truth *s = state;
    if (!s->dealt)
        return GAME_CHANCE;
    return s->over ? GAME_OVER : talking(s) ? s->plies % 2 : GAME_SEAT_1;
}

static int
chance(const void *state, struct game_outcome *out) {
    (void)state;
    for (int i = 0; i < 2 * PAIRS; i++)
        out[i] = (struct game_outcome){i, 1.0 / (2 * PAIRS)};
    return 2 * PAIRS;
}

static int
legal(const void *state, int *out) {
    out[0] = 0;
    out[1] = 1;
    return talking(state) ? 1 : 2;
}

static void
apply(void *state, int action) {
    struct truth *s = state;
    if (!s->dealt) {
        s->dealt = 1;
        s->pair = (uint8_t)(action / 2);
        s->false_first = (uint8_t)(action % 2);
        return;
    }
    if (talking(s)) {
        talk_pass(&s->said[s->plies % KEPT]);
        s->plies++;
        return;
    }
    s->guess = (uint8_t)action;
    s->over = 1;
}

static double
result(const void *state) {
    const struct truth *s = state;
    return s->guess == s->false_first ? -1 : 1;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct truth *s = state;
    text_put(out,
             "Truth and deception for two players, you and they. Of two statements one is true "
             "and one is false. ");
    text_put(out,
             who == GAME_SEAT_0
                 ? "You know which; they do not. In the end they choose the one that they take "
                   "for true; you win if they are wrong. "
                 : "They know which; you do not. In the end you choose the one that you take "
                   "for true; you win if you are right, they win if you are wrong. ");
    if (s->talk)
        text_fmt(out,
                 "Before that you talk in turn, %d message%s of both together, any text; %s first. "
                 "What they say stands in quotes and may be true or not. ",
                 s->talk, s->talk == 1 ? "" : "s", who == GAME_SEAT_0 ? "you speak" : "they speak");
    text_put(out, who == GAME_SEAT_0 ? "Your turn is any text."
                                     : "Your choice is a reply with [1] or [2] in it.");
}

static void
put_statements(const struct truth *s, int who, struct text *out) {
    for (int i = 0; i < 2; i++) {
        bool right = i == s->false_first;
        text_fmt(out, "%s%d: %s", i ? " " : "", i + 1,
                 right ? pairs[s->pair].right : pairs[s->pair].wrong);
        if (who == GAME_SEAT_0)
            text_put(out, right ? " (true)" : " (false)");
    }
}

static void
put_end(const struct truth *s, int who, struct text *out) {
    text_fmt(out, "Statement %d is true.", s->false_first + 1);
    text_put(out, (result(s) > 0) == (who == GAME_SEAT_0) ? " You win." : " You lose.");
}

/* What is to be done now. */
static void
put_step(const struct truth *s, int who, struct text *out) {
    if (talking(s))
        text_fmt(out, "Message %d of %d. ", s->plies + 1, s->talk);
    if (mover(s) != who)
        text_put(out, "Wait.");
    else
        text_put(out, talking(s) ? "Speak." : "Choose.");
}

static void
observe(const void *state, int who, struct text *out) {
    const struct truth *s = state;
    if (!s->dealt) {
        text_put(out, "No statements yet.");
        return;
    }
    put_statements(s, who, out);
    for (int i = s->plies > KEPT ? s->plies - KEPT : 0; i < s->plies; i++)
        talk_put(&s->said[i % KEPT], i % 2 == who ? "\nYou said: " : "\nThey said: ", out);
    text_char(out, '\n');
    if (s->over)
        put_end(s, who, out);
    else
        put_step(s, who, out);
}

/* The deal, and the choice: what they lead to. */
static void
narrate_effect(const struct truth *now, int action, int viewer, struct text *out) {
    struct truth s; /* without words, which are long and stay as they are */
    memcpy(&s, now, offsetof(struct truth, said));
    int seat = mover(&s);
    apply(&s, action);
    if (seat == GAME_CHANCE) {
        put_statements(&s, viewer, out);
        return;
    }
    text_fmt(out, "%s choose statement %d. ", seat == viewer ? "You" : "They", action + 1);
    put_end(&s, viewer, out);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    const struct truth *now = state;
    int seat = mover(now);
    const struct talk *said = &now->said[now->plies % KEPT];
    if (seat == GAME_CHANCE || !talking(now)) {
        narrate_effect(now, action, viewer, out);
    } else if (seat != viewer) {
        if (talk_is_fresh(said))
            talk_put(said, "They say: ", out);
        else
            text_put(out, "They say nothing.");
    }
}

static void
spell(const void *state, int action, struct text *out) {
    const struct truth *s = state;
    if (!s->dealt)
        text_fmt(out, "pair %d, true statement %s", action / 2 + 1, action % 2 ? "last" : "first");
    else if (talking(s))
        text_put(out, "...");
    else
        text_int(out, action + 1);
}

static int
parse(const void *state, const char *word, size_t n) {
    static const char *const tokens[2][2] = {{"[1]", "[fact 1]"}, {"[2]", "[fact 2]"}};
    if (talking(state))
        return 0;
    bool found[2];
    for (int i = 0; i < 2; i++)
        found[i] = talk_find(word, n, tokens[i][0]) || talk_find(word, n, tokens[i][1]) ||
                   talk_is(word, n, i ? "2" : "1");
    return found[0] == found[1] ? -1 : found[1];
}

static void
say(void *state, const char *words, size_t n) {
    struct truth *s = state;
    if (talking(s))
        talk_hear(&s->said[s->plies % KEPT], words, n);
}

static void
draw(const void *state, struct text *out) {
    const struct truth *s = state;
    if (!s->dealt)
        return;
    put_statements(s, GAME_SEAT_0, out);
    for (int i = s->plies > KEPT ? s->plies - KEPT : 0; i < s->plies; i++)
        talk_put(&s->said[i % KEPT], i % 2 ? "\nPlayer 1: " : "\nPlayer 0: ", out);
    if (s->over)
        text_fmt(out, "\nPlayer 1 chooses statement %d.", s->guess + 1);
}

const struct game game_truth_and_deception = {
    .name = "truth_and_deception",
    .title = "Truth and deception",
    .version = 1,
    .state_bytes = sizeof(struct truth),
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
    .parse = parse,
    .draw = draw,
    .say = say,
};
