/* Streams made to hurt: splits and joins over the whole tree, every second leaf free, and sizes
 * that alternate between the smallest and a large one. */
#include "bench.h"

#include <string.h>

#define PAIRS 4000
#define RING 64

/* A single leaf of an empty cluster splits it from the root down, and joins it again. */
static void split_and_join(const settings *run, const phx_tree *tree)
{
    series ours = series_new(PAIRS, run->repeats);
    series theirs = series_new(PAIRS, run->repeats);
    phx_planner *planner = planner_of(tree, PHX_BUDDY, 0);
    lists buddy = lists_new(run->leaves);
    const phx_request request = request_of(planner, 1, 1);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&ours);
        series_rewind(&theirs);
        for (uint32_t at = 0; at < PAIRS; ++at) {
            uint64_t before = tick_start();
            const int64_t decision = phx_place(planner, &request);
            const phx_status status = phx_release(planner, (uint32_t)decision & 0x1fffffu);
            series_add(&ours, tick_end() - before);
            CHECK(decision >= 0 && status == PHX_OK);
            before = tick_start();
            lists_give(&buddy, lists_take(&buddy, 0), 0);
            series_add(&theirs, tick_end() - before);
        }
    }
    row_begin("adversarial/split-join", run);
    row_series("ours", &ours);
    row_text("peer", "free lists in C");
    row_series("theirs", &theirs);
    row_end();
    series_free(&ours);
    series_free(&theirs);
    lists_free(&buddy);
    phx_planner_free(planner);
}

static uint32_t *fill_singles(const settings *run, phx_planner *planner)
{
    uint32_t *slots = malloc(sizeof *slots * run->leaves);
    const phx_request one = request_of(planner, 1, 1);
    CHECK(slots != NULL);
    for (uint32_t leaf = 0; leaf < run->leaves; ++leaf) {
        const int64_t decision = phx_place(planner, &one);
        CHECK(decision >= 0);
        slots[(decision >> 21) & 0x1fffff] = (uint32_t)decision & 0x1fffffu;
    }
    return slots;
}

/* All leaves held one by one; every second is freed, then the others, which joins everything. */
static void checkerboard(const settings *run, const phx_tree *tree)
{
    series ours = series_new(run->leaves, run->repeats);
    series theirs = series_new(run->leaves, run->repeats);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        phx_planner *planner = planner_of(tree, PHX_EXACT, 0);
        uint32_t *slots = fill_singles(run, planner);
        lists buddy = lists_new(run->leaves);
        while (lists_take(&buddy, 0) != LISTS_NONE) {
        }
        series_rewind(&ours);
        series_rewind(&theirs);
        for (uint32_t at = 0; at < run->leaves; ++at) {
            const uint32_t leaf = at < run->leaves / 2 ? 2 * at : 2 * (at - run->leaves / 2) + 1;
            uint64_t before = tick_start();
            const phx_status status = phx_release(planner, slots[leaf]);
            series_add(&ours, tick_end() - before);
            CHECK(status == PHX_OK);
            before = tick_start();
            lists_give(&buddy, leaf, 0);
            series_add(&theirs, tick_end() - before);
        }
        CHECK(phx_free_leaves(planner, 0, NULL) == run->leaves);
        free(slots);
        lists_free(&buddy);
        phx_planner_free(planner);
    }
    row_begin("adversarial/checkerboard", run);
    row_series("ours", &ours);
    row_text("peer", "free lists in C");
    row_series("theirs", &theirs);
    row_end();
    series_free(&ours);
    series_free(&theirs);
}

/* On the checkerboard the exact planner makes a gang of 64 of 64 single leaves; lists refuse it. */
static void union_of_singles(const settings *run, const phx_tree *tree)
{
    series ours = series_new(PAIRS, run->repeats);
    phx_planner *planner = planner_of(tree, PHX_EXACT, 0);
    uint32_t *slots = fill_singles(run, planner);
    const phx_request request = request_of(planner, 64, 1);
    uint64_t checksum = 0;
    for (uint32_t leaf = 0; leaf < run->leaves; leaf += 2) {
        CHECK(phx_release(planner, slots[leaf]) == PHX_OK);
    }
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&ours);
        for (uint32_t at = 0; at < PAIRS / 8; ++at) {
            const uint64_t before = tick_start();
            const int64_t decision = phx_place(planner, &request);
            series_add(&ours, tick_end() - before);
            CHECK(decision >= 0);
            checksum = fold(checksum, decision);
            CHECK(phx_release(planner, (uint32_t)decision & 0x1fffffu) == PHX_OK);
        }
    }
    row_begin("adversarial/union-of-64", run);
    row_series("ours", &ours);
    row_checksum(checksum);
    row_end();
    series_free(&ours);
    phx_planner_free(planner);
    free(slots);
}

/* First in, first out, sizes 1 and 256 in turn: singles break what the large ones need. */
static void alternating(const settings *run, const phx_tree *tree)
{
    series ours = series_new(PAIRS, run->repeats);
    series theirs = series_new(PAIRS, run->repeats);
    const uint32_t large = run->leaves / 256 > 256 ? 256 : run->leaves / 256;
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        phx_planner *planner = planner_of(tree, PHX_BUDDY, 0);
        lists buddy = lists_new(run->leaves);
        const phx_request requests[2] = {request_of(planner, 1, 1), request_of(planner, large, 1)};
        int64_t held[RING] = {0};
        uint32_t first[RING] = {0};
        series_rewind(&ours);
        series_rewind(&theirs);
        for (uint32_t at = 0; at < PAIRS; ++at) {
            const uint32_t order = at % 2 == 0 ? 0 : order_of(large);
            const uint32_t old = at % RING % 2 == 0 ? 0 : order_of(large);
            uint64_t before = tick_start();
            if (at >= RING) {
                phx_release(planner, (uint32_t)held[at % RING] & 0x1fffffu);
            }
            held[at % RING] = phx_place(planner, &requests[at % 2]);
            series_add(&ours, tick_end() - before);
            CHECK(held[at % RING] >= 0);
            before = tick_start();
            if (at >= RING) {
                lists_give(&buddy, first[at % RING], old);
            }
            first[at % RING] = lists_take(&buddy, order);
            series_add(&theirs, tick_end() - before);
        }
        lists_free(&buddy);
        phx_planner_free(planner);
    }
    row_begin("adversarial/alternating", run);
    row_series("ours", &ours);
    row_text("peer", "free lists in C");
    row_series("theirs", &theirs);
    row_end();
    series_free(&ours);
    series_free(&theirs);
}

void suite_adversarial(const settings *run)
{
    phx_tree *tree = uniform_tree(run->leaves);
    split_and_join(run, tree);
    checkerboard(run, tree);
    union_of_singles(run, tree);
    alternating(run, tree);
    phx_tree_free(tree);
}
