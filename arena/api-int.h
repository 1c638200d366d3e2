/* What the files of the HTTP API share (docs/api.md is its contract).
 *   api.c          start, stop, the table of routes, who may call what
 *   api-answer.c   answers, refusals, questions to the database on their way through a thread
 *   kept.c         answers that are kept for a moment
 *   api-learner.c  the learner's calls, evaluations, shutdown
 *   api-status.c   how the server stands: health, run, overview, metrics
 *   api-read.c     lists of rows
 *   api-match.c    one match with its turns and tokens
 *   api-draw.c     the positions of a recorded match
 *   api-policy.c   one policy; ratings, results
 *   api-games.c    the games
 *   api-import.c   results that were played elsewhere
 *   api-sql.c      a person's own SELECT
 *   api-file.c     snapshots to download
 *   api-page.c     the web page's own files
 *   api-live.c     server-sent events
 *   api-play.c     a person at the page plays; the match runs in a helper process
 * Everything happens in the event loop's thread, except what a struct task's read() does. */
#ifndef ARENA_API_INT_H
#define ARENA_API_INT_H

#include <jansson.h>

#include "arena/guard.h"
#include "arena/httpd.h"
#include "arena/json-out.h"
#include "arena/readers.h"
#include "arena/serve-int.h"

#define API_ROWS 100 /* of a list, where the caller does not say */
#define API_ROWS_MOST 1000
#define API_ANSWER_MOST (32u << 20) /* bytes of one JSON answer */
#define API_RATE_SECONDS 10

struct api_facts { /* of the machine, looked up now and then by a thread */
    int64_t at_ms;
    int64_t disk_free, disk_size, database, wal, memory;
    int descriptors, descriptors_most;
};

struct api_rates { /* of the last seconds */
    struct {
        int64_t at_us;
        uint64_t matches, tokens, invalid;
    } second[API_RATE_SECONDS + 1];
    int n;
};

struct api {
    struct serve *s;
    struct httpd *httpd;
    struct readers *readers;
    struct kept *kept;  /* answers, for a moment */
    struct task *tasks; /* questions at the database */
    struct guard guard;
    char path[SERVE_PATH + 32]; /* of serve.json */
    struct buf fields;          /* that every answer has */
    bool open;                  /* reading needs no token */
    bool stopping;              /* nothing is begun any more */
    int64_t ticked_us;
    struct { /* a lease request that waits */
        struct httpd_request *q;
        int64_t count, until_us;
    } waiting;
    struct api_facts facts;
    struct read_job *fact_job; /* at work; NULL: none */
    struct api_rates rates;
    struct live *live;   /* api-live.c */
    struct plays *plays; /* api-play.c */
    uint64_t refusals;
};

/* ---- api.c ---- */
enum api_access { API_OPEN, API_READ, API_CHANGE };

struct call { /* one request, while its handler runs */
    struct api *api;
    struct serve *s;
    struct httpd_request *q; /* ended by the handler, or passed on */
    struct http_query query; /* parameters are checked: numbers are numbers in range */
    char word[72];           /* what the path has in place of {id}, {session} or {hash} */
    int64_t id;              /* the same as a number, for {id} */
    json_t *body;            /* the object of a POST; NULL */
};

struct api_route {
    enum http_method method;
    const char *path;   /* "/api/matches/{id}" */
    const char *params; /* "limit before": what the query may hold */
    enum api_access access;
    size_t body_most; /* of a POST */
    void (*run)(struct call *c);
};
const struct api_route *api_route_at(int i); /* NULL past the last */

/* ---- api-answer.c ---- */
/* Answers with JSON, which is taken. GET: with an ETag, or 304. */
void api_answer(struct httpd_request *q, int status, struct buf *json);
void api_answer_json(struct httpd_request *q, int status, json_t *value); /* value is taken */
/* Does the client have what bears this tag (W/"...") already? */
bool api_has_tag(const struct httpd_request *q, const char *tag);
void api_answer_text(struct httpd_request *q, const char *type, struct buf *text);
void api_refuse(struct httpd_request *q, int status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void api_write_error(struct buf *out, const char *code, const char *message);
int64_t api_number(const struct http_query *q, const char *name, int64_t otherwise);

/* A question to the database. read() runs in a thread: it sees the task and nothing else. It writes
 * its answer with `j`, which stands at the top of the document, and returns 0; or calls
 * task_fail(), whose value it returns. */
struct task;
typedef int task_read(struct task *t, struct store *db, struct json_out *j);
struct task {
    struct read_job job;
    struct task *next; /* of api->tasks */
    struct api *api;
    struct waiter *waiters; /* requests: none, when an answer is made for those to come */
    struct http_query query;
    int64_t id;
    void *more; /* freed with the task */
    char *key;  /* of an answer that is kept for others (arena/kept.h); NULL: it is not */
    task_read *read;
    const char *type; /* of the answer */
    bool zip;
    int status; /* of the answer; 0: nobody has worked on it */
    int64_t began_us, made_us;
    struct buf body;
    char tag[40];
    bool zipped;
};
/* All of these pass the request on, and take `more`. Busy readers refuse it. The answer is kept for
 * a moment (arena/kept.h) and serves all who ask for the same, but those who send
 * "Cache-Control: no-cache". */
void api_ask(struct call *c, task_read *read, void *more);
void api_ask_text(struct call *c, const char *type, task_read *read, void *more);
void api_ask_fresh(struct call *c, task_read *read, void *more); /* it is not kept */
void api_ask_slow(struct call *c, task_read *read, char *more);  /* depends on `more` alone */
void api_forget(struct api *a); /* what is kept or being made: something was changed */
int task_fail(struct task *t, int status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a failure of the database. */
int task_fail_store(struct task *t, struct store *db, const struct err *e);

/* ---- api-read.c ---- */
/* Writes a row's cells as members of the open object: ids as strings, flags as booleans, stored
 * JSON as it is. */
void row_members(struct json_out *j, const struct store_cell *cell, int cells);
const char *row_cell(const struct store_cell *cell, int cells, const char *name); /* NULL: none */
double row_number(const struct store_cell *cell, int cells, const char *name);    /* NaN: none */
/* All rows of a named question as an array of objects. Returns how many, -1 after task_fail(). */
int rows_array(struct task *t, struct store *db, struct json_out *j, const char *key,
               const char *question, const struct store_bind *bind, size_t n);
void get_matches(struct call *c);
void get_policies(struct call *c);
void get_steps(struct call *c);
void get_evals(struct call *c);
void get_events(struct call *c);
void get_forfeits(struct call *c);
void get_series(struct call *c);

/* ---- the other files ---- */
void get_match(struct call *c);
int match_write(struct task *t, struct store *db, struct json_out *j, int64_t id);

/* Draws the match, which is borrowed, from its beginning. NULL: it cannot be drawn. */
struct drawing *drawing_new(struct store *db, const struct store_match *m);
void drawing_free(struct drawing *d);
/* Writes the member "drawing": the position after so many moves, no fewer than the time before;
 * null where d is NULL. */
void drawing_write(struct drawing *d, struct json_out *j, size_t moves);

void get_policy(struct call *c);
void get_ratings(struct call *c);
void get_payoff(struct call *c);

void get_games(struct call *c);
void post_sql(struct call *c);
void get_snapshot(struct call *c);
void get_page(struct call *c);

void get_health(struct call *c);
void get_run(struct call *c);
void get_overview(struct call *c);
void get_metrics(struct call *c);
void status_tick(struct api *a);                      /* once a second */
void status_write(struct api *a, struct json_out *j); /* members of the open object */

void post_learner(struct call *c);
void post_leases(struct call *c);
void post_steps(struct call *c);
void post_evals(struct call *c);
void post_shutdown(struct call *c);
/* The run's game of this specification; 0: none. */
int64_t api_game_id(const struct serve *s, const char *spec);
void post_imports(struct call *c);
void delete_imports(struct call *c);
void learner_tick(struct api *a);
void learner_stop(struct api *a);
void random_hex(char out[33]);

void live_start(struct api *a);
void live_stop(struct api *a);
void live_tick(struct api *a); /* once a second */
void live_step(struct api *a, int64_t step, json_t *body);
void live_eval(struct api *a, int64_t step, int64_t policy, json_t *result);
int live_listeners(const struct api *a);
void get_live(struct call *c);
void get_live_match(struct call *c);

void play_start(struct api *a);
void play_stop(struct api *a);
void play_tick(struct api *a); /* once a second */
int play_sessions(const struct api *a);
void post_play(struct call *c);
void get_play(struct call *c);
void post_play_reply(struct call *c);
void delete_play(struct call *c);

#endif
