#include "planner.h"

/* Every check reads bytes that may be anything: indexes are compared before they are used. Scratch
 * bitmaps of the planner are borrowed and given back zero. */

static int run_is_sound(const phx_planner *planner, uint32_t first, uint64_t *seen)
{
    const uint32_t leaves = planner->tree->level[0].count;
    if (first >= leaves || planner->links[first].count == 0 ||
        planner->links[first].count > leaves - first) {
        return 0;
    }
    for (uint32_t leaf = first; leaf < first + planner->links[first].count; ++leaf) {
        if (phx_bit(seen, leaf)) {
            return 0;
        }
        phx_bit_set(seen, leaf);
    }
    return 1;
}

static int run_is_owned(const phx_planner *planner, uint32_t first, uint32_t slot)
{
    for (uint32_t leaf = first; leaf < first + planner->links[first].count; ++leaf) {
        if (phx_leaf_slot(planner, leaf) != slot) {
            return 0;
        }
    }
    return 1;
}

static const char *check_chain(const phx_planner *planner, uint32_t slot);

static const char *check_gang(const phx_planner *planner, uint32_t slot, uint64_t *seen)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    const phx_tree *tree = planner->tree;
    uint64_t held = 0;
    for (uint32_t next = gang->head + 1; next != 0; next = planner->links[next - 1].next) {
        const uint32_t first = next - 1;
        if (!run_is_sound(planner, first, seen)) {
            return "L1: the runs of a gang overlap, are empty or leave the tree";
        }
        const uint32_t after = planner->links[first].next;
        if (after != 0 && after - 1 == first + planner->links[first].count) {
            return "L1: a run of a gang is not maximal";
        }
        if (!run_is_owned(planner, first, slot)) {
            return "L2: a leaf of a gang names another owner";
        }
        held += planner->links[first].count;
    }
    if (held < gang->ranks) {
        return "L1: a gang holds fewer leaves than it has ranks";
    }
    const uint32_t within = phx_slot_within(gang);
    if (gang->group == 0 || gang->ranks % gang->group != 0 ||
        phx_slot_group_level(gang) > tree->depth ||
        (within != PHX_ANYWHERE && within > tree->depth) || phx_slot_level(gang) > tree->depth) {
        return "L8: a gang has sizes or levels that no request has";
    }
    return check_chain(planner, slot);
}

/* Walks ranks leaf by leaf; the runs are known to be sound. */
static const char *check_chain(const phx_planner *planner, uint32_t slot)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    const phx_tree *tree = planner->tree;
    const uint32_t top = phx_slot_top(tree, gang);
    const uint32_t home = phx_ancestor(tree, 0, gang->head, top);
    uint32_t rank = 0;
    uint32_t domain = 0;
    for (uint32_t next = gang->head + 1; next != 0; next = planner->links[next - 1].next) {
        for (uint32_t leaf = next - 1;
             leaf < next - 1 + planner->links[next - 1].count && rank < gang->ranks;
             ++leaf, ++rank) {
            const uint32_t here = phx_ancestor(tree, 0, leaf, phx_slot_group_level(gang));
            domain = rank % gang->group == 0 ? here : domain;
            if (gang->group > 1 && here != domain) {
                return "L8: a group of a gang is split over two domains of its level";
            }
            if (phx_ancestor(tree, 0, leaf, top) != home) {
                return "L8: a gang reaches out of its domain";
            }
        }
    }
    if (phx_span_level(planner, slot) != phx_slot_level(gang)) {
        return "L8: a gang's level is not that of its leaves";
    }
    return NULL;
}

static const char *check_slots(const phx_planner *planner, uint64_t *seen, uint64_t *slots)
{
    const phx_counters *count = planner->count;
    const uint32_t leaves = planner->tree->level[0].count;
    uint32_t held = 0;
    uint32_t unused = 0;
    if (count->slot_fresh > leaves) {
        return "L6: more slots in use than there are leaves";
    }
    for (uint32_t slot = 0; slot < count->slot_fresh; ++slot) {
        if (planner->gangs[slot].ranks == 0) {
            ++unused;
            continue;
        }
        ++held;
        if (planner->gangs[slot].head >= leaves) {
            return "L1: the runs of a gang overlap, are empty or leave the tree";
        }
        const char *reason = check_gang(planner, slot, seen);
        if (reason != NULL) {
            return reason;
        }
    }
    for (uint32_t next = count->slot_free; next != 0; next = planner->gangs[next - 1].head) {
        if (next > count->slot_fresh || planner->gangs[next - 1].ranks != 0 ||
            phx_bit(slots, next - 1)) {
            return "L6: the list of free slots is broken";
        }
        phx_bit_set(slots, next - 1);
        --unused;
    }
    return unused == 0 && held == count->gangs ? NULL : "L6: slots or gangs do not add up";
}

static const char *check_owners(const phx_planner *planner, const uint64_t *seen)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t leaf = 0; leaf < tree->level[0].count; ++leaf) {
        const uint32_t slot = phx_leaf_slot(planner, leaf);
        if ((slot != PHX_NONE) != phx_bit(seen, leaf)) {
            return "L2: an owned leaf is in no run, or a leaf of a run has no owner";
        }
        if (planner->host_owner[phx_parent(tree, 0, leaf)] != 0 && planner->leaf_owner[leaf] != 0) {
            return "L2: a leaf has an owner of its own in a host that is held whole";
        }
        const int used = planner->links[leaf].count != 0;
        if (!used && planner->links[leaf].next != 0) {
            return "L7: an unused run slot is not zero";
        }
        if (used && !phx_bit(seen, leaf)) {
            return "L7: a run slot is in use without a gang";
        }
    }
    return NULL;
}

static const char *check_leaves(const phx_planner *planner)
{
    const phx_tree *tree = planner->tree;
    uint32_t down = 0;
    uint32_t ill = 0;
    for (uint32_t leaf = 0; leaf < tree->level[0].count; ++leaf) {
        const int owned = phx_leaf_slot(planner, leaf) != PHX_NONE;
        const int spare = phx_in_spare(planner, leaf);
        const int fenced = phx_bit(planner->quarantine, leaf);
        const int sick = phx_bit(planner->down, leaf) || phx_bit(planner->suspect, leaf) ||
                         phx_bit(planner->cordoned, leaf);
        if (owned + spare + fenced > 1) {
            return "L4: a leaf is two of owned, spare and quarantined";
        }
        if (spare && sick) {
            return "L4: a spare has a leaf that is not healthy";
        }
        const int available = !owned && !spare && !fenced && !sick;
        if (available != phx_bit(planner->space.whole[0], leaf)) {
            return "L3: a leaf is available against its state, or the other way round";
        }
        down += (uint32_t)phx_bit(planner->down, leaf);
        ill += (uint32_t)sick;
    }
    return down == planner->count->down && ill == planner->count->ill
               ? NULL
               : "L6: counters of unhealthy leaves do not add up";
}

static const char *check_spares(const phx_planner *planner)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    uint32_t missing = 0;
    if (count->spare_count == 0) {
        return NULL;
    }
    uint32_t vertex = 0;
    for (uint32_t domain = 0; domain < tree->level[count->spare_per].count; ++domain) {
        uint32_t held = 0;
        uint32_t whole = 0;
        for (; vertex < tree->level[count->spare_size].count &&
               phx_ancestor(tree, count->spare_size, vertex, count->spare_per) == domain;
             ++vertex) {
            held += (uint32_t)phx_bit(planner->spare, vertex);
            whole += (uint32_t)(phx_bit(planner->space.whole[count->spare_size], vertex) &&
                                !phx_is_phantom(tree, count->spare_size, vertex));
        }
        if (held != planner->spare_held[domain] || held > planner->spare_wanted[domain]) {
            return "L4: the spares of a domain do not add up";
        }
        if (held < planner->spare_wanted[domain] && whole > 0) {
            return "L5: a domain is short of spares although it has a whole free vertex";
        }
        missing += planner->spare_wanted[domain] - held;
    }
    return missing == count->spare_missing ? NULL : "L4: missing spares do not add up";
}

static int ends_clear(const uint64_t *words, uint32_t bits)
{
    return (bits & 63) == 0 || words[bits >> 6] >> (bits & 63) == 0;
}

/* Bits behind the last one of a bitmap, which no search expects. */
static const char *check_ends(const phx_planner *planner)
{
    const phx_tree *tree = planner->tree;
    const phx_space *space = &planner->space;
    const uint32_t leaves = tree->level[0].count;
    for (uint32_t level = 0; level <= tree->depth; ++level) {
        if (!ends_clear(space->whole[level], tree->level[level].count)) {
            return "S1: a vertex that does not exist is marked whole";
        }
    }
    for (uint32_t shape = 0; shape < tree->shape_count; ++shape) {
        const phx_set *set = &space->index[shape];
        uint32_t bits = set->size;
        for (uint32_t row = 0; row < set->rows; ++row, bits = PHX_WORDS(bits)) {
            if (!ends_clear(set->row[row], bits)) {
                return "S3: an index holds a vertex that does not exist";
            }
        }
    }
    if (tree->shape_count < 64 && *space->shapes >> tree->shape_count != 0) {
        return "S5: the shapes word has a shape that does not exist";
    }
    const int clear = ends_clear(planner->down, leaves) && ends_clear(planner->suspect, leaves) &&
                      ends_clear(planner->cordoned, leaves) &&
                      ends_clear(planner->quarantine, leaves);
    return clear ? NULL : "L3: a leaf that does not exist has a state";
}

phx_status phx_planner_validate(const phx_planner *planner, const char **reason)
{
    const size_t words = PHX_WORDS((size_t)planner->tree->level[0].count);
    uint64_t *seen = planner->pick;
    uint64_t *slots = planner->moving;
    *reason = NULL;
    if (phx_space_validate(&planner->space, reason) != PHX_OK) {
        return PHX_BROKEN;
    }
    const char *fault = check_ends(planner);
    fault = fault == NULL ? check_slots(planner, seen, slots) : fault;
    fault = fault == NULL ? check_owners(planner, seen) : fault;
    fault = fault == NULL ? check_leaves(planner) : fault;
    fault = fault == NULL ? check_spares(planner) : fault;
    for (size_t word = 0; word < words; ++word) {
        seen[word] = 0;
        slots[word] = 0;
    }
    *reason = fault;
    return fault == NULL ? PHX_OK : PHX_BROKEN;
}
