/* Copies of a planner and what they are for: probe, clone, save, load, and a place undone at once.
 * The reference of a copy is memcpy of the same bytes. */
#include "bench.h"

#include <string.h>

#define ROUNDS 400
#define PAIRS 4000

/* One timed kind of copy with the memcpy that it is measured against. */
typedef struct copy_row {
    const char *name;
    size_t bytes;
    series ours;
    series theirs;
} copy_row;

static copy_row copy_new(const settings *run, const char *name, size_t bytes)
{
    return (copy_row){name, bytes, series_new(ROUNDS, run->repeats),
                      series_new(ROUNDS, run->repeats)};
}

static void copy_end(const settings *run, copy_row *row)
{
    row_begin(row->name, run);
    row_series("ours", &row->ours);
    row_text("peer", "memcpy of the bytes");
    row_series("theirs", &row->theirs);
    row_number("bytes", (double)row->bytes);
    row_end();
    series_free(&row->ours);
    series_free(&row->theirs);
}

static void time_memcpy(copy_row *row, char *to, const char *from)
{
    const uint64_t before = tick_start();
    memcpy(to, from, row->bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
    series_add(&row->theirs, tick_end() - before);
}

/* Place and release of one gang; the saved bytes must be the same before and after. */
static void what_if(const settings *run, phx_planner *planner)
{
    const size_t size = phx_planner_save_bytes(planner);
    char *before = malloc(size);
    char *after = malloc(size);
    series samples = series_new(PAIRS, run->repeats);
    const phx_request request = request_of(planner, is_small(run->leaves) ? 8 : 64, 8);
    uint64_t checksum = 0;
    CHECK(before != NULL && after != NULL);
    /* Once untimed; a slot's generation counts its uses, so it alone differs afterwards. */
    CHECK(phx_release(planner, (uint32_t)phx_place(planner, &request) & 0x1fffffu) == PHX_OK);
    CHECK(phx_planner_save(planner, before, size) == PHX_OK);
    samples.bulk_ns = 1e9;
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&samples);
        for (uint32_t at = 0; at < PAIRS; ++at) {
            const uint64_t start = tick_start();
            const int64_t decision = phx_place(planner, &request);
            const phx_status status = phx_release(planner, (uint32_t)decision & 0x1fffffu);
            series_add(&samples, tick_end() - start);
            CHECK(decision >= 0 && status == PHX_OK);
            checksum = fold(checksum, decision);
        }
        const uint64_t bulk = clock_ns();
        for (uint32_t at = 0; at < PAIRS; ++at) {
            phx_release(planner, (uint32_t)phx_place(planner, &request) & 0x1fffffu);
        }
        const double pair_ns = (double)(clock_ns() - bulk) / PAIRS;
        samples.bulk_ns = pair_ns < samples.bulk_ns ? pair_ns : samples.bulk_ns;
    }
    CHECK(phx_planner_save(planner, after, size) == PHX_OK);
    uint32_t differing[2] = {0, 0}; /* in what decides and owners of hosts; elsewhere */
    const size_t header = 40;       /* its last word is the checksum of the bytes */
    for (size_t at = header; at < size; ++at) {
        const int elsewhere = at >= header + phx_planner_core_bytes(planner, 1);
        differing[elsewhere] += before[at] != after[at];
    }
    row_begin("copy/what-if", run);
    row_series("ours", &samples);
    row_number("bytes_compared", (double)(size - header));
    row_number("core_bytes_differing", differing[0]);
    row_number("other_bytes_differing", differing[1]);
    row_checksum(checksum);
    row_end();
    series_free(&samples);
    free(before);
    free(after);
}

/* The probe alone, so that what it copies stays in the caches as it does in a what-if search. */
static void probes(const settings *run, const phx_tree *tree, const phx_planner *planner)
{
    phx_planner *probe = planner_of(tree, PHX_BUDDY, 1);
    copy_row row = copy_new(run, "copy/probe", phx_planner_core_bytes(planner, 1));
    char *from = calloc(1, row.bytes);
    char *to = calloc(1, row.bytes);
    CHECK(from != NULL && to != NULL);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        series_rewind(&row.ours);
        series_rewind(&row.theirs);
        for (uint32_t at = 0; at < ROUNDS; ++at) {
            const uint64_t before = tick_start();
            const phx_status status = phx_planner_probe(probe, planner);
            series_add(&row.ours, tick_end() - before);
            CHECK(status == PHX_OK);
        }
        for (uint32_t at = 0; at < ROUNDS; ++at) {
            time_memcpy(&row, to, from);
        }
    }
    copy_end(run, &row);
    phx_planner_free(probe);
    free(from);
    free(to);
}

static void copies(const settings *run, const phx_tree *tree, const phx_planner *planner)
{
    const size_t saved = phx_planner_save_bytes(planner);
    char *bytes = malloc(saved);
    char *spare = malloc(saved);
    copy_row rows[3] = {copy_new(run, "copy/clone", saved), copy_new(run, "copy/save", saved),
                        copy_new(run, "copy/load", saved)};
    CHECK(bytes != NULL && spare != NULL);
    for (uint32_t at = 0; at < ROUNDS / 10 * run->repeats; ++at) {
        for (uint32_t kind = 0; kind < 3 && at % (ROUNDS / 10) == 0; ++kind) {
            series_rewind(&rows[kind].ours);
            series_rewind(&rows[kind].theirs);
        }
        phx_planner *made = NULL;
        uint64_t before = tick_start();
        CHECK(phx_planner_clone(planner, &made) == PHX_OK);
        series_add(&rows[0].ours, tick_end() - before);
        phx_planner_free(made);
        before = tick_start();
        CHECK(phx_planner_save(planner, bytes, saved) == PHX_OK);
        series_add(&rows[1].ours, tick_end() - before);
        before = tick_start();
        CHECK(phx_planner_load(tree, bytes, saved, &made) == PHX_OK);
        series_add(&rows[2].ours, tick_end() - before);
        phx_planner_free(made);
        for (uint32_t kind = 0; kind < 3; ++kind) {
            time_memcpy(&rows[kind], spare, bytes);
        }
    }
    for (uint32_t kind = 0; kind < 3; ++kind) {
        copy_end(run, &rows[kind]);
    }
    free(bytes);
    free(spare);
}

void suite_copies(const settings *run)
{
    phx_tree *tree = uniform_tree(run->leaves);
    phx_planner *planner = planner_of(tree, PHX_BUDDY, 1);
    uint32_t *slots = malloc(sizeof *slots * run->leaves / 32);
    CHECK(slots != NULL);
    fill(planner, run, 32, run->leaves / 256 > 32 ? run->leaves / 256 : 32, slots, NULL);
    what_if(run, planner);
    probes(run, tree, planner);
    copies(run, tree, planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
    free(slots);
}
