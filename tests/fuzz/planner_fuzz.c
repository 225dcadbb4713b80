/* Bytes become a small tree and a sequence of planner calls; every invariant is recomputed after
 * each call, and what a call promises about the state before and after is compared.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput; tests/fuzz/replay.c runs files and random inputs.
 */
#include "phalanx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES_MAX 256
#define JOBS_MAX 64

typedef struct tape {
    const uint8_t *at;
    const uint8_t *end;
} tape;

typedef struct fixture {
    phx_tree *tree;
    phx_planner *planner;
    uint32_t leaves;
    uint32_t depth;
    uint32_t counts[5];
    uint32_t jobs[JOBS_MAX];
    uint32_t job_count;
    int32_t limit[LEAVES_MAX];
    uint32_t buddy;
} fixture;

uint64_t fuzz_operations;
uint64_t fuzz_outcomes[8]; /* placed, refused, repaired, partial, misfit repair, stale, adopted, loaded */

static uint32_t next(tape *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

static void check(const fixture *on)
{
    const char *reason = NULL;
    const phx_status status = phx_planner_validate(on->planner, &reason);
    require(status == PHX_OK, reason);
}

/* Level sizes from the tape, top down, so that the children of a vertex differ. */
static int build(fixture *on, tape *in)
{
    static uint32_t first[4 * (LEAVES_MAX + 1)];
    static uint8_t phantom[4 * LEAVES_MAX];
    uint32_t size[5][LEAVES_MAX + 1];
    memset(phantom, 0, sizeof phantom);
    on->depth = 1 + next(in) % 4;
    const uint32_t regular = next(in) % 3;
    on->counts[on->depth] = 1 + next(in) % 3;
    for (uint32_t level = on->depth; level > 0; --level) {
        const uint32_t fanout = 1 + next(in) % 6;
        uint32_t sum = 0;
        for (uint32_t at = 0; at < on->counts[level]; ++at) {
            size[level][at] = sum;
            sum += regular == 0 ? 1u << (fanout % 3) : regular == 1 ? fanout : 1 + next(in) % 6;
            if (sum > LEAVES_MAX) {
                return 0;
            }
        }
        size[level][on->counts[level]] = sum;
        on->counts[level - 1] = sum;
    }
    uint32_t words = 0;
    uint32_t bytes = 0;
    const uint32_t stand_ins = next(in) % 4;
    for (uint32_t level = 1; level <= on->depth; ++level) {
        for (uint32_t at = 0; at <= on->counts[level]; ++at) {
            first[words++] = size[level][at];
        }
        for (uint32_t at = 0; at < on->counts[level]; ++at) {
            const uint32_t children = size[level][at + 1] - size[level][at];
            phantom[bytes++] = stand_ins == 1 && children == 1 && level > 1;
        }
    }
    on->leaves = on->counts[0];
    return phx_tree_new(on->depth, on->counts, first, phantom, &on->tree) == PHX_OK;
}

static int start(fixture *on, tape *in)
{
    phx_options options = {PHX_EXACT, PHX_NONE, PHX_NONE, 0};
    const uint32_t kind = next(in);
    options.alignment = kind & 1 ? PHX_BUDDY : PHX_EXACT;
    if ((kind & 2) != 0 && on->depth > 1) {
        options.spare_per = 2 + (kind >> 2) % (on->depth - 1);
        options.spare_size = 1;
        options.spare_count = 1 + (kind >> 5) % 2;
    }
    phx_status status = phx_planner_new(on->tree, &options, &on->planner);
    if (status == PHX_NOT_BUDDY) {
        options.alignment = PHX_EXACT;
        status = phx_planner_new(on->tree, &options, &on->planner);
    }
    on->buddy = options.alignment;
    return status == PHX_OK;
}

static phx_gang gang_of(const fixture *on, tape *in)
{
    const uint32_t group = 1u << next(in) % 3;
    phx_gang gang = {0};
    gang.group = group;
    gang.ranks = group * (1 + next(in) % 12);
    gang.group_level = 1 + next(in) % on->depth;
    const uint32_t bounds = next(in);
    gang.within = (bounds & 3) == 0 ? 1 + (bounds >> 2) % on->depth : PHX_NONE;
    gang.prefer = (bounds & 3) == 1 ? 1 + (bounds >> 2) % on->depth : PHX_NONE;
    gang.aim = (bounds >> 6) & 1;
    gang.rule = (bounds >> 7) * (1 + next(in) % 2);
    return gang;
}

/* NULL, or one limited level. */
static const int32_t *const *limits_of(fixture *on, tape *in, const int32_t **table)
{
    const uint32_t kind = next(in);
    memset(table, 0, (PHX_LEVELS_MAX + 1) * sizeof *table);
    if ((kind & 3) != 0 || on->buddy) {
        return NULL;
    }
    const uint32_t level = (kind >> 2) % (on->depth + 1);
    for (uint32_t at = 0; at < on->counts[level]; ++at) {
        on->limit[at] = (int32_t)(next(in) % 9);
    }
    table[level] = on->limit;
    return table;
}

static void *copy_of(const phx_planner *planner, size_t *size)
{
    *size = phx_planner_save_bytes(planner);
    void *bytes = malloc(*size);
    require(bytes != NULL && phx_planner_save(planner, bytes, *size) == PHX_OK, "save");
    return bytes;
}

static void require_same(const phx_planner *planner, void *before, size_t size, const char *what)
{
    size_t now_size = 0;
    void *now = copy_of(planner, &now_size);
    require(now_size == size && memcmp(now, before, size) == 0, what);
    free(now);
    free(before);
}

static void do_place(fixture *on, tape *in)
{
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const phx_gang gang = gang_of(on, in);
    const int32_t *const *limits = limits_of(on, in, table);
    phx_request request;
    if (phx_request_init(on->planner, &gang, &request) != PHX_OK) {
        return;
    }
    size_t size = 0;
    void *before = copy_of(on->planner, &size);
    phx_run runs[LEAVES_MAX];
    uint32_t count = 0;
    const int64_t tried =
        phx_place_limited(on->planner, &request, limits, 0, runs, LEAVES_MAX, &count);
    require_same(on->planner, before, size, "a place that was not applied changed the state");
    const int64_t placed =
        limits == NULL && (next(in) & 1)
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

static void do_release(fixture *on, tape *in)
{
    const uint32_t which = next(in);
    if (on->job_count == 0) {
        require(phx_release(on->planner, which) == PHX_STALE_HANDLE, "release of nothing");
        return;
    }
    const uint32_t at = which % on->job_count;
    require(phx_release(on->planner, on->jobs[at]) == PHX_OK, "release");
    require(phx_release(on->planner, on->jobs[at]) == PHX_STALE_HANDLE, "double release");
    on->jobs[at] = on->jobs[--on->job_count];
}

static void do_health(fixture *on, tape *in)
{
    uint32_t leaves[8];
    uint32_t owners[8];
    const phx_change change = (phx_change)(next(in) % 5);
    const uint32_t count = 1 + next(in) % 8;
    uint32_t base = next(in) % on->leaves;
    if (on->job_count > 0 && (base & 1) != 0) { /* half the faults hit a gang from its first rank on */
        uint32_t held[LEAVES_MAX];
        phx_gang_leaves(on->planner, on->jobs[base % on->job_count], held);
        base = held[0];
    }
    for (uint32_t at = 0; at < count; ++at) {
        leaves[at] = (base + at) % (on->leaves + (count > on->leaves ? 0 : 1));
    }
    phx_health_change(on->planner, change, leaves, count, owners);
}

static void do_replan(fixture *on, tape *in)
{
    if (on->job_count == 0) {
        return;
    }
    const int32_t *table[PHX_LEVELS_MAX + 1];
    const uint32_t slot = on->jobs[next(in) % on->job_count];
    const uint32_t kind = next(in);
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
static void do_host_loss(fixture *on, tape *in)
{
    static const int32_t *const no_limits[PHX_LEVELS_MAX + 1];
    if (on->job_count == 0) {
        return;
    }
    const uint32_t slot = on->jobs[next(in) % on->job_count];
    uint32_t held[LEAVES_MAX];
    require(phx_gang_leaves(on->planner, slot, held) == PHX_OK, "leaves of a gang");
    const uint32_t ranks = phx_gang_ranks(on->planner, slot);
    const uint32_t rank = next(in) % ranks;
    phx_run failed = {held[rank], 1};
    while (rank + failed.count < ranks && held[rank + failed.count] == failed.first + failed.count &&
           phx_tree_distance(on->tree, failed.first, failed.first + failed.count) == 1) {
        ++failed.count;
    }
    phx_move quick[LEAVES_MAX];
    phx_move full[LEAVES_MAX];
    phx_repair repairs[2];
    const phx_status status = phx_replan(on->planner, slot, &failed, 1, NULL, 0, quick, LEAVES_MAX,
                                         &repairs[0]);
    require(phx_replan(on->planner, slot, &failed, 1, no_limits, 0, full, LEAVES_MAX,
                       &repairs[1]) == status,
            "the short way and the full search disagree");
    require(status != PHX_OK || memcmp(&repairs[0], &repairs[1], sizeof repairs[0]) == 0,
            "the short way and the full search repair differently");
    for (uint32_t at = 0; status == PHX_OK && at < repairs[0].moves; ++at) {
        require(memcmp(&quick[at], &full[at], sizeof quick[at]) == 0,
                "the short way and the full search move differently");
    }
    const phx_status down = phx_replan(on->planner, slot, NULL, 0, NULL, 0, quick, LEAVES_MAX,
                                       &repairs[0]);
    require(phx_replan(on->planner, slot, NULL, 0, no_limits, 0, full, LEAVES_MAX, &repairs[1]) ==
                down,
            "the short way and the full search disagree on down leaves");
    require(down != PHX_OK || memcmp(&repairs[0], &repairs[1], sizeof repairs[0]) == 0,
            "the short way and the full search repair down leaves differently");
}

static void do_recover(fixture *on, tape *in)
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
    for (uint32_t left = next(in) % 4; left > 0 && on->job_count > 0; --left) {
        require(phx_release(on->planner, on->jobs[--on->job_count]) == PHX_OK, "release");
    }
}

static void do_quarantine(fixture *on, tape *in)
{
    const uint32_t from = next(in) % on->leaves;
    for (uint32_t at = 0; at < on->leaves; ++at) {
        const uint32_t leaf = (from + at) % on->leaves;
        if ((phx_leaf_state(on->planner, leaf) & 3) == PHX_QUARANTINE) {
            require(phx_quarantine_release(on->planner, &leaf, 1) == PHX_OK, "quarantine");
            if (next(in) & 1) {
                return;
            }
        }
    }
}

/* Release a gang and adopt its leaves again: the free space must come out the same. */
static void do_adopt(fixture *on, tape *in)
{
    const phx_gang gang = {1, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const uint32_t leaf = next(in) % on->leaves;
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

static void do_load(fixture *on, tape *in)
{
    size_t size = 0;
    unsigned char *bytes = copy_of(on->planner, &size);
    phx_planner *loaded = NULL;
    require(phx_planner_load(on->tree, bytes, size, &loaded) == PHX_OK, "load of a save");
    require_same(loaded, copy_of(on->planner, &size), size, "load differs from save");
    phx_planner_free(on->planner);
    on->planner = loaded;
    bytes[(next(in) * 257u) % size] ^= (unsigned char)(1 + next(in) % 255);
    require(phx_planner_load(on->tree, bytes, size, &loaded) != PHX_OK, "damaged bytes loaded");
    free(bytes);
    ++fuzz_outcomes[7];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tape in = {bytes, bytes + size};
    fixture on;
    memset(&on, 0, sizeof on);
    if (!build(&on, &in) || !start(&on, &in)) {
        phx_tree_free(on.tree);
        return 0;
    }
    check(&on);
    while (in.at < in.end) {
        static void (*const steps[])(fixture *, tape *) = {
            do_place,   do_place,  do_place, do_place,      do_release, do_release,
            do_health,  do_replan, do_replan, do_quarantine, do_recover, do_host_loss,
            do_replan,  do_health, do_adopt,  do_adopt,      do_adopt,   do_load};
        const uint32_t step = next(&in) % (sizeof steps / sizeof *steps);
        steps[step](&on, &in);
        check(&on);
        ++fuzz_operations;
    }
    phx_planner_free(on.planner);
    phx_tree_free(on.tree);
    return 0;
}
