/* Bytes become a table of utilities, a round of it, and a sequence of calls that price, search,
 * mend, fill and deal it. What each tells is reckoned anew from the table, and no answer may be
 * worth more than any bound: where answers are few all are looked at, and complete solvers must
 * agree.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput; tests/fuzz/replay.c runs files and random inputs.
 */
#include "rounds.h"

#include <string.h>

uint64_t fuzz_operations;
uint64_t fuzz_outcomes[OUTCOMES];
const int fuzz_kinds = OUTCOMES;
const outcome fuzz_expected[] = {
    {"best", 225000},         {"none better", 87000},  {"too many states", 58000},
    {"floor raised", 221000}, {"thinned", 33000},      {"hopeless", 63000},
    {"dense", 9000},          {"small", 2900},         {"trivial", 7400},
    {"dealt", 2300},          {"mended", 62000},       {"not mended", 250},
    {"filled", 50000},        {"not filled", 12000},   {"no room", 3200},
    {"too dear", 3100},       {"prices found", 125000}};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tape in = {bytes, bytes + size};
    static fixture on;
    memset(&on, 0, sizeof on);
    if (!fixture_build(&on, &in)) {
        return 0;
    }
    look_at_all(&on);
    while (in.at < in.end) {
        static void (*const steps[])(fixture *, tape *) = {
            do_sum,  do_mend, do_fill, do_dense, do_prices, do_find, do_find,  do_losses,
            do_core, do_core, do_core, do_core,  do_core,   do_core, do_small, do_deal};
        steps[tape_next(&in) % (sizeof steps / sizeof *steps)](&on, &in);
        ++fuzz_operations;
    }
    return 0;
}
