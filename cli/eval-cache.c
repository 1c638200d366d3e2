/* A file's name is the snapshot's hash and a digest of all that its content depends on besides; the
 * content is width, rest, the strategy and a checksum. */
#include "cli/eval-cache.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "games/extern/extern.h"
#include "policy/snap.h"

enum { FORMAT = 1, PATH = 4096, DIGEST = 16 };

static const char suffix[] = ".eval";

static void
digest(const struct eval_cache *c, char out[HASH_HEX]) {
    static const char *const keys[] = {"prompt.mode", "prompt.template", "prompt.answer", NULL};
    static const char *const numbers[] = {"prompt.max_reply", "match.retries",
                                          "sampling.temperature", "sampling.top_p", NULL};
    struct buf b = {0};
    const struct game *g = c->setup->game;
    buf_fmt(&b, "%d %s %d %s %g", FORMAT, c->setup->spec, g->version, game_hash(g), EVAL_EPSILON);
    for (int i = 0; keys[i]; i++)
        buf_fmt(&b, "\n%s", conf_text(c->conf, keys[i]));
    for (int i = 0; numbers[i]; i++)
        buf_fmt(&b, "\n%.17g", conf_real(c->conf, numbers[i]));
    hash_hex(b.at, b.len, out);
    buf_free(&b);
}

static bool
path_of(const struct eval_cache *c, const char *snapshot, char path[PATH]) {
    char hex[HASH_HEX];
    if (!c->run || !*c->run)
        return false;
    digest(c, hex);
    return snprintf(path, PATH, "%s/cache/%s-%.*s%s", c->run, snapshot, DIGEST, hex, suffix) < PATH;
}

/* A probability everywhere, and 1 in every set? */
static bool
is_strategy(const struct solve *game, const double *strategy) {
    for (size_t i = 0; i < solve_sets(game); i++) {
        const struct solve_info *info = solve_info(game, i);
        double sum = 0;
        for (int k = 0; k <= info->actions; k++) {
            double p = strategy[info->at + (size_t)k];
            if (!(p >= 0 && p <= 1 + 1e-9))
                return false;
            sum += p;
        }
        if (!(fabs(sum - 1) < 1e-6))
            return false;
    }
    return true;
}

bool
eval_cache_load(const struct eval_cache *c, const char *snapshot, double *strategy, double *rest) {
    char path[PATH];
    struct buf file = {0};
    size_t width = solve_width(c->game), bytes = (width + 3) * sizeof(double);
    if (!path_of(c, snapshot, path) || file_read(path, bytes, &file, NULL) < 0 ||
        file.len != bytes) {
        buf_free(&file);
        return false;
    }
    struct rd r = {.at = file.at, .left = file.len};
    bool good = rd_u64(&r) == width;
    *rest = rd_f64(&r);
    for (size_t i = 0; i < width; i++)
        strategy[i] = rd_f64(&r);
    good = good && rd_u64(&r) == hash_fnv(file.at, bytes - sizeof(uint64_t)) && rd_done(&r) &&
           *rest >= 0 && *rest <= 1 && is_strategy(c->game, strategy);
    buf_free(&file);
    return good;
}

void
eval_cache_save(const struct eval_cache *c, const char *snapshot, const double *strategy,
                double rest) {
    char path[PATH];
    struct buf b = {0};
    if (!path_of(c, snapshot, path))
        return;
    buf_u64(&b, solve_width(c->game));
    buf_f64(&b, rest);
    for (size_t i = 0; i < solve_width(c->game); i++)
        buf_f64(&b, strategy[i]);
    buf_u64(&b, hash_fnv(b.at, b.len));
    char folder[PATH];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (file_mkdirs(folder, NULL) == 0)
        file_write(path, b.at, b.len, false, NULL);
    buf_free(&b);
}

void
eval_cache_prune(const struct eval_cache *c) {
    char folder[PATH], snapshots[PATH], path[2 * PATH];
    if (!c->run || !*c->run)
        return;
    snprintf(folder, sizeof folder, "%s/cache", c->run);
    snprintf(snapshots, sizeof snapshots, "%s/snapshots", c->run);
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        size_t n = strlen(entry->d_name);
        char name[HASH_HEX];
        if (n != HASH_HEX + DIGEST + sizeof suffix - 1 ||
            strcmp(entry->d_name + n + 1 - sizeof suffix, suffix))
            continue;
        snprintf(name, sizeof name, "%.*s", HASH_HEX - 1, entry->d_name);
        snap_path(snapshots, name, path, sizeof path);
        if (file_exists(path))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(d);
}
