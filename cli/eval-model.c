/* The strategy of a snapshot: its distribution over whole replies, read by the answer parser, in
 * every information set.
 *
 * All sets go through one generator, whose prefix tree holds what they have in common. They are
 * taken in portions: first the tree is grown along the words of all legal actions, in large
 * batches, then each set is enumerated and finds there nearly all that it needs. What is measured
 * does not depend on that preparation. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arena/reply.h"
#include "arena/verify.h"
#include "base/mem.h"
#include "cli/eval.h"

/* SLOTS: size of a portion. Replies listed in one set are bounded, and so is their sum over all
 * sets, so that a policy that says anything at all cannot keep the measurement busy for hours. */
enum { SLOTS = 960, LEAST_REPLIES = 64, MOST_REPLIES = 4096, ALL_REPLIES = 1 << 18 };

static const char think[] = "<think>", think_end[] = "</think>"; /* as in policy/answer.c */

struct reading {
    const struct setup *setup;
    const struct solve *game;
    struct gen *gen;
    struct tokens prompts; /* of all sets */
    size_t *at;            /* [sets + 1] where each begins */
    int *slot;             /* open ones of the portion in hand */
    size_t slots, slot_cap;
    size_t most_replies;           /* of one set */
    const struct solve_info *info; /* the set in hand */
    struct buf words;              /* of its actions, each NUL-terminated */
    struct buf text, word;         /* scratch */
    struct gen_prune prune;
    bool known; /* `allowed` tells what may follow the tokens `behind` in this set */
    struct tokens behind;
    bool allowed[TOKEN_COUNT];
};

static void
build_prompts(struct reading *r) {
    size_t sets = solve_sets(r->game);
    r->at = mem_zero(sets + 1, sizeof *r->at);
    for (size_t i = 0; i < sets; i++) {
        const struct solve_info *info = solve_info(r->game, i);
        r->at[i] = r->prompts.n;
        verify_prompt(r->setup, info->state, info->seat, 0, NULL, NULL, &r->prompts);
    }
    r->at[sets] = r->prompts.n;
}

static void
spell_word(const struct reading *r, const struct solve_info *info, int i, char word[GAME_WORD]) {
    struct text t;
    text_init(&t, word, GAME_WORD);
    r->setup->game->spell(info->state, info->action[i], &t);
}

/* Asks for what comes behind the prompt of `set` and the first n bytes of a reply. */
static void
ask(struct reading *r, size_t set, const int32_t *reply, size_t n) {
    struct rng stream;
    rng_init(&stream, 0, set, RNG_SEAT);
    if (r->slots == r->slot_cap) {
        r->slot_cap = r->slot_cap ? 2 * r->slot_cap : 2 * SLOTS;
        r->slot = mem_grow(r->slot, r->slot_cap, sizeof *r->slot);
    }
    int slot = r->slot[r->slots++] = gen_open(r->gen);
    gen_feed(r->gen, slot, r->prompts.at + r->at[set], r->at[set + 1] - r->at[set]);
    gen_feed(r->gen, slot, reply, n);
    gen_ask(r->gen, slot, &stream, 1);
}

/* Opens slots along the reply of every action of a set. */
static void
ask_along_words(struct reading *r, size_t set) {
    const struct solve_info *info = solve_info(r->game, set);
    struct tokens reply = {0};
    ask(r, set, NULL, 0);
    for (int i = 0; i < info->actions; i++) {
        char word[GAME_WORD], said[GAME_WORD + 64];
        struct text t;
        spell_word(r, info, i, word);
        text_init(&t, said, sizeof said);
        answer_write(r->setup->answer, word, &t);
        tokens_clear(&reply);
        tokens_text(&reply, said, t.len);
        for (size_t n = 1; n <= reply.n && n < (size_t)r->setup->max_reply; n++)
            ask(r, set, reply.at, n);
    }
    tokens_free(&reply);
}

/* ---- what need not be followed ---- */

/* The bytes that may follow said[0..n) so that it still begins (or, with blanks behind it, is)
 * `word`. */
static void
allow_after(struct reading *r, const char *word, const char *said, size_t n) {
    size_t len = strlen(word);
    if (strncasecmp(word, said, n < len ? n : len))
        return;
    for (size_t i = len; i < n; i++)
        if (!isspace((unsigned char)said[i]))
            return;
    if (n < len)
        r->allowed[tolower((unsigned char)word[n])] = r->allowed[toupper((unsigned char)word[n])] =
            true;
    for (int c = 0; c < 256 && n >= len; c++)
        r->allowed[c] |= isspace(c) != 0;
}

/* Takes complete "<think>...</think>" out of said[0..n), as the parser will; returns what is left.
 * *open: a "<think>" has no end yet, and swallows whatever follows. */
static size_t
drop_thinking(char *said, size_t n, bool *open) {
    *open = false;
    for (;;) {
        char *from = memmem(said, n, think, sizeof think - 1);
        if (!from)
            return n;
        char *inside = from + sizeof think - 1;
        char *end = memmem(inside, (size_t)(said + n - inside), think_end, sizeof think_end - 1);
        *open = !end;
        if (!end)
            return n;
        end += sizeof think_end - 1;
        memmove(from, end, (size_t)(said + n - end));
        n -= (size_t)(end - from);
    }
}

/* A reply may turn to thinking anywhere, where it is long enough for that:
 * "be<think>...</think>t". */
static void
allow_thinking(struct reading *r, const char *said, size_t n) {
    if ((size_t)r->setup->max_reply < sizeof think + sizeof think_end - 2)
        return;
    r->allowed['<'] = true;
    for (size_t k = 1; k < sizeof think - 1; k++)
        if (k <= n && !memcmp(said + n - k, think, k))
            r->allowed[(unsigned char)think[k]] = true;
}

/* Sets `allowed` for what may follow the n tokens. Control tokens spell nothing: they change
 * nothing. */
static void
allow(struct reading *r, const int32_t *tokens, size_t n) {
    char said[GAME_WORD];
    bool open;
    size_t len = drop_thinking(said, tokens_spell(tokens, n, said), &open), from = 0;
    while (from < len && isspace((unsigned char)said[from]))
        from++;
    for (int c = 0; c < TOKEN_COUNT; c++)
        r->allowed[c] = open || c > 255 || (from == len && isspace(c));
    allow_thinking(r, said, len);
    const char *word = (const char *)r->words.at;
    for (int i = 0; i < r->info->actions; i++, word += strlen(word) + 1)
        allow_after(r, word, said + from, len - from);
}

static bool
is_behind(const struct reading *r, const int32_t *tokens, size_t n) {
    bool same = r->known && r->behind.n == n;
    for (size_t i = 0; same && i < n; i++)
        same = r->behind.at[i] == tokens[i];
    return same;
}

/* The search asks about all tokens behind one beginning in turn, so that the answers for one are
 * kept. */
static bool
is_hopeless(void *arg, const int32_t *tokens, size_t n) {
    struct reading *r = arg;
    if (n >= GAME_WORD)
        return false;
    if (!is_behind(r, tokens, n - 1)) {
        tokens_clear(&r->behind);
        for (size_t i = 0; i + 1 < n; i++)
            tokens_add(&r->behind, tokens[i]);
        allow(r, tokens, n - 1);
        r->known = true;
    }
    return !r->allowed[tokens[n - 1]];
}

/* With the parser `whole`, a reply whose beginning begins no legal word can only be invalid. Not so
 * where the parser finds words inside a reply, or the game reads them in its own way. */
static void
set_prune(struct reading *r) {
    bool whole = !strcmp(r->setup->answer->name, "whole") && !r->setup->game->parse;
    r->prune = (struct gen_prune){.hopeless = whole ? is_hopeless : NULL, .arg = r};
}

/* ---- reading ---- */

/* Adds one reply's probability to the action that it means, or to the forfeit. */
static void
add_reply(struct reading *r, const struct gen_outcomes *list, const struct gen_outcome *o,
          double *p) {
    const struct solve_info *info = r->info;
    int chosen = info->actions;
    buf_clear(&r->text);
    buf_clear(&r->word);
    buf_room(&r->text, o->n + 1);
    size_t n = tokens_spell(list->tokens.at + o->at, o->n, (char *)r->text.at);
    struct reply said =
        reply_read(r->setup, info->state, (const char *)r->text.at, n, o->cut, &r->word);
    for (int i = 0; i < info->actions && said.action >= 0; i++)
        if (info->action[i] == said.action)
            chosen = i;
    p[chosen] += o->probability;
}

/* With n retries an invalid reply (probability q) is followed by the same question again: the
 * chance of each action grows by 1 + q + ... + q^n, that of a forfeit shrinks to q^(n+1). */
static void
retry(double *p, int actions, int retries) {
    double q = p[actions], factor = 1, power = q;
    for (int i = 0; i < retries; i++) {
        factor += power;
        power *= q;
    }
    for (int i = 0; i < actions; i++)
        p[i] *= factor;
    p[actions] = power;
}

/* Fills the set's part of the strategy; returns the mass left unlisted. */
static double
read_set(struct reading *r, size_t set, double *strategy) {
    const struct solve_info *info = r->info = solve_info(r->game, set);
    double *p = strategy + info->at, sum = 0;
    struct gen_outcomes list = {0};
    buf_clear(&r->words);
    r->known = false;
    for (int i = 0; i < info->actions; i++) {
        char word[GAME_WORD];
        spell_word(r, info, i, word);
        buf_add(&r->words, word, strlen(word) + 1);
    }
    gen_enumerate(r->gen, r->prompts.at + r->at[set], r->at[set + 1] - r->at[set],
                  r->setup->max_reply, EVAL_EPSILON, r->most_replies,
                  r->prune.hopeless ? &r->prune : NULL, &list);
    for (size_t i = 0; i < list.count; i++)
        add_reply(r, &list, &list.outcome[i], p);
    /* What is no action is a forfeit, so that the sum is 1 whatever was rounded. */
    for (int i = 0; i < info->actions; i++)
        sum += p[i];
    p[info->actions] = sum < 1 ? 1 - sum : 0;
    retry(p, info->actions, r->setup->retries);
    double rest = list.rest;
    gen_outcomes_free(&list);
    return rest;
}

static void
bound_replies(struct reading *r) {
    size_t n = ALL_REPLIES / (solve_sets(r->game) + 1);
    r->most_replies = n < LEAST_REPLIES ? LEAST_REPLIES : n > MOST_REPLIES ? MOST_REPLIES : n;
}

void
eval_model(const struct setup *s, const struct solve *game, const struct model *m, double *strategy,
           double *rest) {
    struct reading r = {.setup = s, .game = game, .gen = gen_new(m, s->head, 0)};
    build_prompts(&r);
    set_prune(&r);
    bound_replies(&r);
    *rest = 0;
    memset(strategy, 0, solve_width(game) * sizeof *strategy);
    for (size_t set = 0, end = 0; set < solve_sets(game);) {
        while (end < solve_sets(game) && r.slots < SLOTS)
            ask_along_words(&r, end++);
        while (gen_run(r.gen) > 0)
            ;
        for (; set < end; set++) {
            double left = read_set(&r, set, strategy);
            *rest = left > *rest ? left : *rest;
        }
        while (r.slots)
            gen_close(r.gen, r.slot[--r.slots]);
    }
    gen_free(r.gen);
    tokens_free(&r.prompts);
    buf_free(&r.words);
    tokens_free(&r.behind);
    buf_free(&r.text);
    buf_free(&r.word);
    free(r.slot);
    free(r.at);
}
