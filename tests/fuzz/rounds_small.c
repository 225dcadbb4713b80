/* Small rounds in one call beside the calls it stands for, and jobs that are alike. */
#include "rounds.h"

#include <math.h>
#include <string.h>

/* What a small round was told. */
typedef struct answer {
    phx_status status;
    int32_t choice[JOBS_MAX];
    phx_small told;
} answer;

static int64_t room[2 * (DENSE_MAX + 1) + (DENSE_MAX + 1) * JOBS_MAX / 4 + 1024];

/* In extended precision, where that is enough. */
static void check_objective(const fixture *on, const answer *made, const uint32_t *order)
{
    const double *worth = on->table.counted == NULL ? on->utility : on->counted;
    long double sum = 0;
    long double size = 0;
    for (uint32_t place = 0; place < on->table.jobs; ++place) {
        const uint32_t job = order[place];
        const int32_t has = made->choice[job];
        const double next =
            has < 0 ? on->table.idle : worth[job * on->table.configurations + (uint32_t)has];
        sum += next;
        size += fabs(next);
    }
    const long double off = fabsl(sum - made->told.objective);
    require(isnan(size) || size > 1e300L || off <= 0x1p-53L * fabsl(sum) + 0x1p-58L * size,
            "objective of a small round");
}

/* In that order, or by the marks, as the parts of the call have it. */
static answer by_parts(fixture *on, const uint32_t *given)
{
    static fixture other;
    answer made = {PHX_OK, {0}, {0}};
    uint8_t fits[KINDS_ALL];
    uint64_t marks[JOBS_MAX];
    uint32_t order[JOBS_MAX];
    int64_t total = 0;
    const phx_table *table = &on->table;
    require(phx_round_marks(table, marks, &made.told.bad) == PHX_OK, "marks of a small round");
    phx_order_by(marks, table->jobs, order);
    memcpy(order, given == NULL ? order : given, table->jobs * sizeof *order);
    phx_round_build(table, order, on->job_bits, on->all_bits, on->bits, fits, other.first,
                    other.kind, other.value, other.alone, &made.told.shift);
    const phx_round round = {table->jobs, 1,          on->round.kinds, other.first, other.kind,
                             other.value, on->demand, on->capacity,    NULL};
    require(phx_round_sum(&round, other.alone, &total, &made.told.used) == PHX_OK, "sum");
    made.told.trivial = made.told.used <= on->capacity[0];
    if (!made.told.trivial) {
        made.status = phx_assign_dense(&round, room, other.alone, &total);
    }
    if (made.status == PHX_OK) {
        require(phx_round_sum(&round, other.alone, &total, &made.told.used) == PHX_OK, "sum");
        require(made.told.used <= on->capacity[0], "a small answer wants too much");
    }
    for (uint32_t place = 0; place < table->jobs && made.status == PHX_OK; ++place) {
        const uint32_t choice = other.first[place] + (uint32_t)other.alone[place];
        const int32_t fixed = table->fixed == NULL ? -1 : on->fixed[order[place]];
        made.choice[order[place]] =
            other.alone[place] < 0 ? fixed : (int32_t)(other.kind[choice] % table->configurations);
    }
    made.told.objective = phx_objective(table, order, made.choice);
    check_objective(on, &made, order);
    return made;
}

void do_small(fixture *on, tape *in)
{
    answer made = {PHX_OK, {0}, {0}};
    const uint32_t *order = tape_next(in) % 2 ? on->order : NULL;
    if (on->table.rows != 1 || phx_small_bytes(&on->table) > sizeof room) {
        return;
    }
    made.status = phx_small_solve(&on->table, order, on->job_bits, on->all_bits, on->bits, room,
                                  made.choice, &made.told);
    const answer parts = by_parts(on, order);
    require(made.status == parts.status, "status of a small round");
    if (made.status != PHX_OK) {
        require(on->capacity[0] > UINT32_MAX, "a small round is refused");
        return;
    }
    require(memcmp(made.choice, parts.choice, on->table.jobs * sizeof *made.choice) == 0,
            "choices of a small round");
    require(made.told.used == parts.told.used && made.told.shift == parts.told.shift &&
                made.told.trivial == parts.told.trivial,
            "what a small round told");
    require(memcmp(&made.told.objective, &parts.told.objective, sizeof(double)) == 0,
            "objective of a small round");
    ++fuzz_outcomes[made.told.trivial ? TRIVIAL : SMALL];
}
