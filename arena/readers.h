/* A few threads that read the database, so that the event loop never waits for a disk. Every thread
 * has a read-only connection of its own; jobs come back to the loop over an eventfd. What nobody
 * waits for has a thread to itself that yields to all others: on a machine with nothing to spare it
 * takes from nobody. */
#ifndef ARENA_READERS_H
#define ARENA_READERS_H

#include <stdbool.h>

#include <event2/event.h>

#include "base/err.h"
#include "store/store.h"

#define READERS_THREADS 2
#define READERS_MOST 256    /* jobs that wait */
#define READERS_SLOW_MOST 8 /* slow ones among them */

struct read_job { /* the caller's memory; the first member of a larger struct */
    struct read_job *next;
    bool slow;       /* one of these at a time, so that a thread is left for the quick ones */
    bool background; /* nobody waits for it; not with slow */
    /* In a thread. db is NULL where it cannot be opened, and `why` says so. */
    void (*work)(struct read_job *j, struct store *db, const struct err *why);
    void (*done)(struct read_job *j); /* in the loop; the job is the caller's again */
};

struct readers; /* opaque */

struct readers *readers_new(struct event_base *base, const char *database, struct err *e);
/* Waits for jobs at work, calls done() of all, worked upon or not. NULL is fine. */
void readers_free(struct readers *r);
int readers_add(struct readers *r, struct read_job *j); /* -1: too many wait, ask later */
/* Takes a job back that nobody has begun: the caller's again, done() is not called. False: it has
 * begun, and done() will be called as ever. */
bool readers_drop(struct readers *r, struct read_job *j);

#endif
