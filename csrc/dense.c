/* One capacity, every amount of it: the classical recurrence, a row of bests and a table of what
 * was chosen. */
#include "mutants.h"
#include "solve.h"

#define CHOICES_MAX 65534u
#define NO_CHOICE 65535u

size_t phx_assign_dense_bytes(uint32_t jobs, uint32_t capacity)
{
    const size_t amounts = (size_t)capacity + 1;
    return amounts * sizeof(int64_t) + amounts * jobs * sizeof(uint16_t);
}

/* Adds one job to the best of the jobs before it, from the full capacity down, so that each amount
 * still stands for those jobs alone when it is read. */
static void add_job(int64_t *best, uint16_t *taken, uint32_t capacity, const uint32_t *demand,
                    const int64_t *value, uint32_t choices)
{
    for (uint32_t step = 0; step <= capacity; ++step) {
        const uint32_t amount = PHX_MUTANT_CHOSEN_TWICE ? step : capacity - step;
        int64_t most = best[amount];
        uint32_t kept = NO_CHOICE;
        for (uint32_t choice = 0; choice < choices; ++choice) {
            if (demand[choice] <= amount) {
                const int64_t worth = best[amount - demand[choice]] + value[choice];
                /* Of equals the lowest choice, and any before none. */
                if (worth > most ||
                    (worth == most && (kept == NO_CHOICE || PHX_MUTANT_LAST_CHOICE))) {
                    most = worth;
                    kept = choice;
                }
            }
        }
        taken[amount] = (uint16_t)kept;
        best[amount] = most;
    }
}

phx_status phx_assign_dense(uint32_t jobs, const uint32_t *first, const uint32_t *demand,
                            const int64_t *value, uint32_t capacity, void *scratch, int32_t *chosen,
                            int64_t *total)
{
    int64_t *best = scratch;
    const size_t amounts = (size_t)capacity + 1;
    uint16_t *taken = (uint16_t *)(best + amounts);
    for (uint32_t job = 0; job < jobs; ++job) {
        if (first[job + 1] < first[job] || first[job + 1] - first[job] > CHOICES_MAX) {
            return PHX_BAD_GANG;
        }
    }
    for (size_t amount = 0; amount < amounts; ++amount) {
        best[amount] = 0;
    }
    for (uint32_t job = 0; job < jobs; ++job) {
        add_job(best, taken + job * amounts, capacity, demand + first[job], value + first[job],
                first[job + 1] - first[job]);
    }
    uint32_t amount = capacity;
    for (uint32_t job = jobs; job-- > 0;) {
        const uint32_t kept = taken[job * amounts + amount];
        chosen[job] = kept == NO_CHOICE ? -1 : (int32_t)kept;
        amount -= kept == NO_CHOICE ? 0 : demand[first[job] + kept];
    }
    *total = best[capacity];
    return PHX_OK;
}
