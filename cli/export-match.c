/* One match as a page: who played, what was asked and said, how sure each token was, the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/export-html.h"
#include "cli/html.h"
#include "cli/table.h"
#include "policy/token.h"

enum { TOKENS_SHOWN = 64 };

struct page {
    struct export *x;
    bool seen;
};

static void
write_fact(FILE *out, const char *name, const char *value) {
    static const char *const heads[] = {"", "", NULL};
    html_row(out, heads, (const char *[]){name, value});
}

static void
write_end(FILE *out, const struct store_match *m) {
    char text[128];
    const char *won = m->reason == END_ABORTED ? "no result"
                      : m->result > 0          ? "seat 0 won"
                      : m->result < 0          ? "seat 1 won"
                                               : "a draw";
    snprintf(text, sizeof text, "%s, %s", won, match_reason_name(m->reason));
    write_fact(out, "outcome", text);
    if (m->loser >= 0) {
        snprintf(text, sizeof text, "seat %d", m->loser);
        write_fact(out, "at fault", text);
    }
    snprintf(text, sizeof text, "%+g, %+g", m->payoff[0], m->payoff[1]);
    write_fact(out, "payoffs", text);
    if (m->detail)
        write_fact(out, "detail", m->detail);
}

static int
write_head(struct export *x, const struct store_match *m) {
    static const char *const heads[] = {"", "", NULL};
    const struct store_game *g = export_game(x, m->game);
    struct store_sample sample[2];
    int64_t step[2];
    char text[192], label[STORE_LABEL], at[32];
    if (!g || store_match_samples(x->run.store, m->id, sample, step, x->e) < 0)
        return -1;
    snprintf(text, sizeof text, "Agon: match %lld", (long long)m->id);
    html_begin(x->out, text);
    html_table_begin(x->out, heads);
    write_fact(x->out, "game", g->spec);
    for (int seat = 0; seat < 2; seat++) {
        const struct store_policy *p = export_policy(x, m->policy[seat]);
        if (!p)
            return -1;
        store_policy_label(p, label);
        snprintf(text, sizeof text, "%s", label);
        if (sample[seat].seat >= 0)
            snprintf(text, sizeof text, "%s, advantage %+.4g, learned from in step %lld", label,
                     sample[seat].advantage, (long long)step[seat]);
        write_fact(x->out, seat ? "seat 1" : "seat 0", text);
    }
    write_end(x->out, m);
    write_fact(x->out, "kind", match_kind_name(m->kind));
    term_time(at, m->started_ms);
    write_fact(x->out, "began (UTC)", at);
    html_table_end(x->out);
    return 0;
}

static void
write_tokens(FILE *out, const struct store_turn *t) {
    size_t n = t->ntokens < TOKENS_SHOWN ? t->ntokens : TOKENS_SHOWN;
    double chance[TOKENS_SHOWN];
    char text[TOKENS_SHOWN][8];
    const char *label[TOKENS_SHOWN];
    if (!t->logp || !n)
        return;
    for (size_t i = 0; i < n; i++) {
        int32_t id = t->tokens[i];
        chance[i] = exp((double)t->logp[i]);
        if (id == TOKEN_END)
            snprintf(text[i], sizeof text[i], "end");
        else if (id > ' ' && id < 0x7f)
            text[i][0] = (char)id, text[i][1] = 0;
        else
            snprintf(text[i], sizeof text[i], "#%d", (int)id);
        label[i] = text[i];
    }
    html_bars(out,
              n < t->ntokens ? "Probability of each sampled token (the first 64)"
                             : "Probability of each sampled token",
              label, chance, n);
}

static void
write_turn(FILE *out, const struct store_turn *t, size_t i, struct buf *prompt) {
    fprintf(out, "<h2>Turn %zu: seat %d</h2>\n", i, t->seat);
    if (t->nprompt) {
        export_spell(t->prompt, t->nprompt, prompt);
        fputs("<p class=\"dim\">It was asked</p><pre>", out);
        html_bytes(out, buf_text(prompt), prompt->len);
        fputs("</pre>\n", out);
    }
    fputs("<p class=\"dim\">It replied</p><pre>", out);
    html_bytes(out, t->nreply ? t->reply : "", t->nreply);
    fprintf(out, "</pre>\n<p>Verdict: %s; word: ", turn_verdict_name(t->verdict));
    html_text(out, t->word);
    fputs("</p>\n", out);
    write_tokens(out, t);
}

static int
write_match(void *arg, const struct store_match *m) {
    struct page *p = arg;
    struct buf prompt = {0};
    p->seen = true;
    if (write_head(p->x, m) < 0)
        return -1;
    for (size_t i = 0; i < m->nturns; i++)
        write_turn(p->x->out, &m->turn[i], i, &prompt);
    html_end(p->x->out);
    buf_free(&prompt);
    return 0;
}

int
export_html_match(struct export *x, int64_t id) {
    struct page p = {.x = x};
    if (store_match_each(x->run.store, id, id, write_match, &p, x->e) < 0)
        return -1;
    if (!p.seen)
        return err_set(x->e, "%s has no match %lld (`agon matches` lists them)", x->run.dir,
                       (long long)id);
    return 0;
}
