/* The table of optimizers that learner.optimizer chooses from. */
#include "learner/optim.h"

#include <string.h>

static const struct optim *const table[] = {
    &optim_adamw,
    &optim_sgd,
};

const struct optim *
optim_find(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!strcmp(table[i]->name, name))
            return table[i];
    }
    return NULL;
}
