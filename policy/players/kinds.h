/* The scripted players, one file each; policy/players.c lists them. */
#ifndef POLICY_PLAYERS_KINDS_H
#define POLICY_PLAYERS_KINDS_H

#include "policy/player.h"

extern const struct player_kind player_random, player_first, player_minimax, player_equilibrium,
    player_fixed;

/* For players that take no argument: -1 and e when there is one. */
int player_no_argument(const char *name, const char *arg, struct err *e);

#endif
