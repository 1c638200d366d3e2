/* Whatever a program writes, an answer is refused with a sentence or becomes a scene whose
 * numbers and texts are within their bounds. A first byte of 'h' makes the rest a hello, others
 * a state. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "games/extern/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(const char *s, size_t cap) {
    ensure(strlen(s) < cap && utf8_valid(s, strlen(s)) == strlen(s));
    for (; *s; s++)
        ensure((unsigned char)*s >= ' ' || *s == '\n');
}

static void
check_scene(const struct scene *s, const struct hello *h) {
    double sum = 0;
    ensure(s->mover >= GAME_SEAT_0 && s->mover <= GAME_OVER);
    ensure((s->count == 0) == (s->mover == GAME_OVER));
    ensure(s->count <= GAME_MAX_ACTIONS && s->result >= -1 && s->result <= 1);
    ensure(!s->open || h->open);
    for (int i = 0; i < s->count; i++) {
        ensure(s->action[i] >= 0 && s->action[i] <= MESSAGE_MAX_ACTION);
        ensure(!i || s->action[i] > s->action[i - 1]);
        ensure(s->word[i][0]);
        check_text(s->word[i], GAME_WORD);
        sum += s->probability[i];
    }
    ensure(s->mover != GAME_CHANCE || (sum > 1 - 1e-9 && sum < 1 + 1e-9));
    for (int i = 0; i < 2; i++) {
        const char *all[] = {s->view[i], s->told[i], s->rules[i]};
        for (int j = 0; j < 3; j++)
            if (all[j])
                check_text(all[j], GAME_TEXT);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err e = {.text = ""};
    struct hello h = {0};
    if (!size)
        return 0;
    const char *line = (const char *)data + 1;
    if (data[0] == 'h') {
        if (hello_read(line, size - 1, &h, &e) == 0) {
            ensure(h.max_plies >= 1 && h.max_plies <= MESSAGE_MAX_PLIES && h.sessions >= 1);
            check_text(h.title, sizeof h.title);
            hello_free(&h);
        } else {
            ensure(e.text[0]);
        }
        return 0;
    }
    h.open = data[0] & 1;
    h.flags = data[0] & 2 ? GAME_NO_CHANCE : 0;
    struct scene *s = scene_read(line, size - 1, 7, &h, &e);
    if (s)
        check_scene(s, &h);
    else
        ensure(e.text[0]);
    free(s);
    return 0;
}
