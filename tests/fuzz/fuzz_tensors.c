/* A safetensors file is either refused with a sentence, or every tensor of it can be named, and
 * read where the shape is one of those tried here. What is read is finite. */
#include <math.h>
#include <string.h>

#include "policy/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_tensor(const struct tensors *t, const char *name) {
    static const struct {
        int64_t shape[3];
        int dims, count;
    } tries[] = {{{0}, 0, 1},    {{0}, 1, 0},    {{1}, 1, 1},       {{2}, 1, 2},
                 {{3}, 1, 3},    {{4}, 1, 4},    {{2, 2}, 2, 4},    {{2, 3}, 2, 6},
                 {{1, 1}, 2, 1}, {{0, 7}, 2, 0}, {{1, 2, 3}, 3, 6}, {{8}, 1, 8}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        float out[8];
        struct err e = {.text = ""};
        if (tensors_read(t, name, tries[i].shape, tries[i].dims, out, &e) < 0) {
            ensure(e.text[0]);
            continue;
        }
        for (int k = 0; k < tries[i].count; k++)
            ensure(isfinite(out[k]));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct buf bytes = {0};
    struct err e = {.text = ""};
    buf_add(&bytes, data, size);
    struct tensors *t = tensors_decode(&bytes, "in", &e);
    ensure(!bytes.at);
    if (!t) {
        ensure(!strncmp(e.text, "in: ", 4));
        return 0;
    }
    tensors_meta(t, "format");
    for (size_t i = 0; i < tensors_count(t) && i < 64; i++)
        check_tensor(t, tensors_name(t, i));
    tensors_free(t);
    return 0;
}
