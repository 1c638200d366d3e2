#include "arena/json-out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static void
put_escaped(struct buf *out, const unsigned char *p, size_t n) {
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < n;) {
        size_t plain = i;
        while (plain < n && p[plain] >= ' ' && p[plain] < 0x7f && p[plain] != '"' &&
               p[plain] != '\\')
            plain++;
        buf_add(out, p + i, plain - i);
        i = plain;
        if (i == n)
            return;
        size_t len = p[i] < 0x80 ? 1 : utf8_char(p + i, n - i, NULL);
        if (p[i] == '"' || p[i] == '\\') {
            buf_add(out, (char[2]){'\\', (char)p[i]}, 2);
        } else if (p[i] == '\n') {
            buf_put(out, "\\n");
        } else if (len == 1) {
            buf_add(out, (char[6]){'\\', 'u', '0', '0', digit[p[i] >> 4], digit[p[i] & 15]}, 6);
        } else if (len) {
            buf_add(out, p + i, len);
        } else {
            buf_add(out, (char[5]){'\\', '\\', 'x', digit[p[i] >> 4], digit[p[i] & 15]}, 5);
            len = 1;
        }
        i += len;
    }
}

static void
put_string(struct buf *out, const void *p, size_t n) {
    buf_add(out, "\"", 1);
    put_escaped(out, p, n);
    buf_add(out, "\"", 1);
}

static void
begin(struct json_out *j, const char *key) {
    if (j->comma)
        buf_add(j->out, ",", 1);
    j->comma = true;
    if (!key)
        return;
    put_string(j->out, key, strlen(key));
    buf_add(j->out, ":", 1);
}

void
json_out_open(struct json_out *j, const char *key, char bracket) {
    begin(j, key);
    buf_add(j->out, &bracket, 1);
    j->comma = false;
}

void
json_out_close(struct json_out *j, char bracket) {
    buf_add(j->out, &bracket, 1);
    j->comma = true;
}

void
json_out_text(struct json_out *j, const char *key, const char *s) {
    if (s)
        json_out_bytes(j, key, s, strlen(s));
    else
        json_out_null(j, key);
}

void
json_out_bytes(struct json_out *j, const char *key, const void *p, size_t n) {
    begin(j, key);
    put_string(j->out, p, n);
}

void
json_out_int(struct json_out *j, const char *key, int64_t v) {
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRId64, v);
    json_out_raw(j, key, text, (size_t)n);
}

void
json_out_id(struct json_out *j, const char *key, int64_t v) {
    char text[24];
    int n = snprintf(text, sizeof text, "\"%" PRId64 "\"", v);
    json_out_raw(j, key, text, (size_t)n);
}

void
json_out_real(struct json_out *j, const char *key, double v) {
    char text[40];
    if (!isfinite(v)) {
        json_out_null(j, key);
        return;
    }
    int n = snprintf(text, sizeof text, "%.9g", v);
    json_out_raw(j, key, text, (size_t)n);
}

void
json_out_bool(struct json_out *j, const char *key, bool v) {
    json_out_raw(j, key, v ? "true" : "false", v ? 4 : 5);
}

void
json_out_null(struct json_out *j, const char *key) {
    json_out_raw(j, key, "null", 4);
}

void
json_out_raw(struct json_out *j, const char *key, const void *p, size_t n) {
    begin(j, key);
    buf_add(j->out, p, n);
}
