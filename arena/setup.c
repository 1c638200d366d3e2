/* Options to the things they name, with the checks that need more than one option. */
#include "arena/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/player.h"

static void
load_model(struct model_config *m, const struct conf *c) {
    *m = (struct model_config){
        .vocab = TOKEN_COUNT,
        .dim = (int)conf_int(c, "model.dim"),
        .layers = (int)conf_int(c, "model.layers"),
        .heads = (int)conf_int(c, "model.heads"),
        .kv_heads = (int)conf_int(c, "model.kv_heads"),
        .hidden = (int)conf_int(c, "model.hidden"),
        .context = (int)conf_int(c, "model.context"),
        .tied = conf_bool(c, "model.tied"),
        .rope_theta = (float)conf_real(c, "model.rope_theta"),
        .norm_eps = (float)conf_real(c, "model.norm_eps"),
    };
}

/* The first prompt and reply of a match must fit in the context, or nothing could ever be said. */
static int
check_context(const struct setup *s, const struct setup_game *g, struct err *e) {
    _Alignas(16) unsigned char state[GAME_MAX_STATE] = {0};
    char rules[GAME_TEXT];
    struct text t;
    g->game->init(state, &g->args);
    text_init(&t, rules, sizeof rules);
    g->game->rules(state, 0, &t);
    struct tokens prompt = {0};
    prompt_build(s->prompt, 0, &(struct prompt_parts){.rules = rules, .game = g->game->name},
                 &prompt);
    size_t need = prompt.n + (size_t)s->max_reply;
    tokens_free(&prompt);
    if (need > (size_t)s->model.context)
        return err_set(e,
                       "model.context: %d tokens are too few for %s: the prompt without any view "
                       "and a reply of prompt.max_reply take %zu",
                       s->model.context, g->game->name, need);
    return 0;
}

static int
check_games(const struct setup *s, struct err *e) {
    for (size_t i = 0; i < s->ngames; i++) {
        const struct setup_game *g = &s->games[i];
        if (g->game->say && strcmp(s->answer->name, "whole"))
            return err_set(e,
                           "prompt.answer: players talk in %s, and the game itself finds the "
                           "action in the whole reply: use whole",
                           g->game->name);
        if (check_context(s, g, e) < 0)
            return -1;
    }
    return 0;
}

/* Every word of a list of scripted players must name one. */
static int
check_opponents(const struct conf *c, const char *key, struct err *e) {
    for (const char *at = conf_text(c, key); *at;) {
        size_t n = strcspn(at, " ");
        char name[128];
        if (n >= sizeof name)
            return err_set(e, "%s: a player's name is longer than %zu bytes", key, sizeof name - 1);
        memcpy(name, at, n);
        name[n] = '\0';
        if (n && !player_is_scripted(name))
            return err_set(e, "%s: there is no scripted player \"%s\"", key, name);
        at += n + (at[n] == ' ');
    }
    return 0;
}

int
setup_game_parse(struct setup_game *g, const char *spec, struct err *e) {
    struct text t;
    *g = (struct setup_game){.weight = 1};
    if (game_spec_parse(spec, &g->game, &g->args, e) < 0)
        return -1;
    text_init(&t, g->spec, sizeof g->spec);
    game_spec_text(g->game, &g->args, &t);
    return 0;
}

static int
load_games(struct setup *s, const struct conf *c, struct err *e) {
    struct conf_game list[CONF_MAX_GAMES];
    size_t n = conf_games(c, list);
    const char *key = n > 1 ? "games" : "game";
    if (strlen(conf_text(c, "game")) >= CONF_MAX_SPEC)
        return err_set(e, "%s: no game has a name of %zu bytes", key, strlen(conf_text(c, "game")));
    s->games = mem_zero(n, sizeof *s->games);
    for (s->ngames = 0; s->ngames < n; s->ngames++) {
        struct setup_game *g = &s->games[s->ngames];
        if (setup_game_parse(g, list[s->ngames].name, e) < 0)
            return err_prefix(e, "%s", key);
        g->weight = list[s->ngames].weight;
        for (size_t i = 0; i < s->ngames; i++)
            if (!strcmp(s->games[i].spec, g->spec))
                return err_set(e, "games: %s and %s are the same game; keep one of the two",
                               list[i].name, list[s->ngames].name);
    }
    *s = setup_view(s, &s->games[0]);
    return 0;
}

static int
load_prompt(struct setup *s, const struct conf *c, struct err *e) {
    s->answer = answer_find(conf_text(c, "prompt.answer"), e);
    if (!s->answer)
        return err_prefix(e, "prompt.answer");
    enum prompt_mode mode =
        conf_text(c, "prompt.mode")[0] == 'c' ? PROMPT_CONVERSATION : PROMPT_OBSERVATION;
    s->prompt =
        prompt_new(conf_text(c, "prompt.template"), conf_text(c, "prompt.follow_up"), mode, e);
    return s->prompt ? 0 : -1;
}

int
setup_load(struct setup *s, const struct conf *c, struct err *e) {
    *s = (struct setup){
        .seed = (uint64_t)conf_int(c, "seed"),
        .head = {.temperature = (float)conf_real(c, "sampling.temperature"),
                 .top_p = (float)conf_real(c, "sampling.top_p")},
        .max_reply = (int)conf_int(c, "prompt.max_reply"),
        .retries = (int)conf_int(c, "match.retries"),
        .max_turns = (int)conf_int(c, "match.max_turns"),
        .spiral = conf_text(c, "match.invalid")[0] == 's',
    };
    load_model(&s->model, c);
    int bad = load_games(s, c, e);
    if (bad || model_config_check(&s->model, e) < 0 || load_prompt(s, c, e) < 0 ||
        check_games(s, e) < 0 || check_opponents(c, "schedule.opponents", e) < 0 ||
        check_opponents(c, "eval.opponents", e) < 0) {
        setup_free(s);
        return -1;
    }
    return 0;
}

struct setup
setup_view(const struct setup *s, const struct setup_game *g) {
    struct setup view = *s;
    view.game = g->game;
    view.args = g->args;
    memcpy(view.spec, g->spec, sizeof view.spec);
    return view;
}

void
setup_free(struct setup *s) {
    prompt_free(s->prompt);
    free(s->games);
    s->prompt = NULL;
    s->games = NULL;
    s->ngames = 0;
}
