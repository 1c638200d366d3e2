/* `agon games probe`: what `agon games add` does not dare to do itself. It loads the game,
 * describes it, plays random matches against the laws, and answers with one line. When it
 * crashes or hangs, its parent says so. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/games-extern.h"
#include "games/extern/extern.h"
#include "games/extern/message.h"
#include "games/extern/program.h"
#include "games/extern/registry.h"
#include "games/extern/shared.h"
#include "games/laws.h"

enum { LINE_MOST = 262144 };

static json_t *
describe_params(const struct game *g) {
    static const char *const types[] = {"int", "list", "bool"};
    json_t *params = json_array();
    for (const struct game_param *p = g->params; p && p->name; p++)
        json_array_append_new(params, json_pack("{s:s,s:s,s:s,s:i,s:i,s:s}", "name", p->name,
                                                "type", types[p->type], "default", p->def, "min",
                                                p->min, "max", p->max, "help", p->help));
    return params;
}

/* What the list of games shows without loading the game. */
static void
describe(json_t *row, const struct game *g) {
    json_object_set_new(row, "perfect_info", json_boolean(g->flags & GAME_PERFECT_INFO));
    json_object_set_new(row, "chance", json_boolean(!(g->flags & GAME_NO_CHANCE)));
    json_object_set_new(row, "params", describe_params(g));
}

static int
fill_shared(json_t *row, struct err *e) {
    char hash[HASH_HEX];
    const char *path = json_string_value(json_object_get(row, "path"));
    const struct game *g = shared_load(path, hash, e);
    if (!g)
        return -1;
    json_object_set_new(row, "name", json_string(g->name));
    json_object_set_new(row, "title", json_string(g->title));
    json_object_set_new(row, "version", json_integer(g->version));
    json_object_set_new(row, "speaks", json_integer(GAME_ABI));
    json_object_set_new(row, "hash", json_string(hash));
    if (!json_object_get(row, "name") || !json_object_get(row, "title"))
        return err_set(e, "%s: its name or title is no UTF-8", path);
    return 0;
}

/* The row says how to start it already; what it says of itself completes the row. */
static int
fill_program(json_t *row, struct err *e) {
    struct registry_row r = {.limits = {.cpu_seconds = 3600, .file_mb = 64}};
    struct hello h;
    char hash[HASH_HEX];
    const json_t *words = json_object_get(row, "command");
    for (size_t i = 0; i < json_array_size(words) && i < REGISTRY_WORDS; i++)
        r.command[i] = json_string_value(json_array_get(words, i));
    r.program = json_string_value(json_object_get(row, "program"));
    r.folder = json_string_value(json_object_get(row, "folder"));
    r.limits.memory_mb = (int)json_integer_value(json_object_get(row, "memory_mb"));
    if (registry_hash_command(r.command, r.folder, hash, e) < 0)
        return -1;
    struct process *p = program_greet(&r, &h, e);
    if (!p)
        return -1;
    process_stop(p);
    json_object_set_new(row, "name", json_string(h.name));
    json_object_set_new(row, "title", json_string(h.title));
    json_object_set_new(row, "version", json_integer(h.version));
    json_object_set_new(row, "speaks", json_integer(MESSAGE_PROTOCOL));
    json_object_set_new(row, "hash", json_string(hash));
    json_object_set(row, "hello", h.json);
    hello_free(&h);
    return 0;
}

/* Plays rounds of random matches until there are enough of them or the time is over. */
static int
keep_laws(const struct game *g, const struct game_args *args, int matches, double seconds,
          int *played, struct err *e) {
    int64_t start = clock_mono_us();
    double spent = 0;
    for (*played = 0; *played < matches && (!*played || spent < seconds);) {
        /* Large rounds see more, as they compare their matches; small ones end in time. */
        double fits = *played ? *played * (seconds - spent) / (2 * spent + 1e-3) : 1;
        int left = matches - *played, n = fits < 1 ? 1 : fits < left ? (int)fits : left;
        if (laws_check(g, args, (uint64_t)*played + 1, n, e) < 0)
            return -1;
        *played += n;
        spent = (double)(clock_mono_us() - start) / 1e6;
    }
    return 0;
}

/* 0; 1: it breaks a law; -1: it cannot be used at all. */
static int
examine(json_t *request, int *played, struct err *e) {
    json_t *row = json_object_get(request, "row");
    bool shared = json_object_get(row, "path") != NULL;
    struct registry_row r;
    const struct game *g;
    struct game_args args;
    if ((shared ? fill_shared(row, e) : fill_program(row, e)) < 0)
        return -1;
    if (registry_row_read(row, &r, e) < 0 || extern_try(&r, &g, e) < 0)
        return -1;
    describe(row, g);
    if (game_args_default(g, &args, e) < 0)
        return -1;
    int matches = (int)json_integer_value(json_object_get(request, "matches"));
    double seconds = json_number_value(json_object_get(request, "seconds"));
    return keep_laws(g, &args, matches, seconds, played, e) < 0 ? 1 : 0;
}

int
games_probe(const struct cmd_args *a, struct err *e) {
    (void)a;
    char *line = mem_alloc(LINE_MOST);
    json_t *request = fgets(line, LINE_MOST, stdin) ? json_loads(line, 0, NULL) : NULL;
    free(line);
    if (!request)
        return err_set(e, "this is a part of `agon games add`");
    /* The game must not write into the answer. */
    int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    struct err why = {.text = ""};
    int played = 0, status = examine(request, &played, &why);
    char shown[sizeof why.text];
    json_t *answer = json_pack("{s:i,s:s,s:i,s:O}", "status", status, "why",
                               utf8_show(why.text, shown, sizeof shown), "played", played, "row",
                               json_object_get(request, "row"));
    char *text = json_dumps(answer, JSON_COMPACT);
    dprintf(out, "%s\n", text);
    free(text);
    json_decref(answer);
    json_decref(request);
    extern_rest();
    return 0;
}
