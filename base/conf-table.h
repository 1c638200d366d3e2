/* What the files of the configuration share: conf.c reads YAML, conf-value.c holds and checks the
 * values, conf-games.c does so for a list of games, conf-write.c writes YAML. Nobody else includes
 * this. */
#ifndef BASE_CONF_TABLE_H
#define BASE_CONF_TABLE_H

#include "base/conf.h"

#define CONF_MAX_FILE 65536
#define CONF_MAX_TEXT 4096 /* bytes of one text: all of them, escaped, fit into one file */
#define CONF_MAX_KEY 128
#define CONF_LEAST_WEIGHT 1e-6 /* of a game */
#define CONF_MOST_WEIGHT 1e6

#define OPT(...) +1
enum {
    CONF_OPTIONS = 0
#include "base/options.def"
};
#undef OPT

struct conf_value {
    int64_t whole; /* CONF_INT, CONF_BOOL */
    double real;   /* CONF_INT, CONF_REAL, CONF_TIME */
    char *text;    /* CONF_TEXT, CONF_CHOICE, CONF_GAMES; owned */
    char *place;   /* "a.yaml:3:7"; NULL: the default; owned */
};

struct conf {
    struct conf_value value[CONF_OPTIONS];
};

int conf_find(const char *key);        /* its row, or -1 */
bool conf_is_section(const char *key); /* do options' keys begin with "key."? */
/* Sentence for a key that the table lacks, with the nearest one that it has. Returns -1. */
int conf_unknown(const char *key, struct err *e);
/* Reads `text` as option i's type. `quoted`: it was written in quotes, so it is no number. On
 * failure the old value stays. `place` is copied; NULL: the default. */
int conf_assign(struct conf *c, int i, const char *text, bool quoted, const char *place,
                struct err *e);
bool conf_number(const char *text, double *out); /* is it one, as options are written? */

struct conf_game_list {
    struct conf_game at[CONF_MAX_GAMES];
    size_t n;
};
/* May `name` be added to the list? */
int conf_games_name(const struct conf_game_list *l, const char *name, struct err *e);
int conf_games_weight(const char *text, bool quoted, double *weight, struct err *e);
/* Both have been checked. */
int conf_games_add(struct conf_game_list *l, const char *name, double weight, struct err *e);
int conf_games_parse(struct conf_game_list *l, const char *text, struct err *e);
void conf_games_put(const struct conf_game_list *l, struct buf *out); /* what _parse() reads */

#endif
