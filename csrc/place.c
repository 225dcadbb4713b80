#include "buddy.h"
#include "owners.h"
#include "pack.h"
#include "parts.h"

#include <string.h>

/* request.quick: 0 when a search decides, 1 when the index of blocks does, and this when moreover
 * the gang is one aligned block of a buddy tree. */
#define QUICK_BLOCK 2

static uint32_t power_of_two(uint32_t value)
{
    uint32_t power = 1;
    while (power < value) {
        power <<= 1;
    }
    return power;
}

static uint32_t lowest_level(const phx_tree *tree, uint32_t leaves)
{
    uint32_t level = 0;
    while (level < tree->depth && tree->level[level].leaves_max < leaves) {
        ++level;
    }
    return level;
}

/* First shape, by size, with at least so many leaves; shape_count when there is none. */
static uint32_t lowest_shape(const phx_tree *tree, uint32_t leaves)
{
    uint32_t shape = 0;
    while (shape < tree->shape_count && tree->shape[shape].leaves < leaves) {
        ++shape;
    }
    return shape;
}

static int gang_is_sound(const phx_planner *planner, const phx_gang *gang)
{
    const uint32_t depth = planner->tree->visible_depth;
    const uint32_t within = gang->within == PHX_NONE ? depth : gang->within;
    const uint32_t prefer = gang->prefer == PHX_NONE ? 0 : gang->prefer;
    const int sizes = gang->ranks >= 1 && gang->group >= 1 && gang->ranks % gang->group == 0;
    const int levels = gang->group_level <= within && within <= depth && prefer <= within;
    return sizes && levels && gang->aim <= PHX_FILL && gang->rule <= PHX_LOWEST;
}

/* Whether the index of blocks alone decides: equal fanouts, no phantom at a level that counts, and
 * cutting leaves in address order keeps every group inside one vertex of its level. */
static uint32_t is_quick(const phx_planner *planner, const phx_request *request)
{
    const phx_tree *tree = planner->tree;
    const phx_level *groups = &tree->level[request->group_level];
    const int one_group_domain = request->level <= request->group_level;
    const int whole_groups = groups->leaves != 0 && groups->leaves % request->group == 0;
    const int phantoms = (request->group > 1 && groups->phantoms != 0) ||
                         (request->bounded && tree->level[request->within].phantoms != 0);
    const int near = request->aim == PHX_NEAR || request->ranks == request->group;
    return tree->uniform && request->rule == PHX_SMALLEST && near && !phantoms &&
           (one_group_domain || whole_groups) && request->group_level > 0 &&
           request->held <= tree->level[request->within].leaves_max;
}

/* With spares in every domain of a level, no aligned block above half such a domain can be free:
 * the paper's larger gangs are unions of blocks of that half. */
static uint32_t union_pieces(const phx_planner *planner, uint32_t held)
{
    const phx_counters *count = planner->count;
    if (count->alignment != PHX_BUDDY || count->spare_count == 0 || planner->spare_wanted[0] == 0) {
        return 1;
    }
    const uint32_t half = planner->tree->level[count->spare_per].leaves / 2;
    return held > half ? held / half : 1;
}

PHX_INLINE int64_t result_of(const phx_tree *tree, uint32_t slot, uint32_t first, uint32_t level,
                             int many)
{
    const uint32_t seen = PHX_MUTANT_WRONG_ANCESTOR && level > 1 ? level - 1 : level;
    const uint64_t visible = tree->level[seen].visible;
    return (int64_t)((uint64_t)slot | ((uint64_t)first << 21) | (visible << 42) |
                     ((uint64_t)many << 47));
}

phx_status phx_request_init(const phx_planner *planner, const phx_gang *gang, phx_request *out)
{
    const phx_tree *tree = planner->tree;
    if (!gang_is_sound(planner, gang)) {
        return PHX_BAD_GANG;
    }
    const int buddy = planner->count->alignment == PHX_BUDDY;
    phx_request request = {0};
    request.ranks = gang->ranks;
    request.group = gang->group;
    request.group_level = tree->internal[gang->group_level];
    request.bounded = gang->within != PHX_NONE;
    request.within = request.bounded ? tree->internal[gang->within] : tree->depth;
    if (request.within == 0 && gang->ranks == 1) { /* every leaf does */
        request.bounded = 0;
        request.within = tree->depth;
    }
    request.aim = gang->aim;
    request.rule = gang->rule;
    request.held = buddy && gang->ranks <= PHX_LEAVES_MAX ? power_of_two(gang->ranks) : gang->ranks;
    request.level = lowest_level(tree, gang->ranks);
    request.start = request.level == 0 ? 1 : request.level;
    if (gang->prefer != PHX_NONE && tree->internal[gang->prefer] > request.start) {
        request.start = tree->internal[gang->prefer];
    }
    request.pieces = union_pieces(planner, request.held);
    request.quick = is_quick(planner, &request);
    request.shape = lowest_shape(tree, request.held / request.pieces);
    request.shapes = request.shape < 64 ? ~UINT64_C(0) << request.shape : 0;
    if (buddy && (!request.quick || request.group > tree->level[request.group_level].leaves ||
                  request.group > request.held / request.pieces ||
                  (request.group & (request.group - 1)) != 0)) {
        const int too_large = request.held > tree->level[request.within].leaves_max;
        if (!too_large) {
            return PHX_BAD_GANG;
        }
        request.quick = 0;
    }
    if (request.quick && request.pieces == 1 && tree->buddy &&
        request.held == 1u << request.shape) {
        request.quick = QUICK_BLOCK;
    }
    const uint32_t within = request.bounded ? request.within : PHX_ANYWHERE;
    request.levels = request.group_level | (within << 5);
    request.answer = (uint64_t)result_of(tree, 0, 0, request.level, 0);
    *out = request;
    return PHX_OK;
}

/* What binds beside blocks: the general search decides. Parts have theirs each. */
static phx_status leave_quick(const phx_planner *planner, phx_request *request)
{
    if (planner->count->alignment == PHX_BUDDY || request->part_count > 0) {
        return PHX_BAD_GANG;
    }
    request->quick = 0;
    return PHX_OK;
}

phx_status phx_request_slices(const phx_planner *planner, phx_request *request,
                              const phx_slice *slices, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    phx_request made = *request;
    uint32_t size = request->group;
    uint32_t level = request->group_level;
    if (count > PHX_SLICES_MAX) {
        return PHX_BAD_GANG;
    }
    for (uint32_t at = 0; at < count; ++at) {
        if (slices[at].level > tree->visible_depth || slices[at].size == 0 ||
            slices[at].size % size != 0 || (at > 0 && slices[at].level < slices[at - 1].level)) {
            return PHX_BAD_GANG;
        }
        const uint32_t inner = tree->internal[slices[at].level];
        if (inner < level || inner > request->within || inner == 0) {
            return PHX_BAD_GANG;
        }
        size = slices[at].size;
        level = inner;
        made.slices[at] = (phx_slice){size, level};
    }
    made.slice_count = count;
    if (request->ranks % size != 0 || (count > 0 && leave_quick(planner, &made) != PHX_OK)) {
        return PHX_BAD_GANG;
    }
    *request = made;
    return PHX_OK;
}

phx_status phx_request_balance(const phx_planner *planner, phx_request *request, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    if (level == 0 || level > tree->visible_depth || tree->internal[level] > request->within ||
        request->aim == PHX_FILL) {
        return PHX_BAD_GANG;
    }
    if (leave_quick(planner, request) != PHX_OK) {
        return PHX_BAD_GANG;
    }
    request->balanced = tree->internal[level];
    return PHX_OK;
}

/* One run of available leaves becomes a new gang. */
static __attribute__((noinline)) int64_t commit_run(phx_planner *planner,
                                                    const phx_request *request, uint32_t first)
{
    const uint32_t slot = phx_slot_take(planner, request, request->level, first);
    phx_own(planner, first, request->held, slot);
    phx_space_take(&planner->space, first, request->held);
    planner->links[first].count = request->held;
    return (int64_t)(request->answer | slot | ((uint64_t)first << 21));
}

/* A block out of the lowest maximal one of shape `top` of a buddy tree becomes a new gang. Not
 * inline: a refusal saves no registers. */
static __attribute__((noinline)) int64_t commit_block(phx_planner *planner,
                                                      const phx_request *request, uint32_t top)
{
    const uint32_t first = phx_buddy_take_lowest(&planner->space, request->shape, top);
    const uint32_t slot = phx_slot_take(planner, request, request->level, first);
    phx_own_block(planner, first, request->held, slot + 1);
    planner->links[first].count = request->held;
    return (int64_t)(request->answer | slot | ((uint64_t)first << 21));
}

/* A run joins the chain from `link` on, in address order, and the runs it touches. Returns the link
 * to the run it is in now. */
static uint32_t *chain_run(phx_planner *planner, uint32_t *link, uint32_t first, uint32_t count)
{
    uint32_t at = first;
    while (*link != 0 && *link - 1 < first) {
        at = *link - 1;
        if (at + planner->links[at].count == first) {
            break;
        }
        link = &planner->links[at].next;
        at = first;
    }
    if (at == first) {
        planner->links[first].next = *link;
        *link = first + 1;
    }
    planner->links[at].count += count;
    const uint32_t next = planner->links[at].next;
    if (next == first + count + 1) {
        planner->links[at].next = planner->links[next - 1].next;
        planner->links[at].count += planner->links[next - 1].count;
        planner->links[next - 1].next = 0;
        planner->links[next - 1].count = 0;
    }
    return link;
}

/* Whether the maximal blocks that are large enough hold so many pieces. */
static int has_pieces(const phx_space *space, const phx_request *request)
{
    uint32_t found = 0;
    for (uint64_t fit = *space->shapes & request->shapes; fit != 0; fit &= fit - 1) {
        const uint32_t shape = phx_ctz(fit); /* a vertex of the index has at least one */
        found += phx_popcount(space->index[shape].row[0][0]) << (shape - request->shape);
    }
    if (found >= request->pieces) {
        return 1;
    }
    found = 0;
    for (uint64_t fit = *space->shapes & request->shapes; fit != 0; fit &= fit - 1) {
        const uint32_t shape = phx_ctz(fit);
        const phx_set *set = &space->index[shape];
        for (uint32_t at = phx_set_next(set, 0, set->size); at < set->size;
             at = phx_set_next(set, at + 1, set->size)) {
            found += phx_popcount(phx_buddy_runs(space, shape, at)) << (shape - request->shape);
            if (found >= request->pieces) {
                return 1;
            }
        }
    }
    return 0;
}

/* The paper's union of aligned blocks, anywhere in one buddy tree. */
static __attribute__((noinline)) int64_t commit_union(phx_planner *planner,
                                                      const phx_request *request)
{
    phx_space *space = &planner->space;
    const uint32_t piece = 1u << request->shape;
    if (!has_pieces(space, request)) {
        return -(int64_t)PHX_MISFIT;
    }
    const uint32_t slot = phx_slot_take(planner, request, 0, 0);
    phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t head = 0;
    uint32_t last = 0;
    uint32_t *link = &head;
    for (uint32_t at = 0; at < request->pieces; ++at) {
        const uint32_t top = phx_ctz(*space->shapes & request->shapes);
        const uint32_t first = phx_buddy_take_lowest(space, request->shape, top);
        phx_own_block(planner, first, piece, slot + 1);
        link = chain_run(planner, *link <= first ? link : &head, first, piece);
        last = first > last ? first : last;
    }
    gang->head = head - 1;
    const uint32_t level = request->ranks == request->held
                               ? phx_common_level(planner->tree, head - 1, last + piece - 1)
                               : phx_span_level(planner, slot);
    gang->levels = (uint16_t)(gang->levels | (level << 10));
    return result_of(planner->tree, slot, head - 1, level, planner->links[head - 1].next != 0);
}

/* The picked leaves, already taken or not, become a new gang in address order. */
static int64_t commit_picks(phx_planner *planner, const phx_request *request,
                            const phx_search *search, int taken)
{
    const uint32_t slot = phx_slot_new(planner, request, 0);
    phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t *link = &gang->head;
    uint32_t runs = 0;
    for (phx_run run = phx_pick_next(search, search->low); run.count > 0;
         run = phx_pick_next(search, run.first + run.count)) {
        if (!taken) {
            phx_space_take(&planner->space, run.first, run.count);
        }
        phx_own(planner, run.first, run.count, slot);
        *link = run.first + (runs > 0 ? 1 : 0); /* the head is a leaf, a link a leaf + 1 */
        planner->links[run.first].count = run.count;
        link = &planner->links[run.first].next;
        ++runs;
    }
    const uint32_t level = phx_span_level(planner, slot);
    gang->levels = (uint16_t)(gang->levels | (level << 10));
    return result_of(planner->tree, slot, gang->head, level, runs > 1);
}

static void give_picks(phx_planner *planner, const phx_search *search)
{
    for (phx_run run = phx_pick_next(search, search->low); run.count > 0;
         run = phx_pick_next(search, run.first + run.count)) {
        phx_space_give(&planner->space, run.first, run.count);
    }
}

/* `pieces` aligned blocks inside one vertex of the level `within`, picked and taken, or nothing. */
static phx_status pick_pieces_in(phx_planner *planner, const phx_request *request,
                                 const phx_search *search, uint32_t vertex)
{
    const uint32_t piece = request->held / request->pieces;
    for (uint32_t at = 0; at < request->pieces; ++at) {
        const uint32_t first =
            phx_block_find(&planner->space, piece, request->shape, request->within, vertex);
        if (first == PHX_NONE) {
            give_picks(planner, search);
            phx_pick_clear(search);
            return PHX_MISFIT;
        }
        phx_space_take(&planner->space, first, piece);
        phx_bits_fill(planner->pick, first, piece, 1);
    }
    return PHX_OK;
}

/* The aligned block that phx_place would take, picked and taken. */
static phx_status pick_block(phx_planner *planner, const phx_request *request, phx_search *search)
{
    const uint64_t fit = request->quick ? *planner->space.shapes & request->shapes : 0;
    if (fit == 0) {
        return PHX_MISFIT;
    }
    search->low = phx_block_first(&planner->space, phx_ctz(fit));
    search->high = search->low + request->held;
    phx_space_take(&planner->space, search->low, request->held);
    phx_bits_fill(planner->pick, search->low, request->held, 1);
    return PHX_OK;
}

/* The paper's unions of aligned blocks: the first domain, by address, that has them all. */
static phx_status pick_pieces(phx_planner *planner, const phx_request *request, phx_search *search)
{
    const phx_tree *tree = planner->tree;
    phx_status status = PHX_MISFIT;
    for (uint32_t vertex = 0; vertex < tree->level[request->within].count && status == PHX_MISFIT;
         ++vertex) {
        search->low = phx_leaf_first(tree, request->within, vertex);
        search->high = search->low + phx_leaf_count(tree, request->within, vertex);
        status = pick_pieces_in(planner, request, search, vertex);
    }
    return status;
}

/* The leaves a unit's search chose join the gang's, and leave the free space. */
static void keep_unit(phx_planner *planner, const phx_search *unit)
{
    for (phx_run run = phx_pick_next(unit, unit->low); run.count > 0;
         run = phx_pick_next(unit, run.first + run.count)) {
        phx_space_take(&planner->space, run.first, run.count);
        phx_search_charge(planner, unit, run.first, run.count);
        phx_bits_fill(planner->pick, run.first, run.count, 1);
    }
    phx_pick_clear(unit);
}

/* Ranks of one of the gang's parts that need not be near each other. */
static uint32_t outermost(const phx_request *request)
{
    return request->slice_count == 0 ? request->group
                                     : request->slices[request->slice_count - 1].size;
}

/* Ranks that do not talk: unit after unit into the smallest sufficient block. Picks and takes. */
static phx_status pick_units(phx_planner *planner, const phx_request *request, phx_search *search)
{
    const uint32_t vertex = phx_search_tightest(planner, search, search->within);
    if (vertex == PHX_NONE) {
        return PHX_MISFIT;
    }
    phx_search_own_limits(planner, search);
    phx_search unit = *search;
    unit.need = outermost(request);
    unit.start = 1;
    unit.scope_level = search->within;
    unit.scope_vertex = vertex;
    unit.picks = planner->taken;
    search->low = 0;
    search->high = planner->tree->level[0].count;
    for (uint32_t placed = 0; placed < request->ranks; placed += unit.need) {
        if (phx_search_run(planner, &unit) != PHX_OK) {
            give_picks(planner, search);
            phx_pick_clear(search);
            return PHX_MISFIT;
        }
        keep_unit(planner, &unit);
    }
    return PHX_OK;
}

/* Chooses leaves into planner->pick; *taken says whether they left the free space already. */
static phx_status pick_leaves(phx_planner *planner, const phx_request *request,
                              const int32_t *const *limits, phx_search *search, int *taken)
{
    *search = phx_search_of(planner, request);
    phx_search_limit(planner, search, limits);
    *taken = 1;
    if (planner->count->alignment == PHX_BUDDY) {
        if (search->limited) {
            return PHX_BAD_GANG;
        }
        return request->pieces == 1 ? pick_block(planner, request, search)
                                    : pick_pieces(planner, request, search);
    }
    if (request->aim == PHX_FILL && request->ranks > outermost(request)) {
        return pick_units(planner, request, search);
    }
    *taken = 0;
    return phx_search_run(planner, search);
}

static __attribute__((noinline)) int64_t place_slowly(phx_planner *planner,
                                                      const phx_request *request, uint64_t fit)
{
    const phx_tree *tree = planner->tree;
    if (request->quick && request->pieces == 1 && fit != 0) {
        return commit_run(planner, request, phx_block_first(&planner->space, phx_ctz(fit)));
    }
    if (request->quick && request->pieces > 1 && request->within == tree->depth &&
        tree->level[tree->depth].count == 1) {
        return commit_union(planner, request);
    }
    return phx_place_limited(planner, request, NULL, 1, NULL, 0, NULL);
}

int64_t phx_place(phx_planner *planner, const phx_request *request)
{
    const uint64_t fit = *planner->space.shapes & request->shapes;
    if (fit != 0 && request->quick == QUICK_BLOCK) {
        return commit_block(planner, request, phx_ctz(fit));
    }
    if (fit == 0 && request->quick && planner->count->alignment == PHX_BUDDY) {
        return -(int64_t)PHX_MISFIT;
    }
    return place_slowly(planner, request, fit);
}

static phx_status write_runs(const phx_search *search, phx_run *runs, uint32_t room,
                             uint32_t *count)
{
    uint32_t written = 0;
    for (phx_run run = phx_pick_next(search, search->low); run.count > 0;
         run = phx_pick_next(search, run.first + run.count)) {
        if (written < room) {
            runs[written] = (phx_run){run.first, run.count};
        }
        ++written;
    }
    *count = written;
    return written <= room ? PHX_OK : PHX_NO_ROOM;
}

int64_t phx_place_limited(phx_planner *planner, const phx_request *request,
                          const int32_t *const *limits, int apply, phx_run *runs, uint32_t room,
                          uint32_t *count)
{
    if (request->part_count > 0) {
        return phx_place_parts(planner, request, limits, apply, runs, room, count);
    }
    phx_search search;
    int taken = 0;
    phx_status status = PHX_MISFIT;
    if (request->held <= planner->tree->level[request->within].leaves_max) {
        status = pick_leaves(planner, request, limits, &search, &taken);
    }
    if (status != PHX_OK) {
        return -(int64_t)status;
    }
    int64_t result = 0;
    if (count != NULL) {
        status = write_runs(&search, runs, room, count);
    }
    if (apply && status == PHX_OK) {
        result = commit_picks(planner, request, &search, taken);
    } else if (taken) {
        give_picks(planner, &search);
    }
    phx_pick_clear(&search);
    return status == PHX_OK ? result : -(int64_t)status;
}

static phx_status check_sizes(const phx_gang *gang, const uint32_t *sizes, uint32_t size_count)
{
    for (uint32_t at = 0; at < size_count; ++at) {
        if (sizes[at] == 0 || sizes[at] % gang->group != 0) {
            return PHX_BAD_GANG;
        }
    }
    return PHX_OK;
}

/* Requests of the sizes met last, so that a mixed batch resolves each size once. */
typedef struct memo {
    phx_request request[64];
    uint32_t ranks[64];
} memo;

static const phx_request *request_for(const phx_planner *planner, const phx_gang *gang,
                                      uint32_t ranks, memo *known)
{
    const uint32_t at = (ranks * 2654435761u) >> 26;
    if (known->ranks[at] != ranks) {
        phx_gang sized = *gang;
        sized.ranks = ranks;
        if (phx_request_init(planner, &sized, &known->request[at]) != PHX_OK) {
            return NULL;
        }
        known->ranks[at] = ranks;
    }
    return &known->request[at];
}

/* Leaves of a gang just placed; of one run from the answer alone. */
static void write_leaves(const phx_planner *planner, int64_t placed, uint32_t ranks,
                         int32_t *leaves)
{
    if ((placed >> 47) != 0) {
        phx_gang_leaves(planner, (uint32_t)(placed & 0x1fffff), (uint32_t *)leaves);
        return;
    }
    const int32_t first = (int32_t)((placed >> 21) & 0x1fffff);
    for (uint32_t at = 0; at < ranks; ++at) {
        leaves[at] = first + (int32_t)at;
    }
}

phx_status phx_place_many(phx_planner *planner, const phx_gang *gang, const uint32_t *sizes,
                          uint32_t size_count, int64_t *handles, int32_t *levels, int64_t *offsets,
                          int32_t *leaves)
{
    memo known;
    memset(known.ranks, 0, sizeof known.ranks);
    if (gang->group == 0 || check_sizes(gang, sizes, size_count) != PHX_OK ||
        request_for(planner, gang, gang->group, &known) == NULL) {
        return PHX_BAD_GANG;
    }
    offsets[0] = 0;
    for (uint32_t at = 0; at < size_count; ++at) {
        const phx_request *request = request_for(planner, gang, sizes[at], &known);
        const int64_t placed = request == NULL ? -1 : phx_place(planner, request);
        if (placed < 0) {
            handles[at] = -1;
            levels[at] = -1;
            offsets[at + 1] = offsets[at];
            continue;
        }
        const uint32_t slot = (uint32_t)(placed & 0x1fffff);
        planner->gangs[slot].levels |= PHX_UNNAMED;
        handles[at] = (int64_t)slot | ((int64_t)planner->gangs[slot].generation << 32);
        levels[at] = (int32_t)((placed >> 42) & 31);
        offsets[at + 1] = offsets[at] + sizes[at];
        write_leaves(planner, placed, sizes[at], leaves + offsets[at]);
    }
    return PHX_OK;
}
