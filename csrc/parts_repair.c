/* Repairs of gangs of parts: part after part, each as a gang of its own beside the others.
 *
 * A part that finds no place beside those repaired before it may find one when it comes first, so
 * several orders are tried. When one part alone is broken, its repair is as exact as that of a
 * gang; when several are, a refusal is proven only where one of them finds no place by itself.
 */
#include "parts.h"
#include "replan.h"

#define SUBSETS_TRIED (1u << PHX_EXACT_UNITS) /* of all parts in all orders */

void phx_charge_others(phx_plan *plan)
{
    phx_planner *planner = plan->planner;
    const uint32_t ranks = planner->gangs[plan->slot].ranks;
    for (uint32_t at = 0; at < plan->before; ++at) {
        phx_search_charge(planner, &plan->search, plan->moves[at].to, plan->moves[at].count);
    }
    uint32_t move = 0; /* those before, sorted by rank */
    for (phx_cursor at = phx_cursor_start(planner, plan->slot); at.rank < ranks;) {
        const uint32_t rank = at.rank;
        const uint32_t leaf = phx_cursor_next(planner, &at, 1).first;
        while (move < plan->before && rank >= plan->moves[move].rank + plan->moves[move].count) {
            ++move;
        }
        const int moved = move < plan->before && rank >= plan->moves[move].rank;
        if (!moved && rank - plan->first >= plan->ranks && !phx_bit(planner->lost, leaf)) {
            phx_search_charge(planner, &plan->search, leaf, 1);
        }
    }
}

/* The broken parts, the coarsest first. */
typedef struct broken_parts {
    uint32_t part[PHX_PARTS_MAX];
    uint32_t first[PHX_PARTS_MAX]; /* rank */
    uint32_t count;
    int widens; /* one has slices that could take others along */
} broken_parts;

static broken_parts find_broken(phx_plan *plan, const phx_team *team)
{
    broken_parts found = {{0}, {0}, 0, 0};
    for (uint32_t at = 0; at < team->whole->part_count; ++at) {
        const uint32_t part = team->order[at];
        uint32_t first = 0;
        uint32_t dead = 0;
        for (uint32_t before = 0; before < part; ++before) {
            first += team->whole->parts[before].request.ranks;
        }
        phx_plan_part(plan, &team->whole->parts[part].request, first);
        if (phx_count_broken(plan, &dead) > 0) {
            found.part[found.count] = part;
            found.first[found.count++] = first;
            found.widens |= plan->slice_count > 1;
        }
    }
    return found;
}

/* While a rank of a part lives, it stays in its own domain, if it has one. */
static void pin_part(phx_plan *plan, const phx_part *part, uint32_t dead)
{
    const phx_tree *tree = plan->planner->tree;
    plan->named = phx_part_names(tree, part);
    if (plan->named == 0 || dead == plan->ranks || PHX_MUTANT_PART_STRAYS) {
        return;
    }
    const phx_cursor at = phx_plan_start(plan);
    plan->scope_level = tree->internal[part->within];
    plan->scope_vertex = phx_ancestor(tree, 0, at.run + at.into, plan->scope_level);
    plan->named = 0;
    --plan->slice_count;
    if (plan->slice_count == 0) {
        plan->unit = plan->group;
        plan->unit_level = plan->group_level;
    }
}

/* Units of a part that its moves take out of their own domains. */
static uint32_t strays(const phx_plan *plan)
{
    const phx_tree *tree = plan->planner->tree;
    uint32_t units = 0;
    uint32_t last = PHX_NONE;
    for (uint32_t at = plan->before; at < plan->count; ++at) {
        const phx_move *move = &plan->moves[at];
        for (uint32_t rank = 0; rank < move->count; ++rank) {
            const uint32_t unit = (move->rank + rank - plan->first) / plan->unit;
            const uint32_t from = phx_ancestor(tree, 0, move->from + rank, plan->unit_level);
            const uint32_t to = phx_ancestor(tree, 0, move->to + rank, plan->unit_level);
            units += from != to && unit != last;
            last = from != to ? unit : last;
        }
    }
    return units;
}

/* The broken parts of a gang, and what became of an attempt to repair them. */
typedef struct healing {
    phx_plan *plan;
    const phx_request *whole;
    const broken_parts *broken;
    phx_repair *repair;
    uint32_t unmet; /* units without a place */
    uint32_t moved; /* units that leave their domains */
    int proven;     /* one part cannot be repaired whatever becomes of the others */
} healing;

/* Repairs the broken parts from one of them on, in their order or its reverse. */
static void repair_in(healing *all, uint32_t order, int partial)
{
    phx_plan *plan = all->plan;
    const broken_parts *broken = all->broken;
    const uint32_t scope_level = plan->scope_level;
    const uint32_t scope_vertex = plan->scope_vertex;
    all->unmet = 0;
    all->moved = 0;
    plan->before = 0;
    plan->count = 0;
    for (uint32_t step = 0; step < broken->count; ++step) {
        const uint32_t which = phx_part_in_order(order, step, broken->count);
        const phx_part *part = &all->whole->parts[broken->part[which]];
        uint32_t dead = 0;
        phx_plan_part(plan, &part->request, broken->first[which]);
        plan->part_limits = part->limits;
        phx_count_broken(plan, &dead);
        pin_part(plan, part, dead);
        const uint32_t units = phx_count_broken(plan, &dead);
        phx_repair_part(plan, units, partial, all->repair);
        plan->scope_level = scope_level;
        plan->scope_vertex = scope_vertex;
        all->unmet += plan->unmet;
        all->moved += strays(plan);
        if (plan->unmet > 0 && step == 0) {
            /* Other parts that move would leave room below the limits of the gang. */
            all->proven |= all->repair->proven && (broken->count == 1 || plan->limits == NULL);
        }
        if (plan->overflow || (all->unmet > 0 && !partial)) {
            return;
        }
        phx_plan_sort(plan->moves, plan->count);
        plan->before = plan->count;
    }
}

/* Every order, for the repair of all that takes the fewest units out of their domains. */
static void repair_all(healing *all)
{
    const uint32_t tries = phx_part_orders(all->broken->count);
    uint32_t best = PHX_NONE;
    uint32_t fewest = PHX_NONE;
    all->plan->subsets = SUBSETS_TRIED;
    for (uint32_t order = 0; order < tries && !all->proven; ++order) {
        repair_in(all, order, 0);
        if (all->unmet == 0 && all->moved < fewest) {
            best = order;
            fewest = all->moved;
        }
    }
    if (best != PHX_NONE && best + 1 < tries) {
        all->plan->subsets = SUBSETS_TRIED; /* enough for what it had then */
        repair_in(all, best, 0);
    }
}

/* The first of the orders that leave the fewest units without a place. */
static void repair_some(healing *all)
{
    const uint32_t tries = phx_part_orders(all->broken->count);
    uint32_t best = 0;
    uint32_t fewest = PHX_NONE;
    all->plan->subsets = SUBSETS_TRIED;
    for (uint32_t order = 0; order < tries; ++order) {
        repair_in(all, order, 1);
        best = all->unmet < fewest ? order : best;
        fewest = all->unmet < fewest ? all->unmet : fewest;
    }
    if (best + 1 < tries) {
        all->plan->subsets = SUBSETS_TRIED;
        repair_in(all, best, 1);
    }
}

/* A gang without survivors may go to any vertex of the level; there is no room if none has any. */
static void repair_elsewhere(healing *all)
{
    phx_plan *plan = all->plan;
    const phx_tree *tree = plan->planner->tree;
    const uint32_t old = plan->scope_vertex;
    int proven = 1;
    plan->away = 1;
    for (uint32_t vertex = 0; all->unmet > 0 && vertex < tree->level[plan->scope_level].count;
         ++vertex) {
        if (!(all->whole->bounded && phx_is_phantom(tree, plan->scope_level, vertex))) {
            all->proven = 0;
            plan->scope_vertex = vertex;
            repair_all(all);
            proven &= all->proven;
        }
    }
    all->proven = proven;
    plan->away = 0;
    plan->scope_vertex = old;
}

phx_status phx_repair_parts(phx_plan *plan, const phx_request *request, int partial,
                            phx_repair *repair)
{
    phx_team team;
    const int asked = plan->widen;
    const int homeless = repair->dead == request->ranks;
    phx_team_start(&team, plan->planner, request, NULL);
    const broken_parts broken = find_broken(plan, &team);
    const int widen = asked && broken.widens;
    healing all = {plan, request, &broken, repair, 0, 0, 0};
    plan->widen = 0;
    repair_all(&all);
    if (all.unmet > 0 && widen) {
        plan->widen = 1;
        all.proven = 0;
        repair_all(&all);
        plan->widen = 0;
    }
    if (all.unmet > 0 && homeless) {
        repair_elsewhere(&all);
    }
    const int whole = all.unmet == 0;
    /* Which slices take others along is not tried out. */
    int proven = whole || (all.proven && !widen);
    if (!whole) {
        repair_some(&all);
        /* Which parts are best left out is not tried out, nor which units of one with slices. */
        proven &= !partial || (broken.count == 1 && repair->proven);
    }
    plan->unmet = all.unmet;
    repair->proven = (uint32_t)proven;
    phx_plan_sort(plan->moves, plan->count);
    return phx_repair_told(plan, partial, repair);
}
