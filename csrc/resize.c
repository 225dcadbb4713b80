/* Gangs that lose or gain whole units: what is dropped goes to quarantine, as what a repair leaves;
 * what is gained comes behind the last rank. */
#include "replan.h"

/* Whether ranks are runs in order, whole groups, and neither none nor all of the gang. */
static int ranks_match(const phx_gang_slot *gang, const phx_run *kept, uint32_t count)
{
    uint32_t end = 0;
    uint32_t sum = 0;
    for (uint32_t at = 0; at < count; ++at) {
        if (kept[at].count == 0 || kept[at].first < end || kept[at].first >= gang->ranks ||
            kept[at].count > gang->ranks - kept[at].first || kept[at].first % gang->group != 0 ||
            kept[at].count % gang->group != 0) {
            return 0;
        }
        end = kept[at].first + kept[at].count;
        sum += kept[at].count;
    }
    return sum > 0 && sum < gang->ranks;
}

/* A run joins the end of the chain; runs stay maximal. Returns the last run's first leaf. */
static uint32_t append(phx_planner *planner, phx_gang_slot *gang, uint32_t last, phx_run run)
{
    if (last == PHX_NONE) {
        gang->head = run.first;
    } else if (last + planner->links[last].count == run.first) {
        planner->links[last].count += run.count;
        return last;
    } else {
        planner->links[last].next = run.first + 1;
    }
    planner->links[run.first] = (phx_link){0, run.count};
    return run.first;
}

phx_status phx_shrink(phx_planner *planner, uint32_t slot, const phx_run *kept, uint32_t count)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    phx_gang_slot *gang = &planner->gangs[slot];
    if (planner->count->alignment == PHX_BUDDY || !ranks_match(gang, kept, count)) {
        return PHX_BAD_GANG;
    }
    uint32_t last = PHX_NONE;
    uint32_t rank = 0;
    uint32_t ranks = 0;
    uint32_t at = 0;
    for (uint32_t next = gang->head + 1; next != 0;) {
        phx_run run = {next - 1, planner->links[next - 1].count};
        next = planner->links[run.first].next;
        planner->links[run.first] = (phx_link){0, 0};
        while (run.count > 0) {
            const int keep = at < count && rank >= kept[at].first;
            uint32_t here = at == count ? run.count : kept[at].first - rank;
            here = keep ? kept[at].first + kept[at].count - rank : here;
            here = here < run.count ? here : run.count;
            if (keep) {
                last = append(planner, gang, last, (phx_run){run.first, here});
                ranks += here;
            } else {
                phx_disown(planner, run.first, here);
                phx_bits_fill(planner->quarantine, run.first, here, 1);
            }
            rank += here;
            run = (phx_run){run.first + here, run.count - here};
            at += keep && rank == kept[at].first + kept[at].count;
        }
    }
    gang->ranks = ranks;
    phx_slot_set_level(gang, phx_span_level(planner, slot));
    return PHX_OK;
}

/* Whether ranks with this chain may stand behind the gang's; parts do not grow. */
static int may_grow(const phx_planner *planner, const phx_gang_slot *gang, const phx_request *more)
{
    return planner->count->alignment != PHX_BUDDY && more->group == gang->group &&
           more->group_level == phx_slot_group_level(gang) && more->part_count == 0;
}

/* Limits bind the whole gang: the ranks it has are charged first. */
static void charge_all(phx_planner *planner, uint32_t slot, phx_search *search)
{
    phx_search_own_limits(planner, search);
    for (uint32_t next = planner->gangs[slot].head + 1; next != 0;
         next = planner->links[next - 1].next) {
        phx_search_charge(planner, search, next - 1, planner->links[next - 1].count);
    }
}

phx_status phx_grow_plan(phx_planner *planner, uint32_t slot, const phx_request *more,
                         const int32_t *const *limits, phx_run *runs, uint32_t room,
                         uint32_t *count)
{
    *count = 0;
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    const phx_gang_slot *gang = &planner->gangs[slot];
    if (!may_grow(planner, gang, more)) {
        return PHX_BAD_GANG;
    }
    const phx_tree *tree = planner->tree;
    const uint32_t top = phx_slot_top(tree, gang);
    const uint32_t span = phx_slot_level(gang);
    phx_status status = PHX_MISFIT;
    phx_search search;
    for (uint32_t level = span > 0 ? span : 1; level <= top && status == PHX_MISFIT; ++level) {
        search = phx_search_of(planner, more);
        phx_search_limit(planner, &search, limits);
        charge_all(planner, slot, &search);
        search.start = 1;
        search.within = level;
        search.bounded = 0;
        search.scope_level = level;
        search.scope_vertex = phx_ancestor(tree, 0, gang->head, level);
        status = phx_search_run(planner, &search);
    }
    if (status != PHX_OK) {
        return status;
    }
    for (phx_run run = phx_pick_next(&search, search.low); run.count > 0;
         run = phx_pick_next(&search, run.first + run.count)) {
        if (*count < room) {
            runs[*count] = run;
        }
        ++*count;
    }
    phx_pick_clear(&search);
    return *count <= room ? PHX_OK : PHX_NO_ROOM;
}

/* Whether every `size` leaves of the runs, taken in order, share a real vertex of a level. */
static int runs_share(const phx_tree *tree, const phx_run *runs, uint32_t count, uint32_t size,
                      uint32_t level)
{
    uint32_t into = 0; /* leaves of the present unit so far */
    uint32_t home = 0;
    for (uint32_t at = 0; at < count; ++at) {
        for (uint32_t leaf = runs[at].first; leaf < runs[at].first + runs[at].count; ++leaf) {
            const uint32_t here = phx_ancestor(tree, 0, leaf, level);
            home = into == 0 ? here : home;
            if (here != home || phx_is_phantom(tree, level, here)) {
                return 0;
            }
            into = into + 1 == size ? 0 : into + 1;
        }
    }
    return 1;
}

/* Whether the runs are available, in order, and keep the chain and the gang's domain. */
static int growth_matches(const phx_planner *planner, uint32_t slot, const phx_request *more,
                          const phx_run *runs, uint32_t count)
{
    const phx_tree *tree = planner->tree;
    const phx_gang_slot *gang = &planner->gangs[slot];
    const uint32_t top = phx_slot_top(tree, gang);
    const uint32_t home = phx_ancestor(tree, 0, gang->head, top);
    uint32_t end = 0;
    uint32_t sum = 0;
    for (uint32_t at = 0; at < count; ++at) {
        const phx_run run = runs[at];
        if (run.count == 0 || run.first < end || run.first >= tree->level[0].count ||
            run.count > tree->level[0].count - run.first) {
            return 0;
        }
        end = run.first + run.count;
        sum += run.count;
        if (phx_bits_next_clear(planner->space.whole[0], run.first, end) < end ||
            phx_ancestor(tree, 0, run.first, top) != home ||
            phx_ancestor(tree, 0, end - 1, top) != home) {
            return 0;
        }
    }
    int match = sum == more->ranks;
    match &= more->group == 1 || runs_share(tree, runs, count, more->group, more->group_level);
    for (uint32_t at = 0; at < more->slice_count && match; ++at) {
        match = more->slices[at].size == 1 ||
                runs_share(tree, runs, count, more->slices[at].size, more->slices[at].level);
    }
    return match;
}

phx_status phx_grow(phx_planner *planner, uint32_t slot, const phx_request *more,
                    const phx_run *runs, uint32_t count)
{
    if (!phx_slot_is_held(planner, slot)) {
        return PHX_STALE_HANDLE;
    }
    phx_gang_slot *gang = &planner->gangs[slot];
    if (!may_grow(planner, gang, more)) {
        return PHX_BAD_GANG;
    }
    if (!growth_matches(planner, slot, more, runs, count)) {
        return PHX_STALE_PLAN;
    }
    uint32_t last = gang->head;
    while (planner->links[last].next != 0) {
        last = planner->links[last].next - 1;
    }
    for (uint32_t at = 0; at < count; ++at) {
        phx_space_take(&planner->space, runs[at].first, runs[at].count);
        phx_own(planner, runs[at].first, runs[at].count, slot);
        last = append(planner, gang, last, runs[at]);
    }
    gang->ranks += more->ranks;
    phx_slot_set_level(gang, phx_span_level(planner, slot));
    return PHX_OK;
}
