/* Several games with weights as one value: "kuhn_poker(hands=2):2,tic_tac_toe:1", the text that
 * --set takes and that two configurations are compared by. A file has them as a list of maps, which
 * conf.c reads with the same checks. Whether a game exists is not known here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf-table.h"
#include "base/utf8.h"

/* Bytes up to `stop` or a comma outside parentheses, or the end; 0 bytes when they do not match. */
static size_t
length_outside(const char *s, const char *stop) {
    int depth = 0;
    size_t i = 0;
    for (; s[i] && depth >= 0; i++) {
        if (!depth && strchr(stop, s[i]))
            return i;
        depth += (s[i] == '(') - (s[i] == ')');
    }
    return depth ? 0 : i;
}

int
conf_games_name(const struct conf_game_list *l, const char *name, struct err *e) {
    char shown[64];
    utf8_show(name, shown, sizeof shown);
    size_t n = strlen(name);
    if (n >= CONF_MAX_SPEC)
        return err_set(e, "games: a name of %zu bytes; no game has a name as long as that", n);
    if (!n || strpbrk(name, " \t\n") || length_outside(name, ",:") != n)
        return err_set(e,
                       "games: \"%s\" is no game's name; write it like kuhn_poker or "
                       "kuhn_poker(hands=2)",
                       shown);
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->at[i].name, name))
            return err_set(e, "games: \"%s\" comes twice; keep one of the two", shown);
    return 0;
}

int
conf_games_weight(const char *text, bool quoted, double *weight, struct err *e) {
    char shown[64];
    if (!quoted && conf_number(text, weight) && *weight >= CONF_LEAST_WEIGHT &&
        *weight <= CONF_MOST_WEIGHT)
        return 0;
    return err_set(e, "games: a weight is \"%s\"; it must be a number from %g to %g%s",
                   utf8_show(text, shown, sizeof shown), CONF_LEAST_WEIGHT, CONF_MOST_WEIGHT,
                   quoted ? ", without quotes" : "");
}

int
conf_games_add(struct conf_game_list *l, const char *name, double weight, struct err *e) {
    if (l->n == CONF_MAX_GAMES)
        return err_set(e, "games: more than the %d games that one run may have", CONF_MAX_GAMES);
    struct conf_game *g = &l->at[l->n++];
    ensure(strlen(name) < sizeof g->name);
    strcpy(g->name, name);
    g->weight = weight;
    return 0;
}

/* "name" or "name:weight" in s[0..n). */
static int
add_entry(struct conf_game_list *l, const char *s, size_t n, struct err *e) {
    char entry[CONF_MAX_SPEC + 64];
    if (n >= sizeof entry)
        return err_set(e, "games: an entry of %zu bytes; no game has a name as long as that", n);
    snprintf(entry, sizeof entry, "%.*s", (int)n, s);
    double weight = 1;
    size_t name = length_outside(entry, ":");
    if (name && entry[name] == ':' && conf_games_weight(entry + name + 1, false, &weight, e) < 0)
        return -1;
    if (name)
        entry[name] = '\0';
    return conf_games_name(l, entry, e) < 0 ? -1 : conf_games_add(l, entry, weight, e);
}

int
conf_games_parse(struct conf_game_list *l, const char *text, struct err *e) {
    l->n = 0;
    while (*text) {
        size_t n = length_outside(text, ",");
        if (!n)
            n = strlen(text);
        if (add_entry(l, text, n, e) < 0)
            return -1;
        text += n;
        if (*text && !*++text)
            return err_set(e, "games: a game's name is missing behind the last comma");
    }
    return 0;
}

void
conf_games_put(const struct conf_game_list *l, struct buf *out) {
    for (size_t i = 0; i < l->n; i++)
        buf_fmt(out, "%s%s:%.17g", i ? "," : "", l->at[i].name, l->at[i].weight);
}

size_t
conf_games(const struct conf *c, struct conf_game out[CONF_MAX_GAMES]) {
    struct conf_game_list l;
    struct err e;
    if (conf_games_parse(&l, conf_text(c, "games"), &e) < 0)
        panic("base/conf: a list that was checked is refused: %s", e.text);
    if (!l.n) {
        out[0].weight = 1;
        snprintf(out[0].name, sizeof out[0].name, "%s", conf_text(c, "game"));
        return 1;
    }
    memcpy(out, l.at, l.n * sizeof *out);
    return l.n;
}
