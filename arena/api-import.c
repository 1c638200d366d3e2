/* Results that were played elsewhere, as `agon import` sends them: sums of a file. */
#include "arena/api-int.h"

#include <stdlib.h>

#include "arena/pgn.h"
#include "base/clock.h"
#include "base/mem.h"

/* NULL, or what is wrong. */
static const char *
read_results(const json_t *list, struct store_import_result *out) {
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        if (json_array_size(row) != 5)
            return "results: rows of [white, black, wins, draws, losses] are needed";
        const int64_t none = -1;
        int64_t count[3];
        for (size_t k = 0; k < 3; k++) {
            const json_t *v = json_array_get(row, k + 2);
            count[k] = json_is_integer(v) ? json_integer_value(v) : none;
        }
        out[i] = (struct store_import_result){
            .white = json_string_value(json_array_get(row, 0)),
            .black = json_string_value(json_array_get(row, 1)),
            .wins = count[0],
            .draws = count[1],
            .losses = count[2],
        };
    }
    return NULL;
}

static void
add(struct call *c, struct store_import *in) {
    struct err e;
    int got = store_import_add(c->s->store, in, &e);
    if (got < 0)
        api_refuse(c->q, store_retry(c->s->store) ? 503 : 400, "import", "%s", e.text);
    else
        api_answer_json(c->q, 200, json_pack("{s:b}", "added", got == 0));
    api_forget(c->api);
}

void
post_imports(struct call *c) {
    const char *spec = json_string_value(json_object_get(c->body, "game"));
    const json_t *list = json_object_get(c->body, "results");
    struct store_import in = {.hash = json_string_value(json_object_get(c->body, "hash")),
                              .name = json_string_value(json_object_get(c->body, "name")),
                              .game = api_game_id(c->s, spec),
                              .at_ms = clock_wall_ms(),
                              .results = json_array_size(list)};
    if (spec && !in.game) {
        api_refuse(c->q, 400, "game", "game: the run has no such game");
        return;
    }
    if (!in.results || in.results > PGN_PAIRS_MOST) {
        api_refuse(c->q, 400, "results", "results: 1 to %d rows are needed", PGN_PAIRS_MOST);
        return;
    }
    struct store_import_result *result = mem_zero(in.results, sizeof *result);
    const char *wrong = read_results(list, result);
    in.result = result;
    serve_commit(c->s);
    if (wrong)
        api_refuse(c->q, 400, "results", "%s", wrong);
    else
        add(c, &in);
    free(result);
}

void
delete_imports(struct call *c) {
    struct err e;
    serve_commit(c->s);
    int got = store_import_remove(c->s->store, c->word, &e);
    api_forget(c->api);
    if (got < 0)
        api_refuse(c->q, store_retry(c->s->store) ? 503 : 500, "database", "%s", e.text);
    else if (!got)
        api_refuse(c->q, 404, "hash", "no file of this hash was imported");
    else
        httpd_answer(
            c->q, &(struct httpd_answer){.status = 204, .fields = "Cache-Control: no-store\r\n"});
}
