/* The parent of a training run. It computes nothing itself: it starts `agon serve` and `agon learn`
 * on the run folder, asks the server how things stand, lets `agon eval --json` measure now and
 * then, and prints. A server or learner that dies is started again (both continue from the
 * database); one that keeps dying ends the run with the last line of its log. */
#include "cli/train.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/lock.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/child.h"
#include "cli/prepare.h"
#include "cli/server.h"
#include "cli/train-evals.h"
#include "cli/train-table.h"

#define POLL_US 200000
#define STATUS_US 1000000
#define DEATHS_MOST 8 /* in a row, each within DEATH_SOON_US of its start or without any progress */
#define DEATH_SOON_US 5000000
#define STOP_S 30
#define MEMORY_AT_S 20 /* first measurement of memory */
#define MOST_PIDS 64

static volatile sig_atomic_t asked_to_stop; /* how often */

static void
on_signal(int signal) {
    (void)signal;
    if (asked_to_stop < 100)
        asked_to_stop++;
}

struct part { /* the server or the learner */
    const char *name;
    struct child child;
    int64_t started_us;
    int64_t progress; /* of the run when it last died */
    int deaths;
    bool finished;
};

struct status { /* of the server */
    int64_t step, last_step, played, matches, tokens, invalid;
    long pids[MOST_PIDS];
    int npids;
};

enum measured { MEASURE_LATEST, MEASURE_MIXTURE, MEASURE_IDLE };

struct train {
    const char *dir;
    const struct conf *conf;
    struct part serve, learn;
    struct child eval;
    enum measured measuring;
    int64_t began_us, polled_us, measured_us;
    struct http *http;
    char page[SERVER_LINK]; /* the address that was printed */
    struct status now, at_row, at_line;
    int64_t row_us, line_us;
    struct train_table table;
    struct train_evals evals;
    bool terminal;
    double memory_first[2 + MOST_PIDS], memory_last[2 + MOST_PIDS];
    int memory_count;
};

/* ---- the server's view ---- */

static void
clear_line(const struct train *t) {
    if (t->terminal)
        printf("\r\033[K");
}

static int64_t
field(const json_t *o, const char *name) {
    return json_integer_value(json_object_get(o, name));
}

/* Where the page is, when that has changed. The token is for the owner's terminal only. */
static void
print_page(struct train *t) {
    char page[SERVER_LINK];
    if (!server_page(t->dir, t->terminal, page) || !strcmp(page, t->page))
        return;
    memcpy(t->page, page, sizeof page);
    clear_line(t);
    printf("Page: %s\n", page);
    fflush(stdout);
}

static bool
read_status(struct train *t) {
    if (!t->http)
        t->http = server_connect(t->dir);
    if (!t->http)
        return false;
    json_t *o = NULL;
    if (http_call(t->http, "GET", "/api/run", NULL, 0, 2, NULL) == 200)
        o = http_json(t->http, NULL);
    if (!o) { /* it was restarted, perhaps on another port */
        http_free(t->http);
        t->http = NULL;
        return false;
    }
    print_page(t);
    struct status *s = &t->now;
    *s = (struct status){.step = field(o, "step"),
                         .last_step = field(o, "last_step"),
                         .played = field(o, "played"),
                         .matches = field(o, "matches"),
                         .tokens = field(o, "tokens"),
                         .invalid = field(o, "invalid")};
    json_t *pids = json_object_get(o, "worker_pids"), *pid;
    size_t i;
    json_array_foreach(pids, i, pid) {
        if (s->npids < MOST_PIDS)
            s->pids[s->npids++] = (long)json_integer_value(pid);
    }
    json_decref(o);
    /* After a restart the server counts from zero. */
    if (s->matches < t->at_row.matches)
        t->at_row = (struct status){0};
    if (s->matches < t->at_line.matches)
        t->at_line = (struct status){0};
    return true;
}

/* Resident memory of a process in MiB; 0 when it is not there. */
static double
memory_of(long pid) {
    char path[64], text[512];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    if (!fgets(text, sizeof text, f) || sscanf(text, "%*s %ld", &pages) != 1)
        pages = 0;
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static void
measure_memory(struct train *t) {
    double *m = t->memory_last;
    t->memory_count = 2 + t->now.npids;
    m[0] = memory_of(t->serve.child.pid);
    m[1] = memory_of(t->learn.child.pid);
    for (int i = 0; i < t->now.npids; i++)
        m[2 + i] = memory_of(t->now.pids[i]);
    if (t->memory_first[0] == 0 && clock_mono_us() - t->began_us > MEMORY_AT_S * 1000000ll)
        memcpy(t->memory_first, m, sizeof t->memory_first);
}

/* ---- printing ---- */

static double
per_second(int64_t n, int64_t us) {
    return us > 0 ? (double)n * 1e6 / (double)us : 0;
}

static void
print_line(struct train *t, double limit) {
    int64_t now = clock_mono_us();
    if (!t->terminal)
        return;
    double seconds = (double)(now - t->began_us) / 1e6;
    clear_line(t);
    printf("step %lld  matches %lld  %.0f matches/s  %.0f tokens/s  %.0f s", (long long)t->now.step,
           (long long)t->now.played,
           per_second(t->now.matches - t->at_line.matches, now - t->line_us),
           per_second(t->now.tokens - t->at_line.tokens, now - t->line_us), seconds);
    if (limit > 0)
        printf(" of %.0f", limit);
    fflush(stdout);
    t->at_line = t->now;
    t->line_us = now;
}

static void
print_rows(struct train *t) {
    int64_t now = clock_mono_us(), us = now - t->row_us;
    struct train_speed speed = {.played = t->now.played,
                                .seconds = (double)(now - t->began_us) / 1e6,
                                .matches_s = per_second(t->now.matches - t->at_row.matches, us),
                                .tokens_s = per_second(t->now.tokens - t->at_row.tokens, us)};
    clear_line(t);
    train_table_print(&t->table, &speed);
    fflush(stdout);
    t->at_row = t->now;
    t->row_us = now;
}

/* ---- measuring ---- */

static void
eval_path(const struct train *t, char *out, size_t cap) {
    snprintf(out, cap, "%s/logs/eval.json", t->dir);
}

static int
start_eval(struct train *t, enum measured what, struct err *e) {
    char out[PREPARE_PATH + 32], log[PREPARE_PATH + 32];
    eval_path(t, out, sizeof out);
    snprintf(log, sizeof log, "%s/logs/eval.log", t->dir);
    bool latest = what == MEASURE_LATEST;
    const char *argv[] = {"eval",
                          "--run",
                          t->dir,
                          "--policy",
                          latest ? "latest" : "mixture",
                          "--json",
                          latest ? NULL : "--exact",
                          NULL};
    t->measuring = what;
    t->measured_us = clock_mono_us();
    return child_start(&t->eval, argv, out, log, e);
}

/* Into the run's database. */
static void
send_evals(struct train *t) {
    if (!json_array_size(t->evals.waiting))
        return;
    clear_line(t);
    train_evals_send(&t->evals, t->http);
}

/* Takes in what a measurement printed: a line of JSON for each game. Returns their number; 0 when
 * it failed. */
static int
read_eval(struct train *t, enum measured what) {
    char path[PREPARE_PATH + 32], *save = NULL;
    struct buf text = {0};
    int n = 0;
    eval_path(t, path, sizeof path);
    if (what == MEASURE_LATEST)
        t->table.n = 0;
    if (child_ok(&t->eval) && file_read(path, 1 << 24, &text, NULL) == 0) {
        buf_u8(&text, 0);
        for (char *line = strtok_r((char *)text.at, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
            json_t *o = json_loads(line, 0, NULL);
            if (!o)
                continue;
            train_evals_add(&t->evals, o);
            if (what == MEASURE_LATEST)
                train_table_latest(&t->table, o);
            else
                train_table_mixture(&t->table, o);
            json_decref(o);
            n++;
        }
    }
    buf_free(&text);
    send_evals(t);
    return n;
}

/* Takes in a finished evaluation: the newest snapshot's, then the mixture's where games are solved,
 * then the rows are full. */
static int
finish_eval(struct train *t, struct err *e) {
    enum measured what = t->measuring;
    t->measuring = MEASURE_IDLE;
    int n = read_eval(t, what);
    if (!n) {
        clear_line(t);
        printf("The evaluation failed; %s/logs/eval.log may say why.\n", t->dir);
    }
    if (what == MEASURE_LATEST && train_table_exact(&t->table))
        return start_eval(t, MEASURE_MIXTURE, e);
    if (n || what == MEASURE_MIXTURE)
        print_rows(t);
    return 0;
}

/* Waits for the last measurement; whoever asks to stop once more goes without. */
static int
wait_eval(struct train *t, struct err *e) {
    int asked = asked_to_stop;
    while (t->measuring != MEASURE_IDLE) {
        if (asked_to_stop != asked) {
            child_stop(&t->eval, 1);
            t->measuring = MEASURE_IDLE;
            clear_line(t);
            printf("The last evaluation was left out.\n");
        } else if (child_ended(&t->eval)) {
            if (finish_eval(t, e) < 0)
                return -1;
        } else {
            usleep(20000);
        }
    }
    return 0;
}

/* ---- the parts ---- */

static int
start_part(struct train *t, struct part *p, struct err *e) {
    char log[PREPARE_PATH + 32];
    snprintf(log, sizeof log, "%s/logs/%s.log", t->dir, p->name);
    const char *argv[] = {p->name, "--run", t->dir, NULL};
    p->started_us = clock_mono_us();
    return child_start(&p->child, argv, NULL, log, e);
}

/* The last line of a log, for the sentence that says why a part keeps dying. */
static void
last_line(const char *path, char *out, size_t cap) {
    struct buf text = {0};
    out[0] = '\0';
    if (file_read(path, 256 << 20, &text, NULL) == 0) {
        while (text.len && text.at[text.len - 1] == '\n')
            text.len--;
        size_t at = text.len;
        while (at && text.at[at - 1] != '\n')
            at--;
        snprintf(out, cap, "%.*s", (int)(text.len - at), (const char *)text.at + at);
    }
    buf_free(&text);
}

static int
watch_part(struct train *t, struct part *p, struct err *e) {
    if (p->finished || !child_ended(&p->child))
        return 0;
    if (p == &t->learn && child_ok(&p->child)) {
        p->finished = true;
        return 0;
    }
    char how[64], log[PREPARE_PATH + 32], line[512];
    child_describe(&p->child, how, sizeof how);
    /* Whoever sends a SIGKILL means this once; a part that ends by itself would do it again. */
    int64_t progress = p == &t->learn ? t->now.step : t->now.step + t->now.played;
    bool in_vain =
        clock_mono_us() - p->started_us < DEATH_SOON_US || (p->deaths && progress == p->progress);
    bool killed = WIFSIGNALED(p->child.status) && WTERMSIG(p->child.status) == SIGKILL;
    if (!killed)
        p->deaths = in_vain ? p->deaths + 1 : 1;
    p->progress = progress;
    snprintf(log, sizeof log, "%s/logs/%s.log", t->dir, p->name);
    last_line(log, line, sizeof line);
    if (p->deaths >= DEATHS_MOST)
        return err_set(e, "agon %s keeps ending (%s); its last words, from %s: %s", p->name, how,
                       log, line);
    clear_line(t);
    printf("agon %s ended (%s); starting it again\n", p->name, how);
    fflush(stdout);
    usleep(p->deaths > 1 ? 200000u << (p->deaths < 5 ? p->deaths : 5) : 50000u);
    return start_part(t, p, e);
}

static bool
time_is_up(const struct train *t, double limit) {
    return limit > 0 && (double)(clock_mono_us() - t->began_us) / 1e6 >= limit;
}

static int
watch(struct train *t, double limit, struct err *e) {
    int64_t every_us = (int64_t)(conf_real(t->conf, "eval.every") * 1e6);
    int64_t warmup = conf_int(t->conf, "learner.warmup");
    while (!asked_to_stop && !t->learn.finished && !time_is_up(t, limit)) {
        usleep(POLL_US);
        if (watch_part(t, &t->serve, e) < 0 || watch_part(t, &t->learn, e) < 0)
            return -1;
        int64_t now = clock_mono_us();
        if (now - t->polled_us >= STATUS_US) {
            t->polled_us = now;
            if (read_status(t)) {
                send_evals(t);
                measure_memory(t);
                print_line(t, limit);
            }
        }
        if (t->measuring == MEASURE_IDLE) {
            bool due = now - t->measured_us >= every_us && t->now.step > (warmup > 1 ? 1 : 0);
            if (due && start_eval(t, MEASURE_LATEST, e) < 0)
                return -1;
        } else if (child_ended(&t->eval) && finish_eval(t, e) < 0) {
            return -1;
        }
    }
    return 0;
}

/* What to type next, as the user has typed this. */
static void
print_hints(const struct train *t) {
    const char *agon = program_invocation_name, *dir = t->dir;
    struct conf_game game[CONF_MAX_GAMES];
    conf_games(t->conf, game);
    printf("\nLook around:  %s matches --run %s\n"
           "              %s replay latest --run %s\n"
           "Measure:      %s eval --run %s\n"
           "              %s verify --run %s\n"
           "Play it:      %s play \"%s\" --run %s\n"
           "Continue:     the same command again%s\n",
           agon, dir, agon, dir, agon, dir, agon, dir, agon, game[0].name, dir,
           t->learn.finished ? ", with more steps" : "");
}

static void
report(struct train *t, bool resumed) {
    clear_line(t);
    printf("\n%s after %.0f s at step %lld, %lld matches%s.\n",
           t->learn.finished ? "Finished" : "Stopped",
           (double)(clock_mono_us() - t->began_us) / 1e6, (long long)t->now.step,
           (long long)t->now.played, resumed ? " (earlier sessions included)" : "");
    train_table_report(&t->table);
    if (t->memory_first[0] > 0) {
        printf("Memory in MiB, after %d s and at the end: serve %.0f, %.0f; learn %.0f, %.0f",
               MEMORY_AT_S, t->memory_first[0], t->memory_last[0], t->memory_first[1],
               t->memory_last[1]);
        for (int i = 2; i < t->memory_count; i++)
            printf("; worker %.0f, %.0f", t->memory_first[i], t->memory_last[i]);
        printf(".\n");
    }
    print_hints(t);
}

/* ---- start and stop ---- */

/* The last word: everything stops, then the newest snapshot and the mixture are measured. */
static int
finish(struct train *t, struct err *e) {
    int status = 0;
    read_status(t);
    child_stop(&t->learn.child, STOP_S);
    if (t->measuring != MEASURE_IDLE)
        child_stop(&t->eval, 1);
    t->measuring = MEASURE_IDLE;
    read_status(t);
    clear_line(t);
    if (t->now.step > 0) {
        status = start_eval(t, MEASURE_LATEST, e);
        if (!status)
            status = wait_eval(t, e);
        if (json_array_size(t->evals.waiting) && read_status(t))
            send_evals(t);
    }
    train_evals_end(&t->evals);
    child_stop(&t->serve.child, STOP_S);
    return status;
}

int
train_run(const char *dir, const struct conf *conf, bool resumed, double seconds, struct err *e) {
    struct train t = {.dir = dir,
                      .conf = conf,
                      .serve = {.name = "serve"},
                      .learn = {.name = "learn"},
                      .measuring = MEASURE_IDLE,
                      .evals = {.dir = dir},
                      .began_us = clock_mono_us(),
                      .terminal = isatty(STDOUT_FILENO)};
    int fd =
        lock_file(dir, "train.lock",
                  "another `agon train` is using this run; stop it or use another --run DIR", e);
    if (fd < 0)
        return -1;
    struct sigaction act = {.sa_handler = on_signal}, old;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, NULL, &old);
    if (old.sa_handler != SIG_IGN) /* else: nohup */
        sigaction(SIGHUP, &act, NULL);
    t.row_us = t.line_us = t.measured_us = t.began_us;
    struct conf_game game[CONF_MAX_GAMES];
    size_t games = conf_games(conf, game);
    t.table.several = games > 1;
    printf("%s", resumed ? "Continuing" : "Training");
    for (size_t i = 0; i < games; i++)
        printf("%s %s", i ? "," : "", game[i].name);
    printf(" in %s, seed %lld, %lld workers\n", dir, (long long)conf_int(conf, "seed"),
           (long long)conf_int(conf, "workers.count"));
    if (!resumed && conf_int(conf, "learner.warmup"))
        printf("Warm-up: until step %lld random players play, and the policy learns to write what "
               "they write.\n",
               (long long)conf_int(conf, "learner.warmup"));
    fflush(stdout);
    int status = start_part(&t, &t.serve, e);
    if (!status)
        status = start_part(&t, &t.learn, e);
    if (!status)
        status = watch(&t, seconds, e);
    if (!status)
        status = finish(&t, e);
    child_stop(&t.learn.child, STOP_S);
    child_stop(&t.eval, 1);
    child_stop(&t.serve.child, STOP_S);
    train_evals_end(&t.evals);
    if (!status)
        report(&t, resumed);
    http_free(t.http);
    close(fd);
    return status;
}
