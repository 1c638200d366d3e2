#include "cli/member.h"

#include <math.h>

double
member_real(const json_t *o, const char *name) {
    const json_t *v = json_object_get(o, name);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

long long
member_int(const json_t *o, const char *name) {
    return (long long)json_integer_value(json_object_get(o, name));
}

const char *
member_text(const json_t *o, const char *name) {
    const char *s = json_string_value(json_object_get(o, name));
    return s ? s : "-";
}
