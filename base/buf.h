/* A growable byte buffer, a writer of little-endian fields on top of it, and a reader that checks
 * every bound: a short or over-long message makes `bad` true and yields zeros, never a wild
 * read. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    unsigned char *at; /* owned; NULL while empty */
    size_t len, cap;
};

void buf_free(struct buf *b);  /* also makes it empty and usable again */
void buf_clear(struct buf *b); /* keeps the memory */
void buf_room(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_put(struct buf *b, const char *s);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *buf_text(struct buf *b); /* NUL-terminated view; valid until the next change */
void buf_u8(struct buf *b, uint8_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_f64(struct buf *b, double v);
void buf_blob(struct buf *b, const void *p, size_t n); /* u32 length, then the bytes */

struct rd {
    const unsigned char *at; /* borrowed */
    size_t left;
    bool bad;
};

uint8_t rd_u8(struct rd *r);
uint32_t rd_u32(struct rd *r);
uint64_t rd_u64(struct rd *r);
double rd_f64(struct rd *r);
/* Borrowed bytes; *n is their number. NULL and 0 when bad or longer than `max`. */
const unsigned char *rd_blob(struct rd *r, size_t max, size_t *n);
bool rd_done(const struct rd *r); /* all read and nothing was bad */

#endif
