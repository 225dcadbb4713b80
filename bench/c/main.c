/* bench_core LEAVES EVENTS REPEATS SEED SUITE...: the named suites, one JSON object a line. */
#include "bench.h"

#include <string.h>

typedef struct suite {
    const char *name;
    void (*run)(const settings *run);
} suite;

static const suite SUITES[] = {
    {"churn", suite_churn},   {"fill", suite_fill},     {"replan", suite_replan},
    {"packed", suite_packed}, {"growth", suite_growth}, {"memory", suite_memory},
    {"copies", suite_copies}, {"rules", suite_rules},   {"adversarial", suite_adversarial}};

static const suite *suite_named(const char *name)
{
    for (size_t at = 0; at < sizeof SUITES / sizeof *SUITES; ++at) {
        if (strcmp(SUITES[at].name, name) == 0) {
            return &SUITES[at];
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    if (count < 6) {
        fputs("usage: bench_core LEAVES EVENTS REPEATS SEED SUITE...\n", stderr);
        return 2;
    }
    const settings run = {(uint32_t)strtoul(words[1], NULL, 10),
                          (uint32_t)strtoul(words[2], NULL, 10),
                          (uint32_t)strtoul(words[3], NULL, 10), strtoull(words[4], NULL, 10)};
    CHECK(run.leaves >= 1024 && run.leaves <= PHX_LEAVES_MAX && run.repeats >= 1);
    CHECK((run.leaves & (run.leaves - 1)) == 0);
    timing_calibrate();
    printf("{\"row\": \"timer\", \"source\": \"%s\", \"tick_ns\": %.4f, \"overhead_ns\": %.1f, "
           "\"step_ns\": %.1f}\n",
           TIMING_SOURCE, timing_tick_ns, timing_overhead * timing_tick_ns,
           (double)timing_step * timing_tick_ns);
    for (int at = 5; at < count; ++at) {
        const suite *chosen = suite_named(words[at]);
        CHECK(chosen != NULL);
        chosen->run(&run);
    }
    return 0;
}
