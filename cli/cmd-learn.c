/* agon learn: the learner process of a run; `agon serve` starts it, or a person does. */
#include "cli/cmd.h"

#include <stddef.h>

#include "learner/learn.h"

static int
run(const struct cmd_args *a, struct err *e) {
    const char *folder = cmd_flag(a, "run");
    if (!folder)
        return err_usage(e, "--run DIR is needed: the folder of a run that agon serve is serving");
    return learn_run(folder, e);
}

static const struct cmd_flag flags[] = {
    {"run", "DIR", "the run folder"},
    {NULL, NULL, NULL},
};

const struct cmd cmd_learn = {
    .name = "learn",
    .args = "",
    .help = "Learn from the finished matches of a run that is being served.",
    .flags = flags,
    .needs_mat = true,
    .run = run,
};
