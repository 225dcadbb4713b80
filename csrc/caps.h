/* Capacities: how many ranks of a search every vertex could hold, computed where they are asked
 * for.
 *
 * ranks(v) = min(limit(v), sum over children), rounded down to whole units of its level. Hosts are
 * filled together with their parents (level 2), which remember that they are known; a vertex above
 * is the sum of its children, so asking again costs little.
 */
#ifndef PHX_CAPS_H
#define PHX_CAPS_H

#include "pack.h"

/* Forgets what an earlier search knew. */
void phx_caps_start(phx_planner *planner);
/* Capacities of a vertex and of all below it. */
void phx_caps_fill(phx_planner *planner, const phx_search *search, uint32_t level, uint32_t vertex);
/* Limits and phantoms above a vertex that its own capacity does not know of. */
int phx_ancestors_allow(const phx_planner *planner, const phx_search *search, uint32_t level,
                        uint32_t vertex);

/* balance.c: whether a gang is spread evenly below a vertex of a level, because nothing between it
 * and the level to spread over binds. */
int phx_spreads(const phx_search *search, uint32_t level);
/* Ranks for each vertex of that level below a vertex whose capacities are filled, in
 * planner->share: the fewest vertices, and as even as they allow. Returns which vertices. */
phx_run phx_spread(const phx_planner *planner, const phx_search *search, uint32_t level,
                   uint32_t vertex, uint32_t need);

/* walk.c: leaves for `need` ranks below a vertex whose capacities are filled, into search->picks.
 */
void phx_pick_shares(const phx_planner *planner, const phx_search *search, uint32_t level,
                     uint32_t vertex, uint32_t need);
/* Leaves of a host, out of `mask`, on the rails that the ranks had. */
uint64_t phx_on_rails(const phx_planner *planner, const phx_search *search, uint32_t host,
                      uint64_t mask);

PHX_INLINE uint32_t phx_cap_of(const phx_planner *planner, uint32_t level, uint32_t vertex)
{
    if (level == 0) { /* of a gang that must fit into one leaf */
        return (uint32_t)phx_bit(planner->space.whole[0], vertex);
    }
    return level == 1 ? planner->cap_host[vertex] : planner->cap[level][vertex];
}

/* Available leaves of a host that no leaf limit forbids. */
PHX_INLINE uint64_t phx_host_mask(const phx_planner *planner, const phx_search *search,
                                  uint32_t host)
{
    const phx_tree *tree = planner->tree;
    uint64_t mask = phx_space_mask(&planner->space, 1, host);
    if (search->limit_on[0]) {
        mask &= phx_bits_get(planner->allowed, phx_child_first(tree, 1, host),
                             phx_child_count(tree, 1, host));
    }
    return mask;
}

/* Ranks under the limit of a vertex, INT32_MAX where there is none. */
PHX_INLINE uint32_t phx_limit_of(const phx_search *search, uint32_t level, uint32_t vertex)
{
    if (!search->limit_on[level]) {
        return INT32_MAX;
    }
    const int32_t limit = search->limit[level][vertex];
    return limit < 0 ? 0 : (uint32_t)limit;
}

#endif
