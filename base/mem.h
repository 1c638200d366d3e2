/* Allocation that never returns NULL: out of memory ends the process with a sentence.
 * Sizes that come from outside are bounded by the caller before they get here. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t bytes);                      /* uninitialised */
void *mem_zero(size_t count, size_t size);          /* zeroed; checks count * size */
void *mem_grow(void *p, size_t count, size_t size); /* realloc; checks count * size */
char *mem_text(const char *s);                      /* copy of a string */
void *mem_copy(const void *p, size_t bytes);        /* copy of bytes */
void *mem_aligned(size_t bytes);                    /* 64-byte aligned, zeroed; free() it */

#endif
