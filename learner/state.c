/* The state file holds flat tensors of model->count numbers, "magnet" and "moment.0",
 * "moment.1", in the order of the model's own block, and the counters as metadata. */
#include "learner/state.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "policy/snap.h"
#include "policy/tensors.h"

#define STATE_FORMAT "agon learner state 1"
#define STATE_EXT ".safetensors"
#define HEADER_ROOM (1u << 20)

static const char *const moment_name[OPTIM_MOMENTS] = {"moment.0", "moment.1"};

struct state *
state_new(const struct plan *p) {
    struct state *s = mem_zero(1, sizeof *s);
    s->step = -1;
    s->model = model_new(&p->model);
    s->magnet = model_new(&p->model);
    for (int i = 0; i < p->optim->moments; i++)
        s->moment[i] = mem_aligned(s->model->count * sizeof(float));
    return s;
}

void
state_free(struct state *s) {
    if (!s)
        return;
    model_free(s->model);
    model_free(s->magnet);
    for (int i = 0; i < OPTIM_MOMENTS; i++)
        free(s->moment[i]);
    free(s);
}

void
state_forget(struct state *s) {
    s->updates = 0;
    for (int i = 0; i < OPTIM_MOMENTS; i++) {
        if (s->moment[i])
            memset(s->moment[i], 0, s->model->count * sizeof(float));
    }
}

void
state_init(struct state *s, const struct plan *p) {
    model_init(s->model, p->seed, p->init_std);
    model_copy(s->magnet, s->model);
    state_forget(s);
    s->step = 0;
    s->hash[0] = s->snapshot[0] = '\0';
}

/* ---- writing ---- */

static void
encode(const struct state *s, const struct plan *p, struct buf *out) {
    char step[32], updates[32];
    snprintf(step, sizeof step, "%" PRId64, s->step);
    snprintf(updates, sizeof updates, "%" PRId64, s->updates);
    const struct tensor_meta meta[] = {{"agon.format", STATE_FORMAT},
                                       {"agon.step", step},
                                       {"agon.updates", updates},
                                       {"agon.optimizer", p->optim->name},
                                       {"agon.snapshot", s->snapshot}};
    struct tensor_view view[1 + OPTIM_MOMENTS];
    size_t n = 0;
    int64_t count = (int64_t)s->model->count;
    view[n++] = (struct tensor_view){
        .name = "magnet", .shape = {count}, .dims = 1, .data = s->magnet->params};
    for (int i = 0; i < p->optim->moments; i++)
        view[n++] = (struct tensor_view){
            .name = moment_name[i], .shape = {count}, .dims = 1, .data = s->moment[i]};
    tensors_encode(view, n, meta, sizeof meta / sizeof meta[0], out);
}

static void
path_of(struct buf *path, const char *run, const char *hash) {
    buf_clear(path);
    buf_fmt(path, "%s/state/%s" STATE_EXT, run, hash);
}

int
state_save(struct state *s, const struct plan *p, const char *run, struct err *e) {
    struct buf path = {0}, bytes = {0};
    buf_fmt(&path, "%s/snapshots", run);
    int bad = snap_save(buf_text(&path), s->model, p->sync, s->snapshot, e);
    if (bad == 0) {
        encode(s, p, &bytes);
        hash_hex(bytes.at, bytes.len, s->hash);
        path_of(&path, run, s->hash);
        bad = file_write(buf_text(&path), bytes.at, bytes.len, p->sync, e);
    }
    if (bad < 0)
        s->hash[0] = '\0';
    buf_free(&path);
    buf_free(&bytes);
    return bad < 0 ? -1 : 0;
}

/* ---- reading ---- */

static int
read_number(const struct tensors *t, const char *key, int64_t *out, const char *path,
            struct err *e) {
    const char *text = tensors_meta(t, key);
    char *end = NULL;
    errno = 0;
    long long v = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || v < 0)
        return err_set(e, "%s: metadata \"%s\" is missing or no number", path, key);
    *out = v;
    return 0;
}

static int
read_meta(struct state *s, const struct plan *p, const struct tensors *t, const char *path,
          struct err *e) {
    const char *format = tensors_meta(t, "agon.format");
    const char *optimizer = tensors_meta(t, "agon.optimizer");
    const char *snapshot = tensors_meta(t, "agon.snapshot");
    if (!format || strcmp(format, STATE_FORMAT))
        return err_set(e, "%s: is no learner state of this version (\"%s\" is needed)", path,
                       STATE_FORMAT);
    if (!optimizer || strcmp(optimizer, p->optim->name))
        return err_set(e, "%s: was made by the optimizer \"%s\", learner.optimizer is \"%s\"", path,
                       optimizer ? optimizer : "", p->optim->name);
    if (!snapshot || strlen(snapshot) != HASH_HEX - 1)
        return err_set(e, "%s: names no snapshot", path);
    memcpy(s->snapshot, snapshot, HASH_HEX);
    if (read_number(t, "agon.step", &s->step, path, e) < 0)
        return -1;
    return read_number(t, "agon.updates", &s->updates, path, e);
}

static int
read_tensors(struct state *s, const struct plan *p, const struct tensors *t, const char *path,
             struct err *e) {
    int64_t count = (int64_t)s->model->count;
    int bad = tensors_read(t, "magnet", &count, 1, s->magnet->params, e);
    for (int i = 0; bad == 0 && i < p->optim->moments; i++)
        bad = tensors_read(t, moment_name[i], &count, 1, s->moment[i], e);
    return bad < 0 ? err_prefix(e, "%s", path) : 0;
}

/* The file's bytes, checked against its name. */
static int
read_bytes(const struct state *s, const char *path, const char *hash, struct buf *out,
           struct err *e) {
    size_t most = s->model->count * sizeof(float) * (1 + OPTIM_MOMENTS) + HEADER_ROOM;
    if (file_read(path, most, out, e) < 0)
        return err_prefix(e,
                          "the learner's state cannot be read (was run.db or run.db-wal replaced? "
                          "then put the state's file, or a whole backup, back)");
    char got[HASH_HEX];
    hash_hex(out->at, out->len, got);
    if (strcmp(got, hash))
        return err_set(e,
                       "%s: is damaged (its bytes do not hash to its name); restore it from a "
                       "copy, or start another run",
                       path);
    return 0;
}

static int
load_model(struct state *s, const struct plan *p, const char *run, struct err *e) {
    struct buf folder = {0};
    buf_fmt(&folder, "%s/snapshots", run);
    struct model *m = snap_load(buf_text(&folder), s->snapshot, e);
    buf_free(&folder);
    if (!m)
        return -1;
    const struct model_config *a = &m->c, *b = &p->model;
    bool same = a->vocab == b->vocab && a->dim == b->dim && a->layers == b->layers &&
                a->heads == b->heads && a->kv_heads == b->kv_heads && a->hidden == b->hidden &&
                a->context == b->context && a->tied == b->tied;
    if (!same) {
        model_free(m);
        return err_set(e, "snapshot %s: its shape is not the one of config.yaml (model.*)",
                       s->snapshot);
    }
    model_free(s->model);
    s->model = m;
    return 0;
}

int
state_load(struct state *s, const struct plan *p, const char *run, const char *hash,
           struct err *e) {
    struct buf path = {0}, bytes = {0};
    s->hash[0] = '\0';
    path_of(&path, run, hash);
    const char *where = buf_text(&path);
    struct tensors *t = NULL;
    if (read_bytes(s, where, hash, &bytes, e) == 0)
        t = tensors_decode(&bytes, where, e);
    int bad = !t || read_meta(s, p, t, where, e) < 0 || read_tensors(s, p, t, where, e) < 0 ||
              load_model(s, p, run, e) < 0;
    if (!bad)
        snprintf(s->hash, sizeof s->hash, "%s", hash);
    tensors_free(t);
    buf_free(&bytes);
    buf_free(&path);
    return bad ? -1 : 0;
}

/* ---- removing ---- */

void
state_thin(struct state *s, const char *run) {
    int at = 0;
    while (at < STATE_KEEP - 1 && strcmp(s->kept[at], s->hash))
        at++;
    if (s->kept[at][0] && strcmp(s->kept[at], s->hash)) {
        struct buf path = {0};
        path_of(&path, run, s->kept[at]);
        unlink(buf_text(&path));
        buf_free(&path);
    }
    memmove(s->kept[1], s->kept[0], (size_t)at * sizeof s->kept[0]);
    memcpy(s->kept[0], s->hash, HASH_HEX);
}

struct found {
    char name[NAME_MAX + 1];
    struct timespec at;
};

static int
newest_first(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
    if (x->at.tv_nsec != y->at.tv_nsec)
        return x->at.tv_nsec < y->at.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

static size_t
list_folder(DIR *d, struct found **out) {
    size_t n = 0;
    struct found *list = NULL;
    for (struct dirent *f; (f = readdir(d));) {
        struct stat st;
        /* Temporary files of a writer that died begin with the same name. */
        if (!strstr(f->d_name, STATE_EXT) || fstatat(dirfd(d), f->d_name, &st, 0) < 0)
            continue;
        list = mem_grow(list, n + 1, sizeof *list);
        snprintf(list[n].name, sizeof list[n].name, "%s", f->d_name);
        list[n++].at = st.st_mtim;
    }
    if (n)
        qsort(list, n, sizeof *list, newest_first);
    *out = list;
    return n;
}

void
state_sweep(struct state *s, const char *run) {
    struct buf path = {0};
    buf_fmt(&path, "%s/state", run);
    DIR *d = opendir(buf_text(&path));
    buf_free(&path);
    if (!d)
        return;
    struct found *list;
    size_t n = list_folder(d, &list);
    memset(s->kept, 0, sizeof s->kept);
    memcpy(s->kept[0], s->hash, HASH_HEX);
    int kept = s->hash[0] ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = list[i].name;
        bool whole = strlen(name) == HASH_HEX - 1 + strlen(STATE_EXT);
        if (whole && s->hash[0] && !memcmp(name, s->hash, HASH_HEX - 1))
            continue;
        if (whole && kept < STATE_KEEP)
            snprintf(s->kept[kept++], HASH_HEX, "%.*s", HASH_HEX - 1, name);
        else
            unlinkat(dirfd(d), name, 0);
    }
    free(list);
    closedir(d);
}
