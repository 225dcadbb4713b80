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
        const uint32_t child = ((first >> kind->child_shift) & ~(width - 1)) ^ width;
        const uint64_t run = phx_low(width) << (child & 63);
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
    const uint32_t fanout = 1u << (kind->vertex_shift - kind->child_shift);
    const uint32_t child = leaf >> kind->child_shift & ~(fanout - 1);
    const uint64_t full = phx_low(fanout);
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

/* Bitmaps and counts for a block that changes hands. */
PHX_INLINE void phx_buddy_mark(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const phx_tree *tree = space->tree;
    const uint32_t count = 1u << size;
    uint64_t *word = &space->whole[0][first >> 6];
    uint64_t mask = phx_low(count) << (first & 63);
    for (uint32_t left = (count + 63) >> 6; left > 0; --left, ++word) {
        *word = on ? *word | mask : *word & ~mask;
    }
    for (uint32_t level = 1; level < tree->depth; ++level) { /* the top level is an index */
        const uint32_t shift = tree->leaves_shift[level];
        const uint32_t at = first >> shift;
        const uint32_t covered = count >> shift; /* none of a level above the block */
        mask = ((UINT64_C(1) << (covered & 63)) - 1) << (at & 63);
        word = &space->whole[level][at >> 6];
        *word = on ? *word | mask : *word & ~mask;
        for (uint32_t left = covered >> 6; left > 0; --left) {
            *word++ = on ? ~UINT64_C(0) : 0;
        }
    }
    for (uint32_t level = 2; level <= tree->depth; ++level) {
        const uint32_t shift = tree->leaves_shift[level];
        uint32_t *counts = &space->free_count[level][first >> shift];
        *counts = on ? *counts + count : *counts - count;
        for (uint32_t left = count >> shift; left > 1; --left) { /* each whole, or none of it */
            counts[0] = counts[left - 1] = on ? 1u << shift : 0;
        }
    }
}

/* The vertices above a block that turn whole, or stop being whole, with the maximal block of shape
 * `top` that it is a part of. */
static inline void phx_buddy_mark_above(phx_space *space, uint32_t first, uint32_t size,
                                        uint32_t top, int on)
{
    const phx_tree *tree = space->tree;
    for (uint32_t level = 1; level < tree->depth && tree->leaves_shift[level] <= top; ++level) {
        if (tree->leaves_shift[level] > size) {
            phx_bits_fill(space->whole[level], first >> tree->leaves_shift[level], 1, on);
        }
    }
}

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
    uint64_t shapes = *space->shapes;
    phx_buddy_mark(space, first, size, 0);
    if (size < top) {
        shapes |= phx_low(top) & ~phx_low(size);
        phx_buddy_mark_above(space, first, size, top, 0);
        for (uint32_t shape = size; shape < top; ++shape) {
            phx_set_add(&space->index[shape], first >> tree->shape[shape].vertex_shift);
        }
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
    uint64_t shapes = *space->shapes | (UINT64_C(1) << top);
    phx_buddy_mark(space, first, size, 1);
    if (size < top) {
        phx_buddy_mark_above(space, first, size, top, 1);
        for (uint32_t shape = size; shape < top; ++shape) {
            if (phx_buddy_runs(space, shape, first) == 0) {
                phx_set *set = &space->index[shape];
                phx_set_remove(set, first >> tree->shape[shape].vertex_shift);
                shapes &= ~((uint64_t)phx_set_empty(set) << shape);
            }
        }
    }
    phx_set_add(&space->index[top], first >> tree->shape[top].vertex_shift);
    *space->shapes = shapes;
}

#endif
