#include "caps.h"

/* Everything below a vertex of this many levels fits the walk's frames. */
typedef struct frame {
    uint32_t first; /* first vertex below that may have a share */
    uint32_t count;
    uint32_t level; /* of these */
    uint32_t at;
    const uint32_t *shares; /* own, or planner->share */
    uint32_t share[64];
} frame;

/* Shares of the children: all of the largest while one is not enough, then the tightest. */
static void fill_shares(const phx_planner *planner, frame *walk, uint32_t need)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < walk->count; ++at) {
        walk->share[at] = phx_cap_of(planner, walk->level, walk->first + at);
        sum += walk->share[at];
    }
    if (sum == need) {
        return;
    }
    uint64_t open = phx_low(walk->count);
    uint64_t full = 0;
    for (;;) {
        uint32_t largest = 64;
        uint32_t tightest = 64;
        for (uint64_t left = open; left != 0; left &= left - 1) {
            const uint32_t at = phx_ctz(left);
            if (largest == 64 || walk->share[at] > walk->share[largest]) {
                largest = at;
            }
            if (walk->share[at] >= need &&
                (tightest == 64 || walk->share[at] < walk->share[tightest])) {
                tightest = at;
            }
        }
        if (tightest != 64) {
            walk->share[tightest] = need;
            full |= UINT64_C(1) << tightest;
            break;
        }
        need -= walk->share[largest]; /* less than it, or it would have been the tightest */
        open &= ~(UINT64_C(1) << largest);
        full |= UINT64_C(1) << largest;
    }
    for (uint32_t at = 0; at < walk->count; ++at) {
        walk->share[at] = (full >> at) & 1 ? walk->share[at] : 0;
    }
}

/* Leaves of a host, out of `mask`, on the rails that the ranks had. */
uint64_t phx_on_rails(const phx_planner *planner, const phx_search *search, uint32_t host,
                      uint64_t mask)
{
    const uint32_t first = phx_child_first(planner->tree, 1, host);
    const uint8_t *rails = planner->tree->rails;
    uint64_t kept = 0;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const uint32_t at = phx_ctz(left);
        const uint32_t rail = rails == NULL ? at : rails[first + at] & 63u;
        kept |= ((search->rails >> rail) & 1) << at;
    }
    return kept;
}

/* `need` leaves of one host: the smallest run that is enough, or whole runs, longest first. */
static void pick_in_host(const phx_planner *planner, const phx_search *search, uint32_t host,
                         uint32_t need)
{
    const uint32_t base = phx_child_first(planner->tree, 1, host);
    uint64_t mask = phx_host_mask(planner, search, host);
    uint64_t aligned = search->rails == 0 ? 0 : phx_on_rails(planner, search, host, mask);
    for (; aligned != 0 && need > 0; aligned &= aligned - 1, --need) {
        phx_bit_set(search->picks, base + phx_ctz(aligned));
        mask &= ~(aligned & (0 - aligned));
    }
    while (need > 0) {
        uint32_t order = 0;
        while (order < PHX_ORDERS && ((1u << order) < need || phx_runs_of(mask, order) == 0)) {
            ++order;
        }
        if (order == PHX_ORDERS) {
            while (phx_runs_of(mask, --order) == 0) {
            }
        }
        const uint32_t at = phx_ctz(phx_runs_of(mask, order));
        const uint32_t width = need < (1u << order) ? need : 1u << order;
        phx_bits_fill(search->picks, base + at, width, 1);
        mask &= ~(phx_low(width) << at);
        need -= width;
    }
}

/* All that a vertex has, when every available leaf of it is wanted. */
static int pick_all(const phx_planner *planner, const phx_search *search, uint32_t level,
                    uint32_t vertex, uint32_t need)
{
    if (search->limited || phx_space_count(&planner->space, level, vertex) != need) {
        return 0;
    }
    uint32_t at = phx_leaf_first(planner->tree, level, vertex);
    uint32_t left = phx_leaf_count(planner->tree, level, vertex);
    while (left > 0) {
        const uint32_t shift = at & 63;
        const uint32_t here = left < 64 - shift ? left : 64 - shift;
        search->picks[at >> 6] |= planner->space.whole[0][at >> 6] & (phx_low(here) << shift);
        at += here;
        left -= here;
    }
    return 1;
}

static void open_frame(const phx_planner *planner, const phx_search *search, frame *walk,
                       uint32_t level, uint32_t vertex, uint32_t need)
{
    walk->at = 0;
    if (phx_spreads(search, level)) {
        const phx_run over = phx_spread(planner, search, level, vertex, need);
        walk->first = over.first;
        walk->count = over.count;
        walk->level = search->balanced;
        walk->shares = planner->share;
        return;
    }
    walk->first = phx_child_first(planner->tree, level, vertex);
    walk->count = phx_child_count(planner->tree, level, vertex);
    walk->level = level - 1;
    walk->shares = walk->share;
    fill_shares(planner, walk, need);
}

/* Walks down from the chosen vertex and picks the leaves of every share, in address order. */
void phx_pick_shares(const phx_planner *planner, const phx_search *search, uint32_t level,
                     uint32_t vertex, uint32_t need)
{
    frame stack[PHX_DEPTH_MAX];
    uint32_t used = 0;
    for (;;) {
        if (level == 1) {
            pick_in_host(planner, search, vertex, need);
        } else if (!pick_all(planner, search, level, vertex, need)) {
            frame *walk = &stack[used++];
            open_frame(planner, search, walk, level, vertex, need);
        }
        while (used > 0) {
            frame *walk = &stack[used - 1];
            while (walk->at < walk->count && walk->shares[walk->at] == 0) {
                ++walk->at;
            }
            if (walk->at < walk->count) {
                vertex = walk->first + walk->at;
                need = walk->shares[walk->at++];
                level = walk->level;
                break;
            }
            --used;
        }
        if (used == 0) {
            return;
        }
    }
}

void phx_pick_clear(const phx_search *search)
{
    const uint32_t end = PHX_WORDS(search->high);
    for (uint32_t word = search->low >> 6; word < end; ++word) {
        search->picks[word] = 0;
    }
}
