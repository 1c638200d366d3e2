/* Which matches: the flags that several commands have in common, and ranges. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "base/err.h"
#include "cli/cmd.h"
#include "cli/run.h"
#include "store/store.h"

enum { FILTER_BINDS = 4 };

/* clang-format off */
#define FILTER_FLAGS \
    {"game", "GAME", "of this game"}, \
    {"policy", "POLICY", "of this policy: latest, a hash, a scripted player"}, \
    {"reason", "REASON", "that ended so: play, invalid, \"no answer\", ..."}, \
    {"kind", "KIND", "train, warmup, eval or play"}
/* clang-format on */

/* Fills bind[FILTER_BINDS] with what --game, --policy, --reason and --kind say; returns how many,
 * or -1. */
int filter_matches(const struct run *r, const struct cmd_args *a, struct store_bind *bind,
                   struct err *e);
/* One of a few words, for a flag; NULL is fine. `words` ends with NULL. */
int filter_word(const char *flag, const char *value, const char *const *words, struct err *e);
/* "2026-12-01", "2026-12-01 05:30[:09]" of UTC, or "90s", "10m", "2h", "3d" before now, as
 * milliseconds of UTC. */
int filter_time(const char *flag, const char *value, int64_t now_ms, int64_t *out, struct err *e);
/* "5", "5-", "-8" or "5-8"; a side that is open is -1. */
int filter_range(const char *flag, const char *value, int64_t out[2], struct err *e);

#endif
