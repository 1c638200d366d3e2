#include "games/extern/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "games/extern/message.h"

#define REGISTRY_FORMAT 1
#define REGISTRY_MAX (16u << 20)
#define CONTENT_MAX ((size_t)256 << 20)

int
registry_path(char out[REGISTRY_PATH], struct err *e) {
    const char *agon = getenv("AGON_HOME"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n;
    if (agon && *agon)
        n = snprintf(out, REGISTRY_PATH - 32, "%s/games.json", agon);
    else if (data && *data)
        n = snprintf(out, REGISTRY_PATH - 32, "%s/agon/games.json", data);
    else if (home && *home)
        n = snprintf(out, REGISTRY_PATH - 32, "%s/.local/share/agon/games.json", home);
    else
        return err_set(e, "there is no place for registered games: set AGON_HOME to a folder");
    return n < REGISTRY_PATH - 32 ? 0 : err_set(e, "AGON_HOME: the path is too long");
}

/* ---- rows ---- */

static int
read_command(const json_t *o, struct registry_row *r, struct err *e) {
    const json_t *words = json_object_get(o, "command");
    size_t n = json_array_size(words);
    if (n < 1 || n > REGISTRY_WORDS)
        return err_set(e, "\"command\" must be a list of 1 to %d words", REGISTRY_WORDS);
    for (size_t i = 0; i < n; i++)
        if (!(r->command[i] = json_string_value(json_array_get(words, i))))
            return err_set(e, "\"command\" must be a list of words");
    r->program = json_string_value(json_object_get(o, "program"));
    r->folder = json_string_value(json_object_get(o, "folder"));
    r->hello = json_object_get(o, "hello");
    r->deadline = json_number_value(json_object_get(o, "deadline"));
    json_int_t memory = json_integer_value(json_object_get(o, "memory_mb"));
    if (!r->program || r->program[0] != '/' || !r->folder || r->folder[0] != '/')
        return err_set(e, "\"program\" and \"folder\" must be absolute paths");
    if (!json_is_object(r->hello))
        return err_set(e, "\"hello\" must be what the program said of itself");
    if (!(r->deadline >= 0.01 && r->deadline <= 3600) || memory < 16 || memory > 1 << 24)
        return err_set(e, "\"deadline\" must be seconds from 0.01 to 3600, \"memory_mb\" from 16");
    r->limits =
        (struct process_limits){.memory_mb = (int)memory, .cpu_seconds = 3600, .file_mb = 64};
    return 0;
}

int
registry_row_read(json_t *o, struct registry_row *r, struct err *e) {
    const char *kind = json_string_value(json_object_get(o, "kind"));
    json_int_t version = json_integer_value(json_object_get(o, "version"));
    json_int_t speaks = json_integer_value(json_object_get(o, "speaks"));
    *r = (struct registry_row){.json = o,
                               .name = json_string_value(json_object_get(o, "name")),
                               .title = json_string_value(json_object_get(o, "title")),
                               .hash = json_string_value(json_object_get(o, "hash")),
                               .added = json_string_value(json_object_get(o, "added")),
                               .quarantine = json_string_value(json_object_get(o, "quarantine")),
                               .path = json_string_value(json_object_get(o, "path"))};
    if (!r->name || strlen(r->name) >= MESSAGE_NAME || !r->title || !r->added)
        return err_set(e, "a row needs \"name\", \"title\" and \"added\"");
    if (!r->hash || strlen(r->hash) != HASH_HEX - 1)
        return err_set(e, "game %s: \"hash\" must be a SHA-256", r->name);
    if (version < 1 || version > 1000000000 || speaks < 1 || speaks > 1000000000)
        return err_set(e, "game %s: \"version\" and \"speaks\" must be numbers from 1 on", r->name);
    r->version = (int)version;
    r->speaks = (int)speaks;
    bool shared = kind && strcmp(kind, "shared") == 0;
    if (!shared && (!kind || strcmp(kind, "program") != 0))
        return err_set(e, "game %s: \"kind\" must be shared or program", r->name);
    r->kind = shared ? REGISTRY_SHARED : REGISTRY_PROGRAM;
    if (!shared && read_command(o, r, e) < 0)
        return err_prefix(e, "game %s", r->name);
    if (shared && (!r->path || r->path[0] != '/'))
        return err_set(e, "game %s: \"path\" must be absolute", r->name);
    return 0;
}

void
registry_free(struct registry_row *r) {
    json_decref(r->json);
    *r = (struct registry_row){0};
}

/* ---- the file ---- */

/* The whole file; an empty list when there is none. */
static json_t *
load(const char *path, struct err *e) {
    struct buf text = {0};
    if (!file_exists(path))
        return json_pack("{s:i,s:[]}", "format", REGISTRY_FORMAT, "games");
    if (file_read(path, REGISTRY_MAX, &text, e) < 0) {
        buf_free(&text);
        return NULL;
    }
    json_error_t why;
    json_t *all = json_loadb((const char *)text.at, text.len, JSON_REJECT_DUPLICATES, &why);
    buf_free(&text);
    if (!all) {
        err_set(e, "%s:%d:%d: %s; mend the file or move it away", path, why.line, why.column,
                why.text);
        return NULL;
    }
    if (json_integer_value(json_object_get(all, "format")) != REGISTRY_FORMAT ||
        !json_is_array(json_object_get(all, "games"))) {
        json_decref(all);
        err_set(e, "%s: this is no list of games of format %d", path, REGISTRY_FORMAT);
        return NULL;
    }
    return all;
}

static json_t *
row_of(const json_t *all, const char *name, size_t *at) {
    json_t *list = json_object_get(all, "games");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *o = json_array_get(list, i);
        const char *its = json_string_value(json_object_get(o, "name"));
        if (its && strcmp(its, name) == 0) {
            if (at)
                *at = i;
            return o;
        }
    }
    return NULL;
}

int
registry_find(const char *name, struct registry_row *out, struct err *e) {
    char path[REGISTRY_PATH];
    if (registry_path(path, NULL) < 0)
        return 0;
    json_t *all = load(path, e);
    if (!all)
        return -1;
    json_t *o = row_of(all, name, NULL);
    int found = 0;
    if (o) {
        found = registry_row_read(o, out, e) < 0 ? -1 : 1;
        if (found < 0)
            err_prefix(e, "%s", path);
        else
            json_incref(o);
    }
    json_decref(all);
    return found;
}

int
registry_each(int (*each)(void *arg, const struct registry_row *r), void *arg, struct err *e) {
    char path[REGISTRY_PATH];
    if (registry_path(path, NULL) < 0)
        return 0;
    json_t *all = load(path, e);
    if (!all)
        return -1;
    int status = 0;
    json_t *list = json_object_get(all, "games");
    for (size_t i = 0; i < json_array_size(list) && !status; i++) {
        struct registry_row r;
        status = registry_row_read(json_array_get(list, i), &r, e);
        status = status < 0 ? err_prefix(e, "%s", path) : each(arg, &r);
    }
    json_decref(all);
    return status;
}

/* ---- changes ---- */

/* Waits for whoever else changes the file; the descriptor, or -1. */
static int
lock(const char *path, struct err *e) {
    char name[REGISTRY_PATH];
    snprintf(name, sizeof name, "%s", path);
    *strrchr(name, '/') = '\0';
    if (*name && file_mkdirs(name, e) < 0)
        return -1;
    snprintf(name, sizeof name, "%.*s.lock", REGISTRY_PATH - 32, path);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int status = fd;
    while (fd >= 0 && (status = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
        ;
    if (status < 0) {
        err_set(e, "%s: cannot lock: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static int
save(const char *path, const json_t *all, struct err *e) {
    char *text = json_dumps(all, JSON_INDENT(1));
    ensure(text);
    size_t n = strlen(text);
    text[n] = '\n'; /* takes the NUL's place */
    int status = file_write(path, text, n + 1, true, e);
    free(text);
    return status;
}

/* Runs change() on the list under the lock and writes it when that returns 1. */
static int
update(int (*change)(json_t *all, void *arg, struct err *e), void *arg, struct err *e) {
    char path[REGISTRY_PATH];
    if (registry_path(path, e) < 0)
        return -1;
    int fd = lock(path, e);
    if (fd < 0)
        return -1;
    json_t *all = load(path, e);
    int status = all ? change(all, arg, e) : -1;
    if (status == 1 && save(path, all, e) < 0)
        status = -1;
    json_decref(all);
    close(fd);
    return status;
}

static int
put(json_t *all, void *arg, struct err *e) {
    json_t *o = arg, *list = json_object_get(all, "games");
    struct registry_row now, old;
    size_t at = 0;
    if (registry_row_read(o, &now, e) < 0)
        return -1;
    json_t *before = row_of(all, now.name, &at);
    if (before) {
        if (registry_row_read(before, &old, NULL) == 0) {
            bool same = strcmp(old.hash, now.hash) == 0 && old.kind == now.kind &&
                        (!now.hello || json_equal(old.hello, now.hello));
            int version = same                        ? old.version
                          : now.version > old.version ? now.version
                                                      : old.version + 1;
            json_object_set_new(o, "version", json_integer(version));
        }
        json_array_set(list, at, o);
        return 1;
    }
    for (at = 0; at < json_array_size(list); at++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, at), "name"));
        if (name && strcmp(name, now.name) > 0)
            break;
    }
    json_array_insert(list, at, o);
    return 1;
}

int
registry_put(json_t *json, struct err *e) {
    return update(put, json, e) < 0 ? -1 : 0;
}

static int
remove_row(json_t *all, void *arg, struct err *e) {
    size_t at;
    (void)e;
    if (!row_of(all, arg, &at))
        return 0;
    json_array_remove(json_object_get(all, "games"), at);
    return 1;
}

int
registry_remove(const char *name, struct err *e) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    return update(remove_row, copy, e);
}

struct mark {
    const char *name, *hash, *why;
};

static int
mark(json_t *all, void *arg, struct err *e) {
    const struct mark *m = arg;
    (void)e;
    json_t *o = row_of(all, m->name, NULL);
    const char *hash = json_string_value(json_object_get(o, "hash"));
    if (!hash || strcmp(hash, m->hash) != 0 || json_object_get(o, "quarantine"))
        return 0;
    json_object_set_new(o, "quarantine", json_string(m->why));
    return 1;
}

int
registry_quarantine(const char *name, const char *hash, const char *why, struct err *e) {
    struct mark m = {name, hash, why};
    return update(mark, &m, e) < 0 ? -1 : 0;
}

/* ---- contents ---- */

int
registry_hash_file(const char *path, char hex[HASH_HEX], struct err *e) {
    struct buf b = {0};
    int status = file_read(path, CONTENT_MAX, &b, e);
    if (status == 0)
        hash_hex(b.at, b.len, hex);
    buf_free(&b);
    return status;
}

int
registry_hash_command(const char *const *command, const char *folder, char hex[HASH_HEX],
                      struct err *e) {
    struct hash *h = hash_new();
    int status = 0;
    for (int i = 0; command[i]; i++) {
        char path[REGISTRY_PATH], content[HASH_HEX];
        struct stat st;
        hash_add(h, command[i], strlen(command[i]) + 1);
        int n = command[i][0] == '/' ? snprintf(path, sizeof path, "%s", command[i])
                                     : snprintf(path, sizeof path, "%s/%s", folder, command[i]);
        if (!command[i][0] || n >= (int)sizeof path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        if (registry_hash_file(path, content, e) < 0)
            status = -1;
        else
            hash_add(h, content, sizeof content);
    }
    hash_end(h, hex);
    return status;
}
