/* agon backup: a checked copy of a run's database, or of all that the run needs to go on elsewhere,
 * while it goes on here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/copy.h"
#include "cli/progress.h"
#include "cli/run.h"

enum { TRIES = 200, CONFIG_MOST = 1 << 20 };

static volatile sig_atomic_t asked_to_stop;

static void
on_signal(int signal) {
    (void)signal;
    asked_to_stop = 1;
}

struct job {
    struct run run;
    struct progress progress;
    const char *doing;
    const char *to;         /* the folder of a whole copy; NULL: the database alone */
    bool late;              /* what the newest step needs was dropped before it could be copied */
    long long files, bytes; /* snapshots and states that were copied */
};

static bool
tell(void *arg, int done, int all) {
    struct job *j = arg;
    progress_part(&j->progress, j->doing, (uint64_t)done, all > 0 ? (uint64_t)all : 0);
    return asked_to_stop;
}

/* ---- the database ---- */

static int take_newest(void *arg, struct err *e);

/* What stands at `path` may be an older backup; anything else is not replaced. */
static int
check_target(const struct job *j, const char *path, struct err *e) {
    char beside[RUN_PATH + 64], source[RUN_PATH + 32];
    struct stat a, b;
    snprintf(source, sizeof source, "%s/run.db", j->run.dir);
    if (stat(path, &a) < 0)
        return errno == ENOENT ? 0 : err_set(e, "%s: %s", path, strerror(errno));
    if (S_ISDIR(a.st_mode))
        return err_set(e, "%s: is a folder; name a file, or say --with-snapshots", path);
    if (stat(source, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return err_set(e, "%s: is the run's own database", path);
    struct store *old = a.st_size ? store_open(path, STORE_READ, false, e) : NULL;
    store_close(old);
    if (a.st_size && !old)
        return err_prefix(e, "what is there is no older backup, and is not replaced");
    snprintf(beside, sizeof beside, "%s-wal", path);
    if (stat(beside, &a) == 0 && a.st_size > 0)
        return err_set(e,
                       "%s: another program has the older backup open, or left this behind; "
                       "close it, or name another file",
                       beside);
    return 0;
}

/* Checked under its temporary name, as nobody else writes to it. */
static int
check_copy(struct job *j, const char *temp, struct err *e) {
    struct store_watch watch = {.tell = tell, .arg = j};
    struct store *copy = store_open(temp, STORE_READ, false, e);
    j->doing = "checking";
    int bad = copy ? store_check(copy, false, &watch, e) : -1;
    store_close(copy);
    return bad && !asked_to_stop ? err_prefix(e, "%s", temp) : bad;
}

static void
remove_copy(const char *temp) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[RUN_PATH + 64];
        snprintf(path, sizeof path, "%s%s", temp, ends[i]);
        unlink(path);
    }
}

static int
backup_database(struct job *j, const char *path, struct err *e) {
    char temp[RUN_PATH + 32];
    struct store_watch watch = {tell, j->to ? take_newest : NULL, j};
    if (strlen(path) > RUN_PATH / 4)
        return err_set(e, "%.80s...: the path is too long", path);
    if (check_target(j, path, e) < 0)
        return -1;
    snprintf(temp, sizeof temp, "%s.tmp%ld", path, (long)getpid());
    remove_copy(temp);
    j->doing = "copying";
    int bad = store_backup(j->run.store, temp, &watch, e);
    if (!bad)
        bad = check_copy(j, temp, e);
    progress_clear(&j->progress);
    if (!bad)
        bad = copy_sync(temp, e);
    if (!bad)
        bad = file_rename(temp, path, e);
    remove_copy(temp);
    return bad && asked_to_stop ? err_set(e, "stopped; %s is as it was", path) : bad;
}

/* ---- with snapshots ---- */

struct pass {
    struct job *job;
    struct store *copy; /* where rows of missing files are corrected; NULL: not yet */
    struct err *e;
};

/* 1 there now, 0 the run has none (any more), -1. */
static int
take_file(struct job *j, const char *to, const char *folder, const char *hash, struct err *e) {
    char from[RUN_PATH + 160], into[RUN_PATH + 160];
    snprintf(from, sizeof from, "%s/%s/%s.safetensors", j->run.dir, folder, hash);
    snprintf(into, sizeof into, "%s/%s/%s.safetensors", to, folder, hash);
    j->doing = "copying snapshots";
    if (tell(j, 0, 0))
        return err_set(e, "stopped; the copy in %s is not complete", to);
    if (copy_is(into, hash))
        return 1;
    long long bytes = copy_file(from, into, hash, e);
    if (bytes == COPY_NONE)
        return 0;
    if (bytes < 0)
        return -1;
    j->files++;
    j->bytes += bytes;
    return 1;
}

/* What the newest step of the copy needs, taken at the very moment that is copied: a fast run drops
 * its states within milliseconds. */
static int
take_newest(void *arg, struct err *e) {
    struct job *j = arg;
    char state[HASH_HEX] = "";
    struct store_policy newest = {0};
    int64_t step = -1;
    j->late = false;
    if (store_step_last(j->run.store, &step, state, e) < 0)
        return -1;
    if (step < 0)
        return 0;
    if (store_policy_latest(j->run.store, &newest, e) < 0)
        return -1;
    int got = take_file(j, j->to, "state", state, e);
    if (got > 0)
        got = take_file(j, j->to, "snapshots", newest.name, e);
    j->late = got == 0;
    return j->late ? err_set(e, "the run was faster") : got < 0 ? -1 : 0;
}

static int
take_snapshot(void *arg, const struct store_policy *p) {
    struct pass *w = arg;
    if (strcmp(p->kind, "snapshot") || !p->kept)
        return 0;
    return take_file(w->job, w->job->to, "snapshots", p->name, w->e) < 0 ? -1 : 0;
}

/* A snapshot that the run has dropped since is marked so in the copy. */
static int
drop_missing(void *arg, const struct store_policy *p) {
    struct pass *w = arg;
    char path[RUN_PATH + 160];
    snprintf(path, sizeof path, "%s/snapshots/%s.safetensors", w->job->to, p->name);
    if (strcmp(p->kind, "snapshot") || !p->kept || file_exists(path))
        return 0;
    return store_policy_set_kept(w->copy, p->id, false, w->e);
}

/* Files that the copy names and that are still there are taken, the others marked as dropped. */
static int
complete(struct job *j, struct err *e) {
    char path[RUN_PATH + 32];
    struct pass w = {.job = j, .e = e};
    snprintf(path, sizeof path, "%s/run.db", j->to);
    w.copy = store_open(path, STORE_WRITE, true, e);
    struct store *list = w.copy ? store_open(path, STORE_READ, false, e) : NULL;
    int bad = !list || store_policy_list(list, take_snapshot, &w, e) < 0 ||
              store_policy_list(list, drop_missing, &w, e) < 0;
    store_close(list);
    store_close(w.copy);
    return bad ? -1 : 0;
}

/* The folder is a run itself afterwards, which goes on where this one was. */
static int
check_folder(const struct job *j, const char *to, struct err *e) {
    char a[HASH_HEX], b[HASH_HEX], path[RUN_PATH + 32];
    struct stat x, y;
    if (strlen(to) > RUN_PATH / 4)
        return err_set(e, "%.80s...: the path is too long", to);
    if (stat(to, &x) < 0)
        return errno == ENOENT ? 0 : err_set(e, "%s: %s", to, strerror(errno));
    if (stat(j->run.dir, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino)
        return err_set(e, "%s: is the run itself", to);
    snprintf(path, sizeof path, "%s/run.db", to);
    if (!file_exists(path))
        return rmdir(to) == 0
                   ? 0
                   : err_set(e, "%s: is there, and is neither empty nor an older backup", to);
    struct store *old = store_open(path, STORE_READ, false, e);
    int bad =
        !old || store_run_identity(old, a, e) < 0 || store_run_identity(j->run.store, b, e) < 0;
    store_close(old);
    if (!bad && strcmp(a, b))
        return err_set(e, "%s: is the backup of another run", to);
    return bad ? -1 : 0;
}

static int
copy_text(const struct job *j, const char *to, const char *name, struct err *e) {
    char from[RUN_PATH + 32], into[RUN_PATH + 32];
    struct buf text = {0};
    snprintf(from, sizeof from, "%s/%s", j->run.dir, name);
    snprintf(into, sizeof into, "%s/%s", to, name);
    int bad =
        file_read(from, CONFIG_MOST, &text, e) || file_write(into, text.at, text.len, true, e);
    buf_free(&text);
    return bad ? -1 : 0;
}

static int
backup_all(struct job *j, const char *to, struct err *e) {
    static const char *const folders[] = {"snapshots", "state", "logs"};
    char path[RUN_PATH + 32];
    if (check_folder(j, to, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", to, folders[i]);
        if (file_mkdirs(path, e) < 0)
            return -1;
    }
    if (copy_text(j, to, "config.yaml", e) < 0)
        return -1;
    /* Files first: those that are there are not missed later, when the database names them. */
    struct pass w = {.job = j, .e = e};
    j->to = to;
    if (store_policy_list(j->run.store, take_snapshot, &w, e) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/run.db", to);
    for (int i = 0; i < TRIES; i++) {
        if (backup_database(j, path, e) == 0)
            return complete(j, e);
        if (!j->late)
            return -1;
    }
    return err_set(e, "%s: the run makes steps faster than one can be copied; stop it first", to);
}

static int
backup(struct job *j, const struct cmd_args *a, struct err *e) {
    const char *to = a->word[0];
    bool all = cmd_flag(a, "with-snapshots") != NULL;
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    progress_begin(&j->progress, "files");
    if (run_open(&j->run, cmd_flag(a, "run"), e) < 0)
        return -1;
    int bad = all ? backup_all(j, to, e) : backup_database(j, to, e);
    progress_clear(&j->progress);
    if (bad)
        return -1;
    if (all)
        printf("%s: a copy of %s, checked, with %lld files of weights and states (%.1f MB) that "
               "were not there before. `agon train --run %s` goes on from it.\n",
               to, j->run.dir, j->files, (double)j->bytes / 1e6, to);
    else
        printf("%s: a copy of %s/run.db, checked.\n", to, j->run.dir);
    return 0;
}

static int
run_backup(const struct cmd_args *a, struct err *e) {
    struct job j = {0};
    int status = backup(&j, a, e);
    run_close(&j.run);
    return status;
}

const struct cmd cmd_backup = {
    .name = "backup",
    .args = "FILE",
    .help = "Copy a run's database, also while it trains, and check the copy.",
    .least = 1,
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"with-snapshots", NULL,
             "FILE is a folder: a whole run, with options, weights and the learner's state"},
            {0},
        },
    .run = run_backup,
};
