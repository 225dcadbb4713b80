#include "planner.h"

static int64_t refused(phx_status status)
{
    return -(int64_t)status;
}

static phx_status check_free(phx_planner *planner, const uint32_t *leaves, uint32_t count)
{
    phx_status status = PHX_OK;
    uint32_t marked = 0;
    for (; marked < count && status == PHX_OK; ++marked) {
        const uint32_t leaf = leaves[marked];
        if (leaf >= planner->tree->level[0].count) {
            status = PHX_BAD_LEAF;
            break;
        }
        if (phx_bit(planner->pick, leaf)) {
            status = PHX_LEAF_TWICE;
            break;
        }
        if (phx_leaf_slot(planner, leaf) != PHX_NONE || phx_bit(planner->quarantine, leaf)) {
            status = PHX_NOT_FREE;
        }
        phx_bit_set(planner->pick, leaf);
    }
    for (uint32_t at = 0; at < marked; ++at) {
        phx_bit_clear(planner->pick, leaves[at]);
    }
    return status;
}

/* One real vertex of `level` above all of these leaves. */
static int shares_vertex(const phx_tree *tree, const uint32_t *leaves, uint32_t count,
                         uint32_t level, int named)
{
    const uint32_t vertex = phx_ancestor(tree, 0, leaves[0], level);
    for (uint32_t at = 1; at < count; ++at) {
        if (phx_ancestor(tree, 0, leaves[at], level) != vertex) {
            return 0;
        }
    }
    return !named || !phx_is_phantom(tree, level, vertex);
}

/* Whether a gang or a part of one keeps its groups and slices. */
static int slices_hold(const phx_tree *tree, const phx_request *request, const uint32_t *leaves)
{
    for (uint32_t at = 0; at < request->ranks && request->group > 1; at += request->group) {
        if (!shares_vertex(tree, leaves + at, request->group, request->group_level, 1)) {
            return 0;
        }
    }
    for (uint32_t entry = 0; entry < request->slice_count; ++entry) {
        const phx_slice slice = request->slices[entry];
        for (uint32_t at = 0; at < request->ranks && slice.size > 1; at += slice.size) {
            if (!shares_vertex(tree, leaves + at, slice.size, slice.level, 1)) {
                return 0;
            }
        }
    }
    return 1;
}

static int chain_holds(const phx_planner *planner, const phx_request *request,
                       const uint32_t *leaves)
{
    const phx_tree *tree = planner->tree;
    int holds =
        shares_vertex(tree, leaves, request->ranks, request->within, (int)request->bounded) &&
        slices_hold(tree, request, leaves);
    for (uint32_t part = 0; part < request->part_count && holds; ++part) {
        const phx_request *own = &request->parts[part].request;
        const uint32_t within = request->parts[part].within;
        holds = slices_hold(tree, own, leaves) &&
                (within == PHX_NONE ||
                 shares_vertex(tree, leaves, own->ranks, tree->internal[within], 1));
        leaves += own->ranks;
    }
    return holds;
}

static uint32_t run_length(const uint32_t *leaves, uint32_t count)
{
    uint32_t length = 1;
    while (length < count && leaves[length] == leaves[0] + length) {
        ++length;
    }
    return length;
}

int64_t phx_adopt(phx_planner *planner, const phx_request *request, const uint32_t *leaves)
{
    const phx_status status = check_free(planner, leaves, request->ranks);
    if (status != PHX_OK) {
        return refused(status);
    }
    if (!chain_holds(planner, request, leaves)) {
        return refused(PHX_BAD_CHAIN);
    }
    const uint32_t slot = phx_slot_new(planner, request, 0);
    phx_gang_slot *gang = &planner->gangs[slot];
    gang->head = leaves[0];
    for (uint32_t at = 0; at < request->ranks;) {
        const uint32_t first = leaves[at];
        const uint32_t count = run_length(leaves + at, request->ranks - at);
        for (uint32_t leaf = first; leaf < first + count; ++leaf) {
            if (phx_in_spare(planner, leaf)) {
                phx_spare_drop(planner,
                               phx_ancestor(planner->tree, 0, leaf, planner->count->spare_size));
            }
            if (phx_bit(planner->space.whole[0], leaf)) {
                phx_space_take(&planner->space, leaf, 1);
            }
        }
        phx_own(planner, first, count, slot);
        planner->links[first].count = count;
        at += count;
        planner->links[first].next = at < request->ranks ? leaves[at] + 1 : 0;
    }
    for (uint32_t at = 0; at < request->ranks; ++at) {
        phx_spares_refill(planner, leaves[at], 1);
    }
    const uint32_t level = phx_span_level(planner, slot);
    phx_slot_set_level(gang, level);
    const uint64_t visible = planner->tree->level[level].visible;
    const uint64_t many = planner->links[gang->head].next != 0;
    return (int64_t)((uint64_t)slot | ((uint64_t)gang->head << 21) | (visible << 42) |
                     (many << 47));
}
