/* A command: one file cli/cmd-<name>.c with one `const struct cmd cmd_<name>`, one row in
 * cli/cmd.def. main() finds it by name and reads its flags; `agon help`, `--help`, man pages and
 * shell completion come from the same rows. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <stdbool.h>

#include "base/err.h"

#define CMD_MAX_VALUES 64

struct cmd_flag {
    const char *name;  /* "run" for --run */
    const char *value; /* "DIR"; NULL: a switch without a value */
    const char *help;
};

struct cmd_args {
    int words; /* positional arguments */
    const char *word[CMD_MAX_VALUES];
    /* flags given, in order; a flag may be given more than once */
    int flags;
    struct {
        const char *name, *value; /* value "" for a switch */
    } flag[CMD_MAX_VALUES];
    char **argv; /* the whole command line, for running itself again */
};

struct cmd {
    const char *name;
    const char *args;             /* "CONFIG", "[GAME]", "" */
    const char *help;             /* one sentence */
    int least, most;              /* positional arguments */
    const struct cmd_flag *flags; /* ends with a NULL name; NULL: none */
    /* computes with the transformer: the BLAS kernel is chosen first */
    bool needs_mat;
    /* Returns the exit status; or -1 with e filled (printed as "agon NAME: ..."): exit status 1, or
     * 2 where the command line itself is wrong (err_usage()). */
    int (*run)(const struct cmd_args *a, struct err *e);
};

const struct cmd *cmd_at(int i);                                  /* NULL past the last */
const char *cmd_flag(const struct cmd_args *a, const char *name); /* last value given, or NULL */
/* n-th value, or NULL */
const char *cmd_flag_nth(const struct cmd_args *a, const char *name, int n);

#endif
