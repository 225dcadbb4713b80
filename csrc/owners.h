/* The owners' half of the quick path: a block of a power-of-two tree changes hands in place. */
#ifndef PHX_OWNERS_H
#define PHX_OWNERS_H

#include "planner.h"

/* A slot for a new gang whose first leaf is `head`. */
PHX_INLINE uint32_t phx_slot_take(phx_planner *planner, const phx_request *request, uint32_t level,
                                  uint32_t head)
{
    phx_counters *count = planner->count;
    const uint32_t within = request->bounded ? request->within : PHX_ANYWHERE;
    const uint16_t levels = (uint16_t)(request->group_level | (within << 5) | (level << 10));
    uint32_t slot = count->slot_free;
    if (slot != 0) {
        --slot;
        count->slot_free = planner->gangs[slot].head;
    } else {
        slot = count->slot_fresh++;
    }
    phx_gang_slot *gang = &planner->gangs[slot];
    *gang = (phx_gang_slot){head, request->ranks, request->group, levels, gang->generation};
    ++count->gangs;
    return slot;
}

/* A free block gets an owner (slot + 1): none of its hosts is held whole by anybody. */
PHX_INLINE void phx_own_block(phx_planner *planner, uint32_t first, uint32_t count, uint32_t owner)
{
    const uint32_t shift = planner->tree->leaves_shift[1];
    uint32_t *hosts = &planner->host_owner[first >> shift];
    const uint32_t covered = count >> shift;
    if (covered == 0) {
        *hosts = PHX_SHARED;
        for (uint32_t at = 0; at < count; ++at) {
            planner->leaf_owner[first + at] = owner;
        }
        return;
    }
    for (uint32_t at = 0; at < covered; ++at) {
        hosts[at] = owner;
    }
}

/* A block, all of one gang, is nobody's. */
PHX_INLINE void phx_disown_block(phx_planner *planner, uint32_t first, uint32_t count)
{
    const uint32_t shift = planner->tree->leaves_shift[1];
    uint32_t *hosts = &planner->host_owner[first >> shift];
    const uint32_t covered = count >> shift;
    uint32_t shared = 0;
    if (covered == 0) {
        uint32_t *owners = &planner->leaf_owner[first >> shift << shift];
        const uint32_t skipped = first & ((1u << shift) - 1);
        for (uint32_t at = 0; at < 1u << shift; ++at) {
            const int stays = PHX_MUTANT_OWNER_KEPT || at - skipped >= count;
            owners[at] = stays ? owners[at] : 0;
            shared |= owners[at];
        }
        *hosts = shared != 0 ? PHX_SHARED : 0;
        return;
    }
    for (uint32_t at = 0; at < covered; ++at) {
        shared |= hosts[at] == PHX_SHARED;
        hosts[at] = 0;
    }
    if (PHX_RARELY(shared != 0)) { /* a repair can put a host together out of parts */
        for (uint32_t at = 0; at < count && !PHX_MUTANT_OWNER_KEPT; ++at) {
            planner->leaf_owner[first + at] = 0;
        }
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
