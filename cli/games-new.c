/* `agon games new FILE.c`: a small game that compiles and keeps the laws, to be changed into
 * another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "cli/games-extern.h"

enum { NAME_MOST = 40, PATH_MOST = 4096 };

/* @ stands for the game's name, ! for the command that builds it. */
static const char template[] =
    "/* @: a game for Agon. Build and register it:\n"
    " *\n"
    " *   !\n"
    " *   agon games add ./@.so\n"
    " *\n"
    " * This is the subtraction game: change it into yours. A game is pure functions over a state "
    "of plain\n"
    " * bytes without pointers; games/game.h says what each of them must do, and `agon games add` "
    "checks. */\n"
    "#include \"games/game.h\"\n"
    "\n"
    "enum { P_HEAP, P_MOST }; /* parameters, in the order of their table */\n"
    "\n"
    "/* Everything that a match is at one moment. */\n"
    "struct state {\n"
    "    int heap, most;\n"
    "    int turn; /* the seat to move */\n"
    "};\n"
    "\n"
    "/* name, type, least, greatest, default, help. A user writes @(heap=30). */\n"
    "static const struct game_param params[] = {\n"
    "    {\"heap\", PARAM_INT, 1, 100, \"21\", \"Objects at the start.\"},\n"
    "    {\"most\", PARAM_INT, 1, 9, \"3\", \"The most that a turn may take.\"},\n"
    "    {NULL, PARAM_INT, 0, 0, NULL, NULL},\n"
    "};\n"
    "\n"
    "/* The most actions that a match can have, chance included. */\n"
    "static int\n"
    "max_plies(const struct game_args *args) {\n"
    "    return args->value[P_HEAP][0];\n"
    "}\n"
    "\n"
    "/* Natural units (chips, points) of the payoff 1.0. */\n"
    "static double\n"
    "unit(const struct game_args *args) {\n"
    "    (void)args;\n"
    "    return 1;\n"
    "}\n"
    "\n"
    "/* Sets every byte. */\n"
    "static void\n"
    "init(void *state, const struct game_args *args) {\n"
    "    struct state *s = state;\n"
    "    s->heap = args->value[P_HEAP][0];\n"
    "    s->most = args->value[P_MOST][0];\n"
    "    s->turn = GAME_SEAT_0;\n"
    "}\n"
    "\n"
    "/* GAME_SEAT_0, GAME_SEAT_1, GAME_CHANCE (then define chance() too) or GAME_OVER. */\n"
    "static int\n"
    "mover(const void *state) {\n"
    "    const struct state *s = state;\n"
    "    return s->heap ? s->turn : GAME_OVER;\n"
    "}\n"
    "\n"
    "/* Numbers of the legal actions, ascending; returns how many. */\n"
    "static int\n"
    "legal(const void *state, int *out) {\n"
    "    const struct state *s = state;\n"
    "    int n = 0;\n"
    "    for (int take = 1; take <= s->most && take <= s->heap; take++)\n"
    "        out[n++] = take;\n"
    "    return n;\n"
    "}\n"
    "\n"
    "static void\n"
    "apply(void *state, int action) {\n"
    "    struct state *s = state;\n"
    "    s->heap -= action;\n"
    "    s->turn = 1 - s->turn;\n"
    "}\n"
    "\n"
    "/* At the end: what seat 0 gets, from -1 to 1. Seat 1 gets the opposite. */\n"
    "static double\n"
    "result(const void *state) {\n"
    "    const struct state *s = state;\n"
    "    return s->turn == GAME_SEAT_0 ? -1 : 1; /* who would move now did not take the last one "
    "*/\n"
    "}\n"
    "\n"
    "/* What a seat is told before play. */\n"
    "static void\n"
    "rules(const void *state, int who, struct text *out) {\n"
    "    const struct state *s = state;\n"
    "    text_fmt(out, \"In a turn you take 1 to %d objects from a heap. Who takes the last one "
    "wins. \",\n"
    "             s->most);\n"
    "    text_fmt(out, \"You move %s. Your move is a number.\", who == GAME_SEAT_0 ? \"first\" : "
    "\"second\");\n"
    "}\n"
    "\n"
    "/* All that a seat may know now, and nothing that it may not. */\n"
    "static void\n"
    "observe(const void *state, int who, struct text *out) {\n"
    "    const struct state *s = state;\n"
    "    (void)who;\n"
    "    text_fmt(out, \"%d left\", s->heap);\n"
    "}\n"
    "\n"
    "/* What a seat is told of an action that is about to be applied; nothing where it is hidden. "
    "*/\n"
    "static void\n"
    "narrate(const void *state, int action, int viewer, struct text *out) {\n"
    "    const struct state *s = state;\n"
    "    text_fmt(out, \"%s %d.\", s->turn == viewer ? \"You take\" : \"They take\", action);\n"
    "}\n"
    "\n"
    "/* The word that a player writes for an action. */\n"
    "static void\n"
    "spell(const void *state, int action, struct text *out) {\n"
    "    (void)state;\n"
    "    text_int(out, action);\n"
    "}\n"
    "\n"
    "/* version: raise it when rules or texts change, so that old matches stay told apart. flags: "
    "leave\n"
    " * out GAME_PERFECT_INFO where something is hidden, GAME_NO_CHANCE where chance moves. */\n"
    "const struct game agon_game = {\n"
    "    .name = \"@\",\n"
    "    .title = \"@\",\n"
    "    .version = 1,\n"
    "    .flags = GAME_PERFECT_INFO | GAME_NO_CHANCE,\n"
    "    .state_bytes = sizeof(struct state),\n"
    "    .params = params,\n"
    "    .max_plies = max_plies,\n"
    "    .unit = unit,\n"
    "    .init = init,\n"
    "    .mover = mover,\n"
    "    .legal = legal,\n"
    "    .apply = apply,\n"
    "    .result = result,\n"
    "    .rules = rules,\n"
    "    .observe = observe,\n"
    "    .narrate = narrate,\n"
    "    .spell = spell,\n"
    "};\n"
    "\n"
    "const int agon_game_abi = GAME_ABI;\n";

/* The folder that holds games/game.h: beside an installed program, or the sources it was built
 * from. */
static void
find_headers(char out[PATH_MOST]) {
    static const char *const places[] = {"../include/agon", "..", "../..", NULL};
    char exe[PATH_MOST];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; slash && places[i]; i++) {
        char header[PATH_MOST + 64];
        snprintf(header, sizeof header, "%s/%s/games/game.h", exe, places[i]);
        if (snprintf(out, PATH_MOST, "%s/%s", exe, places[i]) < PATH_MOST && file_exists(header))
            return;
    }
    snprintf(out, PATH_MOST, "/usr/local/include/agon");
}

/* The game's name is the file's: "my-game.c" holds my_game. */
static int
name_of(const char *path, char name[NAME_MOST + 1], struct err *e) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = strlen(base), k = 0;
    if (n < 3 || strcmp(base + n - 2, ".c") != 0 || n - 2 > NAME_MOST)
        return err_set(e, "\"%.60s\": name a file like mygame.c (up to %d letters)", base,
                       NAME_MOST);
    for (; k < n - 2; k++) {
        char c = base[k] == '-' ? '_' : base[k];
        if (!((c >= 'a' && c <= 'z') || (k && (c == '_' || (c >= '0' && c <= '9')))))
            return err_set(e,
                           "\"%.60s\": a game's name is small letters, digits and _, and begins "
                           "with a letter",
                           base);
        name[k] = c;
    }
    name[k] = '\0';
    return 0;
}

int
games_new(const struct cmd_args *a, struct err *e) {
    char name[NAME_MOST + 1], headers[PATH_MOST];
    if (a->words < 2)
        return err_usage(e, "which file? `agon games new mygame.c`");
    const char *path = a->word[1];
    if (name_of(path, name, e) < 0)
        return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(e, "%.300s: %s", path, strerror(errno));
    close(fd);
    struct buf text = {0}, command = {0};
    find_headers(headers);
    const char *base = strrchr(path, '/');
    buf_fmt(&command, "cc -std=c11 -O2 -Wall -Wextra -shared -fPIC -I%s -o %s.so %s", headers, name,
            base ? base + 1 : path);
    for (const char *at = template; *at; at++) {
        if (*at == '@')
            buf_put(&text, name);
        else if (*at == '!')
            buf_put(&text, buf_text(&command));
        else
            buf_u8(&text, (unsigned char)*at);
    }
    int status = file_write(path, text.at, text.len, false, e);
    if (status == 0)
        printf("wrote %s. Build and register it:\n  %s\n  agon games add ./%s.so\n", path,
               buf_text(&command), name);
    buf_free(&text);
    buf_free(&command);
    return status;
}
