/* Games that are external programs: a `struct game` whose functions ask a process.
 * docs/protocol.md describes the lines; games/extern/process.h the cage. */
#ifndef GAMES_EXTERN_PROGRAM_H
#define GAMES_EXTERN_PROGRAM_H

#include "games/extern/extern.h"
#include "games/extern/message.h"
#include "games/extern/registry.h"

#define PROGRAM_START_SECONDS 30
#define PROGRAM_FAILURES 5 /* in a row: quarantine */

struct program; /* opaque */

/* Starts the command and asks who it is. */
struct process *program_greet(const struct registry_row *row, struct hello *out, struct err *e);

/* Loads a registered program as number `slot` (unique in this process). Takes row->json along.
 * It is started when something has to be asked. */
struct program *program_new(int slot, const struct registry_row *row, struct err *e);
const struct game *program_game(const struct program *p);
/* Registered again with the same content: out of quarantine, with the row's limits. */
void program_renew(struct program *p, const struct registry_row *row);
void program_rest(struct program *p); /* ends the process; the next question starts it again */
const char *program_fault(struct program *p, const void *state, enum game_fault_kind *kind);
void program_foresee(struct program *p, const void *state, int action);
uint64_t program_faults(const struct program *p, const char **latest);

/* The game of a row that need not be registered (games/extern/extern.c): 1, or -1 and e. */
int extern_try(const struct registry_row *row, const struct game **g, struct err *e);
/* Functions of `struct game` get no game: these find the program by its number
 * (games/extern/extern.c). */
struct program *extern_program(int slot);

/* What the functions without a state need, in a form that knows the slot (games/extern/slots.c). */
int program_max_plies(int slot);
double program_unit(int slot);
int program_check(int slot, const struct game_args *args, struct err *e);
void program_init(int slot, void *state, const struct game_args *args);
struct slot_hooks {
    int (*max_plies)(const struct game_args *args);
    double (*unit)(const struct game_args *args);
    int (*check)(const struct game_args *args, struct err *e);
    void (*init)(void *state, const struct game_args *args);
};
extern const struct slot_hooks slot_hooks[EXTERN_MOST];

#endif
