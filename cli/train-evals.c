#include "cli/train-evals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prepare.h"

enum { SECONDS = 5 };

void
train_evals_add(struct train_evals *v, json_t *result) {
    json_t *body = json_pack("{s:O,s:I,s:I}", "result", result, "step",
                             json_integer_value(json_object_get(result, "step")), "policy",
                             json_integer_value(json_object_get(result, "policy_id")));
    if (!v->waiting)
        v->waiting = json_array();
    json_array_append_new(v->waiting, body);
}

/* Appends the oldest to a file of the run, says so with the reason, and forgets it. */
static void
put_aside(struct train_evals *v, const char *why) {
    char path[PREPARE_PATH + 32];
    const json_t *body = json_array_get(v->waiting, 0);
    long long step = json_integer_value(json_object_get(body, "step"));
    snprintf(path, sizeof path, "%s/logs/evals.jsonl", v->dir);
    FILE *f = fopen(path, "ae");
    bool bad = !f || json_dumpf(body, f, JSON_COMPACT) < 0 || fputc('\n', f) < 0;
    if (f && fclose(f))
        bad = true;
    printf("The evaluation of step %lld is not in the database: %s. ", step, why);
    if (bad)
        printf("It is lost: %s: %s\n", path, strerror(errno));
    else
        printf("It is in %s.\n", path);
    fflush(stdout);
    json_array_remove(v->waiting, 0);
}

/* Tries to send the oldest. Returns whether the server took it or refused it for good. */
static bool
send_one(struct train_evals *v, struct http *http, struct err *e) {
    char *text = json_dumps(json_array_get(v->waiting, 0), JSON_COMPACT);
    int status = http_call(http, "POST", "/api/evals", text, strlen(text), SECONDS, e);
    free(text);
    if (status == 200) {
        json_array_remove(v->waiting, 0);
        return true;
    }
    if (status < 0)
        return false;
    http_refusal(http, e);
    if (status >= 500 || status == 429)
        return false;
    put_aside(v, e->text);
    return true;
}

void
train_evals_send(struct train_evals *v, struct http *http) {
    struct err e = {.text = "the server cannot be reached"};
    while (json_array_size(v->waiting) && http && send_one(v, http, &e))
        continue;
    bool wait = json_array_size(v->waiting);
    if (wait && !v->said)
        printf("The server did not take an evaluation (%s); it is kept and sent again.\n", e.text);
    v->said = wait;
    fflush(stdout);
}

void
train_evals_end(struct train_evals *v) {
    while (json_array_size(v->waiting))
        put_aside(v, "the server did not take it before the run ended");
    json_decref(v->waiting);
    v->waiting = NULL;
}
