/* Repairs of gangs with slices.
 *
 * A unit is one innermost slice that lost a leaf. It stays where it is if its domain has room: each
 * of its groups that lost a leaf gets the dead ranks in its own domain, or shifts whole inside the
 * slice's. Else the unit moves whole, to anywhere in the domain of the lowest enclosing slice that
 * something stays of; an enclosing slice of which nothing stays moves as one. All that may go to
 * one such domain wants the same size, so units that can stay never cost a repair that exists.
 *
 * When the caller lets it widen, an item without a place takes the slice around it along, units
 * that lost nothing and all.
 */
#include "replan.h"

/* What moves as one: ranks from `rank` on, the first `slices` entries of the chain whole. */
typedef struct item {
    uint32_t rank;
    uint32_t size;
    uint32_t level; /* of the lowest domain that is its own */
    uint32_t slices;
    uint32_t scope_level;
    uint32_t scope_vertex;
} item;

static phx_cursor cursor_at(const phx_plan *plan, uint32_t rank)
{
    phx_cursor at = phx_plan_start(plan);
    phx_plan_skip(plan, &at, rank);
    return at;
}

static uint32_t domain_at(const phx_plan *plan, const phx_cursor *at, uint32_t level)
{
    return phx_ancestor(plan->planner->tree, 0, at->run + at->into, level);
}

static int moves_whole(const phx_plan *plan, uint32_t rank)
{
    return phx_bit(plan->planner->moving, rank / plan->unit);
}

/* The units that the caller wants moved, by their order among the broken ones. */
static void mark_forced(phx_plan *plan)
{
    const uint32_t ranks = plan->ranks;
    uint32_t order = 0;
    uint32_t leaf = 0;
    phx_cursor at = phx_plan_start(plan);
    for (uint32_t rank = 0; rank < ranks; rank += plan->unit) {
        if (phx_plan_losses(plan, at, plan->unit, &leaf) > 0) {
            if (plan->away || (order < 64 && ((plan->forced >> order) & 1) != 0)) {
                phx_bit_set(plan->planner->moving, rank / plan->unit);
            }
            ++order;
        }
        phx_plan_skip(plan, &at, plan->unit);
    }
}

/* Limits bind what the repair adds: ranks that stay are charged first. */
static void charge_stayers(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t ranks = plan->ranks;
    phx_plan_limits(plan);
    for (phx_cursor at = phx_plan_start(plan); plan->search.limited && at.rank < ranks;) {
        const uint32_t rank = at.rank;
        const phx_run piece = phx_cursor_next(planner, &at, 1);
        const int goes = moves_whole(plan, rank) || phx_bit(planner->shifting, rank / plan->group);
        if (!phx_bit(planner->lost, piece.first) && (plan->partial || !goes)) {
            phx_search_charge(planner, &plan->search, piece.first, 1);
        }
    }
}

/* Fills the unit's groups that lost exactly `dead` ranks; those without room shift. The next larger
 * loss, 0 when there is none. */
static uint32_t fill_groups(phx_plan *plan, phx_cursor at, uint32_t dead)
{
    const uint32_t end = at.rank + plan->unit;
    uint32_t next = 0;
    uint32_t leaf = 0;
    for (uint32_t rank = at.rank; rank < end; rank += plan->group) {
        const int shifts = phx_bit(plan->planner->shifting, rank / plan->group);
        const uint32_t here = shifts ? 0 : phx_plan_losses(plan, at, plan->group, &leaf);
        if (here > dead && (next == 0 || here < next)) {
            next = here;
        }
        if (here == dead && here > 0 && !phx_plan_fill(plan, at, here, leaf)) {
            phx_bit_set(plan->planner->shifting, rank / plan->group);
        }
        phx_plan_skip(plan, &at, plan->group);
    }
    return next;
}

static int fill_unit(phx_plan *plan, phx_cursor at)
{
    for (uint32_t dead = fill_groups(plan, at, 0); dead != 0;) {
        dead = fill_groups(plan, at, dead);
    }
    return 1;
}

/* Mends the staying units, those that lost least first: that keeps the most of them at home. The
 * rank of one that cannot be mended, or PHX_NONE. */
static uint32_t mend_stayers(phx_plan *plan, int (*mend)(phx_plan *, phx_cursor))
{
    const uint32_t ranks = plan->ranks;
    uint32_t next = 0;
    uint32_t leaf = 0;
    do {
        const uint32_t dead = next;
        next = 0;
        phx_cursor at = phx_plan_start(plan);
        for (uint32_t rank = 0; rank < ranks; rank += plan->unit) {
            const int moves = moves_whole(plan, rank);
            const uint32_t here = moves ? 0 : phx_plan_losses(plan, at, plan->unit, &leaf);
            if (here > dead && (next == 0 || here < next)) {
                next = here;
            }
            if (here == dead && here > 0 && !mend(plan, at)) {
                return rank;
            }
            phx_plan_skip(plan, &at, plan->unit);
        }
    } while (next != 0);
    return PHX_NONE;
}

/* Finds leaves for an item at the lowest level above its own domain, and records its moves. */
static int move_item(phx_plan *plan, const item *what)
{
    const phx_tree *tree = plan->planner->tree;
    phx_search found;
    const phx_cursor at = cursor_at(plan, what->rank);
    const phx_wish wish = {what->size, plan->group, what->slices,
                           phx_plan_rails(plan, at, what->size, 1)};
    /* What stays was tried in the own domain of a unit, but not in that of a slice around it. */
    uint32_t level = what->slices > 1 ? what->level : what->level + 1;
    level = plan->away || level > what->scope_level ? what->scope_level : level;
    for (; level <= what->scope_level; ++level) {
        const uint32_t vertex = level == what->scope_level
                                    ? what->scope_vertex
                                    : phx_ancestor(tree, 0, at.run + at.into, level);
        if (phx_plan_find(plan, level, vertex, wish, &found) == PHX_OK) {
            phx_plan_record(plan, at, what->size, &found, found.low, 1);
            phx_pick_clear(&found);
            return 1;
        }
    }
    return 0;
}

/* The unit's groups shift inside its domain; 0: one cannot. */
static int shift_unit(phx_plan *plan, phx_cursor at)
{
    const uint32_t end = at.rank + plan->unit;
    const uint32_t home = domain_at(plan, &at, plan->unit_level);
    for (uint32_t rank = at.rank; rank < end; rank += plan->group) {
        const item what = {rank, plan->group, plan->group_level, 0, plan->unit_level, home};
        if (phx_bit(plan->planner->shifting, rank / plan->group) && !move_item(plan, &what)) {
            return 0;
        }
    }
    return 1;
}

/* Whether anything of an enclosing slice stays, and so pins it. */
static int stays(const phx_plan *plan, uint32_t first, uint32_t size)
{
    for (uint32_t rank = first; rank < first + size; rank += plan->unit) {
        if (!moves_whole(plan, rank)) {
            return 1;
        }
    }
    return 0;
}

/* What a moving unit is part of, and where that may go. */
static item item_of(const phx_plan *plan, uint32_t rank)
{
    const phx_cursor at = cursor_at(plan, rank);
    item what = {rank, plan->unit, plan->unit_level, 1, plan->scope_level, plan->scope_vertex};
    for (uint32_t entry = 1; entry < plan->slice_count; ++entry) {
        const phx_slice around = plan->slices[entry];
        const uint32_t first = rank / around.size * around.size;
        if (!PHX_MUTANT_SLICE_STRAYS && stays(plan, first, around.size)) {
            what.scope_level = around.level;
            what.scope_vertex = domain_at(plan, &at, around.level);
            return what;
        }
        what.rank = first;
        what.size = around.size;
        what.slices = entry + 1;
    }
    return what;
}

/* Marks the slice around an item as moving with it; 0 when there is none. */
static int widen(const phx_plan *plan, const item *what)
{
    if (!plan->widen || what->slices >= plan->slice_count) {
        return 0;
    }
    const uint32_t size = plan->slices[what->slices].size;
    phx_bits_fill(plan->planner->moving, what->rank / size * size / plan->unit, size / plan->unit,
                  1);
    return 1;
}

/* Items whose scope is of this level; counts those without a place. 0: a slice was widened. */
static int move_units(phx_plan *plan, uint32_t scope_level)
{
    const uint64_t *moving = plan->planner->moving;
    const uint32_t units = plan->ranks / plan->unit;
    uint32_t end = 0;
    for (uint32_t unit = phx_bits_next(moving, 0, units); unit < units;
         unit = phx_bits_next(moving, end, units)) {
        const item what = item_of(plan, unit * plan->unit);
        end = (what.rank + what.size) / plan->unit;
        if (what.scope_level == scope_level && !move_item(plan, &what)) {
            if (widen(plan, &what)) {
                return 0;
            }
            plan->unmet += what.size / plan->unit;
        }
    }
    return 1;
}

/* Repairs the units that stay; a unit that cannot is marked as moving. 0: try again without it. */
static int repair_stayers(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t groups = plan->ranks / plan->group;
    const uint32_t shifting = phx_bits_count(planner->shifting, 0, groups);
    phx_plan_begin(plan);
    charge_stayers(plan);
    mend_stayers(plan, fill_unit);
    /* A group that shifts leaves room below the limits: it must not be charged. */
    if (plan->search.limited && phx_bits_count(planner->shifting, 0, groups) != shifting) {
        return 0;
    }
    const uint32_t stuck = mend_stayers(plan, shift_unit);
    if (stuck != PHX_NONE) {
        phx_bit_set(planner->moving, stuck / plan->unit);
        return 0;
    }
    return 1;
}

static int repair_all(phx_plan *plan)
{
    if (!repair_stayers(plan)) {
        return 0;
    }
    for (uint32_t level = plan->unit_level; level <= plan->scope_level; ++level) {
        if (!move_units(plan, level)) {
            return 0;
        }
    }
    return 1;
}

void phx_sliced_attempt(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t ranks = plan->ranks;
    mark_forced(plan);
    while (!repair_all(plan)) { /* each time more groups shift or more units move */
        phx_plan_undo(plan);
        if (!plan->search.limited) {
            phx_bits_fill(planner->shifting, 0, ranks, 0);
        }
    }
    phx_bits_fill(planner->moving, 0, ranks, 0);
    phx_bits_fill(planner->shifting, 0, ranks, 0);
}
