#include "cli/games-conform.h"

#include <stdio.h>
#include <string.h>

#include "arena/conform.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/table.h"

static void
tell(void *arg, const struct conform_difference *d) {
    struct buf what = {0};
    term_escape(&what, d->what, strlen(d->what), false);
    printf("%s:%d: match %lld, ", buf_text(arg), d->line, d->match);
    if (d->step < 0)
        printf("deal or end: %s\n", buf_text(&what));
    else
        printf("step %d: %s\n", d->step, buf_text(&what));
    buf_free(&what);
}

static int
conform_one(const char *path, struct err *e) {
    struct buf shown = {0};
    struct conform_count c = {0};
    term_escape(&shown, path, strlen(path), false);
    const char *name = buf_text(&shown);
    int bad = conform_file(path, tell, &shown, &c, e);
    if (!bad) {
        printf("%s  %s: %d matches, %d steps, ", c.differences ? "differs" : "ok     ", name,
               c.matches, c.steps);
        printf("%d difference%s", c.differences, c.differences == 1 ? "" : "s");
        if (c.skipped)
            printf(" (%d left out: known faults of the original)", c.skipped);
        putchar('\n');
    }
    buf_free(&shown);
    return bad ? -1 : c.differences > 0;
}

int
games_conform(const struct cmd_args *a, struct err *e) {
    if (a->words < 2) {
        char known[600];
        struct text list;
        text_init(&list, known, sizeof known);
        for (int i = 0; conform_env_name(i); i++)
            text_fmt(&list, "%s%s", i ? ", " : "", conform_env_name(i));
        return err_set(e, "which file of recorded matches? Environments that are known: %s", known);
    }
    int status = 0;
    for (int i = 1; i < a->words && status >= 0; i++) {
        int bad = conform_one(a->word[i], e);
        status = bad < 0 ? bad : status | bad;
    }
    return status;
}
