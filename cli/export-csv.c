/* One match a row (RFC 4180): its row in the database, with names and what was learned. */
#include <string.h>

#include "base/buf.h"
#include "cli/export.h"
#include "cli/rows.h"

static void
put_head(struct export *x) {
    fputs("id,kind,game,iteration,deal,player0,player1,reason,loser,result,payoff0,payoff1,"
          "advantage0,advantage1,learned_in_step,turns,tokens,moves,started_ms,ended_ms,attempts,"
          "detail\r\n",
          x->out);
}

static void
put_moves(struct buf *out, const struct store_match *m) {
    buf_clear(out);
    for (size_t i = 0; i < m->nmoves; i++)
        buf_fmt(out, i ? " %d" : "%d", (int)m->moves[i]);
}

static void
put_learned(FILE *out, const struct store_sample sample[2], const int64_t step[2]) {
    char digits[EXPORT_NUMBER];
    int learned = sample[0].seat >= 0 ? 0 : sample[1].seat >= 0 ? 1 : -1;
    for (int seat = 0; seat < 2; seat++)
        fprintf(out, "%s,",
                sample[seat].seat < 0 ? "" : export_real(sample[seat].advantage, digits));
    if (learned >= 0)
        fprintf(out, "%lld", (long long)step[learned]);
    fputc(',', out);
}

static int
put_match(struct export *x, const struct store_match *m) {
    const struct store_game *g = export_game(x, m->game);
    struct store_sample sample[2];
    int64_t step[2];
    struct buf moves = {0};
    char label[STORE_LABEL], digits[EXPORT_NUMBER];
    size_t tokens = 0;
    if (!g || store_match_samples(x->run.store, m->id, sample, step, x->e) < 0)
        return -1;
    fprintf(x->out, "%lld,%s,", (long long)m->id, match_kind_name(m->kind));
    csv_field(x->out, g->spec);
    fprintf(x->out, ",%lld,%lld,", (long long)m->iteration, (long long)m->deal);
    for (int seat = 0; seat < 2; seat++) {
        const struct store_policy *p = export_policy(x, m->policy[seat]);
        if (!p)
            return -1;
        store_policy_label(p, label);
        csv_field(x->out, label);
        fputc(',', x->out);
    }
    fprintf(x->out, "%s,", match_reason_name(m->reason));
    if (m->loser >= 0)
        fprintf(x->out, "%d", m->loser);
    fprintf(x->out, ",%s,", export_real(m->result, digits));
    fprintf(x->out, "%s,", export_real(m->payoff[0], digits));
    fprintf(x->out, "%s,", export_real(m->payoff[1], digits));
    put_learned(x->out, sample, step);
    for (size_t i = 0; i < m->nturns; i++)
        tokens += m->turn[i].ntokens;
    put_moves(&moves, m);
    fprintf(x->out, "%zu,%zu,%s,%lld,%lld,%d,", m->nturns, tokens, buf_text(&moves),
            (long long)m->started_ms, (long long)m->ended_ms, m->attempts);
    csv_field(x->out, m->detail ? m->detail : "");
    fputs("\r\n", x->out);
    buf_free(&moves);
    return 0;
}

const struct export_format export_csv = {.begin = put_head, .match = put_match};
