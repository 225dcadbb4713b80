/* From what jobs take at some prices to an answer that fits. */
#include "mutants.h"
#include "solve.h"

/* What is left of each capacity, below 0 where too much is taken. */
typedef struct left {
    int64_t row[PHX_ROWS_MAX];
} left;

/* Worth of a choice beyond its price; of none, 0. */
static double worth_of(const phx_round *round, const int64_t *prices, uint32_t choice)
{
    double worth = (double)round->value[choice];
    for (uint32_t row = 0; row < round->rows; ++row) {
        worth -= (double)prices[row] * phx_wants(round, choice)[row];
    }
    return worth;
}

/* How much of a row a job wants with a choice; UINT32_MAX stands for none. */
static int64_t wanted(const phx_round *round, uint32_t choice, uint32_t row)
{
    return choice == UINT32_MAX ? 0 : (int64_t)phx_wants(round, choice)[row];
}

static uint32_t taken_by(const phx_round *round, const int32_t *chosen, uint32_t job)
{
    return chosen[job] < 0 ? UINT32_MAX : round->first[job] + (uint32_t)chosen[job];
}

/* Overload that a change takes away; 0 where it adds to any overload or makes one. */
static int64_t relief(const phx_round *round, const left *has, uint32_t from, uint32_t to)
{
    int64_t sum = 0;
    for (uint32_t row = 0; row < round->rows; ++row) {
        const int64_t freed = wanted(round, from, row) - wanted(round, to, row);
        const int64_t over = has->row[row] < 0 ? -has->row[row] : 0;
        if (freed < 0 && has->row[row] + freed < 0) {
            return 0;
        }
        sum += freed < over ? (freed > 0 ? freed : 0) : over;
    }
    return sum;
}

static int fits(const phx_round *round, const left *has, uint32_t from, uint32_t to)
{
    for (uint32_t row = 0; row < round->rows - PHX_MUTANT_OVERFULL; ++row) {
        if (has->row[row] + wanted(round, from, row) - wanted(round, to, row) < 0) {
            return 0;
        }
    }
    return 1;
}

/* A change of one job, and how good it is. */
typedef struct change {
    uint32_t job;
    uint32_t to; /* UINT32_MAX: none */
    double merit;
    int found;
} change;

static void consider(change *best, uint32_t job, uint32_t to, double merit)
{
    if (!best->found || merit > best->merit) {
        *best = (change){job, to, merit, 1};
    }
}

/* The change that loses least for the overload it takes away. */
static change best_relief(const phx_round *round, const int64_t *prices, const left *has,
                          const int32_t *chosen)
{
    change best = {0, 0, 0.0, 0};
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t from = taken_by(round, chosen, job);
        if (from == UINT32_MAX) {
            continue;
        }
        const double now = worth_of(round, prices, from);
        for (uint32_t to = round->first[job]; to < round->first[job + 1]; ++to) {
            const int64_t freed = to == from ? 0 : relief(round, has, from, to);
            if (freed > 0) {
                consider(&best, job, to, (worth_of(round, prices, to) - now) / (double)freed);
            }
        }
        const int64_t freed = relief(round, has, from, UINT32_MAX);
        if (freed > 0) {
            consider(&best, job, UINT32_MAX, -now / (double)freed);
        }
    }
    return best;
}

/* The change that fits and gains most value. */
static change best_gain(const phx_round *round, const left *has, const int32_t *chosen)
{
    change best = {0, 0, 0.0, 0};
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t from = taken_by(round, chosen, job);
        const int64_t now = from == UINT32_MAX ? 0 : round->value[from];
        for (uint32_t to = round->first[job]; to < round->first[job + 1]; ++to) {
            const int64_t gain = round->value[to] - now;
            if (gain > 0 && (!best.found || (double)gain > best.merit) &&
                fits(round, has, from, to)) {
                consider(&best, job, to, (double)gain);
            }
        }
    }
    return best;
}

static void make_change(const phx_round *round, left *has, int32_t *chosen, const change *made)
{
    const uint32_t from = taken_by(round, chosen, made->job);
    for (uint32_t row = 0; row < round->rows; ++row) {
        has->row[row] += wanted(round, from, row) - wanted(round, made->to, row);
    }
    chosen[made->job] = made->to == UINT32_MAX ? -1 : (int32_t)(made->to - round->first[made->job]);
}

static int overloaded(const phx_round *round, const left *has)
{
    for (uint32_t row = 0; row < round->rows; ++row) {
        if (has->row[row] < 0) {
            return 1;
        }
    }
    return 0;
}

phx_status phx_round_mend(const phx_round *round, const int64_t *prices, uint32_t most,
                          int32_t *chosen, uint32_t *steps)
{
    left has = {{0}};
    *steps = 0;
    if (round->rows == 0 || round->rows > PHX_ROWS_MAX) {
        return PHX_BAD_GANG;
    }
    for (uint32_t row = 0; row < round->rows; ++row) {
        has.row[row] = round->capacity[row];
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        if (chosen[job] < -1 ||
            (chosen[job] >= 0 &&
             (uint32_t)chosen[job] >= round->first[job + 1] - round->first[job])) {
            return PHX_BAD_GANG;
        }
        for (uint32_t row = 0; row < round->rows; ++row) {
            has.row[row] -= wanted(round, taken_by(round, chosen, job), row);
        }
    }
    while (overloaded(round, &has)) {
        if (*steps == most) {
            return PHX_GAVE_UP;
        }
        const change made = best_relief(round, prices, &has, chosen);
        if (!made.found) {
            return PHX_GAVE_UP; /* no job has any of what is too little */
        }
        make_change(round, &has, chosen, &made);
        ++*steps;
    }
    for (; *steps < most; ++*steps) {
        const change made = best_gain(round, &has, chosen);
        if (!made.found) {
            break;
        }
        make_change(round, &has, chosen, &made);
    }
    return PHX_OK;
}
