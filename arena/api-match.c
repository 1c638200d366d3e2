/* One match: its row, its seats with what was learned from them, its turns with their tokens. */
#include "arena/api-int.h"

#include <math.h>
#include <string.h>

#include "policy/token.h"

/* ---- tokens ---- */

static const char *
control_name(int32_t id) {
    static const char *const names[] = {
        [TOKEN_BOS - TOKEN_BOS] = "bos",     [TOKEN_END - TOKEN_BOS] = "end",
        [TOKEN_TEXT - TOKEN_BOS] = "text",   [TOKEN_RULES - TOKEN_BOS] = "rules",
        [TOKEN_VIEW - TOKEN_BOS] = "view",   [TOKEN_NEWS - TOKEN_BOS] = "news",
        [TOKEN_LEGAL - TOKEN_BOS] = "legal", [TOKEN_REPLY - TOKEN_BOS] = "reply"};
    size_t n = sizeof names / sizeof *names;
    return id >= TOKEN_BOS && (size_t)(id - TOKEN_BOS) < n ? names[id - TOKEN_BOS] : NULL;
}

static void
write_token(struct json_out *j, int32_t id, const float *logp) {
    char text[8];
    size_t n = id >= 0 && id < TOKEN_BOS ? tokens_spell(&id, 1, text) : 0;
    json_out_open(j, NULL, '{');
    json_out_int(j, "id", id);
    json_out_bytes(j, "text", text, n);
    if (n == 0)
        json_out_text(j, "control", control_name(id));
    json_out_real(j, "logp", logp ? (double)*logp : NAN);
    json_out_close(j, '}');
}

static void
write_tokens(struct json_out *j, const struct store_turn *turn) {
    json_out_open(j, "tokens", '[');
    for (size_t i = 0; turn && i < turn->ntokens && j->out->len <= API_ANSWER_MOST; i++)
        write_token(j, turn->tokens[i], turn->logp ? &turn->logp[i] : NULL);
    json_out_close(j, ']');
}

/* ---- turns: the view's row, and the same turn's tokens from the match itself ---- */

struct turns {
    struct task *task;
    struct store *db;
    struct json_out *j;
    const struct store_match *match; /* NULL: its bytes cannot be read */
    struct drawing *drawing;         /* NULL: there is none */
    size_t at;
    struct err *e;
    int status;
};

static int
add_turn(void *arg, const struct store_cell *cell, int cells) {
    struct turns *t = arg;
    bool has = t->match && t->at < t->match->nturns;
    json_out_open(t->j, NULL, '{');
    for (int i = 0; i < cells; i++)
        if (strcmp(cell[i].name, "match_id"))
            row_members(t->j, &cell[i], 1);
    drawing_write(has ? t->drawing : NULL, t->j, has ? (size_t)t->match->turn[t->at].ply : 0);
    write_tokens(t->j, has ? &t->match->turn[t->at] : NULL);
    json_out_close(t->j, '}');
    t->at++;
    return t->j->out->len > API_ANSWER_MOST;
}

static int
with_match(void *arg, const struct store_match *m) {
    struct turns *t = arg;
    struct store_bind id = {":id", NULL, t->task->id};
    t->match = m;
    t->drawing = m ? drawing_new(t->db, m) : NULL;
    t->status = store_query(t->db, "turns", &id, 1, add_turn, t, t->e);
    json_out_close(t->j, ']');
    drawing_write(t->drawing, t->j, m ? m->nmoves : 0);
    drawing_free(t->drawing);
    return 1;
}

static int
write_turns(struct task *t, struct store *db, struct json_out *j) {
    struct err e, why;
    struct turns turns = {.task = t, .db = db, .j = j, .e = &e, .status = 1};
    json_out_open(j, "turns", '[');
    size_t before = j->out->len;
    int got = store_match_each(db, t->id, t->id, with_match, &turns, &why);
    if (got < 0 && turns.at == 0) { /* damaged: show what can be shown */
        j->out->len = before;
        j->comma = false;
        turns.match = NULL;
        with_match(&turns, NULL);
    }
    if (turns.status < 0)
        return task_fail_store(t, db, &e);
    if (got < 0)
        json_out_text(j, "damage", why.text);
    else
        json_out_null(j, "damage");
    return 0;
}

/* The row's number of turns gives way to the turns themselves. */
static int
add_match(void *arg, const struct store_cell *cell, int cells) {
    for (int i = 0; i < cells; i++)
        if (strcmp(cell[i].name, "turns"))
            row_members(arg, &cell[i], 1);
    return 0;
}

static int
add_seat(void *arg, const struct store_cell *cell, int cells) {
    static const char *const shown[] = {"seat",      "player",          "opponent",  "result",
                                        "payoff",    "forfeited",       "ret",       "baseline",
                                        "advantage", "learned_in_step", "staleness", "policy_id"};
    struct json_out *j = arg;
    json_out_open(j, NULL, '{');
    for (int i = 0; i < cells; i++)
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            if (!strcmp(cell[i].name, shown[k]))
                row_members(j, &cell[i], 1);
    json_out_close(j, '}');
    return 0;
}

int
match_write(struct task *t, struct store *db, struct json_out *j, int64_t id) {
    struct store_bind bind = {":id", NULL, id};
    struct err e;
    t->id = id;
    json_out_open(j, NULL, '{');
    int rows = store_query(db, "match", &bind, 1, add_match, j, &e);
    if (rows < 0)
        return task_fail_store(t, db, &e);
    if (!rows)
        return task_fail(t, 404, "match", "there is no such match");
    json_out_open(j, "seats", '[');
    if (store_query(db, "seats", &bind, 1, add_seat, j, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    if (write_turns(t, db, j) < 0)
        return -1;
    json_out_close(j, '}');
    return 0;
}

static int
read_match(struct task *t, struct store *db, struct json_out *j) {
    return match_write(t, db, j, t->id);
}

void
get_match(struct call *c) {
    api_ask_fresh(c, read_match, NULL);
}
