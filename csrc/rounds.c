/* From a table of utilities to a round in whole numbers, and back to what an answer is worth. */
#include "mutants.h"
#include "solve.h"

#include <math.h>

#define PLACE_STEP UINT64_C(0xD1342543DE82EF95) /* so far apart are the words of two places */
#define SUM_BITS 64 /* so much smaller, no sum of fewer than 2^32 numbers leaves a double */

/* splitmix64: a word turned into another that has nothing visible of it. */
static uint64_t mixed(uint64_t word)
{
    word = (word + UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

/* Bits of a number; -0.0 and 0.0 are one, and every NaN is. */
static uint64_t word_of(double number)
{
    union {
        double number;
        uint64_t word;
    } same = {number == 0.0 ? 0.0 : number};
    return number == number ? same.word : UINT64_MAX;
}

phx_status phx_round_marks(const phx_table *table, uint64_t *marks, uint64_t *bad)
{
    const size_t width = table->configurations;
    for (size_t job = 0; job < table->jobs; ++job) {
        const double *utility = table->utility + job * width;
        const size_t wants = width * table->rows;
        const uint32_t *demand = table->demand + (table->group ? table->group[job] * wants : 0);
        uint64_t mark = 0;
        int infinite = 0;
        for (size_t at = 0; at < width; ++at) {
            mark += mixed(word_of(utility[at]) + at * PLACE_STEP);
            infinite |= isinf(utility[at]) != 0;
        }
        for (size_t at = 0; table->group && at < wants && !PHX_MUTANT_DEMAND_UNMARKED; ++at) {
            mark += mixed(((uint64_t)at << 32 | demand[at]) ^ (uint64_t)width);
        }
        marks[job] = mark;
        if (infinite) {
            for (*bad = job * width; !isinf(table->utility[*bad]); ++*bad) {
            }
            return PHX_BAD_GANG;
        }
    }
    return PHX_OK;
}

void phx_order_by(const uint64_t *keys, uint32_t count, uint32_t *order)
{
    for (uint32_t at = 0; at < count; ++at) {
        order[at] = at;
    }
    uint32_t gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (uint32_t at = gap; at < count; ++at) {
            const uint32_t moved = order[at];
            uint32_t to = at;
            for (; to >= gap; to -= gap) {
                const uint32_t other = order[to - gap];
                if (keys[other] < keys[moved] || (keys[other] == keys[moved] && other < moved)) {
                    break;
                }
                order[to] = other;
            }
            order[to] = moved;
        }
    }
}

/* Which rows of demand no capacity forbids. */
static void mark_fits(const phx_table *table, uint8_t *fits)
{
    const size_t kinds = (size_t)table->configurations * table->groups;
    for (size_t kind = 0; kind < kinds; ++kind) {
        fits[kind] = 1;
        for (uint32_t row = 0; row < table->rows; ++row) {
            fits[kind] &= table->demand[kind * table->rows + row] <= table->capacity[row];
        }
    }
}

/* The least exponent whose power of two is above a sum. */
static int32_t exponent_above(double sum)
{
    int exponent = 0;
    (void)frexp(sum, &exponent);
    return exponent;
}

/* A row of the table, and where its kinds begin. */
typedef struct table_row {
    const double *utility;
    uint32_t kind;
    int32_t held;
} table_row;

static table_row row_of(const phx_table *table, uint32_t job)
{
    const uint32_t group = table->group == NULL ? 0 : table->group[job];
    const table_row found = {table->utility + (size_t)job * table->configurations,
                             group * table->configurations,
                             table->held == NULL ? -1 : table->held[job]};
    return found;
}

/* Whether a job may choose. */
static int is_free(const phx_table *table, uint32_t job)
{
    return table->fixed == NULL || table->fixed[job] < 0;
}

/* What a configuration is worth beyond leaving the job out, times a power of two. */
static double net_of(const phx_table *table, const table_row *row, uint32_t at, double factor)
{
    return row->utility[at] * factor - (PHX_MUTANT_IDLE_KEPT ? 0.0 : table->idle) * factor;
}

/* Of what choices are worth: the jobs' best, and all. */
typedef struct sums {
    double best;
    double all;
} sums;

/* In the order of the round, since sums of doubles depend on it. */
static sums sums_of(const phx_table *table, const uint32_t *order, const uint8_t *fits,
                    double factor)
{
    sums found = {0.0, 0.0};
    for (uint32_t place = 0; place < table->jobs; ++place) {
        const uint32_t job = PHX_MUTANT_CALLERS_ORDER ? place : order[place];
        const table_row row = row_of(table, job);
        const int chooses = is_free(table, job);
        double best = 0.0;
        for (uint32_t at = 0; chooses && at < table->configurations; ++at) {
            const double net = net_of(table, &row, at, factor);
            if (net >= 0 && fits[row.kind + at]) {
                found.all += net;
                best = net > best ? net : best;
            }
        }
        found.best += best;
    }
    return found;
}

/* The most bits behind the point that keep the sums as small as they must be. */
static int32_t shift_of(const sums *all, int32_t job_bits, int32_t all_bits)
{
    if (all->best == 0.0) {
        return 0;
    }
    const int32_t by_job = job_bits - exponent_above(all->best);
    const int32_t by_all = all_bits - exponent_above(all->all);
    return by_job < by_all ? by_job : by_all;
}

void phx_round_build(const phx_table *table, const uint32_t *order, int32_t job_bits,
                     int32_t all_bits, int32_t bits, uint8_t *fits, uint32_t *first, uint32_t *kind,
                     int64_t *value, int32_t *alone, int32_t *shift)
{
    mark_fits(table, fits);
    double factor = 1.0;
    sums all = sums_of(table, order, fits, factor);
    if (isinf(all.all)) {
        factor = ldexp(1.0, -SUM_BITS);
        all = sums_of(table, order, fits, factor);
    }
    const int32_t bits_behind = shift_of(&all, job_bits - bits, all_bits - bits);
    *shift = factor < 1.0 ? bits_behind - SUM_BITS : bits_behind;
    /* Two factors, for one might be out of range. */
    const double scale = ldexp(1.0, bits_behind / 2);
    const double other = ldexp(1.0, bits_behind - bits_behind / 2);
    uint32_t count = 0;
    for (uint32_t place = 0; place < table->jobs; ++place) {
        const table_row row = row_of(table, order[place]);
        const int chooses = is_free(table, order[place]);
        int64_t best = -1;
        first[place] = count;
        alone[place] = -1;
        for (uint32_t at = 0; chooses && at < table->configurations; ++at) {
            const double net = net_of(table, &row, at, factor);
            if (net >= 0 && fits[row.kind + at]) {
                kind[count] = row.kind + at;
                value[count] = (llrint(net * scale * other) * ((int64_t)1 << bits)) +
                               ((int32_t)at == row.held ? 1 + PHX_MUTANT_HELD_TWICE : 0);
                alone[place] = value[count] > best ? (int32_t)(count - first[place]) : alone[place];
                best = value[count] > best ? value[count] : best;
                ++count;
            }
        }
    }
    first[table->jobs] = count;
}

phx_status phx_round_sum(const phx_round *round, const int32_t *chosen, int64_t *total,
                         int64_t *used)
{
    int64_t sum = 0;
    for (uint32_t row = 0; row < round->rows; ++row) {
        used[row] = 0;
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t choices = round->first[job + 1] - round->first[job];
        if (chosen[job] < -1 || chosen[job] >= (int64_t)choices) {
            return PHX_BAD_GANG;
        }
        if (chosen[job] >= 0) {
            const uint32_t choice = round->first[job] + (uint32_t)chosen[job];
            sum += round->value[choice];
            for (uint32_t row = 0; row < round->rows; ++row) {
                used[row] += phx_wants(round, choice)[row];
            }
        }
    }
    *total = sum;
    return PHX_OK;
}

double phx_objective(const phx_table *table, const uint32_t *order, const int32_t *choice)
{
    const double *worth = table->counted == NULL ? table->utility : table->counted;
    double sum = 0.0;
    double lost = 0.0; /* by rounding, after Neumaier */
    for (uint32_t place = 0; place < table->jobs; ++place) {
        const size_t job = order[place];
        const double next = choice[job] < 0
                                ? (PHX_MUTANT_IDLE_UNCOUNTED ? 0.0 : table->idle)
                                : worth[job * table->configurations + (uint32_t)choice[job]];
        const double more = sum + next;
        const int sum_is_larger = (sum < 0 ? -sum : sum) >= (next < 0 ? -next : next);
        lost += sum_is_larger ? (sum - more) + next : (next - more) + sum;
        sum = more;
    }
    /* A sum that leaves a double is infinite, and what was lost with it is no number. */
    return isinf(sum) ? sum : sum + lost + 0.0;
}

/* The choice of a job that is worth most within what is left, or the end of its choices. */
static uint32_t best_fit(const phx_round *round, const int64_t *left, uint32_t job)
{
    const uint32_t end = round->first[job + 1];
    uint32_t best = end;
    for (uint32_t choice = round->first[job]; choice < end; ++choice) {
        int fits = 1;
        for (uint32_t row = 0; row < round->rows; ++row) {
            fits &= phx_wants(round, choice)[row] <= left[row];
        }
        best = fits && (best == end || round->value[choice] > round->value[best]) ? choice : best;
    }
    return best;
}

phx_status phx_round_fill(const phx_round *round, const int64_t *order, int32_t *chosen)
{
    int64_t left[PHX_ROWS_MAX];
    int64_t total = 0;
    if (round->rows > PHX_ROWS_MAX || phx_round_sum(round, chosen, &total, left) != PHX_OK) {
        return PHX_BAD_GANG;
    }
    for (uint32_t row = 0; row < round->rows; ++row) {
        left[row] = round->capacity[row] - left[row];
        if (left[row] < 0) {
            return PHX_BAD_GANG;
        }
    }
    for (uint32_t place = 0; place < round->jobs; ++place) {
        const uint32_t job = (uint32_t)order[place];
        const uint32_t choice = chosen[job] < 0 ? best_fit(round, left, job) : UINT32_MAX;
        if (choice < round->first[job + 1]) {
            chosen[job] = (int32_t)(choice - round->first[job]);
            for (uint32_t row = 0; row < round->rows; ++row) {
                left[row] -= PHX_MUTANT_FILLED_FREE ? 0 : phx_wants(round, choice)[row];
            }
        }
    }
    return PHX_OK;
}
