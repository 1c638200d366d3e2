/* agon policies: a run's snapshots with their newest evaluation, the scripted players, and
 * export. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/rows.h"
#include "cli/run.h"
#include "cli/table.h"
#include "policy/player.h"
#include "policy/snap.h"

enum { LIMIT = 20, EVALS = 10000 };

/* ---- scripted players ---- */

static int
list_scripted(bool json) {
    static const char *const heads[] = {"player", "what it does", NULL};
    const struct player_kind *k;
    struct table t;
    table_init(&t, heads);
    for (int i = 0; (k = player_kind_at(i)); i++) {
        if (json) {
            json_t *o = json_pack("{s:s,s:s}", "name", k->name, "help", k->help);
            json_dumpf(o, stdout, JSON_COMPACT);
            putchar('\n');
            json_decref(o);
        }
        table_add(&t, k->name);
        table_add(&t, k->help);
    }
    if (json)
        buf_free(&t.text);
    else
        table_print(&t, stdout);
    return 0;
}

/* ---- snapshots ---- */

struct measured { /* the newest evaluation of one policy */
    int64_t policy;
    char *report; /* JSON; owned */
};

struct listing {
    struct store_policy *policy; /* newest first */
    int policies;
    struct measured *eval; /* newest first; the first of a policy counts */
    int evals;
};

static int
gather_policy(void *arg, const struct store_policy *p) {
    struct listing *l = arg;
    if (strcmp(p->kind, "snapshot"))
        return 0;
    l->policy = mem_grow(l->policy, (size_t)l->policies + 1, sizeof *l->policy);
    l->policy[l->policies++] = *p;
    return 0;
}

static int
gather_eval(void *arg, const struct store_cell *cell, int cells) {
    struct listing *l = arg;
    const char *report = row_text(cell, cells, "report");
    int64_t policy = row_int(cell, cells, "policy_id", 0);
    if (!report || !policy)
        return 0;
    l->eval = mem_grow(l->eval, (size_t)l->evals + 1, sizeof *l->eval);
    l->eval[l->evals++] = (struct measured){policy, mem_text(report)};
    return 0;
}

static json_t *
newest_eval(const struct listing *l, int64_t policy) {
    for (int i = 0; i < l->evals; i++)
        if (l->eval[i].policy == policy)
            return json_loads(l->eval[i].report, 0, NULL);
    return NULL;
}

static int
newest_first(const void *a, const void *b) {
    const struct store_policy *x = a, *y = b;
    return x->id < y->id ? 1 : x->id > y->id ? -1 : 0;
}

static void
eval_text(const json_t *o, char out[128]) {
    const json_t *conv = json_object_get(o, "nash_conv"), *invalid = json_object_get(o, "invalid");
    const json_t *first = json_array_get(json_object_get(o, "against"), 0);
    const char *name = json_string_value(json_object_get(first, "name"));
    double n = json_number_value(json_object_get(first, "matches"));
    if (json_is_number(conv))
        snprintf(out, 128, "NashConv %.4f, invalid %.2f %%", json_number_value(conv),
                 100 * json_number_value(invalid));
    else if (name && n > 0)
        snprintf(out, 128, "%.1f %% won, %.1f %% lost against %.40s",
                 100 * json_number_value(json_object_get(first, "win")) / n,
                 100 * json_number_value(json_object_get(first, "loss")) / n, name);
    else
        snprintf(out, 128, "-");
}

static void
add_policy(const struct listing *l, const struct store_policy *p, struct table *t) {
    char ago[32], measured[128];
    json_t *eval = newest_eval(l, p->id);
    term_ago(ago, p->at_ms, clock_wall_ms());
    eval_text(eval, measured);
    table_fmt(t, "%" PRId64, p->id);
    table_fmt(t, "%.12s", p->name);
    table_fmt(t, "%" PRId64, p->step);
    table_add(t, ago);
    table_add(t, p->kept ? "yes" : "no");
    table_add(t, measured);
    json_decref(eval);
}

static void
print_json(const struct listing *l, const struct store_policy *p) {
    json_t *o = json_pack("{s:I,s:s,s:s,s:I,s:I,s:I,s:b}", "id", (json_int_t)p->id, "kind", p->kind,
                          "name", p->name, "step", (json_int_t)p->step, "parent",
                          (json_int_t)p->parent, "made_ms", (json_int_t)p->at_ms, "kept", p->kept);
    json_t *eval = newest_eval(l, p->id);
    json_object_set_new(o, "eval", eval ? eval : json_null());
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static void
print_listing(const struct run *r, const struct listing *l, long long limit, bool json) {
    static const char *const heads[] = {">id", "hash", ">step", "made", "kept", "newest evaluation",
                                        NULL};
    struct table t;
    table_init(&t, heads);
    int shown = l->policies < limit ? l->policies : (int)limit;
    for (int i = 0; i < shown; i++)
        if (json)
            print_json(l, &l->policy[i]);
        else
            add_policy(l, &l->policy[i], &t);
    if (json)
        return;
    if (!shown) {
        buf_free(&t.text);
        printf("%s: no snapshot yet.\n", r->dir);
        return;
    }
    table_print(&t, stdout);
    if (shown < l->policies)
        printf("\n%s: %d more; --limit N shows them.\n", r->dir, l->policies - shown);
}

static int
list_snapshots(const struct run *r, const struct cmd_args *a, struct err *e) {
    struct listing l = {0};
    bool json = cmd_flag(a, "json") != NULL;
    long long limit;
    if (run_number("--limit", cmd_flag(a, "limit"), 1, INT32_MAX, json ? INT32_MAX : LIMIT, &limit,
                   e) < 0)
        return -1;
    const struct store_bind most = {.name = ":limit", .number = EVALS};
    int status = store_policy_list(r->store, gather_policy, &l, e);
    if (status >= 0)
        status = store_query(r->store, "evals", &most, 1, gather_eval, &l, e);
    if (status >= 0) {
        if (l.policies)
            qsort(l.policy, (size_t)l.policies, sizeof *l.policy, newest_first);
        print_listing(r, &l, limit, json);
    }
    for (int i = 0; i < l.evals; i++)
        free(l.eval[i].report);
    free(l.eval);
    free(l.policy);
    return status < 0 ? -1 : 0;
}

/* ---- export ---- */

static int
export_snapshot(const struct run *r, const struct cmd_args *a, struct err *e) {
    const char *dir = cmd_flag(a, "hf"), *name = a->words > 1 ? a->word[1] : "latest";
    struct store_policy p;
    if (!dir)
        return err_set(e, "where to? `agon policies export --hf DIR [POLICY]`");
    if (run_policy(r, name, &p, e) < 0)
        return -1;
    if (strcmp(p.kind, "snapshot"))
        return err_set(e, "%s is a scripted player: only snapshots have weights to export", p.name);
    struct model *m = run_model(r, &p, e);
    if (!m)
        return -1;
    int status = snap_export_hf(m, dir, e);
    if (!status)
        printf("%s: snapshot %.12s of step %" PRId64 ", %zu parameters, for Hugging Face's "
               "AutoModelForCausalLM\n",
               dir, p.name, p.step, m->count);
    model_free(m);
    return status;
}

static int
run_policies(const struct cmd_args *a, struct err *e) {
    struct run r = {0};
    if (cmd_flag(a, "scripted"))
        return list_scripted(cmd_flag(a, "json") != NULL);
    const char *what = a->words ? a->word[0] : "list";
    bool exports = !strcmp(what, "export");
    if (!exports && strcmp(what, "list"))
        return err_set(e, "\"%.40s\" is neither list nor export", what);
    if (run_open(&r, cmd_flag(a, "run"), e) < 0)
        return -1;
    int status = exports ? export_snapshot(&r, a, e) : list_snapshots(&r, a, e);
    run_close(&r);
    return status;
}

const struct cmd cmd_policies = {
    .name = "policies",
    .args = "[export] [POLICY]",
    .help = "List a run's snapshots and the scripted players, or export a snapshot.",
    .most = 2,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"scripted", NULL, "list the scripted players instead"},
            {"hf", "DIR", "export: folder for config.json and model.safetensors"},
            {"limit", "N", "at most so many (default 20)"},
            {"json", NULL, "one JSON object a line"},
            {0},
        },
    .run = run_policies,
};
