/* Steps for gangs with slices: they are placed. A chain belongs to the handle it was
 * placed with; calls that know no slices make the target forget it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

chain *chain_of(fixture *on, uint32_t slot)
{
    chain *known = &on->chains[slot];
    return known->outer > 0 && known->handle == phx_handle(on->planner, slot) ? known : NULL;
}

void forget_chain(fixture *on, uint32_t slot)
{
    on->chains[slot].outer = 0;
    on->teams[slot].count = 0;
}

uint32_t chained_job(fixture *on, tape *in)
{
    const uint32_t from = tape_next(in);
    for (uint32_t at = 0; at < on->job_count; ++at) {
        const uint32_t slot = on->jobs[(from + at) % on->job_count];
        if (chain_of(on, slot) != NULL) {
            return slot;
        }
    }
    return PHX_NONE;
}

phx_request chain_request(const fixture *on, const chain *of, uint32_t ranks)
{
    phx_request request;
    phx_gang gang = of->gang;
    gang.ranks = ranks;
    require(phx_request_init(on->planner, &gang, &request) == PHX_OK, "request of a gang");
    require(phx_request_slices(on->planner, &request, of->slices, of->count) == PHX_OK,
            "slices of a gang");
    return request;
}

/* Every run of so many ranks lies in one vertex of its level. */
static void require_runs(const fixture *on, const uint32_t *held, uint32_t ranks, phx_slice slice)
{
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const uint32_t head = held[rank / slice.size * slice.size];
        require(phx_tree_distance(on->tree, head, held[rank]) <= slice.level, "a run is split");
    }
}

void require_chain(const fixture *on, uint32_t slot, const chain *of, uint32_t ranks)
{
    uint32_t held[LEAVES_MAX];
    require(phx_gang_ranks(on->planner, slot) == ranks, "ranks of a gang");
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const uint32_t top = of->gang.within == PHX_NONE ? on->depth : of->gang.within;
    require_runs(on, held, ranks, (phx_slice){ranks, top});
    require_runs(on, held, ranks, (phx_slice){of->gang.group, of->gang.group_level});
    for (uint32_t at = 0; at < of->count; ++at) {
        require_runs(on, held, ranks, of->slices[at]);
    }
}

/* Slices of any sizes and levels, sound or not. */
static chain drawn_chain(const fixture *on, tape *in)
{
    chain made = {0};
    const uint32_t shape = tape_next(in);
    made.gang = (phx_gang){0, 1u << shape % 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    uint32_t size = made.gang.group;
    uint32_t level = 1 + (shape >> 1) % on->depth;
    made.gang.group_level = level;
    made.count = 1 + (shape >> 4) % 2;
    for (uint32_t at = 0; at < made.count; ++at) {
        const uint32_t drawn = tape_next(in);
        size *= 1 + drawn % 3;
        level += (drawn >> 2) % 2;
        made.slices[at] = (phx_slice){size + ((drawn & 0xf0) == 0xf0), level};
    }
    made.outer = made.slices[made.count - 1].size;
    const uint32_t rest = tape_next(in);
    made.gang.ranks = made.outer * (1 + rest % 4);
    made.gang.within = (rest & 12) == 0 ? 1 + (rest >> 4) % on->depth : PHX_NONE;
    made.gang.aim = (rest & 12) == 4 ? PHX_FILL : PHX_NEAR;
    return made;
}

void do_place_sliced(fixture *on, tape *in)
{
    const int32_t *table[PHX_LEVELS_MAX + 1];
    chain made = drawn_chain(on, in);
    const uint32_t balance = tape_next(in);
    const int32_t *const *limits = limits_of(on, in, table);
    phx_request request;
    if (phx_request_init(on->planner, &made.gang, &request) != PHX_OK ||
        phx_request_slices(on->planner, &request, made.slices, made.count) != PHX_OK) {
        return;
    }
    if (balance & 1) {
        phx_request_balance(on->planner, &request, (balance >> 1) % (on->depth + 2));
    }
    phx_run runs[LEAVES_MAX];
    uint32_t count = 0;
    const int64_t tried = tried_place(on, &request, limits, runs, &count);
    const int64_t placed =
        phx_place_limited(on->planner, &request, limits, 1, runs, LEAVES_MAX, &count);
    require((tried >= 0) == (placed >= 0), "place of slices and its what-if disagree");
    if (placed < 0) {
        return;
    }
    const uint32_t slot = (uint32_t)(placed & 0x1fffff);
    require_chain(on, slot, &made, made.gang.ranks);
    ++fuzz_outcomes[8];
    if (on->job_count == JOBS_MAX) {
        require(phx_release(on->planner, slot) == PHX_OK, "release");
        return;
    }
    made.handle = phx_handle(on->planner, slot);
    on->chains[slot] = made;
    on->jobs[on->job_count++] = slot;
}
