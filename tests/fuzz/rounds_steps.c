/* Steps that reckon, mend, fill and solve a round as a whole. */
#include "rounds.h"

#include <string.h>

void do_sum(fixture *on, tape *in)
{
    int32_t chosen[JOBS_MAX];
    int64_t used[ROUND_ROWS];
    int64_t total = -1;
    any_answer(on, in, chosen);
    require(phx_round_sum(&on->round, chosen, &total, used) == PHX_OK, "sum");
    const int64_t worth = worth_of(on, chosen);
    int fits = 1;
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        fits &= used[row] <= on->capacity[row];
    }
    require(fits == (worth >= 0) && (!fits || total == worth), "sums");
    if (on->table.jobs > 0) {
        const uint32_t job = tape_next(in) % on->table.jobs;
        chosen[job] = tape_next(in) % 2 ? -2 : (int32_t)(on->first[job + 1] - on->first[job]);
        require(phx_round_sum(&on->round, chosen, &total, used) == PHX_BAD_GANG, "no place");
        uint32_t steps = 0;
        require(phx_round_mend(&on->round, on->prices, 1, chosen, &steps) == PHX_BAD_GANG,
                "mended at no place");
    }
}

void do_mend(fixture *on, tape *in)
{
    int32_t chosen[JOBS_MAX];
    uint32_t steps = 0;
    any_answer(on, in, chosen);
    const int64_t before = worth_of(on, chosen);
    const uint32_t most = tape_next(in);
    const phx_status status = phx_round_mend(&on->round, on->prices, most, chosen, &steps);
    require(status == PHX_OK || (status == PHX_GAVE_UP && before < 0), "mend");
    require(steps <= most && (status == PHX_OK || steps == most), "changes that mend");
    require(status != PHX_OK || check_answer(on, chosen) >= before, "mended to less");
    ++fuzz_outcomes[status == PHX_OK ? MENDED : NOT_MENDED];
}

void do_fill(fixture *on, tape *in)
{
    int32_t chosen[JOBS_MAX];
    int32_t before[JOBS_MAX];
    int64_t order[JOBS_MAX];
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        order[job] = on->order[job];
    }
    any_answer(on, in, chosen);
    memcpy(before, chosen, sizeof chosen);
    const int fits = worth_of(on, chosen) >= 0;
    const phx_status status = phx_round_fill(&on->round, order, chosen);
    require(status == (fits ? PHX_OK : PHX_BAD_GANG), "fill");
    ++fuzz_outcomes[fits ? FILLED : NOT_FILLED];
    for (uint32_t job = 0; fits && job < on->table.jobs; ++job) {
        check_answer(on, chosen);
        require(before[job] < 0 || chosen[job] == before[job], "filling moved a job");
        if (chosen[job] < 0) {
            const int32_t places = (int32_t)(on->first[job + 1] - on->first[job]);
            for (chosen[job] = 0; chosen[job] < places; ++chosen[job]) {
                require(worth_of(on, chosen) < 0, "a job is left out although it fits");
            }
            chosen[job] = -1;
        }
    }
}

void do_dense(fixture *on, tape *in)
{
    static int64_t scratch[2 * (DENSE_MAX + 1) + (DENSE_MAX + 1) * JOBS_MAX / 4 + 1];
    int32_t chosen[JOBS_MAX];
    int64_t total = -1;
    (void)in;
    if (on->table.rows != 1 || on->capacity[0] > DENSE_MAX) {
        return;
    }
    require(phx_assign_dense_bytes(on->table.jobs, (uint32_t)on->capacity[0]) <= sizeof scratch,
            "scratch of the dense recurrence");
    require(phx_assign_dense(&on->round, scratch, chosen, &total) == PHX_OK, "dense");
    require(check_answer(on, chosen) == total, "total of the dense recurrence");
    check_bound(on, total);
    ++fuzz_outcomes[DENSE];
}
