/* The words that enumerations are stored as. Never change one: stored rows use them. */
#include "store/store-int.h"

#include <string.h>

static const char *const kinds[] = {"train", "warmup", "eval", "play"};
static const char *const reasons[END_REASONS] = {
    "play", "invalid", "no answer", "time", "crash", "turn limit", "aborted",
};
static const char *const verdicts[VERDICTS] = {"ok", "no word", "illegal", "cut", "time"};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const char *
name_of(const char *const *table, int count, int i) {
    return i >= 0 && i < count ? table[i] : "unknown";
}

static int
find(const char *const *table, int count, const char *text, size_t n) {
    for (int i = 0; i < count; i++)
        if (strlen(table[i]) == n && !memcmp(table[i], text, n))
            return i;
    return -1;
}

const char *
match_kind_name(enum match_kind k) {
    return name_of(kinds, COUNT(kinds), (int)k);
}

const char *
match_reason_name(enum match_reason r) {
    return name_of(reasons, COUNT(reasons), (int)r);
}

const char *
turn_verdict_name(enum turn_verdict v) {
    return name_of(verdicts, COUNT(verdicts), (int)v);
}

int
name_kind(const char *text, size_t n) {
    return find(kinds, COUNT(kinds), text, n);
}

int
name_reason(const char *text, size_t n) {
    return find(reasons, COUNT(reasons), text, n);
}

int
name_verdict(const char *text, size_t n) {
    return find(verdicts, COUNT(verdicts), text, n);
}
