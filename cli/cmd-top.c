/* agon top: a run as it goes on. On a terminal one page that is drawn over again and again, on a
 * screen of its own, so that the terminal is as it was when the command ends; elsewhere a line each
 * time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/top.h"

enum { EVERY = 2, EVERY_MOST = 3600, COLUMNS = 80, ROWS = 24 };

static volatile sig_atomic_t asked_to_stop, asked_to_pause;

static void
on_stop(int number) {
    (void)number;
    asked_to_stop = 1;
}

static void
on_pause(int number) {
    (void)number;
    asked_to_pause = 1;
}

static bool
is_stopped(void *arg) {
    (void)arg;
    return asked_to_stop || asked_to_pause;
}

struct screen {
    bool on, keys; /* keys: standard input is the terminal, too */
    struct termios before;
};

/* ---- the terminal ---- */

/* A screen of its own, no cursor, no echo. */
static void
screen_enter(struct screen *s) {
    struct termios quiet;
    fputs("\033[?1049h\033[?25l", stdout);
    fflush(stdout);
    s->on = true;
    s->keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->before) == 0;
    if (!s->keys)
        return;
    quiet = s->before;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
}

static void
screen_leave(struct screen *s) {
    if (!s->on)
        return;
    s->on = false;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (s->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

/* Bytes of the line that fit into so many columns. */
static size_t
fitting(const char *line, size_t n, int columns) {
    size_t at = 0;
    for (; at < n; at++)
        if (((unsigned char)line[at] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return at;
}

static void
screen_draw(const char *page) {
    struct winsize w = {.ws_col = COLUMNS, .ws_row = ROWS};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
    int columns = w.ws_col ? w.ws_col : COLUMNS, rows = w.ws_row ? w.ws_row : ROWS;
    fputs("\033[H", stdout);
    for (int row = 0; *page && row < rows; row++) {
        size_t n = strcspn(page, "\n");
        fprintf(stdout, "%s%.*s\033[K", row ? "\r\n" : "", (int)fitting(page, n, columns), page);
        page += n + (page[n] == '\n');
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}

/* Ctrl-Z: the shell gets its terminal as it was, and the page comes back with `fg`. */
static void
pause_here(struct screen *s) {
    asked_to_pause = 0;
    screen_leave(s);
    raise(SIGSTOP);
    screen_enter(s);
}

/* ---- the loop ---- */

/* Waits for so long, a signal, or q. */
static void
wait_for(const struct screen *s, double seconds) {
    int64_t until = clock_mono_us() + (int64_t)(seconds * 1e6), left;
    while (!is_stopped(NULL) && (left = until - clock_mono_us()) > 0) {
        struct pollfd in = {.fd = s->keys ? STDIN_FILENO : -1, .events = POLLIN};
        char key;
        if (poll(&in, 1, (int)(left / 1000) + 1) <= 0 || !in.revents)
            continue;
        if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q')
            asked_to_stop = 1;
        else if (key == ' ')
            return;
    }
}

/* -1: the database cannot be read; what is known without it is shown. */
static int
show(struct top *t, struct screen *s, bool json, bool page, struct err *e) {
    struct top_look look;
    struct buf out = {0};
    top_take(t, &look);
    int status = look.trouble[0] ? err_set(e, "%s", look.trouble) : 0;
    if (json) {
        json_t *o = top_json(t, &look);
        json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(o);
    } else {
        (page ? top_page : top_line)(t, &look, &out);
        if (s->on)
            screen_draw(buf_text(&out));
        else
            fputs(buf_text(&out), stdout);
    }
    fflush(stdout);
    buf_free(&out);
    top_free(&look);
    return status;
}

static void
watch_signals(void) {
    const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &(struct sigaction){.sa_handler = on_stop}, NULL);
}

static void
loop(struct top *t, double every, bool json) {
    struct screen s = {.on = false};
    watch_signals();
    if (!json && isatty(STDOUT_FILENO)) {
        sigaction(SIGTSTP, &(struct sigaction){.sa_handler = on_pause}, NULL);
        screen_enter(&s);
    }
    while (!asked_to_stop && !ferror(stdout)) {
        show(t, &s, json, s.on, NULL);
        wait_for(&s, every);
        if (asked_to_pause && !asked_to_stop)
            pause_here(&s);
    }
    screen_leave(&s);
}

static int
read_every(const char *given, double *out, struct err *e) {
    char *end = NULL;
    *out = given ? strtod(given, &end) : EVERY;
    if (given && (end == given || *end || !(*out >= 0.1 && *out <= EVERY_MOST)))
        return err_usage(e, "--every %.40s: seconds from 0.1 to %d are needed", given, EVERY_MOST);
    return 0;
}

static int
run_top(const struct cmd_args *a, struct err *e) {
    struct top t = {.stop = is_stopped};
    struct screen none = {.on = false};
    bool json = cmd_flag(a, "json") != NULL;
    double every;
    if (read_every(cmd_flag(a, "every"), &every, e) < 0 ||
        run_find(cmd_flag(a, "run"), t.dir, e) < 0)
        return -1;
    int status = 0;
    if (cmd_flag(a, "once"))
        status = show(&t, &none, json, true, e);
    else
        loop(&t, every, json);
    top_close(&t);
    return status;
}

const struct cmd cmd_top = {
    .name = "top",
    .args = "",
    .help = "Watch a run: speed, queue, where time goes, results, newest steps and evaluations.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"every", "S", "seconds between two looks (default 2)"},
            {"once", NULL, "print one page, and end"},
            {"json", NULL, "one JSON object a look"},
            {0},
        },
    .run = run_top,
};
