/* Prices from the tape or found, their bounds and losses. */
#include "rounds.h"

#include <string.h>

/* What a place is worth beyond its price; costs above 2^62 count as that. */
static wide net_of(const fixture *on, uint32_t job, int32_t place)
{
    if (place < 0) {
        return 0;
    }
    const uint32_t choice = on->first[job] + (uint32_t)place;
    wide cost = 0;
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        cost += (wide)on->prices[row] * on->demand[on->kind[choice] * on->table.rows + row];
    }
    return on->value[choice] - (cost < LARGE ? cost : LARGE);
}

static wide best_net(const fixture *on, uint32_t job)
{
    wide best = 0;
    const int32_t places = (int32_t)(on->first[job + 1] - on->first[job]);
    for (int32_t place = 0; place < places; ++place) {
        const wide net = net_of(on, job, place);
        best = net > best ? net : best;
    }
    return best;
}

wide loss_of(const fixture *on, uint32_t job, int32_t place)
{
    return best_net(on, job) - net_of(on, job, place);
}

/* The bound at the prices, which joins what is known. */
static void take_bound(fixture *on)
{
    wide sum = 0;
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        sum += (wide)on->prices[row] * on->capacity[row];
    }
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        sum += best_net(on, job);
    }
    int64_t bound = -1;
    const phx_status status = phx_price_bound(&on->round, on->prices, &bound);
    require(status == (sum < LARGE ? PHX_OK : PHX_BAD_GANG), "status of a bound");
    require(status != PHX_OK || bound == sum, "bound");
    on->bound = bound;
    if (status == PHX_OK) {
        check_bound(on, bound);
    } else {
        ++fuzz_outcomes[DEAR];
    }
}

void do_prices(fixture *on, tape *in)
{
    const uint32_t scale = tape_next(in) % 64;
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        const uint32_t drawn = tape_next(in);
        on->prices[row] = drawn < 64 ? 0 : drawn % 64 << (scale < 24 ? scale : 0);
        on->prices[row] = scale > 56 && drawn > 128 ? INT64_MAX >> (drawn % 32) : on->prices[row];
    }
    take_bound(on);
    int64_t below[ROUND_ROWS];
    int64_t bound = 0;
    memcpy(below, on->prices, sizeof below);
    below[scale % on->table.rows] = -1;
    require(phx_price_bound(&on->round, below, &bound) == PHX_BAD_GANG, "a price below 0");
}

void do_find(fixture *on, tape *in)
{
    double prices[ROUND_ROWS];
    double bound = -1;
    int32_t chosen[2][JOBS_MAX];
    uint32_t passes = 0;
    const uint32_t kind = tape_next(in);
    const uint32_t most = 1 + tape_next(in);
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        prices[row] = kind % 2 && on->prices[row] < LARGE / 4 ? (double)on->prices[row] : 0.0;
    }
    require(phx_price_find(&on->round, prices, kind % 4 < 2 ? 1e-10 : 1e-3, most, chosen[0],
                           chosen[1], &bound, &passes) == PHX_OK,
            "prices");
    require(passes <= most + 1 && bound >= (double)on->known * (1 - 1e-9) - 1, "bound of prices");
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        require(prices[row] >= 0 && prices[row] < (double)LARGE, "a price that was found");
        on->prices[row] = (int64_t)(prices[row] + 0.5);
    }
    take_bound(on);
    ++fuzz_outcomes[FOUND];
    for (uint32_t start = 0; start < 2; ++start) {
        uint32_t steps = 0;
        (void)worth_of(on, chosen[start]); /* their places are some */
        require(phx_round_mend(&on->round, on->prices, 1000, chosen[start], &steps) == PHX_OK,
                "what jobs take cannot be mended");
        check_answer(on, chosen[start]);
    }
}

void do_losses(fixture *on, tape *in)
{
    int64_t loss[CHOICES_ALL];
    int64_t none[JOBS_MAX];
    uint32_t counts[64];
    (void)in;
    require(phx_price_losses(&on->round, on->prices, loss, none, counts) == PHX_OK, "losses");
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        require(none[job] == loss_of(on, job, -1), "what none loses");
        for (uint32_t choice = on->first[job]; choice < on->first[job + 1]; ++choice) {
            require(loss[choice] == loss_of(on, job, (int32_t)(choice - on->first[job])), "loss");
            for (uint32_t bit = 0; bit < 64; ++bit) {
                counts[bit] -= loss[choice] < (wide)1 << bit;
            }
        }
    }
    for (uint32_t bit = 0; bit < 64; ++bit) {
        require(counts[bit] == 0, "counts of losses");
    }
}
