/* agon systemd: a unit that runs `agon train` or `agon serve` as a service. It is printed, not
 * installed: who may write to /etc is the reader's business. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/prepare.h"
#include "cli/run.h"

enum { STOP_S = 60 };

struct unit {
    const char *verb;                                                        /* train or serve */
    char program[PATH_MAX], run[PATH_MAX], config[PATH_MAX], home[PATH_MAX]; /* absolute */
    char user[128];
};

/* ---- paths ---- */

/* Of something that need not be there yet. */
static int
absolute(const char *path, char out[PATH_MAX], struct err *e) {
    char folder[PATH_MAX];
    if (realpath(path, out))
        return 0;
    if (*path == '/')
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX ? 0
                                                              : err_set(e, "the path is too long");
    if (!getcwd(folder, sizeof folder))
        return err_set(e, "this folder has no name any more: %s", strerror(errno));
    if (strlen(folder) + strlen(path) + 2 > PATH_MAX)
        return err_set(e, "%.80s...: the path is too long", path);
    stpcpy(stpcpy(stpcpy(out, folder), "/"), path);
    return 0;
}

/* No unit can hold a name with a control character, and none that breaks its line. */
static int
check_path(const char *path, struct err *e) {
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return err_set(e, "a path with control characters cannot stand in a unit");
    size_t n = strlen(path);
    if (n && path[n - 1] == '\\') /* would go on with the next line */
        return err_set(e, "a path that ends with a backslash cannot stand in a unit");
    return 0;
}

static int
check_folder(const char *run, struct err *e) {
    struct stat st;
    if (stat(run, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, "%s: a run is a folder, this is a file", run);
    return 0;
}

static int
fill(struct unit *u, const struct cmd_args *a, struct err *e) {
    char run[PREPARE_PATH] = "";
    const char *dir = cmd_flag(a, "run"), *config = a->words > 1 ? a->word[1] : NULL;
    const char *user = cmd_flag(a, "user"), *home = getenv("AGON_HOME");
    u->verb = a->words ? a->word[0] : "train";
    if (strcmp(u->verb, "train") && strcmp(u->verb, "serve"))
        return err_usage(e, "%.40s: train or serve is needed", u->verb);
    if (!dir && !config)
        return err_usage(e, "say which run: agon systemd %s CONFIG, or --run DIR", u->verb);
    if (!dir && prepare_dir(config, run, e) < 0)
        return -1;
    if (!realpath("/proc/self/exe", u->program))
        return err_set(e, "cannot find this program's own path: %s", strerror(errno));
    if (config && !realpath(config, u->config))
        return err_set(e, "%s: %s", config, strerror(errno));
    if (absolute(dir ? dir : run, u->run, e) < 0 || (home && absolute(home, u->home, e) < 0) ||
        check_path(u->program, e) < 0 || check_path(u->run, e) < 0 ||
        check_path(u->config, e) < 0 || check_path(u->home, e) < 0 || check_folder(u->run, e) < 0)
        return -1;
    const struct passwd *p = user ? NULL : getpwuid(geteuid());
    snprintf(u->user, sizeof u->user, "%s", user ? user : p ? p->pw_name : "agon");
    if (!*u->user || u->user[strspn(u->user, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-.")])
        return err_usage(e, "--user %.40s: this cannot be a user's name", u->user);
    return 0;
}

/* ---- the unit ---- */

/* A word in quotes: % begins a specifier, " and \ end or escape, and in a command line $ begins a
 * variable. */
static void
put_word(const char *s, bool command) {
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        if (*s == '%' || (command && *s == '$'))
            putchar(*s);
        putchar(*s);
    }
    putchar('"');
}

static void
put_line(const char *key, const char *path) {
    printf("%s=", key);
    put_word(path, false);
    putchar('\n');
}

/* A setting that takes the rest of its line, without quotes. */
static void
put_plain(const char *key, const char *text) {
    printf("%s=", key);
    for (; *text; text++) {
        if (*text == '%')
            putchar('%');
        putchar(*text);
    }
    putchar('\n');
}

static void
put_environment(const char *name, const char *value) {
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "%s=%s", name, value);
    put_line("Environment", text);
}

static void
put_service(const struct unit *u) {
    fputs("[Service]\nType=exec\nExecStart=", stdout);
    put_word(u->program, true);
    printf(" %s", u->verb);
    if (u->config[0]) {
        putchar(' ');
        put_word(u->config, true);
    }
    fputs(" --run ", stdout);
    put_word(u->run, true);
    putchar('\n');
    put_plain("User", u->user);
    put_plain("WorkingDirectory", u->run);
    if (u->home[0])
        put_environment("AGON_HOME", u->home);
    printf("# SIGTERM commits and ends everything in order; nothing is lost by a kill either.\n"
           "KillMode=mixed\nTimeoutStopSec=%d\n"
           "# A run that has reached learner.steps ends with 0 and stays ended.\n"
           "Restart=on-failure\nRestartSec=5\nLimitNOFILE=4096\n",
           STOP_S);
}

static void
put_hardening(const struct unit *u) {
    static const char text[] =
        "\n# What it may touch: its own folder. Games from outside run under the same rules.\n"
        "ProtectSystem=strict\nProtectHome=read-only\nPrivateTmp=yes\nPrivateDevices=yes\n"
        "NoNewPrivileges=yes\nCapabilityBoundingSet=\nAmbientCapabilities=\n"
        "ProtectKernelTunables=yes\nProtectKernelModules=yes\nProtectKernelLogs=yes\n"
        "ProtectControlGroups=yes\nProtectClock=yes\nProtectHostname=yes\n"
        "RestrictNamespaces=yes\nRestrictRealtime=yes\nRestrictSUIDSGID=yes\n"
        "LockPersonality=yes\nRemoveIPC=yes\nUMask=0027\n"
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n"
        "SystemCallArchitectures=native\nSystemCallFilter=@system-service\n";
    fputs(text, stdout);
    put_line("ReadWritePaths", u->run);
    if (u->home[0]) {
        char optional[PATH_MAX + 1];
        snprintf(optional, sizeof optional, "-%s", u->home);
        put_line("ReadWritePaths", optional);
    }
}

static int
run_systemd(const struct cmd_args *a, struct err *e) {
    struct unit *u = &(struct unit){0};
    if (fill(u, a, e) < 0)
        return -1;
    fputs("# Made by `agon systemd`. To install it:\n"
          "#   agon systemd ... >/etc/systemd/system/agon.service\n"
          "#   systemctl daemon-reload && systemctl enable --now agon\n"
          "[Unit]\n",
          stdout);
    printf("Description=Agon: self-play arena and trainer (%s)\n", u->verb);
    fputs("After=network.target\n", stdout);
    put_line("RequiresMountsFor", u->run);
    fputs("StartLimitIntervalSec=300\nStartLimitBurst=5\n\n", stdout);
    put_service(u);
    put_hardening(u);
    fputs("\n[Install]\nWantedBy=multi-user.target\n", stdout);
    if (access(u->run, F_OK) < 0)
        fprintf(stderr,
                "agon systemd: note: %s is not there yet; systemd needs the folder: mkdir "
                "it, and give it to %s\n",
                u->run, u->user);
    return 0;
}

const struct cmd cmd_systemd = {
    .name = "systemd",
    .args = "[train|serve] [CONFIG]",
    .help = "Print a systemd unit that runs `agon train` or `agon serve` as a service.",
    .most = 2,
    .flags =
        (const struct cmd_flag[]){
            {"run", "DIR", "the run folder (default: runs/<name of CONFIG>)"},
            {"user", "NAME", "who runs it (default: you)"},
            {0},
        },
    .run = run_systemd,
};
