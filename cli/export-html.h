/* The two pages of `agon export --html`. */
#ifndef CLI_EXPORT_HTML_H
#define CLI_EXPORT_HTML_H

#include <stddef.h>

#include "cli/export.h"

int export_html_match(struct export *x, int64_t id);

#endif
