/* Choosing one configuration a job: exact, in whole numbers.
 *
 * Jobs 0 .. jobs - 1 have the choices first[job] .. first[job + 1] - 1, each worth value[choice] >
 * 0 and wanting demand[choice] >= 0 of one capacity; a job may have none of them. Values of all
 * choices together stay below 2^62, so no sum of some overflows.
 */
#ifndef PHALANX_SOLVE_H
#define PHALANX_SOLVE_H

#include "model.h"

/* cffi:begin */
/* Bytes of scratch that phx_assign_dense wants. */
size_t phx_assign_dense_bytes(uint32_t jobs, uint32_t capacity);
/* The most worth within the capacity, by every capacity up to it: O(choices * capacity).
 * chosen[job] is the choice's place among its job's, -1 = none; of equal answers the one whose last
 * job takes the lowest choice, none last. A choice that wants more than the capacity is never
 * taken. PHX_BAD_GANG: `first` falls, or a job has more than 65,534 choices. */
phx_status phx_assign_dense(uint32_t jobs, const uint32_t *first, const uint32_t *demand,
                            const int64_t *value, uint32_t capacity, void *scratch, int32_t *chosen,
                            int64_t *total);

#define PHX_ROWS_MAX 16

/* A round with several capacities: choice k wants demand[k * rows .. k * rows + rows - 1]. Where no
 * choice wants more than one of them, only_row[k] and only[k] may say which and how much, which
 * makes passes faster; both NULL otherwise. */
typedef struct phx_round {
    uint32_t jobs;
    uint32_t rows;
    const uint32_t *first;
    const uint32_t *demand;
    const int64_t *value;
    const int64_t *capacity; /* [rows] */
    const uint8_t *only_row;
    const uint32_t *only;
} phx_round;

/* What no answer exceeds, given a price >= 0 of each row: every job takes what is worth most beyond
 * its price, and all capacities are sold. Exact. PHX_BAD_GANG: a price below 0, or a bound of 2^62
 * and more. */
phx_status phx_price_bound(const phx_round *round, const int64_t *prices, int64_t *bound);
/* Prices whose bound is the lowest but for `tolerance` of it, from `prices` on (all 0: from none,
 * which of many jobs asks a sample of them first). Stops after `most` passes over the choices;
 * *passes is how many were made. Places of choices that jobs take, -1 = none: chosen[job] at these
 * prices, shared[job] at one of the prices near them by turns, together nearly what the relaxation
 * takes. *bound is the bound, rounded. */
phx_status phx_price_find(const phx_round *round, double *prices, double tolerance, uint32_t most,
                          int32_t *chosen, int32_t *shared, double *bound, uint32_t *passes);
/* Makes an answer of what jobs take at some prices, which may want too much: jobs give way where
 * that loses least for what it frees, then take more where that gains most. Prices are those of the
 * losses, chosen[job] is changed, at most `most` times, and *steps counts. Each change is a pass
 * over the choices, so it suits answers that are nearly feasible. PHX_GAVE_UP: it wants too much
 * even then. PHX_BAD_GANG: as phx_price_bound, or a place that is none. */
phx_status phx_round_mend(const phx_round *round, const int64_t *prices, uint32_t most,
                          int32_t *chosen, uint32_t *steps);
/* cffi:end */

#endif
