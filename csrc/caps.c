#include "caps.h"

#include <string.h>

/* Size of what must be whole in a vertex of a level. */
PHX_INLINE uint32_t unit_of(const phx_search *search, uint32_t level)
{
    return search->loose || PHX_MUTANT_GROUP_ROUNDING ? 1 : search->unit[level];
}

/* Whole units in `ranks`, as ranks, for a vertex of this level. */
PHX_INLINE uint32_t rounded(const phx_search *search, uint32_t level, uint32_t ranks)
{
    const uint32_t unit = unit_of(search, level);
    return unit == 1 ? ranks : ranks - ranks % unit;
}

PHX_INLINE int is_barred(const phx_tree *tree, const phx_search *search, uint32_t level,
                         uint32_t vertex)
{
    return (((search->named >> level) & 1) != 0 || (level == search->within && search->bounded)) &&
           phx_is_phantom(tree, level, vertex);
}

PHX_INLINE uint32_t bounded_cap(const phx_planner *planner, const phx_search *search,
                                uint32_t level, uint32_t vertex, uint32_t ranks)
{
    const uint32_t limit = phx_limit_of(search, level, vertex);
    ranks = ranks < limit ? ranks : limit;
    return is_barred(planner->tree, search, level, vertex) ? 0 : rounded(search, level, ranks);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Whether a host is one byte of the free bitmap and its capacity the byte's set bits, cut to a
 * power of two: then eight hosts are one word of arithmetic. */
static int hosts_are_bytes(const phx_planner *planner, const phx_search *search)
{
    const uint32_t unit = unit_of(search, 1);
    return planner->tree->level[1].fanout == 8 && planner->tree->level[1].phantoms == 0 &&
           !search->limit_on[0] && !search->limit_on[1] && (unit & (unit - 1)) == 0;
}

static uint32_t fill_byte_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                                uint32_t count)
{
    const unsigned char *bytes = (const unsigned char *)planner->space.whole[0] + first;
    const uint32_t unit = unit_of(search, 1);
    const int none = unit > 8;
    const uint64_t kept = (UINT64_C(0x0f) & ~(uint64_t)(unit - 1)) * UINT64_C(0x0101010101010101);
    uint32_t sum = 0;
    for (uint32_t at = 0; at < count; at += 8) {
        const uint32_t here = count - at < 8 ? count - at : 8;
        uint64_t word = 0;
        memcpy(&word, bytes + at, here);
        word -= (word >> 1) & UINT64_C(0x5555555555555555);
        word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
        word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
        word = none ? 0 : word & kept;
        memcpy(planner->cap_host + first + at, &word, here);
        sum += (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
    }
    return sum;
}
#else
static int hosts_are_bytes(const phx_planner *planner, const phx_search *search)
{
    (void)planner;
    (void)search;
    return 0;
}

static uint32_t fill_byte_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                                uint32_t count)
{
    (void)planner;
    (void)search;
    (void)first;
    return count;
}
#endif

/* Ranks that make whole units as a mask: `ranks & mask`, or 0 where a unit is no power of two.
 * A division a host would cost more than all else that is done for it. */
static uint32_t unit_mask(const phx_search *search)
{
    const uint32_t unit = unit_of(search, 1);
    return (unit & (unit - 1)) == 0 ? ~(unit - 1) : 0;
}

/* Hosts that are no phantoms, without branches: which of them are free is anybody's guess. */
static uint32_t fill_masked_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                                  uint32_t count, uint32_t mask)
{
    const phx_tree *tree = planner->tree;
    const int32_t *limits = search->limit_on[1] ? search->limit[1] : NULL;
    uint32_t leaf = phx_child_first(tree, 1, first);
    uint32_t sum = 0;
    for (uint32_t host = first; host < first + count; ++host) {
        const uint32_t leaves = phx_child_count(tree, 1, host);
        uint64_t available = phx_bits_get(planner->space.whole[0], leaf, leaves);
        available &= search->limit_on[0] ? phx_bits_get(planner->allowed, leaf, leaves) : available;
        uint32_t ranks = phx_popcount(available);
        if (limits != NULL) {
            const uint32_t limit = limits[host] < 0 ? 0 : (uint32_t)limits[host];
            ranks = ranks < limit ? ranks : limit;
        }
        ranks &= mask;
        planner->cap_host[host] = (uint8_t)ranks;
        sum += ranks;
        leaf += leaves;
    }
    return sum;
}

/* Whether a unit takes a whole host of the largest size: then only wholly free hosts count. */
static int units_are_hosts(const phx_planner *planner, const phx_search *search)
{
    const phx_level *hosts = &planner->tree->level[1];
    const uint32_t unit = unit_of(search, 1);
    return unit == hosts->leaves_max && unit > 1 && !search->limit_on[0] && hosts->phantoms == 0;
}

static uint32_t fill_whole_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                                 uint32_t count)
{
    const int every = planner->tree->level[1].leaves != 0 && !search->limit_on[1];
    const uint32_t unit = unit_of(search, 1);
    uint32_t sum = 0;
    memset(planner->cap_host + first, 0, count);
    for (uint32_t at = 0; at < count; at += 64) {
        const uint32_t here = count - at < 64 ? count - at : 64;
        uint64_t whole = phx_bits_get(planner->space.whole[1], first + at, here);
        for (; whole != 0; whole &= whole - 1) {
            const uint32_t host = first + at + phx_ctz(whole);
            if (every || (phx_child_count(planner->tree, 1, host) == unit &&
                          phx_limit_of(search, 1, host) >= unit)) {
                planner->cap_host[host] = (uint8_t)unit;
                sum += unit;
            }
        }
    }
    return sum;
}

/* Capacities of hosts first .. first + count - 1; their sum. */
static uint32_t fill_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                           uint32_t count)
{
    if (units_are_hosts(planner, search)) {
        return fill_whole_hosts(planner, search, first, count);
    }
    if (hosts_are_bytes(planner, search)) {
        return fill_byte_hosts(planner, search, first, count);
    }
    const uint32_t mask = unit_mask(search);
    if (mask != 0 && planner->tree->level[1].phantoms == 0) {
        return fill_masked_hosts(planner, search, first, count, mask);
    }
    uint32_t sum = 0;
    for (uint32_t host = first; host < first + count; ++host) {
        const uint32_t ranks = phx_popcount(phx_host_mask(planner, search, host));
        const uint32_t cap = ranks == 0 ? 0 : bounded_cap(planner, search, 1, host, ranks);
        planner->cap_host[host] = (uint8_t)cap;
        sum += cap;
    }
    return sum;
}

/* A vertex of level 2 and its hosts; a full one costs one comparison. */
static void fill_parent(phx_planner *planner, const phx_search *search, uint32_t vertex)
{
    const uint32_t first = phx_child_first(planner->tree, 2, vertex);
    const uint32_t count = phx_child_count(planner->tree, 2, vertex);
    uint32_t sum = 0;
    if (phx_bit(planner->known, vertex)) {
        return;
    }
    phx_bit_set(planner->known, vertex);
    if (planner->space.free_count[2][vertex] == 0) {
        memset(planner->cap_host + first, 0, count);
    } else {
        sum = fill_hosts(planner, search, first, count);
    }
    planner->cap[2][vertex] = bounded_cap(planner, search, 2, vertex, sum);
}

void phx_caps_start(phx_planner *planner)
{
    if (planner->tree->depth >= 2) {
        const size_t words = PHX_WORDS((size_t)planner->tree->level[2].count);
        memset(planner->known, 0, words * sizeof *planner->known);
    }
}

void phx_caps_fill(phx_planner *planner, const phx_search *search, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    if (level <= 1) {
        if (level == 1) {
            fill_hosts(planner, search, vertex, 1);
        }
        return;
    }
    phx_run below[PHX_DEPTH_MAX + 1];
    below[level] = (phx_run){vertex, 1};
    for (uint32_t at = level; at > 2; --at) {
        const uint32_t last = below[at].first + below[at].count - 1;
        const uint32_t end = phx_child_first(tree, at, last) + phx_child_count(tree, at, last);
        below[at - 1].first = phx_child_first(tree, at, below[at].first);
        below[at - 1].count = end - below[at - 1].first;
    }
    for (uint32_t at = 0; at < below[2].count; ++at) {
        fill_parent(planner, search, below[2].first + at);
    }
    for (uint32_t up = 3; up <= level; ++up) {
        for (uint32_t at = below[up].first; at < below[up].first + below[up].count; ++at) {
            const uint32_t first = phx_child_first(tree, up, at);
            const uint32_t end = first + phx_child_count(tree, up, at);
            uint32_t sum = 0;
            for (uint32_t child = first; child < end; ++child) {
                sum += planner->cap[up - 1][child];
            }
            planner->cap[up][at] = bounded_cap(planner, search, up, at, sum);
        }
    }
}

int phx_ancestors_allow(const phx_planner *planner, const phx_search *search, uint32_t level,
                        uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    if (!search->limited && !search->bounded && search->named == 0) {
        return 1;
    }
    for (uint32_t at = level + 1; at <= tree->depth; ++at) {
        vertex = phx_parent(tree, at - 1, vertex);
        if (is_barred(tree, search, at, vertex) ||
            phx_limit_of(search, at, vertex) < search->need) {
            return 0;
        }
    }
    return 1;
}
