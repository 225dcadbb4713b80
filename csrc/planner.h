/* phx_planner: who holds every leaf. Private header of the core.
 *
 * Ranks of a gang are runs of consecutive leaves, chained in rank order by links. A host (a
 * vertex of level 1) held whole by one gang has its owner in host_owner, and nowhere else; the
 * leaves of other hosts have theirs in leaf_owner.
 *
 * Invariants, checked by phx_planner_validate:
 *   L1  the runs of a gang are disjoint, maximal, hold at least `ranks` leaves, all owned by it
 *   L2  every owned leaf is in exactly one run; host_owner and leaf_owner agree with the runs
 *   L3  a leaf is available == it is not owned, spare or quarantined, and up and not cordoned
 *   L4  a spare vertex is wholly healthy, and not owned or quarantined; spare_held counts them
 *   L5  a domain holds fewer spares than wanted only if it has no wholly available vertex
 *   L6  free slots are exactly those on the free list or never used; counters add up
 *   L7  words of unused run slots are zero
 *   L8  every group of a gang is inside one vertex of its group level, the gang inside `within`
 */
#ifndef PHX_PLANNER_H
#define PHX_PLANNER_H

#include "space.h"

#define PHX_UNNAMED 0x8000u /* placed by a batch: its handle alone tells it */
#define PHX_ANYWHERE 31     /* `within` of a gang without one */

typedef struct phx_gang_slot {
    uint32_t head;  /* first leaf; of a free slot the next free slot + 1 */
    uint32_t ranks; /* 0: the slot is free */
    uint32_t group;
    uint16_t levels; /* group level in bits 0..4, within 5..9, level 10..14, PHX_UNNAMED */
    uint16_t generation;
} phx_gang_slot;

/* A run of a gang's leaves; all zero at leaves where none starts. */
typedef struct phx_link {
    uint32_t next;  /* first leaf of the next run + 1, 0: it is the last */
    uint32_t count; /* its leaves */
} phx_link;

/* What is saved beside the arrays; lives at the start of the region. */
typedef struct phx_counters {
    uint32_t alignment;
    uint32_t spare_per; /* internal levels */
    uint32_t spare_size;
    uint32_t spare_count;
    uint32_t spare_missing; /* sum over domains of wanted - held */
    uint32_t down;          /* leaves */
    uint32_t ill;           /* leaves down, suspect or cordoned */
    uint32_t slot_free;     /* head of the free list + 1 */
    uint32_t slot_fresh;    /* slots never used start here */
    uint32_t gangs;
} phx_counters;

struct phx_planner {
    const phx_tree *tree;
    phx_counters *count;
    phx_space space;
    uint32_t *host_owner; /* [hosts] slot + 1 where one gang holds it whole, else 0 */
    uint32_t *leaf_owner; /* [leaves] slot + 1 in hosts nobody holds whole, 0 = nobody */
    phx_link *links;      /* [leaves] at the first leaf of each run */
    phx_gang_slot *gangs; /* [leaves] */
    uint64_t *down;       /* bitmaps over leaves */
    uint64_t *suspect;
    uint64_t *cordoned;
    uint64_t *quarantine;
    uint64_t *spare;      /* bitmap over vertices of spare_size */
    uint32_t *spare_held; /* [vertices of spare_per] */
    uint32_t *spare_wanted;
    uint32_t *spare_lowest; /* address of the lowest spare; 0 where sizes differ */
    /* Scratch: zero between calls where it is a bitmap, anything where it is an array. */
    uint64_t *pick;     /* leaves chosen */
    uint64_t *taken;    /* leaves a plan holds for the moment */
    uint64_t *lost;     /* ranks' leaves that must be replaced */
    uint64_t *moving;   /* units that move whole */
    uint64_t *shifting; /* groups that move inside their slice's domain */
    uint64_t *opened;   /* spare vertices a plan opened */
    uint64_t *allowed;  /* leaves with a limit above zero, when leaves are limited */
    uint64_t *known;    /* vertices of level 2 whose capacity is filled */
    uint8_t *cap_host;  /* ranks level 1 could hold */
    uint32_t *share;    /* [hosts] ranks given to each vertex of one level */
    uint32_t *cap[PHX_DEPTH_MAX + 1];
    int32_t *limit[PHX_DEPTH_MAX + 1]; /* what is left of the caller's limits */
    char *region;
    size_t bytes;
    size_t core_bytes;
    size_t host_bytes;
    size_t saved_bytes;
};

PHX_INLINE uint32_t phx_slot_group_level(const phx_gang_slot *gang)
{
    return gang->levels & 31u;
}

PHX_INLINE uint32_t phx_slot_within(const phx_gang_slot *gang)
{
    return (gang->levels >> 5) & 31u;
}

PHX_INLINE uint32_t phx_slot_level(const phx_gang_slot *gang)
{
    return (gang->levels >> 10) & 31u;
}

PHX_INLINE void phx_slot_set_level(phx_gang_slot *gang, uint32_t level)
{
    gang->levels = (uint16_t)((gang->levels & ~(31u << 10)) | (level << 10));
}

/* The level of the domain that a gang may not leave. */
PHX_INLINE uint32_t phx_slot_top(const phx_tree *tree, const phx_gang_slot *gang)
{
    const uint32_t within = phx_slot_within(gang);
    return within == PHX_ANYWHERE ? tree->depth : within;
}

PHX_INLINE int phx_slot_is_held(const phx_planner *planner, uint32_t slot)
{
    return slot < planner->count->slot_fresh && planner->gangs[slot].ranks != 0;
}

PHX_INLINE int phx_is_healthy(const phx_planner *planner, uint32_t leaf)
{
    return !phx_bit(planner->down, leaf) && !phx_bit(planner->suspect, leaf) &&
           (PHX_MUTANT_CORDON_PLACED || !phx_bit(planner->cordoned, leaf));
}

PHX_INLINE uint32_t phx_leaf_slot(const phx_planner *planner, uint32_t leaf)
{
    const uint32_t owner = planner->host_owner[phx_parent(planner->tree, 0, leaf)];
    const uint32_t exact = owner == 0 ? planner->leaf_owner[leaf] : owner;
    return exact == 0 ? PHX_NONE : exact - 1;
}

PHX_INLINE int phx_in_spare(const phx_planner *planner, uint32_t leaf)
{
    return planner->count->spare_count != 0 &&
           phx_bit(planner->spare,
                   phx_ancestor(planner->tree, 0, leaf, planner->count->spare_size));
}

/* The level of the domain that a part may not leave, as a bit: even one rank must lie in a real
 * one; 0 where it has none of its own. */
PHX_INLINE uint32_t phx_part_names(const phx_tree *tree, const phx_part *part)
{
    return part->within == PHX_NONE ? 0 : 1u << tree->internal[part->within];
}

phx_status phx_planner_make(const phx_tree *tree, uint32_t spare_per, uint32_t spare_size,
                            phx_planner **out);

/* ledger.c: leaves of one run change hands; both keep host_owner and leaf_owner. */
void phx_own(phx_planner *planner, uint32_t first, uint32_t count, uint32_t slot);
void phx_disown(phx_planner *planner, uint32_t first, uint32_t count);
uint32_t phx_slot_new(phx_planner *planner, const phx_request *request, uint32_t level);
/* Leaves nobody owns any more: down ones to quarantine, healthy ones available. */
void phx_settle(phx_planner *planner, uint32_t first, uint32_t count);
/* Available now = neither owned, spare, quarantined nor ill; call after any of them changed. */
void phx_refresh_leaf(phx_planner *planner, uint32_t leaf);
/* The gang's leaf span as the lowest common level. */
uint32_t phx_span_level(const phx_planner *planner, uint32_t slot);

/* spares.c */
void phx_spares_start(phx_planner *planner);
/* After leaves became available: each domain they touch holds its best vertices as spares again,
 * so the spares are a function of the idle leaves. */
void phx_spares_refill(phx_planner *planner, uint32_t first, uint32_t count);
void phx_spare_drop(phx_planner *planner, uint32_t vertex);
/* Make the spares inside a vertex available for a search, and back those that no bit of `kept`
 * (over leaves) touches; returns how many were opened. */
uint32_t phx_spares_open(phx_planner *planner, uint32_t level, uint32_t vertex);
void phx_spares_close_unused(phx_planner *planner, uint32_t level, uint32_t vertex,
                             const uint64_t *kept);

#endif
