#include "learner/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int
baseline_kind_find(const char *name, enum baseline_kind *kind) {
    static const char *const names[] = {
        [BASELINE_NONE] = "none", [BASELINE_SHARED] = "shared", [BASELINE_ROLE] = "role"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(name, names[i])) {
            *kind = (enum baseline_kind)i;
            return 0;
        }
    }
    return -1;
}

void
baselines_free(struct baselines *b) {
    free(b->at);
    b->at = NULL;
    b->n = 0;
}

void
baselines_copy(struct baselines *to, const struct baselines *from) {
    to->kind = from->kind;
    to->decay = from->decay;
    to->at = mem_grow(to->at, from->n ? from->n : 1, sizeof *to->at);
    to->n = from->n;
    if (from->n)
        memcpy(to->at, from->at, from->n * sizeof *to->at);
}

/* The first row not below (game, role). */
static size_t
place(const struct baselines *b, int64_t game, int role) {
    size_t i = 0;
    while (i < b->n && (b->at[i].game < game || (b->at[i].game == game && b->at[i].role < role)))
        i++;
    return i;
}

static bool
is_at(const struct baselines *b, size_t i, int64_t game, int role) {
    return i < b->n && b->at[i].game == game && b->at[i].role == role;
}

static struct baseline *
row_of(struct baselines *b, int64_t game, int role) {
    size_t i = place(b, game, role);
    if (!is_at(b, i, game, role)) {
        b->at = mem_grow(b->at, b->n + 1, sizeof *b->at);
        memmove(b->at + i + 1, b->at + i, (b->n - i) * sizeof *b->at);
        b->at[i] = (struct baseline){.game = game, .role = role};
        b->n++;
    }
    return &b->at[i];
}

static int
role_of(const struct baselines *b, int seat) {
    return b->kind == BASELINE_SHARED ? BASELINE_ROLE_SHARED : seat;
}

void
baselines_set(struct baselines *b, const struct baseline *row) {
    *row_of(b, row->game, row->role) = *row;
}

double
baselines_value(const struct baselines *b, int64_t game, int role) {
    if (b->kind == BASELINE_NONE)
        return 0;
    size_t i = place(b, game, role_of(b, role));
    return is_at(b, i, game, role_of(b, role)) ? b->at[i].value : 0;
}

void
baselines_match(struct baselines *b, int64_t game, const double ret[2], const bool taken[2],
                double before[2], double advantage[2]) {
    for (int seat = 0; seat < 2; seat++) {
        if (!taken[seat])
            continue;
        before[seat] = baselines_value(b, game, seat);
        advantage[seat] = ret[seat] - before[seat];
    }
    for (int seat = 0; seat < 2 && b->kind != BASELINE_NONE; seat++) {
        if (!taken[seat])
            continue;
        struct baseline *row = row_of(b, game, role_of(b, seat));
        row->value = b->decay * row->value + (1 - b->decay) * ret[seat];
        row->count++;
    }
}
