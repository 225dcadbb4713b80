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

/* Vertices of 2^at_shift leaves inside a block of 2^shift leaves, as bits of one word; 0 where they
 * do not fit one and `words` has none of them. *base is the vertex that bit 0 stands for. */
PHX_INLINE uint64_t members_inside(const uint64_t *words, uint32_t leaf, uint32_t shift,
                                   uint32_t at_shift, uint32_t *base)
{
    uint32_t first = leaf >> shift << (shift - at_shift);
    if (shift - at_shift <= 6) {
        *base = first;
        return words[first >> 6] >> (first & 63) & phx_low(1u << (shift - at_shift));
    }
    const uint32_t end = (first >> 6) + (1u << (shift - at_shift - 6));
    uint32_t word = first >> 6;
    while (word < end && words[word] == 0) {
        ++word;
    }
    *base = word << 6;
    return word < end ? words[word] : 0;
}

/* First leaf of the smallest block of at least one host inside 2^shift leaves, or PHX_NONE. */
PHX_INLINE uint32_t block_inside(const phx_space *space, uint64_t shapes, uint32_t leaf,
                                 uint32_t shift)
{
    const phx_tree *tree = space->tree;
    for (uint64_t left = shapes; left != 0; left &= left - 1) {
        const uint32_t shape = phx_ctz(left);
        const phx_shape *kind = &tree->shape[shape];
        if (kind->vertex_shift > shift) {
            return PHX_NONE;
        }
        uint32_t base;
        const uint64_t members =
            members_inside(space->index[shape].row[0], leaf, shift, kind->vertex_shift, &base);
        if (members != 0) {
            const uint32_t vertex = base + phx_ctz(members);
            const uint32_t children = (uint32_t)kind->vertex_shift - kind->child_shift;
            const uint32_t child = vertex << children;
            const uint64_t mask =
                space->whole[kind->level - 1][child >> 6] >> (child & 63) & phx_low(1u << children);
            return (child + phx_ctz(phx_runs_of(mask, kind->order))) << kind->child_shift;
        }
    }
    return PHX_NONE;
}

/* The common failure: one whole host of a gang on a tree of power-of-two fanouts, at most one spare
 * host a domain. The first leaf of its new host, or PHX_NONE when the full search has to decide. */
static uint32_t quick_target(const phx_planner *planner, const phx_gang_slot *gang, phx_run failed,
                             uint32_t *spares)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    const phx_space *space = &planner->space;
    const uint32_t within = phx_slot_within(gang);
    const uint32_t top = within == PHX_ANYWHERE ? tree->depth : within;
    const uint64_t shapes = *space->shapes >> tree->shape_base[2] << tree->shape_base[2];
    for (uint32_t level = 2; level <= top; ++level) {
        const uint32_t shift = tree->leaves_shift[level];
        const uint32_t first = block_inside(space, shapes, failed.first, shift);
        if (first != PHX_NONE) {
            return first;
        }
        if (gang->group < failed.count &&
            space->free_count[level][failed.first >> shift] >= failed.count) {
            return PHX_NONE; /* pieces of several hosts may do */
        }
        if (count->spare_count != 0) {
            uint32_t base;
            const uint64_t held =
                members_inside(planner->spare, failed.first, shift, tree->leaves_shift[1], &base);
            if (held != 0) {
                *spares = 1;
                return (base + phx_ctz(held)) << tree->leaves_shift[1];
            }
        }
    }
    return PHX_NONE;
}

/* Whether quick_target can decide: whole groups, all of them dead, nothing of the gang beside them
 * in their host, and a survivor elsewhere. */
PHX_INLINE int is_quick(const phx_planner *planner, uint32_t slot, phx_run failed)
{
    const phx_tree *tree = planner->tree;
    const phx_counters *count = planner->count;
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (!tree->buddy || tree->depth < 2 || phx_slot_group_level(gang) != 1) {
        return 0;
    }
    const uint32_t leaves = tree->level[1].leaves;
    return failed.count == leaves && (failed.first & (leaves - 1)) == 0 && gang->ranks > leaves &&
           (leaves & (gang->group - 1)) == 0 && (gang->group & (gang->group - 1)) == 0 &&
           gang->group <= leaves && tree->level[1].phantoms == 0 && count->spare_count <= 1 &&
           (count->spare_count == 0 || count->spare_size == 1) &&
           planner->host_owner[failed.first >> tree->leaves_shift[1]] == slot + 1;
}

/* Rank of the first failed leaf, and the lowest level that holds the gang with `to` in its place.
 */
PHX_INLINE uint32_t locate(const phx_planner *planner, const phx_gang_slot *gang, phx_run failed,
                           uint32_t to, uint32_t *level)
{
    const phx_tree *tree = planner->tree;
    uint32_t low = to;
    uint32_t high = to + failed.count - 1;
    uint32_t rank = PHX_NONE;
    uint32_t before = 0;
    for (uint32_t next = gang->head + 1; next != 0 && before < gang->ranks;) {
        uint32_t first = next - 1;
        const uint32_t held = planner->run_count[first];
        const uint32_t here = held < gang->ranks - before ? held : gang->ranks - before;
        uint32_t last = first + here - 1;
        next = planner->run_next[first];
        if (failed.first - first < here) {
            rank = before + failed.first - first;
            if (here == failed.count) {
                before += here;
                continue;
            }
            first += first == failed.first ? failed.count : 0;
            last -= last == failed.first + failed.count - 1 ? failed.count : 0;
        }
        before += here;
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    uint32_t span = 0;
    while (low >> tree->leaves_shift[span] != high >> tree->leaves_shift[span]) {
        if (++span > tree->depth) {
            break;
        }
    }
    *level = span > tree->depth ? tree->visible_depth + 1 : tree->level[span].visible;
    return rank;
}

static int plan_quick(const phx_planner *planner, uint32_t slot, phx_run failed, phx_move *moves,
                      phx_repair *repair)
{
    const phx_gang_slot *gang = &planner->gangs[slot];
    uint32_t spares = 0;
    if (!is_quick(planner, slot, failed)) {
        return 0;
    }
    const uint32_t to = quick_target(planner, gang, failed, &spares);
    if (to == PHX_NONE) {
        return 0;
    }
    const uint32_t rank = locate(planner, gang, failed, to, &repair->level_after);
    if (rank == PHX_NONE || rank + failed.count > gang->ranks) {
        return 0;
    }
    moves[0] = (phx_move){rank, failed.first, to, failed.count};
    repair->moves = 1;
    repair->moved = failed.count;
    repair->dead = failed.count;
    repair->spares_used = spares;
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
        phx_commit(planner, slot, moves, repair->moves, failed, failed_count);
    }
    return status;
}

phx_status phx_replan_word(phx_replan_call *call, uint64_t word)
{
    const phx_run failed = {(uint32_t)(word >> 21) & 0x1fffff, (uint32_t)(word >> 42) & 0x1fffff};
    return phx_replan(call->planner, (uint32_t)word & 0x1fffff, &failed, failed.count != 0, NULL,
                      PHX_REPLAN_APPLY, call->moves, PHX_CALL_MOVES, &call->repair);
}
