#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t
utf8_char(const void *p, size_t n, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = p;
    if (!n)
        return 0;
    size_t len = s[0] < 0x80       ? 1
                 : s[0] >> 5 == 6  ? 2
                 : s[0] >> 4 == 14 ? 3
                 : s[0] >> 3 == 30 ? 4
                                   : 0;
    if (!len || len > n)
        return 0;
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || c >> 11 == 0x1b)
        return 0;
    if (code)
        *code = c;
    return len;
}

size_t
utf8_valid(const void *p, size_t n) {
    size_t at = 0, len;
    while ((len = utf8_char((const char *)p + at, n - at, NULL)))
        at += len;
    return at;
}

const char *
utf8_show(const char *s, char *out, size_t size) {
    size_t n = strlen(s), at = 0, room_for_dots = 0;
    for (size_t len; n; s += len, n -= len) {
        uint32_t c = *(const unsigned char *)s;
        char piece[8];
        len = utf8_char(s, n, &c);
        if (!len || c < 0x20 || (c >= 0x7f && c < 0xa0))
            snprintf(piece, sizeof piece, "\\x%02x", (unsigned)(c & 0xff));
        else
            snprintf(piece, sizeof piece, "%.*s", (int)len, s);
        len = len ? len : 1;
        if (at + strlen(piece) >= size) {
            snprintf(out + room_for_dots, size - room_for_dots, "...");
            return out;
        }
        at += (size_t)snprintf(out + at, size - at, "%s", piece);
        if (at + 4 <= size)
            room_for_dots = at;
    }
    out[at] = '\0';
    return out;
}
