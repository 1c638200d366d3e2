/* The list of commands, and reading a command line with it. */
#ifndef CLI_CMD_LIST_H
#define CLI_CMD_LIST_H

#include <stdio.h>

#include "cli/cmd.h"

const struct cmd *cmd_find(const char *name);     /* NULL: no such command */
int cmd_unknown(const char *name, struct err *e); /* sentence with the nearest name; returns -1 */
/* Reads what follows the command's name, checked against its table. argv ends with NULL. */
int cmd_read(const struct cmd *c, char **argv, struct cmd_args *a, struct err *e);
void cmd_print_help(const struct cmd *c, FILE *out); /* of one command; NULL: the overview */

#endif
