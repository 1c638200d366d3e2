/* Snapshots and the export to a Hugging Face folder. A snapshot is encoded straight into one
 * buffer, hashed, and written once; loading reads it whole and checks the hash before anything
 * else. The configuration lies in the metadata under "agon.<field>", one text a field. */
#include "policy/snap.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "policy/tensors.h"
#include "policy/token.h"

#define MAX_FILE ((size_t)64 << 30) /* bytes of a snapshot */
#define MAX_PATH 4096
#define VALUE 32 /* one field of the configuration as text fits in it */

static const struct field {
    const char *key;
    size_t at; /* in struct model_config */
    enum { FIELD_INT, FIELD_BOOL, FIELD_REAL } kind;
} fields[] = {
    {"agon.vocab", offsetof(struct model_config, vocab), FIELD_INT},
    {"agon.dim", offsetof(struct model_config, dim), FIELD_INT},
    {"agon.layers", offsetof(struct model_config, layers), FIELD_INT},
    {"agon.heads", offsetof(struct model_config, heads), FIELD_INT},
    {"agon.kv_heads", offsetof(struct model_config, kv_heads), FIELD_INT},
    {"agon.hidden", offsetof(struct model_config, hidden), FIELD_INT},
    {"agon.context", offsetof(struct model_config, context), FIELD_INT},
    {"agon.tied", offsetof(struct model_config, tied), FIELD_BOOL},
    {"agon.rope_theta", offsetof(struct model_config, rope_theta), FIELD_REAL},
    {"agon.norm_eps", offsetof(struct model_config, norm_eps), FIELD_REAL},
};
#define FIELDS (sizeof fields / sizeof *fields)

/* ---- the configuration as text ---- */

/* The shortest decimal that reads back as the same float. */
static void
spell_real(float x, char out[VALUE]) {
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out, VALUE, "%.*g", digits, (double)x);
        if (strtof(out, NULL) == x)
            return;
    }
}

static void
spell_field(const struct model_config *c, const struct field *f, char out[VALUE]) {
    const char *at = (const char *)c + f->at;
    if (f->kind == FIELD_INT)
        snprintf(out, VALUE, "%d", *(const int *)at);
    else if (f->kind == FIELD_BOOL)
        snprintf(out, VALUE, "%s", *(const bool *)at ? "true" : "false");
    else
        spell_real(*(const float *)at, out);
}

static int
parse_field(struct model_config *c, const struct field *f, const char *s) {
    char *at = (char *)c + f->at, *end = NULL;
    if (f->kind == FIELD_BOOL) {
        *(bool *)at = strcmp(s, "true") == 0;
        return strcmp(s, "true") == 0 || strcmp(s, "false") == 0 ? 0 : -1;
    }
    if (*s < '0' || *s > '9')
        return -1;
    if (f->kind == FIELD_INT) {
        long v = strtol(s, &end, 10);
        *(int *)at = v > INT_MAX ? 0 : (int)v;
        return *end || v > INT_MAX ? -1 : 0;
    }
    *(float *)at = strtof(s, &end);
    return *end || !isfinite(*(float *)at) ? -1 : 0;
}

static int
read_config(const struct tensors *t, struct model_config *c, struct err *e) {
    *c = (struct model_config){0};
    for (size_t i = 0; i < FIELDS; i++) {
        const char *s = tensors_meta(t, fields[i].key);
        if (!s)
            return err_set(e, "the metadata lacks %s: this is not a snapshot of Agon",
                           fields[i].key);
        if (parse_field(c, &fields[i], s) < 0)
            return err_set(e, "the metadata's %s is '%.40s', which cannot be read", fields[i].key,
                           s);
    }
    return model_config_check(c, e);
}

/* ---- saving ---- */

struct views {
    struct tensor_view *view;  /* owned */
    struct model_tensor *name; /* owned: the names that the views point to */
    size_t n;
};

static void
tensor_shape(const struct model_tensor *t, int64_t shape[2], int *dims) {
    shape[0] = t->rows;
    shape[1] = t->cols;
    *dims = t->cols ? 2 : 1;
}

static struct views
views_of(const struct model *m) {
    struct views v = {0};
    struct model_tensor t;
    while (model_tensor(m, (int)v.n, &t) == 0)
        v.n++;
    v.name = mem_zero(v.n, sizeof *v.name);
    v.view = mem_zero(v.n, sizeof *v.view);
    for (size_t i = 0; i < v.n; i++) {
        ensure(model_tensor(m, (int)i, &v.name[i]) == 0);
        v.view[i].name = v.name[i].name;
        v.view[i].data = m->params + v.name[i].offset;
        tensor_shape(&v.name[i], v.view[i].shape, &v.view[i].dims);
    }
    return v;
}

static void
encode(const struct model *m, bool config, struct buf *out) {
    char value[FIELDS][VALUE];
    struct tensor_meta meta[1 + FIELDS] = {{"format", "pt"}};
    for (size_t i = 0; i < FIELDS; i++) {
        spell_field(&m->c, &fields[i], value[i]);
        meta[1 + i] = (struct tensor_meta){fields[i].key, value[i]};
    }
    struct views v = views_of(m);
    tensors_encode(v.view, v.n, meta, config ? 1 + FIELDS : 1, out);
    free(v.view);
    free(v.name);
}

void
snap_path(const char *folder, const char *hash, char *out, size_t cap) {
    snprintf(out, cap, "%s/%s.safetensors", folder, hash);
}

/* A file of the right name and length: the name is the hash of its bytes. */
static bool
is_there(const char *path, size_t size) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uintmax_t)st.st_size == size;
}

int
snap_save(const char *folder, const struct model *m, bool sync, char hash[HASH_HEX],
          struct err *e) {
    struct buf bytes = {0};
    encode(m, true, &bytes);
    hash_hex(bytes.at, bytes.len, hash);
    char path[MAX_PATH];
    snap_path(folder, hash, path, sizeof path);
    int rc = 0;
    if (!is_there(path, bytes.len))
        rc = file_write(path, bytes.at, bytes.len, sync, e);
    buf_free(&bytes);
    return rc;
}

/* ---- loading ---- */

/* A name from outside becomes part of a path, so it must be exactly a hash. */
static bool
is_hash(const char *s) {
    return strlen(s) == HASH_HEX - 1 && strspn(s, "0123456789abcdef") == HASH_HEX - 1;
}

static int
read_verified(const char *path, const char *hash, struct buf *bytes, struct err *e) {
    struct stat st;
    if (stat(path, &st) == 0 && st.st_size > 0 && (uintmax_t)st.st_size <= MAX_FILE)
        buf_room(bytes, (size_t)st.st_size + 65536); /* one allocation, no regrowth */
    if (file_read(path, MAX_FILE, bytes, e) < 0)
        return -1;
    char found[HASH_HEX];
    hash_hex(bytes->at, bytes->len, found);
    if (strcmp(found, hash) != 0)
        return err_set(e,
                       "%s: the file is damaged (the SHA-256 of its bytes is %s, not its name); "
                       "restore it from a copy or use another snapshot",
                       path, found);
    return 0;
}

/* Parameters of a configuration; a double, since it may be more than any integer holds. */
static double
parameters(const struct model_config *c) {
    double dim = c->dim, kv = dim / c->heads * c->kv_heads;
    double layer = 2 * dim + 2 * dim * dim + 2 * kv * dim + 3.0 * c->hidden * dim;
    return c->layers * layer + dim + (c->tied ? 1 : 2) * (double)c->vocab * dim;
}

static int
fill(struct model *m, const struct tensors *t, const char *path, struct err *e) {
    struct model_tensor mt;
    size_t n = 0;
    for (; model_tensor(m, (int)n, &mt) == 0; n++) {
        int64_t shape[2];
        int dims;
        tensor_shape(&mt, shape, &dims);
        if (tensors_read(t, mt.name, shape, dims, m->params + mt.offset, e) < 0)
            return -1;
    }
    if (tensors_count(t) != n)
        return err_set(e, "%s: %zu tensors are not part of the model that its metadata describes",
                       path, tensors_count(t) - n);
    return 0;
}

static struct model *
model_from(const struct tensors *t, size_t bytes, const char *path, struct err *e) {
    struct model_config c;
    if (read_config(t, &c, e) < 0) {
        err_prefix(e, "%s", path);
        return NULL;
    }
    if (parameters(&c) * sizeof(float) > (double)bytes) {
        err_set(e, "%s: %zu bytes are too few for the %.0f parameters that its metadata describes",
                path, bytes, parameters(&c));
        return NULL;
    }
    struct model *m = model_new(&c);
    if (fill(m, t, path, e) == 0)
        return m;
    model_free(m);
    return NULL;
}

struct model *
snap_load(const char *folder, const char *hash, struct err *e) {
    if (!is_hash(hash)) {
        err_set(e, "'%.80s' is not the name of a snapshot: 64 hexadecimal digits are", hash);
        return NULL;
    }
    char path[MAX_PATH];
    snap_path(folder, hash, path, sizeof path);
    struct buf bytes = {0};
    if (read_verified(path, hash, &bytes, e) < 0) {
        buf_free(&bytes);
        return NULL;
    }
    size_t size = bytes.len;
    struct tensors *t = tensors_decode(&bytes, path, e);
    struct model *m = t ? model_from(t, size, path, e) : NULL;
    tensors_free(t);
    return m;
}

/* ---- the Hugging Face folder ---- */

static double
real(float x) {
    char text[VALUE];
    spell_real(x, text);
    return strtod(text, NULL);
}

static json_t *
config_json(const struct model_config *c) {
    return json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:s, s:b, s:b, s:b, s:s, "
        "s:i, s:i}",
        "architectures", "LlamaForCausalLM", "model_type", "llama", "vocab_size", c->vocab,
        "hidden_size", c->dim, "intermediate_size", c->hidden, "num_hidden_layers", c->layers,
        "num_attention_heads", c->heads, "num_key_value_heads", c->kv_heads, "head_dim",
        c->dim / c->heads, "max_position_embeddings", c->context, "rope_theta", real(c->rope_theta),
        "rms_norm_eps", real(c->norm_eps), "hidden_act", "silu", "attention_bias", 0, "mlp_bias", 0,
        "tie_word_embeddings", c->tied ? 1 : 0, "torch_dtype", "float32", "bos_token_id", TOKEN_BOS,
        "eos_token_id", TOKEN_END);
}

static json_t *
generation_json(const struct model_config *c) {
    return json_pack("{s:i, s:i, s:b, s:i}", "bos_token_id", TOKEN_BOS, "eos_token_id", TOKEN_END,
                     "do_sample", 1, "max_length", c->context);
}

static json_t *
tokenizer_json(void) {
    return json_pack(
        "{s:s, s:s, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}}", "kind", "bytes", "note",
        "A byte of the UTF-8 text is its own id (0 to 255). Control tokens mark what follows; text "
        "never becomes one. A prompt is bos, pieces (a control token and its bytes), reply; the "
        "model then writes the bytes of its reply and end.",
        "control", "bos", TOKEN_BOS, "end", TOKEN_END, "text", TOKEN_TEXT, "rules", TOKEN_RULES,
        "view", TOKEN_VIEW, "news", TOKEN_NEWS, "legal", TOKEN_LEGAL, "reply", TOKEN_REPLY);
}

static int
write_json(const char *dir, const char *name, json_t *j, struct err *e) {
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    char *text = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    ensure(text);
    struct buf line = {0};
    buf_fmt(&line, "%s\n", text);
    int rc = file_write(path, line.at, line.len, true, e);
    buf_free(&line);
    free(text);
    json_decref(j);
    return rc;
}

static int
write_weights(const char *dir, const struct model *m, struct err *e) {
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    struct buf bytes = {0};
    encode(m, false, &bytes);
    int rc = file_write(path, bytes.at, bytes.len, true, e);
    buf_free(&bytes);
    return rc;
}

/* config.json comes last: a folder that has one is complete. */
int
snap_export_hf(const struct model *m, const char *dir, struct err *e) {
    if (strlen(dir) > MAX_PATH - 64)
        return err_set(e, "%.40s...: path too long", dir);
    if (file_mkdirs(dir, e) < 0 || write_weights(dir, m, e) < 0 ||
        write_json(dir, "agon_tokenizer.json", tokenizer_json(), e) < 0 ||
        write_json(dir, "generation_config.json", generation_json(&m->c), e) < 0 ||
        write_json(dir, "config.json", config_json(&m->c), e) < 0)
        return -1;
    return 0;
}
