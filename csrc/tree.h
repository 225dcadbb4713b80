/* phx_tree: the shape of a cluster, immutable and shared by its planners.
 *
 * Levels here are internal: a level whose vertices have more than 64 children is cut into runs of
 * 64 by a hidden level, so that the children of one vertex are always one word of bits.
 *
 * Invariants, checked by phx_tree_new:
 *   T1  the children of the vertices of a level cover the level below, in order, without holes
 *   T2  1 <= children of a vertex <= 64
 *   T3  leaf_first[level][v] .. leaf_first[level][v + 1] are the leaves below v
 */
#ifndef PHX_TREE_H
#define PHX_TREE_H

#include "bits.h"
#include "phalanx.h"

#define PHX_DEPTH_MAX 24 /* internal levels above the leaves */
#define PHX_ORDERS 6     /* runs of 1, 2, .. 32 children; 64 are the whole vertex */
#define PHX_SHAPES_MAX (PHX_DEPTH_MAX * PHX_ORDERS + 1)

typedef struct phx_level {
    uint32_t count;
    uint32_t fanout; /* children of every vertex, 0 when they differ */
    uint32_t fanout_max;
    uint32_t leaves; /* leaves below every vertex, 0 when they differ */
    uint32_t leaves_max;
    uint8_t fanout_shift; /* log2 of fanout when it is a power of two, else 255 */
    uint8_t leaves_shift;
    uint8_t hidden;  /* 1: made by us to keep T2; nobody names it */
    uint8_t visible; /* the visible level this one is, or for a hidden one serves */
    uint32_t phantoms;
    const uint32_t *first;      /* count + 1 entries, NULL when fanout != 0 */
    const uint32_t *leaf_first; /* count + 1 entries, NULL when leaves != 0 */
    const uint32_t *parent;     /* count entries, NULL when the level above has a fanout */
    const uint64_t *phantom;    /* bitmap, NULL when there is none */
} phx_level;

typedef struct phx_shape {
    uint8_t level;
    uint8_t order;
    uint8_t
        vertex_shift; /* buddy trees only: leaf >> shift is the vertex, or the child, of a block */
    uint8_t child_shift;
    uint32_t leaves; /* of every block of this shape, 0 when they differ */
} phx_shape;

struct phx_tree {
    uint32_t depth;         /* internal levels above the leaves */
    uint32_t visible_depth; /* levels the caller gave */
    uint32_t uniform;       /* every level has a fanout */
    uint32_t buddy;         /* and every fanout is a power of two */
    uint32_t shape_count;
    uint32_t blocks; /* shapes of a buddy tree, shape s of 2^s leaves; 0 on other trees */
    uint32_t narrow; /* blocks of shapes below this one are narrow, see buddy.h */
    uint64_t narrow_hosts[PHX_ORDERS + 1]; /* the hosts such a block covers, as the low bits */
    uint64_t fingerprint;
    size_t bytes;
    uint8_t internal[PHX_LEVELS_MAX + 1];  /* visible level -> internal level */
    uint8_t shape_base[PHX_DEPTH_MAX + 2]; /* first shape of a level */
    uint8_t order_count[PHX_DEPTH_MAX + 2];
    uint8_t leaves_shift[PHX_DEPTH_MAX + 1]; /* that of every level, close together; 31 above */
    uint8_t orders_of_byte[256];             /* orders of the maximal runs of an 8-bit mask */
    uint8_t *rails;                          /* [leaves], NULL: not given */
    phx_level level[PHX_DEPTH_MAX + 1];
    phx_shape shape[PHX_SHAPES_MAX];
};

PHX_INLINE uint32_t phx_parent(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const phx_level *above = &tree->level[level + 1];
    if (above->fanout_shift != 255) {
        return vertex >> above->fanout_shift;
    }
    return above->fanout != 0 ? vertex / above->fanout : tree->level[level].parent[vertex];
}

PHX_INLINE uint32_t phx_child_first(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const phx_level *here = &tree->level[level];
    return here->fanout != 0 ? vertex * here->fanout : here->first[vertex];
}

PHX_INLINE uint32_t phx_child_count(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const phx_level *here = &tree->level[level];
    return here->fanout != 0 ? here->fanout : here->first[vertex + 1] - here->first[vertex];
}

PHX_INLINE uint32_t phx_leaf_first(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const phx_level *here = &tree->level[level];
    return here->leaves != 0 ? vertex * here->leaves : here->leaf_first[vertex];
}

PHX_INLINE uint32_t phx_leaf_count(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const phx_level *here = &tree->level[level];
    return here->leaves != 0 ? here->leaves
                             : here->leaf_first[vertex + 1] - here->leaf_first[vertex];
}

PHX_INLINE int phx_is_phantom(const phx_tree *tree, uint32_t level, uint32_t vertex)
{
    const uint64_t *phantom = tree->level[level].phantom;
    return !PHX_MUTANT_PHANTOM_COUNTED && phantom != NULL && phx_bit(phantom, vertex);
}

/* The vertex of `level` above a leaf; O(level) steps, one shift each on a power-of-two tree. */
static inline uint32_t phx_ancestor(const phx_tree *tree, uint32_t from_level, uint32_t vertex,
                                    uint32_t level)
{
    for (uint32_t at = from_level; at < level; ++at) {
        vertex = phx_parent(tree, at, vertex);
    }
    return vertex;
}

/* Vertices of `level` at or below a vertex of level `top`. */
static inline phx_run phx_descendants(const phx_tree *tree, uint32_t top, uint32_t vertex,
                                      uint32_t level)
{
    uint32_t first = vertex;
    uint32_t end = vertex + 1;
    for (uint32_t at = top; at > level; --at) {
        const uint32_t last = end - 1;
        end = phx_child_first(tree, at, last) + phx_child_count(tree, at, last);
        first = phx_child_first(tree, at, first);
    }
    return (phx_run){first, end - first};
}

/* Lowest internal level at which two leaves share a vertex; depth + 1 across trees. */
uint32_t phx_common_level(const phx_tree *tree, uint32_t leaf_a, uint32_t leaf_b);

/* Orders of the maximal aligned runs of set bits among `count` children, not all of them set. */
PHX_INLINE uint32_t phx_orders_of(const phx_tree *tree, uint64_t mask, uint32_t count)
{
    if (count <= 8) {
        return tree->orders_of_byte[mask];
    }
    static const uint64_t aligned[PHX_ORDERS] = {
        UINT64_C(0x5555555555555555), UINT64_C(0x1111111111111111), UINT64_C(0x0101010101010101),
        UINT64_C(0x0001000100010001), UINT64_C(0x0000000100000001), UINT64_C(0x0000000000000001)};
    uint32_t orders = 0;
    uint64_t runs = mask;
    for (uint32_t order = 0; runs != 0; ++order) {
        const uint32_t width = 1u << order;
        const uint64_t wider = order < PHX_ORDERS - 1 ? runs & (runs >> width) & aligned[order] : 0;
        if ((runs & ~(wider | (wider << width))) != 0) {
            orders |= 1u << order;
        }
        runs = wider;
    }
    return orders;
}

/* First children of the runs of `width` = 2^order set bits, aligned to it: a group of bits is all
 * ones when adding its low bits to those of the complement carries nothing into its top bit. */
PHX_INLINE uint64_t phx_aligned_runs(uint64_t mask, uint32_t order)
{
    static const uint64_t below_top[PHX_ORDERS + 1] = {
        UINT64_C(0),
        UINT64_C(0x5555555555555555),
        UINT64_C(0x7777777777777777),
        UINT64_C(0x7f7f7f7f7f7f7f7f),
        UINT64_C(0x7fff7fff7fff7fff),
        UINT64_C(0x7fffffff7fffffff),
        ~UINT64_C(0)}; /* nothing is wider than 32 children: 64 are the whole vertex */
    const uint64_t low = below_top[order];
    const uint64_t gaps = ~mask;
    return ~(((gaps & low) + low) | gaps | low) >> ((1u << order) - 1);
}

/* First children of the maximal runs of exactly this order: of two runs that are halves of a wider
 * one neither is maximal, and nothing is wider than 32 children. */
PHX_INLINE uint64_t phx_runs_of(uint64_t mask, uint32_t order)
{
    static const uint64_t even[PHX_ORDERS] = {
        UINT64_C(0x5555555555555555), UINT64_C(0x1111111111111111), UINT64_C(0x0101010101010101),
        UINT64_C(0x0001000100010001), UINT64_C(0x0000000100000001), 0};
    const uint64_t runs = phx_aligned_runs(mask, order);
    const uint64_t wider = runs & (runs >> (1u << order)) & even[order];
    return runs & ~(wider | (wider << (1u << order)));
}

#endif
