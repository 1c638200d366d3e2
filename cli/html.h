/* Pages of HTML that need nothing else: no host, no script, one style that the page's own content
 * policy allows by its hash, charts as SVG. Whatever text comes from a run is only ever text. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include <stddef.h>
#include <stdio.h>

void html_begin(FILE *out, const char *title);
void html_end(FILE *out);
/* Escaped; control and invisible characters as \xNN. NULL: an em dash. */
void html_text(FILE *out, const char *s);
void html_bytes(FILE *out, const char *s, size_t n);

/* A table: heads end with NULL, one that starts with '>' is a column of numbers. */
void html_table_begin(FILE *out, const char *const *heads);
void html_row(FILE *out, const char *const *heads, const char *const *cells);
void html_table_end(FILE *out);

#define HTML_SERIES 6

struct html_series {
    const char *name;
    const double *x, *y; /* [n], x ascending; a y that is not finite is a gap */
    size_t n;
};

/* A line chart with axes, a legend, and a sentence for those who do not see it. Nothing where there
 * are no points. */
void html_chart(FILE *out, const char *title, const char *x_name, const struct html_series *series,
                size_t n);
/* Bars from 0 to 1, one for each value, labels below. */
void html_bars(FILE *out, const char *title, const char *const *label, const double *value,
               size_t n);

#endif
