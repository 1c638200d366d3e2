/* A prefix tree of tokens. A node is a token in its context; its id is its place in arrays that
 * grow. Nodes added one after another along a path lie side by side, so that a node's ancestors are
 * a few runs of neighbours:
 *     for (i = node; i >= 0; i = parent[chain[i]]) the run [chain[i], i]
 *
 * Dense: ids count up. Blocks: a branch opens a block of TREE_BLOCK ids and what follows in that
 * branch fills it, so that paths which grow in turns (many seats sampling at once) keep their
 * runs. */
#ifndef POLICY_TREE_H
#define POLICY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TREE_BLOCK = 16 };

struct tree {
    int32_t *token;  /* -1: a free id inside a block */
    int32_t *parent; /* -1: the first token of a sequence */
    int32_t *depth;  /* tokens before it = its position */
    int32_t *chain;  /* first node of the run it ends */
    size_t n, cap;   /* ids in use or set aside */
    bool blocks;
    int32_t *slot; /* hash of the children that are not neighbours of their parents; -1 free */
    size_t slots, used;
};

void tree_free(struct tree *t);  /* also makes it empty and usable again */
void tree_clear(struct tree *t); /* keeps the memory */
/* The child of `parent` (-1: the root) by `token`, or -1. */
int32_t tree_find(const struct tree *t, int32_t parent, int32_t token);
/* The child, made when it does not exist. */
int32_t tree_child(struct tree *t, int32_t parent, int32_t token);

#endif
