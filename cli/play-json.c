/* agon play --json: a match as lines of JSON, one event a line. Out come start, told, turn,
 * refused, slip, end and error; in come {"reply": "..."} and {"quit": true}. The server runs it for
 * people who play at its page (arena/api-play.c); docs/commands.md has the fields. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/play.h"

#define LINE_MOST 65536

/* Text that players wrote may be no UTF-8. */
static json_t *
text_json(const char *s, size_t n) {
    struct buf out = {0};
    if (utf8_valid(s, n) != n)
        for (size_t i = 0; i < n; i++)
            buf_fmt(&out, s[i] >= ' ' && s[i] < 0x7f ? "%c" : "\\x%02x", (unsigned char)s[i]);
    json_t *v = out.len ? json_stringn((const char *)out.at, out.len) : json_stringn(s, n);
    buf_free(&out);
    return v ? v : json_string("");
}

static void
print_event(json_t *event) {
    json_dumpf(event, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putchar('\n');
    fflush(stdout);
    json_decref(event);
}

void
play_json_error(const struct err *e) {
    print_event(
        json_pack("{s:s,s:o}", "event", "error", "message", text_json(e->text, strlen(e->text))));
}

static json_t *
seen_json(void (*write)(const void *, int, struct text *), const struct play *p) {
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    write(p->state, p->me, &t);
    return text_json(text, t.len);
}

static json_t *
drawing_json(const struct play *p) {
    char text[GAME_TEXT];
    struct text t;
    if (!p->setup.game->draw)
        return json_null();
    text_init(&t, text, sizeof text);
    p->setup.game->draw(p->state, &t);
    return text_json(text, t.len);
}

static void
greet(const struct play *p, long long seed) {
    const struct store_policy *o = &p->opponent;
    char label[48], number[24], policy[24];
    run_policy_label(o, label);
    snprintf(number, sizeof number, "%lld", seed);
    snprintf(policy, sizeof policy, "%lld", (long long)o->id);
    print_event(json_pack("{s:s,s:s,s:s,s:i,s:{s:s,s:s,s:s,s:I},s:s,s:b,s:b,s:o}", "event", "start",
                          "game", p->setup.spec, "title", p->setup.game->title, "seat", p->me,
                          "against", "kind", o->kind, "label", label, "policy_id", policy, "step",
                          (json_int_t)o->step, "seed", number, "talk", p->setup.game->say != NULL,
                          "trained_on_it", p->model && run_plays(&p->run, p->setup.game), "rules",
                          seen_json(p->setup.game->rules, p)));
}

static void
tell(const char *text, size_t n) {
    print_event(json_pack("{s:s,s:o}", "event", "told", "text", text_json(text, n)));
}

static void
slip(const char *reply, size_t n) {
    print_event(json_pack("{s:s,s:o}", "event", "slip", "reply", text_json(reply, n)));
}

static void
result(const struct play *p, double value, bool forfeit) {
    double mine = p->me ? -value : value;
    print_event(json_pack("{s:s,s:s,s:f,s:f,s:o}", "event", "end", "reason",
                          forfeit ? "invalid" : "play", "result", mine, "chips",
                          mine * p->setup.game->unit(&p->setup.args), "drawing", drawing_json(p)));
}

static void
add_word(json_t *list, const struct play *p, int action) {
    char word[GAME_WORD];
    struct text t;
    text_init(&t, word, sizeof word);
    p->setup.game->spell(p->state, action, &t);
    json_array_append_new(list, text_json(word, t.len));
}

static void
ask(const struct play *p) {
    const struct game *g = p->setup.game;
    int legal[GAME_MAX_ACTIONS], n = g->legal(p->state, legal);
    json_t *words = json_array();
    for (int i = 0; i < n; i++)
        add_word(words, p, legal[i]);
    bool open = g->flags & GAME_PERFECT_INFO;
    print_event(json_pack("{s:s,s:o,s:o,s:o}", "event", "turn", "view", seen_json(g->observe, p),
                          "drawing", open ? drawing_json(p) : json_null(), "legal", words));
}

static void
refuse(const char *why) {
    print_event(json_pack("{s:s,s:s}", "event", "refused", "message", why));
}

/* One line of input, taken in: PLAY_ON when it was a move. *again: it was neither move nor end. */
static enum play_step
take_line(struct play *p, const char *line, size_t n, bool *again) {
    json_t *v = n <= LINE_MOST ? json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *reply = json_string_value(json_object_get(v, "reply"));
    bool quits = json_is_true(json_object_get(v, "quit"));
    int action = reply ? game_parse(p->setup.game, p->state, reply, strlen(reply)) : -1;
    *again = !quits && action < 0;
    if (*again)
        refuse(reply ? "this is no legal move here" : "{\"reply\": \"...\"} is needed");
    else if (!quits)
        play_apply(p, action, reply);
    json_decref(v);
    return quits ? PLAY_LEFT : PLAY_ON;
}

static enum play_step
person_moves(struct play *p) {
    char *line = NULL;
    size_t cap = 0;
    bool again = true;
    enum play_step step = PLAY_LEFT;
    ask(p);
    while (again) {
        ssize_t n = getline(&line, &cap, stdin);
        if (n < 0)
            break;
        step = take_line(p, line, (size_t)n, &again);
    }
    free(line);
    return again ? PLAY_LEFT : step;
}

const struct play_face play_json = {greet, tell, person_moves, slip, result};
