/* A small round of one row, from the table to the answer in one call. */
#include "core.h"
#include "mutants.h"
#include "solve.h"

#include <string.h>

/* Arrays of a small round, all in the caller's scratch. */
typedef struct small {
    uint32_t *first;
    uint32_t *kind;
    int64_t *value;
    int32_t *chosen;
    uint64_t *marks;
    uint32_t *order;
    uint8_t *fits;
    void *dense;
} small;

static void lay_out(small *all, const phx_table *table, phx_room *room)
{
    const size_t jobs = table->jobs;
    const size_t pairs = jobs * table->configurations;
    all->first = phx_next(room, (jobs + 1) * sizeof *all->first);
    all->kind = phx_next(room, pairs * sizeof *all->kind);
    all->value = phx_next(room, pairs * sizeof *all->value);
    all->chosen = phx_next(room, jobs * sizeof *all->chosen);
    all->marks = phx_next(room, jobs * sizeof *all->marks);
    all->order = phx_next(room, jobs * sizeof *all->order);
    all->fits = phx_next(room, (size_t)table->groups * table->configurations);
    all->dense = phx_next(room, phx_assign_dense_bytes(table->jobs, (uint32_t)*table->capacity));
}

size_t phx_small_bytes(const phx_table *table)
{
    small all;
    phx_room room = {NULL, 0};
    lay_out(&all, table, &room);
    return room.used;
}

/* The answer as the caller counts: jobs in his order, configurations. */
static void tell(const phx_table *table, const small *all, int32_t *choice)
{
    for (uint32_t place = 0; place < table->jobs; ++place) {
        const uint32_t job = all->order[place];
        const int32_t chosen = all->chosen[place];
        choice[job] = table->fixed == NULL ? -1 : table->fixed[job];
        if (chosen >= 0) {
            const uint32_t kind = all->kind[all->first[place] + (uint32_t)chosen];
            choice[job] = (int32_t)(kind % table->configurations);
        }
    }
}

phx_status phx_small_solve(const phx_table *table, const uint32_t *order, int32_t job_bits,
                           int32_t all_bits, int32_t bits, void *scratch, int32_t *choice,
                           phx_small *told)
{
    small all;
    int64_t total = 0;
    phx_room room = {scratch, 0};
    if (table->rows != 1) {
        return PHX_BAD_GANG;
    }
    lay_out(&all, table, &room);
    if (phx_round_marks(table, all.marks, &told->bad) != PHX_OK) {
        return PHX_BAD_GANG;
    }
    if (order == NULL) {
        phx_order_by(all.marks, table->jobs, all.order);
    } else {
        memcpy(all.order, order, table->jobs * sizeof *order);
    }
    phx_round_build(table, all.order, job_bits, all_bits, bits, all.fits, all.first, all.kind,
                    all.value, all.chosen, &told->shift);
    const phx_round round = {table->jobs,
                             1,
                             table->groups * table->configurations,
                             all.first,
                             all.kind,
                             all.value,
                             table->demand,
                             table->capacity,
                             NULL};
    phx_status status = phx_round_sum(&round, all.chosen, &total, &told->used);
    told->trivial = told->used <= *table->capacity;
    if (status == PHX_OK && !told->trivial) {
        status = phx_assign_dense(&round, all.dense, all.chosen, &total);
        status = status == PHX_OK ? phx_round_sum(&round, all.chosen, &total, &told->used) : status;
    }
    if (status == PHX_OK) {
        tell(table, &all, choice);
        told->objective = phx_objective(table, all.order, choice);
    }
    return status;
}
