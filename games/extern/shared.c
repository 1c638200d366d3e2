/* The bytes that were hashed are the bytes that run: the file is read once, and the loader gets
 * it from memory. So a file that is overwritten while it is in use disturbs nobody, and another
 * content under the same path is another library. */
#include "games/extern/shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "games/extern/extern.h"

#define SHARED_MOST ((size_t)256 << 20)

/* The descriptor stays open: the loader knows a library by its name, and a number that is used
 * again would be the name of another. */
static void *
load(const struct buf *file, const char *path, struct err *e) {
    char name[64];
    int fd = memfd_create("agon-game", MFD_CLOEXEC);
    size_t at = 0;
    while (fd >= 0 && at < file->len) {
        ssize_t n = write(fd, file->at + at, file->len - at);
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    if (fd < 0 || at < file->len) {
        err_set(e, "%s: cannot hold it in memory: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror(), *rest = why ? strstr(why, ": ") : NULL;
        err_set(e, "%s: cannot be loaded: %.500s", path, rest ? rest + 2 : why ? why : "?");
        close(fd);
    }
    return library;
}

const struct game *
shared_load(const char *path, char hash[HASH_HEX], struct err *e) {
    struct buf file = {0};
    void *library = NULL;
    if (file_read(path, SHARED_MOST, &file, e) == 0) {
        hash_hex(file.at, file.len, hash);
        library = load(&file, path, e);
    }
    buf_free(&file);
    if (!library)
        return NULL;
    const int *abi = dlsym(library, EXTERN_ABI);
    const struct game *g = dlsym(library, EXTERN_GAME);
    const char *lacks = !abi ? EXTERN_ABI : !g ? EXTERN_GAME : NULL;
    if (lacks)
        err_set(e,
                "%s: exports no %s; a game needs `const struct game %s = {...};` and `const int "
                "%s = GAME_ABI;`",
                path, lacks, EXTERN_GAME, EXTERN_ABI);
    else if (*abi != GAME_ABI)
        err_set(e,
                "%s: was built for version %d of games/game.h, this program has version %d: "
                "build it anew",
                path, *abi, GAME_ABI);
    else if (!g->name || !g->title)
        err_set(e, "%s: %s needs a name and a title", path, EXTERN_GAME);
    else
        return g;
    dlclose(library);
    return NULL;
}
