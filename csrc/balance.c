#include "caps.h"

/* Vertices of the level that a gang is spread over, and their capacities. */
typedef struct row {
    const phx_planner *planner;
    uint32_t *share;
    uint32_t level;
    phx_run range;
} row;

static uint32_t cap_at(const row *over, uint32_t at)
{
    return phx_cap_of(over->planner, over->level, over->range.first + at);
}

/* Ranks of the vertices that could hold at least `low`, and how many these are. */
static uint32_t ranks_from(const row *over, uint32_t low, uint32_t *count)
{
    uint32_t sum = 0;
    *count = 0;
    for (uint32_t at = 0; at < over->range.count; ++at) {
        const uint32_t cap = cap_at(over, at);
        sum += cap >= low ? cap : 0;
        *count += cap >= low;
    }
    return sum;
}

/* The highest bound whose vertices hold all ranks: the fewest vertices are those above it and some
 * of those at it. */
static uint32_t lowest_used(const row *over, uint32_t need)
{
    uint32_t low = 1;
    uint32_t high = over->planner->tree->level[over->level].leaves_max;
    uint32_t count = 0;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (ranks_from(over, middle, &count) >= need) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Ranks that all vertices above `bound` and `ties` at it take when each takes at most `most`. */
static uint32_t filled(const row *over, uint32_t bound, uint32_t ties, uint32_t most)
{
    uint32_t sum = ties * (bound < most ? bound : most);
    for (uint32_t at = 0; at < over->range.count; ++at) {
        const uint32_t cap = cap_at(over, at);
        sum += cap <= bound ? 0 : cap < most ? cap : most;
    }
    return sum;
}

/* The most units each may take so that together they do not take too much. */
static uint32_t water_level(const row *over, uint32_t bound, uint32_t ties, uint32_t unit,
                            uint32_t need)
{
    uint32_t low = 0;
    uint32_t high = need / unit;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (filled(over, bound, ties, middle * unit) <= need) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Unused vertices that could hold low .. high ranks. */
static uint32_t unused(const row *over, uint32_t low, uint32_t high)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < over->range.count; ++at) {
        const uint32_t cap = cap_at(over, at);
        count += over->share[at] == 0 && cap >= low && cap <= high;
    }
    return count;
}

/* `share` ranks to `count` vertices: to those with the fewest to spare, then by address. */
static void give(const row *over, uint32_t share, uint32_t count)
{
    uint32_t low = share;
    uint32_t high = over->planner->tree->level[over->level].leaves_max;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (unused(over, share, middle) >= count) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    uint32_t ties = count - (low > share ? unused(over, share, low - 1) : 0);
    for (uint32_t at = 0; at < over->range.count && count > 0; ++at) {
        const uint32_t cap = cap_at(over, at);
        if (over->share[at] != 0 || cap < share || cap > low || (cap == low && ties == 0)) {
            continue;
        }
        over->share[at] = share;
        ties -= cap == low;
        --count;
    }
}

int phx_spreads(const phx_search *search, uint32_t level)
{
    const uint32_t over = search->balanced;
    if (over == 0 || level <= over || PHX_MUTANT_UNEVEN) {
        return 0;
    }
    for (uint32_t at = over + 1; at < level; ++at) {
        if (search->limit_on[at] || ((search->named >> at) & 1) != 0) {
            return 0;
        }
    }
    return 1;
}

phx_run phx_spread(const phx_planner *planner, const phx_search *search, uint32_t level,
                   uint32_t vertex, uint32_t need)
{
    const uint32_t unit = search->unit[search->balanced];
    const row over = {planner, planner->share, search->balanced,
                      phx_descendants(planner->tree, level, vertex, search->balanced)};
    for (uint32_t at = 0; at < over.range.count; ++at) {
        over.share[at] = 0;
    }
    const uint32_t bound = lowest_used(&over, need);
    uint32_t above = 0;
    const uint32_t beyond = ranks_from(&over, bound + 1, &above);
    uint32_t ties = (need - beyond + bound - 1) / bound;
    const uint32_t even = unit * water_level(&over, bound, ties, unit, need);
    const uint32_t more = (need - filled(&over, bound, ties, even)) / unit;
    uint32_t level_ones = 0; /* vertices that are not full at the even share */
    ranks_from(&over, even > bound ? even : bound + 1, &level_ones);
    level_ones += bound >= even ? ties : 0;
    give(&over, even + unit, more);
    give(&over, even, level_ones - more);
    ties = bound < even ? ties : 0;
    for (uint32_t at = 0; at < over.range.count; ++at) {
        const uint32_t cap = cap_at(&over, at);
        if (over.share[at] == 0 && cap < even && (cap > bound || (cap == bound && ties > 0))) {
            over.share[at] = cap;
            ties -= cap == bound;
        }
    }
    return over.range;
}
