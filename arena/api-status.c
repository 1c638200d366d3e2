/* How the server stands. What the loop knows is written down at once; what the machine knows (disk,
 * log, descriptors) is looked up by a thread every few seconds, since a disk may be slow; what the
 * database knows is asked for with the rest of the answer. */
#include "arena/api-int.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define FACTS_MS 5000
#define DISK_LOW (1ll << 30)
#define WAL_LARGE (512ll << 20)
#define LATE_MS 600000 /* an event is no longer news */
#define STEPS_SUMMED 50

/* ---- facts of the machine ---- */

struct fact_job {
    struct read_job job;
    struct api *api;
    char run[SERVE_PATH];
    struct api_facts facts;
};

static int64_t
file_bytes(const char *run, const char *name) {
    char path[SERVE_PATH + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", run, name);
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static int
count_descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n > 3 ? n - 3 : 0; /* . and .. and the folder itself */
}

static int64_t
resident_bytes(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void
look_up(struct read_job *job, struct store *db, const struct err *why) {
    struct fact_job *f = (struct fact_job *)(void *)job;
    struct api_facts *a = &f->facts;
    struct statvfs disk;
    struct rlimit r;
    (void)db;
    (void)why;
    if (statvfs(f->run, &disk) == 0) {
        a->disk_free = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
        a->disk_size = (int64_t)disk.f_blocks * (int64_t)disk.f_frsize;
    }
    a->database = file_bytes(f->run, "run.db");
    a->wal = file_bytes(f->run, "run.db-wal");
    a->memory = resident_bytes();
    a->descriptors = count_descriptors();
    a->descriptors_most = getrlimit(RLIMIT_NOFILE, &r) == 0 ? (int)r.rlim_cur : 0;
    a->at_ms = clock_wall_ms();
}

static void
looked_up(struct read_job *job) {
    struct fact_job *f = (struct fact_job *)(void *)job;
    if (f->facts.at_ms)
        f->api->facts = f->facts;
    f->api->fact_job = NULL;
    free(f);
}

static void
ask_facts(struct api *a) {
    if (a->fact_job || clock_wall_ms() - a->facts.at_ms < FACTS_MS)
        return;
    struct fact_job *f = mem_zero(1, sizeof *f);
    f->job = (struct read_job){.work = look_up, .done = looked_up};
    f->api = a;
    snprintf(f->run, sizeof f->run, "%s", a->s->run);
    a->fact_job = &f->job;
    if (readers_add(a->readers, &f->job) < 0) {
        a->fact_job = NULL;
        free(f);
    }
}

/* ---- rates ---- */

void
status_tick(struct api *a) {
    struct api_rates *r = &a->rates;
    ask_facts(a);
    if (r->n == API_RATE_SECONDS + 1)
        memmove(r->second, r->second + 1, (size_t)--r->n * sizeof *r->second);
    r->second[r->n].at_us = clock_mono_us();
    r->second[r->n].matches = a->s->matches;
    r->second[r->n].tokens = a->s->tokens;
    r->second[r->n++].invalid = a->s->invalid;
}

static void
write_rates(const struct api *a, struct json_out *j) {
    const struct api_rates *r = &a->rates;
    double seconds = r->n > 1 ? (double)(r->second[r->n - 1].at_us - r->second[0].at_us) / 1e6 : 0;
    double matches = 0, tokens = 0, invalid = 0;
    if (seconds > 0) {
        matches = (double)(r->second[r->n - 1].matches - r->second[0].matches);
        tokens = (double)(r->second[r->n - 1].tokens - r->second[0].tokens);
        invalid = (double)(r->second[r->n - 1].invalid - r->second[0].invalid);
    }
    json_out_open(j, "rates", '{');
    json_out_real(j, "seconds", seconds);
    json_out_real(j, "matches", seconds > 0 ? matches / seconds : 0);
    json_out_real(j, "tokens", seconds > 0 ? tokens / seconds : 0);
    json_out_real(j, "invalid", matches > 0 ? invalid / matches : NAN);
    json_out_close(j, '}');
}

/* ---- what the loop knows ---- */

static void
write_workers(const struct api *a, struct json_out *j) {
    struct crew_status crew = crew_status(a->s);
    json_out_open(j, "workers", '{');
    json_out_int(j, "count", crew.count);
    json_out_int(j, "ready", crew.ready);
    json_out_int(j, "restarts", crew.restarts);
    json_out_int(j, "in_flight", crew.in_flight);
    json_out_text(j, "kernel", crew.kernel);
    json_out_open(j, "pids", '[');
    for (int i = 0; i < crew.count; i++)
        if (crew_pid(a->s, i))
            json_out_int(j, NULL, crew_pid(a->s, i));
    json_out_close(j, ']');
    json_out_close(j, '}');
}

void
status_write(struct api *a, struct json_out *j) {
    const struct serve *s = a->s;
    json_out_int(j, "at_ms", clock_wall_ms());
    json_out_open(j, "games", '[');
    for (size_t i = 0; i < s->setup.ngames; i++) {
        json_out_open(j, NULL, '{');
        json_out_id(j, "game_id", s->game[i].id);
        json_out_text(j, "spec", s->setup.games[i].spec);
        json_out_real(j, "weight", s->setup.games[i].weight);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
    json_out_int(j, "step", s->step);
    json_out_int(j, "last_step", s->last_step);
    if (s->newest.id)
        json_out_id(j, "policy_id", s->newest.id);
    else
        json_out_null(j, "policy_id");
    json_out_text(j, "snapshot", s->newest.id ? s->newest.name : NULL);
    json_out_int(j, "played", s->first - 1 + s->ready);
    json_out_open(j, "iteration", '{');
    json_out_id(j, "first_match", s->first);
    json_out_int(j, "batch", s->batch);
    json_out_int(j, "ready", s->ready);
    json_out_close(j, '}');
    json_out_open(j, "since_start", '{');
    json_out_real(j, "seconds", (double)(clock_mono_us() - s->started_us) / 1e6);
    json_out_int(j, "matches", (int64_t)s->matches);
    json_out_int(j, "tokens", (int64_t)s->tokens);
    json_out_int(j, "invalid", (int64_t)s->invalid);
    json_out_close(j, '}');
    write_rates(a, j);
    write_workers(a, j);
    json_out_open(j, "learner", '{');
    json_out_bool(j, "present", s->session[0] != '\0');
    json_out_bool(j, "waiting", a->waiting.q != NULL);
    json_out_close(j, '}');
    json_out_bool(j, "paused", s->paused_until_us != 0);
}

static void
write_machine(const struct api *a, struct json_out *j) {
    const struct api_facts *f = &a->facts;
    struct httpd_counts c = httpd_counts(a->httpd);
    json_out_open(j, "machine", '{');
    json_out_int(j, "at_ms", f->at_ms);
    json_out_int(j, "disk_free_bytes", f->disk_free);
    json_out_int(j, "disk_bytes", f->disk_size);
    json_out_int(j, "database_bytes", f->database);
    json_out_int(j, "wal_bytes", f->wal);
    json_out_int(j, "memory_bytes", f->memory);
    json_out_int(j, "descriptors", f->descriptors);
    json_out_int(j, "descriptors_most", f->descriptors_most);
    json_out_int(j, "connections", c.open);
    json_out_close(j, '}');
}

struct warning {
    bool holds;
    const char *code, *text;
};

static void
write_warnings(struct api *a, struct json_out *j) {
    const struct serve *s = a->s;
    const struct api_facts *f = &a->facts;
    struct crew_status crew = crew_status(s);
    bool known = f->at_ms != 0, done = s->step >= s->last_step;
    const struct warning w[] = {
        {crew.count && !crew.ready, "workers", "no worker is ready: nothing is being played"},
        {!s->session[0] && !done, "learner",
         "no learner has joined since the server was started: start `agon learn` on this run"},
        {s->paused_until_us != 0, "database",
         "the database cannot be written now: matches wait until the disk has room again"},
        {known && f->disk_free < DISK_LOW, "disk", "less than 1 GiB of the disk is free"},
        {known && f->wal > WAL_LARGE, "wal",
         "the database's log has grown past 512 MiB: some program keeps reading run.db without a "
         "pause"},
        {known && f->descriptors > f->descriptors_most * 9 / 10, "descriptors",
         "nine tenths of the file descriptors are in use: raise `ulimit -n`"},
        {!httpd_is_loopback(a->httpd), "network",
         "other machines can reach this port, and nothing is encrypted: whoever can listen on the "
         "network learns the token"},
    };
    json_out_open(j, "warnings", '[');
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) {
        if (!w[i].holds)
            continue;
        json_out_open(j, NULL, '{');
        json_out_text(j, "code", w[i].code);
        json_out_text(j, "message", w[i].text);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

void
get_health(struct call *c) {
    struct buf body = {0};
    struct json_out j = {.out = &body};
    struct crew_status crew = crew_status(c->s);
    json_out_open(&j, NULL, '{');
    json_out_bool(&j, "ok", crew.ready > 0 && !c->s->paused_until_us);
    json_out_int(&j, "workers", crew.count);
    json_out_int(&j, "workers_ready", crew.ready);
    json_out_bool(&j, "paused", c->s->paused_until_us != 0);
    json_out_text(&j, "kernel", crew.kernel);
    write_machine(c->api, &j);
    write_warnings(c->api, &j);
    json_out_close(&j, '}');
    api_answer(c->q, 200, &body);
}

/* For `agon train`: numbers only, and what this start alone has counted. */
void
get_run(struct call *c) {
    struct serve *s = c->s;
    struct crew_status crew = crew_status(s);
    struct buf body = {0};
    struct json_out j = {.out = &body};
    json_out_open(&j, NULL, '{');
    json_out_text(&j, "run", s->run);
    json_out_text(&j, "game", s->setup.spec);
    json_out_int(&j, "step", s->step);
    json_out_int(&j, "last_step", s->last_step);
    json_out_int(&j, "policy", s->newest.id);
    json_out_text(&j, "snapshot", s->newest.name);
    json_out_int(&j, "first", s->first);
    json_out_int(&j, "batch", s->batch);
    json_out_int(&j, "played", s->first - 1 + s->ready);
    json_out_int(&j, "matches", (int64_t)s->matches);
    json_out_int(&j, "tokens", (int64_t)s->tokens);
    json_out_int(&j, "invalid", (int64_t)s->invalid);
    json_out_real(&j, "seconds", (double)(clock_mono_us() - s->started_us) / 1e6);
    json_out_int(&j, "workers", crew.count);
    json_out_int(&j, "workers_ready", crew.ready);
    json_out_int(&j, "worker_restarts", crew.restarts);
    json_out_open(&j, "worker_pids", '[');
    for (int i = 0; i < crew.count; i++)
        if (crew_pid(s, i))
            json_out_int(&j, NULL, crew_pid(s, i));
    json_out_close(&j, ']');
    json_out_text(&j, "kernel", crew.kernel);
    json_out_bool(&j, "learner", s->session[0] != '\0');
    json_out_close(&j, '}');
    api_answer(c->q, 200, &body);
}

/* ---- overview ---- */

struct times { /* of the newest steps */
    int64_t steps, first_ms, last_ms;
    /* Of all but the oldest step, which only marks the beginning: */
    double learn, wait, idle;
    double learn_last, wait_last, idle_last; /* of the oldest one seen so far */
};

static double
or_zero(double v) {
    return isfinite(v) ? v : 0;
}

/* Seconds in which the workers had nothing to do but wait for the learner. */
static double
idle_seconds(const char *extra) {
    json_t *v = extra ? json_loads(extra, 0, NULL) : NULL;
    double seconds = json_number_value(json_object_get(v, "wait_learner_s"));
    json_decref(v);
    return seconds;
}

static int
add_times(void *arg, const struct store_cell *cell, int cells) {
    struct times *t = arg;
    t->first_ms = (int64_t)or_zero(row_number(cell, cells, "at_ms"));
    if (!t->steps++)
        t->last_ms = t->first_ms;
    t->learn += t->learn_last;
    t->wait += t->wait_last;
    t->idle += t->idle_last;
    t->learn_last = or_zero(row_number(cell, cells, "learn_s"));
    t->wait_last = or_zero(row_number(cell, cells, "wait_data_s"));
    t->idle_last = idle_seconds(row_cell(cell, cells, "extra"));
    return 0;
}

static int
write_times(struct task *t, struct store *db, struct json_out *j) {
    struct times x = {0};
    struct err e;
    struct store_bind limit = {":limit", NULL, STEPS_SUMMED};
    if (store_query(db, "steps", &limit, 1, add_times, &x, &e) < 0)
        return task_fail_store(t, db, &e);
    double seconds = (double)(x.last_ms - x.first_ms) / 1e3;
    json_out_open(j, "time", '{');
    json_out_int(j, "steps", x.steps ? x.steps - 1 : 0);
    json_out_real(j, "seconds", seconds);
    json_out_real(j, "learning", x.learn);
    json_out_real(j, "waiting_for_matches", x.wait);
    json_out_real(j, "other", fmax(0, seconds - x.learn - x.wait));
    json_out_real(j, "workers_waiting_for_learner", x.idle);
    json_out_close(j, '}');
    return 0;
}

static int
add_members(void *arg, const struct store_cell *cell, int cells) {
    row_members(arg, cell, cells);
    return 0;
}

struct news {
    struct json_out *j;
    int64_t since_ms;
};

static int
add_news(void *arg, const struct store_cell *cell, int cells) {
    struct news *n = arg;
    const char *level = row_cell(cell, cells, "level");
    if (row_number(cell, cells, "at_ms") < (double)n->since_ms)
        return 1;
    if (!level || (strcmp(level, "warn") && strcmp(level, "error")))
        return 0;
    json_out_open(n->j, NULL, '{');
    row_members(n->j, cell, cells);
    json_out_close(n->j, '}');
    return 0;
}

static int
read_overview(struct task *t, struct store *db, struct json_out *j) {
    struct err e;
    struct store_bind some = {":limit", NULL, 50}, few = {":limit", NULL, 2};
    struct news news = {j, clock_wall_ms() - LATE_MS};
    json_out_open(j, NULL, '{');
    json_out_raw(j, NULL, t->more, strlen(t->more));
    json_out_open(j, "database", '{');
    if (store_query(db, "status", NULL, 0, add_members, j, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, '}');
    if (write_times(t, db, j) < 0 || rows_array(t, db, j, "evals", "evals", &few, 1) < 0)
        return -1;
    json_out_open(j, "events", '[');
    if (store_query(db, "events", &some, 1, add_news, &news, &e) < 0)
        return task_fail_store(t, db, &e);
    json_out_close(j, ']');
    json_out_close(j, '}');
    return 0;
}

void
get_overview(struct call *c) {
    struct buf known = {0};
    struct json_out j = {.out = &known};
    json_out_text(&j, "run", c->s->run);
    status_write(c->api, &j);
    write_machine(c->api, &j);
    write_warnings(c->api, &j);
    buf_text(&known);
    api_ask(c, read_overview, known.at);
}
