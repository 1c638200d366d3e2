/* The open transaction, and a copy in memory of the rows added to it (store-int.h says why). */
#include "store/store-int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HEAVY (64 << 20) /* bytes of pending rows that are worth a commit of their own */

struct pending {
    struct pending *next;
    enum { PENDING_MATCH, PENDING_EVAL, PENDING_EVENT } what;
    union {
        struct store_match match;
        struct store_eval eval;
        struct {
            int64_t at_ms;
            const char *level, *module, *text;
        } event;
    } row;
    max_align_t data[]; /* what the row points to */
};

static int
write_again(struct store *s, const struct pending *p, struct err *e) {
    switch (p->what) {
    case PENDING_MATCH:
        return match_insert(s, &p->row.match, e);
    case PENDING_EVAL:
        return eval_insert(s, &p->row.eval, e);
    case PENDING_EVENT:
        return event_insert(s, p->row.event.at_ms, p->row.event.level, p->row.event.module,
                            p->row.event.text, e);
    }
    panic("pending row of kind %d", (int)p->what);
}

int
batch_begin(struct store *s, struct err *e) {
    if (s->mode != STORE_WRITE)
        return store_fail(s, e, "database: opened for reading only, `agon serve` is the writer");
    if (s->open)
        return 0;
    if (sql_exec(s, "BEGIN IMMEDIATE", e) < 0)
        return -1;
    s->open = true;
    for (const struct pending *p = s->first; p; p = p->next)
        if (write_again(s, p, e) != 0) {
            batch_undo(s);
            return -1;
        }
    return 0;
}

void
batch_undo(struct store *s) {
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = false;
    s->tallies = 0;
    prompt_forget(s); /* ids given in the batch will be given to others */
}

void
batch_free(struct store *s) {
    while (s->first) {
        struct pending *p = s->first;
        s->first = p->next;
        free(p);
    }
    s->end = &s->first;
    s->pending_bytes = 0;
}

int
store_commit(struct store *s, struct err *e) {
    if (!s->open && !s->first)
        return 0;
    if (batch_begin(s, e) < 0)
        return -1;
    if (tally_flush(s, e) < 0 || sql_exec(s, "COMMIT", e) < 0) {
        batch_undo(s);
        return -1;
    }
    s->open = false;
    batch_free(s);
    return 0;
}

bool
batch_heavy(const struct store *s) {
    return s->pending_bytes > HEAVY;
}

static struct pending *
keep(struct store *s, size_t bytes) {
    struct pending *p = mem_alloc(sizeof *p + bytes);
    p->next = NULL;
    *s->end = p;
    s->end = &p->next;
    s->pending_bytes += sizeof *p + bytes;
    return p;
}

/* Moves `n` bytes at *from to *at and lets *from point there. NULL stays NULL. */
static void
carry(char **at, const void *from, size_t n, void *link) {
    const void *to = NULL;
    if (from) {
        to = *at;
        if (n)
            memcpy(*at, from, n);
        *at += n;
    }
    memcpy(link, &to, sizeof to);
}

static size_t
text_bytes(const char *text) {
    return text ? strlen(text) + 1 : 0;
}

static size_t
match_bytes(const struct store_match *m) {
    size_t n = m->nturns * sizeof *m->turn + m->nmoves * sizeof *m->moves + text_bytes(m->detail);
    for (size_t i = 0; i < m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        n += t->nprompt * sizeof *t->prompt + t->ntokens * (sizeof *t->tokens + sizeof *t->logp) +
             t->nreply + text_bytes(t->word) + text_bytes(t->prompt_text);
    }
    return n;
}

void
batch_keep_match(struct store *s, const struct store_match *m) {
    struct pending *p = keep(s, match_bytes(m));
    struct store_match *to = &p->row.match;
    p->what = PENDING_MATCH;
    *to = *m;
    char *at = (char *)p->data; /* ordered by alignment: turns, then numbers, then bytes */
    carry(&at, m->turn, m->nturns * sizeof *m->turn, &to->turn);
    struct store_turn *turn = (struct store_turn *)p->data;
    carry(&at, m->moves, m->nmoves * sizeof *m->moves, &to->moves);
    for (size_t i = 0; i < m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        carry(&at, t->prompt, t->nprompt * sizeof *t->prompt, &turn[i].prompt);
        carry(&at, t->tokens, t->ntokens * sizeof *t->tokens, &turn[i].tokens);
        carry(&at, t->logp, t->ntokens * sizeof *t->logp, &turn[i].logp);
    }
    for (size_t i = 0; i < m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        carry(&at, t->reply, t->nreply, &turn[i].reply);
        carry(&at, t->word, text_bytes(t->word), &turn[i].word);
        carry(&at, t->prompt_text, text_bytes(t->prompt_text), &turn[i].prompt_text);
    }
    carry(&at, m->detail, text_bytes(m->detail), &to->detail);
}

void
batch_keep_eval(struct store *s, const struct store_eval *v) {
    struct pending *p = keep(s, text_bytes(v->kind) + text_bytes(v->json));
    p->what = PENDING_EVAL;
    p->row.eval = *v;
    char *at = (char *)p->data;
    carry(&at, v->kind, text_bytes(v->kind), &p->row.eval.kind);
    carry(&at, v->json, text_bytes(v->json), &p->row.eval.json);
}

void
batch_keep_event(struct store *s, int64_t at_ms, const char *level, const char *module,
                 const char *text) {
    struct pending *p = keep(s, text_bytes(level) + text_bytes(module) + text_bytes(text));
    p->what = PENDING_EVENT;
    p->row.event.at_ms = at_ms;
    char *at = (char *)p->data;
    carry(&at, level, text_bytes(level), &p->row.event.level);
    carry(&at, module, text_bytes(module), &p->row.event.module);
    carry(&at, text, text_bytes(text), &p->row.event.text);
}
