/* UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the character at `p` (1 to 4) and its code point in *code (may be NULL); 0: not
 * UTF-8. */
size_t utf8_char(const void *p, size_t n, uint32_t *code);
/* Number of leading bytes that are whole valid characters; n when all are. */
size_t utf8_valid(const void *p, size_t n);
/* `s` for a message: control characters as \xNN, cut to fit with "..." at a character's end. */
const char *utf8_show(const char *s, char *out, size_t size);

#endif
