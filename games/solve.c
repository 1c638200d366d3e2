/* Enumerates a game: breadth first from the start, one node a history (or, with perfect
 * information, one a state), information sets found by (seat, view). What follows from the tree is
 * in solve-eval.c, solve-cfr.c and solve-count.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "games/extern/extern.h"
#include "games/solve-tree.h"

#define NONE UINT32_MAX

/* A node while the game is being enumerated. */
struct draft {
    struct solve_node node;
    size_t depth;
    size_t last[2]; /* each seat's own last strategy position, or SOLVE_ROOT */
    uint32_t last_set[2];
};

struct build {
    struct solve *s;
    size_t max_nodes, max_depth;
    struct draft *draft;
    unsigned char *state; /* [nodes][stride] */
    size_t stride;        /* state_bytes, rounded up so that every state is aligned */
    size_t cap, edges, edge_cap, set_cap;
    struct index states; /* merged only */
    struct buf same, other;
    struct err *e;
};

static unsigned char *
state_at(const struct build *b, size_t node) {
    return b->state + node * b->stride;
}

static uint64_t
view_hash(int seat, const struct text *view) {
    return hash_fnv(view->at, view->len) * 2 + (uint64_t)seat;
}

static uint32_t
find_view(const struct solve *s, int seat, const struct text *view) {
    uint64_t i, hash = view_hash(seat, view);
    for (size_t at = SIZE_MAX; index_next(&s->views, hash, &at, &i);)
        if (s->info[i].seat == seat && strcmp(s->info[i].view, view->at) == 0)
            return (uint32_t)i;
    return NONE;
}

static uint32_t
add_set(struct build *b, size_t node, int seat, const struct text *view, const int *legal, int n) {
    struct solve *s = b->s;
    if (s->sets == b->set_cap) {
        b->set_cap = b->set_cap ? 2 * b->set_cap : 64;
        s->info = mem_grow(s->info, b->set_cap, sizeof s->info[0]);
        s->set = mem_grow(s->set, b->set_cap, sizeof s->set[0]);
    }
    const struct draft *d = &b->draft[node];
    uint32_t id = (uint32_t)s->sets++;
    s->info[id] = (struct solve_info){
        .seat = seat,
        .actions = n,
        .action = mem_copy(legal, (size_t)n * sizeof legal[0]),
        .at = s->width,
        .view = mem_text(view->at),
        .state = mem_copy(state_at(b, node), s->g->state_bytes),
    };
    bool first = d->last[seat] == SOLVE_ROOT;
    s->set[id] = (struct solve_set){
        .parent = d->last[seat],
        .before = d->last_set[seat],
        .level = first ? 0 : s->set[d->last_set[seat]].level + 1,
    };
    s->width += (size_t)n + 1;
    index_add(&s->views, view_hash(seat, view), id);
    return id;
}

/* Perfect recall and equal choices: what every computation on information sets rests on. */
static int
check_set(const struct build *b, size_t node, uint32_t id, const int *legal, int n) {
    const struct solve *s = b->s;
    const struct solve_info *info = &s->info[id];
    if (s->merged)
        return err_set(b->e, "%s: two states show the same view to seat %d: '%s'", s->g->name,
                       info->seat, info->view);
    if (info->actions != n || memcmp(info->action, legal, (size_t)n * sizeof legal[0]) != 0)
        return err_set(b->e, "%s: one view of seat %d has different legal actions: '%s'",
                       s->g->name, info->seat, info->view);
    if (s->set[id].parent != b->draft[node].last[info->seat])
        return err_set(b->e, "%s: a view of seat %d forgets what it did before: '%s'", s->g->name,
                       info->seat, info->view);
    return 0;
}

static int
enter_set(struct build *b, size_t node, int seat, const int *legal, int n) {
    struct solve *s = b->s;
    char at[GAME_TEXT];
    struct text view;
    text_init(&view, at, sizeof at);
    s->g->observe(state_at(b, node), seat, &view);
    if (view.cut)
        return err_set(b->e, "%s: a view is longer than %d bytes", s->g->name, GAME_TEXT);
    uint32_t id = find_view(s, seat, &view);
    if (id == NONE)
        id = add_set(b, node, seat, &view, legal, n);
    else if (check_set(b, node, id, legal, n))
        return -1;
    s->set[id].nodes++;
    b->draft[node].node.set = id;
    return 0;
}

/* What makes two states of a merged game the same one: their bytes, or where those tell the way
 * too, all that is seen there. */
static void
identify(const struct solve *s, const void *state, struct buf *out) {
    buf_clear(out);
    if (!(s->g->flags & GAME_HISTORY)) {
        buf_add(out, state, s->g->state_bytes);
        return;
    }
    int mover = s->g->mover(state);
    double result = mover == GAME_OVER ? s->g->result(state) : 0;
    buf_add(out, &mover, sizeof mover);
    buf_add(out, &result, sizeof result);
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT];
        struct text view;
        text_init(&view, at, sizeof at);
        s->g->observe(state, seat, &view);
        buf_add(out, at, view.len + 1);
    }
}

static bool
find_state(struct build *b, uint64_t hash, size_t *out) {
    uint64_t found;
    for (size_t at = SIZE_MAX; index_next(&b->states, hash, &at, &found);) {
        identify(b->s, state_at(b, found), &b->other);
        if (b->other.len == b->same.len && memcmp(b->other.at, b->same.at, b->same.len) == 0) {
            *out = found;
            return true;
        }
    }
    return false;
}

static int
add_node(struct build *b, const void *state, const struct draft *d, size_t *out) {
    struct solve *s = b->s;
    size_t bytes = s->g->state_bytes;
    uint64_t hash = 0;
    if (s->merged) {
        identify(s, state, &b->same);
        hash = hash_fnv(b->same.at, b->same.len);
        if (find_state(b, hash, out))
            return 0;
    }
    if (s->nodes == b->max_nodes)
        return err_set(b->e, "%s: the game has more than %zu nodes", s->g->name, b->max_nodes);
    if (d->depth > b->max_depth)
        return err_set(b->e, "%s: a match takes more than the %zu actions that it promises",
                       s->g->name, b->max_depth);
    if (s->nodes == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 256;
        b->draft = mem_grow(b->draft, b->cap, sizeof b->draft[0]);
        b->state = mem_grow(b->state, b->cap, b->stride);
    }
    *out = s->nodes++;
    b->draft[*out] = *d;
    memcpy(state_at(b, *out), state, bytes);
    if (s->merged)
        index_add(&b->states, hash, *out);
    return 0;
}

static int
add_edge(struct build *b, size_t node, int action, int j, double probability) {
    struct solve *s = b->s;
    struct draft *d = &b->draft[node];
    if (b->edges == b->edge_cap) {
        b->edge_cap = b->edge_cap ? 2 * b->edge_cap : 512;
        s->child = mem_grow(s->child, b->edge_cap, sizeof s->child[0]);
        s->prob = mem_grow(s->prob, b->edge_cap, sizeof s->prob[0]);
    }
    _Alignas(16) unsigned char next[GAME_MAX_STATE];
    memcpy(next, state_at(b, node), s->g->state_bytes);
    s->g->apply(next, action);
    struct draft below = *d;
    below.depth++;
    int mover = d->node.mover;
    if (mover != GAME_CHANCE) {
        below.last[mover] = s->info[d->node.set].at + (size_t)j;
        below.last_set[mover] = d->node.set;
    }
    size_t child;
    if (add_node(b, next, &below, &child))
        return -1;
    s->child[b->edges] = (uint32_t)child;
    s->prob[b->edges] = probability;
    b->edges++;
    b->draft[node].node.edges++;
    return 0;
}

static int
expand_chance(struct build *b, size_t node) {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int n = b->s->g->chance(state_at(b, node), out);
    for (int j = 0; j < n; j++)
        if (add_edge(b, node, out[j].action, j, out[j].probability))
            return -1;
    return 0;
}

static int
expand(struct build *b, size_t node) {
    const struct game *g = b->s->g;
    struct solve_node *at = &b->draft[node].node;
    *at = (struct solve_node){.mover = g->mover(state_at(b, node)), .first = b->edges};
    if (at->mover == GAME_OVER) {
        at->payoff = g->result(state_at(b, node)) * b->s->unit;
        return 0;
    }
    if (at->mover == GAME_CHANCE)
        return expand_chance(b, node);
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state_at(b, node), legal);
    if (enter_set(b, node, at->mover, legal, n))
        return -1;
    for (int j = 0; j < n; j++)
        if (add_edge(b, node, legal[j], j, 0))
            return -1;
    return 0;
}

/* Kahn's topological order; a tree in breadth-first order is in order already. */
static int
sort_nodes(struct build *b) {
    struct solve *s = b->s;
    uint32_t *in = mem_zero(s->nodes, sizeof in[0]);
    uint32_t *order = mem_alloc(s->nodes * sizeof order[0]);
    uint32_t *rank = mem_alloc(s->nodes * sizeof rank[0]);
    for (size_t i = 0; i < b->edges; i++)
        in[s->child[i]]++;
    size_t n = 0;
    if (in[0] == 0)
        order[n++] = 0;
    for (size_t i = 0; i < n; i++) {
        const struct solve_node *at = &b->draft[order[i]].node;
        for (size_t j = at->first; j < at->first + at->edges; j++)
            if (--in[s->child[j]] == 0)
                order[n++] = s->child[j];
    }
    bool cycle = n != s->nodes;
    s->node = mem_alloc(s->nodes * sizeof s->node[0]);
    for (size_t i = 0; i < n; i++) {
        rank[order[i]] = (uint32_t)i;
        s->node[i] = b->draft[order[i]].node;
    }
    for (size_t i = 0; !cycle && i < b->edges; i++)
        s->child[i] = rank[s->child[i]];
    free(in);
    free(order);
    free(rank);
    return cycle ? err_set(b->e, "%s: a match can come back to a former state", s->g->name) : 0;
}

static void
list_set_nodes(struct solve *s) {
    size_t total = 0;
    for (size_t i = 0; i < s->sets; i++) {
        s->set[i].first = total;
        total += s->set[i].nodes;
        s->set[i].nodes = 0;
    }
    s->set_node = mem_alloc(total * sizeof s->set_node[0]);
    for (size_t i = 0; i < s->nodes; i++)
        if (s->node[i].mover == GAME_SEAT_0 || s->node[i].mover == GAME_SEAT_1) {
            struct solve_set *set = &s->set[s->node[i].set];
            s->set_node[set->first + set->nodes++] = (uint32_t)i;
        }
}

/* Own decisions of `seat` before each node. */
static uint32_t *
node_levels(const struct solve *s, int seat, uint32_t *levels) {
    uint32_t *level = mem_zero(s->nodes, sizeof level[0]);
    *levels = 1;
    for (size_t i = 0; i < s->nodes; i++) {
        const struct solve_node *at = &s->node[i];
        if (level[i] + 1 > *levels)
            *levels = level[i] + 1;
        for (size_t j = at->first; j < at->first + at->edges; j++)
            level[s->child[j]] = level[i] + (at->mover == seat);
    }
    return level;
}

/* The order of a best response's backward pass. A decision needs the values below all nodes of its
 * information set at once, so: the seat's levels from the last to the first; within a level its
 * decisions (whose children are a level deeper), then the other nodes, last first. */
static void
plan_steps(struct solve *s, int seat) {
    uint32_t levels;
    uint32_t *level = node_levels(s, seat, &levels);
    size_t *at = mem_zero(2 * (size_t)levels + 1, sizeof at[0]);
    /* Bucket 2k: decisions of the k-th level from the end; 2k + 1: its other nodes. */
    for (size_t i = 0; i < s->sets; i++)
        if (s->info[i].seat == seat)
            at[2 * (levels - 1 - s->set[i].level) + 1]++;
    for (size_t i = 0; i < s->nodes; i++)
        if (s->node[i].mover != seat && s->node[i].mover != GAME_OVER)
            at[2 * (levels - 1 - level[i]) + 2]++;
    for (size_t k = 1; k <= 2 * (size_t)levels; k++)
        at[k] += at[k - 1];
    s->steps[seat] = at[2 * (size_t)levels];
    s->step[seat] = mem_alloc(s->steps[seat] * sizeof s->step[seat][0]);
    for (size_t i = 0; i < s->sets; i++)
        if (s->info[i].seat == seat)
            s->step[seat][at[2 * (levels - 1 - s->set[i].level)]++] =
                (struct solve_step){true, (uint32_t)i};
    for (size_t i = s->nodes; i-- > 0;)
        if (s->node[i].mover != seat && s->node[i].mover != GAME_OVER)
            s->step[seat][at[2 * (levels - 1 - level[i]) + 1]++] =
                (struct solve_step){false, (uint32_t)i};
    free(at);
    free(level);
}

static int
enumerate(struct build *b) {
    struct solve *s = b->s;
    _Alignas(16) unsigned char start[GAME_MAX_STATE];
    memset(start, 0, sizeof start);
    s->g->init(start, &s->args);
    struct draft d = {.last = {SOLVE_ROOT, SOLVE_ROOT}};
    size_t root;
    if (add_node(b, start, &d, &root))
        return -1;
    for (size_t i = 0; i < s->nodes; i++)
        if (expand(b, i))
            return -1;
    return sort_nodes(b);
}

struct solve *
solve_new(const struct game *g, const struct game_args *args, size_t max_nodes, struct err *e) {
    if (g->allows) {
        err_set(e, "%s: more is legal than can be listed, so it cannot be enumerated", g->name);
        return NULL;
    }
    struct solve *s = mem_zero(1, sizeof *s);
    s->g = g;
    s->args = *args;
    s->unit = g->unit(args);
    s->merged = g->flags & GAME_PERFECT_INFO;
    struct build b = {
        .s = s,
        .max_nodes = max_nodes < NONE ? max_nodes : NONE - 1,
        .stride = (g->state_bytes + 15) / 16 * 16,
        .max_depth = (size_t)g->max_plies(args),
        .e = e,
    };
    uint64_t before = game_faults(g, NULL);
    const char *why;
    int bad = enumerate(&b);
    if (game_faults(g, &why) != before)
        bad = err_set(e, "%s", why);
    free(b.draft);
    free(b.state);
    buf_free(&b.same);
    buf_free(&b.other);
    index_free(&b.states);
    if (bad) {
        solve_free(s);
        return NULL;
    }
    list_set_nodes(s);
    for (int seat = 0; seat < 2 && !s->merged; seat++)
        plan_steps(s, seat);
    return s;
}

void
solve_free(struct solve *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->sets; i++) {
        free((void *)(uintptr_t)s->info[i].action);
        free((void *)(uintptr_t)s->info[i].view);
        free((void *)(uintptr_t)s->info[i].state);
    }
    free(s->node);
    free(s->child);
    free(s->prob);
    free(s->info);
    free(s->set);
    free(s->set_node);
    free(s->step[0]);
    free(s->step[1]);
    index_free(&s->views);
    free(s);
}

size_t
solve_sets(const struct solve *s) {
    return s->sets;
}

size_t
solve_width(const struct solve *s) {
    return s->width;
}

size_t
solve_nodes(const struct solve *s) {
    return s->nodes;
}

const struct solve_info *
solve_info(const struct solve *s, size_t i) {
    ensure(i < s->sets);
    return &s->info[i];
}

const struct solve_info *
solve_find(const struct solve *s, const void *state) {
    int seat = s->g->mover(state);
    if (seat != GAME_SEAT_0 && seat != GAME_SEAT_1)
        return NULL;
    char at[GAME_TEXT];
    struct text view;
    text_init(&view, at, sizeof at);
    s->g->observe(state, seat, &view);
    uint32_t id = find_view(s, seat, &view);
    return id == NONE ? NULL : &s->info[id];
}
