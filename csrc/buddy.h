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

/* Children of the vertex of a shape above a leaf that are whole. */
PHX_INLINE uint64_t phx_buddy_mask(const phx_space *space, const phx_shape *kind, uint32_t leaf,
                                   uint64_t full)
{
    const uint32_t fanout_shift = (uint32_t)kind->vertex_shift - kind->child_shift;
    const uint32_t child = leaf >> kind->vertex_shift << fanout_shift;
    return space->whole[kind->level - 1][child >> 6] >> (child & 63) & full;
}

/* Maximal blocks of a shape in the vertex above a leaf, as bits of its children. */
PHX_INLINE uint64_t phx_buddy_runs(const phx_space *space, uint32_t shape, uint32_t leaf)
{
    const phx_shape *kind = &space->tree->shape[shape];
    const uint64_t full = phx_low_power((uint32_t)kind->vertex_shift - kind->child_shift);
    const uint64_t mask = phx_buddy_mask(space, kind, leaf, full);
    return mask == full ? 0 : phx_runs_of(mask, kind->order);
}

/* Whether no other maximal block of this shape is in the vertex of the one that holds a leaf. */
PHX_INLINE uint64_t phx_buddy_is_only(const phx_space *space, uint32_t leaf, uint32_t shape)
{
    if (shape + 1 == space->tree->shape_count) {
        return 1;
    }
    const uint64_t runs = phx_buddy_runs(space, shape, leaf);
    return (uint64_t)((runs & (runs - 1)) == 0);
}

/* Bits of one level for a block that covers 2^order of its vertices; none when order is below 0. */
PHX_INLINE void phx_buddy_fill(uint64_t *words, uint32_t at, int32_t order, int on)
{
    static const uint64_t low[] = {0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   UINT64_C(0x1),
                                   UINT64_C(0x3),
                                   UINT64_C(0xf),
                                   UINT64_C(0xff),
                                   UINT64_C(0xffff),
                                   UINT64_C(0xffffffff),
                                   ~UINT64_C(0)};
    uint64_t *word = &words[at >> 6];
    const uint64_t mask = low[order + 6] << (at & 63);
    *word = on ? *word | mask : *word & ~mask;
}

/* The same for a block of more than 64 vertices. */
PHX_INLINE void phx_buddy_fill_words(uint64_t *words, uint32_t at, uint32_t order, int on)
{
    uint64_t *word = &words[at >> 6];
    const uint64_t bits = on ? ~UINT64_C(0) : 0;
    const uint64_t *end = word + (1u << (order - 6));
    do { /* so short that a call of memset costs more */
        word[0] = bits;
        word[1] = bits;
        word += 2;
    } while (word != end);
}

/* Bitmaps of a block of more than 64 leaves, or of one on a tree with hosts of 64. */
PHX_INLINE void phx_buddy_mark_levels(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const uint8_t *shift = space->tree->leaves_shift;
    for (uint32_t level = 0; level < space->tree->depth && shift[level] <= size; ++level) {
        const uint32_t order = size - shift[level];
        if (order > 6) {
            phx_buddy_fill_words(space->whole[level], first >> shift[level], order, on);
        } else {
            phx_buddy_fill(space->whole[level], first >> shift[level], (int32_t)order, on);
        }
    }
}

/* Bitmaps and counts for a block that changes hands; the bits of the top level are an index, and
 * not touched here. */
PHX_INLINE void phx_buddy_mark(phx_space *space, uint32_t first, uint32_t size, int on)
{
    const uint8_t *shift = space->tree->leaves_shift;
    const uint32_t depth = space->tree->depth;
    if (size <= 6 && depth > 2 && shift[2] > 6) {
        phx_buddy_fill(space->whole[0], first, (int32_t)size, on);
        phx_buddy_fill(space->whole[1], first >> shift[1], (int32_t)size - shift[1], on);
    } else {
        phx_buddy_mark_levels(space, first, size, on);
    }
    const uint32_t count = 1u << size;
    uint32_t level = 2;
    for (; PHX_RARELY(level <= depth && shift[level] < size); ++level) {
        const uint32_t change = on ? 1u << shift[level] : 0 - (1u << shift[level]);
        const uint32_t start = first >> shift[level];
        for (uint32_t at = 0; at < count >> shift[level]; ++at) {
            space->free_count[level][start + at] += change;
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
PHX_INLINE uint32_t phx_buddy_first(const phx_space *space, uint32_t shape, uint64_t *only)
{
    const phx_shape *kind = &space->tree->shape[shape];
    const uint32_t leaf = phx_set_first(&space->index[shape]) << kind->vertex_shift;
    uint64_t runs = 1;
    if (!PHX_RARELY(kind->level > space->tree->depth)) {
        const uint64_t full = phx_low_power((uint32_t)kind->vertex_shift - kind->child_shift);
        runs = phx_runs_of(phx_buddy_mask(space, kind, leaf, full), kind->order);
    }
    *only = (uint64_t)((runs & (runs - 1)) == 0);
    return leaf + (phx_ctz(runs) << kind->child_shift);
}

/* Takes a block out of the maximal free block of shape `top` that holds it; `only` = that is the
 * one of its shape in its vertex. */
PHX_INLINE void phx_buddy_take(phx_space *space, uint32_t first, uint32_t size, uint32_t top,
                               uint64_t only)
{
    const uint32_t vertex = first >> space->tree->shape[top].vertex_shift;
    phx_buddy_mark(space, first, size, 0);
    uint64_t shapes = *space->shapes;
    shapes &= ~(phx_set_remove_if(&space->index[top], vertex, only) << top);
    if (PHX_RARELY(size < top)) {
        shapes |= phx_low(top) & ~phx_low(size);
        phx_buddy_split(space, first, size, top);
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
