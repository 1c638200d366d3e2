/* Rows of the database as a command prints them: a table for people (--table), one JSON object a
 * line (--json) or CSV (--csv). Columns and their order are the question's own, so that programs
 * can rely on them; a table may show a choice of them. */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "base/err.h"
#include "cli/cmd.h"
#include "cli/table.h"
#include "store/store.h"

enum listing_style { LISTING_TABLE, LISTING_JSON, LISTING_CSV };

struct listing_column {
    const char *name; /* of the cell */
    const char *head; /* of the table's column, with '>' where it holds numbers */
    int cut;          /* of a text so many bytes, of a real number so many decimals; 0: all */
};

struct listing {
    enum listing_style style;
    const struct listing_column *show; /* what a table shows; ends with a NULL name. NULL: all */
    int rows;
    bool began; /* the names are known */
    struct table table;
    char **heads;             /* [n + 1] of the table; owned */
    struct store_cell *names; /* [n] of columns, until the first row; owned with their names */
    int n;
};

/* clang-format off */
#define LISTING_FLAGS \
    {"table", NULL, "a table (the default)"}, \
    {"json", NULL, "one JSON object a line"}, \
    {"csv", NULL, "comma-separated values"}
/* clang-format on */

/* From --table, --json and --csv; more than one of them is an error. */
int listing_style(const struct cmd_args *a, enum listing_style *out, struct err *e);
/* Before the first row, with the names of the columns: an answer without rows then has its head
 * all the same. Without this call the first row tells, and no rows print nothing. */
void listing_heads(struct listing *l, const struct store_cell *cell, int cells);
/* For store_query(): arg is the listing. Ends the question when nobody reads the output any
 * more. */
int listing_row(void *arg, const struct store_cell *cell, int cells);
void listing_end(struct listing *l); /* prints what is left to print, and frees */

#endif
