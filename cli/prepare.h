/* Making a run folder, or taking up one that exists, for the commands that write to it. */
#ifndef CLI_PREPARE_H
#define CLI_PREPARE_H

#include "base/conf.h"
#include "cli/cmd.h"

#define PREPARE_PATH 3072

struct prepared {
    char dir[PREPARE_PATH];
    struct conf *conf; /* owned */
    bool resumed;      /* the folder held a run already */
};

/* The folder of a run that is not named: runs/<name of the configuration file, without folder and
 * ending>. */
int prepare_dir(const char *config, char out[PREPARE_PATH], struct err *e);
/* Reads the configuration (word[0], or that of --run alone), --set a.b=c (repeatable), checks that
 * the options fit together and agree with what the run has fixed, makes the folders and writes
 * config.yaml. check_only: stops before anything is written. */
int prepare_run(const struct cmd_args *a, bool check_only, struct prepared *p, struct err *e);
void prepare_free(struct prepared *p);

#endif
