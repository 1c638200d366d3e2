/* The laws that every game obeys, checked by playing random matches. Built-in games and plug-ins
 * are held to the same ones. A broken law is named in the error's sentence:
 *
 *   definition   the table row is complete: names, ranges, functions, sizes; unit above 0
 *   turn         mover() gives one of its four values; no chance where GAME_NO_CHANCE says so
 *   chance       outcomes ascend, are unique and possible, and their probabilities sum to 1
 *   legal        legal lists ascend, are unique and never empty
 *   end          a match ends within max_plies()
 *   payoff       results are finite and in [-1, 1]
 *   spelling     words are unique whatever their letter case, fit in GAME_WORD, and have no blanks
 *                at their ends
 *   parse        parse(spell(a)) = a, also in capitals and between blanks
 *   text         rules and views are there, fit in GAME_TEXT and are plain text; no view ends with
 *                a newline; rules depend on the arguments and the seat only
 *   query        only init and apply write to the state
 *   size         init and apply stay within state_bytes
 *   replay       the same actions in fresh memory give the same bytes and the same texts: nothing
 *                hides outside the state, and every byte of it is set
 *   leak         where a seat was told the same (all narrations and its own actions), it sees the
 *                same view and has the same legal actions, whatever the hidden rest is
 *   hiding       a seat to move that was told something else sees another view, so that equal views
 *                are one information set; with GAME_PERFECT_INFO: in another state
 *                (of games with GAME_HISTORY only the legal actions are compared)
 *   talk         words change no mover, legal action, outcome or payoff; they fit into the texts,
 *                and say() stays within state_bytes
 *   answer       an external program does not fail
 *
 * For `leak` each random match is followed, for each seat, by a match in which hidden chance and
 * the other seat's hidden actions are drawn anew while that seat is told the same. What a narration
 * may tell is for the game to say: the law cannot know whether the rules mean a card to be
 * shown. */
#ifndef GAMES_LAWS_H
#define GAMES_LAWS_H

#include <stdint.h>

#include "games/game.h"

/* 0 when `matches` random matches (and their second worlds) broke no law. */
int laws_check(const struct game *g, const struct game_args *args, uint64_t seed, int matches,
               struct err *e);

#endif
