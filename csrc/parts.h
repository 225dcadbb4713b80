/* Several parts of one gang, placed together under one vertex. Private header of parts.c,
 * joint.c and parts_repair.c.
 *
 * A vertex v of level l can hold n(p) ranks of each part p when every n(p) is whole units of l and
 * the numbers are sums of what its children can hold. Where the parts' units nest, that is where
 * every part's unit is a multiple of the next one's at every level, the sets are
 * { n : n(1) + .. + n(k) <= ranks_k(v) for all k } with ranks_k as in pack.h for the chain of part
 * k, and any placement of the coarser parts leaves room for the finer ones: they are placed one
 * after the other. Elsewhere that may fail, and joint.c counts the sets out.
 */
#ifndef PHX_PARTS_H
#define PHX_PARTS_H

#include "caps.h"

typedef struct phx_team {
    phx_planner *planner;
    const phx_request *whole;
    const int32_t *const *limits;    /* on the leaves of all parts together */
    phx_search chain[PHX_PARTS_MAX]; /* of each part, without limits */
    uint32_t order[PHX_PARTS_MAX];   /* the coarsest part first */
    uint32_t head[PHX_PARTS_MAX];    /* first leaf of each part's first run; PHX_NONE: none yet */
    uint32_t tail[PHX_PARTS_MAX];    /* and of its last */
    uint32_t nested;                 /* one part after the other is exact */
    uint64_t work;                   /* steps of joint searches so far */
} phx_team;

/* How many orders of so many parts are tried: of three, all there are. */
PHX_INLINE uint32_t phx_part_orders(uint32_t count)
{
    return count > 2 ? 6 : count;
}

/* Which comes at a step of an order: from some part on, then the same in reverse. */
PHX_INLINE uint32_t phx_part_in_order(uint32_t order, uint32_t step, uint32_t count)
{
    const uint32_t at = (order / 2 + step) % count;
    return order % 2 == 0 ? at : count - 1 - at;
}

/* Chains of the parts of a request, and their order. */
void phx_team_start(phx_team *team, phx_planner *planner, const phx_request *whole,
                    const int32_t *const *limits);
/* Whether every whole unit of `one` is whole units of `other`, wherever it may stand. */
int phx_chain_covers(const phx_search *one, const phx_search *other);
/* Available leaves leave the free space and become the next ranks of a part. */
void phx_team_append(phx_team *team, uint32_t part, phx_run run);
/* joint.c: ranks for all parts inside a vertex. PHX_MISFIT: there are none; PHX_GAVE_UP: the tables
 * or the work would be too large. */
phx_status phx_joint_deal(phx_team *team, uint32_t level, uint32_t vertex);

/* parts.c: phx_place_limited for a request with parts. */
int64_t phx_place_parts(phx_planner *planner, const phx_request *request,
                        const int32_t *const *limits, int apply, phx_run *runs, uint32_t room,
                        uint32_t *count);

#endif
