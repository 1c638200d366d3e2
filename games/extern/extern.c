/* The table of what this process has loaded. It is the one place here with state that lives as
 * long as the process: a `struct game` is passed around as a constant, and its functions get
 * nothing else. */
#include "games/extern/extern.h"

#include <stdio.h>
#include <string.h>

#include "games/extern/program.h"
#include "games/extern/registry.h"
#include "games/extern/shared.h"

struct loaded {
    const struct game *game;
    struct game own;         /* of a shared object: with the registered version */
    struct program *program; /* NULL: a shared object */
    char name[MESSAGE_NAME], hash[HASH_HEX];
    int version;
};

static struct {
    struct loaded at[EXTERN_MOST];
    int count;
} table;

struct program *
extern_program(int slot) {
    ensure(slot >= 0 && slot < table.count && table.at[slot].program);
    return table.at[slot].program;
}

static const struct loaded *
loaded_of(const struct game *g) {
    for (int i = 0; i < table.count; i++)
        if (table.at[i].game == g)
            return &table.at[i];
    return NULL;
}

/* ---- finding ---- */

static int
load_shared(struct loaded *x, const struct registry_row *r, struct err *e) {
    char hash[HASH_HEX];
    const struct game *g = shared_load(r->path, hash, e);
    if (!g)
        return err_prefix(e, "game %s", r->name);
    if (strcmp(hash, r->hash) != 0)
        return err_set(e,
                       "game %s: %s has changed since it was registered (SHA-256 %.12s, now "
                       "%.12s); `agon games add %s` registers it anew",
                       r->name, r->path, r->hash, hash, r->path);
    if (strcmp(g->name, r->name) != 0)
        return err_set(e, "game %s: %s calls itself %.60s", r->name, r->path, g->name);
    x->own = *g;
    x->own.version = r->version;
    x->game = &x->own;
    return 0;
}

static int
load_program(struct loaded *x, const struct registry_row *r, int slot, struct err *e) {
    char hash[HASH_HEX];
    if (registry_hash_command(r->command, r->folder, hash, e) < 0)
        return err_prefix(e, "game %s", r->name);
    if (strcmp(hash, r->hash) != 0)
        return err_set(
            e,
            "game %s: files of its command have changed since it was registered (SHA-256 "
            "%.12s, now %.12s); `agon games add --exec` registers it anew",
            r->name, r->hash, hash);
    x->program = program_new(slot, r, e);
    if (!x->program)
        return -1;
    x->game = program_game(x->program);
    return 0;
}

static int
load(const struct registry_row *r, const struct game **g, struct err *e) {
    if (table.count == EXTERN_MOST)
        return err_set(e, "game %s: %d games from outside are loaded already, start anew", r->name,
                       EXTERN_MOST);
    struct loaded *x = &table.at[table.count];
    *x = (struct loaded){.version = r->version};
    int status =
        r->kind == REGISTRY_SHARED ? load_shared(x, r, e) : load_program(x, r, table.count, e);
    if (status < 0)
        return -1;
    snprintf(x->name, sizeof x->name, "%s", r->name);
    snprintf(x->hash, sizeof x->hash, "%s", r->hash);
    table.count++;
    *g = x->game;
    return 1;
}

int
extern_try(const struct registry_row *r, const struct game **g, struct err *e) {
    if (r->quarantine)
        return err_set(e,
                       "game %s is in quarantine: %s. When it is mended, register it again with "
                       "`agon games add`",
                       r->name, r->quarantine);
    for (int i = 0; i < table.count; i++) {
        struct loaded *x = &table.at[i];
        if (strcmp(x->name, r->name) || strcmp(x->hash, r->hash) || x->version != r->version)
            continue;
        if (x->program)
            program_renew(x->program, r);
        *g = x->game;
        return 1;
    }
    return load(r, g, e);
}

int
extern_find(const char *name, const struct game **g, struct err *e) {
    struct registry_row r;
    int found = registry_find(name, &r, e);
    if (found != 1)
        return found;
    found = extern_try(&r, g, e);
    registry_free(&r);
    return found;
}

static int
add_name(void *arg, const struct registry_row *r) {
    text_put(arg, ", ");
    text_put(arg, r->name);
    return 0;
}

void
extern_names(struct text *out) {
    registry_each(add_name, out, NULL);
}

/* ---- identity and failures ---- */

const char *
game_hash(const struct game *g) {
    const struct loaded *x = loaded_of(g);
    return x ? x->hash : "";
}

int
game_same(const struct game *g, int version, const char *hash, struct err *e) {
    const char *now = game_hash(g);
    if (g->version == version && strcmp(now, hash) == 0)
        return 0;
    if (!*now && !*hash)
        return err_set(e,
                       "was recorded by version %d of its rules; this program has version "
                       "%d and cannot replay it",
                       version, g->version);
    return err_set(
        e,
        "was recorded by version %d of its rules (%s%.12s); version %d (%s%.12s) is what "
        "there is now, and cannot replay it",
        version, *hash ? "SHA-256 " : "built in", hash, g->version, *now ? "SHA-256 " : "built in",
        now);
}

const char *
game_fault(const struct game *g, const void *state, enum game_fault_kind *kind) {
    const struct loaded *x = table.count ? loaded_of(g) : NULL;
    if (kind)
        *kind = FAULT_NONE;
    return x && x->program ? program_fault(x->program, state, kind) : NULL;
}

void
game_foresee(const struct game *g, const void *state, int action) {
    const struct loaded *x = table.count ? loaded_of(g) : NULL;
    if (x && x->program)
        program_foresee(x->program, state, action);
}

uint64_t
game_faults(const struct game *g, const char **latest) {
    const struct loaded *x = loaded_of(g);
    if (latest)
        *latest = "";
    return x && x->program ? program_faults(x->program, latest) : 0;
}

void
extern_rest(void) {
    for (int i = 0; i < table.count; i++)
        if (table.at[i].program)
            program_rest(table.at[i].program);
}
