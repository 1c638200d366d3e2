/* A stranger's SQL: whatever it is, the database stays as it is, no file appears, and it ends. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/agon-fuzz-XXXXXX";
static struct store *store;

static void
clean(void) {
    char command[64];
    store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        panic("cannot remove %s", folder);
}

static void
open_once(void) {
    char path[64];
    struct err e;
    if (store)
        return;
    ensure(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.db", folder);
    struct store *writer = store_open(path, STORE_WRITE, false, &e);
    struct store_game g = {.spec = "nim", .name = "nim", .version = 1};
    ensure(writer && store_game_add(writer, &g, &e) == 0);
    store_close(writer);
    store = store_open(path, STORE_READ, false, &e);
    ensure(store);
    atexit(clean);
}

static int
count_files(void) {
    DIR *d = opendir(folder);
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void
heads(void *arg, const struct store_cell *cell, int cells) {
    (void)arg;
    for (int i = 0; i < cells; i++)
        ensure(cell[i].name);
}

static void
each(void *arg, const struct store_cell *cell, int cells) {
    struct buf *out = arg;
    buf_clear(out);
    for (int i = 0; i < cells; i++)
        buf_put(out, cell[i].text ? cell[i].text : "");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct buf out = {0};
    struct err e = {.text = ""};
    struct store_sql q = {
        .rows = 20, .bytes = 1 << 16, .most_us = 100000, .arg = &out, .heads = heads, .each = each};
    open_once();
    int files = count_files();
    int64_t start = clock_mono_us();
    int rows = store_sql(store, (const char *)data, size, &q, &e);
    ensure(clock_mono_us() - start < 5000000);
    ensure(rows <= 20 && (rows >= 0 || *e.text));
    ensure(count_files() <= files + 2); /* the reader's own -wal and -shm */
    static const char changes[] = "SELECT total_changes() || ' ' || count(*) FROM game";
    q.most_us = 5000000;
    ensure(store_sql(store, changes, sizeof changes - 1, &q, &e) == 1);
    ensure(!strcmp(buf_text(&out), "0 1"));
    buf_free(&out);
    return 0;
}
