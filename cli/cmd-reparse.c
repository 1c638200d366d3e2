/* agon reparse: what another answer parser would have made of the recorded replies. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/reparse.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/scan.h"
#include "cli/table.h"

enum { LIMIT = 20 };

struct group { /* replies of one policy in one game */
    int64_t game, policy;
    const struct setup *setup;
    uint64_t replies, changed, to_invalid, to_ok, other;
};

struct job {
    struct scan scan;
    const struct answer *answer;
    long long limit;
    bool json;
    struct group *group; /* [groups], found by hashing (game, policy) */
    size_t groups, room;
    struct group *now[2];                        /* of the match in hand, by seat */
    uint64_t matches[REPARSE_OUTCOMES], results; /* results: that would be others */
    uint64_t shown, undecodable;
    json_t *list;
    struct table table;
};

/* ---- groups ---- */

static size_t
place(const struct job *j, int64_t game, int64_t policy) {
    size_t at = (size_t)((uint64_t)(game * 1000003 + policy) * 0x9e3779b97f4a7c15u) % j->room;
    while (j->group[at].setup && (j->group[at].game != game || j->group[at].policy != policy))
        at = (at + 1) % j->room;
    return at;
}

static void
grow(struct job *j) {
    struct group *old = j->group;
    size_t room = j->room;
    j->room = room ? 2 * room : 64;
    j->group = mem_zero(j->room, sizeof *j->group);
    for (size_t i = 0; i < room; i++)
        if (old[i].setup)
            j->group[place(j, old[i].game, old[i].policy)] = old[i];
    free(old);
}

static struct group *
find_group(struct job *j, const struct scan_game *g, int64_t policy) {
    struct group *x = &j->group[place(j, g->id, policy)];
    if (!x->setup) {
        *x = (struct group){.game = g->id, .policy = policy, .setup = &g->setup};
        j->groups++;
    }
    return x;
}

/* ---- replies that differ ---- */

static void
policy_text(const struct job *j, int64_t id, char out[STORE_LABEL]) {
    struct store_policy p;
    if (store_policy_get(j->scan.run.store, id, &p, NULL) < 0)
        snprintf(out, STORE_LABEL, "policy %" PRId64, id);
    else
        store_policy_label(&p, out);
}

/* Words of players: any bytes. */
static json_t *
word_json(const char *word) {
    struct buf b = {0};
    if (!word)
        return json_null();
    term_escape(&b, word, strlen(word), false);
    json_t *v = json_string(buf_text(&b));
    buf_free(&b);
    return v ? v : json_null();
}

static void
add_word(struct table *t, const char *word) {
    struct buf b = {0};
    if (word)
        term_quote(&b, word, strlen(word) < 40 ? strlen(word) : 40);
    table_add(t, word ? buf_text(&b) : NULL);
    buf_free(&b);
}

static void
list_change(struct job *j, const struct reparse_change *c) {
    const struct store_turn *t = c->before;
    if (j->json) {
        json_array_append_new(
            j->list,
            json_pack("{s:I,s:i,s:i,s:I,s:s,s:o,s:s,s:o}", "match", (json_int_t)c->match, "turn",
                      c->turn, "seat", t->seat, "policy_id", (json_int_t)t->policy, "verdict",
                      turn_verdict_name(t->verdict), "word", word_json(t->word), "new_verdict",
                      turn_verdict_name(c->verdict), "new_word", word_json(c->word)));
        return;
    }
    table_fmt(&j->table, "%" PRId64, c->match);
    table_fmt(&j->table, "%d", c->turn);
    table_fmt(&j->table, "%d", t->seat);
    table_add(&j->table, turn_verdict_name(t->verdict));
    add_word(&j->table, t->word);
    table_add(&j->table, turn_verdict_name(c->verdict));
    add_word(&j->table, c->word);
}

static void
on_change(void *arg, const struct reparse_change *c) {
    struct job *j = arg;
    const struct store_turn *t = c->before;
    bool was = t->verdict == VERDICT_OK, is = c->verdict == VERDICT_OK;
    struct group *g = j->now[t->seat];
    g->changed++;
    g->to_invalid += was && !is;
    g->to_ok += !was && is;
    g->other += was && is && c->action != t->action;
    if (j->shown++ < (uint64_t)j->limit)
        list_change(j, c);
}

/* ---- matches ---- */

static void *
open_game(void *arg, const struct setup *s) {
    struct job *j = arg;
    return reparse_new(s, j->answer, on_change, j);
}

static void
close_game(void *own) {
    reparse_free(own);
}

static void
read_again(void *arg, struct scan_game *g, const struct store_match *m) {
    struct job *j = arg;
    if (2 * (j->groups + 2) > j->room)
        grow(j);
    for (int seat = 0; seat < 2; seat++)
        j->now[seat] = find_group(j, g, m->policy[seat]);
    for (size_t i = 0; i < m->nturns; i++)
        j->now[m->turn[i].seat]->replies++;
    struct reparse_match r = reparse_match(g->own, m);
    j->matches[r.outcome]++;
    j->results += r.result > m->result || r.result < m->result;
}

static void
on_damage(void *arg, int64_t match, const char *why) {
    struct job *j = arg;
    (void)match;
    (void)why;
    j->undecodable++;
}

/* ---- the end ---- */

static int
by_change(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    if (!x->setup != !y->setup)
        return x->setup ? -1 : 1;
    if (x->changed != y->changed)
        return x->changed < y->changed ? 1 : -1;
    if (x->game != y->game)
        return x->game < y->game ? -1 : 1;
    return x->policy > y->policy ? -1 : x->policy < y->policy;
}

static struct group
sum_groups(const struct job *j) {
    struct group sum = {0};
    for (size_t i = 0; i < j->groups; i++) {
        sum.replies += j->group[i].replies;
        sum.changed += j->group[i].changed;
        sum.to_invalid += j->group[i].to_invalid;
        sum.to_ok += j->group[i].to_ok;
        sum.other += j->group[i].other;
    }
    return sum;
}

static json_t *
group_json(const struct group *g) {
    return json_pack("{s:I,s:I,s:I,s:I,s:I}", "replies", (json_int_t)g->replies, "changed",
                     (json_int_t)g->changed, "to_invalid", (json_int_t)g->to_invalid, "to_ok",
                     (json_int_t)g->to_ok, "other_move", (json_int_t)g->other);
}

static void
print_json(struct job *j, uint64_t skipped) {
    struct group sum = sum_groups(j);
    json_t *o = group_json(&sum), *groups = json_array(), *matches = json_object();
    json_object_set_new(o, "run", json_string(j->scan.run.dir));
    json_object_set_new(o, "answer", json_string(j->answer->name));
    json_object_set_new(o, "run_answer", json_string(j->scan.setup.answer->name));
    for (int i = 0; i < REPARSE_OUTCOMES; i++)
        json_object_set_new(matches, reparse_outcome_name((enum reparse_outcome)i),
                            json_integer((json_int_t)j->matches[i]));
    json_object_set_new(matches, "other_result", json_integer((json_int_t)j->results));
    json_object_set_new(matches, "not_checked", json_integer((json_int_t)skipped));
    json_object_set_new(matches, "undecodable", json_integer((json_int_t)j->undecodable));
    json_object_set_new(o, "matches", matches);
    for (size_t i = 0; i < j->groups; i++) {
        char policy[STORE_LABEL];
        json_t *g = group_json(&j->group[i]);
        policy_text(j, j->group[i].policy, policy);
        json_object_set_new(g, "game", json_string(j->group[i].setup->spec));
        json_object_set_new(g, "policy", json_string(policy));
        json_object_set_new(g, "policy_id", json_integer((json_int_t)j->group[i].policy));
        json_array_append_new(groups, g);
    }
    json_object_set_new(o, "groups", groups);
    json_object_set(o, "changes", j->list);
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static void
print_groups(const struct job *j) {
    static const char *const heads[] = {
        "game",           "policy",         ">replies",    ">changed",
        ">ok to invalid", ">invalid to ok", ">other move", NULL};
    struct table t;
    size_t shown = 0;
    table_init(&t, heads);
    for (; shown < j->groups && shown < (size_t)j->limit && j->group[shown].changed; shown++) {
        const struct group *g = &j->group[shown];
        char policy[STORE_LABEL];
        policy_text(j, g->policy, policy);
        table_add(&t, g->setup->spec);
        table_add(&t, policy);
        table_fmt(&t, "%" PRIu64, g->replies);
        table_fmt(&t, "%" PRIu64, g->changed);
        table_fmt(&t, "%" PRIu64, g->to_invalid);
        table_fmt(&t, "%" PRIu64, g->to_ok);
        table_fmt(&t, "%" PRIu64, g->other);
    }
    if (shown)
        table_print(&t, stdout);
    else
        buf_free(&t.text);
    if (shown < j->groups && j->group[shown].changed)
        puts("... (--limit N shows more)");
    fputs(shown ? "\n" : "", stdout);
}

static void
print_table(struct job *j) {
    struct group sum = sum_groups(j);
    if (j->shown) {
        table_print(&j->table, stdout);
        if (j->shown > (uint64_t)j->limit)
            printf("... and %" PRIu64 " more replies (--limit N)\n", j->shown - (uint64_t)j->limit);
        putchar('\n');
    }
    print_groups(j);
    if (j->undecodable)
        printf("%" PRIu64 " matches do not decode (`agon verify` names them).\n", j->undecodable);
    if (j->matches[REPARSE_DAMAGED])
        printf("%" PRIu64 " matches cannot be replayed (`agon verify` names them).\n",
               j->matches[REPARSE_DAMAGED]);
    printf("%s: with the parser %s instead of %s, %" PRIu64 " of %" PRIu64
           " replies would be read in another way.\n",
           j->scan.run.dir, j->answer->name, j->scan.setup.answer->name, sum.changed, sum.replies);
    printf("Matches: %" PRIu64 " unchanged; %" PRIu64 " would end there as invalid (%" PRIu64
           " with another result), %" PRIu64 " would be asked again, %" PRIu64
           " would go on, %" PRIu64 " would take another move.\n",
           j->matches[REPARSE_SAME], j->matches[REPARSE_FORFEIT], j->results,
           j->matches[REPARSE_ASK_AGAIN], j->matches[REPARSE_GO_ON],
           j->matches[REPARSE_OTHER_MOVE]);
}

static int
read_all(struct job *j, const struct cmd_args *a, struct err *e) {
    const long long most = INT64_MAX;
    long long first, last;
    const char *parser = cmd_flag(a, "answer");
    if (!parser)
        return err_usage(e, "which parser? --answer bracket, boxed, line or whole");
    j->answer = answer_find(parser, e);
    e->usage = !j->answer;
    if (!j->answer || run_number("--from", cmd_flag(a, "from"), 0, most, 0, &first, e) < 0 ||
        run_number("--to", cmd_flag(a, "to"), 0, most, most, &last, e) < 0 ||
        run_number("--limit", cmd_flag(a, "limit"), 0, 1000000, LIMIT, &j->limit, e) < 0 ||
        scan_open(&j->scan, cmd_flag(a, "run"), e) < 0)
        return -1;
    return scan_range(&j->scan, first, last, e);
}

static int
run_reparse(const struct cmd_args *a, struct err *e) {
    static const char *const heads[] = {">match", ">turn",    ">seat", "verdict",
                                        "word",   "would be", "word",  NULL};
    struct job j = {.json = cmd_flag(a, "json") != NULL, .list = json_array()};
    j.scan = (struct scan){.arg = &j, .open = open_game, .match = read_again, .damaged = on_damage};
    table_init(&j.table, heads);
    int status = read_all(&j, a, e);
    if (!status) {
        uint64_t skipped = j.json ? 0 : scan_tell_skipped(&j.scan);
        for (int i = 0; j.json && i < j.scan.games; i++)
            skipped += j.scan.game[i].skipped;
        if (j.room)
            qsort(j.group, j.room, sizeof *j.group, by_change);
        if (j.json)
            print_json(&j, skipped);
        else
            print_table(&j);
    }
    buf_free(&j.table.text);
    json_decref(j.list);
    free(j.group);
    scan_close(&j.scan, close_game);
    return status;
}

const struct cmd cmd_reparse = {
    .name = "reparse",
    .args = "",
    .help = "Read recorded replies with another answer parser, and tell what would change.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"answer", "PARSER", "bracket, boxed, line or whole"},
            {"from", "ID", "first match (default: 0)"},
            {"to", "ID", "last match (default: the newest)"},
            {"limit", "N", "replies and policies to list, at most (default 20)"},
            {"json", NULL, "one JSON object"},
            {0},
        },
    .run = run_reparse,
};
