/* Edit distance in which two swapped neighbours count as one edit (optimal string alignment), on
 * three rows. Near enough is one edit for every three letters, rounded up. */
#include "base/near.h"

#include <stdio.h>
#include <string.h>

void
near_init(struct near *n, const char *word) {
    *n = (struct near){.word = word, .cost = (unsigned)(strnlen(word, NEAR_MAX) + 2) / 3 + 1};
}

static unsigned
least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static unsigned
distance(const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b);
    unsigned row[3][NEAR_MAX + 1];
    if (na > NEAR_MAX || nb > NEAR_MAX)
        return NEAR_MAX;
    for (unsigned j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] =
                least(least(now[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

void
near_offer(struct near *n, const char *name) {
    unsigned cost = distance(n->word, name);
    if (cost < n->cost) {
        n->cost = cost;
        snprintf(n->best, sizeof n->best, "%s", name);
    }
}
