/* Gangs of parts for the C tests: a role is what a caller says of one part. */
#ifndef ROLES_H
#define ROLES_H

#include "check.h"

#define ROLES_MAX 8
#define MOVES_MAX 64
#define ROWS (PHX_LEVELS_MAX + 1) /* of limits */

static const uint32_t RACKS[3] = {4, 4, 4}; /* 4 leaves a host, 4 hosts a rack, 4 racks */

typedef struct role {
    uint32_t ranks;
    uint32_t group;
    uint32_t group_level;
    phx_slice slice;              /* size 0: none */
    uint32_t within;              /* 0: that of the gang */
    const int32_t *const *limits; /* on this part alone */
} role;

typedef struct team {
    phx_tree *tree;
    phx_planner *planner;
    phx_part parts[PHX_PARTS_MAX + 1];
    phx_request request;
    phx_move moves[MOVES_MAX];
    phx_repair repair;
} team;

static uint32_t scratch[PHX_PARTS_WORDS];

static inline void change(phx_planner *planner, phx_change what, uint32_t first, uint32_t count)
{
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        uint32_t owner = 0;
        CHECK(phx_health_change(planner, what, &leaf, 1, &owner) == PHX_OK);
    }
}

static inline team *start_spared(uint32_t depth, const uint32_t *fanouts, uint32_t per)
{
    team *on = calloc(1, sizeof *on);
    on->tree = even_tree(depth, fanouts);
    on->planner = new_planner(on->tree, PHX_EXACT, per, per == PHX_NONE ? PHX_NONE : 1, 1);
    return on;
}

static inline team *start(uint32_t depth, const uint32_t *fanouts)
{
    return start_spared(depth, fanouts, PHX_NONE);
}

static inline void finish(team *on)
{
    CHECK_VALID(on->planner);
    phx_planner_free(on->planner);
    phx_tree_free(on->tree);
    free(on);
}

/* A part as the binding makes it: a level of its own is its last slice, above the unit. */
static inline phx_part part_of(const phx_planner *planner, const role *of, uint32_t within)
{
    const phx_gang gang = {of->ranks, of->group, of->group_level, within,
                           PHX_NONE,  PHX_NEAR,  PHX_SMALLEST};
    phx_part made;
    memset(&made, 0, sizeof made);
    CHECK(phx_request_init(planner, &gang, &made.request) == PHX_OK);
    phx_slice slices[2];
    uint32_t count = 0;
    if (of->slice.size > 0) {
        slices[count++] = of->slice;
    } else if (of->within > 0) {
        slices[count++] = (phx_slice){of->group, of->group_level};
    }
    if (of->within > 0) {
        slices[count++] = (phx_slice){of->ranks, of->within};
    }
    CHECK(phx_request_slices(planner, &made.request, slices, count) == PHX_OK);
    made.limits = of->limits;
    made.within = of->within > 0 ? of->within : PHX_NONE;
    return made;
}

static inline void gather(team *on, const role *roles, uint32_t count, uint32_t within)
{
    uint32_t ranks = 0;
    for (uint32_t at = 0; at < count; ++at) {
        on->parts[at] = part_of(on->planner, &roles[at], within);
        ranks += roles[at].ranks;
    }
    on->request = request_of(on->planner, ranks, 1, within);
    CHECK(phx_request_parts(on->planner, &on->request, on->parts, count, scratch) == PHX_OK);
}

static inline int64_t asked(team *on, const int32_t *const *limits)
{
    phx_run runs[1024];
    uint32_t count = 0;
    return phx_place_limited(on->planner, &on->request, limits, 0, runs, 1024, &count);
}

static inline uint32_t adopted(team *on, const uint32_t *leaves)
{
    const int64_t word = phx_adopt(on->planner, &on->request, leaves);
    CHECK(word >= 0);
    return slot_of(word);
}

static inline uint32_t placed(team *on, const int32_t *const *limits)
{
    const int64_t word = phx_place_limited(on->planner, &on->request, limits, 1, NULL, 0, NULL);
    CHECK(word >= 0);
    CHECK_VALID(on->planner);
    CHECK(level_of(word) == phx_gang_level(on->planner, slot_of(word)));
    return slot_of(word);
}

/* Ranks first .. first + count - 1 that lie on leaves from .. to - 1. */
static inline uint32_t ranks_on(const team *on, uint32_t slot, uint32_t first, uint32_t count,
                                uint32_t from, uint32_t to)
{
    uint32_t leaves[1024];
    uint32_t inside = 0;
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    for (uint32_t rank = first; rank < first + count; ++rank) {
        inside += leaves[rank] >= from && leaves[rank] < to;
    }
    return inside;
}

static inline phx_status replanned(team *on, uint32_t slot, const phx_run *failed, uint32_t count,
                                   const int32_t *const *limits, uint32_t flags)
{
    const phx_status status = phx_replan_sliced(on->planner, slot, &on->request, failed, count,
                                                limits, flags, on->moves, MOVES_MAX, &on->repair);
    CHECK_VALID(on->planner);
    return status;
}

static inline void *saved(const phx_planner *planner, size_t *size)
{
    *size = phx_planner_save_bytes(planner);
    void *bytes = malloc(*size);
    CHECK(phx_planner_save(planner, bytes, *size) == PHX_OK);
    return bytes;
}

/* The planner's bytes are what they were. */
static inline void check_same(const phx_planner *planner, void *before, size_t size)
{
    size_t now_size = 0;
    void *now = saved(planner, &now_size);
    CHECK(now_size == size && memcmp(now, before, size) == 0);
    free(now);
    free(before);
}

#endif
