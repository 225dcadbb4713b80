/* The parts of a phx_verify that its sources share: rules, packed states, arrays, components. */
#ifndef PHALANX_VERIFY_GRAPH_H
#define PHALANX_VERIFY_GRAPH_H

#include "bits.h"
#include "verify.h"

#define PHX_VERIFY_WORDS_MAX 2
#define PHX_VERIFY_LEVELS_MAX 1024
#define PHX_VERIFY_FAIR_BITS 8 /* bits a job in masks of actions */

/* Where a field stands in a packed state; none lies over two words. */
typedef struct phx_verify_place {
    uint32_t word;
    uint32_t shift;
} phx_verify_place;

/* A scope with what is derived from it. */
typedef struct phx_verify_rules {
    phx_verify_scope scope;
    uint32_t all;  /* every leaf */
    uint32_t fair; /* a bit for each weakly fair action of each job */
    uint32_t words;
    uint32_t steps_max; /* from one state */
    uint32_t epoch_bits;
    phx_verify_place live;
    phx_verify_place owned[PHX_VERIFY_JOBS_MAX];
    phx_verify_place plan[PHX_VERIFY_JOBS_MAX];
    phx_verify_place rest[PHX_VERIFY_JOBS_MAX]; /* phase, epoch, sealed */
} phx_verify_rules;

typedef struct phx_verify_key {
    uint64_t word[PHX_VERIFY_WORDS_MAX];
} phx_verify_key;

/* A successor on its way to the table. */
typedef struct phx_verify_probe {
    phx_verify_key key;
    uint64_t hash;
} phx_verify_probe;

/* A violation that was found: the state it ends in, or the state and the step that is wrong. */
typedef struct phx_verify_fault {
    uint32_t found;
    uint32_t index;
    uint32_t alike;
    phx_verify_step step;
} phx_verify_fault;

typedef struct phx_verify_frame {
    uint32_t index;
    uint32_t first;   /* of its successors among those that wait */
    uint32_t root;    /* no successor reaches further down */
    uint32_t enabled; /* fair actions */
} phx_verify_frame;

/* A depth-first search that may be left and taken up again (Pearce's form of Tarjan's algorithm).
 * rank[index] is 0 = not met, low = on the way, high = the number of its component. */
typedef struct phx_verify_pass {
    uint32_t *rank;
    uint32_t low;  /* the next rank of a state that is met */
    uint32_t high; /* the next number of a component, downward */
    uint32_t root; /* where the next search begins */
    uint32_t frames;
    uint32_t waiting;
    uint32_t open; /* states whose component is not complete */
    size_t rank_room;
    size_t frame_room;
    size_t waiting_room;
    size_t open_room;
    phx_verify_frame *frame;
    uint32_t *successor;
    uint32_t *stack;
} phx_verify_pass;

struct phx_verify {
    phx_verify_rules rules;
    phx_verify_told told;
    uint64_t *word;  /* [distinct * words] */
    uint32_t *table; /* [slots] */
    size_t word_room;
    size_t slots;
    uint32_t slot_shift; /* 64 - log2(slots) */
    uint32_t next;       /* the next state to expand */
    uint64_t start_code; /* the next allocation to try as an initial one */
    uint32_t level[PHX_VERIFY_LEVELS_MAX + 1];
    phx_verify_step *step;   /* [steps_max] */
    phx_verify_probe *probe; /* [steps_max] */
    phx_verify_pass whole;
    phx_verify_pass part;
    uint32_t part_job;
    uint64_t *wide; /* bits of states whose component has several */
    size_t wide_room;
    phx_verify_fault fault[PHX_VERIFY_PROPERTIES + PHX_VERIFY_JOBS_MAX]; /* ReformLive's last */
};

/* 0: the scope is none. */
int phx_verify_rules_init(phx_verify_rules *rules, const phx_verify_scope *scope);
/* Writes the steps from a state, and which fair actions are enabled. */
uint32_t phx_verify_steps(const phx_verify_rules *rules, const phx_verify_state *before,
                          phx_verify_step *steps, uint32_t *enabled);
uint32_t phx_verify_broken_state(const phx_verify_rules *rules, const phx_verify_state *state);
uint32_t phx_verify_broken_step(const phx_verify_rules *rules, const phx_verify_state *before,
                                const phx_verify_state *after);
int phx_verify_healthy(const phx_verify_rules *rules, const phx_verify_state *state);
void phx_verify_pack(const phx_verify_rules *rules, const phx_verify_state *state,
                     phx_verify_key *out);
void phx_verify_unpack(const phx_verify_rules *rules, const uint64_t *word, phx_verify_state *out);

/* More room for an array, its bytes counted; what is new is not cleared. */
phx_status phx_verify_reserve(phx_verify *verify, void **array, size_t *room, size_t count,
                              size_t size);
/* Steps from a state by its index, their probes ready in the cache. */
uint32_t phx_verify_expand(phx_verify *verify, uint32_t index, phx_verify_state *before,
                           uint32_t *enabled);
/* Key and hash of a state, its slot on its way to the cache. */
void phx_verify_probe_of(const phx_verify *verify, const phx_verify_state *state,
                         phx_verify_probe *probe);
/* Index of a state, or PHX_NONE. */
uint32_t phx_verify_find(const phx_verify *verify, const phx_verify_probe *probe);
/* Goes on with the components; *left is what remains of the states asked. */
phx_status phx_verify_liveness(phx_verify *verify, uint64_t *left);
void phx_verify_pass_free(phx_verify_pass *pass);

static inline uint32_t phx_verify_bit(uint32_t job, uint32_t action)
{
    return UINT32_C(1) << (job * PHX_VERIFY_FAIR_BITS + action - 1);
}

#endif
