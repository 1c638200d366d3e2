/* agon doctor: what will not work on this machine and with this run, and what to do about it. */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/doctor.h"
#include "cli/table.h"

static const char *const words[] = {[FINE] = "ok", [CARE] = "care", [BAD] = "bad"};

static void
print_json(enum finding f, const char *topic, const char *text, const char *mend) {
    json_t *o = json_pack("{s:s,s:s,s:s%,s:o}", "state", words[f], "topic", topic, "text", text,
                          strlen(text), "mend", mend ? json_string(mend) : json_null());
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

void
doctor_tell(struct doctor *d, enum finding f, const char *topic, const char *mend, const char *fmt,
            ...) {
    char text[1600];
    struct buf shown = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    d->found[f]++;
    term_escape(&shown, text, strlen(text), false);
    if (d->json)
        print_json(f, topic, buf_text(&shown), mend);
    else
        printf("%-4s  %-12s %s\n", words[f], topic, buf_text(&shown));
    if (!d->json && mend)
        printf("      %-12s -> %s\n", "", mend);
    buf_free(&shown);
}

/* The run that --run names, or the newest. It may be damaged in any way: that is what is to be
 * told. */
static int
find_run(struct doctor *d, const struct cmd_args *a, char dir[RUN_PATH], struct err *e) {
    char path[RUN_PATH + 32];
    struct err why;
    const char *given = cmd_flag(a, "run");
    d->conf = conf_new();
    if (run_find(given, dir, given ? e : &why) < 0)
        return given ? -1 : 0;
    d->dir = dir;
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (conf_load(d->conf, path, &why) == 0) {
        d->conf_read = true;
        return 0;
    }
    doctor_tell(d, BAD, "options", "put the run's config.yaml back, or mend the line that is named",
                "%s", why.text);
    conf_free(d->conf);
    d->conf = conf_new();
    return 0;
}

static int
run_doctor(const struct cmd_args *a, struct err *e) {
    char dir[RUN_PATH];
    struct doctor d = {.quick = cmd_flag(a, "quick") != NULL, .json = cmd_flag(a, "json") != NULL};
    int status = find_run(&d, a, dir, e);
    if (!status) {
        doctor_machine(&d);
        if (d.dir)
            doctor_run(&d);
        else
            doctor_tell(&d, FINE, "run", NULL, "there is no run under runs/ here yet");
        if (!d.json)
            printf("\n%s\n", d.found[BAD] ? "Something will not work: see the lines with \"bad\"."
                             : d.found[CARE]
                                 ? "All works; the lines with \"care\" are worth a look."
                                 : "All is well.");
        status = d.found[BAD] > 0;
    }
    store_close(d.store);
    conf_free(d.conf);
    return status;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .args = "",
    .help = "Say what will not work on this machine or with this run, and what to do about it.",
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run's folder (default: the newest under runs/)"},
            {"quick", NULL, "do not read the whole database and every snapshot"},
            {"json", NULL, "one JSON object a line"},
            {0},
        },
    .needs_mat = true,
    .run = run_doctor,
};
