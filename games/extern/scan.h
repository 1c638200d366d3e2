/* A strict reader of one JSON text, a piece at a time, without a tree: what answers to every move
 * are read with. After the first thing that is no JSON, or not what was asked for, `bad` is set and
 * every further call fails, so that a caller may check once. */
#ifndef GAMES_EXTERN_SCAN_H
#define GAMES_EXTERN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct scan {
    const char *at, *end; /* borrowed */
    char *room;           /* the caller's: as many bytes as the text; strings are decoded into it */
    bool bad;
};

struct scan_number {
    bool whole;      /* an integer that fits */
    long long value; /* when whole */
    double real;     /* always */
};

void scan_init(struct scan *s, const char *text, size_t n, char *room);
bool scan_is(struct scan *s, char c);     /* is that the next character, blanks aside? Takes it. */
void scan_expect(struct scan *s, char c); /* it must be */
/* True once for each element, with commas taken, until `close` is taken: in a list
 * `for (bool first = true; scan_more(s, &first, ']');)`. */
bool scan_more(struct scan *s, bool *first, char close);
/* A string without NULs, valid UTF-8, in `room`; "" when bad. */
const char *scan_string(struct scan *s);
struct scan_number scan_number(struct scan *s);
bool scan_bool(struct scan *s);
void scan_skip(struct scan *s); /* any value, nested up to 32 deep */
char scan_peek(struct scan *s); /* the next character, blanks aside; NUL at the end */

#endif
