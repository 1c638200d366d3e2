#include "arena/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_TURNS 1000000u
#define MAX_BLOB (16u << 20)

/* A message is begun, filled, then its length is written into the gap left for it. */
static size_t
begin(struct buf *out, enum wire_type type) {
    size_t at = out->len;
    buf_u32(out, 0);
    buf_u8(out, (uint8_t)type);
    return at;
}

static void
end(struct buf *out, size_t at) {
    size_t n = out->len - at - 4;
    ensure(n <= WIRE_MAX);
    for (int i = 0; i < 4; i++)
        out->at[at + (size_t)i] = (unsigned char)(n >> (8 * i));
}

static void
text_message(struct buf *out, enum wire_type type, const char *text) {
    size_t at = begin(out, type);
    buf_u32(out, WIRE_VERSION);
    buf_blob(out, text, strlen(text));
    end(out, at);
}

void
wire_hello(struct buf *out, const struct wire_hello *h) {
    size_t at = begin(out, WIRE_HELLO);
    buf_u32(out, WIRE_VERSION);
    buf_blob(out, h->run, strlen(h->run));
    buf_u8(out, (uint8_t)h->games);
    for (size_t i = 0; i < h->games; i++) {
        buf_u64(out, (uint64_t)h->game[i].id);
        buf_blob(out, h->game[i].spec, strlen(h->game[i].spec));
    }
    end(out, at);
}

void
wire_ready(struct buf *out, const char *kernel) {
    text_message(out, WIRE_READY, kernel);
}

void
wire_cast(struct buf *out, const struct wire_cast *c) {
    size_t at = begin(out, WIRE_CAST);
    buf_u64(out, (uint64_t)c->id);
    buf_u8(out, c->scripted);
    buf_blob(out, c->name, strlen(c->name));
    end(out, at);
}

void
wire_jobs(struct buf *out, int64_t newest, const struct match_job *j, size_t n) {
    size_t at = begin(out, WIRE_JOBS);
    buf_u64(out, (uint64_t)newest);
    buf_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        buf_u64(out, (uint64_t)j[i].id);
        buf_u8(out, (uint8_t)j[i].kind);
        buf_u64(out, (uint64_t)j[i].iteration);
        buf_u64(out, (uint64_t)j[i].game);
        buf_u64(out, (uint64_t)j[i].deal);
        buf_u64(out, (uint64_t)j[i].policy[0]);
        buf_u64(out, (uint64_t)j[i].policy[1]);
        buf_u8(out, (uint8_t)j[i].attempts);
    }
    end(out, at);
}

static void
put_turn(struct buf *out, const struct store_turn *t) {
    buf_u32(out, (uint32_t)t->ply);
    buf_u8(out, (uint8_t)t->seat);
    buf_blob(out, t->prompt, t->nprompt * sizeof *t->prompt);
    buf_blob(out, t->reply, t->nreply);
    buf_u8(out, t->word != NULL);
    if (t->word)
        buf_blob(out, t->word, strlen(t->word) + 1);
    buf_u32(out, (uint32_t)t->action);
    buf_u8(out, (uint8_t)t->verdict);
    buf_blob(out, t->tokens, t->ntokens * sizeof *t->tokens);
    buf_u8(out, t->logp != NULL);
    if (t->logp)
        buf_blob(out, t->logp, t->ntokens * sizeof *t->logp);
    buf_u64(out, (uint64_t)t->policy);
}

void
wire_done(struct buf *out, const struct store_match *m) {
    size_t at = begin(out, WIRE_DONE);
    buf_u64(out, (uint64_t)m->id);
    buf_u8(out, (uint8_t)m->kind);
    buf_u64(out, (uint64_t)m->iteration);
    buf_u64(out, (uint64_t)m->game);
    buf_u64(out, (uint64_t)m->deal);
    buf_u64(out, (uint64_t)m->policy[0]);
    buf_u64(out, (uint64_t)m->policy[1]);
    buf_u8(out, (uint8_t)m->reason);
    buf_u32(out, (uint32_t)m->loser);
    buf_f64(out, m->payoff[0]);
    buf_f64(out, m->payoff[1]);
    buf_f64(out, m->result);
    buf_blob(out, m->moves, m->nmoves * sizeof *m->moves);
    buf_u64(out, (uint64_t)m->started_ms);
    buf_u64(out, (uint64_t)m->ended_ms);
    buf_u8(out, (uint8_t)m->attempts);
    buf_u8(out, m->detail != NULL);
    if (m->detail)
        buf_blob(out, m->detail, strlen(m->detail) + 1);
    buf_u32(out, (uint32_t)m->nturns);
    for (size_t i = 0; i < m->nturns; i++)
        put_turn(out, &m->turn[i]);
    end(out, at);
}

void
wire_pulse(struct buf *out) {
    end(out, begin(out, WIRE_PULSE));
}

void
wire_fail(struct buf *out, const char *why) {
    text_message(out, WIRE_FAIL, why);
}

int
wire_next(const unsigned char *p, size_t n, enum wire_type *type, struct rd *body, size_t *used) {
    if (n < 5)
        return 0;
    struct rd head = {.at = p, .left = n};
    uint32_t len = rd_u32(&head);
    if (len < 1 || len > WIRE_MAX)
        return -1;
    if (n - 4 < len)
        return 0;
    *type = (enum wire_type)rd_u8(&head);
    *body = (struct rd){.at = p + 5, .left = len - 1};
    *used = (size_t)len + 4;
    return 1;
}

static int
read_text(struct rd *r, char *text, size_t cap) {
    size_t n;
    const unsigned char *p = rd_blob(r, cap - 1, &n);
    if (r->bad || (n && memchr(p, 0, n)))
        return -1;
    if (n)
        memcpy(text, p, n);
    text[n] = '\0';
    return 0;
}

int
wire_read_text(struct rd *r, uint32_t *version, char *text, size_t cap) {
    *version = rd_u32(r);
    return read_text(r, text, cap) < 0 || !rd_done(r) ? -1 : 0;
}

int
wire_read_hello(struct rd *r, struct wire_hello *h) {
    h->version = rd_u32(r);
    if (r->bad || h->version != WIRE_VERSION)
        return r->bad ? -1 : 0;
    if (read_text(r, h->run, sizeof h->run) < 0)
        return -1;
    h->games = rd_u8(r);
    if (h->games < 1 || h->games > CONF_MAX_GAMES)
        return -1;
    for (size_t i = 0; i < h->games; i++) {
        h->game[i].id = (int64_t)rd_u64(r);
        if (read_text(r, h->game[i].spec, sizeof h->game[i].spec) < 0)
            return -1;
    }
    return rd_done(r) ? 0 : -1;
}

int
wire_read_cast(struct rd *r, struct wire_cast *c) {
    c->id = (int64_t)rd_u64(r);
    c->scripted = rd_u8(r) != 0;
    return read_text(r, c->name, sizeof c->name) < 0 || !rd_done(r) ? -1 : 0;
}

int
wire_read_jobs(struct rd *r, int64_t *newest, struct match_job **jobs, size_t *n) {
    *newest = (int64_t)rd_u64(r);
    *n = rd_u32(r);
    if (r->bad || *n > r->left) /* a job takes more than a byte */
        return -1;
    *jobs = mem_zero(*n + 1, sizeof **jobs);
    for (size_t i = 0; i < *n; i++) {
        struct match_job *j = &(*jobs)[i];
        j->id = (int64_t)rd_u64(r);
        j->kind = (enum match_kind)rd_u8(r);
        j->iteration = (int64_t)rd_u64(r);
        j->game = (int64_t)rd_u64(r);
        j->deal = (int64_t)rd_u64(r);
        j->policy[0] = (int64_t)rd_u64(r);
        j->policy[1] = (int64_t)rd_u64(r);
        j->attempts = rd_u8(r);
    }
    if (rd_done(r))
        return 0;
    free(*jobs);
    *jobs = NULL;
    return -1;
}

int
wire_read_fail(struct rd *r, char *text, size_t cap) {
    uint32_t version;
    return wire_read_text(r, &version, text, cap);
}

/* ---- a finished match ---- */

/* Copies a blob to an aligned place in m->bytes and returns its offset; *n = its length in
 * bytes. */
static size_t
keep(struct rd *r, struct wire_match *m, size_t unit, size_t *n) {
    const unsigned char *p = rd_blob(r, MAX_BLOB, n);
    if (*n % unit)
        r->bad = true;
    static const unsigned char zero[8];
    buf_add(&m->bytes, zero, (8 - m->bytes.len % 8) % 8);
    size_t at = m->bytes.len;
    buf_add(&m->bytes, p, *n);
    return at;
}

/* While the buffer grows, pointers are kept as offsets + 1 (0 = NULL) and set right at the end. */
static const void *
as_offset(size_t at) {
    return (const void *)(uintptr_t)(at + 1);
}

static const void *
as_pointer(const struct wire_match *m, const void *offset) {
    return offset ? m->bytes.at + ((uintptr_t)offset - 1) : NULL;
}

/* Present or not, and NUL-terminated. */
static const void *
keep_text(struct rd *r, struct wire_match *m) {
    size_t n;
    if (!rd_u8(r))
        return NULL;
    size_t at = keep(r, m, 1, &n);
    if (!n || m->bytes.at[at + n - 1] != 0)
        r->bad = true;
    return as_offset(at);
}

static void
read_turn(struct rd *r, struct wire_match *m, struct store_turn *t) {
    size_t n;
    *t = (struct store_turn){.ply = (int)rd_u32(r), .seat = rd_u8(r) != 0};
    t->prompt = as_offset(keep(r, m, sizeof *t->prompt, &n));
    t->nprompt = n / sizeof *t->prompt;
    t->reply = as_offset(keep(r, m, 1, &t->nreply));
    t->word = keep_text(r, m);
    t->action = (int)rd_u32(r);
    t->verdict = (enum turn_verdict)rd_u8(r);
    if (t->verdict >= VERDICTS)
        r->bad = true;
    t->tokens = as_offset(keep(r, m, sizeof *t->tokens, &n));
    t->ntokens = n / sizeof *t->tokens;
    if (rd_u8(r)) {
        t->logp = as_offset(keep(r, m, sizeof *t->logp, &n));
        if (n / sizeof *t->logp != t->ntokens)
            r->bad = true;
    }
    t->policy = (int64_t)rd_u64(r);
}

static void
settle(struct wire_match *m) {
    m->match.moves = as_pointer(m, m->match.moves);
    m->match.detail = as_pointer(m, m->match.detail);
    for (size_t i = 0; i < m->match.nturns; i++) {
        struct store_turn *t = &m->turn[i];
        t->prompt = as_pointer(m, t->prompt);
        t->reply = as_pointer(m, t->reply);
        t->word = as_pointer(m, t->word);
        t->tokens = as_pointer(m, t->tokens);
        t->logp = as_pointer(m, t->logp);
    }
    m->match.turn = m->turn;
}

int
wire_read_done(struct rd *r, struct wire_match *m) {
    struct store_match *o = &m->match;
    size_t n;
    buf_clear(&m->bytes);
    *o = (struct store_match){.id = (int64_t)rd_u64(r), .kind = (enum match_kind)rd_u8(r)};
    o->iteration = (int64_t)rd_u64(r);
    o->game = (int64_t)rd_u64(r);
    o->deal = (int64_t)rd_u64(r);
    o->policy[0] = (int64_t)rd_u64(r);
    o->policy[1] = (int64_t)rd_u64(r);
    o->reason = (enum match_reason)rd_u8(r);
    o->loser = (int)rd_u32(r);
    o->payoff[0] = rd_f64(r);
    o->payoff[1] = rd_f64(r);
    o->result = rd_f64(r);
    o->moves = as_offset(keep(r, m, sizeof *o->moves, &n));
    o->nmoves = n / sizeof *o->moves;
    o->started_ms = (int64_t)rd_u64(r);
    o->ended_ms = (int64_t)rd_u64(r);
    o->attempts = rd_u8(r);
    o->detail = keep_text(r, m);
    uint32_t turns = rd_u32(r);
    if (r->bad || turns > MAX_TURNS || turns > r->left || o->kind > MATCH_PLAY ||
        o->reason >= END_REASONS || o->loser < -1 || o->loser > 1)
        return -1;
    if (turns > m->cap) {
        m->cap = turns;
        m->turn = mem_grow(m->turn, turns, sizeof *m->turn);
    }
    o->nturns = turns;
    for (uint32_t i = 0; i < turns; i++)
        read_turn(r, m, &m->turn[i]);
    if (!rd_done(r))
        return -1;
    settle(m);
    return 0;
}

void
wire_match_free(struct wire_match *m) {
    free(m->turn);
    buf_free(&m->bytes);
    *m = (struct wire_match){0};
}
