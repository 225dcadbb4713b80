#include "pack.h"

#include <string.h>

/* Everything below a vertex of this many levels fits the walk's frames. */
typedef struct frame {
    uint32_t first; /* first child */
    uint32_t count;
    uint32_t level; /* of the children */
    uint32_t at;
    uint32_t share[64];
} frame;

phx_search phx_search_of(const phx_planner *planner, const phx_request *request)
{
    phx_search search = {0};
    search.need = request->ranks;
    search.group = request->group;
    search.group_level = request->group_level;
    search.within = request->within;
    search.start = request->start;
    search.scope_level = planner->tree->depth + 1;
    search.rule = request->rule;
    search.bounded = request->bounded;
    search.picks = planner->pick;
    return search;
}

phx_run phx_search_range(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    if (search->scope_level > tree->depth) {
        return (phx_run){0, tree->level[level].count};
    }
    uint32_t first = search->scope_vertex;
    uint32_t end = first + 1;
    for (uint32_t at = search->scope_level; at > level; --at) {
        const uint32_t last = end - 1;
        end = phx_child_first(tree, at, last) + phx_child_count(tree, at, last);
        first = phx_child_first(tree, at, first);
    }
    return (phx_run){first, end - first};
}

void phx_search_limit(phx_planner *planner, phx_search *search, const int32_t *const *limits)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t level = 0; limits != NULL && level <= tree->visible_depth; ++level) {
        if (limits[level] == NULL) {
            continue;
        }
        const uint32_t inner = tree->internal[level];
        const uint32_t count = tree->level[inner].count;
        if (!search->limited) {
            search->limit_low = inner;
        }
        search->limited = 1;
        search->limit_on[inner] = !(PHX_MUTANT_LIMIT_IGNORED && inner > 1);
        if (inner > 0) {
            memcpy(planner->limit[inner], limits[level], count * sizeof(int32_t));
            continue;
        }
        memset(planner->allowed, 0, PHX_WORDS((size_t)count) * sizeof(uint64_t));
        for (uint32_t leaf = 0; leaf < count; ++leaf) {
            if (limits[level][leaf] > 0) {
                phx_bit_set(planner->allowed, leaf);
            }
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
            if (search->limit_on[level]) {
                --planner->limit[level][vertex];
            }
        }
    }
}

/* Available leaves of a host that no leaf limit forbids. */
PHX_INLINE uint64_t host_mask(const phx_planner *planner, const phx_search *search, uint32_t host)
{
    const phx_tree *tree = planner->tree;
    uint64_t mask = phx_space_mask(&planner->space, 1, host);
    if (search->limit_on[0]) {
        mask &= phx_bits_get(planner->allowed, phx_child_first(tree, 1, host),
                             phx_child_count(tree, 1, host));
    }
    return mask;
}

/* Whole groups in `ranks`, as ranks, for a vertex of this level. */
PHX_INLINE uint32_t rounded(const phx_search *search, uint32_t level, uint32_t ranks)
{
    if (level < search->group_level || search->loose || PHX_MUTANT_GROUP_ROUNDING) {
        return ranks;
    }
    return search->group == 1 ? ranks : ranks - ranks % search->group;
}

PHX_INLINE int is_barred(const phx_tree *tree, const phx_search *search, uint32_t level,
                         uint32_t vertex)
{
    return ((level == search->group_level && search->group > 1) ||
            (level == search->within && search->bounded)) &&
           phx_is_phantom(tree, level, vertex);
}

PHX_INLINE uint32_t bounded_cap(const phx_planner *planner, const phx_search *search,
                                uint32_t level, uint32_t vertex, uint32_t ranks)
{
    if (search->limit_on[level]) {
        const int32_t limit = planner->limit[level][vertex];
        const uint32_t bound = limit < 0 ? 0 : (uint32_t)limit;
        ranks = ranks < bound ? ranks : bound;
    }
    return is_barred(planner->tree, search, level, vertex) ? 0 : rounded(search, level, ranks);
}

/* Capacities of hosts first .. first + count - 1; their sum. */
static uint32_t fill_hosts(phx_planner *planner, const phx_search *search, uint32_t first,
                           uint32_t count)
{
    const phx_tree *tree = planner->tree;
    const int plain = !search->limit_on[0] && !search->limit_on[1] &&
                      (search->group_level > 1 || search->group == 1) &&
                      tree->level[1].phantoms == 0;
    uint32_t sum = 0;
    for (uint32_t host = first; host < first + count; ++host) {
        uint32_t ranks = phx_popcount(host_mask(planner, search, host));
        if (!plain) {
            ranks = bounded_cap(planner, search, 1, host, ranks);
        }
        planner->cap_host[host] = (uint8_t)ranks;
        sum += ranks;
    }
    return sum;
}

/* Capacity of one vertex of level 2 and of its hosts; full vertices cost one comparison. */
static void fill_parent_of_hosts(phx_planner *planner, const phx_search *search, uint32_t vertex)
{
    const uint32_t first = phx_child_first(planner->tree, 2, vertex);
    const uint32_t count = phx_child_count(planner->tree, 2, vertex);
    uint32_t sum = 0;
    if (planner->space.free_count[2][vertex] == 0) {
        memset(planner->cap_host + first, 0, count);
    } else {
        sum = fill_hosts(planner, search, first, count);
    }
    planner->cap[2][vertex] = bounded_cap(planner, search, 2, vertex, sum);
}

/* Capacities of every vertex of a level in the scope, from those of the level below; hosts are
 * filled together with their parents. */
static void fill_level(phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    const int has_parents = tree->depth >= 2 && search->scope_level >= 2;
    const phx_run range = phx_search_range(planner, search, level == 1 && has_parents ? 2 : level);
    if (level == 1 && !has_parents) {
        fill_hosts(planner, search, range.first, range.count);
        return;
    }
    for (uint32_t vertex = range.first; vertex < range.first + range.count && level != 2;
         ++vertex) {
        if (level == 1) {
            fill_parent_of_hosts(planner, search, vertex);
            continue;
        }
        const uint32_t first = phx_child_first(tree, level, vertex);
        const uint32_t end = first + phx_child_count(tree, level, vertex);
        uint32_t sum = 0;
        for (uint32_t child = first; child < end; ++child) {
            sum += planner->cap[level - 1][child];
        }
        planner->cap[level][vertex] = bounded_cap(planner, search, level, vertex, sum);
    }
}

PHX_INLINE uint32_t cap_of(const phx_planner *planner, uint32_t level, uint32_t vertex)
{
    return level == 1 ? planner->cap_host[vertex] : planner->cap[level][vertex];
}

/* Limits and phantoms above a vertex that its own capacity does not know of. */
static int ancestors_allow(const phx_planner *planner, const phx_search *search, uint32_t level,
                           uint32_t vertex, uint32_t need)
{
    const phx_tree *tree = planner->tree;
    for (uint32_t at = level + 1; at <= tree->depth; ++at) {
        vertex = phx_parent(tree, at - 1, vertex);
        if (is_barred(tree, search, at, vertex) ||
            (search->limit_on[at] && planner->limit[at][vertex] < (int32_t)need)) {
            return 0;
        }
    }
    return 1;
}

/* Leaves of the maximal block that holds a wholly available vertex. */
static uint32_t block_around(const phx_planner *planner, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    while (level < tree->depth) {
        const uint32_t parent = phx_parent(tree, level, vertex);
        if (!phx_bit(planner->space.whole[level + 1], parent)) {
            const uint64_t mask = phx_space_mask(&planner->space, level + 1, parent);
            const uint32_t child = phx_child_first(tree, level + 1, parent);
            uint32_t start = vertex - child;
            uint32_t width = 1;
            while (width < 32) {
                const uint32_t wider = start & ~(2 * width - 1);
                const uint64_t run = phx_low(2 * width) << wider;
                if ((mask & run) != run) {
                    break;
                }
                start = wider;
                width *= 2;
            }
            const uint32_t last = child + start + width - 1;
            return phx_leaf_first(tree, level, last) + phx_leaf_count(tree, level, last) -
                   phx_leaf_first(tree, level, child + start);
        }
        vertex = parent;
        ++level;
    }
    return phx_leaf_count(tree, level, vertex);
}

/* First leaf of the smallest run of children that alone holds `need`, its size in *leaves. */
static uint32_t block_inside(const phx_planner *planner, uint32_t level, uint32_t vertex,
                             uint32_t need, uint32_t *leaves)
{
    const phx_tree *tree = planner->tree;
    const uint64_t mask = phx_space_mask(&planner->space, level, vertex);
    const uint32_t child = phx_child_first(tree, level, vertex);
    uint32_t best = PHX_NONE;
    *leaves = PHX_NONE;
    for (uint32_t order = 0; order < PHX_ORDERS; ++order) {
        for (uint64_t runs = phx_runs_of(mask, order); runs != 0; runs &= runs - 1) {
            const uint32_t low = child + phx_ctz(runs);
            const uint32_t last = low + (1u << order) - 1;
            const uint32_t first = phx_leaf_first(tree, level - 1, low);
            const uint32_t size =
                phx_leaf_first(tree, level - 1, last) + phx_leaf_count(tree, level - 1, last) -
                first;
            if (size >= need && (size < *leaves || (size == *leaves && first < best))) {
                *leaves = size;
                best = first;
            }
        }
    }
    return best;
}

/* Whether leaves cut in address order keep the groups, and no limit is in the way. */
static int cut_is_sound(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_level *groups = &planner->tree->level[search->group_level];
    const int chain = search->group == 1 || level <= search->group_level ||
                      (groups->leaves != 0 && groups->leaves % search->group == 0);
    return chain && (!search->limited || search->limit_low >= level) && !search->limit_on[0] &&
           !(search->group > 1 && groups->phantoms != 0);
}

/* Leaves of a host, out of `mask`, on the rails that the ranks had. */
static uint64_t on_rails(const phx_planner *planner, const phx_search *search, uint32_t host,
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

typedef struct choice {
    uint32_t vertex;
    uint32_t first; /* of a block to cut, or PHX_NONE */
    uint32_t kind;  /* 0: one block, or the rails asked for; 1: a union */
    uint32_t residual;
    uint32_t leaves; /* of the vertex: among equal blocks the smaller vertex is cut */
} choice;

static choice judge(const phx_planner *planner, const phx_search *search, uint32_t level,
                    uint32_t vertex)
{
    const phx_tree *tree = planner->tree;
    const uint32_t leaves = phx_leaf_count(tree, level, vertex);
    choice made = {vertex, PHX_NONE, 1, cap_of(planner, level, vertex) - search->need, leaves};
    if (search->rule == PHX_FULLEST) {
        made.residual = phx_space_count(&planner->space, level, vertex);
    } else if (search->rule == PHX_LOWEST) {
        made.residual = 0;
        made.leaves = 0;
    } else if (search->rails != 0) {
        made.kind = level > 1 ||
                    phx_popcount(on_rails(planner, search, vertex,
                                          host_mask(planner, search, vertex))) < search->need;
    } else if (cut_is_sound(planner, search, level)) {
        uint32_t size = 0;
        if (phx_bit(planner->space.whole[level], vertex)) {
            made.first = phx_leaf_first(tree, level, vertex);
            size = block_around(planner, level, vertex);
        } else {
            made.first = block_inside(planner, level, vertex, search->need, &size);
        }
        made.kind = made.first == PHX_NONE;
        made.residual = made.kind == 0 ? size - search->need : made.residual;
    }
    return made;
}

static int is_better(const choice *made, const choice *best)
{
    if (best->vertex == PHX_NONE || made->kind != best->kind) {
        return best->vertex == PHX_NONE || made->kind < best->kind;
    }
    if (made->residual != best->residual) {
        return made->residual < best->residual;
    }
    return made->leaves < best->leaves ||
           (PHX_MUTANT_LAST_TIE && made->leaves == best->leaves);
}

static choice choose(const phx_planner *planner, const phx_search *search, uint32_t level)
{
    const phx_run range = phx_search_range(planner, search, level);
    const int above = search->limited || search->bounded || search->group > 1;
    choice best = {PHX_NONE, PHX_NONE, 1, 0, 0};
    for (uint32_t vertex = range.first; vertex < range.first + range.count; ++vertex) {
        if (cap_of(planner, level, vertex) < search->need ||
            (above && !ancestors_allow(planner, search, level, vertex, search->need))) {
            continue;
        }
        const choice made = judge(planner, search, level, vertex);
        if (is_better(&made, &best)) {
            best = made;
        }
    }
    return best;
}

/* Shares of the children: all of the largest while one is not enough, then the tightest. */
static void fill_shares(const phx_planner *planner, frame *walk, uint32_t need)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < walk->count; ++at) {
        walk->share[at] = cap_of(planner, walk->level, walk->first + at);
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
        need -= walk->share[largest];
        open &= ~(UINT64_C(1) << largest);
        full |= UINT64_C(1) << largest;
        if (need == 0) {
            break;
        }
    }
    for (uint32_t at = 0; at < walk->count; ++at) {
        walk->share[at] = (full >> at) & 1 ? walk->share[at] : 0;
    }
}

/* `need` leaves of one host: the smallest run that is enough, or whole runs, longest first. */
static void pick_in_host(const phx_planner *planner, const phx_search *search, uint32_t host,
                         uint32_t need)
{
    const uint32_t base = phx_child_first(planner->tree, 1, host);
    uint64_t mask = host_mask(planner, search, host);
    uint64_t aligned = search->rails == 0 ? 0 : on_rails(planner, search, host, mask);
    for (; aligned != 0 && need > 0; aligned &= aligned - 1, --need) {
        phx_bit_set(search->picks, base + phx_ctz(aligned));
        mask &= ~(aligned & (0 - aligned));
    }
    while (need > 0) {
        uint32_t order = 0;
        while (order < PHX_ORDERS &&
               ((1u << order) < need || phx_runs_of(mask, order) == 0)) {
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

/* Walks down from the chosen vertex and picks the leaves of every share, in address order. */
static void pick_shares(const phx_planner *planner, const phx_search *search, uint32_t level,
                        uint32_t vertex, uint32_t need)
{
    const phx_tree *tree = planner->tree;
    frame stack[PHX_DEPTH_MAX];
    uint32_t used = 0;
    for (;;) {
        if (level == 1) {
            pick_in_host(planner, search, vertex, need);
        } else if (!pick_all(planner, search, level, vertex, need)) {
            frame *walk = &stack[used++];
            walk->first = phx_child_first(tree, level, vertex);
            walk->count = phx_child_count(tree, level, vertex);
            walk->level = level - 1;
            walk->at = 0;
            fill_shares(planner, walk, need);
        }
        while (used > 0) {
            frame *walk = &stack[used - 1];
            while (walk->at < walk->count && walk->share[walk->at] == 0) {
                ++walk->at;
            }
            if (walk->at < walk->count) {
                vertex = walk->first + walk->at;
                need = walk->share[walk->at++];
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

static void answer(phx_search *search, uint32_t level, uint32_t vertex, uint32_t low,
                   uint32_t high)
{
    search->level = level;
    search->vertex = vertex;
    search->low = low;
    search->high = high;
}

static phx_status search_block(phx_planner *planner, phx_search *search)
{
    const phx_tree *tree = planner->tree;
    const phx_level *groups = &tree->level[search->group_level];
    if (!tree->uniform || search->limited || search->rule != PHX_SMALLEST ||
        (search->bounded && tree->level[search->within].phantoms != 0) ||
        !cut_is_sound(planner, search, groups->leaves_max >= search->need ? 1 : tree->depth)) {
        return PHX_MISFIT;
    }
    uint32_t shape = 0;
    while (shape < tree->shape_count && tree->shape[shape].leaves < search->need) {
        ++shape;
    }
    const uint32_t first = phx_block_find(&planner->space, search->need, shape,
                                          search->scope_level, search->scope_vertex);
    if (first == PHX_NONE) {
        return PHX_MISFIT;
    }
    phx_bits_fill(search->picks, first, search->need, 1);
    answer(search, search->start, phx_ancestor(tree, 0, first, search->start), first,
           first + search->need);
    return PHX_OK;
}

phx_status phx_search_run(phx_planner *planner, phx_search *search)
{
    const phx_tree *tree = planner->tree;
    const uint32_t end = search->scope_level < search->within ? search->scope_level
                                                              : search->within;
    if (search->need > tree->level[end].leaves_max ||
        (search->group > 1 && search->group_level == 0)) {
        return PHX_MISFIT;
    }
    if (search->rails == 0 && search_block(planner, search) == PHX_OK) {
        return PHX_OK;
    }
    for (uint32_t level = 1; level <= end; ++level) {
        fill_level(planner, search, level);
        if (level < search->start) {
            continue;
        }
        const choice best = choose(planner, search, level);
        if (best.vertex == PHX_NONE) {
            continue;
        }
        if (best.first != PHX_NONE) {
            phx_bits_fill(search->picks, best.first, search->need, 1);
            answer(search, level, best.vertex, best.first, best.first + search->need);
        } else {
            const uint32_t low = phx_leaf_first(tree, level, best.vertex);
            pick_shares(planner, search, level, best.vertex, search->need);
            answer(search, level, best.vertex, low,
                   low + phx_leaf_count(tree, level, best.vertex));
        }
        return PHX_OK;
    }
    return PHX_MISFIT;
}

static void fill_up_to(phx_planner *planner, const phx_search *search, uint32_t level)
{
    for (uint32_t at = 1; at <= level; ++at) {
        fill_level(planner, search, at);
    }
}

uint32_t phx_search_tightest(phx_planner *planner, phx_search *search, uint32_t level)
{
    uint32_t best = PHX_NONE;
    const phx_run range = phx_search_range(planner, search, level);
    fill_up_to(planner, search, level);
    for (uint32_t vertex = range.first; vertex < range.first + range.count; ++vertex) {
        const uint32_t ranks = cap_of(planner, level, vertex);
        if (ranks >= search->need &&
            ancestors_allow(planner, search, level, vertex, search->need) &&
            (best == PHX_NONE || ranks < cap_of(planner, level, best))) {
            best = vertex;
        }
    }
    return best;
}

uint32_t phx_search_best(phx_planner *planner, phx_search *search, uint32_t level,
                         uint32_t *vertex)
{
    uint32_t most = 0;
    *vertex = PHX_NONE;
    const phx_run range = phx_search_range(planner, search, level);
    fill_up_to(planner, search, level);
    for (uint32_t at = range.first; at < range.first + range.count; ++at) {
        const uint32_t ranks = cap_of(planner, level, at);
        if (*vertex == PHX_NONE || ranks > most) {
            most = ranks;
            *vertex = at;
        }
    }
    return most;
}
