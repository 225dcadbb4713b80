/* Repair of one gang, survivors pinned. Private header of replan.c, repair.c and apply.c.
 *
 * A unit is one group that lost a leaf. It is filled from its own domain when that has room for its
 * dead ranks (smallest losses first: that fills the most units), else it moves whole. All units
 * want the same size and may go to the same domains, so filling first never costs a repair that
 * exists: a unit moved into a domain could be swapped with one filled there.
 *
 * With slices a unit is one innermost slice: see sliced.c. A gang of parts is repaired part after
 * part: see parts_repair.c.
 */
#ifndef PHX_REPLAN_H
#define PHX_REPLAN_H

#include "pack.h"

#define PHX_EXACT_UNITS                                                                            \
    10 /* with limits, fill or move is tried for every subset of so many units */

/* A position in a gang's ranks. */
typedef struct phx_cursor {
    uint32_t rank;
    uint32_t run;  /* first leaf of the run it is in */
    uint32_t into; /* leaves of that run before it */
} phx_cursor;

PHX_INLINE phx_cursor phx_cursor_start(const phx_planner *planner, uint32_t slot)
{
    return (phx_cursor){0, planner->gangs[slot].head, 0};
}

/* The next at most `most` ranks on consecutive leaves; moves the cursor behind them. */
PHX_INLINE phx_run phx_cursor_next(const phx_planner *planner, phx_cursor *at, uint32_t most)
{
    const uint32_t left = planner->links[at->run].count - at->into;
    const phx_run piece = {at->run + at->into, left < most ? left : most};
    at->rank += piece.count;
    at->into += piece.count;
    if (at->into == planner->links[at->run].count && planner->links[at->run].next != 0) {
        at->run = planner->links[at->run].next - 1;
        at->into = 0;
    }
    return piece;
}

typedef struct phx_plan {
    phx_planner *planner;
    uint32_t slot;
    uint32_t first;  /* rank in the gang of the part that is repaired; 0 for a gang without parts */
    uint32_t ranks;  /* of that part; cursors and units count from its first */
    uint32_t before; /* moves of parts repaired before, which hold their leaves */
    uint32_t group;
    uint32_t group_level;
    uint32_t scope_level; /* units may go anywhere inside this vertex */
    uint32_t scope_vertex;
    int away;     /* the whole gang leaves the domain it was in */
    int homeless; /* no rank of the gang lives, so it may go anywhere */
    const int32_t *const *limits;
    const int32_t *const *part_limits; /* on the leaves of the part alone */
    phx_search search;                 /* template: limits loaded, survivors charged */
    phx_move *moves;
    uint32_t room;
    uint32_t count;
    uint32_t overflow; /* more moves than room */
    uint32_t unmet;    /* units without a place */
    uint64_t forced;   /* broken units, by order, that must move whole */
    uint32_t unit;     /* ranks of one: the innermost slice, else the group */
    uint32_t unit_level;
    uint32_t slice_count;
    int widen;
    int partial;             /* units without a place stay, so they count below the limits */
    uint32_t subsets;        /* of broken units that may still be tried */
    uint64_t best;           /* the units, by order, whose moving leaves fewest without a place */
    uint32_t named;          /* level of the last slice as a bit, where even one rank needs it */
    const phx_slice *slices; /* internal levels */
} phx_plan;

/* What is sought: ranks in whole groups and whole slices, the first `slices` of the gang's. */
typedef struct phx_wish {
    uint32_t ranks;
    uint32_t group;
    uint32_t slices;
    uint64_t rails;
} phx_wish;

/* The first rank of the part that is repaired. */
phx_cursor phx_plan_start(const phx_plan *plan);
/* An attempt begins: it knows the moves of the parts before alone, and their leaves are taken. */
void phx_plan_begin(phx_plan *plan);
/* Dead ranks among so many at the cursor, and the first dead leaf; the cursor stays. */
uint32_t phx_plan_losses(const phx_plan *plan, phx_cursor at, uint32_t ranks, uint32_t *leaf);
void phx_plan_skip(const phx_plan *plan, phx_cursor *at, uint32_t ranks);
/* Pairs ranks at the cursor with picked leaves from `pick` on, both in order. whole: all of the
 * ranks, else the dead. Returns where the next pick is. */
uint32_t phx_plan_record(phx_plan *plan, phx_cursor at, uint32_t ranks, const phx_search *found,
                         uint32_t pick, int whole);
/* Rails of ranks at the cursor, all of them or the dead ones only, as bits. */
uint64_t phx_plan_rails(const phx_plan *plan, phx_cursor at, uint32_t ranks, int whole);
/* Free leaves of the vertex first, then its spares as well. Holds what it finds. */
phx_status phx_plan_find(phx_plan *plan, uint32_t level, uint32_t vertex, phx_wish wish,
                         phx_search *found);
/* Gives the group at the cursor its dead ranks out of its own domain; 0 when that has no room. */
int phx_plan_fill(phx_plan *plan, phx_cursor at, uint32_t dead, uint32_t leaf);
/* Puts the limits in force, with nobody charged. */
void phx_plan_limits(phx_plan *plan);
/* The free space and the spares are as before the attempt. */
void phx_plan_undo(phx_plan *plan);
/* sliced.c: one attempt for a gang with slices. */
void phx_sliced_attempt(phx_plan *plan);

/* repair.c: plan with planner->lost marked; the free space is as before on return. PHX_OK when
 * every unit has its place, or partial and some have. */
phx_status phx_repair_plan(phx_plan *plan, uint32_t broken, int partial, phx_repair *repair);
/* The same for one part: adds its moves behind plan->before, and counts in plan->unmet the units
 * without a place. */
void phx_repair_part(phx_plan *plan, uint32_t broken, int partial, phx_repair *repair);
/* What the moves of a plan come to. */
phx_status phx_repair_told(phx_plan *plan, int partial, phx_repair *repair);
void phx_plan_sort(phx_move *moves, uint32_t count);
/* Broken units of a part, and its dead ranks in *dead. */
uint32_t phx_count_broken(const phx_plan *plan, uint32_t *dead);
/* parts_repair.c: ranks of the other parts count below the limits of the gang, where they live, or
 * where those repaired before move to. */
void phx_charge_others(phx_plan *plan);
/* phx_repair_plan for a gang of parts. */
phx_status phx_repair_parts(phx_plan *plan, const phx_request *request, int partial,
                            phx_repair *repair);
/* What is repaired next: a gang, or one part of it that starts at a rank. */
void phx_plan_part(phx_plan *plan, const phx_request *request, uint32_t first);
/* Lowest level that holds the gang after the moves (sorted by rank). */
uint32_t phx_level_after(const phx_planner *planner, uint32_t slot, const phx_move *moves,
                         uint32_t count);
/* apply.c: commits a plan that is known to be fresh; `level` (internal) is that of the gang
 * afterwards, PHX_NONE where it has to be found. */
void phx_commit(phx_planner *planner, uint32_t slot, const phx_move *moves, uint32_t move_count,
                const phx_run *failed, uint32_t failed_count, uint32_t level);
/* Marks planner->lost for ranks on down (or listed, or cordoned) leaves. */
phx_status phx_lost_mark(phx_planner *planner, uint32_t slot, const phx_run *failed,
                         uint32_t failed_count, uint32_t flags);
void phx_lost_clear(phx_planner *planner, uint32_t slot);

#endif
