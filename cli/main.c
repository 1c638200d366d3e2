/* agon: finds the command, reads its arguments, runs it, and turns an error into one sentence and
 * an exit status: 1 when a command failed, 2 when the command line was wrong. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/child.h"
#include "cli/cmd-list.h"
#include "policy/mat.h"

#define AGON_VERSION "0.1.0"

/* Errors may quote what was typed, or the words of a file or player: the terminal gets none of it
 * raw. */
static void
say(const char *name, const struct err *e) {
    char shown[4 * sizeof e->text];
    fprintf(stderr, "agon%s%s: %s\n", *name ? " " : "", name,
            utf8_show(e->text, shown, sizeof shown));
}

static int
usage_error(const char *name, const struct err *e) {
    say(name, e);
    return 2;
}

/* Where standard input, output or error is closed, the next file that is opened would take its
 * place, and get what is printed. What is put there instead can be neither read nor written, as
 * before. */
static void
fill_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
            _exit(1);
}

/* Did whoever read the output through a pipe have enough? errno may be of a later failure. */
static bool
is_reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Prints the error, if any. Output that did not reach its file is a failure too, and one to speak
 * of unless its reader had enough. */
static int
finish(const char *name, int status, const struct err *e) {
    bool lost = fflush(stdout) || ferror(stdout);
    int why = lost ? errno : 0;
    if (status < 0)
        say(name, e);
    else if (lost && !is_reader_gone())
        fprintf(stderr, "agon %s: cannot write the output: %s\n", name, strerror(why));
    if (status < 0 && e->usage)
        return 2;
    return status < 0 || (lost && !status) ? 1 : status;
}

static bool
asks_help(char **argv) {
    for (; *argv && strcmp(*argv, "--"); argv++)
        if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h"))
            return true;
    return false;
}

static int
run(const struct cmd *c, char **argv) {
    struct cmd_args a = {.argv = argv};
    struct err e = {.text = ""};
    child_follow_parent();
    if (asks_help(argv + 2)) {
        cmd_print_help(c, stdout);
        return finish(c->name, 0, &e);
    }
    if (cmd_read(c, argv + 2, &a, &e) < 0)
        return usage_error(c->name, &e);
    if (c->needs_mat)
        mat_choose_kernel(argv);
    return finish(c->name, c->run(&a, &e), &e);
}

static int
answer(int argc, char **argv) {
    struct err e = {.text = ""};
    if (argc < 2) {
        cmd_print_help(NULL, stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("agon " AGON_VERSION);
        return finish("--version", 0, &e);
    }
    bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
    const struct cmd *c = cmd_find(help ? "help" : argv[1]);
    if (!c) {
        cmd_unknown(argv[1], &e);
        return usage_error("", &e);
    }
    if (help) {
        cmd_print_help(NULL, stdout);
        return finish("help", 0, &e);
    }
    return run(c, argv);
}

int
main(int argc, char **argv) {
    fill_standard_files();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on files (ulimit -f) is an error like a full disk */
    int status = answer(argc, argv);
    fflush(NULL);
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks at the end */
    /* No farewell of libraries: OpenBLAS waits for its threads, and those that got no memory never
     * end. */
    _exit(status);
#endif
    return status;
}
