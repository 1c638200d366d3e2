/* Members of JSON objects that may be missing, for tables and pages. */
#ifndef CLI_MEMBER_H
#define CLI_MEMBER_H

#include <jansson.h>

double member_real(const json_t *o, const char *name);      /* NAN where it is no number */
long long member_int(const json_t *o, const char *name);    /* 0 where it is no whole one */
const char *member_text(const json_t *o, const char *name); /* "-" where it is no text */

#endif
