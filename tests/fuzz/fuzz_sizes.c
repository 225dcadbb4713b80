/* Steps that make gangs with slices smaller and larger. */
#include "fuzz.h"

#include <stdlib.h>

void do_shrink(fixture *on, tape *in)
{
    const uint32_t slot = chained_job(on, in);
    if (slot == PHX_NONE) {
        return;
    }
    const chain *of = chain_of(on, slot);
    const uint32_t ranks = phx_gang_ranks(on->planner, slot);
    const uint32_t kind = tape_next(in);
    const uint32_t unit = (kind & 0xc0) == 0 ? 1 : of->outer; /* now and then no whole units */
    phx_run kept[2];
    uint32_t end = 0;
    uint32_t sum = 0;
    const uint32_t count = kind % 3;
    for (uint32_t at = 0; at < count; ++at) {
        const uint32_t first = end + unit * (tape_next(in) % 3);
        kept[at] = (phx_run){first, unit * (1 + tape_next(in) % 2)};
        end = first + kept[at].count;
        sum += kept[at].count;
    }
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const phx_status status = phx_shrink(on->planner, slot, kept, count);
    if (status != PHX_OK) {
        require(status == PHX_BAD_GANG, "shrink");
        require_same(on->planner, before, size, "a refused shrink changed the state");
        return;
    }
    free(before);
    require(phx_gang_ranks(on->planner, slot) == sum && sum < ranks, "ranks after a shrink");
    ++fuzz_outcomes[10];
    if (unit == 1) {
        forget_chain(on, slot); /* whole groups, but maybe no whole slices */
    } else {
        require_chain(on, slot, of, sum);
    }
}

void do_grow(fixture *on, tape *in)
{
    const uint32_t slot = chained_job(on, in);
    if (slot == PHX_NONE) {
        return;
    }
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const chain *of = chain_of(on, slot);
    const uint32_t ranks = phx_gang_ranks(on->planner, slot);
    const uint32_t more = of->outer * (1 + tape_next(in) % 3);
    const phx_request request = chain_request(on, of, more);
    const int32_t *const *limits = limits_of(on, in, table);
    phx_run runs[LEAVES_MAX];
    uint32_t count = 0;
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const phx_status status =
        phx_grow_plan(on->planner, slot, &request, limits, runs, LEAVES_MAX, &count);
    require(status == PHX_OK || status == PHX_MISFIT, "a plan to grow");
    const phx_run wild = {tape_next(in) << (tape_next(in) % 25), tape_next(in)};
    require(wild.count == more || phx_grow(on->planner, slot, &request, &wild, 1) != PHX_OK,
            "growth of another size");
    require_same(on->planner, before, size, "a plan to grow changed the state");
    if (status != PHX_OK) {
        return;
    }
    require(phx_grow(on->planner, slot, &request, runs, count) == PHX_OK, "growth is stale");
    require_chain(on, slot, of, ranks + more);
    require(phx_grow(on->planner, slot, &request, runs, count) == PHX_STALE_PLAN, "grown twice");
    ++fuzz_outcomes[11];
}
