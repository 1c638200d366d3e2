/* What the files of the server share (serve.c: start, stop, iterations; crew.c: workers; api.c:
 * HTTP). */
#ifndef ARENA_SERVE_INT_H
#define ARENA_SERVE_INT_H

#include <event2/event.h>

#include "arena/schedule.h"
#include "arena/wire.h"

#define SERVE_PATH 3072

/* The life of one training match of the present iteration. */
enum slot_state { SLOT_PENDING, SLOT_PLAYING, SLOT_FINISHED, SLOT_COMMITTED };

struct slot {
    struct match_job job;
    enum slot_state state;
    bool again; /* pending since a worker died with it: to be played alone */
    int worker;
};

struct serve {
    char run[SERVE_PATH];
    struct conf *conf;
    struct setup setup;
    struct store *store;
    struct event_base *base;
    struct crew *crew; /* crew.c */
    struct api *api;   /* api.c */
    struct event *tick, *term, *interrupt;
    int lock_fd;

    struct schedule schedule;
    struct schedule_game game[CONF_MAX_GAMES]; /* the schedule's; as in setup.games */
    int64_t *opponent[CONF_MAX_GAMES];
    /* One iteration: the matches that learner step `step` + 1 will learn from. */
    int64_t step; /* newest acknowledged step; -1: no weights yet */
    struct store_policy newest;
    int64_t first;     /* first match id of the iteration */
    struct slot *slot; /* [batch] */
    int64_t batch;
    int64_t next;  /* slots before this index are not pending (unless `again`) */
    int64_t again; /* slots marked so */
    int64_t ready; /* slots before this index are committed */
    int64_t uncommitted;
    int64_t lost;      /* given up by workers */
    int64_t last_step; /* learner.steps */
    int64_t *older;    /* [nolder] kept snapshots that may be met */
    int64_t *older_step;
    size_t nolder;

    int64_t paused_until_us; /* the database is busy or full: nothing is handed out */
    int64_t told_busy_us;    /* when that was last said; 0: it can be written */
    int64_t started_us;
    uint64_t matches, tokens, invalid; /* since this start */
    char session[33];                  /* the learner that may lease; "" = none */
    int64_t lease_next;                /* next id to lease */
    struct buf text;                   /* scratch: prompts of the match being recorded */
    bool stopping;
    struct err why; /* set when the server has to give up */
    bool failed;
};

/* ---- serve.c ---- */
/* A decoded match from a worker. */
void serve_match(struct serve *s, const struct wire_match *m, int worker);
/* Matches in flight on a worker that died: played again alone, or recorded as aborted. */
void serve_worker_died(struct serve *s, int worker, const char *why);
void serve_commit(struct serve *s);
/* The database is busy or full (e: why), and it can be written again: for the log. */
void serve_waits(struct serve *s, const struct err *e);
void serve_goes_on(struct serve *s);
/* A learner step was acknowledged as policy `p`: thin old snapshots, begin the next iteration. */
void serve_advance(struct serve *s, int64_t step, int64_t policy, const char *hash);
/* A new learner session: open leases are dropped. */
int serve_reset_leases(struct serve *s, struct err *e);
void serve_stop(struct serve *s);
void serve_give_up(struct serve *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- crew.c ---- */
int crew_start(struct serve *s, struct err *e);
void crew_stop(struct serve *s);
void crew_dispatch(struct serve *s); /* hands out what is pending */
void crew_tick(struct serve *s);     /* deadlines, restarts */
struct crew_status {
    int count, ready, restarts;
    int64_t in_flight; /* matches that workers are playing */
    char kernel[64];
};
struct crew_status crew_status(const struct serve *s);
long crew_pid(const struct serve *s, int i); /* of worker i; 0: it is not there now */

/* ---- api.c ---- */
int api_start(struct serve *s, struct err *e);
void api_stop(struct serve *s);
void api_offer(struct serve *s); /* matches were committed: answer a waiting lease request */
void api_tick(struct serve *s);

#endif
