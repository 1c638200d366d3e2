#include "cli/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "games/extern/extern.h"

enum { MAX_GAMES = 1000, AT_ONCE = 50000, LONGEST_GAP = 100000 };

int
scan_open(struct scan *s, const char *dir, struct err *e) {
    if (run_open(&s->run, dir, e) < 0 || setup_load(&s->setup, s->run.conf, e) < 0)
        return -1;
    s->ready = true;
    s->game = mem_zero(MAX_GAMES, sizeof *s->game);
    return 0;
}

void
scan_close(struct scan *s, void (*close)(void *own)) {
    for (int i = 0; i < s->games; i++)
        if (s->game[i].own)
            close(s->game[i].own);
    free(s->game);
    if (s->ready)
        setup_free(&s->setup);
    run_close(&s->run);
}

static void
prepare_game(struct scan *s, struct scan_game *g, const struct store_game *row) {
    struct err e;
    g->setup = s->setup;
    if (game_spec_parse(row->spec, &g->setup.game, &g->setup.args, &e) < 0) {
        snprintf(g->why, sizeof g->why, "%.500s", e.text);
    } else if (game_same(g->setup.game, row->version, row->hash, &e) < 0) {
        snprintf(g->why, sizeof g->why, "%.200s: %.280s", row->spec, e.text);
    } else {
        snprintf(g->setup.spec, sizeof g->setup.spec, "%s", row->spec);
        g->own = s->open(s->arg, &g->setup);
    }
}

static struct scan_game *
find_game(struct scan *s, int64_t id) {
    for (int i = 0; i < s->games; i++)
        if (s->game[i].id == id)
            return &s->game[i];
    struct store_game row;
    if (store_game_get(s->run.store, id, &row, s->e) < 0)
        return NULL;
    if (s->games == MAX_GAMES) {
        err_set(s->e, "table game: more than %d games", MAX_GAMES);
        return NULL;
    }
    struct scan_game *g = &s->game[s->games++];
    g->id = id;
    prepare_game(s, g, &row);
    return g;
}

static int
visit(void *arg, const struct store_match *m) {
    struct scan *s = arg;
    struct scan_game *g = find_game(s, m->game);
    s->stop = !g;
    if (!g)
        return -1;
    s->matches++;
    s->last_seen = m->id;
    if (g->why[0])
        g->skipped++;
    else
        s->match(s->arg, g, m);
    if (!(s->matches & 255))
        progress_show(&s->progress, (uint64_t)(m->id - s->first + 1),
                      (uint64_t)(s->last - s->first + 1));
    return s->matches % AT_ONCE ? 0 : 1;
}

/* Reads on behind a match whose rows do not decode: it is found by reading one id at a time. 1
 * found and told, 0 there is none up to `last`, -1 error. */
static int
pass_undecodable(struct scan *s, long long *from, long long last) {
    for (long long id = *from, tried = 0; id <= last && tried < LONGEST_GAP; id++, tried++) {
        if (store_match_each(s->run.store, id, id, visit, s, s->e) >= 0)
            continue;
        if (s->stop)
            return -1;
        s->damaged(s->arg, id, s->e->text);
        *from = id + 1;
        return 1;
    }
    return 0;
}

static int
read_portions(struct scan *s, long long first, long long last) {
    while (first <= last) {
        s->last_seen = first - 1;
        int more = store_match_each(s->run.store, first, last, visit, s, s->e);
        if (more == 0 || s->last_seen >= last)
            return more < 0 ? -1 : 0;
        first = s->last_seen + 1;
        if (more > 0)
            continue;
        struct err why = *s->e;
        if (s->stop || pass_undecodable(s, &first, last) != 1) {
            *s->e = why;
            return -1;
        }
    }
    return 0;
}

int
scan_range(struct scan *s, long long first, long long last, struct err *e) {
    int64_t newest = store_match_last(s->run.store, e);
    if (newest < 0)
        return -1;
    s->e = e;
    s->first = first > 0 ? first : 1;
    s->last = last < newest ? last : newest;
    progress_begin(&s->progress, "matches");
    int status = read_portions(s, first, s->last);
    progress_clear(&s->progress);
    return status;
}

uint64_t
scan_tell_skipped(const struct scan *s) {
    uint64_t sum = 0;
    for (int i = 0; i < s->games; i++) {
        if (s->game[i].skipped)
            printf("not checked: %" PRIu64 " matches: %s\n", s->game[i].skipped, s->game[i].why);
        sum += s->game[i].skipped;
    }
    return sum;
}
