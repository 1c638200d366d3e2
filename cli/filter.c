#include "cli/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/utf8.h"

int
filter_word(const char *flag, const char *value, const char *const *words, struct err *e) {
    char list[256], shown[64];
    struct text t;
    if (!value)
        return 0;
    text_init(&t, list, sizeof list);
    for (int i = 0; words[i]; i++) {
        if (!strcmp(value, words[i]))
            return 0;
        text_fmt(&t, "%s%s", i ? ", " : "", words[i]);
    }
    return err_usage(e, "%s %s: there are %s", flag, utf8_show(value, shown, sizeof shown), list);
}

static int
check_words(const struct cmd_args *a, struct err *e) {
    const char *kinds[MATCH_PLAY + 2] = {NULL}, *reasons[END_REASONS + 1] = {NULL};
    for (int i = 0; i <= MATCH_PLAY; i++)
        kinds[i] = match_kind_name((enum match_kind)i);
    for (int i = 0; i < END_REASONS; i++)
        reasons[i] = match_reason_name((enum match_reason)i);
    if (filter_word("--kind", cmd_flag(a, "kind"), kinds, e) < 0)
        return -1;
    return filter_word("--reason", cmd_flag(a, "reason"), reasons, e);
}

struct wanted_game {
    const char *name;
    bool found;
};

static int
compare_game(void *arg, const struct store_game *g) {
    struct wanted_game *w = arg;
    w->found = w->found || !strcmp(w->name, g->name) || !strcmp(w->name, g->spec);
    return 0;
}

static bool
has_game(const struct run *r, const char *name) {
    struct wanted_game w = {.name = name};
    store_game_list(r->store, compare_game, &w, NULL);
    return w.found;
}

int
filter_matches(const struct run *r, const struct cmd_args *a, struct store_bind *bind,
               struct err *e) {
    static const char *const names[][2] = {
        {"game", ":game"}, {"kind", ":kind"}, {"reason", ":reason"}};
    const char *policy = cmd_flag(a, "policy");
    char shown[64];
    int n = 0;
    if (check_words(a, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cmd_flag(a, names[i][0]))
            bind[n++] = (struct store_bind){.name = names[i][1], .text = cmd_flag(a, names[i][0])};
    if (cmd_flag(a, "game") && !has_game(r, cmd_flag(a, "game")))
        return err_set(e, "--game %s: %s has no match of it",
                       utf8_show(cmd_flag(a, "game"), shown, sizeof shown), r->dir);
    if (policy) {
        struct store_policy p;
        if (run_policy(r, policy, &p, e) < 0)
            return -1;
        if (!p.id)
            return err_set(e, "--policy %s: it has played no match of %s",
                           utf8_show(policy, shown, sizeof shown), r->dir);
        bind[n++] = (struct store_bind){.name = ":policy", .number = p.id};
    }
    return n;
}

/* "90s": seconds, or -1. */
static double
parse_span(const char *value) {
    static const char units[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    char *end;
    if (*value < '0' || *value > '9')
        return -1;
    double n = strtod(value, &end);
    const char *unit = *end && !end[1] ? strchr(units, *end) : NULL;
    return unit && n < 1e9 ? n * seconds[unit - units] : -1;
}

int
filter_time(const char *flag, const char *value, int64_t now_ms, int64_t *out, struct err *e) {
    static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    char shown[64];
    double span = parse_span(value);
    if (span >= 0) {
        *out = now_ms - (int64_t)(span * 1000);
        return 0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *rest = strptime(value, forms[i], &tm);
        if (!rest || *rest)
            continue;
        *out = (int64_t)timegm(&tm) * 1000;
        return 0;
    }
    return err_usage(
        e,
        "%s %s: a time of UTC (2026-12-01, \"2026-12-01 05:30\") or how long ago (90s, "
        "10m, 2h, 3d) is needed",
        flag, utf8_show(value, shown, sizeof shown));
}

/* A whole number at *at, which moves behind it; -1 where there is none. */
static int64_t
take_number(const char **at) {
    char *end;
    if (**at < '0' || **at > '9')
        return -1;
    long long n = strtoll(*at, &end, 10);
    *at = end;
    return n;
}

int
filter_range(const char *flag, const char *value, int64_t out[2], struct err *e) {
    const char *at = value;
    char shown[64];
    out[0] = out[1] = take_number(&at);
    bool open = *at == '-';
    if (open) {
        at++;
        out[1] = take_number(&at);
    }
    if (*at || (out[0] < 0 && out[1] < 0) || (out[1] >= 0 && out[0] > out[1]))
        return err_usage(e, "%s %s: a number (5) or a range (5-8, 5-, -8) is needed", flag,
                         utf8_show(value, shown, sizeof shown));
    return 0;
}
