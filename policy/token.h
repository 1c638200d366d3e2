/* The byte tokenizer: a byte is its own id, control tokens follow. Text is tokenized byte by byte
 * and can therefore never become a control token: nobody's words can pass for the game's voice. */
#ifndef POLICY_TOKEN_H
#define POLICY_TOKEN_H

#include <stddef.h>
#include <stdint.h>

enum token {
    TOKEN_BOS = 256,   /* opens every sequence */
    TOKEN_END = 257,   /* closes a reply: the stop token */
    TOKEN_TEXT = 258,  /* literal text of the prompt template follows */
    TOKEN_RULES = 259, /* the rules follow */
    TOKEN_VIEW = 260,  /* the present view follows */
    TOKEN_NEWS = 261,  /* narration follows */
    TOKEN_LEGAL = 262, /* the legal actions follow */
    TOKEN_REPLY = 263, /* the seat's own reply follows */
    TOKEN_COUNT = 264
};

struct tokens {  /* a growable list */
    int32_t *at; /* owned */
    size_t n, cap;
};

void tokens_free(struct tokens *t);
void tokens_clear(struct tokens *t);
void tokens_add(struct tokens *t, int32_t id);
void tokens_text(struct tokens *t, const char *s, size_t n); /* the bytes of a text */
/* The text of n ids; control tokens are left out. Writes at most n bytes + NUL; returns the
 * length. */
size_t tokens_spell(const int32_t *ids, size_t n, char *out);

#endif
