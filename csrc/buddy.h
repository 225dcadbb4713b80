/* Blocks of a tree whose fanouts are all powers of two, without branches where that pays.
 *
 * On such a tree shape s has 2^s leaves, and the run of the same size beside a block (its buddy)
 * is below the same vertex. Let a block of shape `size` be part of the maximal free block of shape
 * `top`: taking it leaves one maximal block of each shape size .. top - 1, its buddies; giving it
 * merges these again. So one block changes one vertex of the index a shape, nothing more.
 */
#ifndef PHX_BUDDY_H
#define PHX_BUDDY_H

#include "space.h"

/* Whether a run of leaves is one block: a power of two, aligned to its size. */
PHX_INLINE int phx_is_buddy(const phx_tree *tree, uint32_t first, uint32_t count)
{
    return tree->buddy && ((count & (count - 1)) | (first & (count - 1))) == 0 &&
           count <= tree->shape[tree->shape_count - 1].leaves;
}

/* Shape of the maximal free block that the block is part of, or would be if it were free. */
PHX_INLINE uint32_t phx_buddy_top(const phx_space *space, uint32_t first, uint32_t size)
{
    const phx_tree *tree = space->tree;
    for (; size + 1 < tree->shape_count; ++size) {
        const phx_shape *kind = &tree->shape[size];
        const uint32_t width = 1u << kind->order;
        const uint32_t child = ((first >> kind->child_shift) & (0 - width)) ^ width;
        const uint64_t run = phx_low_power(kind->order) << (child & 63);
        if ((space->whole[kind->level - 1][child >> 6] & run) != run) {
            break;
        }
    }
    return size;
}

/* Maximal blocks of a shape in the vertex above a leaf, as bits of its children. */
PHX_INLINE uint64_t phx_buddy_runs(const phx_space *space, uint32_t shape, uint32_t leaf)
{
    const phx_tree *tree = space->tree;
    const phx_shape *kind = &tree->shape[shape];
    const uint32_t fanout_shift = (uint32_t)kind->vertex_shift - kind->child_shift;
    const uint32_t child = leaf >> kind->vertex_shift << fanout_shift;
    const uint64_t full = phx_low_power(fanout_shift);
    const uint64_t mask = space->whole[kind->level - 1][child >> 6] >> (child & 63) & full;
    return mask == full ? 0 : phx_runs_of(mask, kind->order);
}

/* Whether no other maximal block of this shape is in the vertex of the one that holds a leaf. */
PHX_INLINE int phx_buddy_is_only(const phx_space *space, uint32_t leaf, uint32_t shape)
{
    if (shape + 1 == space->tree->shape_count) {
        return 1;
    }
    const uint64_t runs = phx_buddy_runs(space, shape, leaf);
    return (runs & (runs - 1)) == 0;
}

/* space.c: whole words of a bitmap. */
void phx_words_fill(uint64_t *word, uint32_t count, int on);

/* Bits of one level for a block that covers 2^order of its vertices. */
PHX_INLINE void phx_buddy_fill(uint64_t *words, uint32_t at, uint32_t order, int on)
{
    uint64_t *word = &words[at >> 6];
    if (order > 6) {
        phx_words_fill(word, 1u << (order - 6), on);
        return;
    }
    const uint64_t mask = phx_low_power(order) << (at & 63);
    *word = on ? *word | mask : *word & ~mask;
}

/* Bitmaps and counts for a block that changes hands. The levels it covers come first in both
 * loops; the bits of the top level are an index, and not touched here. */
PHX_INLINE void phx_buddy_mark(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const uint8_t *shift = space->tree->leaves_shift;
    const uint32_t depth = space->tree->depth;
    const uint32_t count = 1u << size;
    phx_buddy_fill(space->whole[0], first, size, on);
    for (uint32_t level = 1; level < depth && shift[level] <= size; ++level) {
        phx_buddy_fill(space->whole[level], first >> shift[level], size - shift[level], on);
    }
    uint32_t level = 2;
    for (; level <= depth && shift[level] < size; ++level) {
        uint32_t *counts = &space->free_count[level][first >> shift[level]];
        for (uint32_t at = 0; at < count >> shift[level]; ++at) {
            counts[at] += on ? 1u << shift[level] : 0 - (1u << shift[level]);
        }
    }
    for (; level <= depth; ++level) {
        space->free_count[level][first >> shift[level]] += on ? count : 0 - count;
    }
}

/* space.c: what a block smaller than its maximal block changes besides. Merging says which shapes
 * have no block any more. */
void phx_buddy_split(phx_space *space, uint32_t first, uint32_t size, uint32_t top);
uint64_t phx_buddy_merge(phx_space *space, uint32_t first, uint32_t size, uint32_t top);

/* Lowest maximal block of a shape whose index is not empty; *only = no other in its vertex. */
PHX_INLINE uint32_t phx_buddy_first(const phx_space *space, uint32_t shape, int *only)
{
    const phx_shape *kind = &space->tree->shape[shape];
    const uint32_t leaf = phx_set_first(&space->index[shape]) << kind->vertex_shift;
    const uint64_t runs = kind->level > space->tree->depth ? 1 : phx_buddy_runs(space, shape, leaf);
    *only = (runs & (runs - 1)) == 0;
    return leaf + (phx_ctz(runs) << kind->child_shift);
}

/* Takes a block out of the maximal free block of shape `top` that holds it; `only` = that is the
 * one of its shape in its vertex. */
PHX_INLINE void phx_buddy_take(phx_space *space, uint32_t first, uint32_t size, uint32_t top,
                               int only)
{
    const phx_tree *tree = space->tree;
    phx_buddy_mark(space, first, size, 0);
    uint64_t shapes = *space->shapes;
    if (PHX_RARELY(size < top)) {
        shapes |= phx_low(top) & ~phx_low(size);
        phx_buddy_split(space, first, size, top);
    }
    if (only) {
        phx_set *set = &space->index[top];
        phx_set_remove(set, first >> tree->shape[top].vertex_shift);
        shapes &= ~((uint64_t)phx_set_empty(set) << top);
    }
    *space->shapes = shapes;
}

/* Gives a block, and merges it with its buddies to one of shape `top`. */
PHX_INLINE void phx_buddy_give(phx_space *space, uint32_t first, uint32_t size, uint32_t top)
{
    const phx_tree *tree = space->tree;
    phx_buddy_mark(space, first, size, 1);
    uint64_t shapes = *space->shapes | (UINT64_C(1) << top);
    if (PHX_RARELY(size < top)) {
        shapes &= ~phx_buddy_merge(space, first, size, top);
    }
    phx_set_add(&space->index[top], first >> tree->shape[top].vertex_shift);
    *space->shapes = shapes;
}

#endif
