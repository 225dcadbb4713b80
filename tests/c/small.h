/* Rounds so small that every answer of them is looked at, and what an answer is worth. */
#ifndef SMALL_H
#define SMALL_H

#include "check.h"

#include "solve.h"

#define JOBS_MAX 5
#define CHOICES_MAX 3
#define KINDS_MAX 6
#define ROWS 6
#define OPTIONS_MAX (JOBS_MAX * (CHOICES_MAX + 1))

typedef struct small {
    phx_round round;
    uint32_t first[JOBS_MAX + 1];
    uint32_t kind[JOBS_MAX * CHOICES_MAX];
    int64_t value[JOBS_MAX * CHOICES_MAX];
    uint32_t demand[KINDS_MAX * ROWS];
    int64_t capacity[ROWS];
    int64_t scratch[KINDS_MAX];
} small;

static uint64_t state;

static inline uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* A round whose demands are multiples of a unit, and whose capacities need not be; few values, so
 * that answers tie. */
static inline void draw_small(small *made, uint32_t rows, uint32_t unit)
{
    memset(made, 0, sizeof *made);
    const uint32_t jobs = draw(JOBS_MAX + 1);
    const uint32_t kinds = 1 + draw(KINDS_MAX);
    const uint32_t demand_max = 2 + draw(8);
    const uint32_t value_max = 1 + draw(12);
    for (uint32_t at = 0; at < kinds * rows; ++at) {
        made->demand[at] = unit * draw(demand_max);
    }
    for (uint32_t job = 0; job < jobs; ++job) {
        made->first[job + 1] = made->first[job] + draw(CHOICES_MAX + 1);
        for (uint32_t choice = made->first[job]; choice < made->first[job + 1]; ++choice) {
            made->kind[choice] = draw(kinds);
            made->value[choice] = draw(value_max);
        }
    }
    for (uint32_t row = 0; row < rows; ++row) {
        made->capacity[row] = draw(unit * demand_max * 2);
    }
    made->round = (phx_round){jobs,        rows,         kinds,          made->first,  made->kind,
                              made->value, made->demand, made->capacity, made->scratch};
}

static inline int64_t wanted(const phx_round *round, uint32_t job, int32_t place, uint32_t row)
{
    return place < 0 ? 0 : (int64_t)phx_wants(round, round->first[job] + (uint32_t)place)[row];
}

/* What an answer is worth, -1 where it wants too much. */
static inline int64_t worth(const phx_round *round, const int32_t *chosen)
{
    int64_t total = 0;
    for (uint32_t job = 0; job < round->jobs; ++job) {
        total += chosen[job] < 0 ? 0 : round->value[round->first[job] + (uint32_t)chosen[job]];
    }
    for (uint32_t row = 0; row < round->rows; ++row) {
        int64_t left = round->capacity[row];
        for (uint32_t job = 0; job < round->jobs; ++job) {
            left -= wanted(round, job, chosen[job], row);
        }
        total = left < 0 ? -1 : total;
    }
    return total;
}

static inline void no_answer(int32_t *chosen)
{
    for (uint32_t job = 0; job < JOBS_MAX; ++job) {
        chosen[job] = -1;
    }
}

/* The next answer, from none of any job on; 0: that was the last. */
static inline int next_answer(const phx_round *round, int32_t *chosen)
{
    for (uint32_t job = 0; job < round->jobs; ++job) {
        if (++chosen[job] < (int32_t)(round->first[job + 1] - round->first[job])) {
            return 1;
        }
        chosen[job] = -1;
    }
    return 0;
}

/* The most that any answer is worth. */
static inline int64_t best_of(const phx_round *round)
{
    int32_t chosen[JOBS_MAX];
    int64_t best = 0;
    no_answer(chosen);
    do {
        const int64_t here = worth(round, chosen);
        best = here > best ? here : best;
    } while (next_answer(round, chosen));
    return best;
}

/* What a job has beyond the price of what it takes. */
static inline int64_t net_of(const phx_round *round, const int64_t *prices, uint32_t job,
                             int32_t place)
{
    int64_t net = place < 0 ? 0 : round->value[round->first[job] + (uint32_t)place];
    for (uint32_t row = 0; row < round->rows; ++row) {
        net -= prices[row] * wanted(round, job, place, row);
    }
    return net;
}

/* What a place of a job loses beside the best of them. */
static inline int64_t loss_of_place(const phx_round *round, const int64_t *prices, uint32_t job,
                                    int32_t place)
{
    int64_t best = 0;
    const int32_t places = (int32_t)(round->first[job + 1] - round->first[job]);
    for (int32_t other = 0; other < places; ++other) {
        const int64_t here = net_of(round, prices, job, other);
        best = here > best ? here : best;
    }
    return best - net_of(round, prices, job, place);
}

/* What an answer loses at some prices: its jobs' places, and what it leaves unsold. */
static inline int64_t loss_of(const phx_round *round, const int64_t *prices, const int32_t *chosen)
{
    int64_t loss = 0;
    for (uint32_t row = 0; row < round->rows; ++row) {
        loss += prices[row] * round->capacity[row];
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        loss += loss_of_place(round, prices, job, chosen[job]);
        for (uint32_t row = 0; row < round->rows; ++row) {
            loss -= prices[row] * wanted(round, job, chosen[job], row);
        }
    }
    return loss;
}

#endif
