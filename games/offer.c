#include "games/offer.h"

#include <string.h>

#include "games/talk.h"

int
bundle_number(const struct bundle *b) {
    int kind[2], kinds = 0, pair = 0;
    for (int i = 0; i < OFFER_KINDS; i++) {
        if (b->quantity[i] == 0)
            continue;
        if (b->quantity[i] < 0 || b->quantity[i] > OFFER_MOST || kinds == 2)
            return 0;
        kind[kinds++] = i;
    }
    if (kinds == 0)
        return 0;
    int first = b->quantity[kind[0]] - 1;
    if (kinds == 1)
        return 1 + kind[0] * OFFER_MOST + first;
    for (int i = 0; i < kind[0]; i++)
        pair += OFFER_KINDS - 1 - i;
    pair += kind[1] - kind[0] - 1;
    int both = (pair * OFFER_MOST + first) * OFFER_MOST + b->quantity[kind[1]] - 1;
    return 1 + OFFER_KINDS * OFFER_MOST + both;
}

struct bundle
bundle_of(int number) {
    struct bundle b = {{0}};
    if (number-- == 0)
        return b;
    if (number < OFFER_KINDS * OFFER_MOST) {
        b.quantity[number / OFFER_MOST] = number % OFFER_MOST + 1;
        return b;
    }
    number -= OFFER_KINDS * OFFER_MOST;
    int pair = number / (OFFER_MOST * OFFER_MOST), low = 0;
    while (pair >= OFFER_KINDS - 1 - low)
        pair -= OFFER_KINDS - 1 - low++;
    b.quantity[low] = number / OFFER_MOST % OFFER_MOST + 1;
    b.quantity[low + 1 + pair] = number % OFFER_MOST + 1;
    return b;
}

void
bundle_put(int number, const char *const *names, struct text *out) {
    struct bundle b = bundle_of(number);
    const char *before = "";
    for (int i = 0; i < OFFER_KINDS; i++)
        if (b.quantity[i]) {
            text_put(out, before);
            text_int(out, b.quantity[i]);
            text_char(out, ' ');
            text_put(out, names[i]);
            before = ", ";
        }
}

static bool
is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool
is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int
find_kind(const char *word, size_t n, const char *const *names, int kinds) {
    for (int i = 0; i < kinds; i++) {
        size_t len = strlen(names[i]);
        bool plural = n == len + 1 && (word[len] == 's' || word[len] == 'S');
        if ((n == len || plural) && strncasecmp(word, names[i], len) == 0)
            return i;
    }
    return -1;
}

/* Every number with a word behind it is a quantity and a kind. Returns the bundle's number, or -1.
 */
static int
read_bundle(const char *at, const char *end, const char *const *names, int kinds) {
    struct bundle b = {{0}};
    while (at < end) {
        if (!is_digit(*at)) {
            at++;
            continue;
        }
        int quantity = 0;
        for (; at < end && is_digit(*at); at++)
            quantity = quantity > OFFER_MOST ? quantity : 10 * quantity + (*at - '0');
        const char *word = at;
        while (word < end && is_blank(*word))
            word++;
        const char *stop = word;
        while (stop < end && is_letter(*stop))
            stop++;
        if (word == at || stop == word)
            continue;
        int kind = find_kind(word, (size_t)(stop - word), names, kinds);
        if (kind < 0 || quantity == 0 || quantity > OFFER_MOST)
            return -1;
        b.quantity[kind] += quantity;
        at = stop;
    }
    int number = bundle_number(&b);
    return number ? number : -1;
}

int
offer_read(const char *at, size_t n, const char *const *names, int kinds) {
    const char *end = at + n, *arrow = talk_find(at, n, "->");
    if (!arrow || talk_find(arrow + 2, (size_t)(end - arrow - 2), "->"))
        return -1;
    int give = read_bundle(at, arrow, names, kinds);
    int ask = read_bundle(arrow + 2, end, names, kinds);
    return give < 0 || ask < 0 ? -1 : give * OFFER_BUNDLES + ask;
}

int
offer_find(const char *reply, size_t n, const char *const *names, int kinds) {
    const char *end = reply + n, *at = reply;
    if (!memchr(reply, '[', n) && !memchr(reply, ']', n))
        return talk_find(reply, n, "offer") == reply && n > 5
                   ? offer_read(reply + 5, n - 5, names, kinds)
                   : 0;
    while ((at = talk_find(at, (size_t)(end - at), "[offer"))) {
        const char *inside = at += 6;
        while (at < end && *at != '[' && *at != ']')
            at++;
        if (at < end && *at == ']' && at > inside)
            return offer_read(inside, (size_t)(at - inside), names, kinds);
    }
    return 0;
}
