#include "replan.h"

/* Whether the gang still has these ranks on these leaves, in rank order and without overlap. */
static int moves_match(const phx_planner *planner, uint32_t slot, const phx_move *moves,
                       uint32_t count)
{
    const uint32_t ranks = planner->gangs[slot].ranks;
    phx_cursor at = phx_cursor_start(planner, slot);
    for (uint32_t move = 0; move < count; ++move) {
        const phx_move *wanted = &moves[move];
        if (wanted->count == 0 || wanted->rank < at.rank || wanted->rank >= ranks ||
            wanted->count > ranks - wanted->rank) {
            return 0;
        }
        while (at.rank < wanted->rank) {
            phx_cursor_next(planner, &at, wanted->rank - at.rank);
        }
        const phx_run piece = phx_cursor_next(planner, &at, wanted->count);
        if (piece.first != wanted->from || piece.count != wanted->count) {
            return 0;
        }
    }
    return 1;
}

/* Whether every target is available or in a spare, each leaf once. */
static int targets_match(phx_planner *planner, const phx_move *moves, uint32_t count)
{
    const uint32_t leaves = planner->tree->level[0].count;
    int match = 1;
    uint32_t marked = 0;
    for (; marked < count && match; ++marked) {
        const phx_move *move = &moves[marked];
        if (move->to >= leaves || move->count > leaves - move->to) {
            match = 0;
            break;
        }
        const uint32_t end = move->to + move->count;
        match = phx_bits_next(planner->pick, move->to, end) == end;
        for (uint32_t leaf = phx_bits_next_clear(planner->space.whole[0], move->to, end);
             leaf < end && match; ++leaf) {
            match = phx_bit(planner->space.whole[0], leaf) || phx_in_spare(planner, leaf);
        }
        phx_bits_fill(planner->pick, move->to, move->count, 1);
    }
    for (uint32_t at = 0; at < marked; ++at) {
        phx_bits_fill(planner->pick, moves[at].to, moves[at].count, 0);
    }
    return match;
}

/* Runs stay maximal: joins a run with the one behind it when they touch. */
static void join(phx_planner *planner, uint32_t run)
{
    const uint32_t next = planner->links[run].next;
    if (next == 0 || run + planner->links[run].count != next - 1) {
        return;
    }
    planner->links[run].count += planner->links[next - 1].count;
    planner->links[run].next = planner->links[next - 1].next;
    planner->links[next - 1].count = 0;
    planner->links[next - 1].next = 0;
}

/* Replaces the leaves of some ranks inside one run by a run elsewhere. */
static void relink(phx_planner *planner, phx_gang_slot *gang, const phx_move *move)
{
    uint32_t before = PHX_NONE;
    uint32_t run = gang->head;
    uint32_t rank = 0;
    while (rank + planner->links[run].count <= move->rank) {
        rank += planner->links[run].count;
        before = run;
        run = planner->links[run].next - 1;
    }
    const uint32_t head = move->rank - rank;
    const uint32_t tail = planner->links[run].count - head - move->count;
    uint32_t next = planner->links[run].next;
    planner->links[run].count = 0;
    planner->links[run].next = 0;
    if (tail > 0) {
        const uint32_t first = move->from + move->count;
        planner->links[first].count = tail;
        planner->links[first].next = next;
        next = first + 1;
    }
    planner->links[move->to].count = move->count;
    planner->links[move->to].next = next;
    if (head > 0) {
        planner->links[run].count = head;
        planner->links[run].next = move->to + 1;
        before = run;
    } else if (before != PHX_NONE) {
        planner->links[before].next = move->to + 1;
    } else {
        gang->head = move->to;
    }
    join(planner, move->to);
    if (before != PHX_NONE) {
        join(planner, before);
    }
}

/* The host that some leaves are, on a tree of power-of-two fanouts, or PHX_NONE. */
PHX_INLINE uint32_t host_of(const phx_tree *tree, uint32_t first, uint32_t count)
{
    const int whole = tree->buddy && count == tree->level[1].leaves && (first & (count - 1)) == 0;
    return whole ? first >> tree->leaves_shift[1] : PHX_NONE;
}

static void leave(phx_planner *planner, const phx_move *move)
{
    const uint32_t host = host_of(planner->tree, move->from, move->count);
    if (host != PHX_NONE && planner->host_owner[host] != 0) {
        planner->host_owner[host] = 0;
    } else {
        phx_disown(planner, move->from, move->count);
    }
    if (PHX_MUTANT_QUARANTINE_FREED) {
        phx_settle(planner, move->from, move->count);
        return;
    }
    phx_bits_fill(planner->quarantine, move->from, move->count, 1);
}

/* Opens the spares that a move goes to, and takes its leaves; 1 when a spare was opened. */
static int open_and_take(phx_planner *planner, const phx_move *move)
{
    const uint32_t size = planner->count->spare_size;
    const uint32_t end = move->to + move->count;
    int opened = 0;
    for (uint32_t leaf = move->to; planner->count->spare_count != 0 && leaf < end;) {
        const uint32_t vertex = phx_ancestor(planner->tree, 0, leaf, size);
        if (phx_bit(planner->spare, vertex)) {
            phx_spares_open(planner, size, vertex);
            phx_bit_clear(planner->opened, vertex);
            opened = 1;
        }
        leaf = phx_leaf_first(planner->tree, size, vertex) +
               phx_leaf_count(planner->tree, size, vertex);
    }
    phx_space_take(&planner->space, move->to, move->count);
    return opened;
}

/* The same for one host where spares are hosts: a spare changes hands as it is. */
PHX_INLINE int take_host(phx_planner *planner, const phx_move *move, uint32_t host)
{
    if (!phx_bit(planner->spare, host)) {
        phx_space_take(&planner->space, move->to, move->count);
        return 0;
    }
    phx_bit_clear(planner->spare, host);
    --planner->spare_held[move->to >> planner->tree->leaves_shift[planner->count->spare_per]];
    ++planner->count->spare_missing;
    return 1;
}

static int enter(phx_planner *planner, uint32_t slot, const phx_move *move)
{
    const uint32_t host = host_of(planner->tree, move->to, move->count);
    const int simple =
        host != PHX_NONE && planner->count->spare_count != 0 && planner->count->spare_size == 1;
    const int opened = simple ? take_host(planner, move, host) : open_and_take(planner, move);
    if (host != PHX_NONE) {
        planner->host_owner[host] = slot + 1;
    } else {
        phx_own(planner, move->to, move->count, slot);
    }
    return opened;
}

/* Leaves that the gang holds: their health changes, nothing becomes available. */
static void mark_down(phx_planner *planner, phx_run failed)
{
    uint32_t at = failed.first;
    uint32_t left = failed.count;
    while (left > 0) {
        const uint32_t shift = at & 63;
        const uint32_t here = left < 64 - shift ? left : 64 - shift;
        const uint32_t word = at >> 6;
        const uint64_t bits = phx_low(here) << shift;
        const uint64_t down = planner->down[word];
        const uint64_t ill = down | planner->suspect[word] | planner->cordoned[word];
        planner->count->down += phx_popcount(bits & ~down);
        planner->count->ill += phx_popcount(bits & ~ill);
        planner->down[word] = down | bits;
        planner->suspect[word] &= ~bits;
        at += here;
        left -= here;
    }
}

/* Whether the gang holds every leaf that is listed as failed. */
static int failed_match(const phx_planner *planner, uint32_t slot, const phx_run *failed,
                        uint32_t count)
{
    const uint32_t leaves = planner->tree->level[0].count;
    for (uint32_t at = 0; at < count; ++at) {
        const phx_run run = failed[at];
        if (run.first >= leaves || run.count > leaves - run.first) {
            return 0;
        }
        for (uint32_t leaf = run.first; leaf < run.first + run.count; ++leaf) {
            if (phx_leaf_slot(planner, leaf) != slot) {
                return 0;
            }
        }
    }
    return 1;
}

void phx_commit(phx_planner *planner, uint32_t slot, const phx_move *moves, uint32_t move_count,
                const phx_run *failed, uint32_t failed_count, uint32_t level)
{
    phx_gang_slot *gang = &planner->gangs[slot];
    int opened = 0;
    for (uint32_t at = 0; at < failed_count; ++at) {
        mark_down(planner, failed[at]);
    }
    for (uint32_t at = 0; at < move_count; ++at) {
        leave(planner, &moves[at]);
        relink(planner, gang, &moves[at]);
    }
    for (uint32_t at = 0; at < move_count; ++at) {
        opened |= enter(planner, slot, &moves[at]);
    }
    for (uint32_t at = 0; opened && at < move_count; ++at) {
        phx_spares_refill(planner, moves[at].to, moves[at].count);
    }
    if (move_count > 0) {
        const uint32_t found = level != PHX_NONE ? level : phx_span_level(planner, slot);
        phx_slot_set_level(gang, found);
    }
}

/* Leaf of the rank at the cursor once the moves are made; advances both. */
static uint32_t next_leaf(const phx_planner *planner, phx_cursor *at, const phx_move *moves,
                          uint32_t count, uint32_t *move)
{
    const uint32_t rank = at->rank;
    const uint32_t leaf = phx_cursor_next(planner, at, 1).first;
    while (*move < count && rank >= moves[*move].rank + moves[*move].count) {
        ++*move;
    }
    const int moved = *move < count && rank >= moves[*move].rank;
    return moved ? moves[*move].to + (rank - moves[*move].rank) : leaf;
}

/* Whether, of the ranks of a part, every run of `size` still shares a vertex of a level. */
static int slice_match(const phx_planner *planner, uint32_t slot, phx_run part, phx_slice slice,
                       const phx_move *moves, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    uint32_t domain = PHX_NONE;
    uint32_t move = 0;
    for (phx_cursor at = phx_cursor_start(planner, slot); at.rank < part.first + part.count;) {
        const uint32_t rank = at.rank;
        const uint32_t leaf = next_leaf(planner, &at, moves, count, &move);
        if (rank < part.first) {
            continue;
        }
        const uint32_t here = phx_ancestor(tree, 0, leaf, slice.level);
        domain = (rank - part.first) % slice.size == 0 ? here : domain;
        if (here != domain || phx_is_phantom(tree, slice.level, here)) {
            return 0;
        }
    }
    return 1;
}

/* Whether ranks from `first` on keep the slices of a request. */
static int slices_match(const phx_planner *planner, uint32_t slot, const phx_request *request,
                        uint32_t first, const phx_move *moves, uint32_t count)
{
    const phx_run ranks = {first, request->ranks};
    int match = 1;
    for (uint32_t at = 0; at < request->slice_count && match; ++at) {
        match = request->slices[at].size == 1 ||
                slice_match(planner, slot, ranks, request->slices[at], moves, count);
    }
    return match;
}

/* Whether every part keeps its groups and slices. */
static int parts_match(const phx_planner *planner, uint32_t slot, const phx_request *request,
                       const phx_move *moves, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t at = 0; at < request->part_count; ++at) {
        const phx_request *part = &request->parts[at].request;
        const phx_slice group = {part->group, part->group_level};
        const phx_run ranks = {first, part->ranks};
        const uint32_t within = request->parts[at].within;
        const uint32_t own = within == PHX_NONE ? 0 : planner->tree->internal[within];
        const phx_slice whole = {part->ranks, own};
        if ((part->group > 1 && !slice_match(planner, slot, ranks, group, moves, count)) ||
            !slices_match(planner, slot, part, first, moves, count) ||
            (own > 0 && !slice_match(planner, slot, ranks, whole, moves, count))) {
            return 0;
        }
        first += part->ranks;
    }
    return 1;
}

/* Whether the gang keeps its groups and its domain: a plan of another gang may not. */
static int chain_match(const phx_planner *planner, uint32_t slot, const phx_move *moves,
                       uint32_t count)
{
    const phx_tree *tree = planner->tree;
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t level = phx_slot_group_level(gang);
    const uint32_t top = phx_slot_top(tree, gang);
    uint32_t home = PHX_NONE;
    uint32_t domain = PHX_NONE;
    uint32_t move = 0;
    for (phx_cursor at = phx_cursor_start(planner, slot); at.rank < gang->ranks;) {
        const int opens = at.rank % gang->group == 0;
        const uint32_t leaf = next_leaf(planner, &at, moves, count, &move);
        const uint32_t here = phx_ancestor(tree, 0, leaf, level);
        const uint32_t root = phx_ancestor(tree, 0, leaf, top);
        domain = opens ? here : domain;
        home = home == PHX_NONE ? root : home;
        if (root != home ||
            (gang->group > 1 && (here != domain || phx_is_phantom(tree, level, here)))) {
            return 0;
        }
    }
    return phx_slot_within(gang) == PHX_ANYWHERE || !phx_is_phantom(tree, top, home);
}

phx_status phx_apply(phx_planner *planner, uint32_t slot, const phx_move *moves,
                     uint32_t move_count, const phx_run *failed, uint32_t failed_count)
{
    return phx_apply_sliced(planner, slot, NULL, moves, move_count, failed, failed_count);
}

phx_status phx_apply_sliced(phx_planner *planner, uint32_t slot, const phx_request *request,
                            const phx_move *moves, uint32_t move_count, const phx_run *failed,
                            uint32_t failed_count)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    if (!moves_match(planner, slot, moves, move_count) ||
        !targets_match(planner, moves, move_count) ||
        !failed_match(planner, slot, failed, failed_count) ||
        !chain_match(planner, slot, moves, move_count)) {
        return PHX_STALE_PLAN;
    }
    if (request != NULL && (request->ranks != planner->gangs[slot].ranks ||
                            !slices_match(planner, slot, request, 0, moves, move_count) ||
                            !parts_match(planner, slot, request, moves, move_count))) {
        return PHX_STALE_PLAN;
    }
    phx_commit(planner, slot, moves, move_count, failed, failed_count, PHX_NONE);
    return PHX_OK;
}
