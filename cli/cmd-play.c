/* agon play: a person against a snapshot or a scripted player, in the terminal. An input that is no
 * legal move is asked for again: people are not punished for slips, players are. Nothing is
 * recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/reply.h"
#include "arena/verify.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/play.h"
#include "cli/table.h"
#include "games/extern/extern.h"

void
play_apply(struct play *p, int action, const char *words) {
    const struct game *g = p->setup.game;
    if (words)
        reply_say(&p->setup, p->state, words, strlen(words));
    char line[GAME_TEXT];
    struct text t;
    text_init(&t, line, sizeof line);
    g->narrate(p->state, action, p->me, &t);
    if (t.len)
        p->face->tell(line, t.len);
    text_init(&t, line, sizeof line);
    g->narrate(p->state, action, 1 - p->me, &t);
    if (t.len)
        buf_fmt(&p->history, "%s\n", line);
    g->apply(p->state, action);
}

/* ---- the terminal ---- */

static void
tell(const char *text, size_t n) {
    term_block(stdout, "", text, n);
}

static void
show_rules(const struct play *p) {
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    p->setup.game->rules(p->state, p->me, &t);
    term_block(stdout, "", text, t.len);
}

static void
show_view(const struct play *p) {
    const struct game *g = p->setup.game;
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    if (g->draw && (g->flags & GAME_PERFECT_INFO))
        g->draw(p->state, &t);
    else
        g->observe(p->state, p->me, &t);
    putchar('\n');
    term_block(stdout, "", text, t.len);
}

static void
ask(const struct play *p) {
    char words[GAME_TEXT];
    struct text t;
    struct buf shown = {0};
    text_init(&t, words, sizeof words);
    game_spell_legal(p->setup.game, p->state, &t);
    term_escape(&shown, words, t.len, false);
    printf("Your move (%.1500s%s): ", buf_text(&shown), shown.len > 1500 ? "..." : "");
    fflush(stdout);
    buf_free(&shown);
}

static enum play_step
person_moves(struct play *p) {
    char *line = NULL;
    size_t cap = 0;
    show_view(p);
    for (;;) {
        ask(p);
        ssize_t n = getline(&line, &cap, stdin);
        if (n < 0) {
            free(line);
            puts("\nYou left the match.");
            return PLAY_LEFT;
        }
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        bool rules = !strcmp(line, "?") || !strcmp(line, "rules"), quits = !strcmp(line, "quit");
        int action = -1;
        /* Where players talk, every line would be a move. */
        if (!p->setup.game->say || (!rules && !quits))
            action = game_parse(p->setup.game, p->state, line, (size_t)n);
        if (action >= 0) {
            play_apply(p, action, line);
            free(line);
            return PLAY_ON;
        }
        if (rules) {
            show_rules(p);
        } else if (quits) {
            free(line);
            return PLAY_LEFT;
        } else {
            struct buf said = {0};
            term_quote(&said, line, n > 80 ? 80 : (size_t)n);
            printf("%s is no legal move here. Type one of the words, ? for the rules, or quit.\n",
                   buf_text(&said));
            buf_free(&said);
        }
    }
}

static void
slip(const char *reply, size_t n) {
    struct buf shown = {0};
    term_quote(&shown, reply, n);
    printf("The opponent answers %s, which is no legal move.\n", buf_text(&shown));
    buf_free(&shown);
}

static void
show_result(const struct play *p, double result, bool forfeit) {
    (void)forfeit;
    double mine = p->me ? -result : result, chips = mine * p->setup.game->unit(&p->setup.args);
    printf("\n%s", mine > 0 ? "You win" : mine < 0 ? "You lose" : "A draw");
    if (mine > 0 || mine < 0)
        printf(" (%+g)", chips);
    puts(".");
    const struct game *g = p->setup.game;
    if (g->draw) {
        char text[GAME_TEXT];
        struct text t;
        text_init(&t, text, sizeof text);
        g->draw(p->state, &t);
        term_block(stdout, "  ", text, t.len);
    }
}

static void
greet(const struct play *p, long long seed) {
    char label[48];
    run_policy_label(&p->opponent, label);
    printf("%s: you have seat %d, against ", p->setup.game->title, p->me);
    if (p->model)
        printf("snapshot %s (step %lld)", label, (long long)p->opponent.step);
    else
        fputs(label, stdout);
    printf(". Seed %lld.\n", seed);
    if (p->model && !run_plays(&p->run, p->setup.game))
        puts("(This run was not trained on this game: expect little of it here.)");
    putchar('\n');
    show_rules(p);
    putchar('\n');
}

static const struct play_face terminal = {greet, tell, person_moves, slip, show_result};

/* ---- the match ---- */

static int
ask_model(struct play *p, struct rng *stream, struct buf *said, struct buf *word) {
    const struct setup *s = &p->setup;
    struct tokens prompt = {0};
    const char *history = buf_text(&p->history);
    verify_prompt(s, p->state, 1 - p->me, p->turns, history, history + p->news, &prompt);
    if (p->slot >= 0 && prompt_mode(s->prompt) == PROMPT_OBSERVATION) {
        gen_close(p->gen, p->slot);
        p->slot = -1;
    }
    if (p->slot < 0)
        p->slot = gen_open(p->gen);
    gen_feed(p->gen, p->slot, prompt.at, prompt.n);
    gen_ask(p->gen, p->slot, stream, s->max_reply);
    while (gen_run(p->gen) > 0)
        ;
    struct gen_reply reply;
    ensure(gen_ready(p->gen, p->slot, &reply));
    tokens_free(&prompt);
    buf_room(said, reply.n + 1);
    said->len = tokens_spell(reply.tokens, reply.n, (char *)said->at);
    return reply_read(s, p->state, buf_text(said), said->len, reply.cut, word).action;
}

/* A scripted player's words are those of its action. */
static int
ask_scripted(struct play *p, struct rng *stream, struct buf *word) {
    char spelled[GAME_WORD];
    struct text t;
    int action = player_choose(p->player, p->state, stream);
    text_init(&t, spelled, sizeof spelled);
    p->setup.game->spell(p->state, action, &t);
    buf_add(word, spelled, t.len + 1);
    return action;
}

static enum play_step
opponent_moves(struct play *p, uint64_t match) {
    struct rng stream;
    struct buf said = {0}, word = {0};
    enum play_step step = PLAY_ON;
    rng_init(&stream, p->setup.seed, match << 16 | (uint64_t)p->turns,
             RNG_SEAT + (unsigned)(1 - p->me));
    int action = p->gen ? ask_model(p, &stream, &said, &word) : ask_scripted(p, &stream, &word);
    p->turns++;
    p->news = p->history.len;
    if (action >= 0) {
        p->forgiven = 0;
        play_apply(p, action, buf_text(&word));
    } else {
        p->face->slip(buf_text(&said), said.len);
        step = p->forgiven++ < p->setup.retries ? PLAY_ON : PLAY_FORFEIT;
    }
    buf_free(&said);
    buf_free(&word);
    return step;
}

static int
play_match(struct play *p, uint64_t match, struct err *e) {
    const struct game *g = p->setup.game;
    rng_init(&p->deal, p->setup.seed, match, RNG_DEAL);
    g->init(p->state, &p->setup.args);
    p->face->greet(p, (long long)p->setup.seed);
    for (enum play_step step = PLAY_ON; step == PLAY_ON;) {
        int who = g->mover(p->state);
        const char *fault = who == GAME_OVER ? game_fault(g, p->state, NULL) : NULL;
        if (fault)
            return err_set(e, "the game failed: %s", fault);
        if (who == GAME_OVER) {
            p->face->result(p, g->result(p->state), false);
            return 0;
        }
        if (who == GAME_CHANCE)
            play_apply(p, game_draw(g, p->state, rng_unit(&p->deal)), NULL);
        else if (who == p->me)
            step = p->face->move(p);
        else
            step = opponent_moves(p, match);
        if (step == PLAY_FORFEIT)
            p->face->result(p, p->me ? -1 : 1, true);
    }
    return 0;
}

/* ---- preparing ---- */

static int
seat_opponent(struct play *p, const char *name, struct err *e) {
    if (run_policy(&p->run, name, &p->opponent, e) < 0)
        return -1;
    p->slot = -1;
    if (strcmp(p->opponent.kind, "snapshot")) {
        p->player = player_open(name, p->setup.game, &p->setup.args, e);
        return p->player ? 0 : -1;
    }
    p->model = run_model(&p->run, &p->opponent, e);
    if (!p->model)
        return -1;
    p->gen = gen_new(p->model, p->setup.head, 0);
    return 0;
}

/* The newest snapshot where the run plays this game, else the random player. */
static const char *
usual_opponent(const struct play *p) {
    struct store_policy any;
    bool same = p->run.store && run_plays(&p->run, p->setup.game);
    return same && store_policy_latest(p->run.store, &any, NULL) == 1 ? "latest" : "random";
}

static int
set_up(struct play *p, const struct cmd_args *a, long long seed, struct err *e) {
    char set[512];
    long long seat;
    if (run_number("--seat", cmd_flag(a, "seat"), 0, 1, 0, &seat, e) < 0 ||
        run_open_any(&p->run, cmd_flag(a, "run"), e) < 0)
        return -1;
    p->me = (int)seat;
    if (snprintf(set, sizeof set, "game=%s", a->word[0]) >= (int)sizeof set)
        return err_set(e, "%.40s...: no game has so long a name", a->word[0]);
    if (conf_set(p->run.conf, set, e) < 0)
        return -1;
    snprintf(set, sizeof set, "seed=%lld", seed);
    if (conf_set(p->run.conf, set, e) < 0 || setup_load(&p->setup, p->run.conf, e) < 0)
        return -1;
    p->ready = true;
    const char *against = cmd_flag(a, "against");
    return seat_opponent(p, against ? against : usual_opponent(p), e);
}

static int
run_play(const struct cmd_args *a, struct err *e) {
    struct play *p = mem_zero(1, sizeof *p);
    long long seed;
    bool json = cmd_flag(a, "json") != NULL;
    p->face = json ? &play_json : &terminal;
    int status = run_number("--seed", cmd_flag(a, "seed"), 0, 9007199254740991ll,
                            clock_wall_ms() % 1000000, &seed, e);
    if (!status)
        status = set_up(p, a, seed, e);
    if (!status)
        status = play_match(p, 1, e);
    if (status && json)
        play_json_error(e);
    buf_free(&p->history);
    player_close(p->player);
    gen_free(p->gen);
    model_free(p->model);
    if (p->ready)
        setup_free(&p->setup);
    run_close(&p->run);
    free(p);
    return status;
}

const struct cmd cmd_play = {
    .name = "play",
    .args = "GAME",
    .help = "Play a game yourself, in the terminal, against a snapshot or a scripted player.",
    .least = 1,
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"against", "POLICY",
             "latest, a snapshot's hash, or a scripted player (default: latest, or random where no "
             "run has this game)"},
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"seat", "SEAT", "your seat: 0 (default) or 1"},
            {"seed", "N", "the same seed deals the same cards"},
            {"json", NULL, "speak lines of JSON, for programs (docs/commands.md)"},
            {0},
        },
    .needs_mat = true,
    .run = run_play,
};
