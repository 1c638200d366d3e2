#include "arena/schedule.h"

static const struct schedule_game *
draw_game(const struct schedule *s, struct rng *r) {
    double sum = 0;
    if (s->ngames == 1) /* one game costs no number of the stream */
        return &s->game[0];
    for (size_t i = 0; i < s->ngames; i++)
        sum += s->game[i].weight;
    double u = rng_unit(r) * sum;
    size_t i = 0;
    while (i + 1 < s->ngames && u >= s->game[i].weight)
        u -= s->game[i++].weight;
    return &s->game[i];
}

void
schedule_match(const struct schedule *s, int64_t id, int64_t iteration, int64_t newest,
               const int64_t *older_id, size_t nolder, struct match_job *out) {
    int64_t pair = s->pairs ? (id + 1) / 2 : id;
    struct rng r;
    rng_init(&r, s->seed, (uint64_t)pair, RNG_SCHEDULE);
    const struct schedule_game *game = draw_game(s, &r);
    *out = (struct match_job){.id = id,
                              .kind = MATCH_TRAIN,
                              .iteration = iteration,
                              .game = game->id,
                              .deal = pair,
                              .policy = {newest, newest},
                              .attempts = 1};
    if (iteration < s->warmup) {
        out->kind = MATCH_WARMUP;
        out->policy[0] = out->policy[1] = s->random;
        return;
    }
    double u = rng_unit(&r);
    int64_t other = newest;
    if (u < s->older) {
        if (nolder)
            other = older_id[rng_below(&r, (uint32_t)nolder)];
    } else if (u < s->older + s->scripted && game->nopponents) {
        other = game->opponent[rng_below(&r, (uint32_t)game->nopponents)];
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
