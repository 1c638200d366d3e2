/* From a seat's situation to tokens. A template is text with places: {rules} {view} {history}
 * {news} {legal} {seat} {game}. Each place becomes one typed piece (its control token, then its
 * bytes); literal text becomes a TEXT piece. A prompt starts with BOS and ends with REPLY.
 * {history} is a NEWS piece, {seat} and {game} (the game's name, without parameters) are TEXT
 * pieces; an empty part leaves its control token. {{ and }} stand for braces that are text.
 *
 * observation mode:  every turn shows the whole template, and the context starts anew.
 * conversation mode: the first turn shows the template; a later turn appends the follow-up template
 *                    (by default {news}{view}) behind what the seat has seen and said so far. */
#ifndef POLICY_PROMPT_H
#define POLICY_PROMPT_H

#include <stdbool.h>

#include "base/err.h"
#include "policy/token.h"

enum prompt_mode { PROMPT_OBSERVATION, PROMPT_CONVERSATION };

struct prompt; /* a compiled template; opaque */

struct prompt_parts { /* borrowed texts of one turn; NULL counts as empty */
    const char *rules, *view, *history, *news, *legal, *seat, *game;
};

/* `follow_up` is used in conversation mode only. An unknown place is an error that lists all. */
struct prompt *prompt_new(const char *template, const char *follow_up, enum prompt_mode mode,
                          struct err *e);
void prompt_free(struct prompt *p);
enum prompt_mode prompt_mode(const struct prompt *p);
/* Which parts does the template use? (so that callers need not make the others) */
struct prompt_uses {
    bool rules, view, history, news, legal, seat, game;
};
struct prompt_uses prompt_uses(const struct prompt *p);
/* Appends what turn number `turn` (0 = the seat's first of the match) adds to its context. */
void prompt_build(const struct prompt *p, int turn, const struct prompt_parts *parts,
                  struct tokens *out);

#endif
