/* phx_verify: every state that the Rank Reformation Protocol (RRP) can reach in a small scope.
 *
 * The model is the specification of Figure 2 of the Phalanx paper; flags change single rules of it.
 * The search is breadth first over packed states, without any reduction, and counts as TLC does:
 *
 *      words  [ s0 s1 s2 | s3 s4 ...            array of states = the queue = breadth-first order
 *      level    1          2                    states s0 .. are initial
 *      table  [ . 3 . . 1 . 4 . 2 ]             index + 1 of the state that hashes there
 *
 * No edge is stored: successors are made again by whoever asks for them. What must hold for ever
 * is judged under weak fairness by the strongly connected components of the graph.
 *
 * Invariants, checked by phx_verify_validate:
 *   V1  the table finds every state at its own index, and holds nothing else
 *   V2  states / slots < 0.6
 *   V3  levels begin at 0, ascend, and end at or before the number of states
 *   V4  generated == sum over actions of steps
 *   V5  bytes <= bytes_max
 * Cost: O(generated) time; 8 or 16 bytes a state and 4 a slot, 4 more a state for liveness. No
 * recursion, no globals; allocates while it runs, and says so where that fails. An array that grows
 * counts by its new size, a table by both while it is made again.
 * Threads: one owner.
 */
#ifndef PHALANX_VERIFY_H
#define PHALANX_VERIFY_H

#include "model.h"

/* cffi:begin */
#define PHX_VERIFY_JOBS_MAX 4
#define PHX_VERIFY_LEAVES_MAX 16
#define PHX_VERIFY_FAILS_MAX 7
#define PHX_VERIFY_ACTIONS 9
#define PHX_VERIFY_PROPERTIES 17
#define PHX_VERIFY_RULES 16383 /* all of them together */

typedef struct phx_verify phx_verify;

/* Changes of single rules of Figure 2. */
typedef enum phx_verify_rule {
    PHX_VERIFY_PINNED = 1,         /* a plan keeps the live leaves of its job */
    PHX_VERIFY_LIVE_COMMIT = 2,    /* Commit needs every planned leaf live, else Abort is enabled */
    PHX_VERIFY_DETECT_RESTORE = 4, /* Detect is enabled in Restore too */
    PHX_VERIFY_LIVE_RESTORE = 8,   /* Restore needs every leaf of its job live */
    PHX_VERIFY_NO_ABORT = 16,      /* there is no Abort */
    PHX_VERIFY_FIXED_SIZE = 32,    /* a plan has as many leaves as its job */
    PHX_VERIFY_CRASH = 64,         /* an engine may fall from Commit back to Plan, unfairly */
    /* faults, each of which a property must see */
    PHX_VERIFY_UNGUARDED = 128,    /* Commit is always enabled, and takes leaves of others */
    PHX_VERIFY_DEAD_PLAN = 256,    /* a plan may have dead leaves */
    PHX_VERIFY_FOREIGN_PLAN = 512, /* a plan may have leaves of others */
    PHX_VERIFY_EMPTY_PLAN = 1024,  /* a plan may have no leaf */
    PHX_VERIFY_LOOSE_SEAL = 2048,  /* Seal is enabled in every phase */
    PHX_VERIFY_ABORT_RUNS = 4096,  /* Abort leads to Run */
    PHX_VERIFY_NO_RESTORE = 8192   /* Commit leads to Run */
} phx_verify_rule;

typedef enum phx_verify_phase {
    PHX_VERIFY_IN_RUN = 0,
    PHX_VERIFY_IN_PLAN = 1,
    PHX_VERIFY_IN_COMMIT = 2,
    PHX_VERIFY_IN_RESTORE = 3
} phx_verify_phase;

typedef enum phx_verify_action {
    PHX_VERIFY_INIT = 0,
    PHX_VERIFY_FAIL = 1,
    PHX_VERIFY_DETECT = 2,
    PHX_VERIFY_PLAN = 3,
    PHX_VERIFY_COMMIT = 4,
    PHX_VERIFY_ABORT = 5,
    PHX_VERIFY_SEAL = 6,
    PHX_VERIFY_RESTORE = 7,
    PHX_VERIFY_CRASHED = 8
} phx_verify_action;

/* Of states, then of steps, then of whole runs. */
typedef enum phx_verify_property {
    PHX_VERIFY_TYPE_OK = 0,
    PHX_VERIFY_SEAL_BOUND = 1,
    PHX_VERIFY_RUN_WITNESS = 2,
    PHX_VERIFY_RESTORE_READY = 3,
    PHX_VERIFY_EPOCH_BOUND = 4,
    PHX_VERIFY_FOOTPRINT = 5,
    PHX_VERIFY_NON_EMPTY = 6,
    PHX_VERIFY_EPOCH_MONOTONE = 7,
    PHX_VERIFY_EPOCH_STEP = 8,
    PHX_VERIFY_SEAL_FENCE = 9,
    PHX_VERIFY_NO_THEFT = 10,
    PHX_VERIFY_COMMIT_PLANNED = 11,
    PHX_VERIFY_PLAN_FEASIBLE = 12,
    PHX_VERIFY_PHASE_STEP = 13,
    PHX_VERIFY_DETECT_REAL = 14,
    PHX_VERIFY_REFORM_LIVE = 15,
    PHX_VERIFY_ESR = 16
} phx_verify_property;

/* How far a search is. */
typedef enum phx_verify_stage {
    PHX_VERIFY_SEARCH = 0,     /* states are being found */
    PHX_VERIFY_COMPONENTS = 1, /* components of all states */
    PHX_VERIFY_JOBS = 2,       /* components of the states in which one job does not run */
    PHX_VERIFY_DONE = 3        /* every property is judged */
} phx_verify_stage;

/* Masks are of leaves; `sealed` has a bit an epoch. */
typedef struct phx_verify_job {
    uint16_t owned;
    uint16_t plan;
    uint16_t sealed;
    uint8_t phase;
    uint8_t epoch;
} phx_verify_job;

/* Jobs beyond those of the scope are all zero; failures are the leaves that are not live. */
typedef struct phx_verify_state {
    phx_verify_job job[PHX_VERIFY_JOBS_MAX];
    uint32_t live;
} phx_verify_state;

/* A step to `after`: leaves are the failed one, the dead ones seen, the planned or claimed ones, or
 * those that kept a commit from its claim; epoch is the job's afterwards. */
typedef struct phx_verify_step {
    phx_verify_state after;
    uint32_t action;
    uint32_t job; /* PHX_NONE: of Init and Fail */
    uint32_t leaves;
    uint32_t epoch;
    uint32_t times; /* that TLC counts it: Restore once a witness */
} phx_verify_step;

typedef struct phx_verify_scope {
    uint32_t jobs;
    uint32_t leaves;
    uint32_t fails; /* MaxFail */
    uint32_t rules;
    uint32_t started;                    /* 0: from every allocation, else from `start` alone */
    uint32_t liveness;                   /* 0: safety alone */
    uint32_t start[PHX_VERIFY_JOBS_MAX]; /* leaves of each job */
    uint64_t bytes_max;                  /* of all arrays, 0 = no bound */
} phx_verify_scope;

typedef struct phx_verify_told {
    uint32_t stage;
    uint32_t depth; /* levels, initial states being the first */
    uint64_t initial;
    uint64_t generated;
    uint64_t distinct;
    uint64_t expanded; /* in this stage */
    uint64_t bytes;
    uint64_t bytes_peak;
    uint64_t steps[PHX_VERIFY_ACTIONS]; /* initial states first */
    uint64_t components;                /* strongly connected, of all states */
    uint64_t largest;                   /* states of the largest of them */
    uint64_t endless;                   /* components in which a run may stay for ever */
    uint32_t violated;                  /* a bit a property */
    uint32_t stuck_jobs;                /* a bit a job for which ReformLive is violated */
} phx_verify_told;

/* Words of 64 bits that a state takes, 1 or 2; 0: it does not fit, or the scope is none. */
uint32_t phx_verify_words(const phx_verify_scope *scope);
/* PHX_BAD_GANG: no job or too many, leaves that do not suffice or too many, too many failures, a
 * state that does not fit two words, or `start` overlaps, leaves the scope or has a job of too
 * few. */
phx_status phx_verify_new(const phx_verify_scope *scope, phx_verify **out);
void phx_verify_free(phx_verify *verify);
/* Goes on for about so many states, so that the caller can look up and stop. PHX_GAVE_UP: bytes_max
 * or 2^32 states would be exceeded; PHX_NO_MEMORY. After either what was found stays, and the next
 * call tries again. */
phx_status phx_verify_run(phx_verify *verify, uint64_t states);
void phx_verify_tell(const phx_verify *verify, phx_verify_told *out);
/* A shortest run that violates a property, initial state first; of ReformLive for one job. *alike
 * is how many states it then goes round for ever, 0 where the last step itself is wrong.
 * PHX_MISFIT: it was not found violated; PHX_NO_ROOM: *count steps are wanted. */
phx_status phx_verify_path(phx_verify *verify, uint32_t property, uint32_t job,
                           phx_verify_step *steps, uint32_t room, uint32_t *count, uint32_t *alike);
/* State of that index, in breadth-first order; PHX_BAD_LEAF: there is none. */
phx_status phx_verify_at(const phx_verify *verify, uint64_t index, phx_verify_state *out);
/* All steps from a state of the scope. PHX_NO_ROOM: less room than *count, the most there can be.
 */
phx_status phx_verify_next(const phx_verify *verify, const phx_verify_state *before,
                           phx_verify_step *steps, uint32_t room, uint32_t *count);
/* Bits of the properties of states that this one does not have, and of steps that a step breaks. */
uint32_t phx_verify_judge_state(const phx_verify *verify, const phx_verify_state *state);
uint32_t phx_verify_judge_step(const phx_verify *verify, const phx_verify_state *before,
                               const phx_verify_state *after);
/* "TypeOK" to "ESR"; "Init" to "Crash". "Unknown" for any other value. */
const char *phx_verify_property_name(uint32_t property);
const char *phx_verify_action_name(uint32_t action);
phx_status phx_verify_validate(const phx_verify *verify, const char **reason);
/* cffi:end */

#endif
