/* A main function for the fuzz programs without libFuzzer: runs every stored input once. The inputs
 * of fuzz_conf are in tests/fuzz/corpus/conf, and on the command line more folders may be named. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define LARGEST (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs it on a copy of exactly its size, so that a sanitizer sees every byte read past the end. */
static void
run_bytes(const void *data, size_t size) {
    uint8_t *copy = mem_copy(data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int
run_folder(const char *folder) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *f; d && (f = readdir(d));) {
        char path[4096];
        struct buf input = {0};
        struct err e;
        if (f->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (file_read(path, LARGEST, &input, &e) < 0) {
            printf("%s\n", e.text);
            exit(1);
        }
        fprintf(stderr, "%s\n", path); /* the last one named is the one that crashed */
        run_bytes(input.at, input.len);
        buf_free(&input);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

int
main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    char folder[4096];
    int n = 0;
    if (!strncmp(name, "fuzz_", 5))
        name += 5;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
    run_bytes("", 0);
    n += run_folder(folder);
    for (int i = 1; i < argc; i++)
        n += run_folder(argv[i]);
    printf("%s - fuzz %s: %d inputs\n", n ? "ok" : "not ok", name, n);
    return n ? 0 : 1;
}
