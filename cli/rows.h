/* Rows of the database's named queries on their way to a terminal or another program. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdio.h>

#include <jansson.h>

#include "store/store.h"

/* Text of the cell called `name`; NULL for SQL NULL and where the row has no such cell. */
const char *row_text(const struct store_cell *cell, int cells, const char *name);
int64_t row_int(const struct store_cell *cell, int cells, const char *name, int64_t otherwise);
double row_real(const struct store_cell *cell, int cells, const char *name, double otherwise);

/* A field of RFC 4180 CSV, in quotes where it needs them. */
void csv_field(FILE *out, const char *s);
/* The row as an object; the caller's (json_decref). */
json_t *row_json(const struct store_cell *cell, int cells);
/* One JSON object and a line break. */
void row_print_json(FILE *out, const struct store_cell *cell, int cells);
/* One line of RFC 4180 CSV; `heads`: the names instead of the values. */
void row_print_csv(FILE *out, const struct store_cell *cell, int cells, bool heads);

#endif
