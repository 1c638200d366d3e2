/* One match a line: a JSON object with everything that a learner may need. */
#include <string.h>

#include "arena/json-out.h"
#include "base/utf8.h"
#include "cli/export.h"

static void
put_number(struct json_out *j, const char *key, const char *digits) {
    json_out_raw(j, key, digits, strlen(digits));
}

static void
put_real(struct json_out *j, const char *key, double v) {
    char digits[EXPORT_NUMBER];
    put_number(j, key, export_real(v, digits));
}

static void
put_ids(struct json_out *j, const char *key, const int32_t *ids, size_t n) {
    json_out_open(j, key, '[');
    for (size_t i = 0; i < n; i++)
        json_out_int(j, NULL, ids[i]);
    json_out_close(j, ']');
}

/* Bytes that are not UTF-8 as \\xNN and then a backslash as \\\\, as in the database. */
static void
put_text(struct json_out *j, const char *key, const char *s, size_t n, bool escaped) {
    struct buf b = {0};
    for (size_t i = 0; escaped && i < n;) {
        size_t len = utf8_char(s + i, n - i, NULL);
        if (!len)
            buf_fmt(&b, "\\x%02x", (unsigned char)s[i]);
        else if (s[i] == '\\')
            buf_put(&b, "\\\\");
        else
            buf_add(&b, s + i, len);
        i += len ? len : 1;
    }
    json_out_bytes(j, key, escaped ? buf_text(&b) : s, escaped ? b.len : n);
    buf_free(&b);
}

static void
put_message(struct json_out *j, const char *role, const char *s, size_t n, bool escaped) {
    json_out_open(j, NULL, '{');
    json_out_text(j, "role", role);
    put_text(j, "content", s, n, escaped);
    json_out_close(j, '}');
}

static void
put_turn(struct json_out *j, const struct store_turn *t, size_t i, struct buf *prompt) {
    char digits[EXPORT_NUMBER];
    const char *reply = t->nreply ? t->reply : "";
    export_spell(t->prompt, t->nprompt, prompt);
    bool escaped = utf8_valid(reply, t->nreply) < t->nreply ||
                   utf8_valid(prompt->at, prompt->len) < prompt->len ||
                   (t->word && utf8_valid(t->word, strlen(t->word)) < strlen(t->word));
    json_out_open(j, NULL, '{');
    json_out_int(j, "turn", (int64_t)i);
    json_out_int(j, "ply", t->ply);
    json_out_int(j, "seat", t->seat);
    json_out_int(j, "policy_id", t->policy);
    json_out_text(j, "verdict", turn_verdict_name(t->verdict));
    if (t->action < 0)
        json_out_null(j, "action");
    else
        json_out_int(j, "action", t->action);
    if (t->word)
        put_text(j, "word", t->word, strlen(t->word), escaped);
    else
        json_out_null(j, "word");
    json_out_bool(j, "escaped", escaped);
    json_out_open(j, "messages", '[');
    if (t->nprompt)
        put_message(j, "user", buf_text(prompt), prompt->len, escaped);
    put_message(j, "assistant", reply, t->nreply, escaped);
    json_out_close(j, ']');
    put_ids(j, "prompt_tokens", t->prompt, t->nprompt);
    put_ids(j, "tokens", t->tokens, t->ntokens);
    if (t->logp) {
        json_out_open(j, "logprobs", '[');
        for (size_t k = 0; k < t->ntokens; k++)
            put_number(j, NULL, export_float(t->logp[k], digits));
        json_out_close(j, ']');
    } else {
        json_out_null(j, "logprobs");
    }
    json_out_close(j, '}');
}

static void
put_learned(struct json_out *j, const struct store_sample *a, int64_t step) {
    if (a->seat < 0) {
        static const char *const names[] = {"return", "baseline", "advantage", "learned_in_step"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            json_out_null(j, names[i]);
        return;
    }
    put_real(j, "return", a->ret);
    put_real(j, "baseline", a->baseline);
    put_real(j, "advantage", a->advantage);
    json_out_int(j, "learned_in_step", step);
}

static int
put_seats(struct export *x, struct json_out *j, const struct store_match *m) {
    struct store_sample sample[2];
    int64_t step[2];
    char label[STORE_LABEL];
    if (store_match_samples(x->run.store, m->id, sample, step, x->e) < 0)
        return -1;
    json_out_open(j, "seats", '[');
    for (int seat = 0; seat < 2; seat++) {
        const struct store_policy *p = export_policy(x, m->policy[seat]);
        if (!p)
            return -1;
        store_policy_label(p, label);
        json_out_open(j, NULL, '{');
        json_out_int(j, "seat", seat);
        json_out_text(j, "policy", label);
        json_out_int(j, "policy_id", p->id);
        json_out_text(j, "kind", p->kind);
        json_out_text(j, "name", p->name);
        json_out_int(j, "step", p->step);
        put_real(j, "payoff", m->payoff[seat]);
        put_learned(j, &sample[seat], step[seat]);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
    return 0;
}

static int
put_head(struct export *x, struct json_out *j, const struct store_match *m) {
    const struct store_game *g = export_game(x, m->game);
    if (!g)
        return -1;
    json_out_int(j, "id", m->id);
    json_out_text(j, "kind", match_kind_name(m->kind));
    json_out_text(j, "game", g->spec);
    json_out_int(j, "game_version", g->version);
    json_out_int(j, "iteration", m->iteration);
    json_out_int(j, "deal", m->deal);
    json_out_text(j, "reason", match_reason_name(m->reason));
    if (m->loser < 0)
        json_out_null(j, "loser");
    else
        json_out_int(j, "loser", m->loser);
    put_real(j, "result", m->result);
    put_ids(j, "moves", m->moves, m->nmoves);
    json_out_int(j, "started_ms", m->started_ms);
    json_out_int(j, "ended_ms", m->ended_ms);
    json_out_int(j, "attempts", m->attempts);
    json_out_text(j, "detail", m->detail);
    return put_seats(x, j, m);
}

static int
put_match(struct export *x, const struct store_match *m) {
    struct buf line = {0}, prompt = {0};
    struct json_out j = {.out = &line};
    json_out_open(&j, NULL, '{');
    int bad = put_head(x, &j, m);
    json_out_open(&j, "turns", '[');
    for (size_t i = 0; i < m->nturns; i++)
        put_turn(&j, &m->turn[i], i, &prompt);
    json_out_close(&j, ']');
    json_out_close(&j, '}');
    buf_u8(&line, '\n');
    if (!bad)
        fwrite(line.at, 1, line.len, x->out);
    buf_free(&line);
    buf_free(&prompt);
    return bad;
}

const struct export_format export_json = {.match = put_match};
