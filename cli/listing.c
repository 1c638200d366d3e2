#include "cli/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/rows.h"

enum { CELL_MOST = 120 }; /* bytes of a cell in a table of unknown columns */

int
listing_style(const struct cmd_args *a, enum listing_style *out, struct err *e) {
    static const char *const flags[] = {
        [LISTING_TABLE] = "table", [LISTING_JSON] = "json", [LISTING_CSV] = "csv"};
    const char *given = NULL;
    *out = LISTING_TABLE;
    for (int i = 0; i < 3; i++) {
        if (!cmd_flag(a, flags[i]))
            continue;
        if (given)
            return err_usage(e, "--%s and --%s: one of them is enough", given, flags[i]);
        given = flags[i];
        *out = (enum listing_style)i;
    }
    return 0;
}

/* The heads of the table. Where all columns are shown, the first row's types tell which hold
 * numbers. */
static void
make_heads(struct listing *l, const struct store_cell *cell, int cells) {
    int n = cells;
    if (l->show)
        for (n = 0; l->show[n].name; n++)
            continue;
    l->heads = mem_zero((size_t)n + 1, sizeof *l->heads);
    for (int i = 0; i < n; i++) {
        struct buf head = {0};
        bool number = !l->show && (cell[i].type == STORE_INT || cell[i].type == STORE_REAL);
        buf_put(&head, number ? ">" : "");
        if (l->show)
            buf_put(&head, l->show[i].head);
        else
            term_escape(&head, cell[i].name, strlen(cell[i].name), false);
        l->heads[i] = mem_text(buf_text(&head));
        buf_free(&head);
    }
    table_init(&l->table, (const char *const *)l->heads);
}

static void
add_cell(struct table *t, const struct store_cell *c, size_t most) {
    size_t n = c->text && c->type != STORE_NULL ? strlen(c->text) : 0;
    if (!c->text || c->type == STORE_NULL || n <= most) {
        table_add(t, c->type == STORE_NULL ? NULL : c->text);
        return;
    }
    while (most && ((unsigned char)c->text[most] & 0xc0) == 0x80)
        most--;
    struct buf cut = {0};
    buf_add(&cut, c->text, most);
    buf_put(&cut, "...");
    table_add(t, buf_text(&cut));
    buf_free(&cut);
}

static void
add_shown(struct listing *l, const struct store_cell *cell, int cells) {
    for (const struct listing_column *c = l->show; c->name; c++) {
        struct store_cell found = {.name = c->name, .type = STORE_NULL};
        for (int i = 0; i < cells; i++)
            if (!strcmp(cell[i].name, c->name))
                found = cell[i];
        if (c->cut && found.type == STORE_REAL)
            table_fmt(&l->table, "%.*f", c->cut, strtod(found.text, NULL));
        else if (c->cut && found.type != STORE_NULL)
            table_fmt(&l->table, "%.*s", c->cut, found.text);
        else
            add_cell(&l->table, &found, SIZE_MAX);
    }
}

void
listing_heads(struct listing *l, const struct store_cell *cell, int cells) {
    l->began = true;
    if (l->style == LISTING_CSV)
        row_print_csv(stdout, cell, cells, true);
    if (l->style != LISTING_TABLE)
        return;
    l->names = mem_zero((size_t)cells, sizeof *l->names);
    for (; l->n < cells; l->n++)
        l->names[l->n].name = mem_text(cell[l->n].name);
}

int
listing_row(void *arg, const struct store_cell *cell, int cells) {
    struct listing *l = arg;
    if (!l->began)
        listing_heads(l, cell, cells);
    if (!l->rows++ && l->style == LISTING_TABLE)
        make_heads(l, cell, cells);
    if (l->style == LISTING_JSON)
        row_print_json(stdout, cell, cells);
    else if (l->style == LISTING_CSV)
        row_print_csv(stdout, cell, cells, false);
    else if (l->show)
        add_shown(l, cell, cells);
    else
        for (int i = 0; i < cells; i++)
            add_cell(&l->table, &cell[i], CELL_MOST);
    return ferror(stdout) != 0;
}

void
listing_end(struct listing *l) {
    if (l->style == LISTING_TABLE && l->began && !l->heads)
        make_heads(l, l->names, l->n);
    if (l->heads)
        table_print(&l->table, stdout);
    for (char **head = l->heads; head && *head; head++)
        free(*head);
    for (int i = 0; i < l->n; i++)
        free((char *)l->names[i].name);
    free(l->heads);
    free(l->names);
    *l = (struct listing){.style = l->style, .rows = l->rows};
}
