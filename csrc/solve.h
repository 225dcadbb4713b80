/* Choosing one configuration a job: exact, in whole numbers.
 *
 * Jobs 0 .. jobs - 1 of a round have the choices first[job] .. first[job + 1] - 1, each worth
 * value[choice] >= 0 and of a kind; all of a kind want the same, demand[kind * rows] ..
 * demand[kind * rows + rows - 1]. A job may have no choice. Values of all choices together stay
 * below 2^62, so no sum of some overflows. An answer says for each job the place of its choice
 * among the job's, -1 = none.
 */
#ifndef PHALANX_SOLVE_H
#define PHALANX_SOLVE_H

#include "model.h"

/* cffi:begin */
#define PHX_ROWS_MAX 64
#define PHX_CHOICES_MAX 65534 /* of a job, in phx_assign_dense */

typedef struct phx_round {
    uint32_t jobs;
    uint32_t rows; /* capacities: GPU types, and what else is limited */
    uint32_t kinds;
    const uint32_t *first;
    const uint32_t *kind; /* [choices] */
    const int64_t *value;
    const uint32_t *demand;
    const int64_t *capacity; /* [rows] */
    int64_t *scratch;        /* [kinds]: means nothing between calls */
} phx_round;

/* A round as callers have it: jobs * configurations utilities, NaN = the job cannot run so, and
 * demands of the configurations for each group of jobs. */
typedef struct phx_table {
    uint32_t jobs;
    uint32_t configurations;
    uint32_t rows;
    uint32_t groups;
    const uint32_t *group; /* [jobs]; NULL: all are of group 0 */
    const double *utility;
    const double *counted;  /* what an answer's objective counts; NULL: the utilities */
    const uint32_t *demand; /* [groups * configurations * rows] */
    const int64_t *capacity;
    const int32_t *fixed; /* configuration that a job has in any case, -1 = it is free; NULL: all */
    const int32_t *held;  /* configuration that wins ties, -1 = none; NULL: for no job */
    double idle;
} phx_table;

/* Words that are the same for jobs with the same row, whatever its place: marks[job].
 * PHX_BAD_GANG: a utility is infinite, the first of them is *bad. */
phx_status phx_round_marks(const phx_table *table, uint64_t *marks, uint64_t *bad);
/* Places by key, the lower of equal ones first. */
void phx_order_by(const uint64_t *keys, uint32_t count, uint32_t *order);
/* Puts a table into a round's arrays, jobs in the given order: what is NaN, worth less than `idle`
 * or wants more than a capacity is left out, as are jobs that are fixed. A choice is worth its
 * utility less idle, times 2^(shift + bits), rounded to 2^bits, and one more if it is held; the
 * sum of the jobs' best stays below 2^job_bits before it is rounded, that of all choices below
 * 2^all_bits. `fits` is scratch, a byte a row of demand. Its kinds are rows of the table's demand.
 * alone[job] is what a job would take alone. */
void phx_round_build(const phx_table *table, const uint32_t *order, int32_t job_bits,
                     int32_t all_bits, int32_t bits, uint8_t *fits, uint32_t *first, uint32_t *kind,
                     int64_t *value, int32_t *alone, int32_t *shift);
/* What an answer is worth and wants. PHX_BAD_GANG: a place that is none. */
phx_status phx_round_sum(const phx_round *round, const int32_t *chosen, int64_t *total,
                         int64_t *used);

/* What an answer is worth to the caller, -1 = the job is left out: added up in that order. */
double phx_objective(const phx_table *table, const uint32_t *order, const int32_t *choice);

/* Bytes of scratch that phx_assign_dense wants. */
size_t phx_assign_dense_bytes(uint32_t jobs, uint32_t capacity);
/* The best answer of a round with one row, by every capacity up to it: O(choices * capacity). Of
 * equal answers the one whose first job takes the lowest choice, none last; of those, the second
 * job, and so on. PHX_BAD_GANG: there is not one row, its capacity is below 0 or leaves 32 bits,
 * `first` falls, or a job has more than PHX_CHOICES_MAX choices. */
phx_status phx_assign_dense(const phx_round *round, void *scratch, int32_t *chosen, int64_t *total);

/* What phx_small_solve says beside the answer. */
typedef struct phx_small {
    int64_t used;
    uint64_t bad;
    double objective;
    int32_t shift;
    uint32_t trivial; /* every job has what it would take alone */
} phx_small;

/* Bytes of scratch that phx_small_solve wants. */
size_t phx_small_bytes(const phx_table *table);
/* phx_round_marks, phx_round_build and phx_assign_dense for a table of one row: choice[job] is a
 * configuration, -1 = none. `order` may be NULL: by the marks. PHX_BAD_GANG: as those. */
phx_status phx_small_solve(const phx_table *table, const uint32_t *order, int32_t job_bits,
                           int32_t all_bits, int32_t bits, void *scratch, int32_t *choice,
                           phx_small *told);

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
/* What choices lose at some prices beside the best of their job or none, at least 0, and what none
 * loses; and how many choices lose less than 2^b: counts[b], b from 0 to 63. PHX_BAD_GANG: a
 * price below 0. */
phx_status phx_price_losses(const phx_round *round, const int64_t *prices, int64_t *loss,
                            int64_t *none, uint32_t *counts);

/* Makes an answer of what jobs take at some prices, which may want too much: jobs give way where
 * that loses least for what it frees, then take more where that gains most. Prices are those of the
 * losses, chosen[job] is changed, at most `most` times, and *steps counts. Each change is a pass
 * over the choices, so it suits answers that are nearly feasible. PHX_GAVE_UP: it wants too much
 * even then. PHX_BAD_GANG: as phx_price_bound, or a place that is none. */
phx_status phx_round_mend(const phx_round *round, const int64_t *prices, uint32_t most,
                          int32_t *chosen, uint32_t *steps);

/* In that order of all jobs, each that has none takes the choice worth most that fits, the lowest
 * of equals. PHX_BAD_GANG: a place that is none, or what is taken already does not fit. */
phx_status phx_round_fill(const phx_round *round, const int64_t *order, int32_t *chosen);

/* Bytes of scratch that phx_round_deal wants. */
size_t phx_deal_bytes(uint32_t jobs);
/* Deals what jobs with equal choices have among them anew: the lowest job gets what is worth most,
 * none last. The answer is worth and wants the same. PHX_BAD_GANG: a place that is none. */
phx_status phx_round_deal(const phx_round *round, void *scratch, int32_t *chosen);

/* What prices leave open: jobs with several options that lose at most `width`. Options of core job
 * j are first[j] .. first[j + 1] - 1; the first of them loses nothing and is its base.
 * place[option] is among the job's choices, -1 = none. An answer that loses at most `width` takes
 * one of them for each of these jobs, and base[job] for every other. */
typedef struct phx_core {
    uint32_t jobs;
    uint32_t *job; /* [jobs]: as the round counts them */
    uint32_t *first;
    int32_t *place; /* [options] */
    int64_t *loss;  /* [options] */
    int32_t *base;  /* [jobs of the round] */
    int64_t *left; /* [rows]: of the capacities beside all bases, below 0 where too much is taken */
} phx_core;

/* Fills a core's arrays, which have room for `room` options. `loss` and `none` are those of
 * phx_price_losses; `width` is at most 2^62. PHX_NO_ROOM: more options than that. PHX_BAD_GANG: a
 * width below 0. */
phx_status phx_core_pick(const phx_round *round, const int64_t *loss, const int64_t *none,
                         int64_t width, uint32_t room, phx_core *core);
/* Bytes of scratch that phx_core_thin wants: now and then more of a core with fewer jobs. */
size_t phx_thin_bytes(const phx_round *round, const phx_core *core);
/* Takes options out of a core by which every answer loses at least `total`, capacities that are not
 * sold included, and jobs that have no other option than their base then. *floor is what every
 * answer of the core loses at least; where that is `total` or more nothing is taken out. `total` is
 * at most 2^62. PHX_GAVE_UP: what is left may leave 32 bits. PHX_BAD_GANG: as phx_core_search. */
phx_status phx_core_thin(const phx_round *round, phx_core *core, const int64_t *prices,
                         int64_t total, void *scratch, int64_t *floor);
/* Bytes of scratch that phx_core_search wants for so many states. */
size_t phx_core_bytes(const phx_round *round, const phx_core *core, uint32_t states);
/* The best answer among those that a core leaves, where it loses less than *total, capacities that
 * are not sold included: *total is then what it loses, and chosen[job] of all jobs are set. Every
 * amount that is left of all capacities together is met once: states, at most so many; *steps is
 * how many. PHX_MISFIT: no answer loses less. PHX_GAVE_UP: too many states, and an answer that was
 * found on the way is told, which need not be the best; or as phx_core_thin. *total is at most
 * 2^62. PHX_BAD_GANG: more than PHX_ROWS_MAX rows. */
phx_status phx_core_search(const phx_round *round, const phx_core *core, const int64_t *prices,
                           uint32_t states, void *scratch, int64_t *total, int32_t *chosen,
                           uint64_t *steps);
/* cffi:end */

__extension__ typedef __int128 phx_wide; /* a price times an amount may leave 64 bits */

/* What a kind of choice wants. */
static inline const uint32_t *phx_wants(const phx_round *round, uint32_t choice)
{
    return round->demand + (size_t)round->kind[choice] * round->rows;
}

#endif
