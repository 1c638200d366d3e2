/* The option table, the values, and the checks that one value can be given alone. What concerns
 * several options at once (model.heads divides model.dim) is checked by the code that uses them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf-table.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/utf8.h"

static const struct conf_option table[] = {
#define OPT(key, type, def, min, max, choices, fixed, help) \
    {key, CONF_##type, def, min, max, choices, fixed, help},
#include "base/options.def"
#undef OPT
};

const struct conf_option *
conf_option_at(size_t i) {
    return i < CONF_OPTIONS ? &table[i] : NULL;
}

int
conf_find(const char *key) {
    for (int i = 0; i < CONF_OPTIONS; i++)
        if (!strcmp(table[i].key, key))
            return i;
    return -1;
}

bool
conf_is_section(const char *key) {
    size_t n = strlen(key);
    for (int i = 0; i < CONF_OPTIONS; i++)
        if (!strncmp(table[i].key, key, n) && table[i].key[n] == '.')
            return true;
    return false;
}

/* "lr" for "learner.lr": people leave the section out. */
static const char *
last_part(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* Keys and, as people mistype those too, the sections that they are in. */
static void
offer_all(struct near *near) {
    for (int i = 0; i < CONF_OPTIONS; i++) {
        char section[CONF_MAX_KEY];
        snprintf(section, sizeof section, "%s", table[i].key);
        for (char *dot = section; dot; dot = strrchr(section, '.')) {
            if (dot != section)
                *dot = '\0';
            near_offer(near, section);
        }
    }
}

int
conf_unknown(const char *key, struct err *e) {
    char shown[CONF_MAX_KEY];
    struct near near;
    if (conf_is_section(key))
        return err_set(e,
                       "\"%s\" is a section, not an option; write %s.OPTION (`agon options %s` "
                       "lists them)",
                       key, key, key);
    near_init(&near, key);
    unsigned enough = near.cost;
    near.cost = UINT_MAX;
    for (int i = 0; i < CONF_OPTIONS; i++)
        if (!strcmp(last_part(table[i].key), last_part(key)))
            near_offer(&near, table[i].key);
    if (!near.best[0]) {
        near.cost = enough;
        offer_all(&near);
    }
    utf8_show(key, shown, sizeof shown);
    if (near.best[0])
        return err_set(e, "there is no option \"%s\"; did you mean \"%s\"?", shown, near.best);
    return err_set(e, "there is no option \"%s\" (`agon options` lists them all)", shown);
}

/* Digits without leading zeros, with a sign and, when `real`, a fraction and an exponent. Stricter
 * than strtod: no hexadecimal numbers, no infinities, no spaces. Returns the bytes taken, 0 when
 * none. */
static size_t
number_length(const char *s, bool real) {
    const char *at = s + (*s == '-');
    size_t digits = strspn(at, "0123456789");
    if (!digits || (digits > 1 && *at == '0'))
        return 0;
    at += digits;
    if (real && *at == '.') {
        digits = strspn(at + 1, "0123456789");
        if (!digits)
            return 0;
        at += 1 + digits;
    }
    if (real && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        digits = strspn(exponent, "0123456789");
        if (!digits)
            return 0;
        at = exponent + digits;
    }
    return (size_t)(at - s);
}

static bool
read_whole(const char *s, struct conf_value *v) {
    size_t n = number_length(s, false);
    errno = 0;
    v->whole = strtoll(s, NULL, 10);
    v->real = (double)v->whole;
    return n && !s[n] && !errno;
}

static bool
read_real(const char *s, struct conf_value *v) {
    size_t n = number_length(s, true);
    v->real = strtod(s, NULL);
    return n && !s[n]; /* 1e999 is out of every range */
}

bool
conf_number(const char *text, double *out) {
    struct conf_value v;
    bool good = read_real(text, &v);
    *out = v.real;
    return good;
}

static bool
read_time(const char *s, struct conf_value *v) {
    static const struct {
        const char *unit;
        double times, divided;
    } units[] = {{"ms", 1, 1000}, {"s", 1, 1}, {"m", 60, 1}, {"h", 3600, 1}};
    size_t n = number_length(s, true);
    for (size_t i = 0; n && i < sizeof units / sizeof *units; i++)
        if (!strcmp(s + n, units[i].unit)) {
            v->real = strtod(s, NULL) * units[i].times / units[i].divided;
            return true;
        }
    return false;
}

static bool
read_bool(const char *s, struct conf_value *v) {
    v->whole = !strcmp(s, "true");
    return v->whole || !strcmp(s, "false");
}

static bool
is_choice(const char *choices, const char *s) {
    size_t n = strlen(s);
    for (const char *at = choices, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "|");
        if ((size_t)(end - at) == n && !memcmp(at, s, n))
            return true;
    }
    return false;
}

/* Line breaks and tabs are text; other control characters would reach terminals and prompts
 * unseen. */
static bool
is_text(const char *s) {
    size_t n = strlen(s), len;
    uint32_t c = 0;
    for (; (len = utf8_char(s, n, &c)); s += len, n -= len)
        if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
            return false;
    return n == 0;
}

void
conf_describe(const struct conf_option *o, struct buf *out) {
    switch (o->type) {
    case CONF_INT:
        buf_fmt(out, "a whole number from %.0f to %.0f", o->min, o->max);
        break;
    case CONF_REAL:
        buf_fmt(out, "a number from %.15g to %.15g", o->min, o->max);
        break;
    case CONF_BOOL:
        buf_put(out, "true or false");
        break;
    case CONF_TIME:
        buf_fmt(out, "a time from %.15gs to %.15gs with its unit, such as 250ms, 90s, 5m or 1h",
                o->min, o->max);
        break;
    case CONF_TEXT:
        buf_fmt(out, "UTF-8 text of at most %d bytes without control characters", CONF_MAX_TEXT);
        break;
    case CONF_CHOICE:
        for (const char *at = o->choices, *end; *at; at = *end ? end + 1 : end) {
            end = at + strcspn(at, "|");
            buf_put(out, at == o->choices ? "" : *end ? ", " : " or ");
            buf_add(out, at, (size_t)(end - at));
        }
        break;
    case CONF_GAMES:
        buf_fmt(out,
                "a list of at most %d maps {name: GAME, weight: NUMBER}, or a text such as "
                "kuhn_poker:2,tic_tac_toe:1",
                CONF_MAX_GAMES);
        break;
    }
}

static void
offer_choices(struct near *near, const char *choices) {
    for (const char *at = choices, *end; *at; at = *end ? end + 1 : end) {
        char one[NEAR_MAX + 1];
        end = at + strcspn(at, "|");
        snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
        near_offer(near, one);
    }
}

static int
refuse(const struct conf_option *o, const char *text, bool quoted, struct err *e) {
    char shown[64];
    struct buf must = {0};
    struct near near;
    conf_describe(o, &must);
    if (quoted && (o->type == CONF_INT || o->type == CONF_REAL || o->type == CONF_BOOL))
        buf_put(&must, ", without quotes");
    near_init(&near, text);
    if (o->type == CONF_CHOICE)
        offer_choices(&near, o->choices);
    if (near.best[0])
        buf_fmt(&must, "; did you mean \"%s\"?", near.best);
    err_set(e, "%s is \"%s\"; it must be %s", o->key, utf8_show(text, shown, sizeof shown),
            buf_text(&must));
    buf_free(&must);
    return -1;
}

static bool
read_value(const struct conf_option *o, const char *text, bool quoted, struct conf_value *v) {
    switch (o->type) {
    case CONF_INT:
        return !quoted && read_whole(text, v) && v->real >= o->min && v->real <= o->max;
    case CONF_REAL:
        return !quoted && read_real(text, v) && v->real >= o->min && v->real <= o->max;
    case CONF_BOOL:
        return !quoted && read_bool(text, v);
    case CONF_TIME:
        return read_time(text, v) && v->real >= o->min && v->real <= o->max;
    case CONF_CHOICE:
        return is_choice(o->choices, text);
    case CONF_TEXT:
        return strlen(text) <= CONF_MAX_TEXT && is_text(text);
    case CONF_GAMES:
        break; /* assign_games() */
    }
    return false;
}

static void
replace(struct conf *c, int i, struct conf_value v, const char *place) {
    struct conf_value *old = &c->value[i];
    v.place = place ? mem_text(place) : NULL;
    free(old->text);
    free(old->place);
    *old = v;
}

/* `game` names one game and `games` several: what is set last counts. `game` is then the first of
 * them, and a list of one is no list. */
static int
assign_games(struct conf *c, int i, const char *text, const char *place, struct err *e) {
    struct conf_game_list l;
    struct buf list = {0};
    if (!is_text(text))
        return refuse(&table[i], text, false, e);
    if (conf_games_parse(&l, text, e) < 0)
        return -1;
    if (l.n)
        replace(c, conf_find("game"), (struct conf_value){.text = mem_text(l.at[0].name)}, place);
    if (l.n > 1)
        conf_games_put(&l, &list);
    replace(c, i, (struct conf_value){.text = mem_text(buf_text(&list))}, place);
    buf_free(&list);
    return 0;
}

int
conf_assign(struct conf *c, int i, const char *text, bool quoted, const char *place,
            struct err *e) {
    const struct conf_option *o = &table[i];
    struct conf_value v = {0};
    if (o->type == CONF_GAMES)
        return assign_games(c, i, text, place, e);
    if (!read_value(o, text, quoted, &v))
        return refuse(o, text, quoted, e);
    if (o->type == CONF_TEXT || o->type == CONF_CHOICE)
        v.text = mem_text(text);
    replace(c, i, v, place);
    if (!strcmp(o->key, "game"))
        replace(c, conf_find("games"), (struct conf_value){.text = mem_text("")}, NULL);
    return 0;
}

struct conf *
conf_new(void) {
    struct conf *c = mem_zero(1, sizeof *c);
    struct err e;
    for (int i = 0; i < CONF_OPTIONS; i++)
        if (conf_assign(c, i, table[i].def, false, NULL, &e) < 0)
            panic("base/options.def: bad default: %s", e.text);
    return c;
}

void
conf_free(struct conf *c) {
    if (!c)
        return;
    for (int i = 0; i < CONF_OPTIONS; i++) {
        free(c->value[i].text);
        free(c->value[i].place);
    }
    free(c);
}

int
conf_set(struct conf *c, const char *assignment, struct err *e) {
    const char *equals = strchr(assignment, '=');
    char key[CONF_MAX_KEY], shown[64];
    if (!equals || equals == assignment)
        return err_set(e, "--set %s: write it as KEY=VALUE, such as learner.lr=1e-3",
                       utf8_show(assignment, shown, sizeof shown));
    snprintf(key, sizeof key, "%.*s", (int)(equals - assignment), assignment);
    int i = conf_find(key);
    int bad = i < 0 ? conf_unknown(key, e) : conf_assign(c, i, equals + 1, false, "--set", e);
    return bad ? err_prefix(e, "--set") : 0;
}

static const struct conf_value *
get(const struct conf *c, const char *key, unsigned types) {
    int i = conf_find(key);
    if (i < 0 || !(types >> table[i].type & 1))
        panic("base/options.def has no option \"%s\" of this type", key);
    return &c->value[i];
}

int64_t
conf_int(const struct conf *c, const char *key) {
    return get(c, key, 1u << CONF_INT)->whole;
}

double
conf_real(const struct conf *c, const char *key) {
    return get(c, key, 1u << CONF_REAL | 1u << CONF_TIME | 1u << CONF_INT)->real;
}

bool
conf_bool(const struct conf *c, const char *key) {
    return get(c, key, 1u << CONF_BOOL)->whole;
}

const char *
conf_text(const struct conf *c, const char *key) {
    return get(c, key, 1u << CONF_TEXT | 1u << CONF_CHOICE | 1u << CONF_GAMES)->text;
}

const char *
conf_place(const struct conf *c, const char *key) {
    const char *place = get(c, key, ~0u)->place;
    return place ? place : "default";
}

const struct conf_option *
conf_conflict(const struct conf *a, const struct conf *b) {
    for (int i = 0; i < CONF_OPTIONS; i++) {
        const struct conf_value *x = &a->value[i], *y = &b->value[i];
        bool same =
            x->text ? !strcmp(x->text, y->text) : x->whole == y->whole && x->real == y->real;
        if (table[i].fixed && !same)
            return &table[i];
    }
    return NULL;
}
