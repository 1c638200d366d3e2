/* Whatever a reply holds, each parser finds a stretch of it or nothing, and what is extracted is a
 * word: not empty, no NUL, no blanks around it. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_parser(const struct answer *a, const char *reply, size_t n) {
    size_t len = 0;
    const char *found = a->find(reply, n, &len);
    if (found)
        ensure(found >= reply && len <= n && found + len <= reply + n);
    struct text word;
    char *at = mem_alloc(n + 1);
    text_init(&word, at, n + 1);
    if (answer_extract(a, reply, n, &word) == 0) {
        ensure(word.len > 0 && word.len <= n && !word.cut);
        ensure(strlen(at) == word.len);
        ensure(!isspace((unsigned char)at[0]) && !isspace((unsigned char)at[word.len - 1]));
    } else {
        ensure(word.len == 0);
    }
    free(at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct answer *a;
    for (int i = 0; (a = answer_at(i)); i++)
        check_parser(a, (const char *)data, size);
    return 0;
}
