/* The paper's fill: Place while the cluster fills up, refusals at its end and what explains them.
 */
#include "bench.h"

#define REFUSALS 2000

static uint32_t size_max(const settings *run)
{
    return run->leaves / 16 < 8192 ? run->leaves / 16 : 8192;
}

/* Sizes up to 8,192 are refused at 90 %: the status alone, then with code and level records. */
static void refusals(const settings *run, phx_planner *planner)
{
    const phx_request request = request_of(planner, size_max(run), 8);
    series status = series_new(REFUSALS, run->repeats);
    series record = series_new(REFUSALS, run->repeats);
    phx_level_record records[PHX_LEVELS_MAX + 1];
    uint32_t count = 0;
    uint32_t code = 0;
    uint64_t checksum = 0;
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&status);
        series_rewind(&record);
        for (uint32_t at = 0; at < REFUSALS; ++at) {
            uint64_t before = tick_start();
            const int64_t decision = phx_place(planner, &request);
            series_add(&status, tick_end() - before);
            CHECK(decision == -PHX_MISFIT);
            before = tick_start();
            const phx_status known =
                phx_explain(planner, &request, NULL, records, PHX_LEVELS_MAX + 1, &count, &code);
            series_add(&record, tick_end() - before);
            CHECK(known == PHX_OK);
        }
    }
    for (uint32_t at = 0; at < count; ++at) {
        checksum = fold(checksum, (int64_t)((uint64_t)records[at].ranks << 21));
    }
    row_begin("fill/refusal", run);
    row_series("ours", &status);
    row_checksum(checksum);
    row_end();
    row_begin("fill/misfit", run);
    row_series("ours", &record);
    row_number("code", code);
    row_number("records", count);
    row_checksum(checksum);
    row_end();
    series_free(&status);
    series_free(&record);
}

/* The stream of one fill on the lists: gangs above the largest order it may use are unions. */
static void fill_lists(const settings *run, series *samples)
{
    lists buddy = lists_with_spares(run->leaves);
    const uint32_t orders = order_of(size_max(run)) - 5 + 1;
    const uint32_t piece = size_max(run) / 8 > 32 ? size_max(run) / 8 : 32;
    uint64_t state = run->seed;
    uint64_t used = 0;
    for (uint32_t tries = 0; tries < run->leaves && 10 * used < 9 * (uint64_t)run->leaves;
         ++tries) {
        const uint32_t size = 32u << random_below(&state, orders);
        const uint32_t pieces = size > piece ? size / piece : 1;
        const uint32_t order = order_of(size / pieces);
        uint32_t firsts[256];
        uint32_t taken = 0;
        const uint64_t before = tick_start();
        while (taken < pieces && (firsts[taken] = lists_take(&buddy, order)) != LISTS_NONE) {
            ++taken;
        }
        const uint64_t ticks = tick_end() - before;
        if (taken == pieces) {
            series_add(samples, ticks);
            used += size;
        }
        while (taken < pieces && taken > 0) {
            lists_give(&buddy, firsts[--taken], order);
        }
    }
    lists_free(&buddy);
}

/* One alignment over run->events / 500 fills of different seeds. */
static void places(const settings *run, const phx_tree *tree, uint32_t alignment, const char *name)
{
    const uint32_t fills = run->events < 1000 ? 2 : run->events / 500;
    const uint32_t room = fills * (run->leaves / 32);
    series ours = series_new(room, run->repeats);
    series theirs = series_new(room, run->repeats);
    uint32_t *slots = malloc(sizeof *slots * run->leaves / 32);
    fill_result sum = {0, 0, 0, 0};
    CHECK(slots != NULL);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&ours);
        series_rewind(&theirs);
        sum = (fill_result){0, 0, 0, 0};
        for (uint32_t at = 0; at < fills; ++at) {
            settings one = *run;
            one.seed += at;
            phx_planner *planner = planner_of(tree, alignment, 1);
            const fill_result made = fill(planner, &one, 32, size_max(run), slots, &ours);
            phx_planner_free(planner);
            fill_lists(&one, &theirs);
            sum.gangs += made.gangs;
            sum.refused += made.refused;
            sum.used += made.used / fills;
            sum.checksum = fold(sum.checksum, (int64_t)(made.checksum >> 1));
        }
    }
    row_begin(name, run);
    row_series("ours", &ours);
    row_text("peer", "free lists in C");
    row_series("theirs", &theirs);
    row_number("fills", fills);
    row_number("gangs_a_fill", (double)sum.gangs / fills);
    row_number("refused_a_fill", (double)sum.refused / fills);
    row_number("load_percent", 100.0 * sum.used / run->leaves);
    row_checksum(sum.checksum);
    row_end();
    free(slots);
    series_free(&ours);
    series_free(&theirs);
}

void suite_fill(const settings *run)
{
    phx_tree *tree = uniform_tree(run->leaves);
    uint32_t *slots = malloc(sizeof *slots * run->leaves / 32);
    CHECK(slots != NULL);
    places(run, tree, PHX_BUDDY, "fill/place/buddy");
    places(run, tree, PHX_EXACT, "fill/place/exact");
    phx_planner *planner = planner_of(tree, PHX_BUDDY, 1);
    fill(planner, run, 32, size_max(run), slots, NULL);
    refusals(run, planner);
    phx_planner_free(planner);
    free(slots);
    phx_tree_free(tree);
}
