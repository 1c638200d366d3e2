/* A configuration is either refused with a place, or holds values that are written and read back
 * the same. */
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_round_trip(const struct conf *c) {
    struct conf *again = conf_new();
    struct buf first = {0}, second = {0};
    struct err e;
    conf_write(c, &first);
    if (conf_parse(again, buf_text(&first), first.len, "written", &e) < 0)
        panic("%s in:\n%s", e.text, buf_text(&first));
    ensure(!conf_conflict(c, again));
    conf_write(again, &second);
    ensure(first.len == second.len && !memcmp(first.at, second.at, first.len));
    buf_free(&first);
    buf_free(&second);
    conf_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct conf *c = conf_new();
    struct err e = {.text = ""};
    if (conf_parse(c, (const char *)data, size, "in", &e) == 0)
        check_round_trip(c);
    else
        ensure(!strncmp(e.text, "in:", 3));
    conf_free(c);
    return 0;
}
