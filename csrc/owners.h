/* The owners' half of the quick path: a block of a power-of-two tree changes hands in place. */
#ifndef PHX_OWNERS_H
#define PHX_OWNERS_H

#include "planner.h"

/* A slot for a new gang whose first leaf is `head`. */
PHX_INLINE uint32_t phx_slot_take(phx_planner *planner, const phx_request *request, uint32_t level,
                                  uint32_t head)
{
    phx_counters *count = planner->count;
    uint32_t slot = count->slot_free;
    if (slot != 0) {
        --slot;
        count->slot_free = planner->gangs[slot].head;
    } else {
        slot = count->slot_fresh++;
    }
    phx_gang_slot *gang = &planner->gangs[slot];
    gang->head = head;
    gang->ranks = request->ranks;
    gang->group = request->group;
    gang->levels = (uint16_t)(request->levels | (level << 10));
    ++count->gangs;
    return slot;
}

/* 2^n owners. Up to eight, eight stores, some of them twice: a branch on the size of a gang is hard
 * to foresee and dearer. */
PHX_INLINE void phx_owners_fill(uint32_t *owners, uint32_t count, uint32_t owner)
{
    if (count <= 8) {
        for (uint32_t at = 0; at < 8; ++at) {
            owners[at & (count - 1)] = owner;
        }
        return;
    }
    const uint32_t *end = owners + count;
    do {
        for (uint32_t at = 0; at < 16; ++at) {
            owners[at] = owner;
        }
        owners += 16;
    } while (owners != end);
}

/* A block of leaves that nobody owns gets an owner (slot + 1). */
PHX_INLINE void phx_own_block(phx_planner *planner, uint32_t first, uint32_t count, uint32_t owner)
{
    const uint32_t shift = planner->tree->leaves_shift[1];
    const uint32_t covered = count >> shift;
    /* Hosts or leaves: without a branch, since nothing foretells the size of a gang. */
    const uint32_t part = (uint32_t)(covered == 0);
    uint32_t *hosts = &planner->host_owner[first >> shift];
    const ptrdiff_t leaves = &planner->leaf_owner[first] - hosts;
    phx_owners_fill(hosts + (leaves & -(ptrdiff_t)part), covered | (count & (0 - part)), owner);
}

/* A block of one gang is nobody's; a part of a host if no other part of it is the same gang's. */
PHX_INLINE void phx_disown_block(phx_planner *planner, uint32_t first, uint32_t count)
{
    if (!PHX_MUTANT_OWNER_KEPT) {
        phx_own_block(planner, first, count, 0);
    }
}

/* Whether a freed block can change what its domain holds as spares. */
PHX_INLINE int phx_spares_stir(const phx_planner *planner, uint32_t first, uint32_t count)
{
    const phx_counters *counters = planner->count;
    if (counters->spare_count == 0) {
        return 0;
    }
    const uint8_t *shift = planner->tree->leaves_shift;
    const uint32_t last = first + count - 1;
    const uint32_t domain = last >> shift[counters->spare_per];
    return counters->spare_missing != 0 || first >> shift[counters->spare_per] != domain ||
           last >> shift[counters->spare_size] > planner->spare_lowest[domain];
}

#endif
