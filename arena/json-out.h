/* Writes JSON into a buffer: commas and escapes are taken care of, nesting is the caller's. Text
 * that is not UTF-8 is written with \xNN for the odd bytes (as text of those four characters),
 * numbers that are not finite as null, 64-bit ids as strings, since JavaScript's numbers end at
 * 2^53. */
#ifndef ARENA_JSON_OUT_H
#define ARENA_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json_out {
    struct buf *out; /* borrowed */
    bool comma;      /* a value came before */
};

/* `key` is NULL in arrays and at the top. */
void json_out_open(struct json_out *j, const char *key, char bracket);  /* '{' or '[' */
void json_out_close(struct json_out *j, char bracket);                  /* '}' or ']' */
void json_out_text(struct json_out *j, const char *key, const char *s); /* NULL: null */
void json_out_bytes(struct json_out *j, const char *key, const void *p, size_t n);
void json_out_int(struct json_out *j, const char *key, int64_t v);
void json_out_id(struct json_out *j, const char *key, int64_t v);
void json_out_real(struct json_out *j, const char *key, double v);
void json_out_bool(struct json_out *j, const char *key, bool v);
void json_out_null(struct json_out *j, const char *key);
/* n bytes that are a JSON value already. */
void json_out_raw(struct json_out *j, const char *key, const void *p, size_t n);

#endif
