/* Steps that change the health of leaves, repair gangs and bring leaves back. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

void do_health(fixture *on, tape *in)
{
    uint32_t leaves[8];
    uint32_t owners[8];
    const phx_change change = (phx_change)(tape_next(in) % 5);
    const uint32_t count = 1 + tape_next(in) % 8;
    uint32_t base = tape_next(in) % on->leaves;
    if (on->job_count > 0 &&
        (base & 1) != 0) { /* half the faults hit a gang from its first rank on */
        uint32_t held[LEAVES_MAX];
        phx_gang_leaves(on->planner, on->jobs[base % on->job_count], held);
        base = held[0];
    }
    for (uint32_t at = 0; at < count; ++at) {
        leaves[at] = (base + at) % (on->leaves + (count > on->leaves ? 0 : 1));
    }
    phx_health_change(on->planner, change, leaves, count, owners);
}

void do_replan(fixture *on, tape *in)
{
    if (on->job_count == 0) {
        return;
    }
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const uint32_t slot = on->jobs[tape_next(in) % on->job_count];
    const uint32_t kind = tape_next(in);
    const int32_t *const *limits = limits_of(on, in, table);
    uint32_t held[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const phx_run failed = {held[(kind >> 3) % phx_gang_ranks(on->planner, slot)], 1};
    const uint32_t failed_count = kind & 1;
    uint32_t flags = (kind & 6) ? PHX_REPLAN_PARTIAL : 0;
    flags |= (kind & 4) ? PHX_REPLAN_CORDONED : 0;
    phx_move moves[LEAVES_MAX];
    phx_repair repair;
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const phx_status status = phx_replan(on->planner, slot, &failed, failed_count, limits, flags,
                                         moves, LEAVES_MAX, &repair);
    require_same(on->planner, before, size, "a plan changed the state");
    require(status == PHX_OK || status == PHX_MISFIT, "replan");
    require(status == PHX_OK || repair.unresolved > 0, "a refusal without a dead rank");
    ++fuzz_outcomes[status == PHX_MISFIT ? 4 : repair.unresolved > 0 ? 3 : 2];
    if (status == PHX_OK) {
        require(phx_apply(on->planner, slot, moves, repair.moves, &failed, failed_count) == PHX_OK,
                "a fresh plan is stale");
        forget_chain(on, slot);
        require(phx_gang_level(on->planner, slot) == repair.level_after, "level after");
        if (repair.moves > 0) {
            ++fuzz_outcomes[5];
            require(phx_apply(on->planner, slot, moves, repair.moves, &failed, failed_count) ==
                        PHX_STALE_PLAN,
                    "a plan applied twice");
        }
    }
}

/* A gang that holds a whole host loses it: the short way and the full search must agree. */
void do_host_loss(fixture *on, tape *in)
{
    static const int32_t *const no_limits[PHX_LEVELS_MAX + 1];
    if (on->job_count == 0) {
        return;
    }
    const uint32_t slot = on->jobs[tape_next(in) % on->job_count];
    uint32_t held[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const uint32_t ranks = phx_gang_ranks(on->planner, slot);
    const uint32_t rank = tape_next(in) % ranks;
    phx_run failed = {held[rank], 1};
    while (rank + failed.count < ranks &&
           held[rank + failed.count] == failed.first + failed.count &&
           phx_tree_distance(on->tree, failed.first, failed.first + failed.count) == 1) {
        ++failed.count;
    }
    phx_move quick[LEAVES_MAX];
    phx_move full[LEAVES_MAX];
    phx_repair repairs[2];
    const phx_status status =
        phx_replan(on->planner, slot, &failed, 1, NULL, 0, quick, LEAVES_MAX, &repairs[0]);
    require(phx_replan(on->planner, slot, &failed, 1, no_limits, 0, full, LEAVES_MAX,
                       &repairs[1]) == status,
            "the short way and the full search disagree");
    require(status != PHX_OK || memcmp(&repairs[0], &repairs[1], sizeof repairs[0]) == 0,
            "the short way and the full search repair differently");
    for (uint32_t at = 0; status == PHX_OK && at < repairs[0].moves; ++at) {
        require(memcmp(&quick[at], &full[at], sizeof quick[at]) == 0,
                "the short way and the full search move differently");
    }
    const phx_status down =
        phx_replan(on->planner, slot, NULL, 0, NULL, 0, quick, LEAVES_MAX, &repairs[0]);
    require(phx_replan(on->planner, slot, NULL, 0, no_limits, 0, full, LEAVES_MAX, &repairs[1]) ==
                down,
            "the short way and the full search disagree on down leaves");
    require(down != PHX_OK || memcmp(&repairs[0], &repairs[1], sizeof repairs[0]) == 0,
            "the short way and the full search repair down leaves differently");
}

void do_recover(fixture *on, tape *in)
{
    uint32_t leaf = 0;
    uint32_t owner = 0;
    for (uint32_t at = 0; at < on->leaves; ++at, ++leaf) {
        if ((phx_leaf_state(on->planner, leaf) & 3) == PHX_QUARANTINE) {
            phx_quarantine_release(on->planner, &leaf, 1);
        }
        phx_health_change(on->planner, PHX_HEAL, &leaf, 1, &owner);
        phx_health_change(on->planner, PHX_UNCORDON, &leaf, 1, &owner);
    }
    for (uint32_t left = tape_next(in) % 4; left > 0 && on->job_count > 0; --left) {
        require(phx_release(on->planner, on->jobs[--on->job_count]) == PHX_OK, "release");
    }
}

void do_quarantine(fixture *on, tape *in)
{
    const uint32_t from = tape_next(in) % on->leaves;
    for (uint32_t at = 0; at < on->leaves; ++at) {
        const uint32_t leaf = (from + at) % on->leaves;
        if ((phx_leaf_state(on->planner, leaf) & 3) == PHX_QUARANTINE) {
            require(phx_quarantine_release(on->planner, &leaf, 1) == PHX_OK, "quarantine");
            if (tape_next(in) & 1) {
                return;
            }
        }
    }
}
