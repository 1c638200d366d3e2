/* Registering and forgetting games from outside. The game itself is loaded and tried in a child
 * process (games-probe.c), in the same cage as external programs: here only its description
 * arrives. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/games-extern.h"
#include "cli/run.h"
#include "games/extern/process.h"
#include "games/extern/registry.h"
#include "games/game.h"

enum { MATCHES = 200, LAW_SECONDS = 30, GRACE_SECONDS = 30, PATH_MOST = 4096 };

/* ---- a command line as words ---- */

/* Splits like a shell does, quotes and backslashes included, but expands nothing. `room` holds
 * the words. */
static int
split_words(const char *line, char *room, const char **word, struct err *e) {
    int n = 0;
    for (const char *at = line;;) {
        while (*at == ' ' || *at == '\t' || *at == '\n')
            at++;
        if (!*at)
            return n ? n : err_usage(e, "--exec: the command is empty");
        if (n == REGISTRY_WORDS)
            return err_usage(e, "--exec: the command has more than %d words", REGISTRY_WORDS);
        word[n++] = room;
        for (char quote = 0; *at && (quote || !strchr(" \t\n", *at)); at++) {
            if (quote ? *at == quote : *at == '"' || *at == '\'') {
                quote = quote ? '\0' : *at;
                if (!quote || strchr(at + 1, quote))
                    continue;
                return err_usage(e, "--exec: a quote is not closed");
            }
            if (*at == '\\' && at[1] && quote != '\'')
                at++;
            *room++ = *at;
        }
        *room++ = '\0';
    }
}

/* The file that a command's first word starts, as an absolute path. */
static int
find_program(const char *word, const char *folder, char out[PATH_MOST], struct err *e) {
    if (strchr(word, '/')) {
        bool absolute = word[0] == '/';
        int n =
            snprintf(out, PATH_MOST, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", word);
        if (n < PATH_MOST && access(out, X_OK) == 0)
            return 0;
        return err_set(e, "--exec: %.200s cannot be started: %s", word, strerror(errno));
    }
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        int len = snprintf(out, PATH_MOST, "%.*s/%s", (int)n, at, word);
        if (n && out[0] == '/' && len < PATH_MOST && access(out, X_OK) == 0)
            return 0;
        at += n + (at[n] == ':');
    }
    return err_set(e, "--exec: there is no program \"%.100s\" in PATH", word);
}

/* ---- the row as far as it is known here ---- */

static int
put_seconds(json_t *row, const struct cmd_args *a, struct err *e) {
    const char *text = cmd_flag(a, "deadline");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 2;
    if (text && (end == text || *end || !(seconds >= 0.01 && seconds <= 3600)))
        return err_usage(e, "--deadline is \"%.40s\"; it must be seconds from 0.01 to 3600", text);
    json_object_set_new(row, "deadline", json_real(seconds));
    return 0;
}

static json_t *
row_of_command(const struct cmd_args *a, const char *command, struct err *e) {
    char folder[PATH_MOST], program[PATH_MOST], *room = mem_alloc(strlen(command) + 2);
    const char *word[REGISTRY_WORDS];
    long long memory;
    json_t *row = NULL;
    int n = split_words(command, room, word, e);
    if (n > 0 && !getcwd(folder, sizeof folder))
        n = err_set(e, "the working folder has no name: %s", strerror(errno));
    if (n > 0 && find_program(word[0], folder, program, e) == 0 &&
        run_number("--memory", cmd_flag(a, "memory"), 16, 1 << 24, 4096, &memory, e) == 0) {
        json_t *words = json_array();
        for (int i = 0; i < n; i++)
            json_array_append_new(words, json_string(word[i]));
        row = json_pack("{s:s,s:o,s:s,s:s,s:I}", "kind", "program", "command", words, "program",
                        program, "folder", folder, "memory_mb", (json_int_t)memory);
        if (!row || json_array_size(words) != (size_t)n)
            err_usage(e, "--exec: the command is no UTF-8");
        if (row && (json_array_size(words) != (size_t)n || put_seconds(row, a, e) < 0)) {
            json_decref(row);
            row = NULL;
        }
    }
    free(room);
    return row;
}

static json_t *
row_of_file(const char *file, struct err *e) {
    char *path = realpath(file, NULL);
    json_t *row = NULL;
    if (!path)
        err_set(e, "%.200s: %s", file, strerror(errno));
    else if (!(row = json_pack("{s:s,s:s}", "kind", "shared", "path", path)))
        err_set(e, "the path of the file is no UTF-8");
    free(path);
    return row;
}

static void
put_time(json_t *row) {
    char text[32];
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_object_set_new(row, "added", json_string(text));
}

/* ---- trying it ---- */

/* The probe's answer; NULL with e when it died. */
static json_t *
probe(json_t *row, long long matches, long long seconds, struct err *e) {
    static const char *const argv[] = {"/proc/self/exe", "games", "probe", NULL};
    /* Address space is no measure where a sanitizer reserves it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    struct process_limits limits = {.cpu_seconds = 3600, .file_mb = 64};
#else
    struct process_limits limits = {.memory_mb = 16384, .cpu_seconds = 3600, .file_mb = 64};
#endif
    const char *answer;
    size_t n;
    struct process *p = process_start(argv, NULL, &limits, e);
    if (!p)
        return NULL;
    json_t *request = json_pack("{s:O,s:I,s:I}", "row", row, "matches", (json_int_t)matches,
                                "seconds", (json_int_t)seconds);
    char *line = json_dumps(request, JSON_COMPACT);
    size_t len = strlen(line);
    line[len] = '\n'; /* takes the NUL's place */
    json_t *out = NULL;
    enum process_fault fault =
        process_ask(p, line, len + 1, (double)(seconds + GRACE_SECONDS), &answer, &n, e);
    if (fault == PROCESS_FINE && !(out = json_loadb(answer, n, 0, NULL)))
        err_set(e, "the check told nothing that can be read");
    if (fault == PROCESS_TIME)
        err_set(e, "the first random matches took longer than %lld s; --seconds gives them more",
                seconds + GRACE_SECONDS);
    else if (!out)
        err_prefix(e, "the game was tried in a process of its own, which failed");
    process_stop(p);
    free(line);
    json_decref(request);
    return out;
}

static int
check_name(const char *name, struct err *e) {
    for (int i = 0; game_at(i); i++)
        if (name && strcmp(game_at(i)->name, name) == 0)
            return err_set(e, "%s is the name of a built-in game: choose another", name);
    return name ? 0 : err_set(e, "the game has no name");
}

/* Registers what the probe found. */
static int
settle(const json_t *answer, bool force, struct err *e) {
    json_t *row = json_object_get(answer, "row");
    json_int_t status = json_integer_value(json_object_get(answer, "status"));
    const char *why = json_string_value(json_object_get(answer, "why"));
    const char *name = json_string_value(json_object_get(row, "name"));
    why = why ? why : "?";
    if (status < 0)
        return err_set(e, "%s", why);
    if (check_name(name, e) < 0)
        return -1;
    if (status && !force)
        return err_set(e, "%s: not registered: %s", name, why);
    if (registry_put(row, e) < 0)
        return -1;
    printf("registered %s, version %lld: ", name,
           (long long)json_integer_value(json_object_get(row, "version")));
    if (status)
        printf("against its laws, as you wished (%s)\n", why);
    else
        printf("%lld random matches kept the laws\n",
               (long long)json_integer_value(json_object_get(answer, "played")));
    printf("Look at it with `agon games show %s`.\n", name);
    return 0;
}

int
games_add(const struct cmd_args *a, struct err *e) {
    const char *command = cmd_flag(a, "exec"), *file = a->words > 1 ? a->word[1] : NULL;
    long long matches, seconds;
    if (!command == !file)
        return err_set(e, "what? `agon games add ./mygame.so`, or `agon games add --exec \"python3 "
                          "mygame.py\"`");
    if (run_number("--matches", cmd_flag(a, "matches"), 1, 100000000, MATCHES, &matches, e) < 0 ||
        run_number("--seconds", cmd_flag(a, "seconds"), 1, 86400, LAW_SECONDS, &seconds, e) < 0)
        return -1;
    json_t *row = command ? row_of_command(a, command, e) : row_of_file(file, e);
    if (row)
        put_time(row);
    json_t *answer = row ? probe(row, matches, seconds, e) : NULL;
    int status = answer ? settle(answer, cmd_flag(a, "force") != NULL, e) : -1;
    json_decref(row);
    json_decref(answer);
    return status;
}

int
games_remove(const struct cmd_args *a, struct err *e) {
    if (a->words < 2)
        return err_set(e, "which game? `agon games remove NAME`");
    int found = registry_remove(a->word[1], e);
    if (found == 0)
        return err_set(e, "no game from outside is called \"%.60s\"", a->word[1]);
    if (found > 0)
        printf("%s is no longer registered; its files were left alone\n", a->word[1]);
    return found < 0 ? -1 : 0;
}

/* ---- the list ---- */

static void
params_text(const json_t *params, struct text *t) {
    for (size_t i = 0; i < json_array_size(params); i++) {
        const json_t *p = json_array_get(params, i);
        const char *name = json_string_value(json_object_get(p, "name"));
        const char *def = json_string_value(json_object_get(p, "default"));
        text_fmt(t, "%s%s=%s", t->len ? " " : "", name ? name : "?", def ? def : "?");
    }
    if (!t->len)
        text_put(t, "-");
}

static int
add_row(void *arg, const struct registry_row *r) {
    struct table *t = arg;
    char params[256];
    struct text p;
    text_init(&p, params, sizeof params);
    params_text(json_object_get(r->json, "params"), &p);
    const json_t *hello = json_object_get(r->json, "hello");
    table_add(t, r->name);
    table_add(t, r->title);
    table_add(t, json_is_true(json_object_get(r->json, "perfect_info")) ? "perfect" : "hidden");
    table_add(t, json_is_false(json_object_get(r->json, "chance")) ? "no" : "yes");
    if (r->kind == REGISTRY_PROGRAM)
        table_fmt(t, "%lld", json_integer_value(json_object_get(hello, "max_plies")));
    else
        table_add(t, "-");
    table_add(t, r->quarantine ? "quarantine" : r->kind == REGISTRY_SHARED ? "C" : "program");
    table_add(t, params);
    return 0;
}

int
games_list_extern(struct table *t, struct err *e) {
    return registry_each(add_row, t, e);
}

static int
print_json(void *arg, const struct registry_row *r) {
    (void)arg;
    json_t *o = json_pack("{s:s,s:s,s:i,s:b,s:b,s:O?,s:s,s:s,s:s,s:s?,s:O?,s:s?}", "name", r->name,
                          "title", r->title, "version", r->version, "perfect_information",
                          json_is_true(json_object_get(r->json, "perfect_info")), "chance",
                          !json_is_false(json_object_get(r->json, "chance")), "parameters",
                          json_object_get(r->json, "params"), "kind",
                          r->kind == REGISTRY_SHARED ? "shared" : "program", "hash", r->hash,
                          "added", r->added, "path", r->path, "command",
                          json_object_get(r->json, "command"), "quarantine", r->quarantine);
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
    return 0;
}

int
games_list_extern_json(struct err *e) {
    return registry_each(print_json, NULL, e);
}

static int
tell_row(void *arg, const struct registry_row *r) {
    struct buf text = {0}, from = {0};
    (void)arg;
    if (r->kind == REGISTRY_SHARED)
        buf_put(&from, r->path);
    for (int i = 0; r->kind == REGISTRY_PROGRAM && r->command[i]; i++)
        buf_fmt(&from, "%s%s", i ? " " : "", r->command[i]);
    term_escape(&text, buf_text(&from), from.len, false);
    printf("%s is version %d of %s", r->name, r->version, buf_text(&text));
    if (r->quarantine) {
        buf_clear(&text);
        term_escape(&text, r->quarantine, strlen(r->quarantine), false);
        printf("; in quarantine: %s", buf_text(&text));
    }
    putchar('\n');
    buf_free(&text);
    buf_free(&from);
    return 0;
}

int
games_tell_extern(struct err *e) {
    return registry_each(tell_row, NULL, e);
}
