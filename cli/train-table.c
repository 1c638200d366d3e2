#include "cli/train-table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/member.h"

void
train_table_latest(struct train_table *t, const json_t *o) {
    if (t->n == CONF_MAX_GAMES)
        return;
    struct train_row *r = &t->row[t->n++];
    const char *kind = json_string_value(json_object_get(o, "kind"));
    const char *game = json_string_value(json_object_get(o, "game"));
    *r = (struct train_row){.step = json_integer_value(json_object_get(o, "step")),
                            .mixture = NAN,
                            .exact = kind && !strcmp(kind, "exact"),
                            .nash_conv = member_real(o, "nash_conv"),
                            .invalid = member_real(o, "invalid")};
    snprintf(r->game, sizeof r->game, "%s", game ? game : "");
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(o, "against"), i, one) {
        if (r->nagainst == TRAIN_AGAINST_MOST)
            break;
        struct train_against *a = &r->against[r->nagainst++];
        const char *name = json_string_value(json_object_get(one, "name"));
        double n = member_real(one, "matches");
        snprintf(a->name, sizeof a->name, "%s", name ? name : "");
        a->win = member_real(one, "win") / n;
        a->loss = member_real(one, "loss") / n;
    }
}

void
train_table_mixture(struct train_table *t, const json_t *o) {
    const char *game = json_string_value(json_object_get(o, "game"));
    for (int i = 0; game && i < t->n; i++)
        if (!strcmp(t->row[i].game, game))
            t->row[i].mixture = member_real(o, "nash_conv");
}

bool
train_table_exact(const struct train_table *t) {
    for (int i = 0; i < t->n; i++)
        if (t->row[i].exact)
            return true;
    return false;
}

/* A number, or as wide a blank where there is none. */
static void
print_number(int width, int digits, double v, const char *unit) {
    if (isfinite(v))
        printf("%*.*f%s", width - (int)strlen(unit), digits, v, unit);
    else
        printf("%*s", width, "-");
}

static void
print_against(const struct train_row *r) {
    for (int i = 0; i < r->nagainst; i++) {
        const struct train_against *a = &r->against[i];
        printf("%s%s ", i ? ", " : "", a->name);
        print_number(0, 1, 100 * a->win, "");
        putchar('/');
        print_number(0, 1, 100 * a->loss, "");
    }
}

/* As much of a game's name as tells it from the others. */
static int
name_length(const struct train_table *t, const struct train_row *r) {
    size_t len = strcspn(r->game, "(");
    for (int i = 0; i < t->n; i++)
        if (&t->row[i] != r && !strncmp(t->row[i].game, r->game, len) &&
            (!t->row[i].game[len] || t->row[i].game[len] == '('))
            return (int)strlen(r->game);
    return (int)len;
}

/* Games without hidden information are measured by matches, too. */
static bool
has_against(const struct train_table *t) {
    for (int i = 0; i < t->n; i++)
        if (t->row[i].nagainst)
            return true;
    return false;
}

static void
print_head(const struct train_table *t) {
    printf("%8s %10s %8s %10s %10s", "step", "matches", "seconds", "matches/s", "tokens/s");
    if (t->several)
        printf("  %-20s", "game");
    printf(" %9s", "invalid");
    if (t->several || train_table_exact(t))
        printf(" %9s %9s", "NashConv", "mixture");
    if (has_against(t))
        printf("  %% won/lost against");
    putchar('\n');
}

void
train_table_print(struct train_table *t, const struct train_speed *s) {
    if (t->printed++ % 20 == 0)
        print_head(t);
    for (int i = 0; i < t->n; i++) {
        const struct train_row *r = &t->row[i];
        printf("%8lld %10lld %8.0f %10.0f %10.0f", (long long)r->step, (long long)s->played,
               s->seconds, s->matches_s, s->tokens_s);
        if (t->several)
            printf("  %-20.*s", name_length(t, r), r->game);
        putchar(' ');
        print_number(9, 2, 100 * r->invalid, "%");
        if (t->several || r->exact) {
            putchar(' ');
            print_number(9, 4, r->nash_conv, "");
            putchar(' ');
            print_number(9, 4, r->mixture, "");
        }
        if (r->nagainst)
            printf("  ");
        print_against(r);
        putchar('\n');
    }
}

void
train_table_report(const struct train_table *t) {
    for (int i = 0; i < t->n; i++) {
        const struct train_row *r = &t->row[i];
        if (t->several)
            printf("%s: ", r->game);
        if (r->exact) {
            printf("NashConv of the newest snapshot ");
            print_number(0, 4, r->nash_conv, "");
            printf(", of the mixture of snapshots ");
            print_number(0, 4, r->mixture, "");
            printf("; ");
        } else if (r->nagainst) {
            printf("won/lost in %%: ");
            print_against(r);
            printf("; ");
        }
        printf("invalid replies ");
        print_number(0, 2, 100 * r->invalid, " %");
        printf(".\n");
    }
}
