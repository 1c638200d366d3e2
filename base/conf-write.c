/* Writes a configuration as YAML for people and for conf.c: sections nested, texts with line breaks
 * as blocks where a block says the same, otherwise in double quotes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf-table.h"
#include "base/utf8.h"

/* Words that YAML readers other than ours take for something else than a text. */
static bool
is_plain(const char *s) {
    static const char *const words[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n"};
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(words[i], s))
            return false;
    return *s && !strchr("0123456789-.", *s) && !s[strspn(s, allowed)];
}

/* A literal block keeps its lines as they are, if none of them is empty, starts with a blank, or
 * holds a character that YAML counts as a line break or does not show. */
static bool
fits_block(const char *s) {
    size_t n = strlen(s), len;
    char before = '\n';
    uint32_t c = 0;
    if (n < 40 || s[n - 1] != '\n')
        return false;
    for (; n; before = *s, s += len, n -= len) {
        len = utf8_char(s, n, &c);
        if (!len || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
            return false;
        if (before == '\n' && (c == ' ' || c == '\n'))
            return false;
    }
    return true;
}

static void
write_block(struct buf *out, const char *s, int indent) {
    buf_put(out, "|");
    for (const char *end; *s; s = end + 1) {
        end = strchr(s, '\n');
        buf_fmt(out, "\n%*s%.*s", indent, "", (int)(end - s), s);
    }
}

static void
write_quoted(struct buf *out, const char *s) {
    size_t n = strlen(s), len;
    buf_put(out, "\"");
    for (; n; s += len, n -= len) {
        uint32_t c = 0;
        len = utf8_char(s, n, &c);
        ensure(len);
        if (c == '\n' || c == '\t')
            buf_put(out, c == '\n' ? "\\n" : "\\t");
        else if (c == '"' || c == '\\')
            buf_fmt(out, "\\%c", (int)c);
        else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || (c >= 0xfffe && c <= 0xffff))
            buf_fmt(out, "\\u%04x", (unsigned)c);
        else
            buf_add(out, s, len);
    }
    buf_put(out, "\"");
}

/* The shortest digits that strtod reads back as the same number. */
static void
write_real(struct buf *out, double v, const char *unit) {
    char s[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, v);
        if (strtod(s, NULL) == v)
            break;
    }
    /* YAML 1.1 readers take 1e-05 for a text, but 1.0e-05 for a number. */
    size_t mantissa = strcspn(s, "e");
    bool needs_point = s[mantissa] && strcspn(s, ".") > mantissa;
    buf_fmt(out, "%.*s%s%s%s", (int)mantissa, s, needs_point ? ".0" : "", s + mantissa, unit);
}

static void
write_time(struct buf *out, double v) {
    double hours = floor(v / 3600), minutes = floor(v / 60);
    if (hours > 0 && hours * 3600 == v)
        write_real(out, hours, "h");
    else if (minutes > 0 && minutes * 60 == v)
        write_real(out, minutes, "m");
    else
        write_real(out, v, "s");
}

static void
write_games(struct buf *out, const char *text, int indent) {
    struct conf_game_list l;
    struct err e;
    ensure(conf_games_parse(&l, text, &e) == 0);
    for (size_t i = 0; i < l.n; i++) {
        buf_fmt(out, "\n%*s- {name: ", indent, "");
        if (is_plain(l.at[i].name))
            buf_put(out, l.at[i].name);
        else
            write_quoted(out, l.at[i].name);
        buf_put(out, ", weight: ");
        write_real(out, l.at[i].weight, "");
        buf_put(out, "}");
    }
}

static void
write_value(struct buf *out, const struct conf_option *o, const struct conf_value *v, int indent) {
    switch (o->type) {
    case CONF_INT:
        buf_fmt(out, "%lld", (long long)v->whole);
        break;
    case CONF_REAL:
        write_real(out, v->real, "");
        break;
    case CONF_BOOL:
        buf_put(out, v->whole ? "true" : "false");
        break;
    case CONF_TIME:
        write_time(out, v->real);
        break;
    case CONF_TEXT:
    case CONF_CHOICE:
        if (is_plain(v->text))
            buf_put(out, v->text);
        else if (fits_block(v->text))
            write_block(out, v->text, indent + 2);
        else
            write_quoted(out, v->text);
        break;
    case CONF_GAMES:
        write_games(out, v->text, indent + 2);
        break;
    }
}

/* Opens the sections that lead to `key` and are not open yet; *last is the part of it below them.
 * Returns the indent of its line. */
static int
open_sections(struct buf *out, const char *key, const char *previous, const char **last) {
    int indent = 0;
    bool same = true;
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1, indent += 2) {
        size_t n = (size_t)(dot - key) + 1;
        same = same && !strncmp(key, previous, n);
        if (same)
            previous += n;
        else
            buf_fmt(out, "%*s%.*s:\n", indent, "", (int)(n - 1), key);
    }
    *last = key;
    return indent;
}

/* Of `game` and `games` a file has one. */
static bool
is_left_out(const struct conf *c, const struct conf_option *o) {
    bool many = *c->value[conf_find("games")].text;
    return o->type == CONF_GAMES ? !many : many && !strcmp(o->key, "game");
}

void
conf_write(const struct conf *c, struct buf *out) {
    const char *previous = "", *last;
    for (size_t i = 0; i < CONF_OPTIONS; i++) {
        const struct conf_option *o = conf_option_at(i);
        if (is_left_out(c, o))
            continue;
        int indent = open_sections(out, o->key, previous, &last);
        buf_fmt(out, "%*s%s:%s", indent, "", last, o->type == CONF_GAMES ? "" : " ");
        write_value(out, o, &c->value[i], indent);
        buf_put(out, "\n");
        previous = o->key;
    }
}

void
conf_write_help(struct buf *out) {
    struct conf *c = conf_new();
    const char *previous = "", *last;
    for (size_t i = 0; i < CONF_OPTIONS; i++) {
        const struct conf_option *o = conf_option_at(i);
        buf_put(out, i ? "\n" : "");
        int indent = open_sections(out, o->key, previous, &last);
        buf_fmt(out, "%*s# %s\n%*s# ", indent, "", o->help, indent, "");
        conf_describe(o, out);
        buf_fmt(out, "%s\n%*s%s%s: ", o->fixed ? "; fixed for a run" : "", indent, "",
                o->type == CONF_GAMES ? "# " : "", last);
        if (o->type == CONF_GAMES)
            buf_put(out, "[{name: kuhn_poker, weight: 2}, {name: tic_tac_toe}]");
        else if (o->type == CONF_TEXT)
            write_value(out, o, &c->value[i], indent);
        else
            buf_put(out, o->def); /* as people write it: 1e-3 */
        buf_put(out, "\n");
        previous = o->key;
    }
    conf_free(c);
}
