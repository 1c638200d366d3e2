/* Parsers of replies. Each finds a stretch of the reply and copies nothing; answer_extract() takes
 * the thinking out first and judges what was found. Replies are hostile: any bytes, any length.
 * Every parser reads a reply at most twice and allocates nothing. */
#include "policy/answer.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

#define THINK_OPEN "<think>"
#define THINK_CLOSE "</think>"
#define BOXED "\\boxed{"

static bool
is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *
trim(const char *s, size_t n, size_t *len) {
    while (n && is_blank(s[n - 1]))
        n--;
    while (n && is_blank(*s)) {
        s++;
        n--;
    }
    *len = n;
    return s;
}

/* The last pair of brackets with no bracket between them. */
static const char *
find_bracket(const char *reply, size_t n, size_t *len) {
    const char *open = NULL, *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (reply[i] == '[') {
            open = reply + i + 1;
        } else if (reply[i] == ']' && open) {
            found = open;
            *len = (size_t)(reply + i - open);
            open = NULL;
        }
    }
    return found;
}

/* Bytes up to the brace that closes the one just before s[0]; it is known to be there. */
static size_t
braced_length(const char *s) {
    size_t i = 0;
    for (size_t depth = 1;; i++) {
        if (s[i] == '{')
            depth++;
        else if (s[i] == '}' && --depth == 0)
            return i;
    }
}

/* Backwards, so that one pass knows of each opening brace whether it is ever closed. */
static const char *
find_boxed(const char *reply, size_t n, size_t *len) {
    const size_t mark = sizeof BOXED - 1;
    size_t unmatched = 0; /* closing braces to the right that wait for their opening one */
    for (size_t i = n; i-- > 0;) {
        if (reply[i] == '}')
            unmatched++;
        if (reply[i] != '{' || !unmatched)
            continue;
        unmatched--;
        if (i + 1 < mark || memcmp(reply + i + 1 - mark, BOXED, mark) != 0)
            continue;
        *len = braced_length(reply + i + 1);
        return reply + i + 1;
    }
    return NULL;
}

static const char *
find_line(const char *reply, size_t n, size_t *len) {
    const char *s = trim(reply, n, len);
    for (size_t i = *len; i-- > 0;)
        if (s[i] == '\n' || s[i] == '\r')
            return trim(s + i + 1, *len - i - 1, len);
    return *len ? s : NULL;
}

static const char *
find_whole(const char *reply, size_t n, size_t *len) {
    const char *s = trim(reply, n, len);
    return *len ? s : NULL;
}

static const struct answer answers[] = {
    {"bracket", "The text inside the last [..] of the reply.", find_bracket, "[", "]"},
    {"boxed", "The text inside the last \\boxed{..} of the reply, braces balanced.", find_boxed,
     BOXED, "}"},
    {"line", "The last line of the reply that is not empty.", find_line, "", ""},
    {"whole", "The whole reply.", find_whole, "", ""},
};

const struct answer *
answer_at(int i) {
    return i >= 0 && (size_t)i < sizeof answers / sizeof *answers ? &answers[i] : NULL;
}

const struct answer *
answer_find(const char *name, struct err *e) {
    char known[256];
    struct text list;
    text_init(&list, known, sizeof known);
    const struct answer *a;
    for (int i = 0; (a = answer_at(i)); i++) {
        if (strcmp(a->name, name) == 0)
            return a;
        text_put(&list, i ? ", " : "");
        text_put(&list, a->name);
    }
    err_set(e, "no parser of replies is named '%s'; there are: %s", name, known);
    return NULL;
}

/* Appends the reply without its thinking to `out`. */
static void
remove_thinking(const char *s, size_t n, struct buf *out) {
    const char *end = s + n, *open;
    while (s && (open = memmem(s, (size_t)(end - s), THINK_OPEN, sizeof THINK_OPEN - 1))) {
        buf_add(out, s, (size_t)(open - s));
        open += sizeof THINK_OPEN - 1;
        s = memmem(open, (size_t)(end - open), THINK_CLOSE, sizeof THINK_CLOSE - 1);
        if (s)
            s += sizeof THINK_CLOSE - 1;
    }
    if (s)
        buf_add(out, s, (size_t)(end - s));
}

int
answer_extract(const struct answer *a, const char *reply, size_t n, struct text *word) {
    struct buf spoken = {0};
    if (n && memmem(reply, n, THINK_OPEN, sizeof THINK_OPEN - 1)) {
        remove_thinking(reply, n, &spoken);
        reply = (const char *)spoken.at;
        n = spoken.len;
    }
    size_t len = 0;
    const char *found = n ? a->find(reply, n, &len) : NULL;
    if (found)
        found = trim(found, len, &len);
    /* A NUL would hide the rest of the word from whoever reads it as a C string. */
    bool good = found && len && !memchr(found, '\0', len);
    if (good)
        text_add(word, found, len);
    buf_free(&spoken);
    return good ? 0 : -1;
}

void
answer_write(const struct answer *a, const char *word, struct text *reply) {
    text_put(reply, a->before);
    text_put(reply, word);
    text_put(reply, a->after);
}
