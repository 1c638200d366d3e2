#include "cli/rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const char *
row_text(const struct store_cell *cell, int cells, const char *name) {
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].name, name))
            return cell[i].type == STORE_NULL ? NULL : cell[i].text;
    return NULL;
}

int64_t
row_int(const struct store_cell *cell, int cells, const char *name, int64_t otherwise) {
    const char *s = row_text(cell, cells, name);
    return s ? strtoll(s, NULL, 10) : otherwise;
}

double
row_real(const struct store_cell *cell, int cells, const char *name, double otherwise) {
    const char *s = row_text(cell, cells, name);
    return s ? strtod(s, NULL) : otherwise;
}

static json_t *
cell_json(const struct store_cell *c) {
    json_t *v = NULL;
    switch (c->type) {
    case STORE_NULL:
        return json_null();
    case STORE_INT:
        return json_integer(strtoll(c->text, NULL, 10));
    case STORE_REAL:
        v = json_real(strtod(c->text, NULL)); /* NULL when it is not finite */
        return v ? v : json_null();
    case STORE_TEXT:
        break;
    }
    v = json_string(c->text); /* NULL when it is not UTF-8 */
    return v ? v : json_string("(not UTF-8)");
}

json_t *
row_json(const struct store_cell *cell, int cells) {
    json_t *o = json_object();
    for (int i = 0; i < cells; i++)
        json_object_set_new(o, cell[i].name, cell_json(&cell[i]));
    return o;
}

void
row_print_json(FILE *out, const struct store_cell *cell, int cells) {
    json_t *o = row_json(cell, cells);
    json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(o);
}

void
csv_field(FILE *out, const char *s) {
    if (!s[strcspn(s, ",\"\r\n")]) {
        fputs(s, out);
        return;
    }
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    fputc('"', out);
}

void
row_print_csv(FILE *out, const struct store_cell *cell, int cells, bool heads) {
    for (int i = 0; i < cells; i++) {
        if (i)
            fputc(',', out);
        if (heads)
            csv_field(out, cell[i].name);
        else if (cell[i].type != STORE_NULL)
            csv_field(out, cell[i].text);
    }
    fputs("\r\n", out);
}
