/* Growth of the block path: one host lost, and place and release of a gang, in clusters from 8,192
 * to 1,048,576 leaves, filled with gangs of 32..512 in the same way. */
#include "bench.h"

#define PAIRS 4000
#define SIZE_MAX_GROWTH 512

static uint64_t run_pairs(phx_planner *planner, uint64_t seed, series *place, series *release)
{
    phx_request requests[5];
    uint64_t checksum = 0;
    for (uint32_t order = 0; order < 5; ++order) {
        requests[order] = request_of(planner, 8u << order, 8);
    }
    for (uint32_t at = 0; at < PAIRS; ++at) {
        uint64_t before = tick_start();
        const int64_t decision = phx_place(planner, &requests[random_below(&seed, 5)]);
        series_add(place, tick_end() - before);
        CHECK(decision >= 0);
        checksum = fold(checksum, decision);
        before = tick_start();
        const phx_status status = phx_release(planner, (uint32_t)decision & 0x1fffffu);
        series_add(release, tick_end() - before);
        CHECK(status == PHX_OK);
    }
    return checksum;
}

static void run_failures(phx_planner *planner, const uint32_t *slots, uint32_t gangs, uint64_t seed,
                         series *samples)
{
    static uint32_t leaves[SIZE_MAX_GROWTH];
    phx_move moves[16];
    phx_repair repair;
    for (uint32_t at = 0; at < PAIRS; ++at) {
        const uint32_t slot = slots[random_below(&seed, gangs)];
        CHECK(phx_gang_leaves(planner, slot, leaves) == PHX_OK);
        const uint32_t host = random_below(&seed, phx_gang_ranks(planner, slot) / 8);
        const phx_run failed = {leaves[8 * host], 8};
        const uint64_t before = tick_start();
        const phx_status status =
            phx_replan(planner, slot, &failed, 1, NULL, 0, moves, 16, &repair);
        series_add(samples, tick_end() - before);
        CHECK(status == PHX_OK && repair.moved == 8);
    }
}

static void growth_row(const settings *run)
{
    series samples[3];
    static const char *const NAMES[3] = {"growth/place", "growth/release", "growth/replan"};
    phx_tree *tree = uniform_tree(run->leaves);
    uint32_t *slots = malloc(sizeof *slots * run->leaves / 32);
    uint64_t checksum = 0;
    CHECK(slots != NULL);
    for (uint32_t kind = 0; kind < 3; ++kind) {
        samples[kind] = series_new(PAIRS, run->repeats);
    }
    phx_planner *planner = planner_of(tree, PHX_BUDDY, 1);
    const fill_result made = fill(planner, run, 32, SIZE_MAX_GROWTH, slots, NULL);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        for (uint32_t kind = 0; kind < 3; ++kind) {
            series_rewind(&samples[kind]);
        }
        checksum = run_pairs(planner, run->seed, &samples[0], &samples[1]);
        run_failures(planner, slots, made.gangs, run->seed, &samples[2]);
    }
    for (uint32_t kind = 0; kind < 3; ++kind) {
        row_begin(NAMES[kind], run);
        row_series("ours", &samples[kind]);
        row_checksum(checksum);
        row_end();
        series_free(&samples[kind]);
    }
    phx_planner_free(planner);
    phx_tree_free(tree);
    free(slots);
}

void suite_growth(const settings *run)
{
    settings one = *run;
    one.leaves = 8192;
    growth_row(&one);
    if (run->leaves >= 131072) {
        one.leaves = 131072;
        growth_row(&one);
        one.leaves = 1048576;
        growth_row(&one);
    }
}
