#include "arena/schedule.h"

void
schedule_match(const struct schedule *s, int64_t id, int64_t iteration, int64_t newest,
               const int64_t *older_id, size_t nolder, struct match_job *out) {
    int64_t pair = s->pairs ? (id + 1) / 2 : id;
    *out = (struct match_job){.id = id,
                              .kind = MATCH_TRAIN,
                              .iteration = iteration,
                              .game = s->game,
                              .deal = pair,
                              .policy = {newest, newest},
                              .attempts = 1};
    if (iteration < s->warmup) {
        out->kind = MATCH_WARMUP;
        out->policy[0] = out->policy[1] = s->random;
        return;
    }
    struct rng r;
    rng_init(&r, s->seed, (uint64_t)pair, RNG_SCHEDULE);
    double u = rng_unit(&r);
    int64_t other = newest;
    if (u < s->older) {
        if (nolder)
            other = older_id[rng_below(&r, (uint32_t)nolder)];
    } else if (u < s->older + s->scripted && s->nopponents) {
        other = s->opponent[rng_below(&r, (uint32_t)s->nopponents)];
    }
    int seat = s->pairs ? (int)(id & 1) : (int)(rng_u32(&r) & 1);
    out->policy[seat] = other;
}

bool
schedule_keeps(int64_t step, int64_t newest, int64_t keep) {
    if (step + SCHEDULE_RECENT > newest)
        return true;
    int64_t stride = 1;
    while (newest / stride >= keep)
        stride *= 2;
    return step % stride == 0;
}
