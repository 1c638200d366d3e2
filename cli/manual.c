#include "cli/manual.h"

#include <string.h>

#include "base/conf.h"
#include "cli/cmd-list.h"

/* Text of ours as roff: minus signs that can be copied, no accidental escapes or requests. */
static void
put(FILE *out, const char *s) {
    fputs(*s == '.' || *s == '\'' ? "\\&" : "", out);
    for (; *s; s++)
        if (*s == '\\')
            fputs("\\e", out);
        else if (*s == '-')
            fputs("\\-", out);
        else
            fputc(*s, out);
}

static void
put_command(FILE *out, const struct cmd *c) {
    fputs(".SS agon ", out);
    put(out, c->name);
    fputs(*c->args ? " " : "", out);
    put(out, c->args);
    fputs(c->flags && c->flags->name ? " [flags]\n" : "\n", out);
    put(out, c->help);
    fputs("\n", out);
    for (const struct cmd_flag *f = c->flags; f && f->name; f++) {
        fputs(".TP\n\\fB\\-\\-", out);
        put(out, f->name);
        fputs("\\fR", out);
        if (f->value) {
            fputs(" \\fI", out);
            put(out, f->value);
            fputs("\\fR", out);
        }
        fputs("\n", out);
        put(out, f->help);
        fputs("\n", out);
    }
}

void
manual_print_commands(FILE *out) {
    const struct cmd *c;
    fputs(".TH AGON 1\n.SH NAME\nagon \\- self\\-play arena and trainer for text games\n"
          ".SH SYNOPSIS\n.B agon\n.I COMMAND\n[arguments] [flags]\n.SH DESCRIPTION\n"
          "Agon trains policies by self\\-play on two\\-player text games, and keeps every match.\n"
          "A flag is written \\-\\-name VALUE or \\-\\-name=VALUE; after \\-\\- everything is an\n"
          "argument.\n.SH COMMANDS\n",
          out);
    for (int i = 0; (c = cmd_at(i)); i++)
        put_command(out, c);
    fputs(
        ".SH ENVIRONMENT\n.TP\n.B AGON_LOG\nLeast level that is logged: debug, info, warn, error.\n"
        ".TP\n.B OPENBLAS_CORETYPE\nKernel of the matrix products; chosen by Agon when unset.\n"
        ".SH EXIT STATUS\n0: done. 1: failed, with a sentence on stderr. 2: wrong command line.\n"
        ".SH SEE ALSO\n.BR agon.yaml (5)\n",
        out);
}

void
manual_print_options(FILE *out) {
    const struct conf_option *o;
    fputs(
        ".TH AGON.YAML 5\n.SH NAME\nagon.yaml \\- configuration of a run\n.SH DESCRIPTION\n"
        "A YAML file of nested sections. A key below is the path to its option; it may also be\n"
        "written with its dots. What a file leaves out has its default; unknown keys are errors.\n"
        "Options marked * keep their value for the life of a run.\n.SH OPTIONS\n",
        out);
    for (size_t i = 0; (o = conf_option_at(i)); i++) {
        struct buf takes = {0};
        conf_describe(o, &takes);
        fputs(".TP\n\\fB", out);
        put(out, o->key);
        fputs(o->fixed ? "\\fR * (" : "\\fR (", out);
        put(out, *o->def ? o->def : "\"\"");
        fputs(")\n", out);
        put(out, o->help);
        fputs(" Takes ", out);
        put(out, buf_text(&takes));
        fputs(".\n", out);
        buf_free(&takes);
    }
    fputs(".SH SEE ALSO\n.BR agon (1)\n", out);
}

void
manual_print_completion(FILE *out) {
    const struct cmd *c;
    fputs(
        "_agon() {\n    local words= cur=${COMP_WORDS[COMP_CWORD]}\n    case ${COMP_WORDS[1]} in\n",
        out);
    for (int i = 0; (c = cmd_at(i)); i++) {
        fprintf(out, "    %s) words=\"--help", c->name);
        for (const struct cmd_flag *f = c->flags; f && f->name; f++)
            fprintf(out, " --%s", f->name);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"", out);
    for (int i = 0; (c = cmd_at(i)); i++)
        fprintf(out, "%s%s", i ? " " : "", c->name);
    fputs("\"\n    elif [ \"${cur#-}\" = \"$cur\" ]; then words=; fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
          "complete -o default -F _agon agon\n",
          out);
}
