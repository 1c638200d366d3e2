#include "cli/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "policy/player.h"
#include "policy/snap.h"
#include "policy/token.h"

enum { PATIENCE_SECONDS = 60 }; /* with a question: nobody else waits for a command */

static const char root[] = "runs";

/* When the run's database changed last, in nanoseconds; 0: there is none, errno says why. The
 * write-ahead log counts. */
static long long
changed_at(const char *dir) {
    static const char *const files[] = {"run.db", "run.db-wal"};
    long long newest = 0;
    for (int i = 0; i < 2; i++) {
        char path[RUN_PATH + 32];
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        struct stat st;
        if (stat(path, &st) < 0) {
            if (i == 0)
                return 0;
            continue;
        }
        long long at = (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        if (at > newest)
            newest = at;
    }
    return newest;
}

/* 1 found, 0 there is no run. */
static int
find_newest(char out[RUN_PATH]) {
    DIR *d = opendir(root);
    if (!d)
        return 0;
    long long newest = 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] == '.')
            continue;
        char path[RUN_PATH];
        if (snprintf(path, sizeof path, "%s/%s", root, entry->d_name) >= (int)sizeof path)
            continue;
        long long at = changed_at(path);
        if (at > newest) {
            newest = at;
            snprintf(out, RUN_PATH, "%s", path);
        }
    }
    closedir(d);
    return newest > 0;
}

int
run_find(const char *dir, char out[RUN_PATH], struct err *e) {
    if (!dir) {
        if (find_newest(out))
            return 0;
        return err_set(e,
                       "there is no run under %s/ here: start one with `agon train "
                       "configs/kuhn.yaml`, or name its folder with --run DIR",
                       root);
    }
    if (!*dir)
        return err_usage(e, "--run: an empty name is no folder");
    if (snprintf(out, RUN_PATH, "%s", dir) >= RUN_PATH)
        return err_usage(e, "--run: the path is longer than %d bytes", RUN_PATH - 1);
    struct stat st;
    if (stat(dir, &st) < 0)
        return err_set(e, "--run %s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(e, "--run %s: a run is a folder, this is a file", dir);
    if (changed_at(dir))
        return 0;
    if (errno != ENOENT)
        return err_set(e, "--run %s: cannot look into this folder: %s", dir, strerror(errno));
    return err_set(e, "--run %s: this folder has no run.db, so it is no run", dir);
}

static int
open_parts(struct run *r, struct err *e) {
    char path[RUN_PATH + 32];
    snprintf(path, sizeof path, "%s/config.yaml", r->dir);
    if (conf_load(r->conf, path, e) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/run.db", r->dir);
    r->store = store_open(path, STORE_READ, false, e);
    if (r->store)
        store_set_patience(r->store, PATIENCE_SECONDS);
    return r->store ? 0 : -1;
}

/* A game may be one that this machine does not have (any more): its matches can be looked at all
 * the same, and whoever needs its rules is told. */
static void
find_games(struct run *r) {
    struct conf_game list[CONF_MAX_GAMES];
    size_t n = conf_games(r->conf, list);
    struct game_args args;
    for (; r->games < n; r->games++)
        if (game_spec_parse(list[r->games].name, &r->game[r->games], &args, NULL) < 0)
            r->game[r->games] = NULL;
}

static int
open_run(struct run *r, const char *dir, bool optional, struct err *e) {
    *r = (struct run){.conf = conf_new()};
    struct err why;
    int bad = 0;
    if (!run_find(dir, r->dir, &why)) {
        bad = open_parts(r, e);
    } else {
        r->dir[0] = '\0';
        if (dir || !optional) {
            *e = why;
            bad = -1;
        }
    }
    if (!bad)
        find_games(r);
    else
        run_close(r);
    return bad;
}

bool
run_plays(const struct run *r, const struct game *g) {
    for (size_t i = 0; i < r->games; i++)
        if (r->game[i] == g)
            return true;
    return false;
}

int
run_open(struct run *r, const char *dir, struct err *e) {
    return open_run(r, dir, false, e);
}

int
run_open_any(struct run *r, const char *dir, struct err *e) {
    return open_run(r, dir, true, e);
}

void
run_close(struct run *r) {
    store_close(r->store);
    if (r->conf)
        conf_free(r->conf);
    *r = (struct run){0};
}

static int
find_scripted(const struct run *r, const char *name, struct store_policy *out, struct err *e) {
    if (r->store) {
        int found = store_policy_find(r->store, name, out, NULL);
        if (found == 1 && !strcmp(out->kind, "scripted"))
            return 0;
    }
    *out = (struct store_policy){.step = -1};
    snprintf(out->kind, sizeof out->kind, "scripted");
    if (snprintf(out->name, sizeof out->name, "%s", name) >= (int)sizeof out->name)
        return err_set(e, "%.40s...: a player's name has at most %d letters", name, HASH_HEX - 1);
    return 0;
}

int
run_policy(const struct run *r, const char *name, struct store_policy *out, struct err *e) {
    if (player_is_scripted(name))
        return find_scripted(r, name, out, e);
    if (!r->store)
        return err_set(
            e,
            "%s: there is no run under %s/ here whose policy that could be; start one with "
            "`agon train configs/kuhn.yaml`, or name a scripted player "
            "(`agon policies --scripted` lists them)",
            name, root);
    bool latest = !strcmp(name, "latest");
    int found =
        latest ? store_policy_latest(r->store, out, e) : store_policy_find(r->store, name, out, e);
    if (found < 0)
        return -1;
    if (!found && latest)
        return err_set(e, "%s: this run has no snapshot yet", r->dir);
    if (!found)
        return err_set(e,
                       "%s: no policy of %s has this name; `agon policies` lists the snapshots, "
                       "`agon policies --scripted` the scripted players",
                       name, r->dir);
    return 0;
}

bool
run_has_snapshot(const struct run *r, const struct store_policy *p) {
    char folder[RUN_PATH + 16], path[RUN_PATH + 128];
    snprintf(folder, sizeof folder, "%s/snapshots", r->dir);
    snap_path(folder, p->name, path, sizeof path);
    return file_exists(path);
}

struct model *
run_model(const struct run *r, const struct store_policy *p, struct err *e) {
    char folder[RUN_PATH + 16];
    snprintf(folder, sizeof folder, "%s/snapshots", r->dir);
    if (!run_has_snapshot(r, p)) {
        err_set(e,
                p->kept
                    ? "the file of snapshot %.8s of step %lld is missing from %s"
                    : "snapshot %.8s of step %lld was thinned out (option snapshots.keep); `agon "
                      "policies` lists those that are kept in %s",
                p->name, (long long)p->step, r->dir);
        return NULL;
    }
    struct model *m = snap_load(folder, p->name, e);
    if (m && m->c.vocab != TOKEN_COUNT) {
        err_set(e, "snapshot %.8s: it knows %d tokens, the tokenizer has %d", p->name, m->c.vocab,
                TOKEN_COUNT);
        model_free(m);
        return NULL;
    }
    return m;
}

struct gather {
    long long warmup;
    struct store_policy newest; /* of any step; id 0: none */
    struct store_policy *list;
    int n;
};

static int
gather(void *arg, const struct store_policy *p) {
    struct gather *g = arg;
    if (strcmp(p->kind, "snapshot"))
        return 0;
    if (!g->newest.id || p->step >= g->newest.step)
        g->newest = *p;
    if (!p->kept || p->step <= g->warmup)
        return 0;
    g->list = mem_grow(g->list, (size_t)g->n + 1, sizeof *g->list);
    g->list[g->n++] = *p;
    return 0;
}

static int
by_step(const void *a, const void *b) {
    const struct store_policy *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

int
run_snapshots(const struct run *r, struct store_policy **out, struct err *e) {
    struct gather g = {.warmup = conf_int(r->conf, "learner.warmup")};
    if (store_policy_list(r->store, gather, &g, e) < 0) {
        free(g.list);
        return -1;
    }
    if (!g.n && g.newest.id) {
        g.list = mem_grow(g.list, 1, sizeof *g.list);
        g.list[g.n++] = g.newest;
    }
    if (g.n)
        qsort(g.list, (size_t)g.n, sizeof *g.list, by_step);
    *out = g.list;
    return g.n;
}

/* Strides are powers of two, as in thinning snapshots: most of a choice is still the choice when
 * the run has grown, so that what was measured of them can be kept. */
int
run_spread(const struct store_policy *list, int have, int want, int *place) {
    for (int64_t stride = 1;; stride *= 2) {
        int n = 0;
        for (int i = 0; i < have && n <= want; i++)
            if (list[i].step % stride == 0 || i + 1 == have) {
                if (n < want)
                    place[n] = i;
                n++;
            }
        if (n <= want)
            return n;
    }
}

void
run_policy_label(const struct store_policy *p, char out[48]) {
    if (!strcmp(p->kind, "snapshot"))
        snprintf(out, 48, "%.8s", p->name);
    else
        snprintf(out, 48, "%.47s", p->name);
}

int
run_number(const char *flag, const char *text, long long min, long long max, long long def,
           long long *out, struct err *e) {
    *out = def;
    if (!text)
        return 0;
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < min || v > max)
        return err_usage(e, "%s %s: a whole number from %lld to %lld is needed", flag, text, min,
                         max);
    *out = v;
    return 0;
}
