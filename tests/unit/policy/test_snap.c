/* Snapshots: what is saved is what is loaded, every damaged or lying file is refused, and the
 * exported folder is complete. With AGON_HF_EXPORT=FOLDER it runs no test but writes exports and
 * expectations there, for tests/int/hf_export.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "policy/gen.h"
#include "policy/snap.h"
#include "policy/tensors.h"
#include "policy/token.h"

static const struct model_config small = {.vocab = 20,
                                          .dim = 8,
                                          .layers = 2,
                                          .heads = 2,
                                          .kv_heads = 1,
                                          .hidden = 12,
                                          .context = 32,
                                          .tied = true,
                                          .rope_theta = 10000,
                                          .norm_eps = 1e-5f};

struct place { /* a folder of its own, removed at the end */
    char folder[64], hash[HASH_HEX], path[256];
    struct model *m;
    struct buf bytes; /* of the snapshot of m */
};

static int
set_up(void **state) {
    struct place *p = mem_zero(1, sizeof *p);
    struct err e = {.text = ""};
    snprintf(p->folder, sizeof p->folder, "/tmp/agon-snap-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->m = model_new(&small);
    model_init(p->m, 7, 0.05);
    assert_int_equal(0, snap_save(p->folder, p->m, false, p->hash, &e));
    snap_path(p->folder, p->hash, p->path, sizeof p->path);
    assert_int_equal(0, file_read(p->path, 1 << 20, &p->bytes, &e));
    *state = p;
    return 0;
}

static int
tear_down(void **state) {
    struct place *p = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    assert_int_equal(0, system(command));
    model_free(p->m);
    buf_free(&p->bytes);
    free(p);
    return 0;
}

/* ---- what is good ---- */

static void
check_round_trip(const char *folder, const struct model_config *c) {
    struct err e = {.text = ""};
    assert_int_equal(0, model_config_check(c, &e));
    struct model *m = model_new(c);
    model_init(m, 3, 0.1);
    char hash[HASH_HEX], again[HASH_HEX];
    assert_int_equal(0, snap_save(folder, m, false, hash, &e));
    struct model *back = snap_load(folder, hash, &e);
    assert_string_equal("", e.text);
    assert_non_null(back);
    assert_int_equal(m->count, back->count);
    assert_memory_equal(m->params, back->params, m->count * sizeof(float));
    assert_int_equal(c->context, back->c.context);
    assert_int_equal(c->tied, back->c.tied);
    assert_true(c->rope_theta == back->c.rope_theta && c->norm_eps == back->c.norm_eps);
    assert_int_equal(0, snap_save(folder, back, true, again, &e));
    assert_string_equal(hash, again);
    model_free(m);
    model_free(back);
}

static void
test_round_trip(void **state) {
    struct place *p = *state;
    struct model_config c = small;
    check_round_trip(p->folder, &c);
    c.tied = false;
    check_round_trip(p->folder, &c);
    c.kv_heads = 2;
    c.rope_theta = 12345.678f;
    c.norm_eps = 1.17e-7f;
    check_round_trip(p->folder, &c);
    c.vocab = TOKEN_COUNT;
    c.layers = 11; /* two digits in a name */
    check_round_trip(p->folder, &c);
}

static void
test_saving_again_is_a_no_op(void **state) {
    struct place *p = *state;
    struct stat before, after;
    struct err e = {.text = ""};
    char hash[HASH_HEX];
    assert_int_equal(0, stat(p->path, &before));
    assert_int_equal(0, snap_save(p->folder, p->m, false, hash, &e));
    assert_int_equal(0, stat(p->path, &after));
    assert_int_equal(before.st_ino, after.st_ino);
    assert_string_equal(p->hash, hash);
    /* a file cut short by a power failure is written anew */
    assert_int_equal(0, truncate(p->path, 100));
    assert_int_equal(0, snap_save(p->folder, p->m, false, hash, &e));
    struct model *m = snap_load(p->folder, hash, &e);
    assert_non_null(m);
    model_free(m);
}

static void
test_other_weights_other_name(void **state) {
    struct place *p = *state;
    struct err e = {.text = ""};
    char hash[HASH_HEX];
    p->m->params[17] += 1e-3f;
    assert_int_equal(0, snap_save(p->folder, p->m, false, hash, &e));
    p->m->params[17] -= 1e-3f;
    assert_string_not_equal(p->hash, hash);
}

static void
test_save_fails(void **state) {
    struct place *p = *state;
    struct err e = {.text = ""};
    char hash[HASH_HEX];
    assert_int_equal(-1, snap_save("/tmp/agon/there/is/no/such/folder", p->m, false, hash, &e));
    assert_non_null(strstr(e.text, "/tmp/agon/there/is/no/such/folder/"));
    assert_non_null(strstr(e.text, "cannot create"));
}

/* ---- what is damaged ---- */

static void
write_bytes(const char *path, const void *at, size_t n) {
    struct err e = {.text = ""};
    assert_int_equal(0, file_write(path, at, n, false, &e));
}

static void
check_refused(const struct place *p, const char *hash, const char *want) {
    struct err e = {.text = ""};
    struct model *m = snap_load(p->folder, hash, &e);
    if (m || !strstr(e.text, want))
        fail_msg("wanted a sentence with '%s', got '%s'", want, e.text);
}

static void
test_names_are_checked(void **state) {
    struct place *p = *state;
    static const char *const names[] = {"", "latest", "../../etc/passwd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_refused(p, names[i], "is not the name of a snapshot");
    char name[HASH_HEX + 1];
    memcpy(name, p->hash, HASH_HEX);
    name[5] = 'A';
    check_refused(p, name, "is not the name of a snapshot");
    name[5] = '/';
    check_refused(p, name, "is not the name of a snapshot");
    memset(name, '0', 64);
    check_refused(p, name, "cannot open: No such file");
    memset(name, '0', 65);
    name[65] = '\0';
    check_refused(p, name, "is not the name of a snapshot");
}

/* One bit flipped, or the file cut, at every 97th byte: the hash tells. */
static void
test_damage_is_noticed(void **state) {
    struct place *p = *state;
    for (size_t i = 0; i < p->bytes.len; i += 97) {
        p->bytes.at[i] ^= (unsigned char)(1u << i % 8);
        write_bytes(p->path, p->bytes.at, p->bytes.len);
        p->bytes.at[i] ^= (unsigned char)(1u << i % 8);
        check_refused(p, p->hash, "the file is damaged");
        write_bytes(p->path, p->bytes.at, i);
        check_refused(p, p->hash, "the file is damaged");
    }
    buf_u8(&p->bytes, 0);
    write_bytes(p->path, p->bytes.at, p->bytes.len--);
    check_refused(p, p->hash, "the file is damaged");
}

/* Stores bytes under their true hash, so that what lies behind the hash check is tested. */
static void
forge(const struct place *p, const void *at, size_t n, char hash[HASH_HEX]) {
    char path[256];
    hash_hex(at, n, hash);
    snap_path(p->folder, hash, path, sizeof path);
    write_bytes(path, at, n);
}

/* The same damage under a true name: nothing may crash, and what loads is finite and of the shape
 * that it says. (A flipped bit of a weight gives another, valid model.) */
static void
test_damage_behind_a_true_hash(void **state) {
    struct place *p = *state;
    char hash[HASH_HEX];
    int refused = 0, loaded = 0;
    for (size_t i = 0; i < p->bytes.len; i += 97) {
        p->bytes.at[i] ^= (unsigned char)(1u << i % 8);
        forge(p, p->bytes.at, p->bytes.len, hash);
        p->bytes.at[i] ^= (unsigned char)(1u << i % 8);
        struct err e = {.text = ""};
        struct model *m = snap_load(p->folder, hash, &e);
        for (size_t k = 0; m && k < m->count; k++)
            assert_true(isfinite(m->params[k]));
        refused += !m;
        loaded += m != NULL;
        assert_true(m || e.text[0]);
        model_free(m);
        forge(p, p->bytes.at, i, hash);
        assert_null(snap_load(p->folder, hash, &e));
    }
    assert_true(refused > 10 && loaded > 10);
}

/* ---- what lies ---- */

/* Replaces the first occurrence of `old` in the header by `new`, of the same length. */
static void
check_forged(struct place *p, const char *old, const char *new, const char *want) {
    assert_int_equal(strlen(old), strlen(new));
    unsigned char *at = memmem(p->bytes.at, p->bytes.len, old, strlen(old));
    assert_non_null(at);
    memcpy(at, new, strlen(new));
    char hash[HASH_HEX];
    forge(p, p->bytes.at, p->bytes.len, hash);
    memcpy(at, old, strlen(old));
    check_refused(p, hash, want);
}

static void
test_lying_header(void **state) {
    struct place *p = *state;
    check_forged(p, "agon.dim", "agon.din", "lacks agon.dim: this is not a snapshot of Agon");
    check_forged(p, "\"agon.dim\":\"8\"", "\"agon.dim\":\"x\"", "agon.dim is 'x', which cannot");
    check_forged(p, "\"agon.dim\":\"8\"", "\"agon.dim\":\" \"", "agon.dim is ' ', which cannot");
    check_forged(p, "\"agon.dim\":\"8\"", "\"agon.dim\":\"0\"", "dim is 0");
    check_forged(p, "\"agon.dim\":\"8\"", "\"agon.dim\":\"6\"", "dim");
    check_forged(p, "\"agon.dim\":\"8\"", "\"agon.dim\":\"4\"", "is needed");
    check_forged(p, "\"agon.layers\":\"2\"", "\"agon.layers\":\"1\"",
                 "9 tensors are not part of the model");
    check_forged(p, "\"agon.layers\":\"2\"", "\"agon.layers\":\"3\"", "no tensor 'model.layers.2.");
    check_forged(p, "\"agon.vocab\":\"20\"", "\"agon.vocab\":\"19\"", "has the shape [20,8]");
    check_forged(p, "\"agon.vocab\":\"20\"", "\"agon.vocab\":\"-9\"", "which cannot be read");
    check_forged(p, "\"agon.heads\":\"2\"", "\"agon.heads\":\"0\"", "heads is 0");
    check_forged(p, "\"agon.kv_heads\":\"1\"", "\"agon.kv_heads\":\"2\"", "is needed");
    check_forged(p, "\"agon.tied\":\"true\"", "\"agon.tied\":\"tree\"", "agon.tied is 'tree'");
    check_forged(p, "\"agon.rope_theta\":\"10000\"", "\"agon.rope_theta\":\"1e999\"",
                 "which cannot");
    check_forged(p, "\"agon.norm_eps\":\"1e-05\"", "\"agon.norm_eps\":\"1e-05\\", "not valid JSON");
    check_forged(p, "\"agon.norm_eps\":\"1e-05\"", "\"agon.norm_eps\":\"1e+05\"", "norm_eps");
    check_forged(p, "model.norm.weight", "model.nose.weight", "no tensor 'model.norm.weight'");
    check_forged(p, "\"shape\":[20,8]", "\"shape\":[8,20]",
                 "has the shape [8,20], [20,8] is needed");
}

static void
test_untied_says_tied(void **state) {
    struct place *p = *state;
    struct model_config c = small;
    c.tied = false;
    struct model *m = model_new(&c);
    struct err e = {.text = ""};
    model_init(m, 1, 0.1);
    char hash[HASH_HEX], path[256];
    assert_int_equal(0, snap_save(p->folder, m, false, hash, &e));
    snap_path(p->folder, hash, path, sizeof path);
    buf_clear(&p->bytes);
    assert_int_equal(0, file_read(path, 1 << 20, &p->bytes, &e));
    check_forged(p, "\"agon.tied\":\"false\"", "\"agon.tied\":\"true\" ",
                 "1 tensors are not part of the model");
    model_free(m);
}

/* A few hundred bytes that describe a model of gigabytes: refused before anything is allocated. */
static void
test_huge_claim(void **state) {
    struct place *p = *state;
    static const char *const text[][2] = {
        {"agon.vocab", "1000000"}, {"agon.dim", "1024"},   {"agon.layers", "10"},
        {"agon.heads", "2"},       {"agon.kv_heads", "2"}, {"agon.hidden", "10"},
        {"agon.context", "32"},    {"agon.tied", "true"},  {"agon.rope_theta", "10000"},
        {"agon.norm_eps", "1e-5"},
    };
    struct tensor_meta meta[10];
    for (int i = 0; i < 10; i++)
        meta[i] = (struct tensor_meta){text[i][0], text[i][1]};
    struct buf b = {0};
    tensors_encode(NULL, 0, meta, 10, &b);
    char hash[HASH_HEX];
    forge(p, b.at, b.len, hash);
    check_refused(p, hash, "bytes are too few for the");
    buf_free(&b);
}

static void
test_not_finite(void **state) {
    struct place *p = *state;
    struct err e = {.text = ""};
    char hash[HASH_HEX];
    p->m->params[p->m->count - 1] = NAN;
    assert_int_equal(0, snap_save(p->folder, p->m, false, hash, &e));
    check_refused(p, hash, "tensor 'model.norm.weight' holds a value that is not finite");
}

/* ---- the export ---- */

static json_t *
read_json(const char *dir, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    json_error_t why;
    json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!j)
        fail_msg("%s: %s", path, why.text);
    return j;
}

static void
check_config(const char *dir, const struct model_config *c) {
    json_t *j = read_json(dir, "config.json");
    const char *arch, *type, *dtype;
    int vocab, dim, hidden, layers, heads, kv, context, tied, bos, eos;
    double theta, eps;
    assert_int_equal(
        0, json_unpack(
               j, "{s:[s], s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:i, s:F, s:F}",
               "architectures", &arch, "model_type", &type, "torch_dtype", &dtype, "vocab_size",
               &vocab, "hidden_size", &dim, "intermediate_size", &hidden, "num_hidden_layers",
               &layers, "num_attention_heads", &heads, "num_key_value_heads", &kv,
               "max_position_embeddings", &context, "tie_word_embeddings", &tied, "bos_token_id",
               &bos, "eos_token_id", &eos, "rope_theta", &theta, "rms_norm_eps", &eps));
    assert_string_equal("LlamaForCausalLM", arch);
    assert_string_equal("llama", type);
    assert_string_equal("float32", dtype);
    assert_int_equal(c->vocab, vocab);
    assert_int_equal(c->dim, dim);
    assert_int_equal(c->hidden, hidden);
    assert_int_equal(c->layers, layers);
    assert_int_equal(c->heads, heads);
    assert_int_equal(c->kv_heads, kv);
    assert_int_equal(c->context, context);
    assert_int_equal(c->tied, tied);
    assert_int_equal(TOKEN_BOS, bos);
    assert_int_equal(TOKEN_END, eos);
    assert_true(theta == 10000 && eps == 1e-5);
    json_decref(j);
}

static void
check_weights(const char *dir, const struct model *m) {
    char path[256];
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    struct buf b = {0};
    struct err e = {.text = ""};
    assert_int_equal(0, file_read(path, 1 << 20, &b, &e));
    struct tensors *t = tensors_decode(&b, path, &e);
    assert_non_null(t);
    assert_string_equal("pt", tensors_meta(t, "format"));
    assert_null(tensors_meta(t, "agon.dim"));
    float *head = mem_zero((size_t)m->c.vocab * (size_t)m->c.dim, sizeof *head);
    int64_t shape[] = {m->c.vocab, m->c.dim};
    int rc = tensors_read(t, "lm_head.weight", shape, 2, head, &e);
    assert_int_equal(m->c.tied ? -1 : 0, rc);
    if (!m->c.tied)
        assert_memory_equal(m->head, head, sizeof *head * (size_t)(shape[0] * shape[1]));
    assert_int_equal(0, tensors_read(t, "model.embed_tokens.weight", shape, 2, head, &e));
    assert_memory_equal(m->embed, head, sizeof *head * (size_t)(shape[0] * shape[1]));
    free(head);
    tensors_free(t);
}

static void
test_export(void **state) {
    struct place *p = *state;
    for (int tied = 0; tied < 2; tied++) {
        struct model_config c = small;
        c.tied = tied;
        struct model *m = model_new(&c);
        model_init(m, 9, 0.1);
        char dir[128];
        struct err e = {.text = ""};
        snprintf(dir, sizeof dir, "%s/a/b%d", p->folder, tied);
        assert_int_equal(0, snap_export_hf(m, dir, &e));
        assert_int_equal(0, snap_export_hf(m, dir, &e)); /* over the old one */
        check_config(dir, &c);
        check_weights(dir, m);
        json_decref(read_json(dir, "generation_config.json"));
        json_t *j = read_json(dir, "agon_tokenizer.json");
        assert_int_equal(TOKEN_REPLY, json_integer_value(
                                          json_object_get(json_object_get(j, "control"), "reply")));
        json_decref(j);
        model_free(m);
    }
    struct err e = {.text = ""};
    assert_int_equal(-1, snap_export_hf(p->m, p->path, &e)); /* a file is in the way */
    assert_non_null(strstr(e.text, p->path));
}

/* ---- for tests/int/hf_export.py ---- */

/* The log-probabilities of every token after the first n tokens. */
static json_t *
next_row(struct gen *g, const int32_t *tokens, size_t n, int vocab) {
    struct gen_outcomes o;
    gen_enumerate(g, tokens, n, 1, -1, (size_t)vocab, NULL, &o);
    assert_int_equal(vocab, o.count);
    double *row = mem_zero((size_t)vocab, sizeof *row);
    for (size_t i = 0; i < o.count; i++)
        row[o.tokens.at[o.outcome[i].at]] = log(o.outcome[i].probability);
    json_t *list = json_array();
    for (int i = 0; i < vocab; i++)
        json_array_append_new(list, json_real(row[i]));
    free(row);
    gen_outcomes_free(&o);
    return list;
}

/* Exports a random model to `dir`, and what it thinks of some tokens to dir/expected.json. */
static void
export_with_expectations(const char *dir, const struct model_config *c) {
    struct err e = {.text = ""};
    struct model *m = model_new(c);
    model_init(m, 11, 0.3);
    if (snap_export_hf(m, dir, &e) < 0)
        fail_msg("%s", e.text);
    struct gen *g = gen_new(m, (struct gen_head){.temperature = 1, .top_p = 1}, 0);
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    int32_t tokens[40];
    json_t *ids = json_array(), *rows = json_array();
    for (size_t i = 0; i < 40; i++) {
        tokens[i] = i ? (int32_t)rng_below(&r, (uint32_t)c->vocab) : TOKEN_BOS;
        json_array_append_new(ids, json_integer(tokens[i]));
        json_array_append_new(rows, next_row(g, tokens, i + 1, c->vocab));
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/expected.json", dir);
    json_t *all = json_pack("{s:o, s:o}", "tokens", ids, "logprobs", rows);
    assert_int_equal(0, json_dump_file(all, path, 0));
    json_decref(all);
    gen_free(g);
    model_free(m);
}

static int
export_for_transformers(const char *folder) {
    struct model_config c = {.vocab = TOKEN_COUNT,
                             .dim = 32,
                             .layers = 3,
                             .heads = 4,
                             .kv_heads = 2,
                             .hidden = 48,
                             .context = 64,
                             .tied = true,
                             .rope_theta = 10000,
                             .norm_eps = 1e-5f};
    char dir[2048];
    snprintf(dir, sizeof dir, "%s/tied", folder);
    export_with_expectations(dir, &c);
    c.tied = false;
    c.kv_heads = 4;
    c.rope_theta = 500;
    c.norm_eps = 1e-3f;
    snprintf(dir, sizeof dir, "%s/untied", folder);
    export_with_expectations(dir, &c);
    return 0;
}

int
main(void) {
    if (getenv("AGON_HF_EXPORT"))
        return export_for_transformers(getenv("AGON_HF_EXPORT"));
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_saving_again_is_a_no_op),
        TEST(test_other_weights_other_name),
        TEST(test_save_fails),
        TEST(test_names_are_checked),
        TEST(test_damage_is_noticed),
        TEST(test_damage_behind_a_true_hash),
        TEST(test_lying_header),
        TEST(test_untied_says_tied),
        TEST(test_huge_claim),
        TEST(test_not_finite),
        TEST(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
