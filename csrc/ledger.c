#include "buddy.h"
#include "owners.h"

/* Every leaf of a host gets its own owner, so that a part of it can change hands. */
static void split_host(phx_planner *planner, uint32_t host)
{
    const uint32_t owner = planner->host_owner[host];
    const uint32_t first = phx_child_first(planner->tree, 1, host);
    const uint32_t count = phx_child_count(planner->tree, 1, host);
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        planner->leaf_owner[leaf] = owner;
    }
    planner->host_owner[host] = 0;
}

/* A host whose leaves all have one owner has it as a whole. */
static void join_host(phx_planner *planner, uint32_t host)
{
    const uint32_t first = phx_child_first(planner->tree, 1, host);
    const uint32_t count = phx_child_count(planner->tree, 1, host);
    const uint32_t owner = planner->leaf_owner[first];
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        if (planner->leaf_owner[leaf] != owner) {
            return;
        }
    }
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        planner->leaf_owner[leaf] = 0;
    }
    planner->host_owner[host] = owner;
}

static void own_part(phx_planner *planner, uint32_t host, uint32_t first, uint32_t end,
                     uint32_t owner)
{
    for (uint32_t leaf = first; leaf < end; ++leaf) {
        planner->leaf_owner[leaf] = owner;
    }
    join_host(planner, host);
}

void phx_own(phx_planner *planner, uint32_t first, uint32_t count, uint32_t slot)
{
    const phx_tree *tree = planner->tree;
    const uint32_t end = first + count;
    uint32_t host = phx_parent(tree, 0, first);
    uint32_t last = phx_parent(tree, 0, end - 1);
    uint32_t start = phx_child_first(tree, 1, host);
    uint32_t stop = start + phx_child_count(tree, 1, host);
    if (first != start || (host == last && end != stop)) {
        own_part(planner, host, first, end < stop ? end : stop, slot + 1);
        ++host;
    }
    if (host > last) {
        return;
    }
    start = phx_child_first(tree, 1, last);
    stop = start + phx_child_count(tree, 1, last);
    if (end != stop) {
        own_part(planner, last, start, end, slot + 1);
        --last;
    }
    for (; host <= last; ++host) {
        planner->host_owner[host] = slot + 1;
    }
}

static void disown_part(phx_planner *planner, uint32_t host, uint32_t first, uint32_t end)
{
    if (planner->host_owner[host] != 0) {
        split_host(planner, host);
    }
    for (uint32_t leaf = first; leaf < end && !PHX_MUTANT_OWNER_KEPT; ++leaf) {
        planner->leaf_owner[leaf] = 0;
    }
}

void phx_disown(phx_planner *planner, uint32_t first, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    const uint32_t end = first + count;
    const uint32_t last = phx_parent(tree, 0, end - 1);
    uint32_t at = first;
    for (uint32_t host = phx_parent(tree, 0, first); host <= last; ++host) {
        const uint32_t start = phx_child_first(tree, 1, host);
        const uint32_t stop = start + phx_child_count(tree, 1, host);
        const uint32_t here = end < stop ? end : stop;
        if (at == start && here == stop && planner->host_owner[host] != 0) {
            planner->host_owner[host] = 0;
        } else {
            disown_part(planner, host, at, here);
        }
        at = here;
    }
}

uint32_t phx_slot_new(phx_planner *planner, const phx_request *request, uint32_t level)
{
    return phx_slot_take(planner, request, level, 0);
}

void phx_refresh_leaf(phx_planner *planner, uint32_t leaf)
{
    const int available = phx_leaf_slot(planner, leaf) == PHX_NONE &&
                          !phx_bit(planner->quarantine, leaf) && !phx_in_spare(planner, leaf) &&
                          phx_is_healthy(planner, leaf);
    if (available == phx_bit(planner->space.whole[0], leaf)) {
        return;
    }
    if (available) {
        phx_space_give(&planner->space, leaf, 1);
    } else {
        phx_space_take(&planner->space, leaf, 1);
    }
}

void phx_settle(phx_planner *planner, uint32_t first, uint32_t count)
{
    if (planner->count->ill == 0) {
        phx_space_give(&planner->space, first, count);
        return;
    }
    uint32_t start = first;
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        if (phx_is_healthy(planner, leaf)) {
            continue;
        }
        if (phx_bit(planner->down, leaf)) {
            phx_bit_set(planner->quarantine, leaf);
        }
        if (leaf > start) {
            phx_space_give(&planner->space, start, leaf - start);
        }
        start = leaf + 1;
    }
    if (first + count > start) {
        phx_space_give(&planner->space, start, first + count - start);
    }
}

uint32_t phx_span_level(const phx_planner *planner, uint32_t slot)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t low = PHX_NONE;
    uint32_t high = 0;
    uint32_t left = gang->ranks;
    for (uint32_t next = gang->head + 1; next != 0 && left > 0;) {
        const uint32_t first = next - 1;
        const uint32_t here =
            planner->links[first].count < left ? planner->links[first].count : left;
        low = first < low ? first : low;
        high = first + here - 1 > high ? first + here - 1 : high;
        left -= here;
        next = planner->links[first].next;
    }
    return phx_common_level(planner->tree, low, high);
}

/* A gang of one block on healthy leaves: 1 when its leaves are free again, 0 untouched. How many
 * there are is told from its ranks, so that nothing waits for the run's own words in memory. */
PHX_INLINE int release_block(phx_planner *planner, const phx_gang_slot *gang)
{
    const uint32_t first = gang->head;
    const uint32_t size = phx_log2_ceil(gang->ranks);
    const uint32_t count = 1u << size;
    const uint32_t odd = (planner->links[first].count ^ count) | planner->links[first].next |
                         planner->count->ill | (first & (count - 1));
    if (odd != 0 || size >= planner->tree->blocks) {
        return 0;
    }
    planner->links[first].count = 0;
    phx_disown_block(planner, first, count);
    phx_buddy_give(&planner->space, first, size);
    if (PHX_RARELY(phx_spares_stir(planner, first, count))) {
        phx_spares_refill(planner, first, count);
    }
    return 1;
}

static __attribute__((noinline)) void release_runs(phx_planner *planner, uint32_t head)
{
    for (uint32_t next = head + 1; next != 0;) {
        const uint32_t first = next - 1;
        const uint32_t count = planner->links[first].count;
        next = planner->links[first].next;
        planner->links[first].next = 0;
        planner->links[first].count = 0;
        if (phx_is_buddy(planner->tree, first, count) && count >= planner->tree->level[1].leaves) {
            phx_disown_block(planner, first, count);
        } else {
            phx_disown(planner, first, count);
        }
        phx_settle(planner, first, count);
        phx_spares_refill(planner, first, count);
    }
}

/* The slot of a gang that holds nothing any more is free again. */
PHX_INLINE void free_slot(phx_planner *planner, uint32_t slot)
{
    phx_gang_slot *gang = &planner->gangs[slot];
    const uint16_t generation = (uint16_t)(gang->generation + 1);
    gang->head = planner->count->slot_free;
    gang->ranks = 0;
    gang->group = 0;
    gang->levels = 0;
    gang->generation = generation;
    planner->count->slot_free = slot + 1;
    --planner->count->gangs;
}

PHX_INLINE void release_slot(phx_planner *planner, uint32_t slot)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (PHX_RARELY(!release_block(planner, gang))) {
        release_runs(planner, gang->head);
    }
    free_slot(planner, slot);
}

phx_status phx_release(phx_planner *planner, uint32_t slot)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    release_slot(planner, slot);
    return PHX_OK;
}

int64_t phx_handle(const phx_planner *planner, uint32_t slot)
{
    if (!phx_slot_is_held(planner, slot)) {
        return -(int64_t)PHX_STALE_HANDLE;
    }
    return (int64_t)slot | ((int64_t)planner->gangs[slot].generation << 32);
}

uint32_t phx_gang_is_unnamed(const phx_planner *planner, uint32_t slot)
{
    return phx_slot_is_held(planner, slot) && (planner->gangs[slot].levels & PHX_UNNAMED) != 0;
}

/* Lists the gang of a handle by taking its mark; 0 when it is stale, or was listed before. */
PHX_INLINE int list_handle(phx_planner *planner, int64_t handle)
{
    const uint32_t slot = (uint32_t)(handle & 0xffffffff);
    if (PHX_RARELY(handle < 0 || phx_handle(planner, slot) != handle ||
                   (planner->gangs[slot].levels & PHX_UNNAMED) == 0)) {
        return 0;
    }
    planner->gangs[slot].levels ^= PHX_UNNAMED;
    return 1;
}

phx_status phx_release_many(phx_planner *planner, const int64_t *handles, uint32_t handle_count)
{
    uint32_t listed = 0;
    while (listed < handle_count && list_handle(planner, handles[listed])) {
        ++listed;
    }
    if (listed < handle_count) {
        while (listed-- > 0) {
            planner->gangs[handles[listed] & 0xffffffff].levels ^= PHX_UNNAMED;
        }
        return PHX_STALE_HANDLE;
    }
    for (uint32_t at = 0; at < handle_count; ++at) {
        release_slot(planner, (uint32_t)(handles[at] & 0xffffffff));
    }
    return PHX_OK;
}

phx_status phx_gang_leaves(const phx_planner *planner, uint32_t slot, uint32_t *leaves)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    const phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t left = gang->ranks;
    for (uint32_t next = gang->head + 1; next != 0 && left > 0;
         next = planner->links[next - 1].next) {
        const uint32_t first = next - 1;
        const uint32_t held = planner->links[first].count;
        const uint32_t count = held < left ? held : left;
        for (uint32_t at = 0; at < count; ++at) {
            leaves[at] = first + at;
        }
        leaves += count;
        left -= count;
    }
    return PHX_OK;
}

phx_status phx_gang_runs(const phx_planner *planner, uint32_t slot, phx_run *runs, uint32_t room,
                         uint32_t *count)
{
    *count = 0;
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    for (uint32_t next = planner->gangs[slot].head + 1; next != 0;
         next = planner->links[next - 1].next) {
        if (*count < room) {
            runs[*count] = (phx_run){next - 1, planner->links[next - 1].count};
        }
        ++*count;
    }
    return *count <= room ? PHX_OK : PHX_NO_ROOM;
}

uint32_t phx_gang_ranks(const phx_planner *planner, uint32_t slot)
{
    return phx_slot_is_held(planner, slot) ? planner->gangs[slot].ranks : 0;
}

phx_status phx_gang_shape(const phx_planner *planner, uint32_t slot, phx_gang *out)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t within = phx_slot_within(gang);
    const phx_level *levels = planner->tree->level;
    *out = (phx_gang){gang->ranks,
                      gang->group,
                      levels[phx_slot_group_level(gang)].visible,
                      within == PHX_ANYWHERE ? PHX_NONE : levels[within].visible,
                      PHX_NONE,
                      PHX_NEAR,
                      PHX_SMALLEST};
    return PHX_OK;
}

uint32_t phx_gang_level(const phx_planner *planner, uint32_t slot)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_NONE;
    }
    const uint32_t level = phx_slot_level(&planner->gangs[slot]);
    return planner->tree->level[level].visible;
}
