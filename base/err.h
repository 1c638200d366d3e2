/* One error sentence, filled where trouble is found and printed where it can be acted on.
 * A function that can fail takes `struct err *` last, returns -1 (or NULL) and fills it.
 * The sentence names the place (file:line, row, key) and, where there is one, the mend; one that is
 * longer than the room loses its middle. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

struct err {
    char text[1024];
    bool usage; /* the command line is at fault */
};

/* Sets the sentence; always returns -1, so that `return err_set(e, ...)` reads well. e may be
 * NULL. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a command line that is wrong whatever the files say. */
int err_usage(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "prefix: " before what is there already; returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A bug in Agon itself: prints the place and the sentence, then aborts. Never for bad input. */
void panic_at(const char *file, int line, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
#define panic(...) panic_at(__FILE__, __LINE__, __VA_ARGS__)
#define ensure(x) ((x) ? (void)0 : panic("broken invariant: %s", #x))

#endif
