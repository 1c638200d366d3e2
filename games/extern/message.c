/* Everything that comes from a program is bounded and typed here: line length by the process,
 * depth by the JSON reader, texts by the buffers of games/game.h, numbers by their ranges. */
#include "games/extern/message.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "games/extern/scan.h"

/* ---- reading ---- */

static json_t *
read_object(const char *line, size_t n, struct err *e) {
    json_error_t why;
    json_t *json = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
    if (!json) {
        char shown[120], start[60];
        size_t k = n < sizeof start - 1 ? n : sizeof start - 1;
        for (size_t i = 0; i < k; i++)
            start[i] = line[i] ? line[i] : '?';
        start[k] = '\0';
        err_set(e, "the program's line is no JSON: %s", utf8_show(start, shown, sizeof shown));
        return NULL;
    }
    if (!json_is_object(json)) {
        json_decref(json);
        err_set(e, "the program's line is no JSON object");
        return NULL;
    }
    return json;
}

/* Line ends and printable characters only: what is shown to players and to people's terminals. */
static bool
is_plain(const char *s, bool lines) {
    for (const unsigned char *c = (const unsigned char *)s; *c; c++)
        if ((*c < ' ' && !(lines && *c == '\n')) || *c == 0x7f)
            return false;
    return true;
}

/* A text of 1 to cap - 1 bytes; NULL with e otherwise. */
static const char *
get_text(const json_t *o, const char *key, size_t cap, struct err *e) {
    const char *s = json_string_value(json_object_get(o, key));
    if (!s || !*s || strlen(s) >= cap || !is_plain(s, cap == GAME_TEXT)) {
        err_set(e, "\"%s\" must be a text of 1 to %zu bytes without control characters", key,
                cap - 1);
        return NULL;
    }
    return s;
}

static int
get_int(const json_t *o, const char *key, long long min, long long max, int *out, struct err *e) {
    const json_t *v = json_object_get(o, key);
    long long n = json_is_integer(v) ? json_integer_value(v) : min - 1;
    if (n < min || n > max)
        return err_set(e, "\"%s\" must be a whole number from %lld to %lld", key, min, max);
    *out = (int)n;
    return 0;
}

/* Optional; `def` when it is not there. */
static int
get_bool(const json_t *o, const char *key, bool def, bool *out, struct err *e) {
    const json_t *v = json_object_get(o, key);
    *out = v ? json_is_true(v) : def;
    return v && !json_is_boolean(v) ? err_set(e, "\"%s\" must be true or false", key) : 0;
}

/* ---- hello ---- */

static bool
is_name(const char *s) {
    if (!s || s[0] < 'a' || s[0] > 'z' || strlen(s) >= MESSAGE_NAME)
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

/* Is `def` written as game_spec_parse() will read it without a complaint? */
static bool
is_default(const struct game_param *p) {
    const char *at = p->def;
    if (p->type == PARAM_BOOL)
        return strcmp(at, "true") == 0 || strcmp(at, "false") == 0;
    for (int i = 0; i < (p->type == PARAM_LIST ? GAME_MAX_LIST : 1); i++) {
        char *end;
        if (*at != '-' && (*at < '0' || *at > '9'))
            return false;
        long v = strtol(at, &end, 10);
        if (end == at || end - at > 11 || v < p->min || v > p->max)
            return false;
        if (!*end)
            return true;
        if (*end != '-')
            return false;
        at = end + 1;
    }
    return false;
}

static int
check_param(const json_t *o, struct game_param *p, struct err *e) {
    static const char *const types[] = {"int", "list", "bool"};
    const char *type = json_string_value(json_object_get(o, "type"));
    p->name = json_string_value(json_object_get(o, "name"));
    p->help = get_text(o, "help", 200, e);
    p->def = get_text(o, "default", 100, e);
    if (!is_name(p->name))
        return err_set(e, "a parameter's \"name\" must be small letters, digits and _, up to %d",
                       MESSAGE_NAME - 1);
    if (!p->help || !p->def)
        return err_prefix(e, "parameter %s", p->name);
    size_t t = 0;
    while (t < 3 && (!type || strcmp(type, types[t]) != 0))
        t++;
    if (t == 3)
        return err_set(e, "parameter %s: \"type\" must be int, list or bool", p->name);
    p->type = (enum game_param_type)t;
    p->min = 0;
    p->max = 1;
    if (p->type != PARAM_BOOL && (get_int(o, "min", -1000000000, 1000000000, &p->min, e) < 0 ||
                                  get_int(o, "max", p->min, 1000000000, &p->max, e) < 0))
        return err_prefix(e, "parameter %s", p->name);
    if (!is_default(p))
        return err_set(e,
                       "parameter %s: \"default\" must be a text in its range, like \"3\", "
                       "\"3-4-5\" or \"true\"",
                       p->name);
    return 0;
}

static int
check_params(const json_t *json, struct hello *h, struct err *e) {
    const json_t *list = json_object_get(json, "params");
    if (!list)
        return 0;
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > GAME_MAX_PARAMS)
        return err_set(e, "\"params\" must be a list of up to %d objects", GAME_MAX_PARAMS);
    for (size_t i = 0; i < n; i++) {
        if (check_param(json_array_get(list, i), &h->param[i], e) < 0)
            return -1;
        for (size_t j = 0; j < i; j++)
            if (strcmp(h->param[i].name, h->param[j].name) == 0)
                return err_set(e, "parameter %s is there twice", h->param[i].name);
    }
    return 0;
}

/* Two texts, one for each seat; `needed`: both must be there and say something. */
static int
get_pair(const json_t *o, const char *key, bool needed, const char *out[2], struct err *e) {
    const json_t *list = json_object_get(o, key);
    if (!list && !needed)
        return 0;
    if (!json_is_array(list) || json_array_size(list) != 2)
        return err_set(e, "\"%s\" must be a list of two texts, one for each seat", key);
    for (size_t i = 0; i < 2; i++) {
        out[i] = json_string_value(json_array_get(list, i));
        if (!out[i] || strlen(out[i]) >= GAME_TEXT || !is_plain(out[i], true) ||
            (needed && !*out[i]))
            return err_set(e, "\"%s\" must be texts of up to %d bytes without control characters",
                           key, GAME_TEXT - 1);
    }
    return 0;
}

static int
check_facts(const json_t *json, struct hello *h, struct err *e) {
    bool perfect, chance;
    h->version = h->sessions = h->ahead = 1;
    const json_t *unit = json_object_get(json, "unit");
    h->unit = unit ? json_number_value(unit) : 1;
    if (!(h->unit > 0 && h->unit <= 1e9))
        return err_set(e, "\"unit\" must be a number above 0");
    if ((json_object_get(json, "version") &&
         get_int(json, "version", 1, 1000000, &h->version, e) < 0) ||
        (json_object_get(json, "sessions") &&
         get_int(json, "sessions", 1, MESSAGE_MAX_SESSIONS, &h->sessions, e) < 0) ||
        (json_object_get(json, "ahead") &&
         get_int(json, "ahead", 1, MESSAGE_MAX_AHEAD, &h->ahead, e) < 0) ||
        get_int(json, "max_plies", 1, MESSAGE_MAX_PLIES, &h->max_plies, e) < 0 ||
        get_bool(json, "perfect_info", false, &perfect, e) < 0 ||
        get_bool(json, "chance", true, &chance, e) < 0 ||
        get_bool(json, "open", false, &h->open, e) < 0 ||
        get_bool(json, "copies", false, &h->copies, e) < 0)
        return -1;
    h->flags = (perfect ? GAME_PERFECT_INFO : 0u) | (chance ? 0u : GAME_NO_CHANCE);
    return 0;
}

int
hello_check(const json_t *json, struct hello *h, struct err *e) {
    int protocol = 0;
    *h = (struct hello){0};
    const char *type = json_string_value(json_object_get(json, "type"));
    const char *name = json_string_value(json_object_get(json, "name"));
    if (!type || strcmp(type, "hello") != 0)
        return err_set(e, "the program did not answer hello with hello");
    if (get_int(json, "protocol", 0, 1000000, &protocol, e) < 0)
        return -1;
    if (protocol != MESSAGE_PROTOCOL)
        return err_set(e, "the program speaks version %d of the protocol, Agon version %d",
                       protocol, MESSAGE_PROTOCOL);
    if (!is_name(name))
        return err_set(e,
                       "\"name\" must begin with a letter and be small letters, digits and _, "
                       "up to %d",
                       MESSAGE_NAME - 1);
    const char *title = get_text(json, "title", sizeof h->title, e);
    if (!title || check_facts(json, h, e) < 0 || check_params(json, h, e) < 0 ||
        get_pair(json, "rules", true, h->rules, e) < 0)
        return -1;
    snprintf(h->name, sizeof h->name, "%s", name);
    snprintf(h->title, sizeof h->title, "%s", title);
    return 0;
}

int
hello_read(const char *line, size_t n, struct hello *h, struct err *e) {
    json_t *json = read_object(line, n, e);
    if (!json)
        return -1;
    if (hello_check(json, h, e) < 0) {
        json_decref(json);
        return -1;
    }
    h->json = json;
    return 0;
}

void
hello_free(struct hello *h) {
    if (h->json)
        json_decref(h->json);
    *h = (struct hello){0};
}

/* ---- requests ---- */

void
hello_request(struct buf *out) {
    buf_fmt(out, "{\"type\":\"hello\",\"protocol\":%d}\n", MESSAGE_PROTOCOL);
}

void
bye_request(struct buf *out) {
    buf_put(out, "{\"type\":\"bye\"}\n");
}

static void
put_args(struct buf *out, const struct hello *h, const struct game_args *args) {
    buf_put(out, "{");
    for (int i = 0; h->param[i].name; i++) {
        const struct game_param *p = &h->param[i];
        buf_fmt(out, "%s\"%s\":", i ? "," : "", p->name);
        if (p->type == PARAM_BOOL)
            buf_put(out, args->value[i][0] ? "true" : "false");
        else if (p->type == PARAM_INT)
            buf_fmt(out, "%d", args->value[i][0]);
        for (int j = 0; p->type == PARAM_LIST && j < args->count[i]; j++)
            buf_fmt(out, "%c%d", j ? ',' : '[', args->value[i][j]);
        if (p->type == PARAM_LIST)
            buf_put(out, args->count[i] ? "]" : "[]");
    }
    buf_put(out, "}");
}

/* The text is UTF-8 (game_parse's caller saw to it, or it is refused before). */
static void
put_string(struct buf *out, const char *s, size_t n) {
    buf_put(out, "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            buf_fmt(out, "\\%c", c);
        else if (c < ' ')
            buf_fmt(out, "\\u%04x", c);
        else
            buf_u8(out, c);
    }
    buf_put(out, "\"");
}

void
new_request(struct buf *out, int id, int to, const struct hello *h, const struct game_args *args) {
    buf_fmt(out, "{\"type\":\"new\",\"id\":%d,\"to\":%d,\"args\":", id, to);
    put_args(out, h, args);
    buf_put(out, ",\"actions\":[");
}

static void
put_comma(struct buf *out) {
    if (out->at[out->len - 1] != '[')
        buf_u8(out, ',');
}

void
new_action(struct buf *out, int action) {
    put_comma(out);
    buf_fmt(out, "%d", action);
}

void
new_text(struct buf *out, const char *text, size_t n) {
    put_comma(out);
    put_string(out, text, n);
}

void
new_end(struct buf *out) {
    buf_put(out, "]}\n");
}

void
act_request(struct buf *out, int id, int from, int to, int action, const char *text, size_t n) {
    buf_fmt(out, "{\"type\":\"act\",\"id\":%d,\"from\":%d,\"to\":%d,", id, from, to);
    if (text) {
        buf_put(out, "\"text\":");
        put_string(out, text, n);
        buf_put(out, "}\n");
    } else {
        buf_fmt(out, "\"action\":%d}\n", action);
    }
}

/* ---- scenes ---- */

struct choice {
    int action;
    double probability;
    const char *word;
};

/* What an answer may hold; a bit each, so that none comes twice. */
enum field {
    F_TYPE,
    F_ID,
    F_MOVER,
    F_LEGAL,
    F_OUTCOMES,
    F_RESULT,
    F_VIEWS,
    F_TOLD,
    F_RULES,
    F_OPEN,
    F_TEXT,
    FIELDS
};

static const char *const field_name[FIELDS] = {
    "type", "id", "mover", "legal", "outcomes", "result", "views", "told", "rules", "open", "text"};

/* An answer while it is read; texts point into the scan's room. */
struct parts {
    struct scene s;
    unsigned seen;
    const char *type, *complaint;
    long long id;
    bool has_mover;
    struct choice *choice; /* [GAME_MAX_ACTIONS] */
    char why[300];         /* the first thing that is wrong */
};

static void wrong(struct parts *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
wrong(struct parts *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (!p->why[0])
        vsnprintf(p->why, sizeof p->why, fmt, ap);
    va_end(ap);
}

static bool
has(const struct parts *p, enum field f) {
    return p->seen >> f & 1;
}

static int
by_action(const void *a, const void *b) {
    int x = ((const struct choice *)a)->action, y = ((const struct choice *)b)->action;
    return (x > y) - (x < y);
}

/* A row is [action, "word"], or [action, probability, "word"] of an outcome. */
static void
read_choice(struct scan *s, bool chance, struct choice *c, struct parts *p) {
    scan_expect(s, '[');
    struct scan_number action = scan_number(s);
    scan_expect(s, ',');
    double probability = 0;
    if (chance) {
        probability = scan_number(s).real;
        scan_expect(s, ',');
    }
    *c = (struct choice){.probability = probability, .word = scan_string(s)};
    scan_expect(s, ']');
    if (s->bad) {
        wrong(p, chance ? "an outcome must be [action, probability, \"name\"]"
                        : "a legal action must be [action, \"word\"]");
        return;
    }
    if (!action.whole || action.value < 0 || action.value > MESSAGE_MAX_ACTION)
        wrong(p, "an action must be a whole number from 0 to %d", MESSAGE_MAX_ACTION);
    else
        c->action = (int)action.value;
    if (!*c->word || strlen(c->word) >= GAME_WORD || !is_plain(c->word, false))
        wrong(p, "the word of action %d must be a text of 1 to %d bytes", c->action, GAME_WORD - 1);
    if (chance && !(probability > 0 && probability <= 1 + 1e-9))
        wrong(p, "the probability of outcome %d must be a number above 0, up to 1", c->action);
}

static void
read_choices(struct scan *s, bool chance, struct parts *p) {
    const char *name = field_name[chance ? F_OUTCOMES : F_LEGAL];
    bool sorted = true;
    int n = 0;
    scan_expect(s, '[');
    for (bool first = true; scan_more(s, &first, ']'); n++) {
        if (n == GAME_MAX_ACTIONS) {
            wrong(p, "\"%s\" must be a list of 1 to %d entries", name, GAME_MAX_ACTIONS);
            return;
        }
        read_choice(s, chance, &p->choice[n], p);
        sorted = sorted && (!n || p->choice[n].action > p->choice[n - 1].action);
    }
    if (n == 0)
        wrong(p, "\"%s\" must be a list of 1 to %d entries", name, GAME_MAX_ACTIONS);
    if (!sorted)
        qsort(p->choice, (size_t)n, sizeof *p->choice, by_action);
    for (int i = 1; !sorted && i < n; i++)
        if (p->choice[i].action == p->choice[i - 1].action)
            wrong(p, "action %d is in \"%s\" twice", p->choice[i].action, name);
    p->s.count = n;
}

static void
read_pair(struct scan *s, enum field f, const char *out[2], struct parts *p) {
    scan_expect(s, '[');
    out[0] = scan_string(s);
    scan_expect(s, ',');
    out[1] = scan_string(s);
    scan_expect(s, ']');
    if (s->bad)
        wrong(p, "\"%s\" must be a list of two texts, one for each seat", field_name[f]);
    for (int i = 0; i < 2; i++)
        if (strlen(out[i]) >= GAME_TEXT || !is_plain(out[i], true))
            wrong(p, "\"%s\" must be texts of up to %d bytes without control characters",
                  field_name[f], GAME_TEXT - 1);
}

static void
read_mover(struct scan *s, struct parts *p) {
    p->has_mover = true;
    if (scan_peek(s) == '"') {
        const char *word = scan_string(s);
        if (strcmp(word, "chance") == 0)
            p->s.mover = GAME_CHANCE;
        else if (strcmp(word, "over") == 0)
            p->s.mover = GAME_OVER;
        else
            p->has_mover = false;
        return;
    }
    struct scan_number n = scan_number(s);
    p->s.mover = n.value == 1 ? GAME_SEAT_1 : GAME_SEAT_0;
    p->has_mover = n.whole && (n.value == 0 || n.value == 1);
}

static void
read_field(struct scan *s, enum field f, struct parts *p) {
    struct scan_number n;
    switch (f) {
    case F_TYPE:
        p->type = scan_string(s);
        break;
    case F_TEXT:
        p->complaint = scan_string(s);
        break;
    case F_ID:
        if (scan_peek(s) == 'n') { /* null, in a complaint about something that had none */
            scan_skip(s);
            break;
        }
        n = scan_number(s);
        p->id = n.whole ? n.value : -1;
        break;
    case F_RESULT:
        p->s.result = scan_number(s).real;
        break;
    case F_OPEN:
        p->s.open = scan_bool(s);
        break;
    case F_MOVER:
        read_mover(s, p);
        break;
    case F_LEGAL:
    case F_OUTCOMES:
        if (has(p, F_LEGAL) && has(p, F_OUTCOMES))
            wrong(p, "\"legal\" and \"outcomes\" cannot both be there");
        read_choices(s, f == F_OUTCOMES, p);
        break;
    case F_VIEWS:
        read_pair(s, f, p->s.view, p);
        break;
    case F_TOLD:
        read_pair(s, f, p->s.told, p);
        break;
    case F_RULES:
        read_pair(s, f, p->s.rules, p);
        break;
    case FIELDS:
        scan_skip(s); /* of a later version, or of the program's own */
    }
}

static void
read_fields(struct scan *s, struct parts *p) {
    scan_expect(s, '{');
    for (bool first = true; scan_more(s, &first, '}');) {
        const char *key = scan_string(s);
        int f = 0;
        scan_expect(s, ':');
        while (f < FIELDS && strcmp(key, field_name[f]) != 0)
            f++;
        if (f < FIELDS && has(p, (enum field)f))
            wrong(p, "\"%s\" is there twice", field_name[f]);
        p->seen |= 1u << f;
        read_field(s, (enum field)f, p);
        if (s->bad)
            wrong(p,
                  f < FIELDS ? "\"%s\" is not what it must be, or no JSON"
                             : "the program's line is no JSON%s",
                  f < FIELDS ? field_name[f] : "");
        if (p->why[0])
            return;
    }
    if (scan_peek(s) || s->at != s->end)
        wrong(p, "the program's line is no JSON object, or goes on behind it");
    if (s->bad)
        wrong(p, "the program's line is no JSON object");
}

/* ---- what must be there, and fit together ---- */

/* Probabilities may come rounded: their sum is made 1. */
static void
settle_chance(struct parts *p) {
    double sum = 0;
    for (int i = 0; i < p->s.count; i++)
        sum += p->choice[i].probability;
    if (!(fabs(sum - 1) < 1e-6))
        wrong(p, "the probabilities of the outcomes sum to %.9g, not to 1", sum);
    for (int i = 0; i < p->s.count; i++)
        p->choice[i].probability /= sum;
}

static void
check_state(struct parts *p, const struct hello *h) {
    bool chance = !(h->flags & GAME_NO_CHANCE);
    if (!p->has_mover || (p->s.mover == GAME_CHANCE && !chance))
        wrong(p, "\"mover\" must be 0, 1%s or \"over\"%s", chance ? ", \"chance\"" : "",
              chance ? "" : " (the program said that it has no chance)");
    if (p->s.open && !h->open)
        wrong(p, "\"open\" is for programs that said \"open\" in their hello");
    switch (p->s.mover) {
    case GAME_OVER:
        p->s.count = 0;
        if (!has(p, F_RESULT) || !(p->s.result >= -1 && p->s.result <= 1))
            wrong(p, "\"result\" must be a number from -1 to 1: what seat 0 gets");
        break;
    case GAME_CHANCE:
        if (!has(p, F_OUTCOMES))
            wrong(p, "\"outcomes\" must be there when chance is to move");
        else
            settle_chance(p);
        break;
    default:
        if (!has(p, F_LEGAL))
            wrong(p, "\"legal\" must be there when a seat is to move");
        if (!p->s.view[p->s.mover] || !*p->s.view[p->s.mover])
            wrong(p, "\"views\" must tell the seat to move something");
    }
}

static void
check_answer(struct parts *p, int id, const struct hello *h) {
    if (p->type && strcmp(p->type, "error") == 0) {
        char shown[250];
        wrong(p, "the program says: %s",
              utf8_show(p->complaint ? p->complaint : "(nothing)", shown, sizeof shown));
    }
    if (!has(p, F_ID) || p->id != id)
        wrong(p, "the program answered another question than number %d", id);
    if (p->type && strcmp(p->type, "refused") == 0 && h->open) {
        p->s = (struct scene){.refused = true, .mover = GAME_OVER};
        return;
    }
    if (!p->type || strcmp(p->type, "state") != 0)
        wrong(p, "\"type\" must be \"state\"%s", h->open ? " or \"refused\"" : "");
    check_state(p, h);
}

/* ---- one block ---- */

static size_t
text_bytes(const struct parts *p) {
    size_t sum = 0;
    for (int i = 0; i < p->s.count; i++)
        sum += strlen(p->choice[i].word) + 1;
    for (int i = 0; i < 2; i++) {
        const char *all[] = {p->s.view[i], p->s.told[i], p->s.rules[i]};
        for (int j = 0; j < 3; j++)
            sum += all[j] ? strlen(all[j]) + 1 : 0;
    }
    return sum;
}

static const char *
keep(char **at, const char *s, bool trim) {
    size_t n = strlen(s);
    while (trim && n && s[n - 1] == '\n')
        n--;
    char *to = *at;
    memcpy(to, s, n);
    to[n] = '\0';
    *at += n + 1;
    return to;
}

static struct scene *
assemble(const struct parts *p) {
    size_t n = (size_t)p->s.count;
    size_t bytes =
        sizeof p->s + n * (sizeof(double) + sizeof(char *) + sizeof(int)) + text_bytes(p);
    struct scene *s = mem_alloc(bytes);
    *s = p->s;
    s->bytes = bytes;
    s->probability = (double *)(s + 1);
    s->word = (const char **)(s->probability + n);
    s->action = (int *)(s->word + n);
    char *at = (char *)(s->action + n);
    for (size_t i = 0; i < n; i++) {
        s->probability[i] = p->choice[i].probability;
        s->action[i] = p->choice[i].action;
        s->word[i] = keep(&at, p->choice[i].word, false);
    }
    for (int i = 0; i < 2; i++) {
        s->view[i] = p->s.view[i] ? keep(&at, p->s.view[i], true) : NULL;
        s->told[i] = p->s.told[i] ? keep(&at, p->s.told[i], true) : NULL;
        s->rules[i] = p->s.rules[i] ? keep(&at, p->s.rules[i], true) : NULL;
    }
    return s;
}

struct scene *
scene_read(const char *line, size_t n, int id, const struct hello *h, struct err *e) {
    struct choice choice[GAME_MAX_ACTIONS];
    struct parts p = {.choice = choice};
    struct scan s;
    char small[4096], *room = n < sizeof small ? small : mem_alloc(n + 1);
    struct scene *out = NULL;
    scan_init(&s, line, n, room);
    read_fields(&s, &p);
    if (!p.why[0])
        check_answer(&p, id, h);
    if (p.why[0])
        err_set(e, "%s", p.why);
    else
        out = assemble(&p);
    if (room != small)
        free(room);
    return out;
}
