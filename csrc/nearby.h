/* The host that replaces a lost one, where a look at the words beside it decides: on trees of
 * power-of-two fanouts with at most one spare host a domain. Private header of replan.c.
 */
#ifndef PHX_NEARBY_H
#define PHX_NEARBY_H

#include "planner.h"

/* The host that takes the place of a lost one. */
typedef struct phx_target {
    uint32_t first; /* leaf; PHX_NONE: the full search has to decide */
    uint32_t level; /* of the smallest vertex that holds both */
    uint32_t spare; /* 1: it is one */
} phx_target;

/* Writes the plan that moves one host of a gang. */
PHX_INLINE void phx_answer(const phx_tree *tree, phx_move move, uint32_t before, uint32_t after,
                           uint32_t spares, phx_move *moves, phx_repair *repair)
{
    moves[0] = move;
    repair->moves = 1;
    repair->moved = move.count;
    repair->dead = move.count;
    repair->unresolved = 0;
    repair->level_before = tree->level[before].visible;
    repair->level_after = tree->level[after].visible;
    repair->spares_used = spares;
    repair->proven = 1;
}

/* The spare of the lost host's domain, where level 3 has no free host at all. */
PHX_INLINE phx_target phx_near_spare(const phx_planner *planner, uint32_t leaf)
{
    const phx_counters *count = planner->count;
    const uint8_t *shift = planner->tree->leaves_shift;
    const uint32_t above = leaf >> shift[3];
    if (count->spare_count != 0 && planner->space.free_count[3][above] < 1u << shift[1]) {
        const uint32_t domain = leaf >> shift[count->spare_per];
        const uint32_t spare = planner->spare_lowest[domain] << shift[1];
        if (planner->spare_held[domain] != 0 && spare >> shift[3] == above &&
            phx_bit(planner->spare, spare >> shift[1])) {
            return (phx_target){spare, spare >> shift[2] == leaf >> shift[2] ? 2 : 3, 1};
        }
    }
    return (phx_target){PHX_NONE, 0, 0};
}

/* The target where no search is needed: a free host without a free buddy, in the lost one's vertex
 * of level 2, else the first beside it in level 3; where that has no free host at all, its spare.
 * Without a branch on which of the first two, since nothing foretells it. */
PHX_INLINE phx_target phx_near_target(const phx_planner *planner, uint32_t leaf)
{
    const phx_tree *tree = planner->tree;
    const phx_space *space = &planner->space;
    const uint8_t *shift = tree->leaves_shift;
    const uint32_t vertex = leaf >> shift[2];
    const uint32_t order = (uint32_t)shift[3] - shift[2];
    const uint32_t hosts = (uint32_t)shift[2] - shift[1];
    const uint32_t base = leaf >> shift[3] << order;
    const uint64_t members =
        space->index[tree->shape_base[2]].row[0][base >> 6] >> (base & 63) & phx_low_power(order);
    if (PHX_RARELY(members == 0)) {
        return phx_near_spare(planner, leaf);
    }
    const uint64_t low = phx_low_power(hosts);
    const uint32_t first = vertex << hosts;
    uint64_t beside = space->whole[1][first >> 6];
    beside |= planner->count->spare_count != 0 ? planner->spare[first >> 6] : 0;
    const uint64_t own = members >> (vertex - base) & 1;
    if (PHX_RARELY((beside >> (first & 63) & low & (own - 1)) != 0)) {
        return (phx_target){PHX_NONE, 0, 0};
    }
    const uint64_t choice = own << (vertex - base) | (members & (own - 1));
    const uint32_t host = (base + phx_ctz(choice)) << hosts;
    const uint64_t mask = space->whole[1][host >> 6] >> (host & 63) & low;
    return (phx_target){(host + phx_ctz(phx_runs_of(mask, 0))) << shift[1], 3 - (uint32_t)own, 0};
}

/* Whether a gang lost one whole group, a host, where phx_near_target may look for another. */
PHX_INLINE int phx_is_near(const phx_planner *planner, const phx_gang_slot *gang, phx_run failed)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    const uint32_t leaves = tree->level[1].leaves;
    return tree->buddy && tree->depth >= 3 && tree->order_count[2] != 0 &&
           tree->level[1].phantoms == 0 && phx_slot_group_level(gang) == 1 &&
           phx_slot_within(gang) >= 3 && gang->group == leaves && failed.count == leaves &&
           (failed.first & (leaves - 1)) == 0 &&
           (count->spare_count == 0 || (count->spare_count == 1 && count->spare_size == 1));
}

#endif
