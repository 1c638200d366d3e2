/* agon games conform FILE...: recorded matches against the built-in rules. */
#ifndef CLI_GAMES_CONFORM_H
#define CLI_GAMES_CONFORM_H

#include "cli/cmd.h"

/* Prints every difference and one line a file. 1 when there was any. */
int games_conform(const struct cmd_args *a, struct err *e);

#endif
