/* Prompts are stored once for each distinct content. The ids of recent ones are remembered in
 * memory, direct-mapped by hash and compared byte for byte; past a bound on bytes all is forgotten.
 * What is not remembered is looked for in the table by hash. */
#include "store/store-int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
prompt_forget(struct store *s) {
    if (!s->prompt)
        return;
    for (int i = 0; i < PROMPT_SLOTS; i++)
        free(s->prompt[i].tokens);
    memset(s->prompt, 0, PROMPT_SLOTS * sizeof *s->prompt);
    s->prompt_bytes = 0;
}

static bool
equal(const struct prompt_slot *p, uint64_t hash, const struct store_turn *t) {
    return p->tokens && p->hash == hash && p->n == t->nprompt &&
           !memcmp(p->tokens, t->prompt, t->nprompt * sizeof *t->prompt);
}

static void
remember(struct store *s, uint64_t hash, int64_t id, const struct store_turn *t) {
    size_t bytes = t->nprompt * sizeof *t->prompt;
    if (bytes > PROMPT_BYTES / 64)
        return;
    if (s->prompt_bytes + bytes > PROMPT_BYTES)
        prompt_forget(s);
    struct prompt_slot *p = &s->prompt[hash % PROMPT_SLOTS];
    s->prompt_bytes += bytes - p->n * sizeof *p->tokens;
    free(p->tokens);
    *p = (struct prompt_slot){
        .hash = hash, .id = id, .tokens = mem_copy(t->prompt, bytes), .n = t->nprompt};
}

/* Id of the prompt in the table, 0 when it is not there, -1 on failure. */
static int64_t
look_up(struct store *s, uint64_t hash, const struct store_turn *t, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_PROMPT_FIND, "SELECT id FROM prompt WHERE hash = ?1 AND tokens = ?2", e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, (int64_t)hash);
    sqlite3_bind_blob64(st, 2, t->prompt, t->nprompt * sizeof *t->prompt, SQLITE_STATIC);
    int got = sql_row(s, st, "table prompt", e);
    if (got <= 0)
        return got;
    int64_t id = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return id;
}

static int64_t
insert(struct store *s, uint64_t hash, const struct store_turn *t, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_PROMPT_ADD,
                               "INSERT INTO prompt (hash, tokens, text) VALUES (?1, ?2, ?3)", e);
    if (!st)
        return -1;
    struct buf escaped = {0};
    const char *text = t->prompt_text;
    if (text && escape_needed(text, strlen(text))) {
        escape_add(&escaped, text, strlen(text));
        text = buf_text(&escaped);
    }
    sqlite3_bind_int64(st, 1, (int64_t)hash);
    sqlite3_bind_blob64(st, 2, t->prompt, t->nprompt * sizeof *t->prompt, SQLITE_STATIC);
    sql_bind_text(st, 3, text);
    int rc = sql_run(st);
    buf_free(&escaped);
    return rc ? sql_fail(s, e, "table prompt") : sqlite3_last_insert_rowid(s->db);
}

int64_t
prompt_id(struct store *s, const struct store_turn *t, struct err *e) {
    uint64_t hash = hash_fnv(t->prompt, t->nprompt * sizeof *t->prompt);
    const struct prompt_slot *p = &s->prompt[hash % PROMPT_SLOTS];
    if (equal(p, hash, t))
        return p->id;
    int64_t id = look_up(s, hash, t, e);
    if (id == 0)
        id = insert(s, hash, t, e);
    if (id > 0)
        remember(s, hash, id, t);
    return id;
}

void
store_text(const char *text, size_t n, struct buf *out) {
    if (escape_needed(text, n))
        escape_add(out, text, n);
    else
        buf_add(out, text, n);
}

int
store_prompt_each(struct store *s, int (*each)(void *arg, const struct store_prompt *p), void *arg,
                  struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_PROMPT_EACH, "SELECT id, hash, tokens, text FROM prompt ORDER BY id", e);
    int got = st ? 1 : -1, stop = 0;
    while (!stop && st && (got = sql_row(s, st, "table prompt", e)) == 1) {
        size_t bytes = (size_t)sqlite3_column_bytes(st, 2);
        const void *blob = sqlite3_column_blob(st, 2);
        int32_t *tokens =
            mem_copy(blob ? blob : "", bytes ? bytes : 1); /* SQLite does not align it */
        struct store_prompt p = {.id = sqlite3_column_int64(st, 0),
                                 .tokens = tokens,
                                 .n = bytes / sizeof *tokens,
                                 .text = (const char *)sqlite3_column_text(st, 3),
                                 .hash_fits = (uint64_t)sqlite3_column_int64(st, 1) ==
                                              hash_fnv(tokens, bytes)};
        stop = each(arg, &p);
        free(tokens);
    }
    if (st)
        sqlite3_reset(st);
    return stop ? stop : got;
}
