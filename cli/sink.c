#include "cli/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"

struct packer {
    ZSTD_CStream *stream;
    FILE *file;
    char room[1 << 16];
};

static int
pack(struct packer *p, ZSTD_inBuffer *in, ZSTD_EndDirective how) {
    for (;;) {
        ZSTD_outBuffer out = {p->room, sizeof p->room, 0};
        size_t left = ZSTD_compressStream2(p->stream, &out, in, how);
        if (ZSTD_isError(left)) {
            errno = EIO;
            return -1;
        }
        if (out.pos && fwrite(p->room, 1, out.pos, p->file) != out.pos)
            return -1;
        if (how == ZSTD_e_end ? left == 0 : in->pos == in->size)
            return 0;
    }
}

static ssize_t
pack_write(void *cookie, const char *p, size_t n) {
    ZSTD_inBuffer in = {p, n, 0};
    return pack(cookie, &in, ZSTD_e_continue) < 0 ? 0 : (ssize_t)n;
}

static int
pack_end(void *cookie) {
    struct packer *p = cookie;
    ZSTD_inBuffer none = {NULL, 0, 0};
    int bad = pack(p, &none, ZSTD_e_end);
    ZSTD_freeCStream(p->stream);
    p->stream = NULL;
    return bad;
}

static bool
ends_in_zst(const char *path) {
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".zst");
}

static int
start_packing(struct sink *s, struct err *e) {
    struct packer *p = s->zstd = mem_zero(1, sizeof *p);
    p->file = s->file;
    p->stream = ZSTD_createCStream();
    if (!p->stream)
        return err_set(e, "%s: zstd has no memory", s->path);
    ZSTD_CCtx_setParameter(p->stream, ZSTD_c_checksumFlag, 1);
    cookie_io_functions_t io = {.write = pack_write, .close = pack_end};
    s->out = fopencookie(p, "w", io);
    return s->out ? 0 : err_set(e, "%s: %s", s->path, strerror(errno));
}

int
sink_open(struct sink *s, const char *path, struct err *e) {
    *s = (struct sink){.out = stdout, .file = stdout};
    if (!path || !strcmp(path, "-"))
        return 0;
    struct stat st;
    if (!*path || strlen(path) >= sizeof s->path)
        return err_set(e, "the output file's name is empty or too long");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, "%s: is no ordinary file, and is not replaced", path);
    snprintf(s->path, sizeof s->path, "%s", path);
    snprintf(s->temp, sizeof s->temp, "%s.tmp%ld", path, (long)getpid());
    s->out = s->file = fopen(s->temp, "wxe");
    if (!s->file) {
        err_set(e, "%s: cannot create: %s", s->temp, strerror(errno));
        s->temp[0] = '\0';
        return -1;
    }
    return ends_in_zst(path) ? start_packing(s, e) : 0;
}

/* Everything to the disk; the first error counts. */
static int
finish(struct sink *s, struct err *e) {
    bool bad = s->out && (fflush(s->out) || ferror(s->out));
    int why = bad ? errno : 0;
    if (s->zstd && s->out && fclose(s->out) && !bad) {
        bad = true;
        why = errno;
    }
    if (!bad && (fflush(s->file) || ferror(s->file) || fsync(fileno(s->file)))) {
        bad = true;
        why = errno;
    }
    s->out = NULL;
    if (bad)
        return err_set(e, "%s: cannot write: %s", s->path, strerror(why));
    return 0;
}

int
sink_close(struct sink *s, bool keep, struct err *e) {
    int bad = 0;
    if (!s->path[0]) /* main() tells of trouble with standard output */
        return 0;
    if (s->file)
        bad = finish(s, keep ? e : NULL);
    if (s->file)
        fclose(s->file);
    if (s->zstd)
        ZSTD_freeCStream(((struct packer *)s->zstd)->stream);
    free(s->zstd);
    if (keep && !bad && s->temp[0])
        bad = file_rename(s->temp, s->path, e);
    if ((!keep || bad) && s->temp[0])
        unlink(s->temp);
    *s = (struct sink){0};
    return keep ? bad : 0;
}
