#include "games/extern/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define DEPTH 32
#define DIGITS 64 /* bytes of a number */

void
scan_init(struct scan *s, const char *text, size_t n, char *room) {
    *s = (struct scan){.at = text, .end = text + n, .room = room};
}

static void
spoil(struct scan *s) {
    s->bad = true;
    s->at = s->end;
}

char
scan_peek(struct scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

bool
scan_is(struct scan *s, char c) {
    if (scan_peek(s) != c || s->at == s->end)
        return false;
    s->at++;
    return true;
}

void
scan_expect(struct scan *s, char c) {
    if (!scan_is(s, c))
        spoil(s);
}

bool
scan_more(struct scan *s, bool *first, char close) {
    bool was_first = *first;
    *first = false;
    if (scan_is(s, close))
        return false;
    if (!was_first)
        scan_expect(s, ',');
    if (s->at == s->end || scan_peek(s) == close) /* no value behind the comma */
        spoil(s);
    return !s->bad;
}

/* ---- strings ---- */

static int
hex4(const char *p) {
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static char *
put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(lead[more] | c >> 6 * more);
    while (more--)
        *out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return out;
}

/* Behind "\u"; surrogates come in pairs. NULL: no character. */
static char *
read_unicode(struct scan *s, char *out) {
    int c = s->end - s->at >= 4 ? hex4(s->at) : -1;
    if (c <= 0 || (c >= 0xdc00 && c < 0xe000))
        return NULL;
    s->at += 4;
    uint32_t code = (uint32_t)c;
    if (c >= 0xd800 && c < 0xdc00) {
        int low = s->end - s->at >= 6 && s->at[0] == '\\' && s->at[1] == 'u' ? hex4(s->at + 2) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        s->at += 6;
        code = 0x10000 + ((uint32_t)(c - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    }
    return put_utf8(out, code);
}

static char *
read_escape(struct scan *s, char *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = s->at < s->end ? *s->at++ : '\0';
    if (c == 'u')
        return read_unicode(s, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return NULL;
    *out++ = to[found - from];
    return out;
}

/* Decoded, a string is never longer than it is written, quotes for its NUL included. */
const char *
scan_string(struct scan *s) {
    char *start = s->room, *out = start;
    bool plain = true;
    scan_expect(s, '"');
    while (!s->bad) {
        if (s->at == s->end || (unsigned char)*s->at < ' ') {
            spoil(s);
            break;
        }
        char c = *s->at++;
        if (c == '"') {
            *out++ = '\0';
            s->room = out;
            if (!plain && utf8_valid(start, (size_t)(out - 1 - start)) != (size_t)(out - 1 - start))
                spoil(s);
            return s->bad ? "" : start;
        }
        if (c != '\\') {
            plain = plain && (unsigned char)c < 0x80;
            *out++ = c;
        } else if (!(out = read_escape(s, out))) {
            spoil(s);
        }
    }
    return "";
}

/* ---- numbers and words ---- */

static size_t
digits(const char *p, size_t n) {
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

/* Length of the number at p as JSON has it, 0 when it is none; *whole: no fraction, no exponent. */
static size_t
measure(const char *p, size_t n, bool *whole) {
    size_t i = n && p[0] == '-', d = digits(p + i, n - i);
    *whole = true;
    if (d == 0 || (d > 1 && p[i] == '0'))
        return 0;
    i += d;
    if (i < n && p[i] == '.') {
        d = digits(p + i + 1, n - i - 1);
        if (d == 0)
            return 0;
        i += 1 + d;
        *whole = false;
    }
    if (i < n && (p[i] == 'e' || p[i] == 'E')) {
        size_t sign = i + 1 < n && (p[i + 1] == '+' || p[i + 1] == '-');
        d = digits(p + i + 1 + sign, n - i - 1 - sign);
        if (d == 0)
            return 0;
        i += 1 + sign + d;
        *whole = false;
    }
    return i;
}

struct scan_number
scan_number(struct scan *s) {
    struct scan_number v = {0};
    bool whole;
    scan_peek(s);
    size_t n = measure(s->at, (size_t)(s->end - s->at), &whole);
    if (n == 0 || n >= DIGITS) {
        spoil(s);
        return v;
    }
    if (whole && n <= 18) {
        bool minus = s->at[0] == '-';
        for (size_t i = minus; i < n; i++)
            v.value = v.value * 10 + (s->at[i] - '0');
        v.value = minus ? -v.value : v.value;
        v.whole = true;
        v.real = (double)v.value;
    } else {
        char copy[DIGITS];
        memcpy(copy, s->at, n);
        copy[n] = '\0';
        v.real = strtod(copy, NULL);
    }
    s->at += n;
    return v;
}

static bool
take_word(struct scan *s, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

bool
scan_bool(struct scan *s) {
    scan_peek(s);
    if (take_word(s, "true"))
        return true;
    if (!take_word(s, "false"))
        spoil(s);
    return false;
}

/* ---- what nobody asked for ---- */

static void
skip(struct scan *s, int depth) {
    char c = scan_peek(s), *room = s->room;
    bool first = true;
    if (depth > DEPTH)
        spoil(s);
    else if (c == '{') {
        s->at++;
        while (scan_more(s, &first, '}')) {
            scan_string(s);
            scan_expect(s, ':');
            skip(s, depth + 1);
        }
    } else if (c == '[') {
        s->at++;
        while (scan_more(s, &first, ']'))
            skip(s, depth + 1);
    } else if (c == '"')
        scan_string(s);
    else if (c == 't' || c == 'f')
        scan_bool(s);
    else if (!take_word(s, "null"))
        scan_number(s);
    s->room = room;
}

void
scan_skip(struct scan *s) {
    skip(s, 0);
}
