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
        const uint32_t child = (first ^ (1u << size)) >> kind->child_shift;
        const uint64_t run = phx_low_power(kind->order);
        if (~(space->whole[kind->level - 1][child >> 6] >> (child & 63)) & run) {
            break;
        }
        first &= ~(1u << size);
    }
    return size;
}

/* Whole children of a vertex, as the low bits; `child` is the first of them. A whole vertex of the
 * top level is its own only child. */
PHX_INLINE uint64_t phx_buddy_mask(const phx_space *space, const phx_shape *kind, uint32_t child,
                                   uint64_t full)
{
    return space->whole[kind->level - 1][child >> 6] >> (child & 63) & full;
}

/* Maximal blocks of a shape in a vertex, as bits of its children. */
PHX_INLINE uint64_t phx_buddy_runs(const phx_space *space, uint32_t shape, uint32_t vertex)
{
    const phx_shape *kind = &space->tree->shape[shape];
    const uint32_t fanout_shift = (uint32_t)kind->vertex_shift - kind->child_shift;
    const uint64_t full = phx_low_power(fanout_shift);
    const uint64_t mask = phx_buddy_mask(space, kind, vertex << fanout_shift, full);
    return mask == full && shape + 1 < space->tree->shape_count ? 0
                                                                : phx_runs_of(mask, kind->order);
}

/* Bits of one level for a block inside one of its words; `low` as if it were the first there. */
PHX_INLINE void phx_buddy_fill(uint64_t *words, uint32_t at, uint64_t low, int on)
{
    const uint64_t mask = low << (at & 63);
    if (on) {
        words[at >> 6] |= mask;
    } else {
        words[at >> 6] &= ~mask;
    }
}

/* The same for a block of more than 64 vertices, so two words at least. */
PHX_INLINE void phx_buddy_fill_words(uint64_t *word, uint32_t order, int on)
{
    const uint64_t bits = on ? ~UINT64_C(0) : 0;
    const uint64_t *end = word + (1u << (order - 6));
    do { /* so short that a call of memset costs more */
        word[0] = bits;
        word[1] = bits;
        word += 2;
    } while (word != end);
}

/* Counts of the vertices above a block, from a level on whose vertices are no smaller. */
PHX_INLINE void phx_buddy_count(phx_space *space, uint32_t level, uint32_t first, uint32_t change)
{
    const uint8_t *shift = space->tree->leaves_shift;
    const uint32_t depth = space->tree->depth;
    for (; level <= depth; ++level) {
        space->free_count[level][first >> shift[level]] += change;
    }
}

/* The same from level 2 on, without a branch for levels that every space has. */
PHX_INLINE void phx_buddy_count_narrow(phx_space *space, uint32_t first, uint32_t change)
{
    const uint8_t *shift = space->tree->leaves_shift;
    space->free_count[2][first >> shift[2]] += change;
    space->free_count[3][first >> shift[3]] += change;
    space->free_count[4][first >> shift[4]] += change;
    if (PHX_RARELY(space->tree->depth > PHX_COUNTS_MIN)) {
        phx_buddy_count(space, PHX_COUNTS_MIN + 1, first, change);
    }
}

/* Bitmaps and counts for a block of any size. */
PHX_INLINE void phx_buddy_mark_wide(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const uint8_t *shift = space->tree->leaves_shift;
    const uint32_t depth = space->tree->depth;
    uint32_t level = 0;
    for (; level < depth && shift[level] <= size; ++level) {
        const uint32_t order = size - shift[level];
        const uint32_t at = first >> shift[level];
        if (order > 6) {
            phx_buddy_fill_words(&space->whole[level][at >> 6], order, on);
        } else {
            phx_buddy_fill(space->whole[level], at, phx_low_power(order), on);
        }
        if (level >= 2) {
            const uint32_t change = on ? 1u << shift[level] : 0 - (1u << shift[level]);
            uint32_t *counts = &space->free_count[level][at];
            const uint32_t *end = counts + (1u << order);
            do {
                *counts += change;
            } while (++counts != end);
        }
    }
    level = level < 2 ? 2 : level;
    phx_buddy_count(space, level, first, on ? 1u << size : 0 - (1u << size));
}

/* Bitmaps and counts for a block that changes hands; the bits of the top level are an index, and
 * not touched here. A narrow block is one word of its level and covers no vertex above hosts. */
PHX_INLINE void phx_buddy_mark(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const phx_tree *tree = space->tree;
    if (size >= tree->narrow) {
        phx_buddy_mark_wide(space, first, size, on);
        return;
    }
    const uint32_t shift = tree->leaves_shift[1];
    phx_buddy_fill(space->whole[0], first, phx_low_power(size), on);
    phx_buddy_fill(space->whole[1], first >> shift, tree->narrow_hosts[size], on);
    phx_buddy_count_narrow(space, first, on ? 1u << size : 0 - (1u << size));
}

/* space.c: what a block smaller than its maximal block changes besides. Merging says which shapes
 * have no block any more. */
void phx_buddy_split(phx_space *space, uint32_t first, uint32_t size, uint32_t top);
void phx_buddy_merge(phx_space *space, uint32_t first, uint32_t size, uint32_t top);

/* Takes a block out of the maximal free block of shape `top` that holds it, in `vertex`; `runs` are
 * the maximal blocks of that shape there, this one among them. */
PHX_INLINE void phx_buddy_take_run(phx_space *space, uint32_t first, uint32_t size, uint32_t top,
                                   uint32_t vertex, uint64_t runs)
{
    const uint64_t only = (uint64_t)((runs & (runs - 1)) == 0);
    const uint64_t emptied = phx_set_remove_if(&space->index[top], vertex, only);
    *space->shapes &= ~(emptied << top);
    if (PHX_RARELY(size < top)) {
        phx_buddy_split(space, first, size, top);
    }
    phx_buddy_mark(space, first, size, 0);
}

PHX_INLINE void phx_buddy_take(phx_space *space, uint32_t first, uint32_t size, uint32_t top)
{
    const uint32_t vertex = first >> space->tree->shape[top].vertex_shift;
    phx_buddy_take_run(space, first, size, top, vertex, phx_buddy_runs(space, top, vertex));
}

/* Takes a block out of the lowest maximal block of a shape whose index is not empty. First leaf. */
PHX_INLINE uint32_t phx_buddy_take_lowest(phx_space *space, uint32_t size, uint32_t top)
{
    const phx_shape *kind = &space->tree->shape[top];
    const uint32_t vertex = phx_set_first(&space->index[top]);
    const uint32_t fanout_shift = (uint32_t)kind->vertex_shift - kind->child_shift;
    const uint32_t child = vertex << fanout_shift;
    const uint64_t mask = phx_buddy_mask(space, kind, child, phx_low_power(fanout_shift));
    const uint64_t runs = phx_runs_of(mask, kind->order);
    const uint32_t first = (child + phx_ctz(runs)) << kind->child_shift;
    phx_buddy_take_run(space, first, size, top, vertex, runs);
    return first;
}

/* Gives a block, and merges it with its buddies. */
PHX_INLINE void phx_buddy_give(phx_space *space, uint32_t first, uint32_t size)
{
    const uint32_t top = phx_buddy_top(space, first, size);
    phx_set_add(&space->index[top], first >> space->tree->shape[top].vertex_shift);
    *space->shapes |= UINT64_C(1) << top;
    phx_buddy_mark(space, first, size, 1);
    if (PHX_RARELY(size < top)) {
        phx_buddy_merge(space, first, size, top);
    }
}

#endif
