/* Steps that repair gangs of parts, and that release them and adopt them again. */
#include "fuzz.h"

#include <string.h>

/* Whether a rank's leaf counts as lost. */
static int is_lost(const fixture *on, uint32_t leaf, const phx_run *failed, uint32_t count,
                   uint32_t flags)
{
    const uint32_t state = phx_leaf_state(on->planner, leaf);
    int lost = (state >> 2 & 3) == PHX_DOWN ||
               ((flags & PHX_REPLAN_CORDONED) != 0 && (state >> 4 & 1) != 0);
    for (uint32_t at = 0; at < count; ++at) {
        lost |= leaf == failed[at].first;
    }
    return lost;
}

/* Ranks whose units lost nothing stay, and a part in a domain of its own where one of it lives. */
static void require_pinned(const fixture *on, const team *of, const uint32_t *held,
                           const uint32_t *after, const uint8_t *lost, uint32_t flags)
{
    uint32_t first = 0;
    for (uint32_t at = 0; at < of->count; ++at) {
        const role *part = &of->roles[at];
        const uint32_t ranks = part->gang.ranks;
        const uint32_t own = part->count > 0 ? part->slices[0].size : part->gang.group;
        for (uint32_t rank = 0; rank < ranks && (flags & PHX_REPLAN_WIDEN) == 0; rank += own) {
            const uint32_t unit = first + rank;
            require(memchr(lost + unit, 1, own) != NULL ||
                        memcmp(held + unit, after + unit, own * sizeof *held) == 0,
                    "a unit that lost nothing moved");
        }
        require(part->within == PHX_NONE || memchr(lost + first, 0, ranks) == NULL ||
                    phx_tree_distance(on->tree, held[first], after[first]) <= part->within,
                "a part left its own domain");
        first += ranks;
    }
}

/* A plan in a buffer that may be too small. */
static phx_status plan_in(fixture *on, uint32_t slot, const phx_request *request,
                          const phx_run *failed, uint32_t count, const int32_t *const *limits,
                          uint32_t flags, uint32_t room)
{
    phx_move moves[LEAVES_MAX];
    phx_repair repair;
    return phx_replan_sliced(on->planner, slot, request, failed, count, limits, flags, moves, room,
                             &repair);
}

void do_replan_parts(fixture *on, tape *in)
{
    static team_request request;
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const uint32_t slot = team_job(on, in);
    if (slot == PHX_NONE) {
        return;
    }
    const team *of = &on->teams[slot];
    require(team_resolve(on, of, &request), "request of a gang of parts");
    const uint32_t ranks = request.whole.ranks;
    const uint32_t kind = tape_next(in);
    const int32_t *const *limits = limits_of(on, in, table);
    uint32_t held[LEAVES_MAX];
    uint8_t lost[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const phx_run failed[2] = {{held[tape_next(in) % ranks], 1}, {held[0], 1}};
    const uint32_t count = kind % 3 > 1 && failed[0].first == held[0] ? 1 : kind % 3;
    uint32_t flags = (kind & 4) ? PHX_REPLAN_PARTIAL : 0;
    flags |= (kind & 8) ? PHX_REPLAN_CORDONED : 0;
    flags |= (kind & 16) ? PHX_REPLAN_WIDEN : 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        lost[rank] = (uint8_t)is_lost(on, held[rank], failed, count, flags);
    }
    phx_move moves[LEAVES_MAX];
    phx_repair repair;
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const phx_status status = phx_replan_sliced(on->planner, slot, &request.whole, failed, count,
                                                limits, flags, moves, LEAVES_MAX, &repair);
    const phx_status tight =
        plan_in(on, slot, &request.whole, failed, count, limits, flags, tape_next(in) % 4);
    require_same(on->planner, before, size, "a plan for parts changed the state");
    require(status == PHX_OK || (status == PHX_MISFIT && repair.unresolved > 0), "replan of parts");
    require(tight == status || tight == PHX_NO_ROOM, "a plan for parts depends on its room");
    if (status != PHX_OK) {
        return;
    }
    apply_damaged(on, slot, &request.whole, moves, repair.moves, in);
    require(phx_apply_sliced(on->planner, slot, &request.whole, moves, repair.moves, failed,
                             count) == PHX_OK,
            "a fresh plan for parts is stale");
    require(phx_gang_level(on->planner, slot) == repair.level_after, "level after");
    uint32_t after[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, after) == PHX_OK, "leaves of a gang");
    require_team(on, of, after);
    require_pinned(on, of, held, after, lost, flags);
    fuzz_outcomes[13] += repair.moves > 0;
    require(repair.moves == 0 || phx_apply_sliced(on->planner, slot, &request.whole, moves,
                                                  repair.moves, failed, count) == PHX_STALE_PLAN,
            "a plan for parts applied twice");
}

/* Released and adopted again, a gang has its leaves wherever they are free by then. */
void do_adopt_parts(fixture *on, tape *in)
{
    static team_request request;
    uint32_t held[LEAVES_MAX];
    const uint32_t slot = team_job(on, in);
    if (slot == PHX_NONE) {
        return;
    }
    const team of = on->teams[slot];
    require(team_resolve(on, &of, &request), "request of a gang of parts");
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    phx_run runs[1];
    uint32_t count = 0;
    require(phx_grow_plan(on->planner, slot, &request.whole, NULL, runs, 1, &count) == PHX_BAD_GANG,
            "parts that grow");
    require(phx_release(on->planner, slot) == PHX_OK, "release");
    int held_back = 0;
    for (uint32_t rank = 0; rank < request.whole.ranks; ++rank) {
        held_back |= (phx_leaf_state(on->planner, held[rank]) & 3) == PHX_QUARANTINE;
    }
    const int64_t again = phx_adopt(on->planner, &request.whole, held);
    require(again == (held_back ? -(int64_t)PHX_NOT_FREE : again) && (held_back || again >= 0),
            "adopt of parts");
    for (uint32_t at = 0; at < on->job_count; ++at) {
        if (on->jobs[at] == slot && again < 0) {
            on->jobs[at] = on->jobs[--on->job_count];
        } else if (on->jobs[at] == slot) {
            on->jobs[at] = (uint32_t)(again & 0x1fffff);
            on->teams[on->jobs[at]] = of;
            on->teams[on->jobs[at]].handle = phx_handle(on->planner, on->jobs[at]);
            return;
        }
    }
}
