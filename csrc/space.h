/* phx_space: the available leaves of a tree, and the index that finds blocks among them.
 *
 *      level 2  whole [0 .. ]          index: shape (2,0) holds vertex 0 (one whole child)
 *      level 1  whole [1 0 ]           index: shape (1,1) holds vertex 1 (a pair of leaves)
 *      leaves         [1111 0011]      1 = available
 *
 * Invariants, checked by phx_space_validate:
 *   S1  whole[level][v] == every child of v is whole, for level 1..depth
 *   S2  free_count[level][v] == sum of available leaves below v, for level 2..depth
 *   S3  v in index(level, order) == v is not whole and has a maximal aligned run of 2^order whole
 *       children; the last index holds the whole vertices of the top level
 *   S4  a summary bit == the word below it is not zero
 *   S5  bit s of shapes == index s is not empty, for the first 64 shapes
 * Counts of level 1 are not kept: they are the number of set bits in one word.
 */
#ifndef PHX_SPACE_H
#define PHX_SPACE_H

#include "tree.h"

#define PHX_COUNTS_MIN 4 /* levels with counts, at least: a low tree's others go to `idle` */

typedef struct phx_space {
    const phx_tree *tree;
    uint64_t *shapes; /* one word in the region */
    uint64_t *whole[PHX_DEPTH_MAX + 1];
    uint32_t *free_count[PHX_DEPTH_MAX + 1];
    uint32_t idle; /* written, never read, and no part of the state */
    phx_set index[PHX_SHAPES_MAX];
} phx_space;

size_t phx_space_bytes(const phx_tree *tree);
/* Lays the space out in `region` (phx_space_bytes, 8-aligned, zero = nothing available). */
void phx_space_attach(phx_space *space, const phx_tree *tree, void *region);
/* The leaves must all be available; afterwards none is. O(levels + count / 64). */
void phx_space_take(phx_space *space, uint32_t first, uint32_t count);
/* The leaves must all be unavailable; afterwards all are available. */
void phx_space_give(phx_space *space, uint32_t first, uint32_t count);
phx_status phx_space_validate(const phx_space *space, const char **reason);

PHX_INLINE uint32_t phx_space_count(const phx_space *space, uint32_t level, uint32_t vertex)
{
    if (level >= 2) {
        return space->free_count[level][vertex];
    }
    const phx_tree *tree = space->tree;
    if (level == 0) {
        return (uint32_t)phx_bit(space->whole[0], vertex);
    }
    return phx_popcount(phx_bits_get(space->whole[0], phx_child_first(tree, 1, vertex),
                                     phx_child_count(tree, 1, vertex)));
}

PHX_INLINE uint64_t phx_space_mask(const phx_space *space, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = space->tree;
    return phx_bits_get(space->whole[level - 1], phx_child_first(tree, level, vertex),
                        phx_child_count(tree, level, vertex));
}

/* Available leaves of the whole forest. */
static inline uint32_t phx_space_total(const phx_space *space)
{
    const phx_tree *tree = space->tree;
    uint32_t total = 0;
    for (uint32_t root = 0; root < tree->level[tree->depth].count; ++root) {
        total += phx_space_count(space, tree->depth, root);
    }
    return total;
}

#endif
