/* agon help: the overview in the groups of cmd.def, or one command with its flags. */
#include <string.h>

#include "cli/cmd-list.h"
#include "cli/manual.h"

/* cmd.def once more, in order: a title or a command's place in cmd_at(). */
static const struct row {
    const char *title; /* NULL: a command */
} rows[] = {
#define CMD_GROUP(title) {title},
#define CMD(name) {NULL},
#include "cli/cmd.def"
#undef CMD
#undef CMD_GROUP
};

static void
print_overview(FILE *out) {
    const char *title = NULL;
    int next = 0;
    fputs("Agon trains policies by self-play on two-player text games, and keeps every match.\n\n"
          "usage: agon COMMAND [arguments] [flags]\n",
          out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].title) {
            title = rows[i].title;
            continue;
        }
        if (title)
            fprintf(out, "\n%s\n", title);
        title = NULL;
        const struct cmd *c = cmd_at(next++);
        fprintf(out, "  %-10s %s\n", c->name, c->help);
    }
    fputs("\n`agon help COMMAND` explains one command, `agon options` the configuration.\n", out);
}

void
cmd_print_help(const struct cmd *c, FILE *out) {
    if (!c) {
        print_overview(out);
        return;
    }
    bool flags = c->flags && c->flags->name;
    fprintf(out, "usage: agon %s%s%s%s\n\n%s\n", c->name, *c->args ? " " : "", c->args,
            flags ? " [flags]" : "", c->help);
    if (flags)
        fputs("\nflags:\n", out);
    for (const struct cmd_flag *f = c->flags; f && f->name; f++) {
        int width =
            fprintf(out, "  --%s%s%s", f->name, f->value ? " " : "", f->value ? f->value : "");
        fprintf(out, "%*s%s\n", width < 22 ? 24 - width : 2, "", f->help);
    }
}

static int
run_help(const struct cmd_args *a, struct err *e) {
    const struct cmd *c = a->words ? cmd_find(a->word[0]) : NULL;
    if (cmd_flag(a, "man"))
        manual_print_commands(stdout);
    if (cmd_flag(a, "man-options"))
        manual_print_options(stdout);
    if (cmd_flag(a, "completion"))
        manual_print_completion(stdout);
    if (a->flags)
        return 0;
    if (a->words && !c)
        return cmd_unknown(a->word[0], e);
    cmd_print_help(c, stdout);
    return 0;
}

const struct cmd cmd_help = {
    .name = "help",
    .args = "[COMMAND]",
    .help = "Explain Agon, or one command.",
    .most = 1,
    .flags =
        (const struct cmd_flag[]){
            {"man", NULL, "print the man page agon(1) instead"},
            {"man-options", NULL, "print the man page agon.yaml(5) instead"},
            {"completion", NULL, "print completion for bash: source <(agon help --completion)"},
            {0},
        },
    .run = run_help,
};
