#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void
buf_free(struct buf *b) {
    free(b->at);
    *b = (struct buf){0};
}

void
buf_clear(struct buf *b) {
    b->len = 0;
}

void
buf_room(struct buf *b, size_t more) {
    if (more <= b->cap - b->len)
        return;
    size_t cap = b->cap ? b->cap : 256;
    while (cap - b->len < more)
        cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    b->at = mem_grow(b->at, cap, 1);
    b->cap = cap;
}

void
buf_add(struct buf *b, const void *p, size_t n) {
    if (!n)
        return;
    buf_room(b, n);
    memcpy(b->at + b->len, p, n);
    b->len += n;
}

void
buf_put(struct buf *b, const char *s) {
    buf_add(b, s, strlen(s));
}

void
buf_fmt(struct buf *b, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ensure(n >= 0);
    buf_room(b, (size_t)n + 1);
    vsnprintf((char *)b->at + b->len, (size_t)n + 1, fmt, again);
    va_end(again);
    b->len += (size_t)n;
}

const char *
buf_text(struct buf *b) {
    buf_room(b, 1);
    b->at[b->len] = '\0';
    return (const char *)b->at;
}

void
buf_u8(struct buf *b, uint8_t v) {
    buf_add(b, &v, 1);
}

void
buf_u32(struct buf *b, uint32_t v) {
    unsigned char p[4];
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
    buf_add(b, p, sizeof p);
}

void
buf_u64(struct buf *b, uint64_t v) {
    unsigned char p[8];
    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(v >> (8 * i));
    buf_add(b, p, sizeof p);
}

void
buf_f64(struct buf *b, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    buf_u64(b, bits);
}

void
buf_blob(struct buf *b, const void *p, size_t n) {
    ensure(n <= UINT32_MAX);
    buf_u32(b, (uint32_t)n);
    buf_add(b, p, n);
}

static const unsigned char *
take(struct rd *r, size_t n) {
    if (r->bad || n > r->left) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *p = r->at;
    r->at += n;
    r->left -= n;
    return p;
}

static uint64_t
little(struct rd *r, unsigned bytes) {
    const unsigned char *p = take(r, bytes);
    uint64_t v = 0;
    for (unsigned i = 0; p && i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint8_t
rd_u8(struct rd *r) {
    return (uint8_t)little(r, 1);
}

uint32_t
rd_u32(struct rd *r) {
    return (uint32_t)little(r, 4);
}

uint64_t
rd_u64(struct rd *r) {
    return little(r, 8);
}

double
rd_f64(struct rd *r) {
    uint64_t bits = rd_u64(r);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

const unsigned char *
rd_blob(struct rd *r, size_t max, size_t *n) {
    *n = 0;
    uint32_t len = rd_u32(r);
    if (len > max) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *p = take(r, len);
    if (p)
        *n = len;
    return p;
}

bool
rd_done(const struct rd *r) {
    return !r->bad && r->left == 0;
}
