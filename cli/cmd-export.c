/* agon export: matches of a run for other programs, one after the other from the oldest. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/export.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "cli/sink.h"

enum { AT_ONCE = 50000 };

struct filter {
    const char *game;    /* name or specification; NULL: any */
    int kind, reason;    /* -1: any */
    int64_t policy;      /* 0: any */
    int64_t first, last; /* ids */
};

struct job {
    struct export x;
    struct filter filter;
    const struct export_format *format;
    struct progress progress;
    int64_t seen, last_seen;
    int why; /* errno when the output could not be written */
};

/* ---- what is asked for ---- */

static int
find_word(const char *flag, const char *value, const char *(*name)(int), int count, int *out,
          struct err *e) {
    char list[256];
    struct text t;
    *out = -1;
    text_init(&t, list, sizeof list);
    for (int i = 0; value && i < count; i++) {
        if (!strcmp(value, name(i)))
            *out = i;
        text_fmt(&t, "%s%s", i ? ", " : "", name(i));
    }
    if (value && *out < 0)
        return err_usage(e, "--%s %.40s: there are %s", flag, value, list);
    return 0;
}

static const char *
kind_name(int i) {
    return match_kind_name((enum match_kind)i);
}

static const char *
reason_name(int i) {
    return match_reason_name((enum match_reason)i);
}

static int
read_oldest(void *arg, const struct store_cell *cell, int cells) {
    *(int64_t *)arg = row_int(cell, cells, "id", INT64_MAX);
    return 0;
}

/* --limit: the newest so many of those that fit, as `agon matches` has them. */
static int
apply_limit(struct job *j, const struct cmd_args *a, struct err *e) {
    long long limit;
    int64_t oldest = INT64_MAX;
    if (run_number("--limit", cmd_flag(a, "limit"), 1, INT64_MAX, 0, &limit, e) < 0)
        return -1;
    if (!limit)
        return 0;
    const struct filter *f = &j->filter;
    struct store_bind bind[] = {{":limit", NULL, limit},
                                {":before", NULL, f->last < INT64_MAX ? f->last + 1 : f->last},
                                {":game", f->game ? f->game : "", 0},
                                {":kind", f->kind < 0 ? "" : kind_name(f->kind), 0},
                                {":reason", f->reason < 0 ? "" : reason_name(f->reason), 0},
                                {":policy", NULL, f->policy}};
    size_t n = sizeof bind / sizeof *bind - (f->policy ? 0 : 1);
    if (store_query(j->x.run.store, "newest", bind, n, read_oldest, &oldest, e) < 0)
        return -1;
    if (oldest > j->filter.first)
        j->filter.first = oldest;
    return 0;
}

static int
read_filter(struct job *j, const struct cmd_args *a, struct err *e) {
    struct filter *f = &j->filter;
    long long from, to, before;
    const char *policy = cmd_flag(a, "policy");
    f->game = cmd_flag(a, "game");
    if (find_word("kind", cmd_flag(a, "kind"), kind_name, MATCH_PLAY + 1, &f->kind, e) < 0 ||
        find_word("reason", cmd_flag(a, "reason"), reason_name, END_REASONS, &f->reason, e) < 0 ||
        run_number("--from", cmd_flag(a, "from"), 0, INT64_MAX, 0, &from, e) < 0 ||
        run_number("--to", cmd_flag(a, "to"), 0, INT64_MAX, INT64_MAX, &to, e) < 0 ||
        run_number("--before", cmd_flag(a, "before"), 1, INT64_MAX, INT64_MAX, &before, e) < 0)
        return -1;
    if (policy) {
        struct store_policy p;
        if (run_policy(&j->x.run, policy, &p, e) < 0)
            return -1;
        if (!p.id)
            return err_set(e, "--policy %.40s: it has played no match of %s", policy, j->x.run.dir);
        f->policy = p.id;
    }
    int64_t newest = store_match_last(j->x.run.store, e);
    f->first = from;
    f->last = to < before ? to : before - 1;
    if (f->last > newest)
        f->last = newest;
    return newest < 0 ? -1 : apply_limit(j, a, e);
}

/* ---- matches ---- */

/* 1 it fits, 0 not, -1 error. */
static int
fits(struct job *j, const struct store_match *m) {
    const struct filter *f = &j->filter;
    if ((f->kind >= 0 && (int)m->kind != f->kind) ||
        (f->reason >= 0 && (int)m->reason != f->reason) ||
        (f->policy && m->policy[0] != f->policy && m->policy[1] != f->policy))
        return 0;
    if (!f->game)
        return 1;
    const struct store_game *g = export_game(&j->x, m->game);
    return g ? !strcmp(g->name, f->game) || !strcmp(g->spec, f->game) : -1;
}

static int
visit(void *arg, const struct store_match *m) {
    struct job *j = arg;
    j->last_seen = m->id;
    int fit = fits(j, m);
    if (fit < 0 || (fit && j->format->match(&j->x, m) < 0))
        return -1;
    j->x.written += fit;
    if (!(++j->seen & 1023))
        progress_show(&j->progress, (uint64_t)(m->id - j->filter.first + 1),
                      (uint64_t)(j->filter.last - j->filter.first + 1));
    if (ferror(j->x.out)) { /* the disk is full, or nobody reads any more */
        j->why = errno;
        return 2;
    }
    return j->seen % AT_ONCE ? 0 : 1;
}

/* In portions, so that the write-ahead log of a run that trains can be cut in between. */
static int
write_matches(struct job *j, struct err *e) {
    int64_t first = j->filter.first;
    if (j->format->begin)
        j->format->begin(&j->x);
    while (first <= j->filter.last) {
        int more = store_match_each(j->x.run.store, first, j->filter.last, visit, j, e);
        if (more != 1)
            return more < 0 ? -1 : 0;
        first = j->last_seen + 1;
    }
    return 0;
}

static int
choose_format(struct job *j, const struct cmd_args *a, struct err *e) {
    static const struct {
        const char *flag;
        const struct export_format *format;
    } formats[] = {{"pgn", &export_pgn}, {"csv", &export_csv}, {"html", NULL}};
    int given = 0;
    j->format = &export_json;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (cmd_flag(a, formats[i].flag)) {
            j->format = formats[i].format;
            given++;
        }
    return given > 1 ? err_usage(e, "--pgn, --csv and --html: only one of them can be had at once")
                     : 0;
}

static int
write_html(struct job *j, const struct cmd_args *a, struct err *e) {
    long long id;
    static const char *const unfit[] = {"game",   "policy", "reason", "kind", "limit",
                                        "before", "from",   "to",     NULL};
    for (int i = 0; unfit[i]; i++)
        if (cmd_flag(a, unfit[i]))
            return err_usage(e, "--%s: a page shows one match (--match ID) or the whole run",
                             unfit[i]);
    if (run_number("--match", cmd_flag(a, "match"), 1, INT64_MAX, 0, &id, e) < 0)
        return -1;
    return export_html(&j->x, id);
}

static int
write_all(struct job *j, const struct cmd_args *a, const char *path, struct err *e) {
    struct sink sink;
    if (sink_open(&sink, path, e) < 0) {
        sink_close(&sink, false, NULL);
        return -1;
    }
    j->x.out = sink.out;
    progress_begin(&j->progress, "matches");
    j->progress.shown = j->progress.shown && path;
    int status = j->format ? write_matches(j, e) : write_html(j, a, e);
    progress_clear(&j->progress);
    if (sink_close(&sink, status == 0, e) < 0)
        status = -1;
    if (!status && path && j->format)
        printf("%s: %" PRId64 " match%s of %s\n", path, j->x.written, j->x.written == 1 ? "" : "es",
               j->x.run.dir);
    return status;
}

static int export(struct job *j, const struct cmd_args *a, struct err *e) {
    const char *html = cmd_flag(a, "html"), *path = a->words ? a->word[0] : NULL;
    if (path && !strcmp(path, "-"))
        path = NULL;
    if (choose_format(j, a, e) < 0)
        return -1;
    if (html && a->words)
        return err_usage(e, "--html names its file itself: %.200s is one too many", a->word[0]);
    if (!html && cmd_flag(a, "match"))
        return err_usage(e, "--match: say --html FILE too; else --from ID --to ID is one match");
    if (run_open(&j->x.run, cmd_flag(a, "run"), e) < 0 ||
        store_run_identity(j->x.run.store, j->x.identity, e) < 0 ||
        (!html && read_filter(j, a, e) < 0))
        return -1;
    return write_all(j, a, html ? html : path, e);
}

static int
run_export(const struct cmd_args *a, struct err *e) {
    struct job j = {.x.e = e};
    int status = export(&j, a, e);
    free(j.x.names.policy);
    free(j.x.names.game);
    run_close(&j.x.run);
    errno = j.why; /* main() tells of standard output */
    return status;
}

const struct cmd cmd_export = {
    .name = "export",
    .args = "[FILE]",
    .help = "Write matches as JSON lines, PGN or CSV, or a page of HTML to share; a FILE that ends "
            "in .zst is compressed, no FILE is standard output.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"pgn", NULL, "results for rating tools instead of JSON lines"},
            {"csv", NULL, "one row a match instead of JSON lines"},
            {"html", "FILE", "the run's summary, or one match (--match), as one page"},
            {"match", "ID", "with --html: this match"},
            {"game", "GAME", "of this game"},
            {"policy", "POLICY", "with this policy in a seat: latest, a hash, a scripted player"},
            {"reason", "REASON", "that ended so: play, invalid, \"no answer\", ..."},
            {"kind", "KIND", "train, warmup, eval or play"},
            {"from", "ID", "first match (default: the oldest)"},
            {"to", "ID", "last match (default: the newest)"},
            {"before", "ID", "older than match ID"},
            {"limit", "N", "only the newest N of these (default: all)"},
            {0},
        },
    .run = run_export,
};
