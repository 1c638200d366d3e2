/* Files: bounded reading; writing that leaves the old file or the new one, never a part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static char folder[64];

static int
make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/agon-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *
in_folder(const char *name) {
    static char path[4][256];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static int
count_files(const char *path) {
    DIR *d = opendir(path);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));)
        n += f->d_name[0] != '.';
    closedir(d);
    return n;
}

/* A pipe in the place of a file does not make anybody wait; one that was named may. */
static void
test_no_ordinary_file(void **state) {
    (void)state;
    struct err e;
    struct buf b = {0};
    char path[64];
    int ends[2];
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "/dev/zero" : in_folder("pipe");
        assert_int_equal(file_open(name, &e), -1);
        assert_int_equal(file_read(name, 1 << 20, &b, &e), -1);
        assert_non_null(strstr(e.text, "is a pipe or a device, an ordinary file is needed"));
    }
    assert_int_equal(b.len, 0);
    assert_int_equal(file_read_named("/dev/zero", 1 << 20, &b, &e), -1);
    assert_non_null(strstr(e.text, "longer than"));
    buf_clear(&b);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "words", 5), 5);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(file_read_named(path, 5, &b, &e), 0);
    assert_int_equal(b.len, 5);
    assert_memory_equal(b.at, "words", 5);
    close(ends[0]);
    assert_int_equal(file_read_named(folder, 5, &b, &e), -1);
    assert_non_null(strstr(e.text, "is a folder"));
    assert_int_equal(file_read_named(in_folder("none"), 5, &b, &e), -1);
    buf_free(&b);
    assert_int_equal(unlink(in_folder("pipe")), 0);
}

static void
test_read(void **state) {
    (void)state;
    struct err e;
    struct buf b = {0};
    buf_put(&b, "before ");
    assert_int_equal(file_write(in_folder("r"), "a\0b", 3, true, &e), 0);
    assert_int_equal(file_read(in_folder("r"), 3, &b, &e), 0);
    assert_int_equal(b.len, 10);
    assert_memory_equal(b.at, "before a\0b", 10);
    assert_int_equal(file_read(in_folder("r"), 2, &b, &e), -1);
    assert_non_null(strstr(e.text, "longer than the 2 bytes"));
    assert_int_equal(file_read(in_folder("none"), 2, &b, &e), -1);
    assert_non_null(strstr(e.text, "cannot open: No such file"));
    assert_int_equal(file_read(folder, 2, &b, &e), -1);
    assert_non_null(strstr(e.text, "is a folder"));
    assert_int_equal(b.len, 10 + 3);
    buf_free(&b);
    assert_true(file_exists(in_folder("r")));
    assert_false(file_exists(in_folder("none")));
}

static void
test_large(void **state) {
    (void)state;
    struct err e;
    struct buf b = {0};
    size_t n = 3000001;
    unsigned char *big = mem_alloc(n);
    for (size_t i = 0; i < n; i++)
        big[i] = (unsigned char)(i * 2654435761u >> 13);
    assert_int_equal(file_write(in_folder("large"), big, n, false, &e), 0);
    assert_int_equal(file_read(in_folder("large"), n, &b, &e), 0);
    assert_int_equal(b.len, n);
    assert_memory_equal(b.at, big, n);
    buf_free(&b);
    free(big);
}

static void
test_refused_write_keeps_old(void **state) {
    (void)state;
    struct err e;
    assert_int_equal(file_write(in_folder("no/such/x"), "x", 1, true, &e), -1);
    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(mkdir(in_folder("d/full"), 0777), 0);
    assert_int_equal(file_write(in_folder("d/full"), "x", 1, true, &e), -1);
    assert_non_null(strstr(e.text, "cannot write"));
    assert_int_equal(count_files(in_folder("d")), 1); /* no temporary file is left */
}

/* A process that may write no more than 1000 bytes to a file: what a full disk looks like. */
static void
test_full_disk(void **state) {
    (void)state;
    struct err e;
    struct buf b = {0};
    char big[5000] = "new";
    assert_int_equal(mkdir(in_folder("small"), 0777), 0);
    assert_int_equal(file_write(in_folder("small/x"), "old", 3, true, &e), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(file_write(in_folder("small/x"), big, sizeof big, true, &e) == -1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(file_read(in_folder("small/x"), 100, &b, &e), 0);
    assert_string_equal(buf_text(&b), "old");
    assert_int_equal(count_files(in_folder("small")), 1);
    buf_free(&b);
}

/* A reader meets whole files only, while a writer replaces them, and also when the writer is
 * killed. */
static void
test_whole_or_not(void **state) {
    (void)state;
    struct err e;
    static char bytes[2][20000];
    memset(bytes[0], 'a', sizeof bytes[0]);
    memset(bytes[1], 'b', sizeof bytes[1]);
    assert_int_equal(file_write(in_folder("w"), bytes[0], sizeof bytes[0], false, &e), 0);
    pid_t writer = fork();
    if (writer == 0)
        for (unsigned i = 0;; i++)
            file_write(in_folder("w"), bytes[i % 2], sizeof bytes[0] - i % 2, false, &e);
    for (int i = 0; i < 500; i++) {
        struct buf b = {0};
        assert_int_equal(file_read(in_folder("w"), sizeof bytes[0], &b, &e), 0);
        bool first = b.len == sizeof bytes[0];
        assert_true(first || b.len == sizeof bytes[0] - 1);
        assert_memory_equal(b.at, bytes[!first], b.len);
        buf_free(&b);
        if (i == 400)
            kill(writer, SIGKILL);
    }
    int status;
    waitpid(writer, &status, 0);
}

static void
test_mkdirs(void **state) {
    (void)state;
    struct err e;
    assert_int_equal(file_mkdirs(in_folder("a/b//c/"), &e), 0);
    assert_int_equal(file_mkdirs(in_folder("a/b/c"), &e), 0);
    assert_true(file_exists(in_folder("a/b/c")));
    assert_int_equal(file_mkdirs("/", &e), 0);
    assert_int_equal(file_mkdirs(".", &e), 0);
    assert_int_equal(file_mkdirs("", &e), -1);
    assert_int_equal(file_write(in_folder("a/file"), "x", 1, false, &e), 0);
    assert_int_equal(file_mkdirs(in_folder("a/file/x"), &e), -1);
    assert_int_equal(file_mkdirs(in_folder("a/file"), &e), -1);
    assert_non_null(strstr(e.text, "is not a folder"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),      cmocka_unit_test(test_no_ordinary_file),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_refused_write_keeps_old),
        cmocka_unit_test(test_full_disk), cmocka_unit_test(test_whole_or_not),
        cmocka_unit_test(test_mkdirs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
