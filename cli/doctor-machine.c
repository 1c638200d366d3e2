/* The machine: arithmetic, clock, descriptors, memory, libraries, registered games. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "arena/setup.h"
#include "arena/worker.h"
#include "base/clock.h"
#include "cli/doctor.h"
#include "games/extern/extern.h"
#include "games/extern/registry.h"
#include "policy/mat.h"

#define DESCRIPTORS_SPARE 128
#define YEAR_2024_MS 1704067200000ll

static void
check_sqlite(struct doctor *d) {
    int major = 0, minor = 0, patch = 0;
    const char *version = store_sqlite_version();
    sscanf(version, "%d.%d.%d", &major, &minor, &patch);
    if (major < 3 || (major == 3 && minor < 38))
        doctor_tell(d, BAD, "sqlite", "install a newer SQLite (3.38 or later)",
                    "version %s does not know the tables of a run", version);
    else
        doctor_tell(d, FINE, "sqlite", NULL, "version %s", version);
}

static void
check_arithmetic(struct doctor *d) {
    static const char mend[] = "unset OPENBLAS_CORETYPE, or set it to a kernel that passes: "
                               "SkylakeX, Sandybridge or Nehalem";
    const char *wish = getenv("OPENBLAS_CORETYPE");
    struct setup setup;
    struct err e;
    if (setup_load(&setup, d->conf, &e) < 0) {
        doctor_tell(d, BAD, "options",
                    "mend the option that is named; a game that is not here: `agon games add` it",
                    "%s", e.text);
        return;
    }
    if (worker_check_kernel(&setup.model, &e) < 0)
        doctor_tell(d, BAD, "arithmetic", mend, "%s", e.text);
    else if (wish && strcasecmp(wish, mat_kernel()))
        doctor_tell(d, CARE, "arithmetic", "unset OPENBLAS_CORETYPE",
                    "OPENBLAS_CORETYPE is %.40s, but OpenBLAS uses %s; its results are right", wish,
                    mat_kernel());
    else
        doctor_tell(d, FINE, "arithmetic", NULL,
                    "kernel %s agrees with plain loops and keeps rows apart", mat_kernel());
    setup_free(&setup);
}

static void
check_clock(struct doctor *d) {
    char text[64];
    int64_t wall = clock_wall_ms(), mono = clock_mono_us();
    time_t at = (time_t)(wall / 1000);
    struct tm t;
    if (!gmtime_r(&at, &t) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &t))
        snprintf(text, sizeof text, "%" PRId64 " ms", wall);
    usleep(2000);
    if (wall < YEAR_2024_MS)
        doctor_tell(d, CARE, "clock", "set the clock (timedatectl set-ntp true)",
                    "it says %s UTC, which is long past: dates in the database will be wrong",
                    text);
    else if (clock_mono_us() - mono < 1000)
        doctor_tell(d, BAD, "clock", "use another machine or kernel",
                    "the monotonic clock stands still: no deadline would ever pass");
    else
        doctor_tell(d, FINE, "clock", NULL, "%s UTC", text);
}

static void
check_descriptors(struct doctor *d) {
    struct rlimit r;
    rlim_t need = (rlim_t)conf_int(d->conf, "serve.connections") + DESCRIPTORS_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    if (r.rlim_max < DESCRIPTORS_SPARE)
        doctor_tell(d, BAD, "descriptors", "raise the limit: ulimit -Hn 4096",
                    "a process may open %llu files, which is too few for the server",
                    (unsigned long long)r.rlim_max);
    else if (r.rlim_max < need)
        doctor_tell(d, CARE, "descriptors",
                    "raise the limit (ulimit -Hn), or lower "
                    "serve.connections",
                    "a process may open %llu files; serve.connections would need %llu, so there "
                    "will be fewer connections",
                    (unsigned long long)r.rlim_max, (unsigned long long)need);
    else
        doctor_tell(d, FINE, "descriptors", NULL, "%llu files may be open",
                    (unsigned long long)r.rlim_max);
}

static void
check_memory(struct doctor *d) {
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    long long kb = -1;
    while (f && kb < 0 && fgets(line, sizeof line, f))
        sscanf(line, "MemAvailable: %lld kB", &kb);
    if (f)
        fclose(f);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (kb >= 0 && kb < 256 * 1024)
        doctor_tell(d, CARE, "memory", "end other programs, or lower workers.count",
                    "only %lld MiB are free", kb / 1024);
    else
        doctor_tell(d, FINE, "memory", NULL, "%lld MiB free, %ld processors",
                    kb < 0 ? 0 : kb / 1024, processors);
}

static int
check_registered(void *arg, const struct registry_row *r) {
    struct doctor *d = arg;
    const struct game *g;
    struct game_args args;
    struct err e;
    if (r->quarantine)
        doctor_tell(d, CARE, "games", "mend its program, then `agon games add` it again",
                    "%.64s is in quarantine: %.300s", r->name, r->quarantine);
    else if (game_spec_parse(r->name, &g, &args, &e) < 0)
        doctor_tell(d, CARE, "games", "put its files back, or `agon games add` what they are now",
                    "%s", e.text);
    return 0;
}

static void
check_registry(struct doctor *d) {
    struct err e;
    char path[REGISTRY_PATH];
    if (registry_path(path, &e) < 0) /* no home: no registered games either */
        return;
    if (registry_each(check_registered, d, &e) < 0)
        doctor_tell(d, CARE, "games", "mend or remove that file", "%s", e.text);
}

void
doctor_machine(struct doctor *d) {
    check_sqlite(d);
    check_arithmetic(d);
    check_clock(d);
    check_descriptors(d);
    check_memory(d);
    check_registry(d);
}
