/* Results in PGN, for rating tools: one game a match, White is seat 0. A game has no moves, as
 * theirs are chess moves; the tag Moves has the match's. */
#include <string.h>
#include <time.h>

#include "arena/pgn.h"
#include "base/utf8.h"
#include "cli/export.h"

/* Quotes and backslashes are escaped; a name stands on one line, so that whatever is no printable
 * text becomes a question mark. */
static void
put_tag(FILE *out, const char *tag, const char *s) {
    size_t n = strlen(s);
    fprintf(out, "[%s \"", tag);
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        size_t len = utf8_char(s + i, n - i, &code);
        bool fine = len && code >= 0x20 && !(code >= 0x7f && code < 0xa0);
        if (fine && (s[i] == '"' || s[i] == '\\'))
            fputc('\\', out);
        if (fine)
            fwrite(s + i, 1, len, out);
        else
            fputc('?', out);
        i += len ? len : 1;
    }
    fputs("\"]\n", out);
}

static void
put_date(FILE *out, int64_t ms) {
    time_t at = (time_t)(ms / 1000);
    struct tm t;
    char text[64] = "????.??.??";
    if (gmtime_r(&at, &t) && t.tm_year >= 0 && t.tm_year < 8100)
        strftime(text, sizeof text, "%Y.%m.%d", &t);
    put_tag(out, "Date", text);
}

static void
put_moves(FILE *out, const struct store_match *m) {
    fputs("[Moves \"", out);
    for (size_t i = 0; i < m->nmoves; i++)
        fprintf(out, i ? " %d" : "%d", (int)m->moves[i]);
    fputs("\"]\n", out);
}

static int
put_match(struct export *x, const struct store_match *m) {
    const struct store_game *g = export_game(x, m->game);
    const struct store_policy *p;
    char label[2][STORE_LABEL], digits[EXPORT_NUMBER];
    if (!g)
        return -1;
    for (int seat = 0; seat < 2; seat++) {
        p = export_policy(x, m->policy[seat]);
        if (!p)
            return -1;
        store_policy_label(p, label[seat]);
    }
    enum pgn_result r = m->reason == END_ABORTED ? PGN_OPEN
                        : m->result > 0          ? PGN_WHITE
                        : m->result < 0          ? PGN_BLACK
                                                 : PGN_DRAW;
    put_tag(x->out, "Event", match_kind_name(m->kind));
    put_tag(x->out, "Site", "agon");
    put_date(x->out, m->ended_ms);
    fprintf(x->out, "[Round \"%lld\"]\n", (long long)m->id);
    put_tag(x->out, "White", label[0]);
    put_tag(x->out, "Black", label[1]);
    put_tag(x->out, "Result", pgn_result_text(r));
    put_tag(x->out, "Variant", g->spec);
    put_tag(x->out, "Termination", match_reason_name(m->reason));
    put_tag(x->out, "Payoff", export_real(m->result, digits));
    put_tag(x->out, "AgonRun", x->identity);
    if (m->nmoves * 8 < 4000)
        put_moves(x->out, m);
    fprintf(x->out, "\n%s\n\n", pgn_result_text(r));
    return 0;
}

const struct export_format export_pgn = {.match = put_match};
