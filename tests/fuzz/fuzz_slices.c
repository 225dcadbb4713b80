/* Steps that repair gangs with slices, and that apply plans which were tampered with. */
#include "fuzz.h"

#include <string.h>

void apply_damaged(const fixture *on, uint32_t slot, const phx_request *request,
                   const phx_move *moves, uint32_t count, tape *in)
{
    phx_move damaged[LEAVES_MAX];
    phx_planner *copy = NULL;
    const char *reason = NULL;
    if (count == 0) {
        return;
    }
    memcpy(damaged, moves, count * sizeof *moves);
    uint32_t words[4];
    phx_move *hit = &damaged[tape_next(in) % count];
    memcpy(words, hit, sizeof words);
    const uint32_t drawn = tape_next(in);
    words[drawn % 4] = (drawn & 4) ? tape_next(in) : words[drawn % 4] + (drawn << 24) - 1;
    memcpy(hit, words, sizeof words);
    require(phx_planner_clone(on->planner, &copy) == PHX_OK, "clone");
    const phx_status status = phx_apply_sliced(copy, slot, request, damaged, count, NULL, 0);
    require(status == PHX_OK || status == PHX_STALE_PLAN, "a damaged plan");
    require(phx_planner_validate(copy, &reason) == PHX_OK, reason);
    phx_planner_free(copy);
}

void do_replan_sliced(fixture *on, tape *in)
{
    const uint32_t slot = chained_job(on, in);
    if (slot == PHX_NONE) {
        return;
    }
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const chain *of = chain_of(on, slot);
    const uint32_t ranks = phx_gang_ranks(on->planner, slot);
    const phx_request request = chain_request(on, of, ranks);
    const uint32_t kind = tape_next(in);
    const int32_t *const *limits = limits_of(on, in, table);
    uint32_t held[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const phx_run failed[2] = {{held[tape_next(in) % ranks], 1}, {held[0], 1}};
    const uint32_t failed_count = kind % 3 > 1 && failed[0].first == held[0] ? 1 : kind % 3;
    uint32_t flags = (kind & 4) ? PHX_REPLAN_PARTIAL : 0;
    flags |= (kind & 8) ? PHX_REPLAN_CORDONED : 0;
    flags |= (kind & 16) ? PHX_REPLAN_WIDEN : 0;
    phx_move moves[LEAVES_MAX];
    phx_repair repair;
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const phx_status status = phx_replan_sliced(on->planner, slot, &request, failed, failed_count,
                                                limits, flags, moves, LEAVES_MAX, &repair);
    require_same(on->planner, before, size, "a plan for slices changed the state");
    require(status == PHX_OK || status == PHX_MISFIT, "replan of slices");
    if (status != PHX_OK) {
        return;
    }
    apply_damaged(on, slot, &request, moves, repair.moves, in);
    require(phx_apply_sliced(on->planner, slot, &request, moves, repair.moves, failed,
                             failed_count) == PHX_OK,
            "a fresh plan for slices is stale");
    require(phx_gang_level(on->planner, slot) == repair.level_after, "level after");
    require_chain(on, slot, of, ranks);
    fuzz_outcomes[9] += repair.moves > 0;
    require(repair.moves == 0 || phx_apply_sliced(on->planner, slot, &request, moves, repair.moves,
                                                  failed, failed_count) == PHX_STALE_PLAN,
            "a plan for slices applied twice");
}
