/* Steps for gangs of parts: they are placed. What a team asks for belongs to the handle it was
 * placed with, as a chain does. */
#include "fuzz.h"

#include <string.h>

static uint32_t scratch[PHX_PARTS_WORDS];

uint32_t team_job(fixture *on, tape *in)
{
    const uint32_t from = tape_next(in);
    for (uint32_t at = 0; at < on->job_count; ++at) {
        const uint32_t slot = on->jobs[(from + at) % on->job_count];
        if (on->teams[slot].count > 0 && on->teams[slot].handle == phx_handle(on->planner, slot)) {
            return slot;
        }
    }
    return PHX_NONE;
}

int team_resolve(const fixture *on, const team *of, team_request *out)
{
    phx_gang gang = {0, 1, 1, of->within, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    memset(out, 0, sizeof *out);
    for (uint32_t at = 0; at < of->count; ++at) {
        const role *part = &of->roles[at];
        phx_part *made = &out->parts[at];
        gang.ranks += part->gang.ranks;
        if (phx_request_init(on->planner, &part->gang, &made->request) != PHX_OK ||
            phx_request_slices(on->planner, &made->request, part->slices, part->count) != PHX_OK) {
            return 0;
        }
        made->within = part->within;
        for (uint32_t vertex = 0; vertex < LEAVES_MAX; ++vertex) {
            out->rows[at][vertex] = (int32_t)(vertex * 7 + part->limit_seed) % 5;
        }
        out->table[at][part->limit_level] = out->rows[at];
        made->limits = part->limit_seed > 0 ? out->table[at] : NULL;
    }
    return phx_request_init(on->planner, &gang, &out->whole) == PHX_OK &&
           phx_request_parts(on->planner, &out->whole, out->parts, of->count, scratch) == PHX_OK;
}

static void require_shared(const fixture *on, const uint32_t *held, uint32_t ranks, uint32_t size,
                           uint32_t level)
{
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const uint32_t head = held[rank / size * size];
        require(phx_tree_distance(on->tree, head, held[rank]) <= level, "a run of a part is split");
    }
}

void require_team(const fixture *on, const team *of, const uint32_t *held)
{
    uint32_t first = 0;
    for (uint32_t at = 0; at < of->count; ++at) {
        const role *part = &of->roles[at];
        const uint32_t ranks = part->gang.ranks;
        require_shared(on, held + first, ranks, part->gang.group, part->gang.group_level);
        for (uint32_t slice = 0; slice < part->count; ++slice) {
            const phx_slice of_part = part->slices[slice];
            require_shared(on, held + first, ranks, of_part.size, of_part.level);
        }
        first += ranks;
    }
    const uint32_t top = of->within == PHX_NONE ? on->depth : of->within;
    require_shared(on, held, first, first, top);
}

static role drawn_role(const fixture *on, tape *in, uint32_t within)
{
    role made = {0};
    const uint32_t shape = tape_next(in);
    const uint32_t rest = tape_next(in);
    uint32_t size = 1 + shape % 3;
    uint32_t level = 1 + (shape >> 2) % on->depth;
    made.gang = (phx_gang){0, size, level, within, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    made.within = PHX_NONE;
    if (shape & 64) {
        size *= 1 + (shape >> 4) % 3;
        level += shape >> 7;
        made.slices[made.count++] = (phx_slice){size, level};
    }
    made.gang.ranks = size * (1 + rest % 4);
    if ((rest & 12) == 0) {
        made.within = level + (rest >> 4 & 1);
        made.slices[made.count++] = (phx_slice){made.gang.ranks, made.within};
    }
    if ((rest & 0xc0) == 0) {
        made.limit_level = tape_next(in) % (on->depth + 1);
        made.limit_seed = 1 + tape_next(in);
    }
    return made;
}

void do_place_parts(fixture *on, tape *in)
{
    static team_request request;
    const int32_t *table[PHX_LEVELS_MAX + 1];
    team made = {0};
    const uint32_t kind = tape_next(in);
    made.count = 1 + kind % ROLES_MAX;
    made.within = (kind & 12) == 0 ? 1 + (kind >> 4) % on->depth : PHX_NONE;
    for (uint32_t at = 0; at < made.count; ++at) {
        made.roles[at] = drawn_role(on, in, made.within);
    }
    const int32_t *const *limits = limits_of(on, in, table);
    if (!team_resolve(on, &made, &request)) {
        return;
    }
    request.whole.scratch = kind < 224 ? scratch : NULL;
    phx_run runs[LEAVES_MAX];
    uint32_t held[LEAVES_MAX];
    uint32_t count = 0;
    const int64_t tried = tried_place(on, &request.whole, limits, runs, &count);
    const int64_t placed =
        phx_place_limited(on->planner, &request.whole, limits, 1, runs, LEAVES_MAX, &count);
    require((tried >= 0) == (placed >= 0), "place of parts and its what-if disagree");
    require(placed >= 0 || placed == tried, "place of parts and its what-if are refused apart");
    if (placed < 0) {
        return;
    }
    const uint32_t slot = (uint32_t)(placed & 0x1fffff);
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    require_team(on, &made, held);
    ++fuzz_outcomes[12];
    if (on->job_count == JOBS_MAX) {
        require(phx_release(on->planner, slot) == PHX_OK, "release");
        return;
    }
    forget_chain(on, slot);
    made.handle = phx_handle(on->planner, slot);
    on->teams[slot] = made;
    on->jobs[on->job_count++] = slot;
}
