/* agon train: a run from its configuration, begun or continued. */
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/prepare.h"
#include "cli/train.h"

/* "90", "90s", "5m", "1.5h" in seconds. */
static int
read_time(const char *text, double *seconds, struct err *e) {
    char *end;
    *seconds = strtod(text, &end);
    double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    bool known = *end == '\0' || ((*end == 's' || *end == 'm' || *end == 'h') && !end[1]);
    if (end == text || !known || !(*seconds > 0) || *seconds > 1e7)
        return err_usage(e, "--time: \"%s\" is no time; write 90s, 5m or 1.5h", text);
    *seconds *= unit;
    return 0;
}

static int
run_train(const struct cmd_args *a, struct err *e) {
    struct prepared p;
    double seconds = 0;
    const char *time = cmd_flag(a, "time");
    if (time && read_time(time, &seconds, e) < 0)
        return -1;
    int status = prepare_run(a, false, &p, e);
    if (!status)
        status = train_run(p.dir, p.conf, p.resumed, seconds, e);
    prepare_free(&p);
    return status;
}

const struct cmd cmd_train = {
    .name = "train",
    .args = "[CONFIG]",
    .help =
        "Train by self-play: starts server, workers and learner; Ctrl-C stops, the same command "
        "continues.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run folder (default: runs/<name of CONFIG>)"},
            {"time", "TIME", "stop after this time: 90s, 5m, 1.5h"},
            {"steps", "N", "stop after learner step N"},
            {"set", "KEY=VALUE", "override an option; may be repeated"},
            {0},
        },
    .run = run_train,
};
