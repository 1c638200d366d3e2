/* The laws of a single state: what each query function may answer there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "games/laws-int.h"

/* One state under examination. */
struct look {
    struct laws *l;
    const void *state;
    unsigned char before[GAME_MAX_STATE];
    uint64_t digest;
    int count;                                     /* legal actions or outcomes */
    struct game_outcome out[2 * GAME_MAX_ACTIONS]; /* with room to notice too many */
    int action[2 * GAME_MAX_ACTIONS];
    char word[GAME_MAX_ACTIONS][GAME_WORD];
};

static void
digest(struct look *k, const void *p, size_t n) {
    k->digest = hash_quick(p, n, k->digest);
}

static int
unchanged(struct look *k, const char *function) {
    if (memcmp(k->before, k->state, k->l->g->state_bytes) == 0)
        return 0;
    return laws_broken(k->l, "query", "%s() wrote to the state", function);
}

static int
plain(struct look *k, const char *what, const struct text *t) {
    if (t->cut)
        return laws_broken(k->l, "text", "%s does not fit in %zu bytes", what, t->cap);
    for (size_t i = 0; i < t->len; i++) {
        unsigned char c = (unsigned char)t->at[i];
        if ((c < ' ' && c != '\n') || c == 0x7f)
            return laws_broken(k->l, "text", "%s has the control character %d", what, c);
    }
    digest(k, t->at, t->len);
    return 0;
}

static int
check_rules(struct look *k) {
    struct laws *l = k->l;
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT];
        struct text t;
        text_init(&t, at, sizeof at);
        l->g->rules(k->state, seat, &t);
        if (unchanged(k, "rules") || plain(k, "the rules' text", &t))
            return -1;
        if (t.len == 0)
            return laws_broken(l, "text", "seat %d is told no rules", seat);
        uint64_t hash = hash_quick(t.at, t.len, 0);
        if (!l->rules_known)
            l->rules[seat] = hash;
        else if (l->rules[seat] != hash)
            return laws_broken(l, "text", "the rules told to seat %d depend on the state", seat);
    }
    l->rules_known = true;
    return 0;
}

static int
check_views(struct look *k) {
    struct laws *l = k->l;
    char at[GAME_TEXT];
    struct text t;
    for (int seat = 0; seat < 2; seat++) {
        text_init(&t, at, sizeof at);
        l->g->observe(k->state, seat, &t);
        if (unchanged(k, "observe") || plain(k, "a view", &t))
            return -1;
        if (t.len == 0 && l->g->mover(k->state) == seat)
            return laws_broken(l, "text", "seat %d is to move and sees nothing", seat);
        if (t.len && at[t.len - 1] == '\n')
            return laws_broken(l, "text", "a view ends with a newline");
    }
    if (!l->g->draw)
        return 0;
    text_init(&t, at, sizeof at);
    l->g->draw(k->state, &t);
    return unchanged(k, "draw") || plain(k, "the drawing", &t) ? -1 : 0;
}

static int
check_narrations(struct look *k) {
    for (int i = 0; i < k->count; i++)
        for (int viewer = 0; viewer < 2; viewer++) {
            char at[GAME_TEXT];
            struct text t;
            text_init(&t, at, sizeof at);
            k->l->g->narrate(k->state, k->action[i], viewer, &t);
            if (unchanged(k, "narrate") || plain(k, "a narration", &t))
                return -1;
        }
    return 0;
}

/* Actions ascend from 0 on; `law` names the list. */
static int
check_ascending(struct look *k, const char *law) {
    if (k->count < 1)
        return laws_broken(k->l, law, "the list is empty");
    if (k->count > GAME_MAX_ACTIONS)
        return laws_broken(k->l, law, "%d entries are more than %d", k->count, GAME_MAX_ACTIONS);
    for (int i = 0; i < k->count; i++) {
        if (k->action[i] < 0)
            return laws_broken(k->l, law, "action %d is negative", k->action[i]);
        if (i && k->action[i] <= k->action[i - 1])
            return laws_broken(k->l, law, "action %d stands behind %d", k->action[i],
                               k->action[i - 1]);
        digest(k, &k->action[i], sizeof k->action[i]);
    }
    return 0;
}

static int
spell_all(struct look *k) {
    for (int i = 0; i < k->count; i++) {
        struct text t;
        text_init(&t, k->word[i], GAME_WORD);
        k->l->g->spell(k->state, k->action[i], &t);
        if (unchanged(k, "spell"))
            return -1;
        if (t.cut || t.len == 0)
            return laws_broken(k->l, "spelling", "the word of action %d is %s", k->action[i],
                               t.cut ? "too long" : "empty");
        if (strchr(" \t\n\r", t.at[0]) || strchr(" \t\n\r", t.at[t.len - 1]))
            return laws_broken(k->l, "spelling", "'%s' begins or ends with a blank", t.at);
        if (plain(k, "a word", &t))
            return -1;
    }
    return 0;
}

static int
check_chance(struct look *k) {
    k->count = k->l->g->chance(k->state, k->out);
    if (unchanged(k, "chance"))
        return -1;
    double sum = 0;
    for (int i = 0; i < k->count && i < 2 * GAME_MAX_ACTIONS; i++) {
        k->action[i] = k->out[i].action;
        sum += k->out[i].probability;
        if (!(k->out[i].probability > 0))
            return laws_broken(k->l, "chance", "outcome %d has the probability %g",
                               k->out[i].action, k->out[i].probability);
        digest(k, &k->out[i].probability, sizeof k->out[i].probability);
    }
    if (check_ascending(k, "chance"))
        return -1;
    if (!(fabs(sum - 1) < 1e-9))
        return laws_broken(k->l, "chance", "the probabilities sum to %.12g", sum);
    return spell_all(k);
}

static void
to_lower(char *s) {
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}

static void
to_upper(char *s) {
    for (; *s; s++)
        if (*s >= 'a' && *s <= 'z')
            *s = (char)(*s - 'a' + 'A');
}

static int
by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static int
check_unique(struct look *k) {
    char(*sorted)[GAME_WORD] = mem_copy(k->word, (size_t)k->count * sizeof k->word[0]);
    for (int i = 0; i < k->count; i++)
        to_lower(sorted[i]);
    qsort(sorted, (size_t)k->count, sizeof sorted[0], by_text);
    int bad = 0;
    for (int i = 1; i < k->count && !bad; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            bad = laws_broken(k->l, "spelling", "two legal actions are spelled '%s'", sorted[i]);
    free(sorted);
    return bad;
}

/* Parses exactly n bytes that no NUL follows, so that a sanitizer sees a reader go too far. */
static int
parse(struct look *k, const char *word, size_t n) {
    char *copy = mem_copy(word, n);
    int action = game_parse(k->l->g, k->state, copy, n);
    free(copy);
    return action;
}

static int
check_word(struct look *k, int action, const char *word) {
    char form[GAME_WORD + 8];
    size_t n = strlen(word);
    int got = parse(k, word, n);
    if (got != action)
        return laws_broken(k->l, "parse", "'%s' is read as %d, not as %d", word, got, action);
    memcpy(form, word, n + 1);
    to_upper(form);
    got = parse(k, form, n);
    if (got != action)
        return laws_broken(k->l, "parse", "'%s' is read as %d, not as %d", form, got, action);
    memcpy(form, "  ", 2);
    memcpy(form + 2, word, n);
    memcpy(form + 2 + n, " \n", 2);
    got = parse(k, form, n + 4);
    if (got != action)
        return laws_broken(k->l, "parse", "'%s' between blanks is read as %d, not as %d", word, got,
                           action);
    return 0;
}

/* With many actions a sample is parsed, since reading one word may try all of them. */
static int
check_parse(struct look *k) {
    static const char *const junk[] = {"",  " ", "[", "\xff\xfe", "-1", "99999999999999999999",
                                       "%n"};
    int sample = k->count < 32 ? k->count : 32;
    for (int i = 0; i < sample; i++) {
        int at = sample == k->count ? i : (int)rng_below(&k->l->rng, (uint32_t)k->count);
        if (check_word(k, k->action[at], k->word[at]))
            return -1;
    }
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        int action = parse(k, junk[i], strlen(junk[i]));
        if (action != -1 && !game_is_legal(k->l->g, k->state, action))
            return laws_broken(k->l, "parse", "'%s' is read as the illegal action %d", junk[i],
                               action);
    }
    return unchanged(k, "parse");
}

static int
check_seat(struct look *k) {
    k->count = k->l->g->legal(k->state, k->action);
    if (unchanged(k, "legal") || check_ascending(k, "legal") || spell_all(k) || check_unique(k))
        return -1;
    return check_parse(k);
}

static int
check_over(struct look *k) {
    double r = k->l->g->result(k->state);
    k->count = 0;
    if (unchanged(k, "result"))
        return -1;
    if (!(r >= -1 && r <= 1))
        return laws_broken(k->l, "payoff", "%g is outside [-1, 1]", r);
    digest(k, &r, sizeof r);
    return 0;
}

static int
check_choices(struct look *k) {
    struct laws *l = k->l;
    int mover = l->g->mover(k->state);
    if (unchanged(k, "mover"))
        return -1;
    digest(k, &mover, sizeof mover);
    switch (mover) {
    case GAME_SEAT_0:
    case GAME_SEAT_1:
        return check_seat(k);
    case GAME_CHANCE:
        if (l->g->flags & GAME_NO_CHANCE)
            return laws_broken(l, "turn", "chance is to move in a game that has none");
        return check_chance(k);
    case GAME_OVER:
        return check_over(k);
    default:
        return laws_broken(l, "turn", "mover() gave %d", mover);
    }
}

int
laws_check_state(struct laws *l, const void *state, uint64_t *out) {
    struct look *k = mem_alloc(sizeof *k); /* large: nothing is read that was not written */
    k->l = l;
    k->state = state;
    k->digest = 0;
    k->count = 0;
    memcpy(k->before, state, l->g->state_bytes);
    int bad = check_rules(k) || check_views(k) || check_choices(k) || check_narrations(k) ||
              laws_check_talk(l, state);
    *out = k->digest;
    free(k);
    return bad ? -1 : 0;
}
