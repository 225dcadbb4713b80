/* Steps that place, release and adopt gangs, and copy the planner through its bytes. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static phx_gang gang_of(const fixture *on, tape *in)
{
    const uint32_t group = 1u << tape_next(in) % 3;
    phx_gang gang = {0};
    gang.group = group;
    gang.ranks = group * (1 + tape_next(in) % 12);
    gang.group_level = 1 + tape_next(in) % on->depth;
    const uint32_t bounds = tape_next(in);
    gang.within = (bounds & 3) == 0 ? 1 + (bounds >> 2) % on->depth : PHX_NONE;
    gang.prefer = (bounds & 3) == 1 ? 1 + (bounds >> 2) % on->depth : PHX_NONE;
    gang.aim = (bounds >> 6) & 1;
    gang.rule = (bounds >> 7) * (1 + tape_next(in) % 2);
    return gang;
}

/* NULL, or one limited level. */
const int32_t *const *limits_of(fixture *on, tape *in, const int32_t **table)
{
    const uint32_t kind = tape_next(in);
    memset(table, 0, (PHX_LEVELS_MAX + 1) * sizeof *table);
    if ((kind & 3) != 0 || on->buddy) {
        return NULL;
    }
    const uint32_t level = (kind >> 2) % (on->depth + 1);
    for (uint32_t at = 0; at < on->counts[level]; ++at) {
        on->limit[at] = (int32_t)(tape_next(in) % 9);
    }
    table[level] = on->limit;
    return table;
}

int64_t tried_place(fixture *on, const phx_request *request, const int32_t *const *limits,
                    phx_run *runs, uint32_t *count)
{
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    const int64_t tried =
        phx_place_limited(on->planner, request, limits, 0, runs, LEAVES_MAX, count);
    require_same(on->planner, before, size, "a place that was not applied changed the state");
    return tried;
}

void do_place(fixture *on, tape *in)
{
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const phx_gang gang = gang_of(on, in);
    const int32_t *const *limits = limits_of(on, in, table);
    phx_request request;
    if (phx_request_init(on->planner, &gang, &request) != PHX_OK) {
        return;
    }
    phx_run runs[LEAVES_MAX];
    uint32_t count = 0;
    const int64_t tried = tried_place(on, &request, limits, runs, &count);
    const int64_t placed =
        limits == NULL && (tape_next(in) & 1)
            ? phx_place(on->planner, &request)
            : phx_place_limited(on->planner, &request, limits, 1, runs, LEAVES_MAX, &count);
    require((tried >= 0) == (placed >= 0), "place and its what-if disagree");
    ++fuzz_outcomes[placed >= 0 ? 0 : 1];
    if (placed < 0) {
        phx_level_record records[PHX_LEVELS_MAX + 1];
        uint32_t record_count = 0;
        uint32_t code = 99;
        require(phx_explain(on->planner, &request, limits, records, PHX_LEVELS_MAX + 1,
                            &record_count, &code) == PHX_OK,
                "explain");
        require(code <= PHX_MISFIT_ALIGNMENT, "a code that no place has");
    } else if (on->job_count < JOBS_MAX) {
        on->jobs[on->job_count++] = (uint32_t)(placed & 0x1fffff);
    } else {
        require(phx_release(on->planner, (uint32_t)(placed & 0x1fffff)) == PHX_OK, "release");
    }
}

void do_release(fixture *on, tape *in)
{
    const uint32_t which = tape_next(in);
    if (on->job_count == 0) {
        require(phx_release(on->planner, which) == PHX_STALE_HANDLE, "release of nothing");
        return;
    }
    const uint32_t at = which % on->job_count;
    require(phx_release(on->planner, on->jobs[at]) == PHX_OK, "release");
    require(phx_release(on->planner, on->jobs[at]) == PHX_STALE_HANDLE, "double release");
    on->jobs[at] = on->jobs[--on->job_count];
}

/* Release a gang and adopt its leaves again: the free space must come out the same. */
void do_adopt(fixture *on, tape *in)
{
    const phx_gang gang = {1, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const uint32_t leaf = tape_next(in) % on->leaves;
    phx_request request;
    require(phx_request_init(on->planner, &gang, &request) == PHX_OK, "request");
    const uint32_t kind = phx_leaf_state(on->planner, leaf) & 3;
    const int64_t taken = phx_adopt(on->planner, &request, &leaf);
    require((taken >= 0) == (kind == PHX_FREE || kind == PHX_SPARE), "adopt");
    if (taken >= 0 && on->job_count < JOBS_MAX) {
        on->jobs[on->job_count++] = (uint32_t)(taken & 0x1fffff);
        ++fuzz_outcomes[6];
    } else if (taken >= 0) {
        require(phx_release(on->planner, (uint32_t)(taken & 0x1fffff)) == PHX_OK, "release");
    }
}

void do_load(fixture *on, tape *in)
{
    size_t size = 0;
    unsigned char *bytes = copy_of(on->planner, &size);
    phx_planner *loaded = NULL;
    require(phx_planner_load(on->tree, bytes, size, &loaded) == PHX_OK, "load of a save");
    require_same(loaded, copy_of(on->planner, &size), size, "load differs from save");
    phx_planner_free(on->planner);
    on->planner = loaded;
    bytes[(tape_next(in) * 257u) % size] ^= (unsigned char)(1 + tape_next(in) % 255);
    require(phx_planner_load(on->tree, bytes, size, &loaded) != PHX_OK, "damaged bytes loaded");
    free(bytes);
    ++fuzz_outcomes[7];
}
