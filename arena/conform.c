/* One match at a time: the game's state goes along with the recorded steps. Files are not trusted:
 * what is missing or of another type is an error of the file, not a crash. */
#include "arena/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arena/conform-int.h"
#include "base/buf.h"
#include "base/file.h"

enum { FILE_MAX = 64 << 20, DEAL_MAX = 64 };

struct conform {
    const char *path;
    const struct conform_env *env; /* NULL before the first line */
    const struct game *g;
    struct game_args args;
    void (*tell)(void *arg, const struct conform_difference *d);
    void *arg;
    struct conform_count *count;
    struct err *e;

    /* the match in hand */
    int line;
    long long match;
    int step;
    int wrong; /* illegal replies in a row */
    struct buf reply;
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

/* What replaying came to. */
enum { GO_ON = 0, DIFFERS = 1, UNREADABLE = -1 };

static int differs(struct conform *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int
differs(struct conform *c, const char *fmt, ...) {
    char what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    c->count->differences++;
    if (c->tell)
        c->tell(c->arg, &(struct conform_difference){c->line, c->match, c->step, what});
    return DIFFERS;
}

static int
unreadable(struct conform *c, const char *what) {
    return err_set(c->e, "%s:%d: %s", c->path, c->line, what);
}

/* ---- chance ---- */

static int
take_outcome(struct conform *c, int outcome, long long draw) {
    if (c->g->mover(c->state) != GAME_CHANCE)
        return differs(c, "%lld is drawn, but nothing is to be drawn", draw);
    if (outcome < 0 || !game_is_legal(c->g, c->state, outcome))
        return differs(c, "%lld is drawn, which cannot be", draw);
    c->g->apply(c->state, outcome);
    return GO_ON;
}

static int
take_draws(struct conform *c, const json_t *draws) {
    for (size_t i = 0; i < json_array_size(draws); i++) {
        json_int_t draw = json_integer_value(json_array_get(draws, i));
        /* The original rolls dice after the end too. */
        if (!c->env->outcome || c->g->mover(c->state) == GAME_OVER)
            return GO_ON;
        int outcome =
            c->g->mover(c->state) == GAME_CHANCE ? c->env->outcome(c->g, c->state, draw) : -1;
        if (take_outcome(c, outcome, draw))
            return DIFFERS;
    }
    if (c->g->mover(c->state) == GAME_CHANCE)
        return differs(c, "something is to be drawn, but nothing is");
    return GO_ON;
}

static int
deal(struct conform *c, const json_t *match) {
    if (!c->env->deal)
        return take_draws(c, json_object_get(match, "chance"));
    int outcome[DEAL_MAX];
    int n = c->env->deal(match, outcome, DEAL_MAX);
    for (int i = 0; i < n; i++)
        if (take_outcome(c, outcome[i], outcome[i]))
            return DIFFERS;
    return GO_ON;
}

/* ---- steps ---- */

static bool
is_bare(const char *reply) {
    return !strchr(reply, '[') && !strchr(reply, ']');
}

/* The action that a reply means in the original, -1: none. */
static int
read_reply(struct conform *c, const char *reply) {
    char at[CONFORM_WORD];
    struct text word;
    text_init(&word, at, sizeof at);
    if (c->env->bare && is_bare(reply)) {
        buf_clear(&c->reply);
        buf_fmt(&c->reply, "[%s]", reply);
        reply = buf_text(&c->reply);
    }
    if (!c->env->read) {
        /* Without brackets it can only be talk. */
        const char *talk = is_bare(reply) ? "..." : reply;
        return game_parse(c->g, c->state, talk, strlen(talk));
    }
    if (!c->env->read(c->env, reply, &word) || word.cut)
        return -1;
    return game_parse(c->g, c->state, at, word.len);
}

static void
take_action(struct conform *c, const char *reply, int action) {
    char words[GAME_TALK + 1];
    if (c->g->say)
        c->g->say(c->state, words, game_clean_words(reply, strlen(reply), words, sizeof words));
    c->g->apply(c->state, action);
}

/* `last`: no step follows. */
static int
replay_step(struct conform *c, const json_t *step, bool last, int allowance) {
    const json_t *reply_json = json_array_get(step, 1);
    const char *reply = json_string_value(reply_json);
    if (!json_is_integer(json_array_get(step, 0)) || !reply ||
        !json_is_integer(json_array_get(step, 2)))
        return unreadable(c, "a step must be [player, \"reply\", 1 or 0, [draws]]");
    json_int_t seat = json_integer_value(json_array_get(step, 0));
    bool was_legal = json_integer_value(json_array_get(step, 2)) != 0;
    if (c->wrong > allowance)
        return differs(c, "the match should have ended by the illegal reply before");
    int mover = c->g->mover(c->state);
    if (mover == GAME_OVER && c->env->idle && last)
        return GO_ON;
    if (mover != seat)
        return differs(c, "player %lld replies, but %s", (long long)seat,
                       mover == GAME_OVER     ? "the match is over"
                       : mover == GAME_CHANCE ? "something is to be drawn"
                                              : "the other one is to move");
    int action = read_reply(c, reply);
    c->count->steps++;
    if (c->env->dies && action < 0) {
        c->wrong = allowance + 1;
        return GO_ON;
    }
    if ((action >= 0) != was_legal)
        return differs(c, "'%.60s' was %s, but is %s", reply, was_legal ? "legal" : "illegal",
                       was_legal ? "illegal" : "legal");
    c->wrong = was_legal ? 0 : c->wrong + 1;
    if (!was_legal)
        return GO_ON;
    take_action(c, reply, action);
    return take_draws(c, json_array_get(step, 3));
}

/* ---- the end ---- */

static int
check_pay(struct conform *c, const json_t *match, double pay0, double pay1) {
    const json_t *rewards = json_object_get(match, "rewards");
    double got[2] = {json_number_value(json_object_get(rewards, "0")),
                     json_number_value(json_object_get(rewards, "1"))};
    if (got[0] < pay0 || got[0] > pay0 || got[1] < pay1 || got[1] > pay1)
        return differs(c, "it paid %g and %g, but must pay %g and %g", got[0], got[1], pay0, pay1);
    return GO_ON;
}

static int
check_end(struct conform *c, const json_t *match, const json_t *last, int allowance) {
    const char *end = json_string_value(json_object_get(match, "end"));
    if (!end)
        return unreadable(c, "a match must have its \"end\"");
    c->step = -1;
    int loser = (int)json_integer_value(json_array_get(last, 0));
    bool invalid = strcmp(end, "invalid") == 0;
    if (invalid || (c->env->dies && c->wrong > allowance)) {
        if (c->wrong <= allowance)
            return differs(c, "it ended as invalid, but not by an illegal reply too many");
        double lost[2] = {c->env->cheap ? 0 : 1, c->env->cheap ? 0 : 1};
        lost[loser == 1] = -1;
        return check_pay(c, match, lost[0], lost[1]);
    }
    if (c->wrong && c->env->passes)
        c->g->apply(c->state, 0);
    if (c->g->mover(c->state) != GAME_OVER)
        return differs(c, "it ended, but goes on by the rules");
    double pay = c->g->result(c->state);
    if ((strcmp(end, "draw") == 0) != !(pay < 0 || pay > 0))
        return differs(c, "it ended as %.20s, but pays %g", end, pay);
    return check_pay(c, match, pay, -pay);
}

/* Why a match is left out; NULL: it is not. */
static const char *
known_fault(const struct conform *c, const json_t *match) {
    const char *style = json_string_value(json_object_get(match, "style"));
    int out[DEAL_MAX];
    if (c->env->deal && c->env->deal(match, out, DEAL_MAX) < 0)
        return "the original deals what cannot be dealt";
    for (const struct conform_fault *f = c->env->faults; f && f->style; f++)
        if (style && strcmp(f->style, style) == 0)
            return f->reason;
    return NULL;
}

static int
replay_match(struct conform *c, const json_t *match) {
    const json_t *steps = json_object_get(match, "steps");
    size_t n = json_array_size(steps);
    if (!json_is_array(steps) || n == 0)
        return unreadable(c, "a match must have \"steps\"");
    c->match = json_integer_value(json_object_get(match, "match"));
    c->step = -1;
    c->wrong = 0;
    if (known_fault(c, match)) {
        c->count->skipped++;
        return GO_ON;
    }
    json_int_t allowance = json_integer_value(json_object_get(match, "error_allowance"));
    if (allowance < 0 || allowance > 1000)
        return unreadable(c, "\"error_allowance\" must be a number from 0 to 1000");
    c->count->matches++;
    c->g->init(c->state, &c->args);
    int result = deal(c, match);
    for (size_t i = 0; i < n && result == GO_ON; i++) {
        c->step = (int)i;
        result = replay_step(c, json_array_get(steps, i), i + 1 == n, (int)allowance);
    }
    if (result != GO_ON)
        return result;
    return check_end(c, match, json_array_get(steps, n - 1), (int)allowance);
}

/* ---- the file ---- */

const char *
conform_env_name(int i) {
    for (int at = 0; conform_envs[at].name; at++)
        if (at == i)
            return conform_envs[at].name;
    return NULL;
}

static int
find_env(struct conform *c, const char *name) {
    char known[500];
    struct text list;
    text_init(&list, known, sizeof known);
    for (const struct conform_env *env = conform_envs; env->name; env++) {
        if (strcmp(env->name, name) == 0) {
            c->env = env;
            return 0;
        }
        text_fmt(&list, "%s%s", list.len ? ", " : "", env->name);
    }
    return err_set(c->e, "%s:%d: the environment '%.60s' is none of %s", c->path, c->line, name,
                   known);
}

static int
read_head(struct conform *c, const json_t *head) {
    const char *name = json_string_value(json_object_get(head, "env"));
    if (!name)
        return unreadable(c, "the first line must name the environment: {\"env\": ...}");
    if (find_env(c, name))
        return -1;
    json_t *params = json_loads(c->env->params, 0, NULL);
    bool same = json_equal(params, json_object_get(head, "params"));
    json_decref(params);
    if (!same)
        return err_set(c->e, "%s:%d: %s can be checked with the parameters %s only", c->path,
                       c->line, name, c->env->params);
    if (game_spec_parse(c->env->spec, &c->g, &c->args, c->e))
        return err_prefix(c->e, "%s", c->path);
    return 0;
}

static int
read_line(struct conform *c, const char *at, size_t n) {
    json_error_t why;
    json_t *line = json_loadb(at, n, 0, &why);
    if (!line)
        return err_set(c->e, "%s:%d: this is not JSON: %.100s", c->path, c->line, why.text);
    int result = c->env ? replay_match(c, line) : read_head(c, line);
    json_decref(line);
    return result == UNREADABLE ? -1 : 0;
}

static int
read_lines(struct conform *c, const struct buf *file) {
    const char *at = (const char *)file->at, *end = at + file->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        c->line++;
        if (stop > at && read_line(c, at, (size_t)(stop - at)))
            return -1;
        at = stop + 1;
    }
    return c->env ? 0 : err_set(c->e, "%s: the file is empty", c->path);
}

int
conform_file(const char *path, void (*tell)(void *arg, const struct conform_difference *d),
             void *arg, struct conform_count *count, struct err *e) {
    struct conform c = {.path = path, .tell = tell, .arg = arg, .count = count, .e = e};
    struct buf file = {0};
    int bad = file_read(path, FILE_MAX, &file, e) || read_lines(&c, &file);
    buf_free(&file);
    buf_free(&c.reply);
    return bad ? -1 : 0;
}
