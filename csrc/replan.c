#include "replan.h"

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

/* One spare a domain: the lowest in the vertex that can take `need` leaves, or PHX_NONE. */
static uint32_t spare_in(const phx_planner *planner, uint32_t level, uint32_t vertex, uint32_t need)
{
    const phx_tree *tree = planner->tree;
    const uint32_t size = planner->count->spare_size;
    if (planner->count->spare_count == 0 || level < size || tree->level[size].leaves < need) {
        return PHX_NONE;
    }
    const uint32_t first = phx_leaf_first(tree, level, vertex);
    const uint32_t last = first + phx_leaf_count(tree, level, vertex) - 1;
    const uint32_t end = phx_ancestor(tree, 0, last, size) + 1;
    const uint32_t found = phx_bits_next(planner->spare, phx_ancestor(tree, 0, first, size), end);
    return found < end ? phx_leaf_first(tree, size, found) : PHX_NONE;
}

/* The common failure: one whole group domain of a gang on a tree with equal fanouts. The first leaf
 * of its new block, or PHX_NONE when the full search has to decide. */
static uint32_t quick_target(const phx_planner *planner, uint32_t slot, phx_run failed,
                             uint32_t *spares)
{
    const phx_tree *tree = planner->tree;
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t groups = phx_slot_group_level(gang);
    const uint32_t leaves = tree->level[groups].leaves;
    const uint32_t within = phx_slot_within(gang);
    const uint32_t top = within == PHX_ANYWHERE ? tree->depth : within;
    if (!tree->uniform || planner->count->spare_count > 1 || groups != 1 ||
        failed.count != leaves || failed.first % leaves != 0 || leaves % gang->group != 0 ||
        gang->ranks <= leaves || tree->level[groups].phantoms != 0 ||
        planner->host_owner[failed.first / leaves] != slot + 1) {
        return PHX_NONE;
    }
    uint32_t vertex = failed.first / leaves;
    const uint32_t shape = tree->shape_base[groups + 1];
    for (uint32_t level = groups + 1; level <= top; ++level) {
        vertex = phx_parent(tree, level - 1, vertex);
        uint32_t first = phx_block_find(&planner->space, leaves, shape, level, vertex);
        if (first == PHX_NONE && gang->group < leaves &&
            phx_space_count(&planner->space, level, vertex) >= leaves) {
            return PHX_NONE; /* pieces of several hosts may do */
        }
        if (first == PHX_NONE) {
            first = spare_in(planner, level, vertex, leaves);
            *spares = first != PHX_NONE;
        }
        if (first != PHX_NONE) {
            return first;
        }
    }
    return PHX_NONE;
}

static uint32_t rank_of(const phx_planner *planner, uint32_t slot, uint32_t leaf)
{
    uint32_t rank = 0;
    uint32_t run = planner->gangs[slot].head;
    while (leaf < run || leaf - run >= planner->run_count[run]) {
        rank += planner->run_count[run];
        run = planner->run_next[run] - 1;
    }
    return rank + leaf - run;
}

static int plan_quick(const phx_planner *planner, uint32_t slot, phx_run failed, phx_move *moves,
                      phx_repair *repair)
{
    uint32_t spares = 0;
    const uint32_t to = quick_target(planner, slot, failed, &spares);
    if (to == PHX_NONE) {
        return 0;
    }
    const uint32_t rank = rank_of(planner, slot, failed.first);
    if (rank + failed.count > planner->gangs[slot].ranks) {
        return 0;
    }
    moves[0] = (phx_move){rank, failed.first, to, failed.count};
    repair->moves = 1;
    repair->moved = failed.count;
    repair->dead = failed.count;
    repair->spares_used = spares;
    repair->level_after = phx_level_after(planner, slot, moves, 1);
    return 1;
}

/* Broken units, and the dead ranks in *dead. */
static uint32_t count_broken(const phx_planner *planner, uint32_t slot, uint32_t *dead)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t broken = 0;
    uint32_t here = 0;
    *dead = 0;
    for (phx_cursor at = phx_cursor_start(planner, slot); at.rank < gang->ranks;) {
        const uint32_t left = gang->group - at.rank % gang->group;
        const phx_run piece = phx_cursor_next(planner, &at, left);
        here += phx_bits_count(planner->lost, piece.first, piece.count);
        if (at.rank % gang->group == 0) {
            broken += here > 0;
            *dead += here;
            here = 0;
        }
    }
    return broken;
}

/* The domain units may move in: the one of the first survivor, or of the first rank. */
static void set_scope(phx_plan *plan)
{
    const phx_planner *planner = plan->planner;
    const phx_gang_slot *gang = &planner->gangs[plan->slot];
    const uint32_t within = phx_slot_within(gang);
    plan->scope_level = within == PHX_ANYWHERE ? planner->tree->depth : within;
    plan->scope_vertex = phx_ancestor(planner->tree, 0, gang->head, plan->scope_level);
}

static phx_status replan_full(phx_planner *planner, uint32_t slot, const int32_t *const *limits,
                              uint32_t flags, phx_move *moves, uint32_t room, phx_repair *repair)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t broken = count_broken(planner, slot, &repair->dead);
    if (broken == 0) {
        repair->level_after = repair->level_before;
        return PHX_OK;
    }
    phx_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.planner = planner;
    plan.slot = slot;
    plan.group = gang->group;
    plan.group_level = phx_slot_group_level(gang);
    plan.limits = limits;
    plan.moves = moves;
    plan.room = room;
    set_scope(&plan);
    return phx_repair_plan(&plan, broken, (flags & PHX_REPLAN_PARTIAL) != 0, repair);
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

phx_status phx_replan(phx_planner *planner, uint32_t slot, const phx_run *failed,
                      uint32_t failed_count, const int32_t *const *limits, uint32_t flags,
                      phx_move *moves, uint32_t room, phx_repair *repair)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    memset(repair, 0, sizeof *repair);
    repair->proven = 1;
    repair->level_before = planner->tree->level[phx_slot_level(&planner->gangs[slot])].visible;
    phx_status status = PHX_OK;
    phx_run loss;
    if (!(failed_count <= 1 && limits == NULL && room > 0 && (flags & PHX_REPLAN_CORDONED) == 0 &&
          single_loss(planner, slot, failed, failed_count, &loss) &&
          plan_quick(planner, slot, loss, moves, repair))) {
        status = phx_lost_mark(planner, slot, failed, failed_count, flags);
        if (status == PHX_OK) {
            status = replan_full(planner, slot, limits, flags, moves, room, repair);
        }
        phx_lost_clear(planner, slot);
    }
    if (status == PHX_OK && (flags & PHX_REPLAN_APPLY) != 0) {
        status = phx_apply(planner, slot, moves, repair->moves, failed, failed_count);
    }
    return status;
}

phx_status phx_replan_word(phx_replan_call *call, uint64_t word)
{
    const phx_run failed = {(uint32_t)(word >> 21) & 0x1fffff, (uint32_t)(word >> 42) & 0x1fffff};
    return phx_replan(call->planner, (uint32_t)word & 0x1fffff, &failed, failed.count != 0, NULL,
                      PHX_REPLAN_APPLY, call->moves, PHX_CALL_MOVES, &call->repair);
}
