#include "replan.h"

#include <string.h>

static uint32_t lost_in(const phx_planner *planner, phx_run run)
{
    return phx_bits_count(planner->lost, run.first, run.count);
}

uint32_t phx_plan_losses(const phx_plan *plan, phx_cursor at, uint32_t ranks, uint32_t *leaf)
{
    uint32_t dead = 0;
    for (uint32_t left = ranks; left > 0;) {
        const phx_run piece = phx_cursor_next(plan->planner, &at, left);
        const uint32_t here = lost_in(plan->planner, piece);
        if (here > 0 && dead == 0) {
            *leaf = phx_bits_next(plan->planner->lost, piece.first, piece.first + piece.count);
        }
        dead += here;
        left -= piece.count;
    }
    return dead;
}

void phx_plan_skip(const phx_plan *plan, phx_cursor *at, uint32_t ranks)
{
    for (uint32_t left = ranks; left > 0;) {
        left -= phx_cursor_next(plan->planner, at, left).count;
    }
}

uint32_t phx_count_broken(const phx_plan *plan, uint32_t *dead)
{
    uint32_t broken = 0;
    uint32_t leaf = 0;
    *dead = 0;
    phx_cursor at = phx_plan_start(plan);
    while (at.rank < plan->ranks) {
        const uint32_t here = phx_plan_losses(plan, at, plan->unit, &leaf);
        phx_plan_skip(plan, &at, plan->unit);
        broken += here > 0;
        *dead += here;
    }
    return broken;
}

/* The next unit with a dead rank at or after the cursor; 0 when there is none. */
static int next_broken(const phx_plan *plan, phx_cursor *at, uint32_t *dead, uint32_t *leaf)
{
    const uint32_t ranks = plan->ranks;
    while (at->rank < ranks) {
        *dead = phx_plan_losses(plan, *at, plan->group, leaf);
        if (*dead > 0) {
            return 1;
        }
        phx_plan_skip(plan, at, plan->group);
    }
    return 0;
}

phx_cursor phx_plan_start(const phx_plan *plan)
{
    phx_cursor at = phx_cursor_start(plan->planner, plan->slot);
    phx_plan_skip(plan, &at, plan->first);
    at.rank = 0;
    return at;
}

/* Moves of parts repaired before stay apart, since they may be dropped with their part. */
static void append(phx_plan *plan, phx_move move)
{
    if (plan->count > plan->before) {
        phx_move *last = &plan->moves[plan->count - 1];
        if (last->rank + last->count == move.rank && last->from + last->count == move.from &&
            last->to + last->count == move.to) {
            last->count += move.count;
            return;
        }
    }
    if (plan->count == plan->room) {
        plan->overflow = 1;
        return;
    }
    plan->moves[plan->count++] = move;
}

static void record(phx_plan *plan, uint32_t rank, uint32_t from, uint32_t to, uint32_t count)
{
    append(plan, (phx_move){plan->first + rank, from, to, count});
}

uint32_t phx_plan_record(phx_plan *plan, phx_cursor at, uint32_t ranks, const phx_search *found,
                         uint32_t pick, int whole)
{
    phx_planner *planner = plan->planner;
    for (uint32_t left = ranks; left > 0;) {
        const uint32_t rank = at.rank;
        const phx_run piece = phx_cursor_next(planner, &at, left);
        left -= piece.count;
        uint32_t leaf = piece.first;
        const uint32_t end = piece.first + piece.count;
        while (leaf < end) {
            uint32_t stop = end;
            if (!whole) {
                leaf = phx_bits_next(planner->lost, leaf, end);
                stop = phx_bits_next_clear(planner->lost, leaf, end);
                if (leaf == end) {
                    break;
                }
            }
            phx_run to = phx_pick_next(found, pick);
            to.count = to.count < stop - leaf ? to.count : stop - leaf;
            record(plan, rank + leaf - piece.first, leaf, to.first, to.count);
            pick = to.first + to.count;
            leaf += to.count;
        }
    }
    return pick;
}

/* The leaves of a move leave the free space; those of a spare are opened first. */
static void hold_move(phx_planner *planner, const phx_move *move)
{
    const uint32_t end = move->to + move->count;
    for (uint32_t leaf = phx_bits_next_clear(planner->space.whole[0], move->to, end); leaf < end;
         leaf = phx_bits_next_clear(planner->space.whole[0], leaf + 1, end)) {
        const uint32_t size = planner->count->spare_size;
        phx_spares_open(planner, size, phx_ancestor(planner->tree, 0, leaf, size));
    }
    phx_space_take(&planner->space, move->to, move->count);
    phx_bits_fill(planner->taken, move->to, move->count, 1);
}

void phx_plan_begin(phx_plan *plan)
{
    plan->count = plan->before;
    plan->unmet = 0;
    plan->overflow = 0;
    for (uint32_t at = 0; at < plan->before && !PHX_MUTANT_PART_FORGOTTEN; ++at) {
        hold_move(plan->planner, &plan->moves[at]);
    }
}

/* The picked leaves leave the free space until the plan is undone or applied. */
static void hold_picks(phx_plan *plan, const phx_search *found)
{
    phx_planner *planner = plan->planner;
    for (phx_run run = phx_pick_next(found, found->low); run.count > 0;
         run = phx_pick_next(found, run.first + run.count)) {
        phx_space_take(&planner->space, run.first, run.count);
        phx_search_charge(planner, found, run.first, run.count);
        phx_bits_fill(planner->taken, run.first, run.count, 1);
    }
}

phx_status phx_plan_find(phx_plan *plan, uint32_t level, uint32_t vertex, phx_wish wish,
                         phx_search *found)
{
    const uint32_t need = wish.ranks;
    phx_planner *planner = plan->planner;
    *found = plan->search;
    found->need = need;
    phx_search_chain(found, wish.group, plan->group_level, plan->slices, wish.slices);
    found->named |= wish.slices == plan->slice_count ? plan->named : 0;
    found->rails = need < planner->tree->level[1].leaves_max ? wish.rails : 0;
    found->start = 1;
    found->within = level;
    found->bounded = 0;
    found->scope_level = level;
    found->scope_vertex = vertex;
    const phx_tree *tree = planner->tree;
    const int foreign = PHX_MUTANT_FOREIGN_SPARE && level < tree->depth;
    phx_status status = phx_search_run(planner, found);
    if (status == PHX_MISFIT && foreign && planner->count->spare_count != 0) {
        found->scope_vertex = phx_parent(tree, level, vertex);
        found->scope_level = found->within = level + 1;
    }
    /* A vertex below the spares' level may lie in one. */
    const uint32_t size = planner->count->spare_count != 0 ? planner->count->spare_size : 0;
    const uint32_t top = found->scope_level > size ? found->scope_level : size;
    const uint32_t above = phx_ancestor(tree, found->scope_level, found->scope_vertex, top);
    if (status == PHX_MISFIT && planner->count->spare_count != 0) {
        if (phx_spares_open(planner, top, above) > 0) {
            status = phx_search_run(planner, found);
        }
        if (status != PHX_OK) {
            phx_spares_close_unused(planner, top, above, planner->taken);
        }
    }
    if (status == PHX_OK) {
        hold_picks(plan, found);
        phx_spares_close_unused(planner, top, above, planner->taken);
    }
    return status;
}

uint64_t phx_plan_rails(const phx_plan *plan, phx_cursor at, uint32_t ranks, int whole)
{
    const phx_planner *planner = plan->planner;
    const phx_tree *tree = planner->tree;
    uint64_t rails = 0;
    for (uint32_t left = ranks; left > 0;) {
        const phx_run piece = phx_cursor_next(planner, &at, left);
        left -= piece.count;
        for (uint32_t leaf = piece.first; leaf < piece.first + piece.count; ++leaf) {
            const uint32_t place = leaf - phx_child_first(tree, 1, phx_parent(tree, 0, leaf));
            const uint32_t rail = tree->rails == NULL ? place : tree->rails[leaf] & 63u;
            rails |= whole || phx_bit(planner->lost, leaf) ? UINT64_C(1) << rail : 0;
        }
    }
    return rails;
}

int phx_plan_fill(phx_plan *plan, phx_cursor at, uint32_t dead, uint32_t leaf)
{
    phx_search found;
    uint32_t vertex = leaf;
    const uint64_t rails = phx_plan_rails(plan, at, plan->group, 0);
    /* One rank alone is at home wherever its slice is. */
    const uint32_t top = plan->group > 1 ? plan->group_level : plan->unit_level;
    for (uint32_t level = 1; level <= top; ++level) {
        vertex = phx_parent(plan->planner->tree, level - 1, vertex);
        if (phx_plan_find(plan, level, vertex, (phx_wish){dead, 1, 0, rails}, &found) == PHX_OK) {
            phx_plan_record(plan, at, plan->group, &found, found.low, 0);
            phx_pick_clear(&found);
            return 1;
        }
    }
    return 0;
}

/* Fills the broken units that lost exactly `dead` ranks; the next larger loss, 0 when none. */
static uint32_t fill_pass(phx_plan *plan, uint32_t dead)
{
    uint32_t next = 0;
    uint32_t here = 0;
    uint32_t leaf = 0;
    uint32_t order = 0;
    for (phx_cursor at = phx_plan_start(plan); next_broken(plan, &at, &here, &leaf);
         phx_plan_skip(plan, &at, plan->group), ++order) {
        if (here > dead && (next == 0 || here < next)) {
            next = here;
        }
        if (here != dead) {
            continue;
        }
        const int forced = plan->away || PHX_MUTANT_SURVIVOR_MOVED ||
                           (order < 64 && ((plan->forced >> order) & 1) != 0);
        if (forced || !phx_plan_fill(plan, at, here, leaf)) {
            phx_bit_set(plan->planner->moving, at.rank / plan->group);
        }
    }
    return next;
}

/* The moving units from the cursor on that share one domain of the group level. */
typedef struct bundle {
    phx_cursor start;
    uint32_t vertex;
    uint32_t units;
    uint64_t rails; /* of its ranks */
} bundle;

static int next_moving(const phx_plan *plan, phx_cursor *at)
{
    const uint32_t units = plan->ranks / plan->group;
    const uint32_t unit = phx_bits_next(plan->planner->moving, at->rank / plan->group, units);
    while (at->rank < unit * plan->group && unit < units) {
        phx_plan_skip(plan, at, plan->group);
    }
    return unit < units;
}

static uint32_t own_domain(const phx_plan *plan, const phx_cursor *at)
{
    return phx_ancestor(plan->planner->tree, 0, at->run + at->into, plan->group_level);
}

static int next_bundle(const phx_plan *plan, phx_cursor *at, bundle *out)
{
    if (!next_moving(plan, at)) {
        return 0;
    }
    *out = (bundle){*at, own_domain(plan, at), 0, 0};
    do {
        out->rails |= phx_plan_rails(plan, *at, plan->group, 1);
        ++out->units;
        phx_plan_skip(plan, at, plan->group);
    } while (next_moving(plan, at) && own_domain(plan, at) == out->vertex);
    return 1;
}

/* Gives the first `units` of a bundle the leaves found. */
static void record_bundle(phx_plan *plan, const bundle *units, const phx_search *found,
                          uint32_t count)
{
    phx_cursor at = units->start;
    uint32_t pick = found->low;
    for (uint32_t placed = 0; placed < count; ++placed) {
        next_moving(plan, &at);
        pick = phx_plan_record(plan, at, plan->group, found, pick, 1);
        phx_bit_clear(plan->planner->moving, at.rank / plan->group);
    }
    phx_pick_clear(found);
}

/* Every bundle that a vertex of this level above its old domain can hold whole goes there. */
static void move_pass(phx_plan *plan, uint32_t level)
{
    bundle units;
    phx_search found;
    phx_cursor at = phx_plan_start(plan);
    while (next_bundle(plan, &at, &units)) {
        const uint32_t vertex =
            level == plan->scope_level
                ? plan->scope_vertex
                : phx_ancestor(plan->planner->tree, plan->group_level, units.vertex, level);
        const phx_wish wish = {units.units * plan->group, plan->group, 0, units.rails};
        if (phx_plan_find(plan, level, vertex, wish, &found) == PHX_OK) {
            record_bundle(plan, &units, &found, units.units);
        }
    }
}

/* What is left goes unit by unit anywhere in the scope; counts those that have no place. */
static void move_rest(phx_plan *plan)
{
    phx_search found;
    phx_cursor at = phx_plan_start(plan);
    while (next_moving(plan, &at)) {
        const bundle unit = {at, 0, 1, phx_plan_rails(plan, at, plan->group, 1)};
        phx_plan_skip(plan, &at, plan->group);
        const phx_wish wish = {plan->group, plan->group, 0, unit.rails};
        if (phx_plan_find(plan, plan->scope_level, plan->scope_vertex, wish, &found) == PHX_OK) {
            record_bundle(plan, &unit, &found, 1);
        } else {
            ++plan->unmet;
        }
    }
}

void phx_plan_limits(phx_plan *plan)
{
    memset(&plan->search, 0, sizeof plan->search);
    plan->search.picks = plan->planner->pick;
    plan->search.scope_level = plan->scope_level;
    plan->search.scope_vertex = plan->scope_vertex;
    phx_search_limit(plan->planner, &plan->search, plan->limits);
    phx_search_own_limits(plan->planner, &plan->search);
    if (plan->search.limited && plan->ranks < plan->planner->gangs[plan->slot].ranks &&
        !PHX_MUTANT_PARTS_UNCHARGED) {
        phx_charge_others(plan);
    }
    phx_search_narrow(plan->planner, &plan->search, plan->part_limits);
}

/* Limits bind what the repair adds: ranks that stay are charged first. */
static void charge_survivors(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t ranks = plan->ranks;
    phx_plan_limits(plan);
    uint32_t order = 0;
    for (phx_cursor at = phx_plan_start(plan); plan->search.limited && at.rank < ranks;) {
        uint32_t leaf = 0;
        const int broken = phx_plan_losses(plan, at, plan->group, &leaf) > 0;
        const int leaves_whole =
            plan->away || (broken && order < 64 && ((plan->forced >> order) & 1) != 0);
        order += broken ? 1 : 0;
        for (uint32_t left = plan->group; left > 0;) {
            const phx_run piece = phx_cursor_next(planner, &at, left);
            left -= piece.count;
            for (uint32_t leaf_at = piece.first; leaf_at < piece.first + piece.count; ++leaf_at) {
                if (!leaves_whole && !phx_bit(planner->lost, leaf_at)) {
                    phx_search_charge(planner, &plan->search, leaf_at, 1);
                }
            }
        }
    }
}

void phx_plan_undo(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t leaves = planner->tree->level[0].count;
    uint32_t end = 0;
    for (uint32_t first = phx_bits_next(planner->taken, 0, leaves); first < leaves;
         first = phx_bits_next(planner->taken, end, leaves)) {
        end = phx_bits_next_clear(planner->taken, first, leaves);
        phx_space_give(&planner->space, first, end - first);
        phx_bits_fill(planner->taken, first, end - first, 0);
    }
    const uint32_t depth = planner->tree->depth;
    for (uint32_t root = 0; root < planner->tree->level[depth].count; ++root) {
        phx_spares_close_unused(planner, depth, root, planner->taken);
    }
}

static uint32_t spares_opened(const phx_planner *planner)
{
    return planner->count->spare_count == 0
               ? 0
               : phx_bits_count(planner->opened, 0,
                                planner->tree->level[planner->count->spare_size].count);
}

/* One attempt; the units in plan->forced move whole. With limits a unit that cannot be filled
 * must be forced by the caller, because the ranks it leaves behind change what is left. */
static void attempt(phx_plan *plan, phx_repair *repair)
{
    if (plan->slice_count > 0) {
        phx_sliced_attempt(plan);
        repair->spares_used = spares_opened(plan->planner);
        phx_plan_undo(plan);
        return;
    }
    phx_plan_begin(plan);
    charge_survivors(plan);
    for (uint32_t dead = fill_pass(plan, 0); dead != 0;) {
        dead = fill_pass(plan, dead);
    }
    const uint32_t low = plan->away ? plan->scope_level : plan->group_level + 1;
    for (uint32_t level = low; level <= plan->scope_level; ++level) {
        move_pass(plan, level);
    }
    move_rest(plan);
    repair->spares_used = spares_opened(plan->planner);
    phx_plan_undo(plan);
    phx_bits_fill(plan->planner->moving, 0, plan->ranks, 0);
}

/* With limits, leaving a domain frees room below them, and of slices not all that stay may find
 * room: try which units move, fewest first. */
static void attempt_subsets(phx_plan *plan, uint32_t broken, phx_repair *repair)
{
    uint32_t fewest = plan->unmet;
    plan->best = 0;
    for (uint32_t moving = 1; moving <= broken; ++moving) {
        for (uint64_t forced = 1; forced < UINT64_C(1) << broken; ++forced) {
            if (phx_popcount(forced) != moving) {
                continue;
            }
            plan->forced = forced;
            attempt(plan, repair);
            if (plan->unmet == 0) {
                return;
            }
            plan->best = plan->unmet < fewest ? forced : plan->best;
            fewest = plan->unmet < fewest ? plan->unmet : fewest;
        }
    }
}

void phx_plan_sort(phx_move *moves, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) {
        for (uint32_t at = gap; at < count; ++at) {
            const phx_move move = moves[at];
            uint32_t to = at;
            for (; to >= gap && moves[to - gap].rank > move.rank; to -= gap) {
                moves[to] = moves[to - gap];
            }
            moves[to] = move;
        }
    }
}

static void merge_moves(phx_plan *plan)
{
    const uint32_t count = plan->count;
    phx_plan_sort(plan->moves + plan->before, count - plan->before);
    plan->count = plan->before;
    for (uint32_t at = plan->before; at < count; ++at) {
        append(plan, plan->moves[at]);
    }
}

/* Gangs without survivors may go to any vertex of the scope's level: the old one comes first. */
static void attempt_elsewhere(phx_plan *plan, phx_repair *repair)
{
    const phx_tree *tree = plan->planner->tree;
    const uint32_t old = plan->scope_vertex;
    const uint32_t within = phx_slot_within(&plan->planner->gangs[plan->slot]);
    plan->away = 1;
    for (uint32_t vertex = 0; vertex < tree->level[plan->scope_level].count; ++vertex) {
        if (vertex == old ||
            (within != PHX_ANYWHERE && phx_is_phantom(tree, plan->scope_level, vertex))) {
            continue;
        }
        plan->scope_vertex = vertex;
        attempt(plan, repair);
        if (plan->unmet == 0) {
            return;
        }
    }
    plan->scope_vertex = old;
    plan->away = 0;
}

static uint32_t unresolved_ranks(const phx_plan *plan)
{
    uint32_t dead = phx_bits_count(plan->planner->lost, 0, plan->planner->tree->level[0].count);
    for (uint32_t at = 0; at < plan->count; ++at) {
        const phx_run from = {plan->moves[at].from, plan->moves[at].count};
        dead -= lost_in(plan->planner, from);
    }
    return dead;
}

/* As few units moved as are found; says in `proven` whether that nothing was found is the answer.
 */
static void attempt_all(phx_plan *plan, uint32_t broken, phx_repair *repair)
{
    repair->proven = 1;
    plan->forced = 0;
    attempt(plan, repair);
    const int limited = plan->limits != NULL || plan->part_limits != NULL;
    if (plan->unmet > 0 && (limited || plan->slice_count > 0)) {
        /* Which groups leave their own domain is not tried out under limits, nor which slices take
         * those around them along. */
        const int few = broken <= PHX_EXACT_UNITS && 1u << broken <= plan->subsets;
        repair->proven = few && !plan->widen && (!limited || plan->slice_count == 0);
        plan->best = 0;
        if (few && !plan->away) { /* away, all of them move anyhow */
            plan->subsets -= 1u << broken;
            attempt_subsets(plan, broken, repair);
        }
    }
}

void phx_repair_part(phx_plan *plan, uint32_t broken, int partial, phx_repair *repair)
{
    const int limited = plan->limits != NULL || plan->part_limits != NULL;
    const int widen = plan->widen;
    plan->partial = 0;
    plan->widen = 0;
    attempt_all(plan, broken, repair);
    if (plan->unmet > 0 && widen && plan->slice_count > 1) {
        plan->widen = 1;
        attempt_all(plan, broken, repair);
    }
    if (plan->unmet > 0 && plan->homeless) {
        plan->forced = 0;
        attempt_elsewhere(plan, repair);
    }
    if (plan->unmet > 0) { /* what partial asks for: the first attempt, or of slices the best */
        plan->forced = plan->slice_count > 0 && !limited ? plan->best : 0;
        plan->widen = 0;
        plan->partial = 1;
        attempt(plan, repair);
        /* Which units are best left out is not tried out under slices. */
        repair->proven &= !(partial && plan->slice_count > 0 && broken > 1);
    } else {
        repair->proven = 1;
    }
    plan->widen = widen;
    merge_moves(plan);
}

phx_status phx_repair_told(phx_plan *plan, int partial, phx_repair *repair)
{
    if (plan->overflow) {
        return PHX_NO_ROOM;
    }
    repair->moves = plan->count;
    repair->moved = 0;
    for (uint32_t at = 0; at < plan->count; ++at) {
        repair->moved += plan->moves[at].count;
    }
    repair->unresolved = unresolved_ranks(plan);
    repair->level_after = phx_level_after(plan->planner, plan->slot, plan->moves, plan->count);
    return plan->unmet == 0 || (partial && plan->count > 0) ? PHX_OK : PHX_MISFIT;
}

phx_status phx_repair_plan(phx_plan *plan, uint32_t broken, int partial, phx_repair *repair)
{
    plan->homeless = repair->dead == plan->ranks;
    phx_repair_part(plan, broken, partial, repair);
    return phx_repair_told(plan, partial, repair);
}
