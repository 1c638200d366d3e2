/* agon options: the option table for people, or as a YAML file to start a configuration from. */
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/near.h"
#include "cli/cmd.h"

static void
print_option(const struct conf_option *o) {
    struct buf line = {0};
    buf_fmt(&line, "%c %-24s %-14s ", o->fixed ? '*' : ' ', o->key, *o->def ? o->def : "\"\"");
    conf_describe(o, &line);
    printf("%s\n    %s\n", buf_text(&line), o->help);
    buf_free(&line);
}

/* Prints the options whose key starts with `section`; their number. */
static int
print_table(const char *section) {
    const struct conf_option *o;
    int shown = 0;
    for (size_t i = 0; (o = conf_option_at(i)); i++)
        if (!strncmp(o->key, section, strlen(section)))
            shown++;
    if (!shown)
        return 0;
    printf("* key                      default        what it takes\n");
    for (size_t i = 0; (o = conf_option_at(i)); i++)
        if (!strncmp(o->key, section, strlen(section)))
            print_option(o);
    printf("\n* a run that exists keeps its value.\n");
    return shown;
}

static int
run_options(const struct cmd_args *a, struct err *e) {
    if (cmd_flag(a, "yaml")) {
        struct buf yaml = {0};
        conf_write_help(&yaml);
        fwrite(yaml.at, 1, yaml.len, stdout);
        buf_free(&yaml);
        return 0;
    }
    if (!print_table(a->words ? a->word[0] : ""))
        return err_usage(e, "no option's key starts with \"%s\" (`agon options` lists them all)",
                         a->word[0]);
    return 0;
}

const struct cmd cmd_options = {
    .name = "options",
    .args = "[SECTION]",
    .help = "List the options of a configuration: key, default, what it takes, what it does.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"yaml", NULL, "print a configuration file with every option instead"},
            {0},
        },
    .run = run_options,
};
