#include "planner.h"

uint32_t phx_leaf_state(const phx_planner *planner, uint32_t leaf)
{
    const uint32_t slot = phx_leaf_slot(planner, leaf);
    uint32_t state = PHX_FREE;
    if (slot != PHX_NONE) {
        state = PHX_JOB;
    } else if (phx_bit(planner->quarantine, leaf)) {
        state = PHX_QUARANTINE;
    } else if (phx_in_spare(planner, leaf)) {
        state = PHX_SPARE;
    }
    uint32_t health = phx_bit(planner->suspect, leaf) ? PHX_SUSPECT : PHX_UP;
    health = phx_bit(planner->down, leaf) ? PHX_DOWN : health;
    state |= health << 2;
    state |= (uint32_t)phx_bit(planner->cordoned, leaf) << 4;
    state |= (uint32_t)phx_bit(planner->space.whole[0], leaf) << 5;
    return state | (slot == PHX_NONE ? 0 : slot << 8);
}

void phx_leaf_states(const phx_planner *planner, uint32_t first, uint32_t count, uint32_t *out)
{
    for (uint32_t at = 0; at < count; ++at) {
        out[at] = phx_leaf_state(planner, first + at);
    }
}

/* PHX_OK when the leaves are in the tree and none is listed twice. */
static phx_status check_leaves(phx_planner *planner, const uint32_t *leaves, uint32_t leaf_count)
{
    phx_status status = PHX_OK;
    uint32_t marked = 0;
    for (; marked < leaf_count; ++marked) {
        if (leaves[marked] >= planner->tree->level[0].count) {
            status = PHX_BAD_LEAF;
            break;
        }
        if (phx_bit(planner->pick, leaves[marked])) {
            status = PHX_LEAF_TWICE;
            break;
        }
        phx_bit_set(planner->pick, leaves[marked]);
    }
    for (uint32_t at = 0; at < marked; ++at) {
        phx_bit_clear(planner->pick, leaves[at]);
    }
    return status;
}

static uint32_t is_ill(const phx_planner *planner, uint32_t leaf)
{
    return (uint32_t)(phx_bit(planner->down, leaf) | phx_bit(planner->suspect, leaf) |
                      phx_bit(planner->cordoned, leaf));
}

static void change_leaf(phx_planner *planner, phx_change change, uint32_t leaf)
{
    phx_counters *count = planner->count;
    const uint32_t was_ill = is_ill(planner, leaf);
    const uint32_t was_down = (uint32_t)phx_bit(planner->down, leaf);
    switch (change) {
    case PHX_FAIL:
        phx_bit_set(planner->down, leaf);
        phx_bit_clear(planner->suspect, leaf);
        break;
    case PHX_HEAL:
        phx_bit_clear(planner->down, leaf);
        phx_bit_clear(planner->suspect, leaf);
        break;
    case PHX_DOUBT:
        if (!was_down) {
            phx_bit_set(planner->suspect, leaf);
        }
        break;
    case PHX_CORDON:
        phx_bit_set(planner->cordoned, leaf);
        break;
    case PHX_UNCORDON:
        phx_bit_clear(planner->cordoned, leaf);
        break;
    }
    count->ill += is_ill(planner, leaf) - was_ill;
    count->down += (uint32_t)phx_bit(planner->down, leaf) - was_down;
    if (phx_in_spare(planner, leaf) && !phx_is_healthy(planner, leaf)) {
        phx_spare_drop(planner, phx_ancestor(planner->tree, 0, leaf, count->spare_size));
    }
    phx_refresh_leaf(planner, leaf);
}

phx_status phx_health_change(phx_planner *planner, phx_change change, const uint32_t *leaves,
                             uint32_t leaf_count, uint32_t *owners)
{
    const phx_status status = check_leaves(planner, leaves, leaf_count);
    if (status != PHX_OK) {
        return status;
    }
    const uint32_t missing = planner->count->spare_missing;
    for (uint32_t at = 0; at < leaf_count; ++at) {
        owners[at] = phx_leaf_slot(planner, leaves[at]);
        change_leaf(planner, change, leaves[at]);
    }
    const int idle = change == PHX_HEAL || change == PHX_UNCORDON;
    for (uint32_t at = 0; (idle || planner->count->spare_missing != missing) && at < leaf_count;
         ++at) {
        phx_spares_refill(planner, leaves[at], 1);
    }
    return PHX_OK;
}

phx_status phx_quarantine_release(phx_planner *planner, const uint32_t *leaves, uint32_t leaf_count)
{
    const phx_status status = check_leaves(planner, leaves, leaf_count);
    if (status != PHX_OK) {
        return status;
    }
    for (uint32_t at = 0; at < leaf_count; ++at) {
        if (!phx_bit(planner->quarantine, leaves[at])) {
            return PHX_NOT_QUARANTINED;
        }
    }
    for (uint32_t at = 0; at < leaf_count; ++at) {
        phx_bit_clear(planner->quarantine, leaves[at]);
        phx_refresh_leaf(planner, leaves[at]);
    }
    for (uint32_t at = 0; at < leaf_count; ++at) {
        phx_spares_refill(planner, leaves[at], 1);
    }
    return PHX_OK;
}
