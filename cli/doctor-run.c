/* A run: its folder, disk, lock, database, snapshots, the learner's state, its games. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arena/lock.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/copy.h"
#include "cli/doctor.h"
#include "cli/server.h"
#include "games/extern/extern.h"

#define MIB (1ll << 20)
#define DISK_BAD (64 * MIB)
#define DISK_CARE (1024 * MIB)
#define WAL_CARE (512 * MIB)
#define AHEAD_MS 300000 /* that a clock may differ */

static void
check_folder(struct doctor *d) {
    static const char *const names[] = {"",       "/run.db", "/snapshots",
                                        "/state", "/logs",   "/config.yaml"};
    int bad = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[RUN_PATH + 32];
        snprintf(path, sizeof path, "%s%s", d->dir, names[i]);
        if (access(path, R_OK | W_OK) == 0 || (errno == ENOENT && i > 1))
            continue;
        bad++;
        doctor_tell(d, BAD, "permissions",
                    "give this user the right to write there (chown, chmod), "
                    "or run as the run's owner",
                    "%s: %s", path, strerror(errno));
    }
    if (!bad)
        doctor_tell(d, FINE, "permissions", NULL, "%s can be written to", d->dir);
}

static const char *
network_name(long type) {
    static const struct {
        long type;
        const char *name;
    } list[] = {{0x6969, "NFS"},       {0x517b, "SMB"},    {0xff534d42l, "CIFS"},
                {0xfe534d42l, "SMB2"}, {0x01021997, "9p"}, {0x00c36400, "Ceph"},
                {0x5346414fl, "AFS"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if ((type & 0xffffffffl) == list[i].type)
            return list[i].name;
    return NULL;
}

static void
check_disk(struct doctor *d) {
    struct statvfs v;
    struct statfs f;
    if (statvfs(d->dir, &v) < 0)
        return;
    long long spare = (long long)v.f_bavail * (long long)v.f_frsize;
    const char *mend = "make room; store.keep and snapshots.keep make a run smaller";
    const char *network = statfs(d->dir, &f) == 0 ? network_name((long)f.f_type) : NULL;
    if (network)
        doctor_tell(d, BAD, "disk", "move the run to a disk of this machine",
                    "the folder is on %s: a database in WAL mode cannot be shared there", network);
    if (v.f_flag & ST_RDONLY)
        doctor_tell(d, BAD, "disk", "mount it for writing", "it is mounted read-only");
    else if (spare < DISK_BAD || (v.f_files && !v.f_favail))
        doctor_tell(d, BAD, "disk", mend, "%lld MiB and %llu files are free: matches would wait",
                    spare / MIB, (unsigned long long)v.f_favail);
    else
        doctor_tell(d, spare < DISK_CARE ? CARE : FINE, "disk", spare < DISK_CARE ? mend : NULL,
                    "%lld MiB free", spare / MIB);
}

static bool
check_server(struct doctor *d) {
    bool held = lock_is_held(d->dir);
    char path[RUN_PATH + 32];
    snprintf(path, sizeof path, "%s/serve.json", d->dir);
    struct http *h = held ? server_connect(d->dir) : NULL;
    struct err e = {.text = "it has not written serve.json"};
    if (h && http_call(h, "GET", "/api/health", NULL, 0, 5, &e) == 200)
        doctor_tell(d, FINE, "server", NULL, "it runs and answers");
    else if (held)
        doctor_tell(d, BAD, "server",
                    "wait a moment; if it stays so, stop it (its log is in logs/)",
                    "a process holds the run's lock, but does not answer: %s", e.text);
    else if (file_exists(path))
        doctor_tell(d, CARE, "server", "nothing; the next start mends it",
                    "it does not run, and did not stop by itself");
    else
        doctor_tell(d, FINE, "server", NULL, "it does not run");
    http_free(h);
    return held;
}

/* Can the port be had that the options name? */
static void
check_port(struct doctor *d) {
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    const char *host = conf_text(d->conf, "serve.host");
    snprintf(port, sizeof port, "%lld", (long long)conf_int(d->conf, "serve.port"));
    int why = getaddrinfo(host, port, &hints, &list);
    if (why) {
        doctor_tell(d, BAD, "network", "set serve.host to an address of this machine", "%.80s: %s",
                    host, gai_strerror(why));
        return;
    }
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0)
        doctor_tell(d, BAD, "network", "end what uses it, or set serve.port to 0 (any free one)",
                    "%.80s port %s: %s", host, port, strerror(errno));
    else
        doctor_tell(d, FINE, "network", NULL, "%.80s port %s can be had", host, port);
    if (fd >= 0)
        close(fd);
    freeaddrinfo(list);
}

static void
check_wal(struct doctor *d, bool served) {
    char path[RUN_PATH + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/run.db-wal", d->dir);
    long long bytes = stat(path, &st) == 0 ? (long long)st.st_size : 0;
    if (bytes > WAL_CARE)
        doctor_tell(d, CARE, "log",
                    "end programs that keep the database open for long "
                    "(sqlite3, notebooks); it shrinks then",
                    "run.db-wal has %lld MiB: some reader holds on to an old state", bytes / MIB);
    else if (bytes && !served)
        doctor_tell(d, FINE, "log", NULL,
                    "run.db-wal has %lld KiB of a server that was killed; the next start takes "
                    "them in (do not remove the file: they are part of the database)",
                    bytes >> 10);
}

static int
newest_match(void *arg, const struct store_cell *cell, int cells) {
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].name, "last_ended_ms") && cell[i].type == STORE_INT)
            *(int64_t *)arg = strtoll(cell[i].text, NULL, 10);
    return 0;
}

static void
check_database(struct doctor *d) {
    char path[RUN_PATH + 32];
    struct err e;
    int64_t ended = 0;
    static const char mend[] = "put a backup back (`agon backup` makes them); what can still be "
                               "read: sqlite3 run.db .recover";
    snprintf(path, sizeof path, "%s/run.db", d->dir);
    d->store = store_open(path, STORE_READ, false, &e);
    if (!d->store) {
        doctor_tell(d, BAD, "database", "do as the sentence says, or put a backup back", "%s",
                    e.text);
        return;
    }
    if (!d->quick && store_check(d->store, false, NULL, &e) < 0)
        doctor_tell(d, BAD, "database", mend, "%s: %s", path, e.text);
    else
        doctor_tell(d, FINE, "database", NULL,
                    d->quick ? "it opens" : "every page and row is whole");
    if (store_query(d->store, "status", NULL, 0, newest_match, &ended, &e) >= 0 &&
        ended > clock_wall_ms() + AHEAD_MS)
        doctor_tell(d, CARE, "clock", "set the clock (timedatectl set-ntp true)",
                    "the newest match ended in the future: the clock has been set back");
}

/* ---- weights ---- */

struct weights {
    struct doctor *d;
    int64_t newest;
    int missing, damaged, whole;
};

static int
check_snapshot(void *arg, const struct store_policy *p) {
    struct weights *w = arg;
    char path[RUN_PATH + 160];
    if (strcmp(p->kind, "snapshot") || !p->kept)
        return 0;
    snprintf(path, sizeof path, "%s/snapshots/%s.safetensors", w->d->dir, p->name);
    bool newest = p->id == w->newest, there = file_exists(path);
    bool whole = there && (w->d->quick || copy_is(path, p->name));
    w->missing += !there;
    w->damaged += there && !whole;
    w->whole += whole;
    if (newest && !whole)
        doctor_tell(w->d, BAD, "snapshots", "put the file back from a backup",
                    "%s, the newest, is %s: nothing can be played with it", path,
                    there ? "damaged" : "missing");
    else if (there && !whole)
        doctor_tell(w->d, BAD, "snapshots", "put the file back from a backup, or remove it",
                    "%s (step %lld) is damaged: matches with it cannot be played", path,
                    (long long)p->step);
    return 0;
}

static void
check_weights(struct doctor *d) {
    struct weights w = {.d = d};
    struct store_policy newest = {0};
    char state[HASH_HEX] = "", path[RUN_PATH + 160];
    int64_t step = -1;
    struct err e;
    if (store_step_last(d->store, &step, state, &e) < 0 ||
        store_policy_latest(d->store, &newest, &e) < 0) {
        doctor_tell(d, BAD, "snapshots", NULL, "%s", e.text);
        return;
    }
    w.newest = newest.id;
    if (store_policy_list(d->store, check_snapshot, &w, &e) < 0)
        doctor_tell(d, BAD, "snapshots", NULL, "%s", e.text);
    if (w.missing)
        doctor_tell(d, CARE, "snapshots", "put them back from a backup if they are missed",
                    "%d files are missing, so these policies cannot play", w.missing);
    else if (!w.damaged)
        doctor_tell(d, FINE, "snapshots", NULL, "%d of %lld steps, %s", w.whole,
                    (long long)step + 1, d->quick ? "all there" : "all whole");
    if (step < 0)
        return;
    snprintf(path, sizeof path, "%s/state/%s.safetensors", d->dir, state);
    if (!file_exists(path) || (!d->quick && !copy_is(path, state)))
        doctor_tell(d, BAD, "learner", "put it back from a backup (--with-snapshots)",
                    "%s, its state after step %lld, is %s: it cannot go on", path, (long long)step,
                    file_exists(path) ? "damaged" : "missing");
    else
        doctor_tell(d, FINE, "learner", NULL, "its state after step %lld is there",
                    (long long)step);
}

/* ---- games ---- */

static int
check_game(void *arg, const struct store_game *row) {
    struct doctor *d = arg;
    const struct game *g;
    struct game_args args;
    struct err e;
    bool fine = game_spec_parse(row->spec, &g, &args, &e) == 0 &&
                game_same(g, row->version, row->hash, &e) == 0;
    if (!fine)
        doctor_tell(d, CARE, "games", "put its files back, or `agon games add` what they are now",
                    "matches of %.80s in the database cannot be played again: %s", row->spec,
                    e.text);
    return 0;
}

static void
check_games(struct doctor *d) {
    struct conf_game list[CONF_MAX_GAMES];
    size_t n = conf_games(d->conf, list), good = 0;
    for (size_t i = 0; i < n; i++) {
        const struct game *g;
        struct game_args args;
        struct err e;
        if (game_spec_parse(list[i].name, &g, &args, &e) == 0)
            good++;
        else
            doctor_tell(d, BAD, "games",
                        "put its files back, or `agon games add` what they are now",
                        "the run plays %.80s: %s", list[i].name, e.text);
    }
    if (good == n)
        doctor_tell(d, FINE, "games", NULL, "all %zu that the run plays can be played", n);
    if (d->store)
        store_game_list(d->store, check_game, d, NULL);
}

void
doctor_run(struct doctor *d) {
    doctor_tell(d, FINE, "run", NULL, "%s", d->dir);
    check_folder(d);
    check_disk(d);
    bool served = check_server(d);
    if (!served && d->conf_read)
        check_port(d);
    check_wal(d, served);
    check_database(d);
    if (d->store)
        check_weights(d);
    if (d->conf_read)
        check_games(d);
}
