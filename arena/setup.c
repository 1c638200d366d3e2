/* Options to the things they name, with the checks that need more than one option. */
#include "arena/setup.h"

#include <string.h>

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
check_context(const struct setup *s, struct err *e) {
    _Alignas(16) unsigned char state[GAME_MAX_STATE] = {0};
    char rules[GAME_TEXT];
    struct text t;
    s->game->init(state, &s->args);
    text_init(&t, rules, sizeof rules);
    s->game->rules(state, 0, &t);
    struct tokens prompt = {0};
    prompt_build(s->prompt, 0, &(struct prompt_parts){.rules = rules}, &prompt);
    size_t need = prompt.n + (size_t)s->max_reply;
    tokens_free(&prompt);
    if (need > (size_t)s->model.context)
        return err_set(e,
                       "model.context: %d tokens are too few: the prompt without any view and a "
                       "reply of prompt.max_reply take %zu",
                       s->model.context, need);
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
    if (game_spec_parse(conf_text(c, "game"), &s->game, &s->args, e) < 0)
        return err_prefix(e, "game");
    struct text spec;
    text_init(&spec, s->spec, sizeof s->spec);
    game_spec_text(s->game, &s->args, &spec);
    load_model(&s->model, c);
    if (model_config_check(&s->model, e) < 0)
        return err_prefix(e, "model");
    s->answer = answer_find(conf_text(c, "prompt.answer"), e);
    if (!s->answer)
        return err_prefix(e, "prompt.answer");
    if (s->game->say && strcmp(s->answer->name, "whole"))
        return err_set(e,
                       "prompt.answer: players talk in %s, and the game itself finds the action in "
                       "the whole reply: use whole",
                       s->game->name);
    enum prompt_mode mode =
        conf_text(c, "prompt.mode")[0] == 'c' ? PROMPT_CONVERSATION : PROMPT_OBSERVATION;
    s->prompt =
        prompt_new(conf_text(c, "prompt.template"), conf_text(c, "prompt.follow_up"), mode, e);
    if (!s->prompt)
        return err_prefix(e, "prompt.template");
    if (check_context(s, e) < 0 || check_opponents(c, "schedule.opponents", e) < 0 ||
        check_opponents(c, "eval.opponents", e) < 0) {
        setup_free(s);
        return -1;
    }
    return 0;
}

void
setup_free(struct setup *s) {
    prompt_free(s->prompt);
    s->prompt = NULL;
}
