#include "pack.h"

uint32_t phx_block_find(const phx_space *space, uint32_t need, uint32_t shape, uint32_t scope_level,
                        uint32_t scope_vertex)
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
            return phx_block_in(space, shape, vertex);
        }
    }
    return PHX_NONE;
}

/* A maximal block while the smallest is sought: its leaves, and where `need` of them would be cut.
 */
typedef struct found_block {
    uint32_t size;
    uint32_t start;
    uint32_t cut;
} found_block;

/* Whether some vertex of `level` at or below this one has `need` leaves. */
static int holds(const phx_tree *tree, uint32_t at_level, uint32_t vertex, uint32_t level,
                 uint32_t need)
{
    if (at_level <= level || tree->level[level].leaves != 0) {
        return phx_leaf_count(tree, at_level, vertex) >= need &&
               (at_level <= level || tree->level[level].leaves >= need);
    }
    const uint32_t first = phx_leaf_first(tree, at_level, vertex);
    const uint32_t last = first + phx_leaf_count(tree, at_level, vertex) - 1;
    const uint32_t end = phx_ancestor(tree, 0, last, level) + 1;
    for (uint32_t at = phx_ancestor(tree, 0, first, level); at < end; ++at) {
        if (phx_leaf_count(tree, level, at) >= need) {
            return 1;
        }
    }
    return 0;
}

/* The smallest of some vertices that holds the cut, lowest address; PHX_NONE when none does. Hidden
 * vertices are nobody's domains: the first will do. */
static uint32_t smallest_holder(const phx_tree *tree, uint32_t at_level, phx_run vertices,
                                uint32_t level, uint32_t need)
{
    uint32_t best = PHX_NONE;
    for (uint32_t at = vertices.first; at < vertices.first + vertices.count; ++at) {
        if ((best == PHX_NONE ||
             phx_leaf_count(tree, at_level, at) < phx_leaf_count(tree, at_level, best)) &&
            holds(tree, at_level, at, level, need)) {
            best = at;
            if (tree->level[at_level].hidden || tree->level[at_level].leaves != 0) {
                break;
            }
        }
    }
    return best;
}

/* Where to cut wholly free vertices: down into the smallest that suffices, until one of `level`. */
static uint32_t cut_of(const phx_tree *tree, uint32_t at_level, phx_run vertices, uint32_t level,
                       uint32_t need)
{
    if (at_level < level) {
        return phx_leaf_first(tree, at_level, vertices.first);
    }
    uint32_t vertex = smallest_holder(tree, at_level, vertices, level, need);
    while (vertex != PHX_NONE && at_level > level) {
        const phx_run children = {phx_child_first(tree, at_level, vertex),
                                  phx_child_count(tree, at_level, vertex)};
        vertex = smallest_holder(tree, --at_level, children, level, need);
    }
    return vertex == PHX_NONE ? PHX_NONE : phx_leaf_first(tree, at_level, vertex);
}

static void consider(const phx_tree *tree, uint32_t at_level, phx_run vertices, uint32_t level,
                     uint32_t need, found_block *best)
{
    const uint32_t last = vertices.first + vertices.count - 1;
    const uint32_t start = phx_leaf_first(tree, at_level, vertices.first);
    const uint32_t size =
        phx_leaf_first(tree, at_level, last) + phx_leaf_count(tree, at_level, last) - start;
    if (size < need || size > best->size || (size == best->size && start > best->start)) {
        return;
    }
    const uint32_t cut = cut_of(tree, at_level, vertices, level, need);
    if (cut != PHX_NONE) {
        *best = (found_block){size, start, cut};
    }
}

/* Blocks of one shape whose vertices are low .. end - 1. Where all have one size the first will do.
 */
static void consider_shape(const phx_space *space, uint32_t shape, uint32_t low, uint32_t end,
                           uint32_t level, uint32_t need, found_block *best)
{
    const phx_tree *tree = space->tree;
    const phx_shape *kind = &tree->shape[shape];
    const phx_set *set = &space->index[shape];
    for (uint32_t vertex = phx_set_next(set, low, end); vertex < end;
         vertex = phx_set_next(set, vertex + 1, end)) {
        const uint32_t child = phx_child_first(tree, kind->level, vertex);
        for (uint64_t runs = phx_runs_of(phx_space_mask(space, kind->level, vertex), kind->order);
             runs != 0; runs &= runs - 1) {
            const phx_run vertices = {child + phx_ctz(runs), 1u << kind->order};
            consider(tree, (uint32_t)kind->level - 1, vertices, level, need, best);
            if (best->size == need || (kind->leaves != 0 && best->size <= kind->leaves)) {
                return;
            }
        }
    }
}

static uint32_t best_on_uneven_tree(const phx_space *space, uint32_t need, uint32_t level,
                                    uint32_t scope_level, uint32_t scope_vertex)
{
    const phx_tree *tree = space->tree;
    found_block best = {PHX_NONE, PHX_NONE, PHX_NONE};
    const int everywhere = scope_level > tree->depth;
    const uint32_t top = everywhere ? tree->depth : scope_level;
    const uint32_t first = everywhere ? 0 : phx_leaf_first(tree, top, scope_vertex);
    const uint32_t count =
        everywhere ? tree->level[0].count : phx_leaf_count(tree, top, scope_vertex);
    const phx_set *roots = &space->index[tree->shape_count - 1];
    if (!everywhere && phx_bit(space->whole[top], scope_vertex)) {
        return cut_of(tree, top, (phx_run){scope_vertex, 1}, level, need);
    }
    for (uint32_t shape = 0; shape < tree->shape_base[top + 1]; ++shape) {
        const phx_shape *kind = &tree->shape[shape];
        const uint32_t most = tree->level[kind->level - 1].leaves_max << kind->order;
        if (most < need || phx_set_empty(&space->index[shape])) {
            continue;
        }
        consider_shape(space, shape, phx_ancestor(tree, 0, first, kind->level),
                       phx_ancestor(tree, 0, first + count - 1, kind->level) + 1, level, need,
                       &best);
    }
    for (uint32_t root = phx_set_next(roots, 0, roots->size); everywhere && root < roots->size;
         root = phx_set_next(roots, root + 1, roots->size)) {
        consider(tree, top, (phx_run){root, 1}, level, need, &best);
    }
    return best.cut;
}

uint32_t phx_block_best(const phx_space *space, uint32_t need, uint32_t level, uint32_t scope_level,
                        uint32_t scope_vertex)
{
    const phx_tree *tree = space->tree;
    uint32_t shape = 0;
    if (!tree->uniform) {
        return best_on_uneven_tree(space, need, level, scope_level, scope_vertex);
    }
    while (shape < tree->shape_count && tree->shape[shape].leaves < need) {
        ++shape;
    }
    return phx_block_find(space, need, shape, scope_level, scope_vertex);
}
