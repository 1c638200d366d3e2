/* What `agon doctor` looks at: the machine, and a run. Each check adds findings. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "base/conf.h"
#include "cli/run.h"

enum finding { FINE, CARE, BAD }; /* care: it works, but look at it */

struct doctor {
    const char *dir;     /* of the run; NULL: there is none */
    struct conf *conf;   /* the run's options, or the defaults; owned */
    bool conf_read;      /* the run's could be read */
    struct store *store; /* owned; NULL: there is none, or it cannot be opened */
    bool quick;          /* leave out what reads whole files */
    bool json;
    int found[BAD + 1]; /* how many of each */
};

/* One line: what it is about, how it stands, and (NULL where nothing is to be done) the mend. */
void doctor_tell(struct doctor *d, enum finding f, const char *topic, const char *mend,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void doctor_machine(struct doctor *d); /* cli/doctor-machine.c */
void doctor_run(struct doctor *d);     /* cli/doctor-run.c */

#endif
