/* The part of `agon games` that is about games from outside: register, forget, list them, write
 * a new one. */
#ifndef CLI_GAMES_EXTERN_H
#define CLI_GAMES_EXTERN_H

#include "cli/cmd.h"
#include "cli/table.h"

/* add PATH or add --exec COMMAND: checks in a child process, then registers. */
int games_add(const struct cmd_args *a, struct err *e);
int games_remove(const struct cmd_args *a, struct err *e);
/* new FILE.c: a template with the command that builds it. */
int games_new(const struct cmd_args *a, struct err *e);
/* The child process of add: reads what to check from its input, tells what it found. Not for
 * people. */
int games_probe(const struct cmd_args *a, struct err *e);

/* Rows of the registered games, like those of the built-in ones: game, title, information, chance,
 * parameters. */
int games_list_extern(struct table *t, struct err *e);
int games_list_extern_json(struct err *e); /* one object a line */
/* Below the table: where each comes from, and which are in quarantine. */
int games_tell_extern(struct err *e);

#endif
