#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
checked(void *p, size_t bytes) {
    if (!p) {
        fprintf(stderr, "agon: out of memory (%zu bytes asked for)\n", bytes);
        exit(1);
    }
    return p;
}

static size_t
product(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        checked(NULL, SIZE_MAX);
    size_t bytes = count * size;
    return bytes ? bytes : 1;
}

void *
mem_alloc(size_t bytes) {
    return checked(malloc(bytes ? bytes : 1), bytes);
}

void *
mem_zero(size_t count, size_t size) {
    return checked(calloc(1, product(count, size)), count * size);
}

void *
mem_grow(void *p, size_t count, size_t size) {
    size_t bytes = product(count, size);
    return checked(realloc(p, bytes), bytes);
}

char *
mem_text(const char *s) {
    return mem_copy(s, strlen(s) + 1);
}

void *
mem_copy(const void *p, size_t bytes) {
    void *copy = mem_alloc(bytes);
    if (bytes)
        memcpy(copy, p, bytes);
    return copy;
}

void *
mem_aligned(size_t bytes) {
    size_t rounded = (bytes + 63) / 64 * 64;
    if (rounded < bytes)
        checked(NULL, bytes);
    void *p = checked(aligned_alloc(64, rounded ? rounded : 64), bytes);
    memset(p, 0, rounded ? rounded : 64);
    return p;
}
