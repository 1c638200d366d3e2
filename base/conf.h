/* Configuration: YAML (libyaml) checked against one option table (base/options.def). Keys are
 * dotted paths ("learner.magnet.kl"). Unknown, repeated and ill-typed keys, values out of range,
 * anchors, aliases, tags, several documents, deep nesting and huge files are errors with
 * file:line:column. The same table drives `agon options`, the defaults, configs/full.yaml and
 * docs. */
#ifndef BASE_CONF_H
#define BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum conf_type {
    CONF_INT,
    CONF_REAL,
    CONF_BOOL,
    CONF_TEXT,
    CONF_CHOICE,
    CONF_TIME, /* "5m": seconds */
    CONF_GAMES /* a list of maps {name: GAME, weight: NUMBER}, or "kuhn_poker:2,tic_tac_toe:1" */
};

struct conf_option {
    const char *key;
    enum conf_type type;
    const char *def;     /* default, as one would write it */
    double min, max;     /* of numbers and times */
    const char *choices; /* "a|b|c" for CONF_CHOICE */
    bool fixed;          /* may not change when a run is continued */
    const char *help;    /* one sentence */
};

struct conf; /* opaque: every option with its value and where it came from */

const struct conf_option *conf_option_at(size_t i); /* in table order; NULL past the last */
struct conf *conf_new(void);                        /* all defaults */
void conf_free(struct conf *c);
int conf_load(struct conf *c, const char *path, struct err *e); /* an ordinary file */
/* One that stood on the command line: a pipe will do (file_read_named). */
int conf_load_named(struct conf *c, const char *path, struct err *e);
int conf_parse(struct conf *c, const char *yaml, size_t n, const char *where, struct err *e);
int conf_set(struct conf *c, const char *assignment, struct err *e); /* "a.b=c" of --set */
/* Typed reading; a key or type that the table lacks is a bug (panic). */
int64_t conf_int(const struct conf *c, const char *key);
/* also CONF_TIME, in seconds; also CONF_INT */
double conf_real(const struct conf *c, const char *key);
bool conf_bool(const struct conf *c, const char *key);
/* text or choice; owned by c. In a run of several games `game` is the first of them. */
const char *conf_text(const struct conf *c, const char *key);
/* The run's games: those of `games`, or the one of `game`. Setting one of the two options unsets
 * the other, and a list of one game is that `game`. Returns how many, at least 1. */
#define CONF_MAX_GAMES 16
#define CONF_MAX_SPEC 256
struct conf_game {
    char name[CONF_MAX_SPEC]; /* as it was given, with its parameters */
    double weight;            /* above 0 */
};
size_t conf_games(const struct conf *c, struct conf_game out[CONF_MAX_GAMES]);
/* Where the value was given: "configs/a.yaml:3:7", "--set" or "default"; owned by c. For
 * messages. */
const char *conf_place(const struct conf *c, const char *key);
/* The whole configuration as YAML that conf_load reads back to the same values. */
void conf_write(const struct conf *c, struct buf *out);
/* Every option with its default, and type, range and help as comments: configs/full.yaml. */
void conf_write_help(struct buf *out);
/* "a whole number from 1 to 64": what the option takes. */
void conf_describe(const struct conf_option *o, struct buf *out);
/* First fixed option whose value differs; NULL when a may continue b's run. */
const struct conf_option *conf_conflict(const struct conf *a, const struct conf *b);

#endif
