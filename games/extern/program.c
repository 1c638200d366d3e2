/* A state is the whole history of its match as numbers: plain bytes, the same in every process,
 * good after the program has died and been started again. What the program said of a position
 * (a scene) is kept in a cache under a key of its history, so every position is asked for once:
 * one line there, one line back.
 *
 * A program holds positions in numbered sessions. The one that stands right before the wanted
 * position is taken a step further; where there is none, the longest unused one is set up anew
 * with all actions in one line. Positions of which several continuations are wanted (by a law
 * check or a search) are kept and continued in a copy, where the program can do that.
 *
 * Questions are posted, and answered in order. Whoever looks at a position waits for its answer;
 * a program that takes several at a time is asked ahead of that, for matches side by side. */
#include "games/extern/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "games/extern/cache.h"

#define CACHE_CALM (64u << 20)  /* bytes at which it is emptied between matches */
#define CACHE_MOST (512u << 20) /* and in the middle of one */
#define TEXT_BIT (MESSAGE_MAX_ACTION + 1)
#define ARGS_MOST 100000 /* distinct arguments in one process */

struct position {
    uint32_t slot, args; /* args: index into the program's list */
    uint32_t plies;      /* more than max_plies: too many to be held */
    uint32_t unused;
    uint64_t key;
    int32_t action[];
};

_Static_assert(sizeof(struct position) + MESSAGE_MAX_PLIES * sizeof(int32_t) <= GAME_MAX_STATE,
               "a state holds the longest match");

struct session {
    uint64_t key; /* of the position it holds; 0: none */
    uint64_t used;
};

struct question {  /* that was posted */
    uint64_t key;  /* of the position that it asks for */
    uint64_t goal; /* and of the one for whose sake */
    int id, to;
    bool settles; /* the session holds the position only when it was not refused */
};

struct program {
    int slot;
    struct registry_row row;
    struct hello hello;
    struct game game;
    struct process *process; /* NULL: not running */
    int id;                  /* of the last question */
    struct session *session; /* [hello.sessions] */
    uint64_t clock;          /* of their use */
    struct question *posted; /* [hello.ahead], in a ring */
    int first, nposted;
    struct cache cache;
    struct texts texts;
    struct game_args *args;
    size_t nargs;
    uint64_t epoch; /* counts beginnings: a failure is over with its match */
    int failures;   /* in a row */
    uint64_t faults;
    char latest[700], quarantine[700];
    struct buf request;
};

/* ---- keys ---- */

static uint64_t
mix(uint64_t key, uint64_t x) {
    key = (key ^ (x + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 29) * 0x94D049BB133111EBu;
    key ^= key >> 32;
    return key ? key : 1;
}

static uint64_t
root_key(uint32_t args) {
    return mix(0x6167u, args);
}

static uint64_t
next_key(uint64_t key, int action) {
    return mix(key, (uint64_t)(uint32_t)action);
}

static struct program *
program_of(const struct position *at) {
    return extern_program((int)at->slot);
}

/* ---- failing ---- */

static void
forget_sessions(struct program *p) {
    memset(p->session, 0, (size_t)p->hello.sessions * sizeof *p->session);
    p->nposted = 0;
}

void
program_rest(struct program *p) {
    process_stop(p->process);
    p->process = NULL;
    forget_sessions(p);
}

void
program_renew(struct program *p, const struct registry_row *row) {
    p->row.deadline = row->deadline;
    p->row.limits = row->limits;
    if (p->quarantine[0])
        p->failures = 0;
    p->quarantine[0] = '\0';
}

static void
enter_quarantine(struct program *p) {
    struct err e;
    snprintf(p->quarantine, sizeof p->quarantine, "%d failures in a row, the last: %.600s",
             PROGRAM_FAILURES, p->latest);
    log_error("games", "%s is in quarantine: %s", p->hello.name, p->quarantine);
    if (registry_quarantine(p->row.name, p->row.hash, p->quarantine, &e) < 0)
        log_warn("games", "%s", e.text);
}

/* A scene that stands for the failure, with its entry. */
static struct cache_entry *
add_failure(struct program *p, uint64_t key, enum game_fault_kind kind, const char *why) {
    struct scene *s = mem_zero(1, sizeof *s);
    s->mover = GAME_OVER;
    s->bytes = sizeof *s;
    struct cache_entry *x = cache_find(&p->cache, key);
    if (x)
        cache_replace(&p->cache, x, s);
    else
        x = cache_add(&p->cache, key, s);
    char text[800];
    snprintf(text, sizeof text, "game %s: %.700s", p->hello.name, why);
    x->fault = kind;
    x->why = mem_text(text);
    x->epoch = p->epoch;
    p->faults++;
    snprintf(p->latest, sizeof p->latest, "%.690s", why);
    if (kind == FAULT_REFUSED)
        return x;
    log_warn("games", "%s", text);
    if (++p->failures >= PROGRAM_FAILURES && !p->quarantine[0])
        enter_quarantine(p);
    return x;
}

/* ---- asking ---- */

struct process *
program_greet(const struct registry_row *row, struct hello *out, struct err *e) {
    const char *argv[REGISTRY_WORDS + 1];
    memcpy(argv, row->command, sizeof argv);
    argv[0] = row->program;
    struct process *process = process_start(argv, row->folder, &row->limits, e);
    if (!process)
        return NULL;
    struct buf line = {0};
    const char *answer;
    size_t n;
    hello_request(&line);
    enum process_fault bad = process_ask(process, (const char *)line.at, line.len,
                                         PROGRAM_START_SECONDS, &answer, &n, e);
    buf_free(&line);
    if (bad == PROCESS_FINE && hello_read(answer, n, out, e) == 0)
        return process;
    process_stop(process);
    return NULL;
}

/* Starts the program if it is not running; a kind of failure and e when that does not work. */
static enum game_fault_kind
wake(struct program *p, struct err *e) {
    char hash[HASH_HEX];
    struct hello now;
    if (p->process)
        return FAULT_NONE;
    if (p->quarantine[0]) {
        err_set(e, "it is in quarantine: %s", p->quarantine);
        return FAULT_REFUSED;
    }
    if (registry_hash_command(p->row.command, p->row.folder, hash, e) < 0)
        return FAULT_REFUSED;
    if (strcmp(hash, p->row.hash) != 0) {
        err_set(e, "its files have changed since it was registered; `agon games add --exec` "
                   "registers it anew");
        return FAULT_REFUSED;
    }
    p->process = program_greet(&p->row, &now, e);
    if (!p->process)
        return FAULT_CRASH;
    bool same = json_equal(now.json, p->hello.json);
    hello_free(&now);
    if (same)
        return FAULT_NONE;
    program_rest(p);
    err_set(e, "the program says other things of itself than when it was registered");
    return FAULT_REFUSED;
}

static int
session_at(const struct program *p, uint64_t key) {
    for (int i = 0; i < p->hello.sessions; i++)
        if (p->session[i].key == key)
            return i;
    return -1;
}

/* The session that was not used for the longest time, other than `but`. */
static int
session_spare(const struct program *p, int but) {
    int best = -1;
    for (int i = 0; i < p->hello.sessions; i++)
        if (i != but && (best < 0 || p->session[i].used < p->session[best].used))
            best = i;
    return best;
}

static void
session_set(struct program *p, int i, uint64_t key) {
    p->session[i] = (struct session){.key = key, .used = ++p->clock};
}

/* What is asked for: a history with the keys of all its positions. */
struct goal {
    const struct position *at;
    uint64_t key[MESSAGE_MAX_PLIES + 1];
    uint32_t plies;
};

static const char *
goal_text(const struct program *p, const struct goal *g, uint32_t ply, size_t *n) {
    return g->at->action[ply] >= TEXT_BIT ? texts_find(&p->texts, g->key[ply + 1], n) : NULL;
}

/* ---- answers ---- */

static struct question *
posted_at(const struct program *p, int i) {
    return &p->posted[(p->first + i) % p->hello.ahead];
}

static bool
is_posted(const struct program *p, uint64_t key) {
    for (int i = 0; i < p->nposted; i++)
        if (posted_at(p, i)->key == key)
            return true;
    return false;
}

/* The sessions as the answer leaves them; false when a position was refused that others need. */
static bool
settle(struct program *p, const struct question *q, bool refused) {
    if (!refused && q->settles)
        session_set(p, q->to, q->key);
    if (refused && p->session[q->to].key == q->key)
        p->session[q->to].key = 0;
    return !refused || q->key == q->goal;
}

/* The program has failed, and with it the position that was asked for. */
static struct cache_entry *
fail(struct program *p, uint64_t key, enum game_fault_kind kind, const struct err *e) {
    process_kill(p->process);
    p->process = NULL;
    forget_sessions(p);
    return add_failure(p, key, kind, e->text);
}

/* Takes the next answer in. */
static void
collect(struct program *p) {
    struct question q = *posted_at(p, 0);
    struct err e;
    const char *answer;
    size_t n;
    p->first = (p->first + 1) % p->hello.ahead;
    p->nposted--;
    enum process_fault bad = process_next(p->process, p->row.deadline, &answer, &n, &e);
    struct scene *s = bad == PROCESS_FINE ? scene_read(answer, n, q.id, &p->hello, &e) : NULL;
    if (s && !settle(p, &q, s->refused)) {
        free(s);
        s = NULL;
        err_set(&e, "the program refused what it had taken before");
    }
    if (!s) {
        fail(p, q.goal, bad == PROCESS_TIME ? FAULT_TIME : FAULT_CRASH, &e);
        return;
    }
    struct cache_entry *x = cache_find(&p->cache, q.key);
    if (!x)
        cache_add(&p->cache, q.key, s);
    else if (x->why)
        cache_replace(&p->cache, x, s);
    else
        free(s); /* known already, and somebody may be reading it */
}

/* ---- asking ---- */

/* Posts the request that has been written, when there is room: false when the program has failed
 * meanwhile. */
static bool
post(struct program *p, struct question q) {
    struct err e;
    while (p->process && p->nposted == p->hello.ahead)
        collect(p);
    if (!p->process)
        return false;
    if (process_post(p->process, (const char *)p->request.at, p->request.len, &e) != PROCESS_FINE) {
        fail(p, q.goal, FAULT_CRASH, &e);
        return false;
    }
    *posted_at(p, p->nposted++) = q;
    if (!q.settles)
        session_set(p, q.to, q.key);
    return true;
}

/* Sets session `to` up with the first `plies` actions. */
static bool
ask_new(struct program *p, const struct goal *g, uint32_t plies, int to) {
    buf_clear(&p->request);
    new_request(&p->request, ++p->id, to, &p->hello, &p->args[g->at->args]);
    for (uint32_t i = 0; i < plies; i++) {
        size_t n;
        const char *text = goal_text(p, g, i, &n);
        if (text)
            new_text(&p->request, text, n);
        else
            new_action(&p->request, g->at->action[i]);
    }
    new_end(&p->request);
    return post(p, (struct question){
                       .key = g->key[plies], .goal = g->key[g->plies], .id = p->id, .to = to});
}

static bool
ask_act(struct program *p, const struct goal *g, int from, int to) {
    size_t n = 0;
    const char *text = goal_text(p, g, g->plies - 1, &n);
    uint64_t key = g->key[g->plies];
    buf_clear(&p->request);
    act_request(&p->request, ++p->id, from, to, g->at->action[g->plies - 1], text, n);
    p->session[from].used = ++p->clock;
    if (from != to)
        p->session[to].key = 0;
    return post(p, (struct question){
                       .key = key, .goal = key, .id = p->id, .to = to, .settles = text != NULL});
}

/* Asks for the goal by the shortest way. Where the program fails meanwhile, is_posted() says no. */
static void
reach(struct program *p, const struct goal *g) {
    if (g->plies == 0) {
        ask_new(p, g, 0, session_spare(p, -1));
        return;
    }
    uint64_t parent = g->key[g->plies - 1];
    while (is_posted(p, parent)) /* it must have been taken */
        collect(p);
    if (!p->process)
        return;
    struct cache_entry *before = cache_find(&p->cache, parent);
    bool copy = before && before->branched && p->hello.copies && p->hello.sessions > 1;
    if (before)
        before->branched = true;
    int from = session_at(p, parent);
    if (from < 0 && copy) {
        from = session_spare(p, -1);
        if (!ask_new(p, g, g->plies - 1, from))
            return;
    }
    if (from < 0)
        ask_new(p, g, g->plies, session_spare(p, -1));
    else
        ask_act(p, g, from, copy ? session_spare(p, from) : from);
}

/* All texts of the history must be known in this process. */
static int
know_texts(const struct program *p, const struct goal *g, struct err *e) {
    size_t n;
    for (uint32_t i = 0; i < g->plies; i++)
        if (g->at->action[i] >= TEXT_BIT && !goal_text(p, g, i, &n))
            return err_set(e, "move %u is a free text that was not played in this process", i);
    return 0;
}

/* A failure counts until it was told, or until another match begins. */
static struct cache_entry *
known(struct program *p, uint64_t key) {
    struct cache_entry *x = cache_find(&p->cache, key);
    return x && x->why && x->epoch != p->epoch ? NULL : x;
}

static void
goal_set(struct goal *g, const struct position *at) {
    g->at = at;
    g->plies = at->plies;
    g->key[0] = root_key(at->args);
    for (uint32_t i = 0; i < g->plies; i++)
        g->key[i + 1] = next_key(g->key[i], at->action[i]);
    ensure(g->key[g->plies] == at->key);
}

static struct cache_entry *
resolve(struct program *p, const struct position *at) {
    struct err e;
    struct goal g;
    struct cache_entry *x = NULL;
    if (at->plies > (uint32_t)p->hello.max_plies) {
        err_set(&e, "the match goes on after its \"max_plies\" of %d", p->hello.max_plies);
        return add_failure(p, at->key, FAULT_CRASH, e.text);
    }
    goal_set(&g, at);
    while (!x) { /* twice, where the program fails at a question that was asked before */
        if (!is_posted(p, at->key)) {
            enum game_fault_kind kind = know_texts(p, &g, &e) < 0 ? FAULT_REFUSED : wake(p, &e);
            if (kind != FAULT_NONE)
                return fail(p, at->key, kind, &e);
            reach(p, &g);
        }
        while (is_posted(p, at->key))
            collect(p);
        x = known(p, at->key);
    }
    return x;
}

static struct cache_entry *
look(struct program *p, const struct position *at) {
    struct cache_entry *x = known(p, at->key);
    if (x)
        return x;
    cache_trim(&p->cache, CACHE_MOST);
    return resolve(p, at);
}

static const struct scene *
scene_of(const void *state) {
    return look(program_of(state), state)->scene;
}

/* ---- moving ---- */

static void
step(const struct program *p, struct position *at, int action) {
    if (at->plies < (uint32_t)p->hello.max_plies)
        at->action[at->plies] = action;
    if (at->plies <= (uint32_t)p->hello.max_plies)
        at->plies++;
    at->key = next_key(at->key, action);
}

/* What the program says of the position behind `action`. */
static struct cache_entry *
look_behind(struct program *p, const struct position *at, int action) {
    struct cache_entry *x = known(p, next_key(at->key, action));
    if (x)
        return x;
    _Alignas(16) unsigned char copy[GAME_MAX_STATE];
    memcpy(copy, at, p->game.state_bytes);
    step(p, (struct position *)copy, action);
    return look(p, (struct position *)copy);
}

/* Asks for the position behind an action that will be taken, and does not wait. */
void
program_foresee(struct program *p, const void *state, int action) {
    const struct position *at = state;
    const struct cache_entry *x = known(p, at->key);
    uint64_t key = next_key(at->key, action);
    if (!p->process || p->nposted == p->hello.ahead || p->hello.ahead == 1 || action >= TEXT_BIT ||
        !x || x->why || at->plies >= (uint32_t)p->hello.max_plies || known(p, key) ||
        is_posted(p, key))
        return;
    _Alignas(16) unsigned char copy[GAME_MAX_STATE];
    memcpy(copy, at, p->game.state_bytes);
    struct position *next = (struct position *)copy;
    step(p, next, action);
    struct goal g;
    struct err e;
    goal_set(&g, next);
    if (know_texts(p, &g, &e) == 0)
        reach(p, &g);
}

static void
apply(void *state, int action) {
    step(program_of(state), state, action);
}

static uint32_t
intern_args(struct program *p, const struct game_args *args) {
    for (size_t i = 0; i < p->nargs; i++)
        if (memcmp(&p->args[i], args, sizeof *args) == 0)
            return (uint32_t)i;
    ensure(p->nargs < ARGS_MOST);
    p->args = mem_grow(p->args, p->nargs + 1, sizeof *p->args);
    p->args[p->nargs] = *args;
    return (uint32_t)p->nargs++;
}

void
program_init(int slot, void *state, const struct game_args *args) {
    struct program *p = extern_program(slot);
    struct position *at = state;
    memset(at, 0, p->game.state_bytes);
    at->slot = (uint32_t)slot;
    at->args = intern_args(p, args);
    at->key = root_key(at->args);
    p->epoch++;
    cache_trim(&p->cache, CACHE_CALM);
    /* Its processor time is bounded: it gets a new life in good time. */
    if (p->process && process_cpu(p->process) > p->row.limits.cpu_seconds / 2)
        program_rest(p);
}

int
program_check(int slot, const struct game_args *args, struct err *e) {
    struct program *p = extern_program(slot);
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
    if (!p->hello.param[0].name)
        return 0;
    program_init(slot, state, args);
    const struct cache_entry *x = look(p, (struct position *)state);
    return x->why ? err_set(e, "%s", x->why) : 0;
}

int
program_max_plies(int slot) {
    return extern_program(slot)->hello.max_plies;
}

double
program_unit(int slot) {
    return extern_program(slot)->hello.unit;
}

/* ---- what the program said ---- */

static int
mover(const void *state) {
    return scene_of(state)->mover;
}

static int
chance(const void *state, struct game_outcome *out) {
    const struct scene *s = scene_of(state);
    out[0] = (struct game_outcome){0, 1}; /* where it has failed, and its mover() would say so */
    for (int i = 0; i < s->count; i++)
        out[i] = (struct game_outcome){s->action[i], s->probability[i]};
    return s->count ? s->count : 1;
}

static int
legal(const void *state, int *out) {
    const struct scene *s = scene_of(state);
    out[0] = 0;
    for (int i = 0; i < s->count; i++)
        out[i] = s->action[i];
    return s->count ? s->count : 1;
}

static double
result(const void *state) {
    struct program *p = program_of(state);
    const struct cache_entry *x = look(p, state);
    if (!x->why)
        p->failures = 0;
    return x->scene->result;
}

static void
rules(const void *state, int who, struct text *out) {
    const struct position *at = state;
    struct program *p = program_of(at);
    const char *text = p->hello.rules[who];
    if (p->hello.param[0].name) {
        _Alignas(16) unsigned char start[GAME_MAX_STATE];
        memcpy(start, at, sizeof *at);
        struct position *first = (struct position *)start;
        first->plies = 0;
        first->key = root_key(first->args);
        const struct scene *s = look(p, first)->scene;
        text = s->rules[who] && *s->rules[who] ? s->rules[who] : text;
    }
    text_put(out, text);
}

static void
observe(const void *state, int who, struct text *out) {
    const struct scene *s = scene_of(state);
    if (s->view[who])
        text_put(out, s->view[who]);
}

static void
narrate(const void *state, int action, int viewer, struct text *out) {
    const struct scene *s = look_behind(program_of(state), state, action)->scene;
    if (s->told[viewer])
        text_put(out, s->told[viewer]);
}

static int
index_of(const struct scene *s, int action) {
    int low = 0, high = s->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (s->action[middle] == action)
            return middle;
        if (s->action[middle] < action)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static void
spell(const void *state, int action, struct text *out) {
    struct program *p = program_of(state);
    const struct position *at = state;
    const struct scene *s = scene_of(state);
    size_t n = 0;
    int i = index_of(s, action);
    const char *text = texts_find(&p->texts, next_key(at->key, action), &n);
    if (i >= 0) {
        text_put(out, s->word[i]);
    } else if (action >= TEXT_BIT && text) {
        char word[GAME_WORD];
        text_add(out, word, game_clean_words(text, n, word, sizeof word));
    } else {
        text_int(out, action);
    }
}

/* ---- free texts ---- */

static bool
same_word(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char x = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] | 0x20) : a[i];
        char y = b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] | 0x20) : b[i];
        if (x != y)
            return false;
    }
    return true;
}

static int
listed_action(const struct scene *s, const char *word, size_t n) {
    for (int i = 0; i < s->count; i++)
        if (strlen(s->word[i]) == n && same_word(s->word[i], word, n))
            return s->action[i];
    return -1;
}

/* A listed word, also in square brackets; else, where the program takes any text, the text's
 * own number, if the program takes this one. */
static int
parse(const void *state, const char *word, size_t n) {
    const struct position *at = state;
    struct program *p = program_of(at);
    const struct scene *s = look(p, at)->scene;
    int action = listed_action(s, word, n);
    if (action < 0 && n > 2 && word[0] == '[' && word[n - 1] == ']')
        action = listed_action(s, word + 1, n - 2);
    if (action >= 0 || !s->open || n == 0 || n >= GAME_TEXT || utf8_valid(word, n) != n ||
        memchr(word, 0, n))
        return action;
    action = TEXT_BIT | (int)(hash_fnv(word, n) & MESSAGE_MAX_ACTION);
    if (!texts_add(&p->texts, next_key(at->key, action), word, n))
        return -1;
    return look_behind(p, at, action)->scene->refused ? -1 : action;
}

static bool
allows(const void *state, int action) {
    const struct position *at = state;
    struct program *p = program_of(at);
    const struct scene *s = look(p, at)->scene;
    size_t n;
    if (index_of(s, action) >= 0)
        return true;
    return s->open && action >= TEXT_BIT && texts_find(&p->texts, next_key(at->key, action), &n) &&
           !look_behind(p, at, action)->scene->refused;
}

/* An open program reads whole replies, which is what having this function asks for; the words
 * themselves come with the action. */
static void
say(void *state, const char *words, size_t n) {
    (void)state;
    (void)words;
    (void)n;
}

/* ---- the game ---- */

const char *
program_fault(struct program *p, const void *state, enum game_fault_kind *kind) {
    const struct cache_entry *x = look(p, state);
    if (kind)
        *kind = (enum game_fault_kind)x->fault;
    if (x->why)
        p->epoch++; /* one match has ended by it; the next one at this position tries again */
    return x->why;
}

uint64_t
program_faults(const struct program *p, const char **latest) {
    if (latest)
        *latest = p->latest;
    return p->faults;
}

const struct game *
program_game(const struct program *p) {
    return &p->game;
}

static void
make_game(struct program *p) {
    const struct slot_hooks *own = &slot_hooks[p->slot];
    size_t bytes = sizeof(struct position) + (size_t)p->hello.max_plies * sizeof(int32_t);
    p->game = (struct game){
        .name = p->hello.name,
        .title = p->hello.title,
        .version = p->row.version,
        .flags = p->hello.flags | GAME_HISTORY,
        .state_bytes = (bytes + 15) / 16 * 16,
        .params = p->hello.param,
        .check = own->check,
        .max_plies = own->max_plies,
        .unit = own->unit,
        .init = own->init,
        .mover = mover,
        .chance = chance,
        .legal = legal,
        .apply = apply,
        .result = result,
        .rules = rules,
        .observe = observe,
        .narrate = narrate,
        .spell = spell,
        .parse = p->hello.open ? parse : NULL,
        .say = p->hello.open ? say : NULL,
        .allows = p->hello.open ? allows : NULL,
    };
}

struct program *
program_new(int slot, const struct registry_row *row, struct err *e) {
    struct program *p = mem_zero(1, sizeof *p);
    p->slot = slot;
    p->row = *row;
    if (hello_check(row->hello, &p->hello, e) < 0) {
        err_prefix(e, "game %s", row->name);
        free(p);
        return NULL;
    }
    json_incref(p->row.json);
    p->hello.json = json_object_get(p->row.json, "hello");
    p->session = mem_zero((size_t)p->hello.sessions, sizeof *p->session);
    p->posted = mem_zero((size_t)p->hello.ahead, sizeof *p->posted);
    make_game(p);
    return p;
}
