#include "cli/prepare.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "arena/setup.h"
#include "base/file.h"
#include "cli/fit.h"

int
prepare_dir(const char *config, char out[PREPARE_PATH], struct err *e) {
    const char *slash = strrchr(config, '/'), *base = slash ? slash + 1 : config;
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (n == 0 || n > 200)
        return err_set(e, "%s: cannot name a run after this file; say --run DIR", config);
    snprintf(out, PREPARE_PATH, "runs/%.*s", (int)n, base);
    return 0;
}

static int
find_dir(const struct cmd_args *a, char out[PREPARE_PATH], struct err *e) {
    const char *dir = cmd_flag(a, "run");
    if (!dir && !a->words)
        return err_usage(e, "say which configuration: agon train configs/kuhn.yaml");
    if (!dir)
        return prepare_dir(a->word[0], out, e);
    if (!*dir)
        return err_usage(e, "--run: an empty name is no folder");
    if (snprintf(out, PREPARE_PATH, "%s", dir) >= PREPARE_PATH)
        return err_usage(e, "--run: the path is too long");
    return 0;
}

static int
check(const struct prepared *p, const char *old_path, struct err *e) {
    struct setup setup;
    if (setup_load(&setup, p->conf, e) < 0)
        return -1;
    int fits = p->resumed ? 0 : fit_check(&setup, e);
    setup_free(&setup);
    if (fits < 0 || !p->resumed)
        return fits;
    struct conf *old = conf_new();
    int status = conf_load(old, old_path, e);
    const struct conf_option *o = status < 0 ? NULL : conf_conflict(p->conf, old);
    if (o)
        status = err_set(e,
                         "%s: the run in %s was begun with another value, and this option cannot "
                         "change any more; use another folder (--run DIR) or remove that one",
                         o->key, p->dir);
    conf_free(old);
    return status;
}

static int
make_folders(const struct prepared *p, struct err *e) {
    static const char *const folders[] = {"snapshots", "state", "logs"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[PREPARE_PATH + 32];
        snprintf(path, sizeof path, "%s/%s", p->dir, folders[i]);
        if (file_mkdirs(path, e) < 0)
            return -1;
    }
    return 0;
}

static int
no_run(const char *dir, struct err *e) {
    char path[PREPARE_PATH + 32];
    snprintf(path, sizeof path, "%s/run.db", dir);
    struct stat st;
    if (stat(path, &st) < 0 && errno != ENOENT && errno != ENOTDIR)
        return err_set(e, "%s: cannot look into this folder: %s", dir, strerror(errno));
    if (file_exists(path))
        return err_set(e,
                       "%s: the run in this folder has lost its config.yaml; put it back, or name "
                       "the configuration that the run was begun with",
                       dir);
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, "%s: a run is a folder, this is a file", dir);
    return err_set(e, "%s: there is no run in this folder; name a configuration to begin one", dir);
}

static bool
has_bytes(const char *dir, const char *name) {
    char path[PREPARE_PATH + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) == 0 && st.st_size > 0;
}

static bool
has_snapshots(const char *dir) {
    char path[PREPARE_PATH + 32];
    snprintf(path, sizeof path, "%s/snapshots", dir);
    DIR *d = opendir(path);
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d));)
        found = strstr(entry->d_name, ".safetensors") != NULL;
    if (d)
        closedir(d);
    return found;
}

/* A run that has learned has a database. Without it the folder would get the matches of a second
 * run among the files of the first. */
static int
refuse_lost(const char *dir, struct err *e) {
    if (has_bytes(dir, "run.db") || (!has_bytes(dir, "metrics.jsonl") && !has_snapshots(dir)))
        return 0;
    return err_set(e,
                   "%s: the run in this folder has lost its database (run.db is missing or empty, "
                   "but what it learned is there); put a backup of run.db back, or name a new "
                   "folder with --run",
                   dir);
}

int
prepare_run(const struct cmd_args *a, bool check_only, struct prepared *p, struct err *e) {
    char path[PREPARE_PATH + 32];
    *p = (struct prepared){.conf = conf_new()};
    if (find_dir(a, p->dir, e) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/config.yaml", p->dir);
    p->resumed = file_exists(path);
    if (!a->words && !p->resumed)
        return no_run(p->dir, e);
    if (refuse_lost(p->dir, e) < 0)
        return -1;
    if ((a->words ? conf_load_named(p->conf, a->word[0], e) : conf_load(p->conf, path, e)) < 0)
        return -1;
    const char *assignment;
    for (int i = 0; (assignment = cmd_flag_nth(a, "set", i)); i++)
        if (conf_set(p->conf, assignment, e) < 0)
            return -1;
    const char *steps = cmd_flag(a, "steps");
    if (steps) {
        char text[64];
        snprintf(text, sizeof text, "learner.steps=%.40s", steps);
        if (conf_set(p->conf, text, e) < 0)
            return err_prefix(e, "--steps");
    }
    if (check(p, path, e) < 0)
        return -1;
    if (check_only)
        return 0;
    struct buf yaml = {0};
    conf_write(p->conf, &yaml);
    int status = make_folders(p, e);
    if (!status)
        status = file_write(path, yaml.at, yaml.len, true, e);
    buf_free(&yaml);
    return status;
}

void
prepare_free(struct prepared *p) {
    conf_free(p->conf);
    p->conf = NULL;
}
