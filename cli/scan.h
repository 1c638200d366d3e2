/* One pass over recorded matches, game by game, for commands that replay them. It is made in
 * portions, each of which sees one state of the database: a reader that held on to one for long
 * would keep the write-ahead log of a run that trains from being cut. */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include "arena/setup.h"
#include "base/err.h"
#include "cli/progress.h"
#include "cli/run.h"

struct scan_game {
    int64_t id;
    struct setup setup; /* the run's, with this game in view; borrows what scan.setup owns */
    void *own;          /* what open() gave */
    char why[512];      /* it cannot be replayed for this reason; "": it can */
    uint64_t skipped;   /* matches that were passed over */
};

struct scan {
    struct run run;
    struct setup setup;
    bool ready;
    void *arg;
    /* A game is met for the first time; NULL is fine. */
    void *(*open)(void *arg, const struct setup *s);
    void (*match)(void *arg, struct scan_game *g, const struct store_match *m);
    void (*damaged)(void *arg, int64_t match, const char *why); /* its rows do not decode */
    struct scan_game *game; /* [games]; owned, in place until the end */
    int games;
    uint64_t matches;
    int64_t last_seen, first, last;
    struct progress progress;
    bool stop; /* e is not about a row of a match, but ends it all */
    struct err *e;
};

/* Opens the run and its setup. scan_close() is due in any case. */
int scan_open(struct scan *s, const char *dir, struct err *e);
int scan_range(struct scan *s, long long first, long long last, struct err *e);
void scan_close(struct scan *s, void (*close)(void *own));
/* Prints which games could not be replayed, and why; returns how many matches that were. */
uint64_t scan_tell_skipped(const struct scan *s);

#endif
