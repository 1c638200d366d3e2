/* Some functions of `struct game` get neither a game nor a state, so each external program of a
 * process has its own ones, which know its number. */
#include "games/extern/program.h"

#define SLOT(n)                                                         \
    static int max_plies_##n(const struct game_args *args) {            \
        (void)args;                                                     \
        return program_max_plies(n);                                    \
    }                                                                   \
    static double unit_##n(const struct game_args *args) {              \
        (void)args;                                                     \
        return program_unit(n);                                         \
    }                                                                   \
    static int check_##n(const struct game_args *args, struct err *e) { \
        return program_check(n, args, e);                               \
    }                                                                   \
    static void init_##n(void *state, const struct game_args *args) {   \
        program_init(n, state, args);                                   \
    }

#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
/* Octal numbers count without a gap: 000 to 077. */
#define ALL(X)   \
    EIGHT(X, 00) \
    EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07)

ALL(SLOT)

#define HOOKS(n) {max_plies_##n, unit_##n, check_##n, init_##n},

const struct slot_hooks slot_hooks[EXTERN_MOST] = {ALL(HOOKS)};
