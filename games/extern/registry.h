/* The file that lists games from outside: $AGON_HOME/games.json, where AGON_HOME is
 * $XDG_DATA_HOME/agon or else ~/.local/share/agon. It is read whole, and written whole (a new
 * file takes the old one's name) under a lock, so that readers never wait and never see half of
 * it. */
#ifndef GAMES_EXTERN_REGISTRY_H
#define GAMES_EXTERN_REGISTRY_H

#include <jansson.h>

#include "base/err.h"
#include "base/hash.h"
#include "games/extern/process.h"

#define REGISTRY_PATH 4096
#define REGISTRY_WORDS 32 /* of a command line */

enum registry_kind { REGISTRY_SHARED, REGISTRY_PROGRAM };

/* One row. Texts point into json. */
struct registry_row {
    json_t *json;                                         /* owned */
    const char *name, *title, *hash, *added, *quarantine; /* quarantine: NULL or the reason */
    enum registry_kind kind;
    int version;
    int speaks;       /* GAME_ABI of a shared object, protocol of a program */
    const char *path; /* shared */
    const char *command[REGISTRY_WORDS + 1]; /* program: as it was given; ends with NULL */
    const char *program;                     /* program: absolute path of command[0] */
    const char *folder;                      /* program: where it runs, and what paths start from */
    const json_t *hello;                     /* program: what it said of itself */
    double deadline;                         /* program: seconds for an answer */
    struct process_limits limits;            /* program */
};

/* Reads one row; it borrows `json`. */
int registry_row_read(json_t *json, struct registry_row *out, struct err *e);
void registry_free(struct registry_row *r); /* of registry_find() */

/* The file's path; -1 when there is no home to look for it in. */
int registry_path(char out[REGISTRY_PATH], struct err *e);
/* Finds a row: 1, 0, -1. */
int registry_find(const char *name, struct registry_row *out, struct err *e);
/* All rows, ascending by name; each() returns 0 to go on. A row that cannot be read is an error. */
int registry_each(int (*each)(void *arg, const struct registry_row *r), void *arg, struct err *e);

/* Adds a row or takes the place of the one of its name. The version is `json`'s own for a new
 * name or an unchanged content, and otherwise at least the old one plus 1; `json` is changed
 * accordingly. */
int registry_put(json_t *json, struct err *e);
int registry_remove(const char *name, struct err *e); /* 1 removed, 0 not there, -1 */
/* Marks the row, if it still has this content. */
int registry_quarantine(const char *name, const char *hash, const char *why, struct err *e);

/* The content that a row stands for now: of the shared object; of the command and of every file
 * that a word of it names, seen from `folder` (so "python3" is a word only, and "./python3" a
 * file). */
int registry_hash_file(const char *path, char hex[HASH_HEX], struct err *e);
int registry_hash_command(const char *const *command, const char *folder, char hex[HASH_HEX],
                          struct err *e);

#endif
