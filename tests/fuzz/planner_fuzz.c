/* Bytes become a small tree and a sequence of planner calls; every invariant is recomputed after
 * each call, and what a call promises about the state before and after is compared.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput; tests/fuzz/replay.c runs files and random inputs.
 */
#include "fuzz.h"

#include <string.h>

uint64_t fuzz_operations;
uint64_t fuzz_outcomes[OUTCOMES];
const int fuzz_kinds = OUTCOMES;
const outcome fuzz_expected[] = {
    {"placed", 41000},       {"refused", 119000},       {"repaired", 91000}, {"partial", 140},
    {"no repair", 10000},    {"stale", 44000},          {"adopted", 91000},  {"loaded", 44000},
    {"placed slices", 6300}, {"repaired slices", 2700}, {"shrunk", 440},     {"grown", 1700},
    {"placed parts", 1800},  {"repaired parts", 820}};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tape in = {bytes, bytes + size};
    static fixture on;
    memset(&on, 0, sizeof on);
    if (!fixture_build(&on, &in) || !fixture_start(&on, &in)) {
        phx_tree_free(on.tree);
        return 0;
    }
    fixture_check(&on);
    while (in.at < in.end) {
        static void (*const steps[])(fixture *, tape *) = {
            do_place, do_place, do_place, do_place, do_release, do_release, do_health, do_replan,
            do_replan, do_quarantine, do_recover, do_host_loss, do_replan, do_health, do_adopt,
            do_adopt, do_adopt, do_load,
            /* only where the tape asks for slices: older tapes keep their meaning */
            do_place_sliced, do_place_sliced, do_place_sliced, do_replan_sliced, do_replan_sliced,
            do_replan_sliced, do_shrink, do_grow, do_grow,
            /* and for parts */
            do_place_parts, do_place_parts, do_place_parts, do_replan_parts, do_replan_parts,
            do_replan_parts, do_adopt_parts};
        const uint32_t plain = 18;
        const uint32_t sliced = 27;
        const uint32_t all = sizeof steps / sizeof *steps;
        const uint32_t step = tape_next(&in) % (on.parts ? all : on.full ? sliced : plain);
        steps[step](&on, &in);
        fixture_check(&on);
        ++fuzz_operations;
    }
    phx_planner_free(on.planner);
    phx_tree_free(on.tree);
    return 0;
}
