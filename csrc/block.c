#include "pack.h"

static uint32_t first_run(const phx_space *space, uint32_t shape, uint32_t vertex)
{
    const phx_tree *tree = space->tree;
    const phx_shape *kind = &tree->shape[shape];
    const uint64_t runs = phx_runs_of(phx_space_mask(space, kind->level, vertex), kind->order);
    const uint32_t child = phx_child_first(tree, kind->level, vertex) + phx_ctz(runs);
    return phx_leaf_first(tree, (uint32_t)kind->level - 1, child);
}

uint32_t phx_block_find(const phx_space *space, uint32_t need, uint32_t shape,
                        uint32_t scope_level, uint32_t scope_vertex)
{
    const phx_tree *tree = space->tree;
    if (scope_level > tree->depth) {
        while (shape < tree->shape_count && phx_set_empty(&space->index[shape])) {
            ++shape;
        }
        return shape < tree->shape_count ? phx_block_first(space, shape) : PHX_NONE;
    }
    if (phx_leaf_count(tree, scope_level, scope_vertex) < need) {
        return PHX_NONE;
    }
    const uint32_t first = phx_leaf_first(tree, scope_level, scope_vertex);
    if (phx_bit(space->whole[scope_level], scope_vertex)) {
        return first;
    }
    const uint32_t last = first + phx_leaf_count(tree, scope_level, scope_vertex) - 1;
    for (; shape < tree->shape_base[scope_level + 1]; ++shape) {
        const phx_set *set = &space->index[shape];
        if (phx_set_empty(set)) {
            continue;
        }
        const uint32_t level = tree->shape[shape].level;
        const uint32_t low = phx_ancestor(tree, 0, first, level);
        const uint32_t end = phx_ancestor(tree, 0, last, level) + 1;
        const uint32_t vertex = phx_set_next(set, low, end);
        if (vertex < end) {
            return first_run(space, shape, vertex);
        }
    }
    return PHX_NONE;
}
