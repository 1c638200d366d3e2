/* Replies may hold any bytes; TEXT columns hold printable UTF-8 only, so that every tool can read
 * them and no player can move a reader's cursor. Bytes that are not (invalid UTF-8, NUL, control
 * characters other than tab, newline and carriage return) are written \xNN, and then a backslash is
 * written \\. A text that needs none of it is stored as it is, backslashes too: `turn.escaped`
 * tells the two apart. */
#include "base/utf8.h"
#include "store/store-int.h"

/* Length of the printable character that begins at p, 0 when it is none. */
static size_t
printable(const unsigned char *p, size_t left) {
    uint32_t code;
    if (*p >= 0x20 && *p < 0x7f)
        return 1;
    if (*p == '\t' || *p == '\n' || *p == '\r')
        return 1;
    size_t n = utf8_char(p, left, &code);
    return n && code >= 0xa0 ? n : 0;
}

bool
escape_needed(const char *text, size_t n) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        size_t len = printable(p + i, n - i);
        if (!len)
            return true;
        i += len;
    }
    return false;
}

void
escape_add(struct buf *out, const char *text, size_t n) {
    static const char digit[] = "0123456789abcdef";
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        size_t len = printable(p + i, n - i);
        if (!len) {
            char hex[4] = {'\\', 'x', digit[p[i] >> 4], digit[p[i] & 15]};
            buf_add(out, hex, sizeof hex);
            i++;
        } else if (p[i] == '\\') {
            buf_add(out, "\\\\", 2);
            i++;
        } else {
            buf_add(out, p + i, len);
            i += len;
        }
    }
}

static int
digit_value(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
escape_undo(const char *p, size_t n, char *out, size_t *len) {
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        if (p[i] != '\\') {
            out[o++] = p[i++];
        } else if (n - i >= 2 && p[i + 1] == '\\') {
            out[o++] = '\\';
            i += 2;
        } else if (n - i >= 4 && p[i + 1] == 'x' && digit_value(p[i + 2]) >= 0 &&
                   digit_value(p[i + 3]) >= 0) {
            out[o++] = (char)(digit_value(p[i + 2]) << 4 | digit_value(p[i + 3]));
            i += 4;
        } else {
            return -1;
        }
    }
    *len = o;
    return 0;
}
