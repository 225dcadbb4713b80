#include "caps.h"

#include <string.h>

/* The same for a gang with slices: every vertex below counts whole units of its own level. */
static uint32_t empty_units(phx_planner *planner, const phx_request *request, uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    const phx_search search = phx_search_of(planner, request);
    uint32_t *ranks = planner->share;
    for (uint32_t level = 1; level <= request->within; ++level) {
        const phx_run below = phx_descendants(tree, request->within, vertex, level);
        uint32_t child = 0;
        for (uint32_t at = 0; at < below.count; ++at) {
            const uint32_t here = below.first + at;
            const uint32_t count = phx_child_count(tree, level, here);
            uint32_t sum = level == 1 ? count : 0;
            for (uint32_t end = child + count; level > 1 && child < end; ++child) {
                sum += ranks[child];
            }
            const int named = ((search.named >> level) & 1) != 0;
            sum = named && phx_is_phantom(tree, level, here) ? 0 : sum;
            ranks[at] = sum - sum % search.unit[level];
        }
    }
    return ranks[0];
}

/* Ranks a vertex could hold were all its leaves available: whole groups of its group domains. */
static uint32_t empty_ranks(const phx_tree *tree, const phx_request *request, uint32_t vertex)
{
    const uint32_t level = request->group_level;
    const uint32_t all = phx_leaf_count(tree, request->within, vertex);
    if (request->group == 1) {
        return all;
    }
    const phx_level *domains = &tree->level[level];
    if (domains->leaves != 0 && domains->phantoms == 0 && level > 0) {
        return all / domains->leaves * (domains->leaves - domains->leaves % request->group);
    }
    const uint32_t first = phx_leaf_first(tree, request->within, vertex);
    const uint32_t end = first + phx_leaf_count(tree, request->within, vertex);
    uint32_t sum = 0;
    for (uint32_t leaf = first; leaf < end && level > 0;) {
        const uint32_t domain = phx_ancestor(tree, 0, leaf, level);
        const uint32_t leaves = phx_leaf_count(tree, level, domain);
        sum += phx_is_phantom(tree, level, domain) ? 0 : leaves - leaves % request->group;
        leaf = phx_leaf_first(tree, level, domain) + leaves;
    }
    return sum;
}

static int could_ever_fit(phx_planner *planner, const phx_request *request)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t vertex = 0; vertex < tree->level[request->within].count; ++vertex) {
        const int named = request->bounded && phx_is_phantom(tree, request->within, vertex);
        if (!named && phx_leaf_count(tree, request->within, vertex) >= request->held &&
            (request->slice_count > 0 && request->within > 0
                 ? empty_units(planner, request, vertex)
                 : empty_ranks(tree, request, vertex)) >= request->ranks) {
            return 1;
        }
    }
    return 0;
}

static uint32_t judge(phx_planner *planner, const phx_request *request,
                      const int32_t *const *limits)
{
    phx_search search = phx_search_of(planner, request);
    if (!could_ever_fit(planner, request)) {
        return PHX_MISFIT_TOO_LARGE;
    }
    if (phx_search_tightest(planner, &search, request->within) != PHX_NONE) {
        return limits != NULL ? PHX_MISFIT_LIMITED : PHX_MISFIT_ALIGNMENT;
    }
    search.loose = 1;
    return phx_search_tightest(planner, &search, request->within) == PHX_NONE ? PHX_MISFIT_CAPACITY
                                                                              : PHX_MISFIT_GROUPS;
}

/* Leaves nobody owns that are not available, by reason; health is what most of them lack. */
static void count_ill(const phx_planner *planner, uint32_t first, uint32_t count,
                      phx_level_record *record)
{
    for (uint32_t word = first >> 6; planner->count->ill != 0 && word <= (first + count - 1) >> 6;
         ++word) {
        uint64_t ill = planner->down[word] | planner->suspect[word] | planner->cordoned[word];
        for (; ill != 0; ill &= ill - 1) {
            const uint32_t leaf = (word << 6) + phx_ctz(ill);
            if (leaf < first || leaf >= first + count || phx_bit(planner->quarantine, leaf) ||
                phx_leaf_slot(planner, leaf) != PHX_NONE) {
                continue;
            }
            if (phx_bit(planner->down, leaf)) {
                ++record->down;
            } else if (phx_bit(planner->suspect, leaf)) {
                ++record->suspect;
            } else {
                ++record->cordoned;
            }
        }
    }
}

static uint32_t spare_leaves(const phx_planner *planner, uint32_t first, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    if (planner->count->spare_count == 0) {
        return 0;
    }
    const uint32_t size = planner->count->spare_size;
    const uint32_t end = phx_ancestor(tree, 0, first + count - 1, size) + 1;
    uint32_t sum = 0;
    for (uint32_t at = phx_bits_next(planner->spare, phx_ancestor(tree, 0, first, size), end);
         at < end; at = phx_bits_next(planner->spare, at + 1, end)) {
        const uint32_t start = phx_leaf_first(tree, size, at);
        const uint32_t stop = start + phx_leaf_count(tree, size, at);
        const uint32_t low = start > first ? start : first;
        const uint32_t high = stop < first + count ? stop : first + count;
        sum += high - low;
    }
    return sum;
}

static phx_level_record record_of(phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    phx_level_record record;
    memset(&record, 0, sizeof record);
    record.level = tree->level[level].visible;
    record.domains = tree->level[level].count - tree->level[level].phantoms;
    record.ranks = phx_search_best(planner, search, level, &record.best);
    const uint32_t first = phx_leaf_first(tree, level, record.best);
    record.leaves = phx_leaf_count(tree, level, record.best);
    record.available = phx_space_count(&planner->space, level, record.best);
    record.spare = spare_leaves(planner, first, record.leaves);
    record.quarantined = phx_bits_count(planner->quarantine, first, record.leaves);
    count_ill(planner, first, record.leaves, &record);
    record.owned = record.leaves - record.available - record.spare - record.quarantined -
                   record.down - record.suspect - record.cordoned;
    return record;
}

phx_status phx_explain(phx_planner *planner, const phx_request *request,
                       const int32_t *const *limits, phx_level_record *records, uint32_t room,
                       uint32_t *count, uint32_t *code)
{
    *code = judge(planner, request, limits);
    phx_search search = phx_search_of(planner, request);
    phx_search_limit(planner, &search, limits);
    *count = 0;
    const uint32_t start = search.start < search.within ? search.start : search.within;
    phx_caps_start(planner);
    for (uint32_t parent = 0;
         planner->tree->depth > 1 && start == 1 && parent < planner->tree->level[2].count;
         ++parent) {
        phx_caps_fill(planner, &search, 2, parent); /* the hosts' records need them all */
    }
    for (uint32_t level = start; level <= search.within; ++level) {
        if (planner->tree->level[level].hidden) {
            continue;
        }
        if (*count == room) {
            return PHX_NO_ROOM;
        }
        records[(*count)++] = record_of(planner, &search, level);
    }
    return PHX_OK;
}
