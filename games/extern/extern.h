/* Games from outside: shared objects that export a `struct game` (games/extern/shared.c) and
 * programs that speak JSON lines (games/extern/program.c). They are registered by name in a
 * file (games/extern/registry.h), and game_find() and game_spec_parse() take a name from there
 * that is not built in. docs/adding.md and docs/protocol.md say how to write one.
 *
 * What is registered is a content: a hash is kept with the name and version, and a game whose
 * files have changed since is refused. One game of one content is loaded once and stays for the
 * process's life. Not for use from several threads. */
#ifndef GAMES_EXTERN_EXTERN_H
#define GAMES_EXTERN_EXTERN_H

#include "games/game.h"

/* What a shared object exports: const struct game agon_game, const int agon_game_abi = GAME_ABI. */
#define EXTERN_GAME "agon_game"
#define EXTERN_ABI "agon_game_abi"

#define EXTERN_MOST 64 /* loaded in one process */

/* The registered game `name`: 1 and *g, 0 when none is, -1 and e when it cannot be used. */
int extern_find(const char *name, const struct game **g, struct err *e);
/* Names of the registered games, each behind ", ". */
void extern_names(struct text *out);

/* SHA-256 of its content, in hexadecimal digits; "" for a built-in game. */
const char *game_hash(const struct game *g);
/* 0 when `g` is what was recorded as (version, hash); -1 and a sentence that says what is not. */
int game_same(const struct game *g, int version, const char *hash, struct err *e);

/* Rules cannot fail, but a program can. Where one did, mover() says GAME_OVER with the result
 * 0, and this says why. The failure is the match's own: the program is started again for the
 * next one. */
enum game_fault_kind {
    FAULT_NONE,
    FAULT_CRASH,   /* the program ended, or said what it must not */
    FAULT_TIME,    /* it gave no answer in time */
    FAULT_REFUSED, /* it is in quarantine, or no longer what was registered */
};
/* NULL where nothing failed, and always for other games; else a sentence, valid until the next call
 * of any of the game's functions. It is told once: after that the same state is tried again. `kind`
 * may be NULL. */
const char *game_fault(const struct game *g, const void *state, enum game_fault_kind *kind);
/* How often the game's program failed in this process, and the latest sentence (when not NULL). */
uint64_t game_faults(const struct game *g, const char **latest);

/* The seat to move will take this action: a program that answers several questions at a time is
 * asked what comes of it, and the answer is waited for when somebody looks. Nothing else changes;
 * for other games nothing is done. */
void game_foresee(const struct game *g, const void *state, int action);

/* Ends all programs; they are started again when they are needed. */
void extern_rest(void);

#endif
