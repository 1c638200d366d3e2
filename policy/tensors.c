/* safetensors. The reader checks the whole layout first (header, then every entry, then that the
 * entries tile the data exactly, in order of their offsets) and only then lets anybody look at a
 * value. Names and metadata stay inside the parsed JSON, tensor bytes where they were read to. */
#include "policy/tensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensor bytes are copied as they are");

/* Bytes. The format allows 100 MB, but parsed JSON takes up to forty times its text, and this is
 * room for some 150,000 tensors in one file. */
#define MAX_HEADER (16u << 20)
#define MAX_DIMS 8
#define META_KEY "__metadata__"

enum dtype { F32, F16, BF16 };

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {[F32] = {"F32", 4}, [F16] = {"F16", 2}, [BF16] = {"BF16", 2}};
#define DTYPES (sizeof dtypes / sizeof *dtypes)

struct tensor {
    const char *name; /* owned by the JSON */
    enum dtype dtype;
    int dims;
    int64_t shape[MAX_DIMS];
    size_t begin, end, count;
};

struct tensors {
    char *where;
    struct buf bytes;
    const unsigned char *data; /* inside bytes */
    size_t size;               /* of data */
    json_t *root, *meta;       /* meta: borrowed from root, or NULL */
    struct tensor *t;
    size_t n;
};

/* ---- writing ---- */

static void
put_string(struct buf *b, const char *s) {
    buf_u8(b, '"');
    for (; *s; s++) {
        if ((unsigned char)*s < ' ')
            buf_fmt(b, "\\u%04x", (unsigned)*s);
        else if (*s == '"' || *s == '\\')
            buf_fmt(b, "\\%c", *s);
        else
            buf_u8(b, (uint8_t)*s);
    }
    buf_u8(b, '"');
}

static size_t
view_count(const struct tensor_view *v) {
    ensure(v->dims >= 0 && v->dims <= 4);
    size_t count = 1;
    for (int i = 0; i < v->dims; i++) {
        ensure(v->shape[i] >= 0);
        ensure(!__builtin_mul_overflow(count, (size_t)v->shape[i], &count));
    }
    ensure(count <= SIZE_MAX / sizeof(float));
    return count;
}

static void
put_entry(struct buf *b, const struct tensor_view *v, size_t begin) {
    ensure(strcmp(v->name, META_KEY) != 0);
    put_string(b, v->name);
    buf_put(b, ":{\"dtype\":\"F32\",\"shape\":[");
    for (int i = 0; i < v->dims; i++)
        buf_fmt(b, "%s%lld", i ? "," : "", (long long)v->shape[i]);
    buf_fmt(b, "],\"data_offsets\":[%zu,%zu]}", begin, begin + view_count(v) * sizeof(float));
}

static void
put_meta(struct buf *b, const struct tensor_meta *meta, size_t n) {
    buf_put(b, "\"" META_KEY "\":{");
    for (size_t i = 0; i < n; i++) {
        buf_put(b, i ? "," : "");
        put_string(b, meta[i].key);
        buf_u8(b, ':');
        put_string(b, meta[i].value);
    }
    buf_u8(b, '}');
}

void
tensors_encode(const struct tensor_view *t, size_t n, const struct tensor_meta *meta, size_t nmeta,
               struct buf *out) {
    struct buf header = {0};
    size_t size = 0;
    buf_u8(&header, '{');
    if (nmeta)
        put_meta(&header, meta, nmeta);
    for (size_t i = 0; i < n; i++) {
        if (i || nmeta)
            buf_u8(&header, ',');
        put_entry(&header, &t[i], size);
        size += view_count(&t[i]) * sizeof(float);
    }
    buf_u8(&header, '}');
    while (header.len % 8)
        buf_u8(&header, ' ');
    buf_room(out, 8 + header.len + size);
    buf_u64(out, header.len);
    buf_add(out, header.at, header.len);
    for (size_t i = 0; i < n; i++)
        buf_add(out, t[i].data, view_count(&t[i]) * sizeof(float));
    buf_free(&header);
}

/* ---- reading ---- */

static int
read_header(struct tensors *t, struct err *e) {
    struct rd r = {.at = t->bytes.at, .left = t->bytes.len};
    uint64_t size = rd_u64(&r);
    if (r.bad)
        return err_set(e, "the file has %zu bytes, too few for a header length", t->bytes.len);
    if (size > MAX_HEADER)
        return err_set(e, "the header is said to have %llu bytes, more than the %u allowed",
                       (unsigned long long)size, MAX_HEADER);
    if (size > r.left)
        return err_set(e, "the header is said to have %llu bytes, but only %zu follow",
                       (unsigned long long)size, r.left);
    if (!size || *r.at != '{')
        return err_set(e, "the header does not begin with '{'");
    json_error_t why;
    t->root = json_loadb((const char *)r.at, (size_t)size, JSON_REJECT_DUPLICATES, &why);
    if (!t->root)
        return err_set(e, "the header is not valid JSON: %s", why.text);
    t->data = r.at + size;
    t->size = r.left - (size_t)size;
    return 0;
}

static int
read_meta(struct tensors *t, struct err *e) {
    t->meta = json_object_get(t->root, META_KEY);
    if (!t->meta)
        return 0;
    if (!json_is_object(t->meta))
        return err_set(e, META_KEY " is not an object");
    const char *key;
    json_t *value;
    json_object_foreach(t->meta, key, value) {
        if (!json_is_string(value))
            return err_set(e, META_KEY ": the value of '%.100s' is not a string", key);
    }
    return 0;
}

static int
read_dtype(const json_t *j, struct tensor *t, struct err *e) {
    const char *name = json_string_value(j);
    for (size_t i = 0; name && i < DTYPES; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            t->dtype = (enum dtype)i;
            return 0;
        }
    }
    return err_set(e, "dtype is %.20s%s; F32, F16 and BF16 can be read", name ? name : "not given",
                   name ? "" : " as a string");
}

static int
read_shape(const json_t *j, struct tensor *t, struct err *e) {
    if (!json_is_array(j) || json_array_size(j) > MAX_DIMS)
        return err_set(e, "shape is not a list of at most %d numbers", MAX_DIMS);
    t->dims = (int)json_array_size(j);
    t->count = 1;
    for (int i = 0; i < t->dims; i++) {
        const json_t *d = json_array_get(j, (size_t)i);
        t->shape[i] = json_integer_value(d);
        if (!json_is_integer(d) || t->shape[i] < 0)
            return err_set(e, "shape holds something that is not a whole number >= 0");
        if (__builtin_mul_overflow(t->count, (size_t)t->shape[i], &t->count))
            return err_set(e, "shape has too many elements to count");
    }
    return 0;
}

static int
read_offsets(const json_t *j, size_t size, struct tensor *t, struct err *e) {
    const json_t *begin = json_array_get(j, 0), *end = json_array_get(j, 1);
    if (json_array_size(j) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return err_set(e, "data_offsets is not a list of two whole numbers");
    json_int_t a = json_integer_value(begin), b = json_integer_value(end);
    if (a < 0 || b < a || (uint64_t)b > size)
        return err_set(e, "data_offsets [%lld,%lld] do not lie in the %zu bytes of data", a, b,
                       size);
    t->begin = (size_t)a;
    t->end = (size_t)b;
    size_t want;
    if (__builtin_mul_overflow(t->count, dtypes[t->dtype].size, &want) || want != t->end - t->begin)
        return err_set(e, "data_offsets span %zu bytes, which its shape and dtype do not",
                       t->end - t->begin);
    return 0;
}

static int
read_entry(const json_t *j, size_t size, struct tensor *t, struct err *e) {
    if (!json_is_object(j) || json_object_size(j) != 3)
        return err_set(e, "the entry is not an object of dtype, shape and data_offsets");
    if (read_dtype(json_object_get(j, "dtype"), t, e) < 0 ||
        read_shape(json_object_get(j, "shape"), t, e) < 0 ||
        read_offsets(json_object_get(j, "data_offsets"), size, t, e) < 0)
        return -1;
    return 0;
}

static int
read_entries(struct tensors *t, struct err *e) {
    t->t = mem_zero(json_object_size(t->root) + 1, sizeof *t->t);
    const char *key;
    json_t *value;
    json_object_foreach(t->root, key, value) {
        if (strcmp(key, META_KEY) == 0)
            continue;
        struct tensor *one = &t->t[t->n++];
        one->name = key;
        if (read_entry(value, t->size, one, e) < 0)
            return err_prefix(e, "tensor '%.100s'", key);
    }
    return 0;
}

static int
by_offset(const void *a, const void *b) {
    const struct tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Sorts the entries by offset and checks that they tile the data. */
static int
check_tiling(struct tensors *t, struct err *e) {
    qsort(t->t, t->n, sizeof *t->t, by_offset);
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->t[i].begin < at)
            return err_set(e, "tensor '%.100s' overlaps '%.100s'", t->t[i].name, t->t[i - 1].name);
        if (t->t[i].begin > at)
            return err_set(e, "%zu bytes before tensor '%.100s' belong to no tensor",
                           t->t[i].begin - at, t->t[i].name);
        at = t->t[i].end;
    }
    if (at != t->size)
        return err_set(e, "%zu bytes at the end belong to no tensor", t->size - at);
    return 0;
}

struct tensors *
tensors_decode(struct buf *bytes, const char *where, struct err *e) {
    struct tensors *t = mem_zero(1, sizeof *t);
    t->where = mem_text(where);
    t->bytes = *bytes;
    *bytes = (struct buf){0};
    if (read_header(t, e) < 0 || read_meta(t, e) < 0 || read_entries(t, e) < 0 ||
        check_tiling(t, e) < 0) {
        err_prefix(e, "%s", where);
        tensors_free(t);
        return NULL;
    }
    return t;
}

void
tensors_free(struct tensors *t) {
    if (!t)
        return;
    free(t->where);
    free(t->t);
    json_decref(t->root);
    buf_free(&t->bytes);
    free(t);
}

size_t
tensors_count(const struct tensors *t) {
    return t->n;
}

const char *
tensors_name(const struct tensors *t, size_t i) {
    ensure(i < t->n);
    return t->t[i].name;
}

const char *
tensors_meta(const struct tensors *t, const char *key) {
    return json_string_value(json_object_get(t->meta, key));
}

static uint32_t
widen_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    float small = (float)fraction * 0x1p-24f; /* zero and subnormals: exact */
    uint32_t bits;
    memcpy(&bits, &small, sizeof bits);
    return sign | bits;
}

static void
widen(float *out, const unsigned char *in, enum dtype dtype, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t h = (uint16_t)(in[2 * i] | in[2 * i + 1] << 8);
        uint32_t bits = dtype == F16 ? widen_half(h) : (uint32_t)h << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

static bool
all_finite(const float *x, size_t n) {
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bad |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !bad;
}

static const struct tensor *
find_tensor(const struct tensors *t, const char *name) {
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->t[i].name, name) == 0)
            return &t->t[i];
    return NULL;
}

static bool
same_shape(const struct tensor *one, const int64_t *shape, int dims) {
    if (one->dims != dims)
        return false;
    for (int i = 0; i < dims; i++)
        if (one->shape[i] != shape[i])
            return false;
    return true;
}

static void
shape_text(const int64_t *shape, int dims, char *out, size_t cap) {
    struct text t;
    text_init(&t, out, cap);
    for (int i = 0; i < dims; i++)
        text_fmt(&t, "%s%lld", i ? "," : "", (long long)shape[i]);
}

int
tensors_read(const struct tensors *t, const char *name, const int64_t *shape, int dims, float *out,
             struct err *e) {
    const struct tensor *one = find_tensor(t, name);
    if (!one)
        return err_set(e, "%s: there is no tensor '%.100s'", t->where, name);
    if (!same_shape(one, shape, dims)) {
        char at[2][MAX_DIMS * 24];
        shape_text(one->shape, one->dims, at[0], sizeof at[0]);
        shape_text(shape, dims, at[1], sizeof at[1]);
        return err_set(e, "%s: tensor '%.100s' has the shape [%s], [%s] is needed", t->where, name,
                       at[0], at[1]);
    }
    const unsigned char *in = t->data + one->begin;
    if (one->dtype == F32 && one->count)
        memcpy(out, in, one->count * sizeof *out);
    else
        widen(out, in, one->dtype, one->count);
    if (!all_finite(out, one->count))
        return err_set(e, "%s: tensor '%.100s' holds a value that is not finite", t->where, name);
    return 0;
}
