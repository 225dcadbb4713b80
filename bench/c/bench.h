/* bench: what the suites share. Each suite prints one JSON object a row. */
#ifndef BENCH_H
#define BENCH_H

#include "lists.h"
#include "phalanx.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Rows that differ in a small cluster, where CI only checks that they run. */
static inline int is_small(uint32_t leaves)
{
    return leaves < 8192;
}

#define HOST_LEVEL 1
#define POD_LEVEL 3

/* What a run was asked for. */
typedef struct settings {
    uint32_t leaves;
    uint32_t events;
    uint32_t repeats;
    uint64_t seed;
} settings;

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t word = (*state += UINT64_C(0x9e3779b97f4a7c15));
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((random_next(state) >> 32) * bound) >> 32);
}

static inline uint32_t order_of(uint32_t size)
{
    uint32_t order = 0;
    while ((1u << order) < size) {
        ++order;
    }
    return order;
}

/* The checksum of a run of decisions: first leaf and level of each, slots left out. */
static inline uint64_t fold(uint64_t hash, int64_t decision)
{
    const uint64_t seen = decision < 0 ? (uint64_t)decision : (uint64_t)decision >> 21;
    return (hash ^ seen) * UINT64_C(0x100000001b3);
}

/* worlds.c: pod:N rail:8 host:32 gpu:8 under one root (1,024 leaves: pod:4 rail:2 host:16). */
phx_tree *uniform_tree(uint32_t leaves);
/* Hosts of 8 (one in 32 of 4) in leaf groups of 1..64 hosts in superpods of 4..40 groups. */
phx_tree *irregular_tree(uint32_t hosts, uint64_t seed);
phx_planner *planner_of(const phx_tree *tree, uint32_t alignment, uint32_t spares_of_pod);
phx_request request_of(const phx_planner *planner, uint32_t ranks, uint32_t group);

/* Lists from which the last host of each pod is taken, as the planner's spares are. */
lists lists_with_spares(uint32_t leaves);

/* The paper's fill: sizes uniform over powers of two size_min..size_max, refused ones skipped,
 * until 90 % is held. Slots of the placed gangs in `slots` (room: leaves / size_min), their count
 * back. */
typedef struct fill_result {
    uint32_t gangs;
    uint32_t refused;
    uint32_t used;
    uint64_t checksum;
} fill_result;
fill_result fill(phx_planner *planner, const settings *run, uint32_t size_min, uint32_t size_max,
                 uint32_t *slots, series *samples);

/* rows.c */
void row_begin(const char *name, const settings *run);
void row_series(const char *key, const series *samples);
void row_number(const char *key, double value);
void row_text(const char *key, const char *value);
void row_checksum(uint64_t checksum);
void row_end(void);

/* The suites. */
void suite_churn(const settings *run);
void suite_fill(const settings *run);
void suite_replan(const settings *run);
void suite_packed(const settings *run);
void suite_growth(const settings *run);
void suite_memory(const settings *run);
void suite_copies(const settings *run);
void suite_adversarial(const settings *run);
void suite_rules(const settings *run);

#endif
