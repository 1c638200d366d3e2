/* Widths are counted in characters, not bytes; combining and double-width characters are not looked
 * after: names of games and players are plain, and everything else stands in the last column. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { LINE_WIDTH = 92 }; /* bytes after which long texts are broken at a blank */

/* Characters that steer a terminal, reorder text or are not seen. */
static bool
is_unsafe(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

static void
escape(struct buf *out, const char *s, size_t n, bool lines, bool quoted) {
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t len = utf8_char(p + i, n - i, &c);
        if (lines && p[i] == '\n') {
            buf_add(out, "\n", 1);
            i++;
        } else if (quoted && (c == '"' || c == '\\' || c == '\n') && len) {
            buf_fmt(out, "\\%c", c == '\n' ? 'n' : (int)c);
            i++;
        } else if (len && !is_unsafe(c)) {
            buf_add(out, p + i, len);
            i += len;
        } else {
            for (size_t end = i + (len ? len : 1); i < end; i++)
                buf_fmt(out, "\\x%02x", p[i]);
        }
    }
}

void
term_escape(struct buf *out, const char *s, size_t n, bool lines) {
    escape(out, s, n, lines, false);
}

void
term_quote(struct buf *out, const char *s, size_t n) {
    buf_add(out, "\"", 1);
    escape(out, s, n, false, true);
    buf_add(out, "\"", 1);
}

/* Bytes of the line's first row: all of it, or up to the last blank that lets it fit. */
static size_t
fitting(const char *line, size_t len) {
    if (len <= LINE_WIDTH)
        return len;
    for (size_t at = LINE_WIDTH; at > LINE_WIDTH / 2; at--)
        if (line[at] == ' ')
            return at;
    return len;
}

void
term_block(FILE *out, const char *indent, const char *s, size_t n) {
    struct buf b = {0};
    escape(&b, s, n, true, false);
    for (const char *line = buf_text(&b); *line;) {
        size_t rest = strcspn(line, "\n"), len = fitting(line, rest);
        fprintf(out, "%s%.*s\n", len ? indent : "", (int)len, line);
        line += len + (line[len] == '\n' || len < rest);
    }
    buf_free(&b);
}

void
table_init(struct table *t, const char *const *heads) {
    *t = (struct table){.heads = heads};
    while (heads[t->columns])
        t->columns++;
}

void
table_add(struct table *t, const char *cell) {
    if (!cell)
        cell = "-";
    escape(&t->text, cell, strlen(cell), false, false);
    buf_u8(&t->text, 0);
    t->cells++;
}

void
table_fmt(struct table *t, const char *fmt, ...) {
    char cell[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cell, sizeof cell, fmt, ap);
    va_end(ap);
    table_add(t, cell);
}

static size_t
width(const char *s) {
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void
print_cell(FILE *out, const char *cell, size_t wide, bool right, bool last) {
    int pad = (int)(wide - width(cell));
    if (right)
        fprintf(out, "%*s%s", pad, "", cell);
    else
        fprintf(out, "%s%*s", cell, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", out);
}

void
table_print(struct table *t, FILE *out) {
    size_t *wide = mem_zero(t->columns, sizeof *wide);
    bool *right = mem_zero(t->columns, sizeof *right);
    for (size_t i = 0; i < t->columns; i++) {
        right[i] = t->heads[i][0] == '>';
        wide[i] = width(t->heads[i] + right[i]);
    }
    const char *cell = buf_text(&t->text);
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        size_t n = width(cell);
        if (n > wide[i % t->columns])
            wide[i % t->columns] = n;
    }
    for (size_t i = 0; i < t->columns; i++)
        print_cell(out, t->heads[i] + right[i], wide[i], right[i], i + 1 == t->columns);
    cell = buf_text(&t->text);
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        size_t column = i % t->columns;
        bool last = column + 1 == t->columns || i + 1 == t->cells;
        print_cell(out, cell, wide[column], right[column], last);
    }
    free(wide);
    free(right);
    buf_free(&t->text);
}

void
term_time(char out[32], long long ms) {
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    if (!gmtime_r(&s, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(out, 32, "?");
}

void
term_ago(char out[32], long long ms, long long now_ms) {
    long long s = (now_ms - ms) / 1000;
    if (s < 0)
        snprintf(out, 32, "now");
    else if (s < 120)
        snprintf(out, 32, "%lld s ago", s);
    else if (s < 7200)
        snprintf(out, 32, "%lld min ago", s / 60);
    else if (s < 172800)
        snprintf(out, 32, "%lld h ago", s / 3600);
    else
        snprintf(out, 32, "%lld days ago", s / 86400);
}
