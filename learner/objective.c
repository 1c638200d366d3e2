/* The table of objectives that learner.objective chooses from. */
#include "learner/objective.h"

#include <stddef.h>
#include <string.h>

static const struct objective *const table[] = {
    &objective_reinforce,
};

const struct objective *
objective_find(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!strcmp(table[i]->name, name))
            return table[i];
    }
    return NULL;
}
