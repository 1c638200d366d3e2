/* Shared objects with a game in them. */
#ifndef GAMES_EXTERN_SHARED_H
#define GAMES_EXTERN_SHARED_H

#include "base/hash.h"
#include "games/game.h"

/* Loads the file and checks its interface number and its row's pointers. The library stays
 * loaded; the game is its own struct. `hash` becomes that of the bytes that were loaded. */
const struct game *shared_load(const char *path, char hash[HASH_HEX], struct err *e);

#endif
