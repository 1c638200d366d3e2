/* Text for terminals: aligned tables, and the escaping of text that players wrote, so that nobody's
 * words can move the cursor, forge a line or send the terminal a command. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/* Appends n bytes of text. Control characters, bytes that are no UTF-8, and the invisible
 * characters that reorder or hide text become \xNN; a line break passes only where `lines` is
 * true. */
void term_escape(struct buf *out, const char *s, size_t n, bool lines);
/* The same as one quoted word, '"' and '\' escaped as well: what was written can be told
 * exactly. */
void term_quote(struct buf *out, const char *s, size_t n);
/* Prints text with `indent` before every line, escaped, line breaks kept, long lines broken at
 * blanks; ends with a line break. */
void term_block(FILE *out, const char *indent, const char *s, size_t n);

/* A table is filled cell by cell in reading order and printed once. */
struct table {
    const char *const
        *heads; /* borrowed; ends with NULL. A head that starts with '>' is a column of
                               * numbers: aligned right (and printed without the '>') */
    size_t columns, cells;
    struct buf text; /* the cells, each NUL-terminated */
};

void table_init(struct table *t, const char *const *heads);
void table_add(struct table *t, const char *cell); /* escaped; NULL counts as "-" */
void table_fmt(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints and frees. The last row may be incomplete. */
void table_print(struct table *t, FILE *out);

/* "2026-03-01 12:00:05" of UTC milliseconds, or "3 min ago" and the like; the text is at most 31
 * bytes. */
void term_time(char out[32], long long ms);
void term_ago(char out[32], long long ms, long long now_ms);

#endif
