/* phx_search: where a gang can go, exactly, on any tree and under limits.
 *
 * A gang is a chain of sizes: groups, slices of groups, slices of slices. unit(level) is the
 * largest of them that must share a vertex of that level or a lower one.
 *
 * ranks(v) = min(limit(v), sum over children), rounded down to whole units of its level. A vertex
 * can hold the gang when ranks(v) >= need and no ancestor's limit is below need. Sizes divide each
 * other and the tree's vertices are nested, so these counts are exact.
 *
 * Cost: O(hosts below the scope) at worst; parents without room are skipped.
 */
#ifndef PHX_PACK_H
#define PHX_PACK_H

#include "planner.h"

typedef struct phx_search {
    uint32_t need;
    uint32_t group;
    uint32_t group_level;
    uint32_t within;      /* the search ends at this level */
    uint32_t start;       /* and begins at this one, 1 or above */
    uint32_t scope_level; /* depth + 1: the whole forest */
    uint32_t scope_vertex;
    uint32_t rule;
    uint32_t bounded;  /* within was asked for: a phantom there serves it not */
    uint32_t loose;    /* leaves count even where they make no whole unit */
    uint32_t balanced; /* level to spread evenly over, 0: none */
    uint32_t named;    /* levels that a group or slice must share a vertex of, as bits */
    uint32_t unit[PHX_DEPTH_MAX + 1];
    uint64_t rails;   /* rails the ranks had, as bits: preferred, never a condition */
    uint32_t limited; /* some limit[level] is in force */
    uint8_t limit_on[PHX_DEPTH_MAX + 1];
    const int32_t *limit[PHX_DEPTH_MAX + 1]; /* the caller's rows, or the planner's own copies */
    uint64_t *picks;                         /* bitmap that gets the answer, zero before */
    /* answer */
    uint32_t level;
    uint32_t low; /* the bits of picks are inside low .. high - 1 */
    uint32_t high;
} phx_search;

/* A search for the request over the whole forest, without limits. */
phx_search phx_search_of(const phx_planner *planner, const phx_request *request);
/* The chain of a search: a group, and slices with internal levels. */
void phx_search_chain(phx_search *search, uint32_t group, uint32_t group_level,
                      const phx_slice *slices, uint32_t count);
/* Puts the caller's limits, rows by visible level, in force; in the search's scope, which may not
 * change any more. */
void phx_search_limit(phx_planner *planner, phx_search *search, const int32_t *const *limits);
/* Lowers limits that were copied to those of one part of the gang, where these are lower. */
void phx_search_narrow(phx_planner *planner, phx_search *search, const int32_t *const *limits);
/* Copies them, so that phx_search_charge may lower them. */
void phx_search_own_limits(phx_planner *planner, phx_search *search);
/* Lowers what is left of the limits above leaves that are now in use. */
void phx_search_charge(phx_planner *planner, const phx_search *search, uint32_t first,
                       uint32_t count);
/* PHX_OK: the chosen leaves are set in search->picks. PHX_MISFIT: picks is as it was. */
phx_status phx_search_run(phx_planner *planner, phx_search *search);
/* The vertex of `level` that holds `need` with the fewest ranks to spare, or PHX_NONE. */
uint32_t phx_search_tightest(phx_planner *planner, phx_search *search, uint32_t level);
/* The most ranks one vertex of `level` could hold now, and the lowest such vertex; the hosts' own
 * capacities must be filled. */
uint32_t phx_search_best(phx_planner *planner, const phx_search *search, uint32_t level,
                         uint32_t *vertex);
void phx_pick_clear(const phx_search *search);
/* The next run of picked leaves at or after `from`; count 0 when there is none. */
PHX_INLINE phx_run phx_pick_next(const phx_search *search, uint32_t from)
{
    const uint32_t first = phx_bits_next(search->picks, from, search->high);
    const uint32_t end = phx_bits_next_clear(search->picks, first, search->high);
    return (phx_run){first, end - first};
}
/* Vertices of `level` inside the scope. */
phx_run phx_search_range(const phx_planner *planner, const phx_search *search, uint32_t level);

/* block.c: first leaf of a cut of `need` leaves inside one vertex of `level`, out of the smallest
 * maximal block that has one, lowest address; PHX_NONE when no block does. Any tree. */
uint32_t phx_block_best(const phx_space *space, uint32_t need, uint32_t level, uint32_t scope_level,
                        uint32_t scope_vertex);
/* The smallest sufficient maximal block inside a vertex of a tree with equal fanouts;
 * scope_level = depth + 1: anywhere. First leaf, or PHX_NONE. */
uint32_t phx_block_find(const phx_space *space, uint32_t need, uint32_t shape, uint32_t scope_level,
                        uint32_t scope_vertex);
/* First leaf of the lowest maximal block of a shape inside a vertex that has one. */
PHX_INLINE uint32_t phx_block_in(const phx_space *space, uint32_t shape, uint32_t vertex)
{
    const phx_tree *tree = space->tree;
    const phx_shape *kind = &tree->shape[shape];
    const uint64_t runs = phx_runs_of(phx_space_mask(space, kind->level, vertex), kind->order);
    const uint32_t child = phx_child_first(tree, kind->level, vertex) + phx_ctz(runs);
    return phx_leaf_first(tree, (uint32_t)kind->level - 1, child);
}
/* The same of the lowest vertex of a shape whose index is not empty. */
PHX_INLINE uint32_t phx_block_first(const phx_space *space, uint32_t shape)
{
    const phx_tree *tree = space->tree;
    const uint32_t vertex = phx_set_first(&space->index[shape]);
    return tree->shape[shape].level > tree->depth ? phx_leaf_first(tree, tree->depth, vertex)
                                                  : phx_block_in(space, shape, vertex);
}

#endif
