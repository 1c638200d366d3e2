/* Prompts: a template is cut into pieces once, at start; building a prompt walks the pieces. A
 * piece whose text is empty still leaves its control token, so that a template has one fixed shape.
 * The bytes of a part can never become a control token (policy/token.h). */
#include "policy/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* A part is known by its place in struct prompt_parts and in struct prompt_uses. */
static const struct place {
    const char *name;
    enum token token;
    size_t part, use;
} places[] = {
    {"rules", TOKEN_RULES, offsetof(struct prompt_parts, rules),
     offsetof(struct prompt_uses, rules)},
    {"view", TOKEN_VIEW, offsetof(struct prompt_parts, view), offsetof(struct prompt_uses, view)},
    {"history", TOKEN_NEWS, offsetof(struct prompt_parts, history),
     offsetof(struct prompt_uses, history)},
    {"news", TOKEN_NEWS, offsetof(struct prompt_parts, news), offsetof(struct prompt_uses, news)},
    {"legal", TOKEN_LEGAL, offsetof(struct prompt_parts, legal),
     offsetof(struct prompt_uses, legal)},
    {"seat", TOKEN_TEXT, offsetof(struct prompt_parts, seat), offsetof(struct prompt_uses, seat)},
    {"game", TOKEN_TEXT, offsetof(struct prompt_parts, game), offsetof(struct prompt_uses, game)},
};
#define PLACES (sizeof places / sizeof *places)

struct piece {
    const struct place *place; /* NULL: literal text */
    char *text;                /* of literal text; owned */
    size_t len;
};

struct template {
    struct piece *piece; /* owned */
    size_t n;
};

struct prompt {
    enum prompt_mode mode;
    struct template first, later;
};

static void
template_free(struct template *t) {
    for (size_t i = 0; i < t->n; i++)
        free(t->piece[i].text);
    free(t->piece);
}

static void
add_piece(struct template *t, const struct place *place, const void *text, size_t len) {
    t->piece = mem_grow(t->piece, t->n + 1, sizeof *t->piece);
    t->piece[t->n++] = (struct piece){place, place ? NULL : mem_copy(text, len), len};
}

static void
end_literal(struct template *t, struct buf *literal) {
    if (literal->len)
        add_piece(t, NULL, literal->at, literal->len);
    buf_clear(literal);
}

static const struct place *
find_place(const char *name, size_t n) {
    for (size_t i = 0; i < PLACES; i++)
        if (strlen(places[i].name) == n && memcmp(places[i].name, name, n) == 0)
            return &places[i];
    return NULL;
}

static int
refuse_place(const char *what, const char *name, size_t n, struct err *e) {
    char at[256];
    struct text known;
    text_init(&known, at, sizeof at);
    for (size_t i = 0; i < PLACES; i++)
        text_fmt(&known, "%s{%s}", i ? " " : "", places[i].name);
    return err_set(e, "%s: there is no place {%.*s}; places are %s, and {{ and }} stand for braces",
                   what, n < 40 ? (int)n : 40, name, at);
}

/* Reads one brace: a doubled one, a place, or trouble. Returns the bytes read or -1. */
static int
read_brace(const char *what, const char *s, struct template *t, struct buf *literal,
           struct err *e) {
    if (s[1] == s[0]) {
        buf_add(literal, s, 1);
        return 2;
    }
    const char *end = *s == '{' ? strchr(s, '}') : NULL;
    if (!end)
        return err_set(e, "%s: a lone '%c'; write %c%c for a brace that is text", what, *s, *s, *s);
    size_t n = (size_t)(end - s - 1);
    const struct place *place = find_place(s + 1, n);
    if (!place)
        return refuse_place(what, s + 1, n, e);
    end_literal(t, literal);
    add_piece(t, place, NULL, 0);
    return (int)n + 2;
}

static int
template_compile(struct template *t, const char *what, const char *s, struct err *e) {
    struct buf literal = {0};
    int used = 0;
    for (; *s; s += used) {
        used = 1;
        if (*s == '{' || *s == '}')
            used = read_brace(what, s, t, &literal, e);
        else
            buf_add(&literal, s, 1);
        if (used < 0)
            break;
    }
    end_literal(t, &literal);
    buf_free(&literal);
    return used < 0 ? -1 : 0;
}

struct prompt *
prompt_new(const char *template, const char *follow_up, enum prompt_mode mode, struct err *e) {
    struct prompt *p = mem_zero(1, sizeof *p);
    p->mode = mode;
    if (template_compile(&p->first, "prompt.template", template, e) < 0 ||
        (mode == PROMPT_CONVERSATION &&
         template_compile(&p->later, "prompt.follow_up", follow_up ? follow_up : "", e) < 0)) {
        prompt_free(p);
        return NULL;
    }
    return p;
}

void
prompt_free(struct prompt *p) {
    if (!p)
        return;
    template_free(&p->first);
    template_free(&p->later);
    free(p);
}

enum prompt_mode
prompt_mode(const struct prompt *p) {
    return p->mode;
}

static void
note_uses(const struct template *t, struct prompt_uses *uses) {
    for (size_t i = 0; i < t->n; i++)
        if (t->piece[i].place)
            *(bool *)((char *)uses + t->piece[i].place->use) = true;
}

struct prompt_uses
prompt_uses(const struct prompt *p) {
    struct prompt_uses uses = {0};
    note_uses(&p->first, &uses);
    note_uses(&p->later, &uses);
    return uses;
}

static void
build_piece(const struct piece *piece, const struct prompt_parts *parts, struct tokens *out) {
    if (!piece->place) {
        tokens_add(out, TOKEN_TEXT);
        tokens_text(out, piece->text, piece->len);
        return;
    }
    const char *text;
    memcpy(&text, (const char *)parts + piece->place->part, sizeof text);
    tokens_add(out, piece->place->token);
    if (text)
        tokens_text(out, text, strlen(text));
}

void
prompt_build(const struct prompt *p, int turn, const struct prompt_parts *parts,
             struct tokens *out) {
    bool anew = turn == 0 || p->mode == PROMPT_OBSERVATION;
    const struct template *t = anew ? &p->first : &p->later;
    if (anew)
        tokens_add(out, TOKEN_BOS);
    for (size_t i = 0; i < t->n; i++)
        build_piece(&t->piece[i], parts, out);
    tokens_add(out, TOKEN_REPLY);
}
