/* Texts that are too long lose matches, and from those alone nothing can be learned. How long the
 * texts of a game are nobody can say but the game, by being played. What is too long for the first
 * thing that a seat says is too long for ever, and an error; what grows too long on the way may be
 * meant so, and is told. */
#include "cli/fit.h"

#include <stdio.h>

#include "arena/match.h"
#include "base/clock.h"
#include "games/extern/extern.h"

#define MATCHES 32
#define SECONDS 4

struct fit {
    const struct setup *s; /* with the game in view */
    size_t turns, matches;
    size_t long_contexts, long_replies; /* turns whose prompt and reply, or reply, do not fit */
    size_t began[2], began_long[2];  /* seats that were asked, and for which already that is so */
    size_t most_context, most_reply; /* tokens */
};

static void
measure(void *arg, const struct store_match *m) {
    struct fit *f = arg;
    bool grows = prompt_mode(f->s->prompt) == PROMPT_CONVERSATION, asked[2] = {false, false};
    size_t said[2] = {0, 0};
    for (size_t i = 0; i < m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        size_t need = said[t->seat] + t->nprompt + t->ntokens;
        bool too_long = need > (size_t)f->s->model.context;
        f->turns++;
        f->long_contexts += too_long;
        f->long_replies += t->ntokens > (size_t)f->s->max_reply;
        f->most_context = need > f->most_context ? need : f->most_context;
        f->most_reply = t->ntokens > f->most_reply ? t->ntokens : f->most_reply;
        if (!asked[t->seat]) {
            f->began[t->seat]++;
            f->began_long[t->seat] += too_long;
        }
        asked[t->seat] = true;
        said[t->seat] = grows ? need : 0;
    }
    f->matches++;
}

static int
play(struct fit *f, struct err *e) {
    int64_t until = clock_mono_us() + SECONDS * 1000000ll;
    struct runner *r = runner_new(f->s);
    int status = runner_add_scripted(r, 1, "random", e);
    for (int i = 0; !status && i < MATCHES; i++) {
        struct match_job job = {.id = i + 1, .kind = MATCH_WARMUP, .deal = i + 1, .policy = {1, 1}};
        runner_start(r, &job);
    }
    while (runner_active(r) && clock_mono_us() < until)
        runner_step(r, measure, f);
    runner_free(r);
    return status;
}

/* Room for what was seen, and an eighth more: longer texts than those are to be expected. */
static size_t
advise(size_t most) {
    return (most + most / 8 + 31) / 32 * 32;
}

static bool
never_begins(const struct fit *f) {
    return (f->began[0] && f->began_long[0] == f->began[0]) ||
           (f->began[1] && f->began_long[1] == f->began[1]);
}

static int
judge(const struct fit *f, struct err *e) {
    const char *name = f->s->game->name;
    if (f->turns && f->long_replies == f->turns)
        return err_set(e,
                       "prompt.max_reply: %d tokens are too few for %s: the replies of random "
                       "players took up to %zu; try --set prompt.max_reply=%zu",
                       f->s->max_reply, name, f->most_reply, f->most_reply);
    if (never_begins(f))
        return err_set(e,
                       "model.context: %d tokens are too few for %s: prompts with their replies "
                       "took up to %zu in %zu random matches; try --set model.context=%zu",
                       f->s->model.context, name, f->most_context, f->matches,
                       advise(f->most_context));
    if (f->long_replies)
        printf("Note: prompt.max_reply (%d) is too short for %zu of %zu replies of random players "
               "in %s; the longest took %zu tokens.\n",
               f->s->max_reply, f->long_replies, f->turns, name, f->most_reply);
    if (f->long_contexts)
        printf("Note: model.context (%d) is too short for %zu of %zu turns of random players in "
               "%s, and a reply that has no room loses the match; %zu tokens would do.\n",
               f->s->model.context, f->long_contexts, f->turns, name, advise(f->most_context));
    fflush(stdout);
    return 0;
}

int
fit_check(const struct setup *s, struct err *e) {
    int status = 0;
    for (size_t i = 0; !status && i < s->ngames; i++) {
        struct setup view = setup_view(s, &s->games[i]);
        struct fit f = {.s = &view};
        status = play(&f, e);
        if (!status)
            status = judge(&f, e);
    }
    extern_rest();
    return status;
}
