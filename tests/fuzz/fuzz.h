/* What the parts of the planner's fuzz target share: the tree and planner under test. */
#ifndef FUZZ_H
#define FUZZ_H

#include "phalanx.h"
#include "tape.h"

#define LEAVES_MAX 256
#define JOBS_MAX 64

/* What a gang with slices was placed with; outer = 0: nothing known. */
typedef struct chain {
    int64_t handle;
    phx_gang gang;
    phx_slice slices[2];
    uint32_t count;
    uint32_t outer; /* ranks of its largest slices */
} chain;

#define ROLES_MAX 4

/* One part of a gang; its limits are drawn anew from a seed, 0: none. */
typedef struct role {
    phx_gang gang;
    phx_slice slices[2];
    uint32_t count;
    uint32_t within; /* a level of its own, which is the last slice as well, or PHX_NONE */
    uint32_t limit_level;
    uint32_t limit_seed;
} role;

/* What a gang of parts was placed with; count = 0: nothing known. */
typedef struct team {
    int64_t handle;
    uint32_t within;
    uint32_t count;
    role roles[ROLES_MAX];
} team;

/* The request of a team, and what it refers to. */
typedef struct team_request {
    phx_request whole;
    phx_part parts[ROLES_MAX];
    int32_t rows[ROLES_MAX][LEAVES_MAX];
    const int32_t *table[ROLES_MAX][PHX_LEVELS_MAX + 1];
} team_request;

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
    uint32_t full;            /* the tape holds steps for gangs with slices as well */
    uint32_t parts;           /* and for gangs of parts */
    chain chains[LEAVES_MAX]; /* by slot */
    team teams[LEAVES_MAX];
} fixture;

/* placed, refused, repaired, partial, misfit repair, stale, adopted, loaded; with slices: placed,
 * repaired, shrunk, grown; with parts: placed, repaired */
#define OUTCOMES 14

/* fuzz_state.c: a tree and a planner, 0 when the bytes name none; and what every step compares. */
int fixture_build(fixture *on, tape *in);
int fixture_start(fixture *on, tape *in);
void fixture_check(const fixture *on);
void *copy_of(const phx_planner *planner, size_t *size);
void require_same(const phx_planner *planner, void *before, size_t size, const char *what);

/* fuzz_jobs.c: NULL, or one limited level; and the steps that place, release and load. */
const int32_t *const *limits_of(fixture *on, tape *in, const int32_t **table);
/* What a place would give, into LEAVES_MAX runs; the state must stay as it is. */
int64_t tried_place(fixture *on, const phx_request *request, const int32_t *const *limits,
                    phx_run *runs, uint32_t *count);
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

/* fuzz_chains.c: the chain of a job, or NULL where it has none; a job that has one from the tape
 * on, or PHX_NONE; its request at a size; and the step that places such gangs. */
chain *chain_of(fixture *on, uint32_t slot);
void forget_chain(fixture *on, uint32_t slot);
uint32_t chained_job(fixture *on, tape *in);
phx_request chain_request(const fixture *on, const chain *of, uint32_t ranks);
void require_chain(const fixture *on, uint32_t slot, const chain *of, uint32_t ranks);
void do_place_sliced(fixture *on, tape *in);

/* fuzz_slices.c and fuzz_sizes.c: the steps that repair such gangs, and that change their size; a
 * plan with one number changed is applied to a copy, or refused. */
void apply_damaged(const fixture *on, uint32_t slot, const phx_request *request,
                   const phx_move *moves, uint32_t count, tape *in);
void do_replan_sliced(fixture *on, tape *in);
void do_shrink(fixture *on, tape *in);
void do_grow(fixture *on, tape *in);

/* fuzz_parts.c: a job with parts from the tape on, or PHX_NONE; its request, 0 where it is none;
 * what its leaves must keep; and the step that places such gangs. */
uint32_t team_job(fixture *on, tape *in);
int team_resolve(const fixture *on, const team *of, team_request *out);
void require_team(const fixture *on, const team *of, const uint32_t *held);
void do_place_parts(fixture *on, tape *in);

/* fuzz_part_repairs.c: the steps that repair them, and that adopt them again. */
void do_adopt_parts(fixture *on, tape *in);
void do_replan_parts(fixture *on, tape *in);

#endif
