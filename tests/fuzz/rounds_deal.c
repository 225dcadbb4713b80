/* Jobs that are alike, who are served in order. */
#include "rounds.h"

#include <string.h>

static int are_alike(const fixture *on, uint32_t one, uint32_t other)
{
    const uint32_t places = on->first[one + 1] - on->first[one];
    if (places != on->first[other + 1] - on->first[other]) {
        return 0;
    }
    for (uint32_t place = 0; place < places; ++place) {
        const uint32_t choice = on->first[one] + place;
        const uint32_t beside = on->first[other] + place;
        if (on->value[choice] != on->value[beside]) {
            return 0;
        }
        for (uint32_t row = 0; row < on->table.rows; ++row) {
            if (on->demand[on->kind[choice] * on->table.rows + row] !=
                on->demand[on->kind[beside] * on->table.rows + row]) {
                return 0;
            }
        }
    }
    return 1;
}

/* More value, then the lower place; none last. */
static int goes_first(const fixture *on, uint32_t job, int32_t one, int32_t other)
{
    const int64_t worth = one < 0 ? -1 : on->value[on->first[job] + (uint32_t)one];
    const int64_t beside = other < 0 ? -1 : on->value[on->first[job] + (uint32_t)other];
    return worth != beside ? worth > beside : one < other;
}

/* Pairs of jobs that are alike change places: the lower job has what goes first. */
static uint32_t deal_by_pairs(const fixture *on, int32_t *chosen)
{
    uint32_t changes = 0;
    for (uint32_t one = 0; one < on->table.jobs; ++one) {
        for (uint32_t other = one + 1; other < on->table.jobs; ++other) {
            if (are_alike(on, one, other) && goes_first(on, one, chosen[other], chosen[one])) {
                const int32_t kept = chosen[one];
                chosen[one] = chosen[other];
                chosen[other] = kept;
                ++changes;
            }
        }
    }
    return changes;
}

void do_deal(fixture *on, tape *in)
{
    static int64_t scratch[JOBS_MAX * 8];
    int32_t chosen[JOBS_MAX];
    int32_t expected[JOBS_MAX];
    any_answer(on, in, chosen);
    const int64_t worth = worth_of(on, chosen);
    memcpy(expected, chosen, sizeof chosen);
    require(phx_deal_bytes(on->table.jobs) <= sizeof scratch, "scratch of dealing");
    require(phx_round_deal(&on->round, scratch, chosen) == PHX_OK, "deal");
    require(worth_of(on, chosen) == worth, "dealing changed what an answer is worth");
    fuzz_outcomes[DEALT] += deal_by_pairs(on, expected) > 0;
    require(memcmp(chosen, expected, on->table.jobs * sizeof *chosen) == 0, "dealt out of order");
    if (on->table.jobs > 0) {
        const uint32_t job = tape_next(in) % on->table.jobs;
        chosen[job] = tape_next(in) % 2 ? -2 : (int32_t)(on->first[job + 1] - on->first[job]);
        require(phx_round_deal(&on->round, scratch, chosen) == PHX_BAD_GANG, "dealt no place");
    }
}
