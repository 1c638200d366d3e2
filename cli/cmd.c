/* Commands by name, and their flags. A flag is --name VALUE, --name=VALUE or, as a switch, --name;
 * after `--` everything is a word. */
#include "cli/cmd-list.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/utf8.h"

#define CMD_GROUP(title)
#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/cmd.def"
#undef CMD

static const struct cmd *const commands[] = {
#define CMD(name) &cmd_##name,
#include "cli/cmd.def"
#undef CMD
};
#undef CMD_GROUP

#define COMMANDS (int)(sizeof commands / sizeof *commands)

const struct cmd *
cmd_at(int i) {
    return i >= 0 && i < COMMANDS ? commands[i] : NULL;
}

const struct cmd *
cmd_find(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

int
cmd_unknown(const char *name, struct err *e) {
    char shown[64];
    struct near near;
    near_init(&near, name);
    for (int i = 0; i < COMMANDS; i++)
        near_offer(&near, commands[i]->name);
    utf8_show(name, shown, sizeof shown);
    if (near.best[0])
        return err_usage(e, "there is no command \"%s\"; did you mean \"%s\"?", shown, near.best);
    return err_usage(e, "there is no command \"%s\" (`agon help` lists them all)", shown);
}

static int
unknown_flag(const struct cmd *c, const char *name, struct err *e) {
    char shown[64];
    struct near near;
    near_init(&near, name);
    for (const struct cmd_flag *f = c->flags; f && f->name; f++)
        near_offer(&near, f->name);
    utf8_show(name, shown, sizeof shown);
    if (near.best[0])
        return err_set(e, "there is no flag --%s; did you mean --%s?", shown, near.best);
    return err_set(e, "there is no flag --%s (`agon help %s` lists them)", shown, c->name);
}

/* Reads the flag at *argv, and its value where that is the next argument; *argv ends on the last
 * one read. */
static int
read_flag(const struct cmd *c, char ***argv, struct cmd_args *a, struct err *e) {
    char name[64];
    const char *given = **argv + 2, *equals = strchr(given, '=');
    int len = equals ? (int)(equals - given) : (int)strlen(given);
    snprintf(name, sizeof name, "%.*s", len, given);
    const struct cmd_flag *f = c->flags;
    while (f && f->name && strcmp(f->name, name))
        f++;
    if (!f || !f->name)
        return unknown_flag(c, name, e);
    if (a->flags == CMD_MAX_VALUES)
        return err_set(e, "more than %d flags", CMD_MAX_VALUES);
    const char *value = equals ? equals + 1 : "";
    if (equals && !f->value)
        return err_set(e, "--%s takes no value", name);
    if (!equals && f->value) {
        value = (*argv)[1];
        if (!value || !strncmp(value, "--", 2))
            return err_set(e, "--%s needs a value: --%s %s", name, name, f->value);
        (*argv)++;
    }
    a->flag[a->flags].name = f->name;
    a->flag[a->flags++].value = value;
    return 0;
}

static int
read_word(const struct cmd *c, const char *word, struct cmd_args *a, struct err *e) {
    char shown[64];
    utf8_show(word, shown, sizeof shown);
    if (a->words == c->most || a->words == CMD_MAX_VALUES)
        return err_set(e, "\"%s\" is one argument too many: agon %s%s%s", shown, c->name,
                       *c->args ? " " : "", c->args);
    a->word[a->words++] = word;
    return 0;
}

int
cmd_read(const struct cmd *c, char **argv, struct cmd_args *a, struct err *e) {
    bool flags = true;
    for (; *argv; argv++) {
        const char *s = *argv;
        bool dashed = flags && s[0] == '-' && s[1] && !strchr("0123456789.", s[1]);
        int bad = 0;
        if (flags && !strcmp(s, "--"))
            flags = false;
        else if (dashed && s[1] != '-')
            bad = err_set(e,
                          "\"%.40s\": flags have two dashes and a name (`agon help %s` lists them)",
                          s, c->name);
        else if (dashed)
            bad = read_flag(c, &argv, a, e);
        else
            bad = read_word(c, s, a, e);
        if (bad < 0)
            return -1;
    }
    if (a->words < c->least)
        return err_set(e, "an argument is missing: agon %s %s", c->name, c->args);
    return 0;
}

const char *
cmd_flag_nth(const struct cmd_args *a, const char *name, int n) {
    for (int i = 0; i < a->flags; i++)
        if (!strcmp(a->flag[i].name, name) && n-- == 0)
            return a->flag[i].value;
    return NULL;
}

const char *
cmd_flag(const struct cmd_args *a, const char *name) {
    for (int i = a->flags - 1; i >= 0; i--)
        if (!strcmp(a->flag[i].name, name))
            return a->flag[i].value;
    return NULL;
}
