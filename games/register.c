/* The table of built-in games and the reader of specifications such as "nim(piles=3-4-5)". A name
 * that is not built in is looked up among the games from outside.
 * Parameters are positional nowhere: each is named, typed and ranged by its row in the game. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "games/extern/extern.h"
#include "games/game.h"

#define GAME(x) extern const struct game game_##x;
#include "games/games.def"
#undef GAME

static const struct game *const table[] = {
#define GAME(x) &game_##x,
#include "games/games.def"
#undef GAME
};

const struct game *
game_at(int i) {
    return i >= 0 && (size_t)i < sizeof table / sizeof table[0] ? table[i] : NULL;
}

static const struct game *
find_built_in(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

const struct game *
game_find(const char *name) {
    const struct game *g = find_built_in(name);
    return g || extern_find(name, &g, NULL) == 1 ? g : NULL;
}

/* A borrowed piece of the specification. */
struct piece {
    const char *at;
    size_t n;
};

static struct piece
trim(const char *at, size_t n) {
    while (n && (at[0] == ' ' || at[0] == '\t'))
        at++, n--;
    while (n && (at[n - 1] == ' ' || at[n - 1] == '\t'))
        n--;
    return (struct piece){at, n};
}

/* For "%.*s" in an error's sentence, which has no room for everything. */
static int
shown(struct piece p) {
    return p.n < 60 ? (int)p.n : 60;
}

static bool
is_word(struct piece p, const char *word) {
    return strlen(word) == p.n && memcmp(p.at, word, p.n) == 0;
}

static int
param_count(const struct game *g) {
    int n = 0;
    while (g->params && g->params[n].name)
        n++;
    return n;
}

static void
list_games(struct text *out) {
    for (int i = 0; game_at(i); i++) {
        text_put(out, i ? ", " : "");
        text_put(out, game_at(i)->name);
    }
}

static void
list_params(const struct game *g, struct text *out) {
    for (int i = 0; i < param_count(g); i++) {
        const struct game_param *p = &g->params[i];
        text_put(out, i ? ", " : "");
        if (p->type == PARAM_BOOL)
            text_fmt(out, "%s (true or false)", p->name);
        else if (p->type == PARAM_LIST)
            text_fmt(out, "%s (up to %d numbers %d..%d, written %s)", p->name, GAME_MAX_LIST,
                     p->min, p->max, p->def);
        else
            text_fmt(out, "%s (%d..%d)", p->name, p->min, p->max);
    }
    if (param_count(g) == 0)
        text_put(out, "none");
}

/* One decimal number at *at, which moves behind it. */
static int
read_int(const char **at, const char *end, int *out) {
    char *stop;
    errno = 0;
    if (*at >= end || !((**at >= '0' && **at <= '9') || **at == '-'))
        return -1;
    long v = strtol(*at, &stop, 10);
    if (errno || stop == *at || stop > end || v < INT_MIN || v > INT_MAX)
        return -1;
    *at = stop;
    *out = (int)v;
    return 0;
}

static int
read_numbers(const struct game_param *p, const char *at, const char *end, int *count, int *value) {
    int room = p->type == PARAM_LIST ? GAME_MAX_LIST : 1;
    *count = 0;
    for (;;) {
        if (*count == room || read_int(&at, end, &value[*count]))
            return -1;
        if (value[*count] < p->min || value[*count] > p->max)
            return -1;
        ++*count;
        if (at == end)
            return 0;
        if (*at++ != '-')
            return -1;
    }
}

static int
read_value(const struct game *g, int i, struct piece v, struct game_args *args, struct err *e) {
    const struct game_param *p = &g->params[i];
    if (p->type == PARAM_BOOL) {
        args->count[i] = 1;
        args->value[i][0] = is_word(v, "true");
        if (args->value[i][0] || is_word(v, "false"))
            return 0;
        return err_set(e, "%s: %s is '%.*s'; it must be true or false", g->name, p->name, shown(v),
                       v.at);
    }
    /* A copy, because strtol needs a terminator. */
    char copy[128];
    if (v.n < sizeof copy) {
        memcpy(copy, v.at, v.n);
        copy[v.n] = '\0';
        int value[GAME_MAX_LIST], count;
        if (read_numbers(p, copy, copy + v.n, &count, value) == 0) {
            args->count[i] = count;
            memset(args->value[i], 0, sizeof args->value[i]);
            memcpy(args->value[i], value, (size_t)count * sizeof value[0]);
            return 0;
        }
    }
    if (p->type == PARAM_LIST)
        return err_set(e, "%s: %s is '%.*s'; it must be 1 to %d numbers from %d to %d, written %s",
                       g->name, p->name, shown(v), v.at, GAME_MAX_LIST, p->min, p->max, p->def);
    return err_set(e, "%s: %s is '%.*s'; it must be a whole number from %d to %d", g->name, p->name,
                   shown(v), v.at, p->min, p->max);
}

static int
read_assignment(const struct game *g, struct piece a, bool *given, struct game_args *args,
                struct err *e) {
    const char *eq = memchr(a.at, '=', a.n);
    struct piece name = trim(a.at, eq ? (size_t)(eq - a.at) : a.n);
    for (int i = 0; i < param_count(g); i++) {
        if (!is_word(name, g->params[i].name))
            continue;
        if (!eq)
            return err_set(e, "%s: write %s=VALUE", g->name, g->params[i].name);
        if (given[i])
            return err_set(e, "%s: %s is given twice", g->name, g->params[i].name);
        given[i] = true;
        return read_value(g, i, trim(eq + 1, (size_t)(a.at + a.n - eq - 1)), args, e);
    }
    char at[800];
    struct text t;
    text_init(&t, at, sizeof at);
    list_params(g, &t);
    return err_set(e, "%s has no parameter '%.*s'; its parameters are: %s", g->name, shown(name),
                   name.at, at);
}

static int
read_args(const struct game *g, struct piece inside, struct game_args *args, struct err *e) {
    bool given[GAME_MAX_PARAMS] = {false};
    while (inside.n) {
        const char *comma = memchr(inside.at, ',', inside.n);
        size_t n = comma ? (size_t)(comma - inside.at) : inside.n;
        if (read_assignment(g, trim(inside.at, n), given, args, e))
            return -1;
        if (!comma)
            break;
        inside = trim(comma + 1, inside.n - n - 1);
        if (!inside.n)
            return err_set(e, "%s: a parameter is missing after the last comma", g->name);
    }
    return 0;
}

static int
set_defaults(const struct game *g, struct game_args *args, struct err *e) {
    memset(args, 0, sizeof *args);
    for (int i = 0; i < param_count(g); i++) {
        const char *def = g->params[i].def;
        if (!def || read_value(g, i, (struct piece){def, strlen(def)}, args, e))
            return err_prefix(e, "default of a parameter");
    }
    return 0;
}

int
game_args_default(const struct game *g, struct game_args *args, struct err *e) {
    if (param_count(g) > GAME_MAX_PARAMS)
        return err_set(e, "%s has more than %d parameters", g->name, GAME_MAX_PARAMS);
    if (set_defaults(g, args, e) < 0)
        return -1;
    return g->check && g->check(args, e) ? err_prefix(e, "%s", g->name) : 0;
}

static int
find(struct piece name, const struct game **g, struct err *e) {
    char copy[GAME_WORD], at[700];
    if (name.n < sizeof copy) {
        memcpy(copy, name.at, name.n);
        copy[name.n] = '\0';
        *g = find_built_in(copy);
        int found = *g ? 1 : extern_find(copy, g, e);
        if (found)
            return found < 0 ? -1 : 0;
    }
    struct text t;
    text_init(&t, at, sizeof at);
    list_games(&t);
    extern_names(&t);
    return err_set(e, "no game is called '%.*s'; there are: %s", shown(name), name.at, at);
}

int
game_spec_parse(const char *spec, const struct game **g, struct game_args *args, struct err *e) {
    if (strlen(spec) > 500)
        return err_set(e, "a game's specification is longer than 500 bytes");
    struct piece all = trim(spec, strlen(spec));
    const char *open = memchr(all.at, '(', all.n);
    struct piece name = trim(all.at, open ? (size_t)(open - all.at) : all.n);
    const struct game *found;
    if (find(name, &found, e) < 0)
        return -1;
    if (set_defaults(found, args, e) < 0)
        return -1;
    if (open) {
        if (all.at[all.n - 1] != ')')
            return err_set(e, "%s: the closing ')' is missing in '%.*s'", found->name, shown(all),
                           all.at);
        if (read_args(found, trim(open + 1, (size_t)(all.at + all.n - 1 - open - 1)), args, e))
            return -1;
    }
    if (found->check && found->check(args, e))
        return err_prefix(e, "%s", found->name);
    *g = found;
    return 0;
}

void
game_spec_text(const struct game *g, const struct game_args *args, struct text *out) {
    text_put(out, g->name);
    int n = param_count(g);
    for (int i = 0; i < n; i++) {
        text_char(out, i ? ',' : '(');
        text_put(out, g->params[i].name);
        text_char(out, '=');
        for (int j = 0; j < args->count[i]; j++) {
            if (j)
                text_char(out, '-');
            if (g->params[i].type == PARAM_BOOL)
                text_put(out, args->value[i][j] ? "true" : "false");
            else
                text_int(out, args->value[i][j]);
        }
    }
    if (n)
        text_char(out, ')');
}
