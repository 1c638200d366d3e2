/* The lines that an external program and Agon exchange (docs/protocol.md): requests are written
 * here, answers are read and checked here, down to the last number, before anybody sees them.
 * Pure functions. */
#ifndef GAMES_EXTERN_MESSAGE_H
#define GAMES_EXTERN_MESSAGE_H

#include <jansson.h>

#include "base/buf.h"
#include "games/game.h"

#define MESSAGE_PROTOCOL 1
#define MESSAGE_MAX_PLIES 1000
#define MESSAGE_MAX_SESSIONS 1024
#define MESSAGE_MAX_AHEAD 1024
#define MESSAGE_MAX_ACTION 0x3fffffff /* actions above stand for free texts */
#define MESSAGE_NAME 41               /* bytes of a name, the NUL included */
#define MESSAGE_TITLE 80

/* ---- who a program is ---- */

struct hello {
    char name[MESSAGE_NAME], title[MESSAGE_TITLE];
    int version;
    unsigned flags; /* GAME_PERFECT_INFO, GAME_NO_CHANCE */
    bool open;      /* takes replies that are in no list */
    bool copies;    /* one session's position can be continued in another */
    int sessions;   /* positions that it can hold at once */
    int ahead;      /* questions that it may be asked before it has answered the first of them */
    int max_plies;
    double unit;
    struct game_param param[GAME_MAX_PARAMS + 1]; /* texts point into json */
    const char *rules[2];                         /* into json */
    json_t *json;                                 /* owned: the whole answer */
};

void hello_request(struct buf *out);
/* The answer as a line, or as JSON that is stored. 0, or -1 with e; free it in the first case
 * only. */
int hello_read(const char *line, size_t n, struct hello *out, struct err *e);
int hello_check(const json_t *json, struct hello *out, struct err *e);
void hello_free(struct hello *h);

/* ---- what is asked ---- */

/* Takes session `to` to the start and on by `n` actions. */
void new_request(struct buf *out, int id, int to, const struct hello *h,
                 const struct game_args *args);
void new_action(struct buf *out, int action);
void new_text(struct buf *out, const char *text, size_t n);
void new_end(struct buf *out);
/* One action (text NULL) or one free text further from session `from`, in session `to`. */
void act_request(struct buf *out, int id, int from, int to, int action, const char *text, size_t n);
void bye_request(struct buf *out);

/* ---- what is said of a position ---- */

/* One block of memory: free() it. */
struct scene {
    int mover;           /* enum of games/game.h */
    bool open;           /* any text may be tried here */
    bool refused;        /* a free text that is no move: there is no position */
    int count;           /* legal actions, or outcomes */
    double result;       /* at GAME_OVER */
    int *action;         /* [count] ascending */
    double *probability; /* [count] at GAME_CHANCE */
    const char **word;   /* [count] */
    const char *view[2], *told[2], *rules[2]; /* NULL: nothing was said */
    size_t bytes;
};

/* Reads the answer to request `id`; NULL with e when it is none. A program's own complaint is
 * one of the ways to fail. */
struct scene *scene_read(const char *line, size_t n, int id, const struct hello *h, struct err *e);

#endif
