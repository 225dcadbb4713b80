/* What a vertex can hold of several kinds of parts at once, counted out.
 *
 * A kind is the parts with one chain. The vectors of ranks, one number a kind, that a vertex can
 * hold are every sum of what its children can hold, less what units, limits and phantoms of its own
 * level forbid; with a vector all that have fewer whole units are among them. So a table has the
 * most ranks of the last kind for every choice of the others, counted in units of its level, and
 * PHX_FORBIDDEN where the others do not fit. Nothing is rounded away: what is not in the table of a
 * vertex cannot be placed there.
 *
 * Cost: a sum of two tables is the product of their sizes, a vertex the sum over its hosts.
 */
#include "parts.h"

#include <string.h>

#define KINDS_MAX 6
#define CHILDREN_MAX 64
#define WORK_MAX (UINT64_C(1) << 27) /* of one place: half a second */
#define FORBIDDEN UINT32_MAX

typedef struct joint {
    phx_team *team;
    phx_planner *planner;
    phx_search whole;            /* limits on all kinds together */
    phx_search chain[KINDS_MAX]; /* with the limits of the kind */
    uint32_t kind[PHX_PARTS_MAX];
    uint32_t ranks[KINDS_MAX];
    uint32_t kinds;
    uint32_t leaf_limits;               /* kinds may not take the same leaves */
    uint32_t *table[PHX_DEPTH_MAX + 1]; /* of the vertex of a level met last */
    uint32_t *sum[PHX_DEPTH_MAX + 1];   /* of its children so far */
    uint32_t *next;                     /* a sum in the making */
    uint32_t *below;                    /* tables of all children of a vertex */
    uint32_t *rest;                     /* sums of these from each of them on */
} joint;

/* Numbers of a kind that are told apart in a vertex of level `tall`, in units of level `fine`. */
static uint32_t extent(const joint *all, uint32_t kind, uint32_t tall, uint32_t fine)
{
    const uint32_t leaves = all->planner->tree->level[tall].leaves_max;
    const uint32_t most = all->ranks[kind] < leaves ? all->ranks[kind] : leaves;
    return most / all->chain[kind].unit[fine] + 1;
}

/* Entries of a table: the last kind is its values. Saturates. */
static uint64_t entries(const joint *all, uint32_t tall, uint32_t fine)
{
    uint64_t size = 1;
    for (uint32_t kind = 0; kind + 1 < all->kinds && size <= PHX_PARTS_WORDS; ++kind) {
        size *= extent(all, kind, tall, fine);
    }
    return size;
}

/* Units of each kind but the last at an entry, the first kind running fastest. */
static void read_entry(const joint *all, uint32_t entry, uint32_t tall, uint32_t fine,
                       uint32_t *units)
{
    for (uint32_t kind = 0; kind + 1 < all->kinds; ++kind) {
        const uint32_t width = extent(all, kind, tall, fine);
        units[kind] = entry % width;
        entry /= width;
    }
}

/* The entry of so many units; FORBIDDEN where the table does not go so far. */
static uint32_t entry_of(const joint *all, const uint32_t *units, uint32_t tall, uint32_t fine)
{
    uint32_t entry = 0;
    for (uint32_t kind = all->kinds - 1; kind-- > 0;) {
        const uint32_t width = extent(all, kind, tall, fine);
        if (units[kind] >= width) {
            return FORBIDDEN;
        }
        entry = entry * width + units[kind];
    }
    return entry;
}

/* Whether two parts are one kind: one chain, and of the limits on each alone none or the same rows
 * for leaves, which bind both together as they bind each. */
static int is_one_kind(const joint *all, uint32_t kind, uint32_t first, uint32_t part)
{
    const phx_team *team = all->team;
    const phx_part *parts = team->whole->parts;
    int one = parts[part].limits == parts[first].limits &&
              phx_chain_covers(&team->chain[part], &team->chain[first]) &&
              phx_chain_covers(&team->chain[first], &team->chain[part]);
    for (uint32_t level = 1; level <= all->planner->tree->depth && one; ++level) {
        one = !all->chain[kind].limit_on[level] || PHX_MUTANT_PART_LIMITS_SHARED;
    }
    return one;
}

/* Sorts the parts by kind, most units last; 0: they are too many. */
static int group_kinds(joint *all, uint32_t level, uint32_t vertex)
{
    const phx_team *team = all->team;
    const phx_part *parts = team->whole->parts;
    uint32_t first[KINDS_MAX];
    for (uint32_t at = 0; at < team->whole->part_count; ++at) {
        const uint32_t part = team->order[at]; /* the finest chain comes last */
        uint32_t kind = 0;
        while (kind < all->kinds && !is_one_kind(all, kind, first[kind], part)) {
            ++kind;
        }
        if (kind == KINDS_MAX) {
            return 0;
        }
        if (kind == all->kinds) {
            first[kind] = part;
            all->chain[kind] = team->chain[part];
            all->chain[kind].scope_level = level;
            all->chain[kind].scope_vertex = vertex;
            phx_search_limit(all->planner, &all->chain[kind], parts[part].limits);
            all->leaf_limits |= all->chain[kind].limit_on[0];
            ++all->kinds;
        }
        all->kind[part] = kind;
        all->ranks[kind] += parts[part].request.ranks;
    }
    all->whole.scope_level = level;
    all->whole.scope_vertex = vertex;
    phx_search_limit(all->planner, &all->whole, team->limits);
    return 1;
}

/* Lays the tables out in the scratch; 0: they do not fit. */
static int lay_tables(joint *all, uint32_t top)
{
    uint32_t *at = all->team->whole->scratch;
    uint64_t used = entries(all, 1, 1);
    uint64_t largest = 0;
    uint64_t children = 0;
    uint64_t sums = 0;
    all->table[1] = at;
    for (uint32_t level = 2; level <= top; ++level) {
        const uint64_t size = entries(all, level, level - 1);
        const uint64_t child = entries(all, level - 1, level - 1);
        if (used + size > PHX_PARTS_WORDS) {
            return 0;
        }
        all->sum[level] = at + used;
        all->table[level] = at + used + size;
        used += size + entries(all, level, level);
        largest = size > largest ? size : largest;
        children = child > children ? child : children;
        sums = size > sums ? size : sums;
    }
    const uint64_t needed = used + largest + CHILDREN_MAX * children + (CHILDREN_MAX + 1) * sums;
    if (needed > PHX_PARTS_WORDS) {
        return 0;
    }
    all->next = at + used;
    all->below = all->next + largest;
    all->rest = all->below + CHILDREN_MAX * children;
    return 1;
}

static int is_barred(const joint *all, uint32_t kind, uint32_t level, uint32_t vertex)
{
    return ((all->chain[kind].named >> level) & 1) != 0 &&
           phx_is_phantom(all->planner->tree, level, vertex);
}

/* What the vertex itself lets in of an entry that its children can hold. */
static uint32_t settled(const joint *all, uint32_t level, uint32_t vertex, const uint32_t *units,
                        uint32_t most)
{
    const uint32_t last = all->kinds - 1;
    uint64_t others = 0;
    if (most == FORBIDDEN) {
        return FORBIDDEN;
    }
    for (uint32_t kind = 0; kind < last; ++kind) {
        const uint32_t ranks = units[kind] * all->chain[kind].unit[level];
        if (ranks > phx_limit_of(&all->chain[kind], level, vertex) ||
            (ranks > 0 && is_barred(all, kind, level, vertex))) {
            return FORBIDDEN;
        }
        others += ranks;
    }
    const uint32_t limit = phx_limit_of(&all->whole, level, vertex);
    if (others > limit) {
        return FORBIDDEN;
    }
    const uint32_t own = phx_limit_of(&all->chain[last], level, vertex);
    const uint32_t beside = limit - (uint32_t)others;
    most = most < own ? most : own;
    most = most < beside ? most : beside;
    most = most < all->ranks[last] ? most : all->ranks[last];
    return is_barred(all, last, level, vertex) ? 0 : most - most % all->chain[last].unit[level];
}

/* Leaves of a host that a kind may take. */
static uint64_t mask_of(const joint *all, uint32_t kind, uint32_t host)
{
    const phx_tree *tree = all->planner->tree;
    uint64_t mask = phx_host_mask(all->planner, &all->whole, host);
    if (all->chain[kind].limit_on[0]) {
        const uint32_t first = phx_child_first(tree, 1, host);
        for (uint64_t left = mask; left != 0; left &= left - 1) {
            if (all->chain[kind].limit[0][first + phx_ctz(left)] <= 0) {
                mask &= ~(left & (0 - left));
            }
        }
    }
    return mask;
}

/* The most ranks of the last kind beside `need` of the others, by Hall's theorem: any kinds
 * together need no more leaves than they may take. */
static uint32_t most_beside(const joint *all, const uint64_t *masks, const uint32_t *need)
{
    const uint32_t last = all->kinds - 1;
    const uint32_t every = (1u << all->kinds) - 1;
    uint32_t most = phx_popcount(masks[last]);
    const int apart = all->leaf_limits && !PHX_MUTANT_HALL_SKIPPED;
    for (uint32_t set = apart ? 1 : every; set <= every; ++set) {
        uint64_t leaves = 0;
        uint32_t wanted = 0;
        for (uint32_t kind = 0; kind <= last; ++kind) {
            leaves |= (set >> kind) & 1 ? masks[kind] : 0;
            wanted += kind < last && ((set >> kind) & 1) != 0 ? need[kind] : 0;
        }
        const uint32_t room = phx_popcount(leaves);
        if (wanted > room) {
            return FORBIDDEN;
        }
        if ((set >> last) & 1) {
            most = most < room - wanted ? most : room - wanted;
        }
    }
    return most;
}

/* Counts steps; 0: they are too many. */
static int may_spend(joint *all, uint64_t steps)
{
    all->team->work += steps;
    return all->team->work <= WORK_MAX;
}

/* The table of a host; 0: too much work. */
static int fill_host(joint *all, uint32_t host)
{
    const uint32_t size = (uint32_t)entries(all, 1, 1);
    const uint32_t sets = all->leaf_limits ? 1u << all->kinds : 1;
    uint64_t masks[KINDS_MAX];
    uint32_t units[KINDS_MAX];
    uint32_t need[KINDS_MAX];
    if (!may_spend(all, (uint64_t)size * sets * all->kinds)) {
        return 0;
    }
    for (uint32_t kind = 0; kind < all->kinds; ++kind) {
        masks[kind] = mask_of(all, kind, host);
    }
    for (uint32_t entry = 0; entry < size; ++entry) {
        read_entry(all, entry, 1, 1, units);
        for (uint32_t kind = 0; kind + 1 < all->kinds; ++kind) {
            need[kind] = units[kind] * all->chain[kind].unit[1];
        }
        all->table[1][entry] = settled(all, 1, host, units, most_beside(all, masks, need));
    }
    return 1;
}

/* Nothing but the empty vector. */
static void clear_sum(const joint *all, uint32_t *sum, uint32_t level)
{
    const uint32_t size = (uint32_t)entries(all, level, level - 1);
    for (uint32_t entry = 0; entry < size; ++entry) {
        sum[entry] = FORBIDDEN;
    }
    sum[0] = 0;
}

/* Adds the table of a child to a sum for a vertex of a level; 0: too much work. `to` and `sum` may
 * be one. */
static int add_child(joint *all, uint32_t *to, const uint32_t *sum, const uint32_t *child,
                     uint32_t level)
{
    const uint32_t size = (uint32_t)entries(all, level, level - 1);
    const uint32_t child_size = (uint32_t)entries(all, level - 1, level - 1);
    const uint32_t most = all->ranks[all->kinds - 1];
    uint32_t one[KINDS_MAX];
    uint32_t other[KINDS_MAX];
    if (!may_spend(all, (uint64_t)size * child_size)) {
        return 0;
    }
    memset(all->next, 0xff, size * sizeof *all->next);
    for (uint32_t at = 0; at < child_size; ++at) {
        read_entry(all, at, level - 1, level - 1, one);
        for (uint32_t from = 0; child[at] != FORBIDDEN && from < size; ++from) {
            if (sum[from] == FORBIDDEN) {
                continue;
            }
            read_entry(all, from, level, level - 1, other);
            for (uint32_t kind = 0; kind + 1 < all->kinds; ++kind) {
                other[kind] += one[kind];
            }
            const uint32_t entry = entry_of(all, other, level, level - 1);
            uint32_t ranks = sum[from] + child[at];
            ranks = ranks < most ? ranks : most;
            if (entry != FORBIDDEN && (all->next[entry] == FORBIDDEN || all->next[entry] < ranks)) {
                all->next[entry] = ranks;
            }
        }
    }
    memcpy(to, all->next, size * sizeof *to);
    return 1;
}

/* The table of a vertex out of the sum of its children. */
static void settle_sum(joint *all, uint32_t level, uint32_t vertex)
{
    const uint32_t size = (uint32_t)entries(all, level, level);
    uint32_t units[KINDS_MAX];
    uint32_t fine[KINDS_MAX];
    for (uint32_t entry = 0; entry < size; ++entry) {
        read_entry(all, entry, level, level, units);
        for (uint32_t kind = 0; kind + 1 < all->kinds; ++kind) {
            fine[kind] =
                units[kind] * (all->chain[kind].unit[level] / all->chain[kind].unit[level - 1]);
        }
        const uint32_t from = entry_of(all, fine, level, level - 1);
        all->table[level][entry] = settled(all, level, vertex, units, all->sum[level][from]);
    }
}

/* The table of a vertex, out of those of its hosts; 0: too much work. */
static int fill_table(joint *all, uint32_t level, uint32_t vertex)
{
    const phx_tree *tree = all->planner->tree;
    const phx_run hosts = phx_descendants(tree, level, vertex, 1);
    for (uint32_t at = 2; at <= level; ++at) {
        clear_sum(all, all->sum[at], at);
    }
    for (uint32_t host = hosts.first; host < hosts.first + hosts.count; ++host) {
        uint32_t at = host;
        if (!fill_host(all, host)) {
            return 0;
        }
        for (uint32_t low = 1; low < level; ++low) {
            const uint32_t parent = phx_parent(tree, low, at);
            const uint32_t end =
                phx_child_first(tree, low + 1, parent) + phx_child_count(tree, low + 1, parent);
            if (!add_child(all, all->sum[low + 1], all->sum[low + 1], all->table[low], low + 1)) {
                return 0;
            }
            if (at + 1 < end) {
                break;
            }
            settle_sum(all, low + 1, parent);
            clear_sum(all, all->sum[low + 1], low + 1);
            at = parent;
        }
    }
    return 1;
}

/* Children of a vertex and the ranks that each gets of every kind. */
typedef struct frame {
    uint32_t level; /* of the children */
    uint32_t first;
    uint32_t count;
    uint32_t at;
    uint32_t share[CHILDREN_MAX][KINDS_MAX];
} frame;

/* The largest share of a child that leaves what those behind it can hold. */
static void choose_share(const joint *all, uint32_t level, const uint32_t *child,
                         const uint32_t *rest, const uint32_t *need, uint32_t *share)
{
    const uint32_t size = (uint32_t)entries(all, level - 1, level - 1);
    const uint32_t last = all->kinds - 1;
    uint32_t units[KINDS_MAX];
    uint32_t left[KINDS_MAX];
    uint32_t most = 0;
    int found = 0;
    for (uint32_t entry = 0; entry < size; ++entry) {
        uint32_t ranks = 0;
        int fits = child[entry] != FORBIDDEN;
        read_entry(all, entry, level - 1, level - 1, units);
        for (uint32_t kind = 0; kind < last && fits; ++kind) {
            const uint32_t unit = all->chain[kind].unit[level - 1];
            fits = units[kind] <= need[kind] / unit;
            left[kind] = need[kind] / unit - units[kind];
            ranks += units[kind] * unit;
        }
        const uint32_t from = fits ? entry_of(all, left, level, level - 1) : FORBIDDEN;
        if (from == FORBIDDEN || rest[from] == FORBIDDEN) {
            continue;
        }
        const uint32_t own = child[entry] < need[last] ? child[entry] : need[last];
        if (need[last] - own > rest[from] || (found && ranks + own <= most)) {
            continue;
        }
        found = 1;
        most = ranks + own;
        for (uint32_t kind = 0; kind < last; ++kind) {
            share[kind] = units[kind] * all->chain[kind].unit[level - 1];
        }
        share[last] = own;
    }
}

/* Shares of the children of a vertex that can hold `need`; 0: too much work. */
static int split(joint *all, uint32_t level, uint32_t vertex, const uint32_t *need, frame *to)
{
    const phx_tree *tree = all->planner->tree;
    const uint32_t size = (uint32_t)entries(all, level, level - 1);
    const uint32_t child_size = (uint32_t)entries(all, level - 1, level - 1);
    uint32_t left[KINDS_MAX];
    to->level = level - 1;
    to->first = phx_child_first(tree, level, vertex);
    to->count = phx_child_count(tree, level, vertex);
    to->at = 0;
    memset(to->share, 0, sizeof to->share);
    memcpy(left, need, sizeof left);
    clear_sum(all, all->rest + (size_t)to->count * size, level);
    for (uint32_t child = to->count; child-- > 0;) {
        uint32_t *table = all->below + (size_t)child * child_size;
        uint32_t *rest = all->rest + (size_t)child * size;
        if (!fill_table(all, level - 1, to->first + child)) {
            return 0;
        }
        memcpy(table, all->table[level - 1], child_size * sizeof *table);
        if (!add_child(all, rest, rest + size, table, level)) {
            return 0;
        }
    }
    for (uint32_t child = 0; child < to->count; ++child) {
        choose_share(all, level, all->below + (size_t)child * child_size,
                     all->rest + (size_t)(child + 1) * size, left, to->share[child]);
        for (uint32_t kind = 0; kind < all->kinds; ++kind) {
            left[kind] -= to->share[child][kind];
        }
    }
    return 1;
}

/* The part of a kind that its next rank belongs to. */
static uint32_t next_part(const joint *all, uint32_t kind, uint32_t given)
{
    const phx_request *whole = all->team->whole;
    uint32_t part = 0;
    for (;; ++part) {
        const uint32_t ranks = all->kind[part] == kind ? whole->parts[part].request.ranks : 0;
        if (given < ranks) {
            return part;
        }
        given -= ranks;
    }
}

/* Leaves of a host for every kind, lowest first, so that those behind still find theirs. */
static void deal_host(joint *all, uint32_t host, const uint32_t *share, uint32_t *given)
{
    const uint32_t first = phx_child_first(all->planner->tree, 1, host);
    const uint32_t last = all->kinds - 1;
    uint64_t masks[KINDS_MAX];
    uint32_t need[KINDS_MAX];
    memcpy(need, share, sizeof need);
    for (uint32_t kind = 0; kind < all->kinds; ++kind) {
        masks[kind] = mask_of(all, kind, host);
    }
    for (uint32_t kind = 0; kind < all->kinds; ++kind) {
        for (uint64_t left = masks[kind]; left != 0 && need[kind] > 0; left &= left - 1) {
            const uint64_t leaf = left & (0 - left);
            uint64_t others[KINDS_MAX];
            for (uint32_t other = 0; other < all->kinds; ++other) {
                others[other] = masks[other] & ~leaf;
            }
            --need[kind];
            const uint32_t most = most_beside(all, others, need);
            if (most == FORBIDDEN || most < need[last]) {
                ++need[kind];
                continue;
            }
            memcpy(masks, others, sizeof masks);
            phx_team_append(all->team, next_part(all, kind, given[kind]++),
                            (phx_run){first + phx_ctz(leaf), 1});
        }
        masks[kind] = 0;
    }
}

/* Walks down from a vertex that can hold all and gives every part its leaves; 0: too much work. */
static int deal_down(joint *all, uint32_t level, uint32_t vertex)
{
    frame stack[PHX_DEPTH_MAX];
    uint32_t used = 0;
    uint32_t given[KINDS_MAX] = {0};
    const uint32_t *need = all->ranks;
    for (;;) {
        if (level == 1) {
            deal_host(all, vertex, need, given);
        } else if (!split(all, level, vertex, need, &stack[used++])) {
            return 0;
        }
        while (used > 0 && stack[used - 1].at == stack[used - 1].count) {
            --used;
        }
        if (used == 0) {
            return 1;
        }
        frame *walk = &stack[used - 1];
        need = walk->share[walk->at];
        level = walk->level;
        vertex = walk->first + walk->at++;
    }
}

phx_status phx_joint_deal(phx_team *team, uint32_t level, uint32_t vertex)
{
    joint all;
    memset(&all, 0, sizeof all);
    all.team = team;
    all.planner = team->planner;
    uint32_t units[KINDS_MAX];
    if (team->whole->scratch == NULL || !group_kinds(&all, level, vertex) ||
        !lay_tables(&all, level) || !fill_table(&all, level, vertex)) {
        return PHX_GAVE_UP;
    }
    for (uint32_t kind = 0; kind < all.kinds; ++kind) {
        units[kind] = all.ranks[kind] / all.chain[kind].unit[level];
    }
    /* The vertex has leaves for all ranks, so the table goes so far. */
    const uint32_t most = all.table[level][entry_of(&all, units, level, level)];
    if (most == FORBIDDEN || most < all.ranks[all.kinds - 1]) {
        return PHX_MISFIT;
    }
    return deal_down(&all, level, vertex) ? PHX_OK : PHX_GAVE_UP;
}
