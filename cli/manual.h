/* What is generated from the tables of commands and options for other programs: man pages and shell
 * completion. Nothing of it is kept in files, so it cannot fall behind. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include <stdio.h>

void manual_print_commands(FILE *out);   /* agon(1) */
void manual_print_options(FILE *out);    /* agon.yaml(5) */
void manual_print_completion(FILE *out); /* for bash */

#endif
