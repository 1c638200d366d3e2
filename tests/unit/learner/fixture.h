/* What the learner's tests share: a small plan, a folder that goes away. */
#ifndef TESTS_LEARNER_FIXTURE_H
#define TESTS_LEARNER_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/file.h"
#include "learner/plan.h"

/* Options of a model small enough that a step takes a millisecond. */
static const char *const fixture_options[] = {
    "model.dim=16",       "model.layers=1",     "model.heads=2",      "model.kv_heads=1",
    "model.hidden=16",    "model.context=16",   "model.init_std=0.2", "learner.batch=64",
    "learner.chunk=64",   "learner.warmup=0",   "learner.lr=0.02",    "learner.threads=1",
    "prompt.max_reply=4", "learner.beta2=0.95", "learner.ramp=0",     NULL};

/* The options above, then `more` (NULL-terminated, or NULL). */
static inline struct conf *
fixture_conf(const char *const *more) {
    struct conf *c = conf_new();
    struct err e = {.text = ""};
    for (int pass = 0; pass < 2; pass++) {
        for (const char *const *o = pass ? more : fixture_options; o && *o; o++) {
            if (conf_set(c, *o, &e) < 0) {
                fprintf(stderr, "%s\n", e.text);
                abort();
            }
        }
    }
    return c;
}

static inline struct plan
fixture_plan(const char *const *more) {
    struct conf *c = fixture_conf(more);
    struct plan p;
    struct err e = {.text = ""};
    if (plan_from(&p, c, &e) < 0) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    conf_free(c);
    return p;
}

/* A new folder with the sub-folders of a run. */
static inline void
fixture_folder(char path[64]) {
    snprintf(path, 64, "/tmp/agon-learner-XXXXXX");
    if (!mkdtemp(path))
        abort();
    char sub[128];
    const char *const names[] = {"snapshots", "state"};
    for (int i = 0; i < 2; i++) {
        snprintf(sub, sizeof sub, "%s/%s", path, names[i]);
        if (mkdir(sub, 0777) < 0)
            abort();
    }
}

/* Calls one() with the path of every file of a folder; returns how many there are. */
static inline int
fixture_each(const char *folder, void (*one)(const char *path)) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *f; d && (f = readdir(d));) {
        char path[512];
        if (f->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (one)
            one(path);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

static inline void
fixture_unlink(const char *path) {
    unlink(path);
}

static inline void
fixture_remove(const char *run) {
    char sub[128];
    const char *const names[] = {"snapshots", "state", "logs"};
    for (int i = 0; i < 3; i++) {
        snprintf(sub, sizeof sub, "%s/%s", run, names[i]);
        fixture_each(sub, fixture_unlink);
        rmdir(sub);
    }
    fixture_each(run, fixture_unlink);
    rmdir(run);
}

#endif
