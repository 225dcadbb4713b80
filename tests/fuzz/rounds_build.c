/* The marks of a table and the round that it is put into, beside the table. */
#include "rounds.h"

#include <math.h>
#include <string.h>

/* Marks of jobs in the other order are these in the other order. */
static int check_marks(fixture *on)
{
    const uint32_t jobs = on->table.jobs;
    const size_t row = on->table.configurations;
    uint64_t marks[JOBS_MAX];
    uint64_t turned[JOBS_MAX];
    uint64_t bad = 0;
    static fixture other;
    if (phx_round_marks(&on->table, marks, &bad) != PHX_OK) {
        for (uint64_t at = 0; at < bad; ++at) {
            require(!isinf(on->utility[at]), "an infinity before the one that is told");
        }
        require(isinf(on->utility[bad]), "what is told is no infinity");
        return 0;
    }
    other.table = on->table;
    other.table.utility = other.utility;
    other.table.group = on->table.group == NULL ? NULL : other.group;
    for (uint32_t job = 0; job < jobs; ++job) {
        memcpy(other.utility + job * row, on->utility + (jobs - 1 - job) * row,
               row * sizeof *on->utility);
        other.group[job] = on->group[jobs - 1 - job];
    }
    require(phx_round_marks(&other.table, turned, &bad) == PHX_OK, "marks of the same jobs");
    for (uint32_t job = 0; job < jobs; ++job) {
        require(marks[job] == turned[jobs - 1 - job], "marks depend on the order of jobs");
    }
    return 1;
}

static int fits_alone(const fixture *on, uint32_t kind)
{
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        if (on->demand[kind * on->table.rows + row] > on->capacity[row]) {
            return 0;
        }
    }
    return 1;
}

/* Choices of a job from `count` on, as the table has them; returns the end. */
static uint32_t check_job(const fixture *on, uint32_t place, uint32_t count, long double *best,
                          long double *all)
{
    const size_t job = on->order[place];
    const uint32_t width = on->table.configurations;
    const uint32_t begin = count;
    int64_t top = -1;
    int32_t alone = -1;
    require(on->first[place] == begin, "where choices begin");
    const int chooses = on->table.fixed == NULL || on->fixed[job] < 0;
    for (uint32_t at = 0; chooses && at < width; ++at) {
        const uint32_t kind = (on->table.group == NULL ? 0 : on->group[job] * width) + at;
        const double net = on->utility[job * width + at] - on->table.idle;
        if (net >= 0 && fits_alone(on, kind)) {
            const int wins = on->table.held != NULL && on->held[job] == (int32_t)at;
            const int64_t value = llrintl(ldexpl(net, on->shift)) * (1 << on->bits) + wins;
            require(on->kind[count] == kind && on->value[count] == value, "a choice");
            alone = value > top ? (int32_t)(count - begin) : alone;
            top = value > top ? value : top;
            *best = net > *best ? net : *best;
            *all += net;
            ++count;
        }
    }
    require(on->alone[place] == alone, "what a job takes alone");
    return count;
}

int fixture_build(fixture *on, tape *in)
{
    uint8_t fits[KINDS_ALL];
    draw_table(on, in);
    if (!check_marks(on)) {
        return 0;
    }
    phx_round_build(&on->table, on->order, on->job_bits, on->all_bits, on->bits, fits, on->first,
                    on->kind, on->value, on->alone, &on->shift);
    long double best_sum = 0;
    long double all = 0;
    uint32_t count = 0;
    for (uint32_t place = 0; place < on->table.jobs; ++place) {
        long double best = 0;
        count = check_job(on, place, count, &best, &all);
        best_sum += best;
    }
    require(on->first[on->table.jobs] == count, "where choices end");
    /* In doubles they are summed with less care. */
    require(ldexpl(best_sum, on->shift + on->bits - on->job_bits) < 1 + 1e-9L, "bits of jobs");
    require(ldexpl(all, on->shift + on->bits - on->all_bits) < 1 + 1e-9L, "bits of all");
    on->round =
        (phx_round){on->table.jobs, on->table.rows, on->table.groups * on->table.configurations,
                    on->first,      on->kind,       on->value,
                    on->demand,     on->capacity,   on->scratch};
    return 1;
}
