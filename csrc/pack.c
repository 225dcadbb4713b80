#include "caps.h"

#include <string.h>

#define LAZY_TRIES 4 /* candidates looked into one by one before a level is filled whole */

phx_search phx_search_of(const phx_planner *planner, const phx_request *request)
{
    phx_search search = {0};
    search.need = request->ranks;
    search.balanced = request->balanced;
    phx_search_chain(&search, request->group, request->group_level, request->slices,
                     request->slice_count);
    search.within = request->within;
    search.start = request->start;
    search.scope_level = planner->tree->depth + 1;
    search.rule = request->rule;
    search.bounded = request->bounded;
    search.picks = planner->pick;
    return search;
}

void phx_search_chain(phx_search *search, uint32_t group, uint32_t group_level,
                      const phx_slice *slices, uint32_t count)
{
    search->group = group;
    search->group_level = group_level;
    search->named = group > 1 ? 1u << group_level : 0;
    uint32_t unit = 1;
    uint32_t at = 0;
    for (uint32_t level = 0; level <= PHX_DEPTH_MAX; ++level) {
        unit = level == group_level ? group : unit;
        for (; at < count && slices[at].level == level && !PHX_MUTANT_SLICE_IGNORED; ++at) {
            unit = slices[at].size;
            search->named |= unit > 1 ? 1u << level : 0;
        }
        search->unit[level] = unit;
    }
}

phx_run phx_search_range(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    if (search->scope_level > tree->depth) {
        return (phx_run){0, tree->level[level].count};
    }
    return phx_descendants(tree, search->scope_level, search->scope_vertex, level);
}

/* A row of limits comes into force at a level. */
static void note_limit(phx_search *search, uint32_t level, const int32_t *row)
{
    search->limited = 1;
    search->limit_on[level] = !(PHX_MUTANT_LIMIT_IGNORED && level > 1);
    search->limit[level] = row;
}

/* Vertices of a level whose limits a search can ask for: those in its scope and above it. */
static phx_run limits_asked(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    if (level <= search->scope_level || search->scope_level > planner->tree->depth) {
        return phx_search_range(planner, search, level);
    }
    const uint32_t above =
        phx_ancestor(planner->tree, search->scope_level, search->scope_vertex, level);
    return (phx_run){above, 1};
}

/* Leaves that a row forbids are not allowed. */
static void forbid_leaves(phx_planner *planner, phx_run leaves, const int32_t *row)
{
    for (uint32_t leaf = leaves.first; leaf < leaves.first + leaves.count; ++leaf) {
        if (row[leaf] <= 0) {
            phx_bit_clear(planner->allowed, leaf);
        }
    }
}

void phx_search_limit(phx_planner *planner, phx_search *search, const int32_t *const *limits)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t level = 0; limits != NULL && level <= tree->visible_depth; ++level) {
        if (limits[level] == NULL) {
            continue;
        }
        const uint32_t inner = tree->internal[level];
        note_limit(search, inner, limits[level]);
        if (inner == 0) {
            const phx_run leaves = limits_asked(planner, search, 0);
            phx_bits_fill(planner->allowed, leaves.first, leaves.count, 1);
            forbid_leaves(planner, leaves, limits[level]);
        }
    }
}

void phx_search_narrow(phx_planner *planner, phx_search *search, const int32_t *const *limits)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t level = 0; limits != NULL && level <= tree->visible_depth; ++level) {
        if (limits[level] == NULL) {
            continue;
        }
        const uint32_t inner = tree->internal[level];
        const int on = search->limit_on[inner];
        const phx_run asked = limits_asked(planner, search, inner);
        note_limit(search, inner, inner == 0 ? limits[level] : planner->limit[inner]);
        if (inner == 0) {
            if (!on) {
                phx_bits_fill(planner->allowed, asked.first, asked.count, 1);
            }
            forbid_leaves(planner, asked, limits[level]);
            continue;
        }
        int32_t *own = planner->limit[inner];
        for (uint32_t vertex = asked.first; vertex < asked.first + asked.count; ++vertex) {
            own[vertex] =
                on && own[vertex] < limits[level][vertex] ? own[vertex] : limits[level][vertex];
        }
    }
}

void phx_search_own_limits(phx_planner *planner, phx_search *search)
{
    for (uint32_t level = 1; level <= planner->tree->depth; ++level) {
        if (search->limit_on[level]) {
            const phx_run asked = limits_asked(planner, search, level);
            memcpy(planner->limit[level] + asked.first, search->limit[level] + asked.first,
                   asked.count * sizeof(int32_t));
            search->limit[level] = planner->limit[level];
        }
    }
}

void phx_search_charge(phx_planner *planner, const phx_search *search, uint32_t first,
                       uint32_t count)
{
    for (uint32_t leaf = first; search->limited && leaf < first + count; ++leaf) {
        uint32_t vertex = leaf;
        for (uint32_t level = 1; level <= planner->tree->depth; ++level) {
            vertex = phx_parent(planner->tree, level - 1, vertex);
            int32_t *left = &planner->limit[level][vertex];
            *left -= search->limit_on[level] && *left > INT32_MIN;
        }
    }
}

/* Whether leaves cut in address order keep the groups, and no limit is in the way. */
static int cut_is_sound(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_level *levels = planner->tree->level;
    for (uint32_t named = search->named; named != 0; named &= named - 1) {
        const uint32_t at = phx_ctz(named);
        const int aligned = levels[at].leaves != 0 && levels[at].leaves % search->unit[at] == 0;
        if (levels[at].phantoms != 0 || (at < level && !aligned)) {
            return 0;
        }
    }
    return search->rule == PHX_SMALLEST && search->rails == 0 && !search->limited &&
           !(search->balanced != 0 && search->balanced < level) &&
           !(search->bounded && levels[search->within].phantoms != 0);
}

/* A vertex that may hold the gang, by what is known without looking below it. */
typedef struct candidate {
    uint32_t vertex;
    uint32_t misplaced; /* 1: has not the rails that the ranks had */
    uint32_t available; /* the fullest vertex goes first (ranks it may hold at most), */
    uint32_t around;    /* then the one in the fullest parent, then the lowest address */
} candidate;

static int comes_before(const candidate *one, const candidate *other)
{
    if (one->misplaced != other->misplaced) {
        return one->misplaced < other->misplaced;
    }
    if (one->available != other->available) {
        return one->available < other->available;
    }
    if (one->around != other->around) {
        return one->around < other->around;
    }
    return PHX_MUTANT_LAST_TIE ? one->vertex > other->vertex : one->vertex < other->vertex;
}

static candidate describe(const phx_planner *planner, const phx_search *search, uint32_t level,
                          uint32_t vertex, uint32_t available)
{
    candidate made = {vertex, 0, 0, 0};
    if (search->rule == PHX_LOWEST) {
        return made;
    }
    made.available = available;
    if (search->rails != 0 && level == 1) {
        const uint64_t mask = phx_host_mask(planner, search, vertex);
        made.misplaced = phx_popcount(phx_on_rails(planner, search, vertex, mask)) < search->need;
    }
    if (level < planner->tree->depth && search->rule == PHX_SMALLEST) {
        const uint32_t parent = phx_parent(planner->tree, level, vertex);
        made.around = phx_space_count(&planner->space, level + 1, parent);
    }
    return made;
}

/* Ranks a vertex may hold at most: its available leaves; where a group takes a whole group domain,
 * those of its whole ones. */
static uint32_t bound_of(const phx_planner *planner, const phx_search *search, uint32_t level,
                         uint32_t vertex, uint32_t available)
{
    const phx_tree *tree = planner->tree;
    const uint32_t groups = search->group_level;
    if (level <= groups || search->group != tree->level[groups].leaves_max) {
        return available;
    }
    const uint32_t leaf = phx_leaf_first(tree, level, vertex);
    const uint32_t last = leaf + phx_leaf_count(tree, level, vertex) - 1;
    const uint32_t first = phx_ancestor(tree, 0, leaf, groups);
    const uint32_t count = phx_ancestor(tree, 0, last, groups) + 1 - first;
    const uint32_t whole = phx_bits_count(planner->space.whole[groups], first, count);
    return whole * search->group < available ? whole * search->group : available;
}

/* The first vertex from `vertex` on with at least `floor` available leaves, or end. */
static uint32_t next_available(const phx_planner *planner, uint32_t level, uint32_t vertex,
                               uint32_t end, uint32_t floor)
{
    const phx_tree *tree = planner->tree;
    if (level >= 2) {
        const uint32_t *available = planner->space.free_count[level];
        while (vertex < end && available[vertex] < floor) {
            ++vertex;
        }
        return vertex;
    }
    while (vertex < end && phx_space_count(&planner->space, 1, vertex) < floor) {
        const uint32_t parent = tree->depth < 2 ? 0 : phx_parent(tree, 1, vertex);
        const int full = tree->depth >= 2 && planner->space.free_count[2][parent] < floor;
        vertex =
            full ? phx_child_first(tree, 2, parent) + phx_child_count(tree, 2, parent) : vertex + 1;
    }
    return vertex < end ? vertex : end;
}

/* The first candidate in the order of preference that may hold at least `floor` ranks. known: its
 * capacity is filled and holds the gang. */
static int next_candidate(phx_planner *planner, const phx_search *search, uint32_t level,
                          uint32_t floor, int known, candidate *best)
{
    const phx_run range = phx_search_range(planner, search, level);
    const uint32_t end = range.first + range.count;
    int found = 0;
    for (uint32_t vertex = next_available(planner, level, range.first, end, floor); vertex < end;
         vertex = next_available(planner, level, vertex + 1, end, floor)) {
        const uint32_t available = phx_space_count(&planner->space, level, vertex);
        const uint32_t bound = bound_of(planner, search, level, vertex, available);
        if (bound < floor || phx_limit_of(search, level, vertex) < search->need ||
            (known && phx_cap_of(planner, level, vertex) < search->need)) {
            continue;
        }
        const candidate made = describe(planner, search, level, vertex, bound);
        if ((!found || comes_before(&made, best)) &&
            phx_ancestors_allow(planner, search, level, vertex)) {
            *best = made;
            found = 1;
        }
    }
    return found;
}

/* Capacities of the level's vertices that have enough available leaves. */
static void fill_candidates(phx_planner *planner, const phx_search *search, uint32_t level)
{
    const int by_parent = level == 1 && search->scope_level > 1 && planner->tree->depth > 1;
    const uint32_t filled = by_parent ? 2 : level;
    const phx_run range = phx_search_range(planner, search, filled);
    for (uint32_t vertex = range.first; vertex < range.first + range.count; ++vertex) {
        if (phx_space_count(&planner->space, filled, vertex) >= search->need) {
            phx_caps_fill(planner, search, filled, vertex);
        }
    }
}

/* The vertex of the level that a union goes to. The fullest candidate is looked into; if it falls
 * short, the fullest that may hold that much more; after a few the level is filled once. */
static uint32_t choose(phx_planner *planner, const phx_search *search, uint32_t level)
{
    candidate best;
    uint32_t floor = search->need;
    const uint32_t tries = search->rule == PHX_SMALLEST && search->rails == 0 ? LAZY_TRIES : 0;
    for (uint32_t tried = 0; tried < tries; ++tried) {
        if (!next_candidate(planner, search, level, floor, 0, &best)) {
            if (tried == 0) {
                return PHX_NONE;
            }
            break;
        }
        phx_caps_fill(planner, search, level, best.vertex);
        const uint32_t cap = phx_cap_of(planner, level, best.vertex);
        if (cap >= search->need) {
            return best.vertex;
        }
        floor = best.available + (search->need - cap);
    }
    fill_candidates(planner, search, level);
    return next_candidate(planner, search, level, search->need, 1, &best) ? best.vertex : PHX_NONE;
}

static void answer(phx_search *search, uint32_t level, uint32_t low, uint32_t high)
{
    search->level = level;
    search->low = low;
    search->high = high;
}

/* One block for the whole gang, from the index. */
static int pick_block(phx_planner *planner, phx_search *search, uint32_t level)
{
    const uint32_t first = cut_is_sound(planner, search, level)
                               ? phx_block_best(&planner->space, search->need, level,
                                                search->scope_level, search->scope_vertex)
                               : PHX_NONE;
    if (first != PHX_NONE) {
        phx_bits_fill(search->picks, first, search->need, 1);
        answer(search, level, first, first + search->need);
    }
    return first != PHX_NONE;
}

phx_status phx_search_run(phx_planner *planner, phx_search *search)
{
    const phx_tree *tree = planner->tree;
    const uint32_t end =
        search->scope_level < search->within ? search->scope_level : search->within;
    if (search->need > tree->level[end].leaves_max ||
        (search->group > 1 && search->group_level == 0)) {
        return PHX_MISFIT;
    }
    phx_caps_start(planner);
    for (uint32_t level = search->start; level <= end; ++level) {
        if (tree->level[level].leaves_max < search->need) {
            continue;
        }
        if (pick_block(planner, search, level)) {
            return PHX_OK;
        }
        const uint32_t vertex = choose(planner, search, level);
        if (vertex != PHX_NONE) {
            const uint32_t low = phx_leaf_first(tree, level, vertex);
            phx_pick_shares(planner, search, level, vertex, search->need);
            answer(search, level, low, low + phx_leaf_count(tree, level, vertex));
            return PHX_OK;
        }
    }
    return PHX_MISFIT;
}

/* Whether every available leaf counts: then a capacity is a count that is kept anyway. */
static int every_leaf_counts(const phx_planner *planner, const phx_search *search)
{
    const phx_level *levels = planner->tree->level;
    uint32_t barred = 0;
    for (uint32_t named = search->named; named != 0; named &= named - 1) {
        barred |= levels[phx_ctz(named)].phantoms;
    }
    return (search->named == 0 || (search->loose && barred == 0)) && !search->limited &&
           !(search->bounded && levels[search->within].phantoms != 0);
}

/* Ranks one vertex could hold; hosts are filled by the caller where there are levels above them. */
static uint32_t ranks_in(phx_planner *planner, const phx_search *search, uint32_t level,
                         uint32_t vertex)
{
    if (level > 1 && every_leaf_counts(planner, search)) {
        return phx_space_count(&planner->space, level, vertex);
    }
    if (level > 1 || planner->tree->depth == 1) {
        phx_caps_fill(planner, search, level, vertex);
    }
    return phx_cap_of(planner, level, vertex);
}

uint32_t phx_search_tightest(phx_planner *planner, phx_search *search, uint32_t level)
{
    uint32_t best = PHX_NONE;
    uint32_t fewest = 0;
    const phx_run range = phx_search_range(planner, search, level);
    phx_caps_start(planner);
    for (uint32_t vertex = range.first; vertex < range.first + range.count; ++vertex) {
        if (phx_space_count(&planner->space, level, vertex) < search->need) {
            continue;
        }
        if (level == 1) {
            phx_caps_fill(planner, search, 1, vertex);
        }
        const uint32_t ranks = ranks_in(planner, search, level, vertex);
        if (ranks >= search->need && phx_ancestors_allow(planner, search, level, vertex) &&
            (best == PHX_NONE || ranks < fewest)) {
            best = vertex;
            fewest = ranks;
        }
    }
    return best;
}

uint32_t phx_search_best(phx_planner *planner, const phx_search *search, uint32_t level,
                         uint32_t *vertex)
{
    uint32_t most = 0;
    *vertex = PHX_NONE;
    const phx_run range = phx_search_range(planner, search, level);
    for (uint32_t at = range.first; at < range.first + range.count; ++at) {
        if (level > 1 && *vertex != PHX_NONE &&
            phx_space_count(&planner->space, level, at) <= most) {
            continue;
        }
        const uint32_t ranks = ranks_in(planner, search, level, at);
        if (*vertex == PHX_NONE || ranks > most) {
            most = ranks;
            *vertex = at;
        }
    }
    return most;
}
