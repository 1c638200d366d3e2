/* agon worker: started by the server, which is at the other end of descriptor 3. */
#include <sys/socket.h>
#include <sys/stat.h>

#include "arena/wire.h"
#include "arena/worker.h"
#include "cli/cmd.h"

static int
run_worker(const struct cmd_args *a, struct err *e) {
    (void)a;
    struct stat st;
    if (fstat(WIRE_FD, &st) < 0 || !S_ISSOCK(st.st_mode))
        return err_set(e, "workers are started by `agon serve`, not by hand");
    return worker_run(WIRE_FD, e);
}

const struct cmd cmd_worker = {
    .name = "worker",
    .args = "",
    .help = "Play matches for a server (started by it).",
    .needs_mat = true,
    .run = run_worker,
};
