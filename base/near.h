/* The nearest known name to a mistyped one, for "did you mean": offer every known name, then
 * ask. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#define NEAR_MAX 80 /* bytes of a name; longer ones are never near: they are not ours */

struct near {
    const char *word;        /* borrowed */
    char best[NEAR_MAX + 1]; /* "" while nothing is near enough */
    unsigned cost;           /* edits from word to best, or one more than would be near enough */
};

void near_init(struct near *n, const char *word);
void near_offer(struct near *n, const char *name);

#endif
