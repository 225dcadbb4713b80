/* One capacity, every amount of it: the classical recurrence, two rows of bests and a table
 * of what was chosen. */
#include "mutants.h"
#include "solve.h"

#define NO_CHOICE 65535u

size_t phx_assign_dense_bytes(uint32_t jobs, uint32_t capacity)
{
    const size_t amounts = (size_t)capacity + 1;
    return amounts * 2 * sizeof(int64_t) + amounts * jobs * sizeof(uint16_t);
}

/* Adds one job to the best of the jobs after it: `before` is theirs, `best` becomes that of all,
 * by every amount of the capacity. */
static void add_job(const phx_round *round, uint32_t job, const int64_t *before, int64_t *best,
                    uint16_t *taken)
{
    const size_t capacity = (size_t)round->capacity[0];
    const uint32_t choices = round->first[job + 1] - round->first[job];
    for (size_t amount = 0; amount <= capacity; ++amount) {
        best[amount] = before[amount];
        taken[amount] = NO_CHOICE;
    }
    for (uint32_t place = 0; place < choices; ++place) {
        const uint32_t choice = round->first[job] + place;
        const size_t demand = *phx_wants(round, choice);
        for (size_t amount = demand; amount <= capacity; ++amount) {
            const int64_t worth =
                (PHX_MUTANT_CHOSEN_TWICE ? best : before)[amount - demand] + round->value[choice];
            /* Of equals the lowest choice, and any before none. */
            const int equal_wins = taken[amount] == NO_CHOICE || PHX_MUTANT_LAST_CHOICE;
            if (worth > best[amount] || (worth == best[amount] && equal_wins)) {
                best[amount] = worth;
                taken[amount] = (uint16_t)place;
            }
        }
    }
}

phx_status phx_assign_dense(const phx_round *round, void *scratch, int32_t *chosen, int64_t *total)
{
    if (round->rows != 1 || round->capacity[0] < 0 || round->capacity[0] > UINT32_MAX) {
        return PHX_BAD_GANG;
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        if (round->first[job + 1] < round->first[job] ||
            round->first[job + 1] - round->first[job] > PHX_CHOICES_MAX) {
            return PHX_BAD_GANG;
        }
    }
    const size_t amounts = (size_t)round->capacity[0] + 1;
    int64_t *best[2] = {scratch, (int64_t *)scratch + amounts};
    uint16_t *taken = (uint16_t *)((int64_t *)scratch + 2 * amounts);
    for (size_t amount = 0; amount < amounts; ++amount) {
        best[round->jobs % 2][amount] = 0;
    }
    for (uint32_t job = round->jobs; job-- > 0;) {
        add_job(round, job, best[(job + 1) % 2], best[job % 2], taken + job * amounts);
    }
    size_t amount = amounts - 1;
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t kept = taken[job * amounts + amount];
        chosen[job] = kept == NO_CHOICE ? -1 : (int32_t)kept;
        amount -= kept == NO_CHOICE || PHX_MUTANT_NOTHING_SPENT
                      ? 0
                      : *phx_wants(round, round->first[job] + kept);
    }
    *total = best[0][amounts - 1];
    return PHX_OK;
}
