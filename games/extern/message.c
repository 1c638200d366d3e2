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
    h->version = h->sessions = 1;
    const json_t *unit = json_object_get(json, "unit");
    h->unit = unit ? json_number_value(unit) : 1;
    if (!(h->unit > 0 && h->unit <= 1e9))
        return err_set(e, "\"unit\" must be a number above 0");
    if ((json_object_get(json, "version") &&
         get_int(json, "version", 1, 1000000, &h->version, e) < 0) ||
        (json_object_get(json, "sessions") &&
         get_int(json, "sessions", 1, MESSAGE_MAX_SESSIONS, &h->sessions, e) < 0) ||
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

/* What an answer holds before it is put into one block. */
struct parts {
    struct scene s;
    struct choice *choice; /* owned; [s.count] */
    size_t text;           /* bytes of all texts with their NULs */
};

static int
by_action(const void *a, const void *b) {
    int x = ((const struct choice *)a)->action, y = ((const struct choice *)b)->action;
    return (x > y) - (x < y);
}

/* A row is [action, "word"], or [action, probability, "word"] of an outcome. */
static int
read_choice(const json_t *row, bool chance, struct choice *c, struct err *e) {
    const json_t *action = json_array_get(row, 0);
    const json_t *word = json_array_get(row, chance ? 2 : 1);
    if (json_array_size(row) != (chance ? 3u : 2u))
        return err_set(e, chance ? "an outcome must be [action, probability, \"name\"]"
                                 : "a legal action must be [action, \"word\"]");
    if (!json_is_integer(action) || json_integer_value(action) < 0 ||
        json_integer_value(action) > MESSAGE_MAX_ACTION)
        return err_set(e, "an action must be a whole number from 0 to %d", MESSAGE_MAX_ACTION);
    c->action = (int)json_integer_value(action);
    c->word = json_string_value(word);
    if (!c->word || !*c->word || strlen(c->word) >= GAME_WORD || !is_plain(c->word, false))
        return err_set(e, "the word of action %d must be a text of 1 to %d bytes", c->action,
                       GAME_WORD - 1);
    c->probability = chance ? json_number_value(json_array_get(row, 1)) : 0;
    if (chance && !(c->probability > 0 && c->probability <= 1 + 1e-9))
        return err_set(e, "the probability of outcome %d must be a number above 0, up to 1",
                       c->action);
    return 0;
}

/* Probabilities may come rounded: their sum is made 1. */
static int
settle_chance(struct parts *p, struct err *e) {
    double sum = 0;
    for (int i = 0; i < p->s.count; i++)
        sum += p->choice[i].probability;
    if (!(fabs(sum - 1) < 1e-6))
        return err_set(e, "the probabilities of the outcomes sum to %.9g, not to 1", sum);
    for (int i = 0; i < p->s.count; i++)
        p->choice[i].probability /= sum;
    return 0;
}

static int
read_choices(const json_t *o, struct parts *p, struct err *e) {
    bool chance = p->s.mover == GAME_CHANCE;
    const char *key = chance ? "outcomes" : "legal";
    const json_t *list = json_object_get(o, key);
    size_t n = json_array_size(list);
    if (n < 1 || n > GAME_MAX_ACTIONS)
        return err_set(e, "\"%s\" must be a list of 1 to %d entries", key, GAME_MAX_ACTIONS);
    p->choice = mem_zero(n, sizeof *p->choice);
    p->s.count = (int)n;
    for (size_t i = 0; i < n; i++) {
        if (read_choice(json_array_get(list, i), chance, &p->choice[i], e) < 0)
            return -1;
        p->text += strlen(p->choice[i].word) + 1;
    }
    qsort(p->choice, n, sizeof *p->choice, by_action);
    for (size_t i = 1; i < n; i++)
        if (p->choice[i].action == p->choice[i - 1].action)
            return err_set(e, "action %d is in \"%s\" twice", p->choice[i].action, key);
    return chance ? settle_chance(p, e) : 0;
}

static int
read_mover(const json_t *o, const struct hello *h, struct parts *p, struct err *e) {
    const json_t *v = json_object_get(o, "mover");
    const char *word = json_string_value(v);
    const json_t *result = json_object_get(o, "result");
    if (json_is_integer(v) && (json_integer_value(v) == 0 || json_integer_value(v) == 1))
        p->s.mover = (int)json_integer_value(v);
    else if (word && strcmp(word, "chance") == 0 && !(h->flags & GAME_NO_CHANCE))
        p->s.mover = GAME_CHANCE;
    else if (word && strcmp(word, "over") == 0)
        p->s.mover = GAME_OVER;
    else
        return err_set(e, "\"mover\" must be 0, 1, \"chance\" or \"over\"%s",
                       h->flags & GAME_NO_CHANCE ? " (the program said that it has no chance)"
                                                 : "");
    if (p->s.mover != GAME_OVER)
        return 0;
    p->s.result = json_number_value(result);
    if (!json_is_number(result) || !(p->s.result >= -1 && p->s.result <= 1))
        return err_set(e, "\"result\" must be a number from -1 to 1: what seat 0 gets");
    return 0;
}

static int
read_state(const json_t *o, const struct hello *h, struct parts *p, struct err *e) {
    if (read_mover(o, h, p, e) < 0 || get_bool(o, "open", false, &p->s.open, e) < 0 ||
        get_pair(o, "views", false, p->s.view, e) < 0 ||
        get_pair(o, "told", false, p->s.told, e) < 0 ||
        get_pair(o, "rules", false, p->s.rules, e) < 0)
        return -1;
    if (p->s.open && !h->open)
        return err_set(e, "\"open\" is for programs that said \"open\" in their hello");
    if (p->s.mover <= GAME_SEAT_1 && (!p->s.view[p->s.mover] || !*p->s.view[p->s.mover]))
        return err_set(e, "\"views\" must tell the seat to move something");
    for (int i = 0; i < 2; i++) {
        const char *all[] = {p->s.view[i], p->s.told[i], p->s.rules[i]};
        for (int j = 0; j < 3; j++)
            p->text += all[j] ? strlen(all[j]) + 1 : 0;
    }
    return p->s.mover == GAME_OVER ? 0 : read_choices(o, p, e);
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
    size_t bytes = sizeof p->s + n * (sizeof(double) + sizeof(char *) + sizeof(int)) + p->text;
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

static int
read_answer(const json_t *o, int id, const struct hello *h, struct parts *p, struct err *e) {
    const char *type = json_string_value(json_object_get(o, "type"));
    const json_t *echo = json_object_get(o, "id");
    if (type && strcmp(type, "error") == 0) {
        const char *text = json_string_value(json_object_get(o, "text"));
        char shown[400];
        return err_set(e, "the program says: %s",
                       utf8_show(text ? text : "(nothing)", shown, sizeof shown));
    }
    if (!json_is_integer(echo) || json_integer_value(echo) != id)
        return err_set(e, "the program answered another question than number %d", id);
    if (type && strcmp(type, "refused") == 0 && h->open) {
        p->s.refused = true;
        p->s.mover = GAME_OVER;
        return 0;
    }
    if (!type || strcmp(type, "state") != 0)
        return err_set(e, "\"type\" must be \"state\"%s", h->open ? " or \"refused\"" : "");
    return read_state(o, h, p, e);
}

struct scene *
scene_read(const char *line, size_t n, int id, const struct hello *h, struct err *e) {
    json_t *o = read_object(line, n, e);
    if (!o)
        return NULL;
    struct parts p = {0};
    struct scene *s = read_answer(o, id, h, &p, e) < 0 ? NULL : assemble(&p);
    free(p.choice);
    json_decref(o);
    return s;
}
