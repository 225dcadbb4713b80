#include "space.h"

#include "buddy.h"

#include <string.h>

/* Rows of a set of `size` bits from `region`, or only measured when that is NULL; row 0 may be a
 * bitmap that exists already. */
static size_t set_attach(phx_set *set, uint32_t size, uint64_t *row_zero, char *region)
{
    uint64_t *word = (uint64_t *)(void *)region;
    size_t used = row_zero != NULL ? 0 : PHX_WORDS((size_t)size);
    set->size = size;
    set->rows = 1;
    set->row[0] = row_zero != NULL ? row_zero : word;
    for (uint32_t bits = PHX_WORDS(size); bits > 1 || set->rows < PHX_ROWS_MIN;
         bits = PHX_WORDS(bits)) {
        set->row[set->rows++] = word == NULL ? NULL : word + used;
        used += PHX_WORDS((size_t)bits);
    }
    return used * sizeof(uint64_t);
}

size_t phx_space_bytes(const phx_tree *tree)
{
    size_t bytes = sizeof(uint64_t);
    phx_set set;
    for (uint32_t level = 0; level <= tree->depth; ++level) {
        const uint32_t count = tree->level[level].count;
        bytes += PHX_WORDS((size_t)count) * sizeof(uint64_t);
        bytes += level >= 2 ? ((size_t)count * sizeof(uint32_t) + 7) / 8 * 8 : 0;
        bytes += tree->order_count[level] * set_attach(&set, count, NULL, NULL);
    }
    uint64_t top = 0;
    return bytes + set_attach(&set, tree->level[tree->depth].count, &top, NULL);
}

void phx_space_attach(phx_space *space, const phx_tree *tree, void *region)
{
    char *at = region;
    space->tree = tree;
    space->shapes = (uint64_t *)(void *)at;
    at += sizeof(uint64_t);
    for (uint32_t level = 0; level <= tree->depth; ++level) {
        space->whole[level] = (uint64_t *)(void *)at;
        at += PHX_WORDS((size_t)tree->level[level].count) * sizeof(uint64_t);
    }
    for (uint32_t level = 2; level <= tree->depth; ++level) {
        space->free_count[level] = (uint32_t *)(void *)at;
        at += ((size_t)tree->level[level].count * sizeof(uint32_t) + 7) / 8 * 8;
    }
    for (uint32_t level = tree->depth + 1; level <= PHX_COUNTS_MIN; ++level) {
        space->free_count[level] = &space->idle;
    }
    for (uint32_t shape = 0; shape + 1 < tree->shape_count; ++shape) {
        const uint32_t count = tree->level[tree->shape[shape].level].count;
        at += set_attach(&space->index[shape], count, NULL, at);
    }
    set_attach(&space->index[tree->shape_count - 1], tree->level[tree->depth].count,
               space->whole[tree->depth], at);
}

PHX_INLINE void index_flip(phx_space *space, uint32_t shape, uint32_t vertex, int on)
{
    phx_set *set = &space->index[shape];
    if (on) {
        phx_set_add(set, vertex);
        *space->shapes |= shape < 64 ? UINT64_C(1) << shape : 0;
    } else {
        const uint64_t emptied = phx_set_remove_if(set, vertex, 1);
        *space->shapes &= shape < 64 ? ~(emptied << shape) : ~UINT64_C(0);
    }
}

/* Index of one vertex after children a .. b - 1 (its own) changed; 1 when its wholeness changed. */
PHX_INLINE int update_vertex(phx_space *space, uint32_t level, uint32_t vertex, uint32_t a,
                             uint32_t b, int on)
{
    const phx_tree *tree = space->tree;
    const uint32_t child = phx_child_first(tree, level, vertex);
    const uint32_t fanout = phx_child_count(tree, level, vertex);
    const uint32_t low = a > child ? a - child : 0;
    const uint32_t high = b < child + fanout ? b - child : fanout;
    const uint64_t full = phx_low(fanout);
    const uint64_t after = phx_bits_get(space->whole[level - 1], child, fanout);
    const uint64_t before = after ^ (phx_low(high - low) << low);
    const uint32_t orders_before = before == full ? 0 : phx_orders_of(tree, before, fanout);
    const uint32_t orders_after = after == full ? 0 : phx_orders_of(tree, after, fanout);
    const uint32_t base = tree->shape_base[level];
    for (uint32_t flips = orders_before ^ orders_after; flips != 0; flips &= flips - 1) {
        const uint32_t order = phx_ctz(flips);
        index_flip(space, base + order, vertex, (int)((orders_after >> order) & 1));
    }
    return on ? after == full : before == full;
}

PHX_INLINE void change_counts(phx_space *space, uint32_t first, uint32_t count, int on)
{
    const phx_tree *tree = space->tree;
    const uint32_t end = first + count;
    uint32_t low = phx_parent(tree, 0, first);
    uint32_t high = phx_parent(tree, 0, end - 1);
    for (uint32_t level = 2; level <= tree->depth; ++level) {
        low = phx_parent(tree, level - 1, low);
        high = phx_parent(tree, level - 1, high);
        uint32_t *counts = space->free_count[level];
        if (low == high) {
            counts[low] = on ? counts[low] + count : counts[low] - count;
            continue;
        }
        for (uint32_t vertex = low; vertex <= high; ++vertex) {
            const uint32_t start = phx_leaf_first(tree, level, vertex);
            const uint32_t stop = start + phx_leaf_count(tree, level, vertex);
            const uint32_t share = (stop < end ? stop : end) - (start > first ? start : first);
            counts[vertex] = on ? counts[vertex] + share : counts[vertex] - share;
        }
    }
}

PHX_INLINE void change(phx_space *space, uint32_t first, uint32_t count, int on)
{
    const phx_tree *tree = space->tree;
    change_counts(space, first, count, on);
    phx_bits_fill(space->whole[0], first, count, on);
    uint32_t a = first;
    uint32_t b = first + count;
    for (uint32_t level = 1; level <= tree->depth; ++level) {
        uint32_t low = phx_parent(tree, level - 1, a);
        uint32_t high = phx_parent(tree, level - 1, b - 1);
        /* A vertex covered from its first child to its last turns whole or stops being whole, and
         * has no maximal run of its own either way: only the two ends can need their index. */
        const int low_covered = phx_child_first(tree, level, low) == a;
        const int high_covered =
            phx_child_first(tree, level, high) + phx_child_count(tree, level, high) == b;
        uint32_t end = high + 1;
        if (low == high) {
            if (!(low_covered && high_covered) && !update_vertex(space, level, low, a, b, on)) {
                return;
            }
        } else {
            if (!low_covered && !update_vertex(space, level, low, a, b, on)) {
                ++low;
            }
            if (!high_covered && !update_vertex(space, level, high, a, b, on)) {
                --end;
            }
            if (low == end) {
                return;
            }
        }
        a = low;
        b = end;
        if (level < tree->depth) {
            phx_bits_fill(space->whole[level], a, b - a, on);
        }
    }
    for (uint32_t root = a; root < b; ++root) {
        index_flip(space, tree->shape_count - 1, root, on);
    }
}

void phx_space_take(phx_space *space, uint32_t first, uint32_t count)
{
    if (phx_is_buddy(space->tree, first, count)) {
        const uint32_t size = phx_ctz(count);
        phx_buddy_take(space, first, size, phx_buddy_top(space, first, size));
        return;
    }
    change(space, first, count, 0);
}

void phx_space_give(phx_space *space, uint32_t first, uint32_t count)
{
    if (phx_is_buddy(space->tree, first, count)) {
        phx_buddy_give(space, first, phx_ctz(count));
        return;
    }
    change(space, first, count, 1);
}

/* The vertices above a block that turn whole, or stop being whole, with the maximal block of shape
 * `top` that it is a part of. */
PHX_INLINE void mark_above(phx_space *space, uint32_t first, uint32_t size, uint32_t top, int on)
{
    const uint8_t *shift = space->tree->leaves_shift;
    const uint32_t depth = space->tree->depth;
    for (uint32_t level = space->tree->shape[size].level; level < depth && shift[level] <= top;
         ++level) {
        if (on) {
            phx_bit_set(space->whole[level], first >> shift[level]);
        } else {
            phx_bit_clear(space->whole[level], first >> shift[level]);
        }
    }
}

void phx_buddy_split(phx_space *space, uint32_t first, uint32_t size, uint32_t top)
{
    const phx_shape *kind = space->tree->shape;
    mark_above(space, first, size, top, 0);
    for (uint32_t shape = size; shape < top; ++shape) {
        phx_set_add(&space->index[shape], first >> kind[shape].vertex_shift);
    }
    *space->shapes |= phx_low(top) & ~phx_low(size);
}

void phx_buddy_merge(phx_space *space, uint32_t first, uint32_t size, uint32_t top)
{
    const phx_shape *kind = space->tree->shape;
    uint64_t emptied = 0;
    mark_above(space, first, size, top, 1);
    for (uint32_t shape = size; shape < top; ++shape) {
        const uint32_t vertex = first >> kind[shape].vertex_shift;
        const uint64_t gone = (uint64_t)(phx_buddy_runs(space, shape, vertex) == 0);
        emptied |= phx_set_remove_if(&space->index[shape], vertex, gone) << shape;
    }
    *space->shapes &= ~emptied;
}

static int count_is_right(const phx_space *space, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = space->tree;
    const uint32_t first = phx_leaf_first(tree, level, vertex);
    return level < 2 ||
           space->free_count[level][vertex] ==
               phx_bits_count(space->whole[0], first, phx_leaf_count(tree, level, vertex));
}

/* Maximal orders by trying every aligned run, widest first. */
static uint32_t orders_by_definition(uint64_t mask, uint32_t fanout)
{
    uint64_t covered = 0;
    uint32_t orders = 0;
    for (uint32_t order = PHX_ORDERS; order-- > 0;) {
        const uint32_t width = 1u << order;
        for (uint32_t at = 0; at + width <= fanout; at += width) {
            const uint64_t run = phx_low(width) << at;
            if ((mask & run) == run && (covered & run) == 0) {
                orders |= 1u << order;
                covered |= run;
            }
        }
    }
    return orders;
}

static const char *check_level(const phx_space *space, uint32_t level)
{
    const phx_tree *tree = space->tree;
    for (uint32_t vertex = 0; vertex < tree->level[level].count; ++vertex) {
        const uint32_t fanout = phx_child_count(tree, level, vertex);
        const uint64_t mask = phx_space_mask(space, level, vertex);
        const int whole = mask == phx_low(fanout);
        if (whole != phx_bit(space->whole[level], vertex)) {
            return "S1: a vertex is not marked whole as its children say";
        }
        if (!count_is_right(space, level, vertex)) {
            return "S2: the available leaves of a vertex do not add up";
        }
        const uint32_t orders = whole ? 0 : orders_by_definition(mask, fanout);
        for (uint32_t order = 0; order < tree->order_count[level]; ++order) {
            const phx_set *set = &space->index[tree->shape_base[level] + order];
            if (phx_bit(set->row[0], vertex) != (int)((orders >> order) & 1)) {
                return "S3: an index does not hold the vertices with its maximal runs";
            }
        }
    }
    return NULL;
}

phx_status phx_space_validate(const phx_space *space, const char **reason)
{
    const phx_tree *tree = space->tree;
    *reason = NULL;
    for (uint32_t level = 1; level <= tree->depth && *reason == NULL; ++level) {
        *reason = check_level(space, level);
    }
    for (uint32_t shape = 0; shape < tree->shape_count && *reason == NULL; ++shape) {
        const phx_set *set = &space->index[shape];
        uint32_t bits = set->size;
        for (uint32_t row = 1; row < set->rows; ++row) {
            bits = PHX_WORDS(bits);
            for (uint32_t at = 0; at < bits; ++at) {
                if (phx_bit(set->row[row], at) != (set->row[row - 1][at] != 0)) {
                    *reason = "S4: a summary bit disagrees with the word below it";
                }
            }
        }
        const uint64_t known = (*space->shapes >> (shape & 63)) & 1;
        if (shape < 64 && known != !phx_set_empty(set)) {
            *reason = "S5: the shapes word disagrees with an index";
        }
    }
    return *reason == NULL ? PHX_OK : PHX_BROKEN;
}
