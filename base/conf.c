/* Reads YAML into a configuration. It walks libyaml's events, not its documents: a document would
 * have expanded aliases already, which is how a short file becomes a huge one. A key is the joined
 * keys of the maps around it ("learner:" over "lr:") or written in one ("learner.lr:"). What a
 * configuration has no use for is refused rather than ignored, so that nothing in a file goes
 * without effect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/conf-table.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"

#define MAX_DEPTH 6
#define CONF_MAX_PLACE 4096

/* A key that has been met: the same one may not come again in the same map. */
struct met {
    unsigned map;
    char *key;
};

struct reader {
    yaml_parser_t yaml;
    const char *where;
    struct conf *conf;
    char path[CONF_MAX_KEY]; /* keys so far, joined */
    struct {
        unsigned map; /* number of this map, in order of appearance */
        size_t len;   /* bytes of `path` that name it */
    } open[MAX_DEPTH];
    unsigned depth, maps;
    bool keyed; /* the next event is the value of `path` */
    yaml_mark_t key_at;
    struct met *met;
    size_t mets;
    size_t line_of[CONF_OPTIONS]; /* where an option was set; 0: not yet */
    struct {                      /* the list of games that is being read */
        bool open, in_item;
        yaml_mark_t at; /* of the list, then of the item */
        struct conf_game_list list;
        enum { NO_FIELD, NAME_FIELD, WEIGHT_FIELD } field; /* the next event is its value */
        bool has_name, has_weight;
        char name[CONF_MAX_SPEC];
        double weight;
    } games;
};

static int
fail_at(struct reader *r, yaml_mark_t at, struct err *e) {
    return err_prefix(e, "%s:%zu:%zu", r->where, at.line + 1, at.column + 1);
}

static int
fail(struct reader *r, yaml_mark_t at, const char *sentence, struct err *e) {
    err_set(e, "%s", sentence);
    return fail_at(r, at, e);
}

static int
meet(struct reader *r, const char *key, yaml_mark_t at, struct err *e) {
    unsigned map = r->open[r->depth - 1].map;
    for (size_t i = 0; i < r->mets; i++)
        if (r->met[i].map == map && !strcmp(r->met[i].key, key)) {
            err_set(e, "\"%s\" comes twice in the same map; keep one of the two", key);
            return fail_at(r, at, e);
        }
    r->met = mem_grow(r->met, r->mets + 1, sizeof *r->met);
    r->met[r->mets++] = (struct met){map, mem_text(key)};
    return 0;
}

static int
on_key(struct reader *r, const yaml_event_t *ev, struct err *e) {
    const char *key = (const char *)ev->data.scalar.value;
    size_t base = r->open[r->depth - 1].len;
    yaml_mark_t at = ev->start_mark;
    if (!*key || strlen(key) != ev->data.scalar.length)
        return fail(r, at, "this key is empty or holds a NUL; a key is an option's name", e);
    int n = snprintf(r->path + base, sizeof r->path - base, "%s%s", base ? "." : "", key);
    if (n < 0 || (size_t)n >= sizeof r->path - base) {
        char shown[64];
        err_set(e, "there is no option with a key as long as \"%s\"",
                utf8_show(key, shown, sizeof shown));
        return fail_at(r, at, e);
    }
    if (conf_find(r->path) < 0 && !conf_is_section(r->path)) {
        conf_unknown(r->path, e);
        return fail_at(r, at, e);
    }
    r->keyed = true;
    r->key_at = at;
    return meet(r, key, at, e);
}

/* Notes that option i is set here, which may happen once in a file. */
static int
note_option(struct reader *r, int i, char place[CONF_MAX_PLACE], struct err *e) {
    int game = conf_find("game"), games = conf_find("games");
    int other = i == game ? games : i == games ? game : i;
    if (r->line_of[i])
        err_set(e, "%s was set in line %zu already; keep one of the two", r->path, r->line_of[i]);
    else if (r->line_of[other])
        err_set(e, "a run has either `game` or `games` (line %zu); keep one of the two",
                r->line_of[other]);
    else {
        r->line_of[i] = r->key_at.line + 1;
        snprintf(place, CONF_MAX_PLACE, "%s:%zu:%zu", r->where, r->key_at.line + 1,
                 r->key_at.column + 1);
        return 0;
    }
    return fail_at(r, r->key_at, e);
}

static int
on_value(struct reader *r, const yaml_event_t *ev, struct err *e) {
    const char *text = (const char *)ev->data.scalar.value;
    bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    int i = conf_find(r->path);
    r->keyed = false;
    if (i < 0) {
        err_set(e, "\"%s\" is a section: its options come below it, indented", r->path);
        return fail_at(r, ev->start_mark, e);
    }
    if (strlen(text) != ev->data.scalar.length) {
        err_set(e, "%s holds a NUL", r->path);
        return fail_at(r, ev->start_mark, e);
    }
    if (plain && (!*text || !strcmp(text, "~") || !strcmp(text, "null"))) {
        err_set(e, "%s has no value%s", r->path,
                conf_option_at((size_t)i)->type == CONF_TEXT ? " (an empty text is written \"\")"
                                                             : "");
        return fail_at(r, ev->start_mark, e);
    }
    char place[CONF_MAX_PLACE];
    if (note_option(r, i, place, e) < 0)
        return -1;
    if (conf_assign(r->conf, i, text, !plain, place, e) < 0)
        return fail_at(r, ev->start_mark, e);
    return 0;
}

static int
on_scalar(struct reader *r, const yaml_event_t *ev, struct err *e) {
    if (r->depth)
        return r->keyed ? on_value(r, ev, e) : on_key(r, ev, e);
    if (!ev->data.scalar.length && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return 0; /* a document of comments only: all defaults */
    return fail(r, ev->start_mark, "a configuration is made of lines like `learner.lr: 1e-3`", e);
}

static int
on_map(struct reader *r, const yaml_event_t *ev, struct err *e) {
    if (r->depth && !r->keyed)
        return fail(r, ev->start_mark, "a key must be an option's name, not a map", e);
    if (r->depth && !conf_is_section(r->path)) {
        err_set(e, "%s takes one value, not a map", r->path);
        return fail_at(r, ev->start_mark, e);
    }
    if (r->depth == MAX_DEPTH)
        return fail(r, ev->start_mark, "maps are nested deeper than any option", e);
    r->open[r->depth].map = r->maps++;
    r->open[r->depth].len = r->depth ? strlen(r->path) : 0;
    r->depth++;
    r->keyed = false;
    return 0;
}

static int
on_list(struct reader *r, const yaml_event_t *ev, struct err *e) {
    if (!r->keyed)
        return fail(r, ev->start_mark, "a list is not allowed here", e);
    int i = conf_find(r->path);
    if (i >= 0 && conf_option_at((size_t)i)->type == CONF_GAMES) {
        r->games.open = true;
        r->games.at = ev->start_mark;
        return 0;
    }
    err_set(e, "%s takes one value, not a list", r->path);
    return fail_at(r, ev->start_mark, e);
}

static int
refuse_decorated(struct reader *r, const yaml_event_t *ev, struct err *e) {
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (ev->type == YAML_SCALAR_EVENT) {
        anchor = ev->data.scalar.anchor;
        tag = ev->data.scalar.tag;
    } else if (ev->type == YAML_MAPPING_START_EVENT) {
        anchor = ev->data.mapping_start.anchor;
        tag = ev->data.mapping_start.tag;
    } else if (ev->type == YAML_SEQUENCE_START_EVENT) {
        anchor = ev->data.sequence_start.anchor;
        tag = ev->data.sequence_start.tag;
    }
    if (ev->type == YAML_ALIAS_EVENT)
        return fail(r, ev->start_mark, "aliases (*name) are not supported; write the value out", e);
    if (anchor)
        return fail(r, ev->start_mark, "anchors (&name) are not supported; write the value out", e);
    if (tag)
        return fail(r, ev->start_mark, "tags (!name) are not supported; write the value alone", e);
    return 0;
}

/* ---- a list of games ---- */

static int
on_game_field(struct reader *r, const yaml_event_t *ev, struct err *e) {
    const char *key = (const char *)ev->data.scalar.value;
    bool name = !strcmp(key, "name"), weight = !strcmp(key, "weight");
    char shown[64];
    if ((name && r->games.has_name) || (weight && r->games.has_weight))
        err_set(e, "\"%s\" comes twice in the same map; keep one of the two", key);
    else if (!name && !weight)
        err_set(e, "games: a game has no field \"%s\"; its fields are name and weight",
                utf8_show(key, shown, sizeof shown));
    else {
        r->games.field = name ? NAME_FIELD : WEIGHT_FIELD;
        return 0;
    }
    return fail_at(r, ev->start_mark, e);
}

static int
on_game_value(struct reader *r, const yaml_event_t *ev, struct err *e) {
    const char *text = (const char *)ev->data.scalar.value;
    bool quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE, name = false;
    int bad = 0;
    if (strlen(text) != ev->data.scalar.length) {
        bad = err_set(e, "games: this value holds a NUL");
    } else if (r->games.field == NAME_FIELD) {
        name = true;
        bad = conf_games_name(&r->games.list, text, e);
    } else {
        bad = conf_games_weight(text, quoted, &r->games.weight, e);
    }
    if (bad)
        return fail_at(r, ev->start_mark, e);
    if (name)
        snprintf(r->games.name, sizeof r->games.name, "%s", text);
    r->games.has_name |= name;
    r->games.has_weight |= !name;
    r->games.field = NO_FIELD;
    return 0;
}

static int
on_game_end(struct reader *r, struct err *e) {
    if (!r->games.has_name)
        return fail(r, r->games.at, "games: this game has no name; write name: kuhn_poker", e);
    if (conf_games_add(&r->games.list, r->games.name, r->games.weight, e) < 0)
        return fail_at(r, r->games.at, e);
    r->games.in_item = false;
    return 0;
}

static int
on_games_end(struct reader *r, struct err *e) {
    int i = conf_find(r->path);
    char place[CONF_MAX_PLACE];
    struct buf text = {0};
    r->games.open = r->keyed = false;
    if (!r->games.list.n)
        return fail(r, r->games.at, "games: the list is empty; name a game, or use `game`", e);
    if (note_option(r, i, place, e) < 0)
        return -1;
    conf_games_put(&r->games.list, &text);
    int bad = conf_assign(r->conf, i, buf_text(&text), false, place, e);
    buf_free(&text);
    return bad ? fail_at(r, r->key_at, e) : 0;
}

static int
on_games_event(struct reader *r, const yaml_event_t *ev, struct err *e) {
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        if (!r->games.in_item)
            break;
        return r->games.field ? on_game_value(r, ev, e) : on_game_field(r, ev, e);
    case YAML_MAPPING_START_EVENT:
        if (r->games.in_item)
            return fail(r, ev->start_mark, "games: name and weight take one value each", e);
        r->games.in_item = true;
        r->games.has_name = r->games.has_weight = false;
        r->games.weight = 1;
        r->games.at = ev->start_mark;
        return 0;
    case YAML_MAPPING_END_EVENT:
        return on_game_end(r, e);
    case YAML_SEQUENCE_END_EVENT:
        return on_games_end(r, e);
    default:
        if (r->games.in_item)
            return fail(r, ev->start_mark, "games: name and weight take one value each", e);
    }
    return fail(r, ev->start_mark, "games: each game is a map like {name: kuhn_poker, weight: 2}",
                e);
}

static int
on_event(struct reader *r, const yaml_event_t *ev, unsigned *documents, struct err *e) {
    if (refuse_decorated(r, ev, e) < 0)
        return -1;
    if (r->games.open)
        return on_games_event(r, ev, e);
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (ev->data.document_start.tag_directives.start !=
            ev->data.document_start.tag_directives.end)
            return fail(r, ev->start_mark, "%TAG is not supported", e);
        if ((*documents)++)
            return fail(r, ev->start_mark,
                        "a second document starts here; one file is one document", e);
        return 0;
    case YAML_SCALAR_EVENT:
        return on_scalar(r, ev, e);
    case YAML_SEQUENCE_START_EVENT:
        return on_list(r, ev, e);
    case YAML_MAPPING_START_EVENT:
        return on_map(r, ev, e);
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        r->keyed = false;
        return 0;
    case YAML_NO_EVENT:
    case YAML_ALIAS_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return 0;
    }
    return 0;
}

static int
yaml_trouble(struct reader *r, struct err *e) {
    const yaml_parser_t *y = &r->yaml;
    err_set(e, "this is not YAML: %s%s%s", y->problem ? y->problem : "cannot be read",
            y->context ? ", " : "", y->context ? y->context : "");
    return fail_at(r, y->problem_mark, e);
}

static int
walk(struct reader *r, struct err *e) {
    unsigned documents = 0;
    for (bool over = false; !over;) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&r->yaml, &ev))
            return yaml_trouble(r, e);
        over = ev.type == YAML_STREAM_END_EVENT;
        int bad = on_event(r, &ev, &documents, e);
        yaml_event_delete(&ev);
        if (bad < 0)
            return -1;
    }
    return 0;
}

/* libyaml's own complaint about a bad byte carries no line, so bytes are looked at first. */
static int
check_bytes(const char *yaml, size_t n, const char *where, struct err *e) {
    if (n > CONF_MAX_FILE)
        return err_set(e, "%s: longer than the %d bytes a configuration may have", where,
                       CONF_MAX_FILE);
    size_t line = 1, column = 1, len;
    for (size_t at = 0; at < n; at += len, column++) {
        uint32_t c = 0;
        len = utf8_char(yaml + at, n - at, &c);
        bool control = (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
        if (!len || control)
            return err_set(e, "%s:%zu:%zu: byte 0x%02x is %s here", where, line, column,
                           (unsigned)(unsigned char)yaml[at], len ? "not allowed" : "not UTF-8");
        if (c == '\n') {
            line++;
            column = 0;
        }
    }
    return 0;
}

int
conf_parse(struct conf *c, const char *yaml, size_t n, const char *where, struct err *e) {
    if (check_bytes(yaml, n, where, e) < 0)
        return -1;
    struct reader r = {.where = where, .conf = c};
    ensure(yaml_parser_initialize(&r.yaml));
    yaml_parser_set_encoding(&r.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)yaml, n);
    int bad = walk(&r, e);
    yaml_parser_delete(&r.yaml);
    for (size_t i = 0; i < r.mets; i++)
        free(r.met[i].key);
    free(r.met);
    return bad;
}

static int
load(struct conf *c, const char *path, int (*get)(const char *, size_t, struct buf *, struct err *),
     struct err *e) {
    struct buf text = {0};
    int bad = get(path, CONF_MAX_FILE, &text, e);
    if (!bad)
        bad = conf_parse(c, buf_text(&text), text.len, path, e);
    buf_free(&text);
    return bad;
}

int
conf_load(struct conf *c, const char *path, struct err *e) {
    return load(c, path, file_read, e);
}

int
conf_load_named(struct conf *c, const char *path, struct err *e) {
    return load(c, path, file_read_named, e);
}
