#include "replan.h"

#include "nearby.h"

#include <string.h>

static phx_status mark_failed(phx_planner *planner, uint32_t slot, const phx_run *failed,
                              uint32_t failed_count)
{
    const uint32_t leaves = planner->tree->level[0].count;
    for (uint32_t at = 0; at < failed_count; ++at) {
        const phx_run run = failed[at];
        if (run.first >= leaves || run.count > leaves - run.first) {
            return PHX_BAD_LEAF;
        }
        for (uint32_t leaf = run.first; leaf < run.first + run.count; ++leaf) {
            if (phx_leaf_slot(planner, leaf) != slot) {
                return PHX_NOT_OWNED;
            }
            if (phx_bit(planner->moving, leaf)) {
                return PHX_LEAF_TWICE;
            }
            phx_bit_set(planner->moving, leaf);
        }
    }
    return PHX_OK;
}

/* Words of the lists that one run of ranks reads. */
static void mark_run(phx_planner *planner, phx_run piece, uint32_t flags)
{
    uint32_t at = piece.first;
    uint32_t left = piece.count;
    while (left > 0) {
        const uint32_t shift = at & 63;
        const uint32_t here = left < 64 - shift ? left : 64 - shift;
        const uint32_t word = at >> 6;
        uint64_t lost = planner->down[word] | planner->moving[word];
        lost |= (flags & PHX_REPLAN_CORDONED) != 0 ? planner->cordoned[word] : 0;
        planner->lost[word] |= lost & (phx_low(here) << shift);
        at += here;
        left -= here;
    }
}

/* planner->moving lends its bits to the listed leaves until the ranks have been marked. */
phx_status phx_lost_mark(phx_planner *planner, uint32_t slot, const phx_run *failed,
                         uint32_t failed_count, uint32_t flags)
{
    const uint32_t ranks = planner->gangs[slot].ranks;
    const uint32_t leaves = planner->tree->level[0].count;
    const phx_status status = mark_failed(planner, slot, failed, failed_count);
    phx_cursor at = phx_cursor_start(planner, slot);
    while (at.rank < ranks && status == PHX_OK) {
        mark_run(planner, phx_cursor_next(planner, &at, ranks - at.rank), flags);
    }
    for (uint32_t run = 0; run < failed_count; ++run) {
        if (failed[run].first < leaves && failed[run].count <= leaves - failed[run].first) {
            phx_bits_fill(planner->moving, failed[run].first, failed[run].count, 0);
        }
    }
    return status;
}

void phx_lost_clear(phx_planner *planner, uint32_t slot)
{
    const uint32_t ranks = planner->gangs[slot].ranks;
    for (phx_cursor at = phx_cursor_start(planner, slot); at.rank < ranks;) {
        const phx_run piece = phx_cursor_next(planner, &at, ranks - at.rank);
        phx_bits_fill(planner->lost, piece.first, piece.count, 0);
    }
}

uint32_t phx_level_after(const phx_planner *planner, uint32_t slot, const phx_move *moves,
                         uint32_t count)
{
    const uint32_t ranks = planner->gangs[slot].ranks;
    uint32_t low = PHX_NONE;
    uint32_t high = 0;
    uint32_t move = 0;
    phx_cursor at = phx_cursor_start(planner, slot);
    while (at.rank < ranks) {
        const int moved = move < count && moves[move].rank == at.rank;
        const uint32_t next = move < count ? moves[move].rank : ranks;
        const uint32_t most = moved ? moves[move].count : next - at.rank;
        const phx_run piece = phx_cursor_next(planner, &at, most);
        const uint32_t first = moved ? moves[move].to : piece.first;
        low = first < low ? first : low;
        high = first + piece.count - 1 > high ? first + piece.count - 1 : high;
        move += moved ? 1 : 0;
    }
    return phx_tree_distance(planner->tree, low, high);
}

/* First leaf of the smallest block of at least one host inside 2^shift leaves, or PHX_NONE. */
static __attribute__((noinline)) uint32_t block_inside(const phx_space *space, uint32_t leaf,
                                                       uint32_t shift)
{
    const phx_tree *tree = space->tree;
    const uint32_t base = tree->shape_base[2];
    for (uint64_t left = *space->shapes >> base << base; left != 0; left &= left - 1) {
        const uint32_t shape = phx_ctz(left);
        const phx_shape *kind = &tree->shape[shape];
        if (kind->vertex_shift > shift) {
            break;
        }
        const uint32_t order = shift - kind->vertex_shift;
        uint32_t vertex = leaf >> shift << order;
        if (order <= 6) {
            const uint64_t members =
                space->index[shape].row[0][vertex >> 6] >> (vertex & 63) & phx_low_power(order);
            if (members == 0) {
                continue;
            }
            vertex += phx_ctz(members);
        } else {
            const uint32_t end = vertex + (1u << order);
            vertex = phx_set_next(&space->index[shape], vertex, end);
            if (vertex == end) {
                continue;
            }
        }
        const uint32_t children = (uint32_t)kind->vertex_shift - kind->child_shift;
        const uint32_t child = vertex << children;
        const uint64_t mask =
            space->whole[kind->level - 1][child >> 6] >> (child & 63) & phx_low_power(children);
        return (child + phx_ctz(phx_runs_of(mask, kind->order))) << kind->child_shift;
    }
    return PHX_NONE;
}

/* The first of the smallest maximal runs; the mask is not zero. */
PHX_INLINE uint32_t smallest_run(uint64_t mask)
{
    uint32_t order = 0;
    uint64_t runs = phx_runs_of(mask, 0);
    while (runs == 0) {
        runs = phx_runs_of(mask, ++order);
    }
    return phx_ctz(runs);
}

/* A spare host above the level of the domains that hold one each, where the lost host's has none.
 */
static __attribute__((noinline)) phx_target far_spare(const phx_planner *planner, uint32_t leaf,
                                                      uint32_t level)
{
    const uint8_t *shift = planner->tree->leaves_shift;
    const uint32_t order = (uint32_t)shift[level] - shift[1];
    const uint32_t low = leaf >> shift[level] << order;
    const uint32_t end = low + (1u << order);
    const uint32_t host = phx_bits_next(planner->spare, low, end);
    return (phx_target){host < end ? host << shift[1] : PHX_NONE, level, 1};
}

/* The common failure: one whole host of a gang on a tree of power-of-two fanouts, at most one spare
 * host a domain. Whole hosts of the smallest vertex first, then its spare. */
static phx_target quick_target(const phx_planner *planner, const phx_gang_slot *gang, uint32_t leaf)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    const phx_space *space = &planner->space;
    const uint8_t *shift = tree->leaves_shift;
    const uint32_t leaves = 1u << shift[1];
    const uint32_t top = phx_slot_top(tree, gang);
    uint32_t spare = PHX_NONE; /* first leaf of that of its domain */
    if (count->spare_count != 0) {
        const uint32_t domain = leaf >> shift[count->spare_per];
        spare = planner->spare_held[domain] ? planner->spare_lowest[domain] << shift[1] : PHX_NONE;
    }
    const uint32_t order = (uint32_t)shift[2] - shift[1];
    const uint32_t host = leaf >> shift[2] << order;
    const uint64_t mask = space->whole[1][host >> 6] >> (host & 63) & phx_low_power(order);
    if (mask != 0 && top >= 2) {
        return (phx_target){(host + smallest_run(mask)) << shift[1], 2, 0};
    }
    for (uint32_t level = 2; level <= top; ++level) {
        const uint32_t vertex = leaf >> shift[level];
        if (space->free_count[level][vertex] >= leaves) {
            const uint32_t first = level > 2 ? block_inside(space, leaf, shift[level]) : PHX_NONE;
            if (first != PHX_NONE || gang->group < leaves) {
                return (phx_target){first, level,
                                    0}; /* small groups: pieces of several hosts may do */
            }
        }
        if (spare != PHX_NONE && spare >> shift[level] == vertex &&
            phx_bit(planner->spare, spare >> shift[1])) {
            return (phx_target){spare, level, 1};
        }
        if (PHX_RARELY(count->spare_count != 0 && level > count->spare_per)) {
            const phx_target found = far_spare(planner, leaf, level);
            if (found.first != PHX_NONE) {
                return found;
            }
        }
    }
    return (phx_target){PHX_NONE, 0, 0};
}

/* Whether quick_target can decide: whole groups, all of them dead, nothing of the gang beside them
 * in their host, and a survivor elsewhere. */
PHX_INLINE int is_quick(const phx_planner *planner, const phx_gang_slot *gang, phx_run failed)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    const uint32_t leaves = tree->level[1].leaves;
    const uint32_t group = gang->group;
    return tree->buddy && tree->depth >= 2 && tree->level[1].phantoms == 0 &&
           phx_slot_group_level(gang) == 1 && failed.count == leaves &&
           (failed.first & (leaves - 1)) == 0 && gang->ranks > leaves &&
           (group == leaves || (group < leaves && (group & (group - 1)) == 0)) &&
           (count->spare_count == 0 || (count->spare_count == 1 && count->spare_size == 1));
}

/* The first rank on the lost host, and in *level the lowest level that holds the gang with `to` in
 * its place; PHX_NONE: the host is not one piece of a run. */
static __attribute__((noinline)) uint32_t locate(const phx_planner *planner, uint32_t slot,
                                                 phx_run failed, phx_target to, uint32_t *level)
{
    const uint8_t *shift = planner->tree->leaves_shift;
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t most = *level;
    uint32_t low = to.first;
    uint32_t high = to.first + failed.count - 1;
    uint32_t rank = PHX_NONE;
    uint32_t before = 0;
    for (uint32_t next = gang->head + 1; next != 0 && before < gang->ranks;) {
        uint32_t first = next - 1;
        const uint32_t held = planner->links[first].count;
        const uint32_t here = held < gang->ranks - before ? held : gang->ranks - before;
        uint32_t last = first + here - 1;
        next = planner->links[first].next;
        int stays = 1;
        if (failed.first - first < here) {
            if (here - (failed.first - first) < failed.count) {
                return PHX_NONE; /* two runs meet in the host, or it is not all its own */
            }
            rank = before + failed.first - first;
            stays = here > failed.count;
            first += first == failed.first ? failed.count : 0;
            last -= last == failed.first + failed.count - 1 ? failed.count : 0;
        }
        before += here;
        if (stays) {
            low = first < low ? first : low;
            high = last > high ? last : high;
        }
        if (rank != PHX_NONE && (low ^ high) >> shift[most - 1] != 0) {
            return rank; /* it cannot span more */
        }
    }
    uint32_t span = 1;
    while ((low ^ high) >> shift[span] != 0) {
        ++span;
    }
    *level = span;
    return rank;
}

static int plan_quick(const phx_planner *planner, uint32_t slot, phx_run failed, phx_move *moves,
                      phx_repair *repair)
{
    const phx_tree *tree = planner->tree;
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (PHX_RARELY(!is_quick(planner, gang, failed) || failed.first >= tree->level[0].count)) {
        return 0;
    }
    const uint32_t head = gang->head;
    const uint32_t ranks = gang->ranks;
    const uint32_t held = planner->links[head].count;
    const uint32_t before = phx_slot_level(gang);
    const phx_target to = quick_target(planner, gang, failed.first);
    uint32_t rank = failed.first - head;
    uint32_t after = to.level > before ? to.level : before;
    if (PHX_RARELY(held < ranks)) {
        uint32_t span = after;
        rank = locate(planner, slot, failed, to, &span);
        after = span;
    } else {
        const uint32_t low = head + (rank == 0 ? failed.count : 0);
        const uint32_t end = head + ranks - (rank + failed.count == ranks ? failed.count : 0);
        while (((low ^ to.first) | ((end - 1) ^ to.first)) >> tree->leaves_shift[after - 1] == 0) {
            --after;
        }
    }
    if (PHX_RARELY(to.first == PHX_NONE || rank >= ranks || failed.count > ranks - rank)) {
        return 0;
    }
    phx_answer(tree, (phx_move){rank, failed.first, to.first, failed.count}, before, after,
               to.spare, moves, repair);
    return 1;
}

/* The domain units may move in: the one of the first survivor, or of the first rank. */
static void set_scope(phx_plan *plan)
{
    const phx_planner *planner = plan->planner;
    const phx_gang_slot *gang = &planner->gangs[plan->slot];
    plan->scope_level = phx_slot_top(planner->tree, gang);
    plan->scope_vertex = phx_ancestor(planner->tree, 0, gang->head, plan->scope_level);
}

void phx_plan_part(phx_plan *plan, const phx_request *request, uint32_t first)
{
    const phx_gang_slot *gang = &plan->planner->gangs[plan->slot];
    const uint32_t slices = request == NULL ? 0 : request->slice_count;
    plan->first = first;
    plan->ranks = request == NULL ? gang->ranks : request->ranks;
    plan->group = request == NULL ? gang->group : request->group;
    plan->group_level = request == NULL ? phx_slot_group_level(gang) : request->group_level;
    plan->unit = slices > 0 ? request->slices[0].size : plan->group;
    plan->unit_level = slices > 0 ? request->slices[0].level : plan->group_level;
    plan->slice_count = slices;
    plan->slices = slices > 0 ? request->slices : NULL;
}

static phx_status replan_full(phx_planner *planner, uint32_t slot, const phx_request *request,
                              const int32_t *const *limits, uint32_t flags, phx_move *moves,
                              uint32_t room, phx_repair *repair)
{
    const int partial = (flags & PHX_REPLAN_PARTIAL) != 0;
    phx_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.planner = planner;
    plan.slot = slot;
    plan.widen = (flags & PHX_REPLAN_WIDEN) != 0;
    plan.limits = limits;
    plan.moves = moves;
    plan.room = room;
    plan.subsets = 2u << PHX_EXACT_UNITS; /* as they are, and with slices around them */
    set_scope(&plan);
    phx_plan_part(&plan, request, 0);
    const uint32_t broken = phx_count_broken(&plan, &repair->dead);
    if (broken == 0) {
        repair->level_after = repair->level_before;
        return PHX_OK;
    }
    if (request != NULL && request->part_count > 0) {
        return phx_repair_parts(&plan, request, partial, repair);
    }
    return phx_repair_plan(&plan, broken, partial, repair);
}

/* The dead leaves of a gang as one run, from the list or from the down leaves; 0 when they are
 * more, or none. */
static int single_loss(const phx_planner *planner, uint32_t slot, const phx_run *failed,
                       uint32_t failed_count, phx_run *loss)
{
    const uint32_t ranks = planner->gangs[slot].ranks;
    const uint32_t leaves = planner->tree->level[0].count;
    if (failed_count == 1 &&
        (failed[0].first >= leaves || failed[0].count > leaves - failed[0].first)) {
        return 0;
    }
    phx_run run = failed_count == 1 ? failed[0] : (phx_run){0, 0};
    phx_cursor at = phx_cursor_start(planner, slot);
    while (planner->count->down != 0 && at.rank < ranks) {
        const phx_run piece = phx_cursor_next(planner, &at, ranks - at.rank);
        const uint32_t end = piece.first + piece.count;
        uint32_t leaf = phx_bits_next(planner->down, piece.first, end);
        if (leaf < end && run.count == 0) {
            run = (phx_run){leaf, phx_bits_next_clear(planner->down, leaf, end) - leaf};
        }
        while (leaf < end) {
            if (leaf < run.first || leaf - run.first >= run.count) {
                return 0;
            }
            leaf = phx_bits_next(planner->down, run.first + run.count, end);
        }
    }
    *loss = run;
    return run.count > 0;
}

/* Every plan but the one for one failed run of a healthy cluster. */
static __attribute__((noinline)) phx_status plan_any(phx_planner *planner, uint32_t slot,
                                                     const phx_request *request,
                                                     const phx_run *failed, uint32_t failed_count,
                                                     const int32_t *const *limits, uint32_t flags,
                                                     phx_move *moves, uint32_t room,
                                                     phx_repair *repair)
{
    phx_run loss;
    if (request == NULL && failed_count <= 1 && limits == NULL && room > 0 &&
        (flags & PHX_REPLAN_CORDONED) == 0 &&
        single_loss(planner, slot, failed, failed_count, &loss) &&
        plan_quick(planner, slot, loss, moves, repair)) {
        return PHX_OK;
    }
    memset(repair, 0, sizeof *repair);
    repair->proven = 1;
    repair->level_before = planner->tree->level[phx_slot_level(&planner->gangs[slot])].visible;
    phx_status status = phx_lost_mark(planner, slot, failed, failed_count, flags);
    if (status == PHX_OK) {
        status = replan_full(planner, slot, request, limits, flags, moves, room, repair);
    }
    phx_lost_clear(planner, slot);
    return status;
}

/* The plan for one failed run without anything else asked for; arguments that fit registers. */
static __attribute__((noinline)) phx_status plan_one(phx_planner *planner, uint32_t slot,
                                                     const phx_run *failed, phx_move *moves,
                                                     phx_repair *repair, uint32_t room)
{
    return plan_any(planner, slot, NULL, failed, 1, NULL, 0, moves, room, repair);
}

/* As plan_near for a gang of several runs: the walk ends at the lost host, and the heads of the
 * runs it meets tell the level, or else the slower way does. */
static __attribute__((noinline)) phx_status plan_chain(phx_planner *planner, uint32_t slot,
                                                       const phx_run *failed, phx_move *moves,
                                                       phx_repair *repair, uint32_t room)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t ranks = gang->ranks;
    const uint32_t from = failed->first;
    const uint32_t leaves = failed->count;
    if (from >= planner->tree->level[0].count) {
        return plan_one(planner, slot, failed, moves, repair, room);
    }
    const phx_target to = phx_near_target(planner, from);
    const uint32_t before = phx_slot_level(gang);
    const uint32_t after = to.level > before ? to.level : before;
    uint32_t apart = 0;
    uint32_t rank = 0;
    uint32_t run = gang->head;
    uint32_t held = planner->links[run].count;
    uint32_t next = planner->links[run].next;
    while (from - run >= held && next != 0) {
        apart |= run ^ to.first;
        rank += held;
        run = next - 1;
        held = planner->links[run].count;
        next = planner->links[run].next;
    }
    apart |= from == run ? 0 : run ^ to.first;
    apart |= next != 0 && rank + held < ranks ? (next - 1) ^ to.first : 0;
    const uint32_t offset = from - run;
    rank += offset;
    if (to.first == PHX_NONE || offset >= held || held - offset < leaves || rank >= ranks ||
        ranks - rank < leaves || apart >> planner->tree->leaves_shift[after - 1] == 0) {
        return plan_one(planner, slot, failed, moves, repair, room);
    }
    phx_answer(planner->tree, (phx_move){rank, from, to.first, leaves}, before, after, to.spare,
               moves, repair);
    return PHX_OK;
}

/* A lost host of a gang of one run: planned without a call. */
PHX_INLINE phx_status plan_near(phx_planner *planner, uint32_t slot, const phx_run *failed,
                                phx_move *moves, phx_repair *repair, uint32_t room)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (PHX_RARELY(!phx_is_near(planner, gang, *failed))) {
        return plan_one(planner, slot, failed, moves, repair, room);
    }
    const uint32_t head = gang->head;
    const uint32_t ranks = gang->ranks;
    const uint32_t from = failed->first;
    const uint32_t leaves = failed->count;
    if (PHX_RARELY(planner->links[head].count < ranks)) {
        return plan_chain(planner, slot, failed, moves, repair, room);
    }
    const uint32_t rank = from - head;
    if (PHX_RARELY(rank >= ranks || ranks - rank < leaves || ranks == leaves)) {
        return plan_one(planner, slot, failed, moves, repair, room);
    }
    const phx_target to = phx_near_target(planner, from);
    const uint32_t before = phx_slot_level(gang);
    const uint32_t after = to.level > before ? to.level : before;
    /* Survivors at both ends of the run, without branches: which host it is nothing foretells. */
    const uint32_t low = head + (leaves & (0 - (uint32_t)(rank == 0)));
    const uint32_t last = head + ranks - 1 - (leaves & (0 - (uint32_t)(rank + leaves == ranks)));
    const uint32_t apart = (low ^ to.first) | (last ^ to.first);
    if (PHX_RARELY(to.first == PHX_NONE || apart >> planner->tree->leaves_shift[after - 1] == 0)) {
        return plan_one(planner, slot, failed, moves, repair, room);
    }
    phx_answer(planner->tree, (phx_move){rank, from, to.first, leaves}, before, after, to.spare,
               moves, repair);
    return PHX_OK;
}

static __attribute__((noinline)) phx_status replan_apply(phx_planner *planner, uint32_t slot,
                                                         const phx_run *failed,
                                                         uint32_t failed_count,
                                                         const int32_t *const *limits,
                                                         uint32_t flags, phx_move *moves,
                                                         uint32_t room, phx_repair *repair);

phx_status phx_replan(phx_planner *planner, uint32_t slot, const phx_run *failed,
                      uint32_t failed_count, const int32_t *const *limits, uint32_t flags,
                      phx_move *moves, uint32_t room, phx_repair *repair)
{
    if (PHX_RARELY(!phx_slot_is_held(planner, slot))) {
        return PHX_STALE_HANDLE;
    }
    if (PHX_RARELY(failed_count != 1 || limits != NULL || flags != 0 || room == 0 ||
                   planner->count->down != 0)) {
        if ((flags & PHX_REPLAN_APPLY) != 0) {
            return replan_apply(planner, slot, failed, failed_count, limits, flags, moves, room,
                                repair);
        }
        return plan_any(planner, slot, NULL, failed, failed_count, limits, flags, moves, room,
                        repair);
    }
    return plan_near(planner, slot, failed, moves, repair, room);
}

/* Commits a plan just made; the gang's level comes with it unless levels of ours are hidden. */
static void commit_plan(phx_planner *planner, uint32_t slot, const phx_run *failed,
                        uint32_t failed_count, const phx_move *moves, const phx_repair *repair)
{
    const phx_tree *tree = planner->tree;
    const uint32_t level = tree->depth == tree->visible_depth ? repair->level_after : PHX_NONE;
    phx_commit(planner, slot, moves, repair->moves, failed, failed_count, level);
}

static __attribute__((noinline)) phx_status replan_apply(phx_planner *planner, uint32_t slot,
                                                         const phx_run *failed,
                                                         uint32_t failed_count,
                                                         const int32_t *const *limits,
                                                         uint32_t flags, phx_move *moves,
                                                         uint32_t room, phx_repair *repair)
{
    const phx_status status = phx_replan(planner, slot, failed, failed_count, limits,
                                         flags & ~(uint32_t)PHX_REPLAN_APPLY, moves, room, repair);
    if (status == PHX_OK) {
        commit_plan(planner, slot, failed, failed_count, moves, repair);
    }
    return status;
}

phx_status phx_replan_sliced(phx_planner *planner, uint32_t slot, const phx_request *request,
                             const phx_run *failed, uint32_t failed_count,
                             const int32_t *const *limits, uint32_t flags, phx_move *moves,
                             uint32_t room, phx_repair *repair)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    if (request->slice_count == 0 && request->part_count == 0) {
        return phx_replan(planner, slot, failed, failed_count, limits, flags, moves, room, repair);
    }
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (request->ranks != gang->ranks || request->group != gang->group ||
        request->group_level != phx_slot_group_level(gang)) {
        return PHX_BAD_GANG;
    }
    const phx_status status =
        plan_any(planner, slot, request, failed, failed_count, limits, flags, moves, room, repair);
    if (status == PHX_OK && (flags & PHX_REPLAN_APPLY) != 0) {
        commit_plan(planner, slot, failed, failed_count, moves, repair);
    }
    return status;
}
