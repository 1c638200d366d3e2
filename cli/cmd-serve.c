/* agon serve: the arena server by itself. */
#include <stdio.h>

#include "arena/serve.h"
#include "cli/cmd.h"
#include "cli/prepare.h"

static int
run_serve(const struct cmd_args *a, struct err *e) {
    struct prepared p;
    bool check_only = cmd_flag(a, "check") != NULL;
    int status = prepare_run(a, check_only, &p, e);
    if (!status && check_only)
        printf("%s is right.\n", a->words ? a->word[0] : p.dir);
    else if (!status)
        status = serve_run(p.dir, e);
    prepare_free(&p);
    return status;
}

const struct cmd cmd_serve = {
    .name = "serve",
    .args = "[CONFIG]",
    .help = "Run the arena server: workers, schedule, database and HTTP API; a learner joins with "
            "`agon learn`.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run folder (default: runs/<name of CONFIG>)"},
            {"set", "KEY=VALUE", "override an option; may be repeated"},
            {"check", NULL, "only check the configuration"},
            {0},
        },
    .run = run_serve,
};
