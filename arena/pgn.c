#include "arena/pgn.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

#define DEEPEST 64 /* variations within variations */
#define TAG_NAME 64
#define TAG_VALUE 4096

static const char *const results[PGN_RESULTS] = {"1-0", "1/2-1/2", "0-1", "*"};

const char *
pgn_result_text(enum pgn_result r) {
    return results[r];
}

struct place {
    size_t line, column;
};

struct reader {
    const char *name; /* of the file */
    const unsigned char *at, *end;
    struct place here;
    struct err *e;
    /* the game in hand */
    bool begun, moves; /* tags were read; moves were read behind them */
    struct place first;
    bool has_white, has_black, has_result;
    struct pgn_game game;
    int (*each)(void *arg, const struct pgn_game *g);
    void *arg;
    int64_t games;
};

static int fail(struct reader *r, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int
fail(struct reader *r, struct place at, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(r->e, "%s:%zu:%zu: %s", r->name, at.line, at.column, text);
}

/* ---- characters ---- */

static int
peek(const struct reader *r) {
    return r->at < r->end ? *r->at : -1;
}

/* Passes one byte. Columns count characters, so that they are what an editor shows. */
static void
pass(struct reader *r) {
    unsigned char c = *r->at++;
    if (c == '\n') {
        r->here.line++;
        r->here.column = 1;
    } else if ((c & 0xc0) != 0x80) {
        r->here.column++;
    }
}

static bool
is_blank(int c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
pass_line(struct reader *r) {
    while (r->at < r->end && *r->at != '\n')
        pass(r);
}

/* Blanks, and lines that begin with % (a program's own notes). */
static void
pass_blanks(struct reader *r) {
    while (r->at < r->end && (is_blank(*r->at) || (*r->at == '%' && r->here.column == 1))) {
        if (*r->at == '%')
            pass_line(r);
        else
            pass(r);
    }
}

static int
pass_comment(struct reader *r) {
    struct place begin = r->here;
    while (r->at < r->end && *r->at != '}')
        pass(r);
    if (r->at == r->end)
        return fail(r, begin, "this { is never closed");
    pass(r);
    return 0;
}

/* ---- tags ---- */

static int
read_name(struct reader *r, char out[TAG_NAME]) {
    struct place begin = r->here;
    size_t n = 0;
    for (int c; (c = peek(r)) > 0; pass(r)) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_')
            break;
        if (n + 1 == TAG_NAME)
            return fail(r, begin, "a tag's name has at most %d letters", TAG_NAME - 1);
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return n ? 0 : fail(r, begin, "a tag's name is missing: [White \"...\"]");
}

static int
read_value(struct reader *r, char out[TAG_VALUE], size_t *n) {
    struct place begin = r->here;
    if (peek(r) != '"')
        return fail(r, begin, "a tag's value stands in quotes: [White \"...\"]");
    pass(r);
    for (*n = 0; peek(r) != '"'; pass(r)) {
        if (peek(r) == '\\' && r->end - r->at > 1 && (r->at[1] == '"' || r->at[1] == '\\'))
            pass(r);
        int c = peek(r);
        if (c < 0 || c == '\n')
            return fail(r, begin, "this quote is not closed on its line");
        if (*n + 1 == TAG_VALUE)
            return fail(r, begin, "a tag's value has at most %d bytes", TAG_VALUE - 1);
        out[(*n)++] = (char)c;
    }
    pass(r);
    out[*n] = '\0';
    return 0;
}

static int
check_name(struct reader *r, struct place at, const char *tag, const char *value, size_t n) {
    if (!n)
        return fail(r, at, "%s: the name is empty", tag);
    if (n > PGN_NAME)
        return fail(r, at, "%s: a name has at most %d bytes", tag, PGN_NAME);
    for (size_t i = 0; i < n;) {
        const unsigned char *p = (const unsigned char *)value + i;
        uint32_t code = *p;
        size_t len = *p < 0x80 ? 1 : utf8_char(p, n - i, &code);
        if (!len)
            return fail(r, at, "%s: the name is not UTF-8; convert the file (iconv -f latin1)",
                        tag);
        if (code < ' ' || (code >= 0x7f && code < 0xa0))
            return fail(r, at, "%s: the name has a control character", tag);
        i += len;
    }
    return 0;
}

static int
find_result(const char *text, size_t n) {
    for (int i = 0; i < PGN_RESULTS; i++)
        if (strlen(results[i]) == n && !memcmp(results[i], text, n))
            return i;
    return -1;
}

static int
take_player(struct reader *r, struct place at, const char *tag, const char *value, size_t n,
            char out[PGN_NAME + 1], bool *has) {
    if (check_name(r, at, tag, value, n) < 0)
        return -1;
    memcpy(out, value, n + 1);
    *has = true;
    return 0;
}

static int
take_tag(struct reader *r, struct place at, const char *tag, const char *value, size_t n) {
    bool ignored;
    if (!strcmp(tag, "White"))
        return take_player(r, at, tag, value, n, r->game.white, &r->has_white);
    if (!strcmp(tag, "Black"))
        return take_player(r, at, tag, value, n, r->game.black, &r->has_black);
    if (!strcmp(tag, "AgonRun"))
        return take_player(r, at, tag, value, n, r->game.run, &ignored);
    if (strcmp(tag, "Result"))
        return 0;
    int result = find_result(value, n);
    if (result < 0)
        return fail(r, at, "Result: one of 1-0, 0-1, 1/2-1/2, * is needed");
    r->game.result = (enum pgn_result)result;
    r->has_result = true;
    return 0;
}

static bool
is_known(const struct reader *r, const char *tag) {
    return (r->has_white && !strcmp(tag, "White")) || (r->has_black && !strcmp(tag, "Black")) ||
           (r->has_result && !strcmp(tag, "Result")) || (r->begun && !strcmp(tag, "Event"));
}

/* ---- games ---- */

static int
end_game(struct reader *r) {
    if (!r->begun)
        return 0;
    const char *missing = !r->has_white    ? "White"
                          : !r->has_black  ? "Black"
                          : !r->has_result ? "Result"
                                           : NULL;
    if (missing)
        return fail(r, r->first, "this game has no tag %s", missing);
    r->games++;
    int stop = r->each(r->arg, &r->game);
    r->begun = r->moves = r->has_white = r->has_black = r->has_result = false;
    r->game = (struct pgn_game){.result = PGN_OPEN};
    return stop;
}

static int
read_tag(struct reader *r) {
    char tag[TAG_NAME], value[TAG_VALUE];
    size_t n = 0;
    struct place begin = r->here;
    pass(r);
    pass_blanks(r);
    if (read_name(r, tag) < 0)
        return -1;
    pass_blanks(r);
    struct place at = r->here;
    if (read_value(r, value, &n) < 0)
        return -1;
    pass_blanks(r);
    if (peek(r) != ']')
        return fail(r, r->here, "the ] of the tag %s is missing", tag);
    pass(r);
    if (r->moves || is_known(r, tag)) {
        int stop = end_game(r);
        if (stop)
            return stop;
    }
    if (!r->begun)
        r->first = begin;
    r->begun = true;
    return take_tag(r, at, tag, value, n);
}

/* A move, its number, or the result that ends the game. */
static int
read_word(struct reader *r, int depth) {
    struct place begin = r->here;
    const unsigned char *from = r->at;
    while (r->at < r->end && !is_blank(*r->at) && !strchr("[]{}();", *r->at) && *r->at)
        pass(r);
    if (r->at == from)
        return peek(r) ? fail(r, begin, "nothing is open here that %c could close", peek(r))
                       : fail(r, begin, "a NUL byte: this is no text");
    int result = depth ? -1 : find_result((const char *)from, (size_t)(r->at - from));
    if (!r->begun)
        return fail(r, begin, "a game begins with its tags: [White \"...\"]");
    r->moves = true;
    if (result < 0)
        return 0;
    if (r->has_result && result != (int)r->game.result)
        return fail(r, begin, "the game ends with %s, but its tag Result says %s", results[result],
                    results[r->game.result]);
    r->game.result = (enum pgn_result)result;
    r->has_result = true;
    return end_game(r);
}

static int
read_piece(struct reader *r, struct place open[DEEPEST], int *depth) {
    switch (peek(r)) {
    case ';':
        pass_line(r);
        return 0;
    case '{':
        return pass_comment(r);
    case '(':
        if (*depth == DEEPEST)
            return fail(r, r->here, "more than %d variations within each other", DEEPEST);
        open[(*depth)++] = r->here;
        pass(r);
        return 0;
    case ')':
        if (!*depth)
            return fail(r, r->here, "nothing is open here that ) could close");
        --*depth;
        pass(r);
        return 0;
    case '[':
        if (*depth)
            return fail(r, open[*depth - 1], "this ( is never closed");
        return read_tag(r);
    default:
        return read_word(r, *depth);
    }
}

int64_t
pgn_read(const char *name, const char *text, size_t n,
         int (*each)(void *arg, const struct pgn_game *g), void *arg, struct err *e) {
    struct reader r = {.name = name,
                       .at = (const unsigned char *)text,
                       .end = (const unsigned char *)text + n,
                       .here = {1, 1},
                       .e = e,
                       .game = {.result = PGN_OPEN},
                       .each = each,
                       .arg = arg};
    struct place open[DEEPEST];
    int depth = 0, stop = 0;
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* the mark that some editors begin with */
        r.at += 3;
    for (pass_blanks(&r); r.at < r.end && !stop; pass_blanks(&r))
        stop = read_piece(&r, open, &depth);
    if (!stop && depth)
        stop = fail(&r, open[depth - 1], "this ( is never closed");
    if (!stop)
        stop = end_game(&r);
    return stop < 0 ? -1 : r.games;
}

/* ---- sums ---- */

static uint64_t
pair_hash(const char *white, const char *black) {
    return hash_fnv(white, strlen(white) + 1) * 31 + hash_fnv(black, strlen(black));
}

static void
grow_slots(struct pgn_sums *s) {
    s->slots = s->slots ? s->slots * 2 : 1024;
    free(s->slot);
    s->slot = mem_zero(s->slots, sizeof *s->slot);
    for (size_t i = 0; i < s->pairs; i++) {
        size_t at = pair_hash(s->pair[i].white, s->pair[i].black) & (s->slots - 1);
        while (s->slot[at])
            at = (at + 1) & (s->slots - 1);
        s->slot[at] = (uint32_t)(i + 1);
    }
}

/* NULL: there are too many. */
static struct pgn_pair *
find_pair(struct pgn_sums *s, const char *white, const char *black) {
    if (s->pairs * 2 >= s->slots)
        grow_slots(s);
    size_t at = pair_hash(white, black) & (s->slots - 1);
    for (; s->slot[at]; at = (at + 1) & (s->slots - 1)) {
        struct pgn_pair *p = &s->pair[s->slot[at] - 1];
        if (!strcmp(p->white, white) && !strcmp(p->black, black))
            return p;
    }
    if (s->pairs == PGN_PAIRS_MOST)
        return NULL;
    if (!(s->pairs & (s->pairs - 1)))
        s->pair = mem_grow(s->pair, s->pairs ? 2 * s->pairs : 1, sizeof *s->pair);
    s->pair[s->pairs] = (struct pgn_pair){.white = mem_text(white), .black = mem_text(black)};
    s->slot[at] = (uint32_t)++s->pairs;
    return &s->pair[s->pairs - 1];
}

struct summing {
    struct pgn_sums *sums;
    const char *run, *name;
    struct err *e;
};

static int
add_game(void *arg, const struct pgn_game *g) {
    struct summing *w = arg;
    struct pgn_sums *s = w->sums;
    s->games++;
    bool own = w->run && !strcmp(g->run, w->run);
    s->own += own;
    s->open += !own && g->result == PGN_OPEN;
    if (own || g->result == PGN_OPEN)
        return 0;
    struct pgn_pair *p = find_pair(s, g->white, g->black);
    if (!p)
        return err_set(w->e, "%s: more than %d different pairs of players; split the file", w->name,
                       PGN_PAIRS_MOST);
    p->wins += g->result == PGN_WHITE;
    p->draws += g->result == PGN_DRAW;
    p->losses += g->result == PGN_BLACK;
    return 0;
}

int
pgn_sum(const char *name, const char *text, size_t n, const char *run, struct pgn_sums *out,
        struct err *e) {
    struct summing w = {out, run, name, e};
    *out = (struct pgn_sums){0};
    if (pgn_read(name, text, n, add_game, &w, e) >= 0)
        return 0;
    pgn_sums_free(out);
    return -1;
}

void
pgn_sums_free(struct pgn_sums *s) {
    for (size_t i = 0; i < s->pairs; i++) {
        free(s->pair[i].white);
        free(s->pair[i].black);
    }
    free(s->pair);
    free(s->slot);
    *s = (struct pgn_sums){0};
}
