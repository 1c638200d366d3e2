/* Tic-tac-toe, Connect Four and Nim against known counts, values and theory; minimax and the solver
 * on games of perfect information. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "games/solve.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

struct fixture {
    const struct game *g;
    struct game_args args;
    _Alignas(16) unsigned char start[GAME_MAX_STATE];
};

static struct fixture
open_game(const char *spec) {
    struct fixture f;
    struct err e;
    if (game_spec_parse(spec, &f.g, &f.args, &e))
        fail_msg("%s", e.text);
    f.g->init(f.start, &f.args);
    return f;
}

static void
play_words(const struct fixture *f, void *state, const char *words) {
    for (; *words; words++) {
        int action = game_parse(f->g, state, words, 1);
        assert_true(action >= 0);
        f->g->apply(state, action);
    }
}

static void
tic_tac_toe_has_its_255168_games(void **state) {
    (void)state;
    struct fixture f = open_game("tic_tac_toe");
    struct solve_count c;
    struct err e;
    assert_int_equal(solve_count(f.g, &f.args, 1000000, &c, &e), 0);
    assert_int_equal(c.games, 255168);
    assert_int_equal(c.wins, 131184);
    assert_int_equal(c.losses, 77904);
    assert_int_equal(c.draws, 46080);
    near(c.random_win, 737.0 / 1260);
    near(c.random_loss, 121.0 / 420);
    near(c.random_draw, 8.0 / 63);
    assert_int_equal(solve_count(f.g, &f.args, 255167, &c, &e), -1);
    assert_non_null(strstr(e.text, "more than 255167"));
}

static void
tic_tac_toe_is_solved_on_its_states(void **state) {
    (void)state;
    struct fixture f = open_game("tic_tac_toe");
    struct err e;
    struct solve *s = solve_new(f.g, &f.args, 6000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), 5478);
    assert_int_equal(solve_sets(s), 4520);
    double *x = calloc(solve_width(s), sizeof x[0]);
    struct solve_report r;
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, 737.0 / 1260 - 121.0 / 420);
    /* Won 99.48 % and drawn 0.52 % by the best first player; reference: 99.5 % and 93.2 % won. */
    near(r.best[0], 191.0 / 192);
    assert_true(r.best[1] > 0.92 && r.best[1] < 0.93);
    solve_equilibrium(s, 1, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    near(r.value, 0);
    near(r.nash_conv, 0);
    free(x);
    solve_free(s);
}

static void
mixtures_on_states_are_exact_against_random_play(void **state) {
    (void)state;
    struct fixture f = open_game("nim(piles=1-2-4)");
    struct err e;
    struct solve *s = solve_new(f.g, &f.args, 1000, &e);
    size_t width = solve_width(s);
    double *x[4];
    for (int i = 0; i < 4; i++)
        x[i] = calloc(width, sizeof x[i][0]);
    solve_uniform(s, x[0]);
    memcpy(x[1], x[0], width * sizeof x[0][0]);
    memcpy(x[2], x[0], width * sizeof x[0][0]);
    for (size_t i = 0; i < solve_sets(s); i++) {
        const struct solve_info *info = solve_info(s, i);
        if (info->seat != GAME_SEAT_0)
            continue;
        for (int j = 0; j < info->actions; j++) {
            x[1][info->at + (size_t)j] = j == 0;
            x[2][info->at + (size_t)j] = j == info->actions - 1;
        }
    }
    const double *const parts[] = {x[1], x[2]};
    const double weights[] = {0.3, 0.7};
    solve_mixture(s, parts, weights, 2, x[3]);
    struct solve_report a, b, mix;
    solve_evaluate(s, x[1], &a);
    solve_evaluate(s, x[2], &b);
    solve_evaluate(s, x[3], &mix);
    assert_true(fabs(a.value - b.value) > 0.1);
    near(mix.value, 0.3 * a.value + 0.7 * b.value);
    for (int i = 0; i < 4; i++)
        free(x[i]);
    solve_free(s);
}

static void
minimax_knows_tic_tac_toe(void **state) {
    (void)state;
    struct fixture f = open_game("tic_tac_toe");
    struct err e;
    struct minimax *m = minimax_new(f.g, 6000, &e);
    int best[GAME_MAX_ACTIONS];
    double value;
    assert_int_equal(minimax_optimal(m, f.start, best, &value, &e), 9);
    near(value, 0);
    play_words(&f, f.start, "4");
    assert_int_equal(minimax_optimal(m, f.start, best, &value, &e), 4);
    static const int corners[] = {0, 2, 6, 8};
    assert_memory_equal(best, corners, sizeof corners);
    play_words(&f, f.start, "1");
    assert_true(minimax_optimal(m, f.start, best, &value, &e) > 0);
    near(value, 1);
    play_words(&f, f.start, "038");
    assert_int_equal(f.g->mover(f.start), GAME_OVER);
    assert_int_equal(minimax_optimal(m, f.start, best, &value, &e), -1);
    minimax_free(m);
}

static void
minimax_says_what_it_cannot_do(void **state) {
    (void)state;
    struct err e;
    assert_null(minimax_new(game_find("kuhn_poker"), 100, &e));
    assert_non_null(strstr(e.text, "chance or hidden information"));
    struct fixture f = open_game("connect_four");
    struct minimax *m = minimax_new(f.g, 1000, &e);
    int best[GAME_MAX_ACTIONS];
    double value;
    assert_int_equal(minimax_optimal(m, f.start, best, &value, &e), -1);
    assert_non_null(strstr(e.text, "more than 1000 states"));
    minimax_free(m);
}

/* The number of positions on a 4 x 4 board is published (J. Tromp); perfect play draws there. */
static void
connect_four_has_its_known_positions(void **state) {
    (void)state;
    struct fixture f = open_game("connect_four(rows=4,columns=4)");
    struct err e;
    struct solve *s = solve_new(f.g, &f.args, 200000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), 161029);
    double *x = calloc(solve_width(s), sizeof x[0]);
    struct solve_report r;
    solve_equilibrium(s, 1, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    near(r.value, 0);
    free(x);
    solve_free(s);
}

static void
connect_four_wins_in_every_direction(void **state) {
    (void)state;
    static const struct {
        const char *moves;
        double result;
    } games[] = {
        {"0011223", 1},     /* along the bottom */
        {"0101010", 1},     /* up */
        {"01122323363", 1}, /* rising to the right */
        {"65544343303", 1}, /* rising to the left */
        {"60615253", -1},   /* the second player, along the bottom */
    };
    for (size_t i = 0; i < sizeof games / sizeof games[0]; i++) {
        struct fixture f = open_game("connect_four");
        play_words(&f, f.start, games[i].moves);
        assert_int_equal(f.g->mover(f.start), GAME_OVER);
        near(f.g->result(f.start), games[i].result);
    }
}

/* The rule as one would write it without thinking of speed. */
static bool
plain_four(char board[12][10], int rows, int columns, char mark) {
    static const int step[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            for (int d = 0; d < 4; d++) {
                int n = 0;
                while (n < 4) {
                    int y = r + n * step[d][0], x = c + n * step[d][1];
                    if (y >= rows || x < 0 || x >= columns || board[y][x] != mark)
                        break;
                    n++;
                }
                if (n == 4)
                    return true;
            }
    return false;
}

static void
compare_with_plain_rules(const char *spec, struct rng *rng, int *draws) {
    struct fixture f = open_game(spec);
    int rows = f.args.value[0][0], columns = f.args.value[1][0], height[10] = {0};
    char board[12][10] = {{0}};
    double won = 0;
    for (int ply = 0; won == 0 && ply < rows * columns; ply++) {
        assert_int_equal(f.g->mover(f.start), ply & 1);
        int legal[GAME_MAX_ACTIONS], n = f.g->legal(f.start, legal), expected = 0;
        for (int c = 0; c < columns; c++)
            expected += height[c] < rows;
        assert_int_equal(n, expected);
        int c = legal[rng_below(rng, (uint32_t)n)];
        f.g->apply(f.start, c);
        board[height[c]++][c] = ply & 1 ? 'o' : 'x';
        if (plain_four(board, rows, columns, ply & 1 ? 'o' : 'x'))
            won = ply & 1 ? -1 : 1;
    }
    assert_int_equal(f.g->mover(f.start), GAME_OVER);
    near(f.g->result(f.start), won);
    *draws += won == 0;
}

static void
connect_four_agrees_with_the_plain_rules(void **state) {
    (void)state;
    struct rng rng;
    int draws = 0;
    rng_init(&rng, 1, 2, RNG_TEST);
    for (int i = 0; i < 400; i++) {
        compare_with_plain_rules("connect_four", &rng, &draws);
        compare_with_plain_rules("connect_four(rows=4,columns=4)", &rng, &draws);
        compare_with_plain_rules("connect_four(rows=12,columns=4)", &rng, &draws);
        compare_with_plain_rules("connect_four(rows=5,columns=10)", &rng, &draws);
    }
    assert_true(draws > 100);
}

static unsigned
xor_of(const struct fixture *f, const void *state, int *large) {
    char at[GAME_TEXT];
    struct text t;
    unsigned sum = 0;
    text_init(&t, at, sizeof at);
    f->g->draw(state, &t);
    *large = 0;
    for (const char *p = strchr(at, ':'); p; p = strchr(p + 1, ':')) {
        unsigned n = (unsigned)strtoul(p + 1, NULL, 10);
        sum ^= n;
        *large += n > 1;
    }
    return sum;
}

/* Bouton 1901: the mover wins iff the xor of the piles is not 0; in misere play the same, except
 * that with piles of one object only it must be 0. */
static void
nim_follows_boutons_rule(const char *spec, bool misere) {
    struct fixture f = open_game(spec);
    struct err e;
    struct solve *s = solve_new(f.g, &f.args, 10000, &e);
    struct minimax *m = minimax_new(f.g, 10000, &e);
    for (size_t i = 0; i < solve_sets(s); i++) {
        const struct solve_info *info = solve_info(s, i);
        int best[GAME_MAX_ACTIONS], large;
        double value;
        assert_true(minimax_optimal(m, info->state, best, &value, &e) > 0);
        unsigned sum = xor_of(&f, info->state, &large);
        bool wins = misere && !large ? sum == 0 : sum != 0;
        near(info->seat == GAME_SEAT_0 ? value : -value, wins ? 1 : -1);
    }
    minimax_free(m);
    solve_free(s);
}

static void
nim_is_decided_by_the_xor(void **state) {
    (void)state;
    nim_follows_boutons_rule("nim", false);
    nim_follows_boutons_rule("nim(piles=1-3-5-7)", false);
    nim_follows_boutons_rule("nim(misere=true)", true);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tic_tac_toe_has_its_255168_games),
        cmocka_unit_test(tic_tac_toe_is_solved_on_its_states),
        cmocka_unit_test(mixtures_on_states_are_exact_against_random_play),
        cmocka_unit_test(minimax_knows_tic_tac_toe),
        cmocka_unit_test(minimax_says_what_it_cannot_do),
        cmocka_unit_test(connect_four_has_its_known_positions),
        cmocka_unit_test(connect_four_wins_in_every_direction),
        cmocka_unit_test(connect_four_agrees_with_the_plain_rules),
        cmocka_unit_test(nim_is_decided_by_the_xor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
