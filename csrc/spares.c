#include "planner.h"

/* Whether a vertex is a better spare than another: larger, then the higher address. */
static int outranks(const phx_tree *tree, uint32_t size, uint32_t vertex, uint32_t other)
{
    const uint32_t leaves = phx_leaf_count(tree, size, vertex);
    const uint32_t others = phx_leaf_count(tree, size, other);
    return leaves != others ? leaves > others : vertex > other;
}

/* The highest member of a bitmap in first .. end - 1, or PHX_NONE. */
static uint32_t highest(const uint64_t *members, uint32_t first, uint32_t end)
{
    for (uint32_t at = end; at > first;) {
        const uint32_t low = (at - 1) & ~63u;
        const uint32_t start = low > first ? low : first;
        const uint64_t word = phx_bits_get(members, start, at - start);
        if (word != 0) {
            return start + 63 - (uint32_t)__builtin_clzll(word);
        }
        at = start;
    }
    return PHX_NONE;
}

/* The best (most = 1) or worst member of a bitmap inside a range, as a spare. */
static uint32_t extreme(const phx_tree *tree, uint32_t size, const uint64_t *members, phx_run range,
                        int most)
{
    uint32_t found = PHX_NONE;
    const uint32_t end = range.first + range.count;
    if (tree->level[size].leaves != 0 && tree->level[size].phantoms == 0) {
        const uint32_t lowest = most ? end : phx_bits_next(members, range.first, end);
        return most ? highest(members, range.first, end) : lowest < end ? lowest : PHX_NONE;
    }
    for (uint32_t at = phx_bits_next(members, range.first, end); at < end;
         at = phx_bits_next(members, at + 1, end)) {
        if (phx_is_phantom(tree, size, at)) {
            continue;
        }
        if (found == PHX_NONE || outranks(tree, size, at, found) == most) {
            found = at;
        }
    }
    return found;
}

static void mark(phx_planner *planner, uint32_t domain, uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    const uint32_t size = planner->count->spare_size;
    phx_space_take(&planner->space, phx_leaf_first(tree, size, vertex),
                   phx_leaf_count(tree, size, vertex));
    phx_bit_set(planner->spare, vertex);
    ++planner->spare_held[domain];
    --planner->count->spare_missing;
}

static void unmark(phx_planner *planner, uint32_t vertex);

static void refill_domain(phx_planner *planner, uint32_t domain)
{
    const phx_tree *tree = planner->tree;
    const uint32_t size = planner->count->spare_size;
    const phx_run range = phx_descendants(tree, planner->count->spare_per, domain, size);
    uint32_t best = PHX_NONE;
    while (planner->spare_held[domain] < planner->spare_wanted[domain]) {
        best = extreme(tree, size, planner->space.whole[size], range, 1);
        if (best == PHX_NONE) {
            break;
        }
        mark(planner, domain, best);
    }
    uint32_t worst = extreme(tree, size, planner->spare, range, 0);
    while (worst != PHX_NONE) {
        best = extreme(tree, size, planner->space.whole[size], range, 1);
        if (best == PHX_NONE || !outranks(tree, size, best, worst)) {
            break;
        }
        unmark(planner, worst);
        phx_space_give(&planner->space, phx_leaf_first(tree, size, worst),
                       phx_leaf_count(tree, size, worst));
        mark(planner, domain, best);
        worst = extreme(tree, size, planner->spare, range, 0);
    }
    planner->spare_lowest[domain] = tree->level[size].leaves != 0 && worst != PHX_NONE ? worst : 0;
}

/* Vertices of a range that stand for real domains. */
static uint32_t real_count(const phx_tree *tree, uint32_t level, phx_run range)
{
    uint32_t count = range.count;
    for (uint32_t at = range.first; at < range.first + range.count; ++at) {
        count -= (uint32_t)phx_is_phantom(tree, level, at);
    }
    return count;
}

void phx_spares_start(phx_planner *planner)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    if (count->spare_count == 0) {
        return;
    }
    for (uint32_t domain = 0; domain < tree->level[count->spare_per].count; ++domain) {
        const phx_run range = phx_descendants(tree, count->spare_per, domain, count->spare_size);
        const int enough = real_count(tree, count->spare_size, range) > count->spare_count;
        const int real = !phx_is_phantom(tree, count->spare_per, domain);
        planner->spare_wanted[domain] = enough && real ? count->spare_count : 0;
        planner->count->spare_missing += planner->spare_wanted[domain];
        refill_domain(planner, domain);
    }
}

void phx_spares_refill(phx_planner *planner, uint32_t first, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    if (planner->count->spare_count == 0 || PHX_MUTANT_LAZY_REFILL) {
        return;
    }
    const uint32_t size = planner->count->spare_size;
    const uint32_t per = planner->count->spare_per;
    const uint32_t vertex = phx_ancestor(tree, 0, first, size);
    const uint32_t end = phx_ancestor(tree, 0, first + count - 1, size);
    const uint32_t last = phx_ancestor(tree, size, end, per);
    for (uint32_t domain = phx_ancestor(tree, size, vertex, per); domain <= last; ++domain) {
        if (planner->spare_held[domain] < planner->spare_wanted[domain] ||
            end >= planner->spare_lowest[domain]) {
            refill_domain(planner, domain);
        }
    }
}

/* The vertex stops being a spare; its leaves are for the caller to settle. */
static void unmark(phx_planner *planner, uint32_t vertex)
{
    const uint32_t domain =
        phx_ancestor(planner->tree, planner->count->spare_size, vertex, planner->count->spare_per);
    phx_bit_clear(planner->spare, vertex);
    --planner->spare_held[domain];
    ++planner->count->spare_missing;
}

void phx_spare_drop(phx_planner *planner, uint32_t vertex)
{
    const uint32_t size = planner->count->spare_size;
    const uint32_t first = phx_leaf_first(planner->tree, size, vertex);
    const uint32_t count = phx_leaf_count(planner->tree, size, vertex);
    unmark(planner, vertex);
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        phx_refresh_leaf(planner, leaf);
    }
}

uint32_t phx_spares_open(phx_planner *planner, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    const uint32_t size = planner->count->spare_size;
    if (planner->count->spare_count == 0 || level < size) {
        return 0;
    }
    uint32_t opened = 0;
    const phx_run range = phx_descendants(tree, level, vertex, size);
    const uint32_t end = range.first + range.count;
    for (uint32_t at = phx_bits_next(planner->spare, range.first, end); at < end;
         at = phx_bits_next(planner->spare, at + 1, end)) {
        unmark(planner, at);
        phx_bit_set(planner->opened, at);
        phx_space_give(&planner->space, phx_leaf_first(tree, size, at),
                       phx_leaf_count(tree, size, at));
        ++opened;
    }
    return opened;
}

void phx_spares_close_unused(phx_planner *planner, uint32_t level, uint32_t vertex,
                             const uint64_t *kept)
{
    const phx_tree *tree = planner->tree;
    const uint32_t size = planner->count->spare_size;
    if (planner->count->spare_count == 0 || level < size) {
        return;
    }
    const phx_run range = phx_descendants(tree, level, vertex, size);
    const uint32_t end = range.first + range.count;
    for (uint32_t at = phx_bits_next(planner->opened, range.first, end); at < end;
         at = phx_bits_next(planner->opened, at + 1, end)) {
        const uint32_t first = phx_leaf_first(tree, size, at);
        const uint32_t count = phx_leaf_count(tree, size, at);
        if (phx_bits_next(kept, first, first + count) < first + count) {
            continue;
        }
        const uint32_t domain = phx_ancestor(tree, size, at, planner->count->spare_per);
        phx_bit_clear(planner->opened, at);
        phx_space_take(&planner->space, first, count);
        phx_bit_set(planner->spare, at);
        ++planner->spare_held[domain];
        --planner->count->spare_missing;
    }
}
