#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/model.h"

static const struct model_config base = {.vocab = 264,
                                         .dim = 64,
                                         .layers = 3,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .hidden = 172,
                                         .context = 128,
                                         .tied = true,
                                         .rope_theta = 10000.0f,
                                         .norm_eps = 1e-5f};

static void
tensors_cover_the_block(void **state) {
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        struct model_config c = base;
        c.tied = tied;
        struct model *m = model_new(&c);
        struct model_tensor t, u;
        size_t at = 0;
        int i = 0;
        for (; !model_tensor(m, i, &t); i++) {
            assert_int_equal(t.offset, at);
            at += (size_t)t.rows * (size_t)(t.cols ? t.cols : 1);
            for (int k = 0; k < i; k++) {
                assert_int_equal(model_tensor(m, k, &u), 0);
                assert_string_not_equal(t.name, u.name);
            }
        }
        assert_int_equal(at, m->count);
        assert_int_equal(i, 2 + 9 * c.layers + !tied);
        assert_int_equal(model_tensor(m, -1, &t), -1);
        assert_int_equal(model_tensor(m, i + 1, &t), -1);
        assert_int_equal((uintptr_t)m->params % 64, 0);
        assert_int_equal(m->head == m->embed, tied);
        model_free(m);
    }
}

/* Name, shape and pointer of one tensor agree. */
static void
check_tensor(const struct model *m, int i, const char *name, int rows, int cols, const float *at) {
    struct model_tensor t;
    assert_int_equal(model_tensor(m, i, &t), 0);
    assert_string_equal(t.name, name);
    assert_int_equal(t.rows, rows);
    assert_int_equal(t.cols, cols);
    assert_ptr_equal(m->params + t.offset, at);
}

static void
names_are_hugging_faces(void **state) {
    (void)state;
    struct model_config c = base;
    c.tied = false;
    struct model *m = model_new(&c);
    const struct model_layer *y = &m->layer[1];
    check_tensor(m, 0, "model.embed_tokens.weight", 264, 64, m->embed);
    check_tensor(m, 10, "model.layers.1.input_layernorm.weight", 64, 0, y->norm1);
    check_tensor(m, 11, "model.layers.1.self_attn.q_proj.weight", 64, 64, y->wq);
    check_tensor(m, 12, "model.layers.1.self_attn.k_proj.weight", 32, 64, y->wk);
    check_tensor(m, 13, "model.layers.1.self_attn.v_proj.weight", 32, 64, y->wv);
    check_tensor(m, 14, "model.layers.1.self_attn.o_proj.weight", 64, 64, y->wo);
    check_tensor(m, 15, "model.layers.1.post_attention_layernorm.weight", 64, 0, y->norm2);
    check_tensor(m, 16, "model.layers.1.mlp.gate_proj.weight", 172, 64, y->gate);
    check_tensor(m, 17, "model.layers.1.mlp.up_proj.weight", 172, 64, y->up);
    check_tensor(m, 18, "model.layers.1.mlp.down_proj.weight", 64, 172, y->down);
    check_tensor(m, 28, "model.norm.weight", 64, 0, m->norm);
    check_tensor(m, 29, "lm_head.weight", 264, 64, m->head);
    model_free(m);
}

static void
first_weights_have_their_spread(void **state) {
    (void)state;
    struct model *m = model_new(&base), *same = model_new(&base), *other = model_new(&base);
    struct model_tensor t;
    model_init(m, 7, 0.02);
    model_init(same, 7, 0.02);
    model_init(other, 8, 0.02);
    assert_memory_equal(m->params, same->params, m->count * sizeof(float));
    for (int i = 0; !model_tensor(m, i, &t); i++) {
        size_t n = (size_t)t.rows * (size_t)(t.cols ? t.cols : 1);
        double sum = 0.0, squares = 0.0, want = 0.02;
        for (size_t k = 0; k < n; k++) {
            double v = (double)m->params[t.offset + k];
            sum += v;
            squares += v * v;
        }
        if (!t.cols) {
            assert_true(sum == (double)n && squares == (double)n);
            continue;
        }
        if (strstr(t.name, "o_proj") || strstr(t.name, "down_proj"))
            want /= sqrt(6.0);
        assert_true(fabs(sum / (double)n) < 5.0 * want / sqrt((double)n));
        assert_true(fabs(sqrt(squares / (double)n) / want - 1.0) < 5.0 / sqrt(2.0 * (double)n));
        assert_memory_not_equal(m->params + t.offset, other->params + t.offset, n * sizeof(float));
    }
    model_copy(other, m);
    assert_memory_equal(m->params, other->params, m->count * sizeof(float));
    model_free(m);
    model_free(same);
    model_free(other);
}

static void
refused(struct model_config c, const char *word) {
    struct err e = {.text = ""};
    assert_int_equal(model_config_check(&c, &e), -1);
    if (!strstr(e.text, word))
        fail_msg("'%s' does not name %s", e.text, word);
}

static void
bad_configurations_are_refused(void **state) {
    (void)state;
    struct err e = {.text = ""};
    assert_int_equal(model_config_check(&base, &e), 0);
#define REFUSED(field, value)         \
    do {                              \
        struct model_config c = base; \
        c.field = value;              \
        refused(c, #field);           \
    } while (0)
    REFUSED(vocab, 0);
    REFUSED(vocab, 1 << 30);
    REFUSED(dim, 0);
    REFUSED(dim, -64);
    REFUSED(dim, 66);
    REFUSED(dim, 1 << 20);
    REFUSED(layers, 0);
    REFUSED(layers, 100000);
    REFUSED(heads, 0);
    REFUSED(heads, 64);
    REFUSED(kv_heads, 0);
    REFUSED(kv_heads, 3);
    REFUSED(kv_heads, 8);
    REFUSED(hidden, 0);
    REFUSED(context, 0);
    REFUSED(rope_theta, 0.0f);
    REFUSED(rope_theta, NAN);
    REFUSED(norm_eps, 0.0f);
    REFUSED(norm_eps, -1.0f);
#undef REFUSED
    struct model_config huge = {.vocab = 1 << 20,
                                .dim = 16384,
                                .layers = 256,
                                .heads = 64,
                                .kv_heads = 64,
                                .hidden = 65536,
                                .context = 16,
                                .rope_theta = 10000.0f,
                                .norm_eps = 1e-5f};
    refused(huge, "parameters");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_cover_the_block),
        cmocka_unit_test(names_are_hugging_faces),
        cmocka_unit_test(first_weights_have_their_spread),
        cmocka_unit_test(bad_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
