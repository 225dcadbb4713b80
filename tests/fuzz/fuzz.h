/* What the parts of the fuzz target share: the tape of bytes, the tree and planner under test. */
#ifndef FUZZ_H
#define FUZZ_H

#include "phalanx.h"

#define LEAVES_MAX 256
#define JOBS_MAX 64

typedef struct tape {
    const uint8_t *at;
    const uint8_t *end;
} tape;

typedef struct fixture {
    phx_tree *tree;
    phx_planner *planner;
    uint32_t leaves;
    uint32_t depth;
    uint32_t counts[5];
    uint32_t jobs[JOBS_MAX];
    uint32_t job_count;
    int32_t limit[LEAVES_MAX];
    uint32_t buddy;
} fixture;

extern uint64_t fuzz_operations;
/* placed, refused, repaired, partial, misfit repair, stale, adopted, loaded */
extern uint64_t fuzz_outcomes[8];

/* fuzz_state.c: the next byte, 0 behind the last; a tree and a planner, 0 when the bytes name none;
 * and what every step compares. */
uint32_t tape_next(tape *in);
void require(int holds, const char *what);
int fixture_build(fixture *on, tape *in);
int fixture_start(fixture *on, tape *in);
void fixture_check(const fixture *on);
void *copy_of(const phx_planner *planner, size_t *size);
void require_same(const phx_planner *planner, void *before, size_t size, const char *what);

/* fuzz_jobs.c: NULL, or one limited level; and the steps that place, release and load. */
const int32_t *const *limits_of(fixture *on, tape *in, const int32_t **table);
void do_place(fixture *on, tape *in);
void do_release(fixture *on, tape *in);
void do_adopt(fixture *on, tape *in);
void do_load(fixture *on, tape *in);

/* fuzz_repairs.c: the steps that break and repair. */
void do_health(fixture *on, tape *in);
void do_replan(fixture *on, tape *in);
void do_host_loss(fixture *on, tape *in);
void do_recover(fixture *on, tape *in);
void do_quarantine(fixture *on, tape *in);

#endif
