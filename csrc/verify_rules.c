/* The protocol itself: packed states, the steps from a state, and what must hold of both. */
#include "mutants.h"
#include "verify_graph.h"

#include <string.h>

/* The next field of so many bits, in the first word that still has room; 0: none has. */
static int put(phx_verify_place *place, uint32_t *used, uint32_t bits)
{
    for (uint32_t word = 0; word < PHX_VERIFY_WORDS_MAX; ++word) {
        if (used[word] + bits <= 64) {
            *place = (phx_verify_place){word, used[word]};
            used[word] += bits;
            return 1;
        }
    }
    return 0;
}

static int lay_out(phx_verify_rules *rules)
{
    const phx_verify_scope *scope = &rules->scope;
    uint32_t used[PHX_VERIFY_WORDS_MAX] = {0};
    rules->epoch_bits = phx_log2_ceil(scope->fails + 1);
    int fits = put(&rules->live, used, scope->leaves);
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        fits &= put(&rules->owned[job], used, scope->leaves);
        fits &= put(&rules->plan[job], used, scope->leaves);
    }
    for (uint32_t job = 0; job < scope->jobs; ++job) { /* what is small fills what is left */
        fits &= put(&rules->rest[job], used, 2 + rules->epoch_bits + scope->fails + 1);
    }
    rules->words = used[1] > 0 ? 2 : 1;
    return fits;
}

static int start_is_one(const phx_verify_rules *rules)
{
    const phx_verify_scope *scope = &rules->scope;
    uint32_t taken = 0;
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        const uint32_t own = scope->start[job];
        if ((own & ~rules->all) != 0 || (own & taken) != 0 || phx_popcount(own) <= scope->fails) {
            return 0;
        }
        taken |= own;
    }
    return 1;
}

int phx_verify_rules_init(phx_verify_rules *rules, const phx_verify_scope *scope)
{
    static const uint32_t fair[] = {PHX_VERIFY_DETECT, PHX_VERIFY_PLAN, PHX_VERIFY_COMMIT,
                                    PHX_VERIFY_ABORT, PHX_VERIFY_RESTORE};
    memset(rules, 0, sizeof *rules);
    rules->scope = *scope;
    if (scope->jobs == 0 || scope->jobs > PHX_VERIFY_JOBS_MAX ||
        scope->leaves > PHX_VERIFY_LEAVES_MAX || scope->fails > PHX_VERIFY_FAILS_MAX ||
        scope->leaves < scope->jobs * (scope->fails + 1) ||
        (scope->rules & ~(uint32_t)PHX_VERIFY_RULES) != 0) {
        return 0;
    }
    rules->all = (uint32_t)phx_low(scope->leaves);
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        for (size_t at = 0; at < sizeof fair / sizeof *fair; ++at) {
            rules->fair |= phx_verify_bit(job, fair[at]);
        }
    }
    rules->steps_max = scope->leaves + scope->jobs * ((1U << scope->leaves) + 4);
    return lay_out(rules) && (!scope->started || start_is_one(rules));
}

void phx_verify_pack(const phx_verify_rules *rules, const phx_verify_state *state,
                     phx_verify_key *out)
{
    memset(out, 0, sizeof *out);
    out->word[rules->live.word] |= (uint64_t)state->live << rules->live.shift;
    for (uint32_t job = 0; job < rules->scope.jobs; ++job) {
        const phx_verify_job *of = &state->job[job];
        const phx_verify_place *owned = &rules->owned[job];
        const phx_verify_place *plan = &rules->plan[job];
        const phx_verify_place *rest = &rules->rest[job];
        const uint64_t marks =
            of->phase | ((uint64_t)of->epoch | (uint64_t)of->sealed << rules->epoch_bits) << 2;
        out->word[owned->word] |= (uint64_t)of->owned << owned->shift;
        out->word[plan->word] |= (uint64_t)of->plan << plan->shift;
        out->word[rest->word] |= marks << rest->shift;
    }
}

void phx_verify_unpack(const phx_verify_rules *rules, const uint64_t *word, phx_verify_state *out)
{
    const uint64_t epochs = phx_low(rules->epoch_bits);
    const uint64_t seals = phx_low(rules->scope.fails + 1);
    memset(out, 0, sizeof *out);
    out->live = (uint32_t)(word[rules->live.word] >> rules->live.shift) & rules->all;
    for (uint32_t job = 0; job < rules->scope.jobs; ++job) {
        phx_verify_job *of = &out->job[job];
        const phx_verify_place *rest = &rules->rest[job];
        const uint64_t marks = word[rest->word] >> rest->shift;
        const uint64_t owned = word[rules->owned[job].word] >> rules->owned[job].shift;
        const uint64_t plan = word[rules->plan[job].word] >> rules->plan[job].shift;
        of->owned = (uint16_t)(owned & rules->all);
        of->plan = (uint16_t)(plan & rules->all);
        of->phase = (uint8_t)(marks & 3);
        of->epoch = (uint8_t)(marks >> 2 & epochs);
        of->sealed = (uint16_t)(marks >> (2 + rules->epoch_bits) & seals);
    }
}

/* Adds a step that is filled in by the caller: all as it was so far. */
static phx_verify_step *add(phx_verify_step **end, const phx_verify_state *before, uint32_t action,
                            uint32_t job, uint32_t leaves)
{
    phx_verify_step *step = (*end)++;
    step->after = *before;
    step->action = action;
    step->job = job;
    step->leaves = leaves;
    step->epoch = job == PHX_NONE ? 0 : before->job[job].epoch;
    step->times = 1;
    return step;
}

/* Every plan that is feasible: leaves that live and are the job's or nobody's. */
static void plans(const phx_verify_rules *rules, const phx_verify_state *before, uint32_t job,
                  uint32_t mine_or_free, phx_verify_step **end)
{
    const uint32_t changes = rules->scope.rules;
    const uint32_t own = before->job[job].owned;
    const uint32_t mine = (changes & PHX_VERIFY_FOREIGN_PLAN) != 0 ? rules->all : mine_or_free;
    const uint32_t usable = (changes & PHX_VERIFY_DEAD_PLAN) != 0 ? mine : mine & before->live;
    const int empty = (changes & PHX_VERIFY_EMPTY_PLAN) != 0;
    const int pinned = (changes & PHX_VERIFY_PINNED) != 0 && !PHX_MUTANT_UNPINNED;
    const uint32_t kept = pinned ? own & before->live : 0;
    const uint32_t open = usable & ~kept;
    uint32_t more = 0;
    do {
        const uint32_t plan = kept | more;
        const int sized =
            (changes & PHX_VERIFY_FIXED_SIZE) == 0 || phx_popcount(plan) == phx_popcount(own);
        if ((plan != 0 || empty) && sized) {
            phx_verify_step *step = add(end, before, PHX_VERIFY_PLAN, job, plan);
            step->after.job[job].plan = (uint16_t)plan;
            step->after.job[job].phase = PHX_VERIFY_IN_COMMIT;
        }
        more = (more - open) & open; /* the next subset, 0 after the last */
    } while (more != 0);
}

/* Commit: the plan is claimed, what is not in it is free. */
static void commit(const phx_verify_rules *rules, const phx_verify_state *before, uint32_t job,
                   phx_verify_step **end)
{
    const uint32_t changes = rules->scope.rules;
    const uint16_t plan = before->job[job].plan;
    phx_verify_step *step = add(end, before, PHX_VERIFY_COMMIT, job, plan);
    phx_verify_job *of = &step->after.job[job];
    if ((changes & PHX_VERIFY_UNGUARDED) != 0) {
        for (uint32_t other = 0; other < rules->scope.jobs; ++other) {
            step->after.job[other].owned &= (uint16_t)~plan;
        }
    }
    of->owned = plan;
    of->phase = (changes & PHX_VERIFY_NO_RESTORE) != 0 ? PHX_VERIFY_IN_RUN : PHX_VERIFY_IN_RESTORE;
    step->epoch = ++of->epoch;
}

/* Commit where its guard holds, else Abort; and the fall of an engine. */
static void commits(const phx_verify_rules *rules, const phx_verify_state *before, uint32_t job,
                    uint32_t mine_or_free, phx_verify_step **end)
{
    const uint32_t changes = rules->scope.rules;
    const uint32_t plan = before->job[job].plan;
    uint32_t barred = (changes & PHX_VERIFY_UNGUARDED) != 0 ? 0 : plan & ~mine_or_free;
    if ((changes & PHX_VERIFY_LIVE_COMMIT) != 0) {
        barred |= plan & ~before->live;
    }
    if (barred == 0) {
        commit(rules, before, job, end);
    } else if ((changes & PHX_VERIFY_NO_ABORT) == 0) {
        phx_verify_step *step = add(end, before, PHX_VERIFY_ABORT, job, barred);
        step->after.job[job].phase =
            (changes & PHX_VERIFY_ABORT_RUNS) != 0 ? PHX_VERIFY_IN_RUN : PHX_VERIFY_IN_PLAN;
    }
    if ((changes & PHX_VERIFY_CRASH) != 0) {
        phx_verify_step *step = add(end, before, PHX_VERIFY_CRASHED, job, 0);
        step->after.job[job].phase = PHX_VERIFY_IN_PLAN;
    }
}

/* Restore, once for every sealed epoch below the job's. */
static void restores(const phx_verify_rules *rules, const phx_verify_state *before, uint32_t job,
                     phx_verify_step **end)
{
    const phx_verify_job *of = &before->job[job];
    const uint32_t witnesses = phx_popcount(of->sealed & phx_low(of->epoch));
    const int strict = (rules->scope.rules & PHX_VERIFY_LIVE_RESTORE) != 0;
    if (witnesses > 0 && !(strict && (of->owned & ~before->live) != 0)) {
        phx_verify_step *step = add(end, before, PHX_VERIFY_RESTORE, job, 0);
        step->after.job[job].phase = PHX_VERIFY_IN_RUN;
        step->times = PHX_MUTANT_RESTORED_ONCE ? 1 : witnesses;
    }
}

static void job_steps(const phx_verify_rules *rules, const phx_verify_state *before, uint32_t job,
                      uint32_t unowned, phx_verify_step **end)
{
    const phx_verify_job *of = &before->job[job];
    const uint32_t dead = of->owned & ~before->live;
    const int early = (rules->scope.rules & PHX_VERIFY_DETECT_RESTORE) != 0;
    const int seen =
        of->phase == PHX_VERIFY_IN_RUN || (early && of->phase == PHX_VERIFY_IN_RESTORE);
    if (seen && dead != 0) {
        phx_verify_step *step = add(end, before, PHX_VERIFY_DETECT, job, dead);
        step->after.job[job].phase = PHX_VERIFY_IN_PLAN;
    }
    if (of->phase == PHX_VERIFY_IN_RUN || (rules->scope.rules & PHX_VERIFY_LOOSE_SEAL) != 0) {
        phx_verify_step *step = add(end, before, PHX_VERIFY_SEAL, job, 0);
        step->after.job[job].sealed |= (uint16_t)(1U << of->epoch);
        if (PHX_MUTANT_STUTTER_UNCOUNTED && step->after.job[job].sealed == of->sealed) {
            --*end;
        }
    }
    if (of->phase == PHX_VERIFY_IN_PLAN) {
        plans(rules, before, job, unowned | of->owned, end);
    } else if (of->phase == PHX_VERIFY_IN_COMMIT) {
        commits(rules, before, job, unowned | of->owned, end);
    } else if (of->phase == PHX_VERIFY_IN_RESTORE) {
        restores(rules, before, job, end);
    }
}

uint32_t phx_verify_steps(const phx_verify_rules *rules, const phx_verify_state *before,
                          phx_verify_step *steps, uint32_t *enabled)
{
    const phx_verify_scope *scope = &rules->scope;
    phx_verify_step *end = steps;
    uint32_t unowned = rules->all;
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        unowned &= ~(uint32_t)before->job[job].owned;
    }
    if (scope->leaves - phx_popcount(before->live) < scope->fails) {
        for (uint32_t live = before->live; live != 0; live &= live - 1) {
            phx_verify_step *step = add(&end, before, PHX_VERIFY_FAIL, PHX_NONE, live & -live);
            step->after.live &= ~step->leaves;
        }
    }
    const uint32_t failures = (uint32_t)(end - steps);
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        job_steps(rules, before, job, unowned, &end);
    }
    const uint32_t count = (uint32_t)(end - steps);
    *enabled = 0;
    for (uint32_t at = failures; at < count; ++at) {
        *enabled |= phx_verify_bit(steps[at].job, steps[at].action);
    }
    *enabled &= rules->fair;
    return count;
}

#define BROKEN(property, holds) ((holds) ? 0 : UINT32_C(1) << (property))

uint32_t phx_verify_broken_state(const phx_verify_rules *rules, const phx_verify_state *state)
{
    const phx_verify_scope *scope = &rules->scope;
    const uint32_t epochs = (uint32_t)phx_low(scope->fails + 1);
    uint32_t taken = 0;
    uint32_t broken =
        BROKEN(PHX_VERIFY_TYPE_OK,
               (state->live & ~rules->all) == 0 &&
                   scope->leaves - phx_popcount(state->live & rules->all) <= scope->fails);
    for (uint32_t job = 0; job < scope->jobs; ++job) {
        const phx_verify_job *of = &state->job[job];
        const uint32_t below = of->sealed & (uint32_t)phx_low(of->epoch);
        const int moved =
            of->epoch > 0 && (of->phase == PHX_VERIFY_IN_RUN || of->phase == PHX_VERIFY_IN_RESTORE);
        broken |= BROKEN(PHX_VERIFY_TYPE_OK, of->phase <= PHX_VERIFY_IN_RESTORE &&
                                                 (of->sealed & ~epochs) == 0 &&
                                                 ((of->owned | of->plan) & ~rules->all) == 0 &&
                                                 (of->owned & taken) == 0);
        broken |= BROKEN(PHX_VERIFY_SEAL_BOUND,
                         of->sealed != 0 && (of->sealed & ~phx_low(of->epoch + 1U)) == 0);
        broken |= BROKEN(PHX_VERIFY_RUN_WITNESS,
                         of->phase != PHX_VERIFY_IN_RUN || of->epoch == 0 || below != 0);
        broken |=
            BROKEN(PHX_VERIFY_RESTORE_READY, of->phase != PHX_VERIFY_IN_RESTORE || below != 0);
        broken |= BROKEN(PHX_VERIFY_EPOCH_BOUND, of->epoch <= scope->fails);
        broken |= BROKEN(PHX_VERIFY_FOOTPRINT, !moved || of->owned == of->plan);
        broken |= BROKEN(PHX_VERIFY_NON_EMPTY, of->owned != 0);
        taken |= of->owned;
    }
    return broken;
}

/* Whether a job may go from one phase to another; to stay is always allowed. */
static int phases_follow(const phx_verify_rules *rules, uint32_t from, uint32_t to)
{
    static const uint8_t next[] = {1U << PHX_VERIFY_IN_PLAN, 1U << PHX_VERIFY_IN_COMMIT,
                                   1U << PHX_VERIFY_IN_RESTORE | 1U << PHX_VERIFY_IN_PLAN,
                                   1U << PHX_VERIFY_IN_RUN};
    const int back = (rules->scope.rules & PHX_VERIFY_DETECT_RESTORE) != 0 &&
                     from == PHX_VERIFY_IN_RESTORE && to == PHX_VERIFY_IN_PLAN;
    return from == to || back || (next[from & 3] >> to & 1) != 0;
}

/* What a step makes of one job that it changes. */
static uint32_t broken_job(const phx_verify_rules *rules, const phx_verify_state *before,
                           const phx_verify_state *after, uint32_t job)
{
    const phx_verify_job *from = &before->job[job];
    const phx_verify_job *to = &after->job[job];
    const uint32_t new_seals = to->sealed & ~(uint32_t)from->sealed;
    const int commits = from->phase == PHX_VERIFY_IN_COMMIT && to->phase == PHX_VERIFY_IN_RESTORE;
    const int planned = from->phase == PHX_VERIFY_IN_PLAN && to->phase == PHX_VERIFY_IN_COMMIT;
    const int detects =
        (from->phase == PHX_VERIFY_IN_RUN || from->phase == PHX_VERIFY_IN_RESTORE) &&
        to->phase == PHX_VERIFY_IN_PLAN;
    uint32_t others = 0;
    for (uint32_t other = 0; other < rules->scope.jobs; ++other) {
        others |= other == job ? 0U : before->job[other].owned;
    }
    uint32_t broken = BROKEN(PHX_VERIFY_EPOCH_MONOTONE, to->epoch >= from->epoch);
    broken |= BROKEN(PHX_VERIFY_EPOCH_STEP,
                     to->epoch == from->epoch || (to->epoch == from->epoch + 1 && commits));
    broken |= BROKEN(PHX_VERIFY_SEAL_FENCE,
                     to->sealed == from->sealed ||
                         ((from->sealed & ~to->sealed) == 0 && from->phase == PHX_VERIFY_IN_RUN &&
                          new_seals == UINT32_C(1) << from->epoch));
    broken |= BROKEN(PHX_VERIFY_NO_THEFT, (from->owned & ~to->owned) == 0 || commits);
    broken |= BROKEN(PHX_VERIFY_COMMIT_PLANNED, !commits || to->owned == from->plan);
    broken |= BROKEN(PHX_VERIFY_PLAN_FEASIBLE,
                     !planned || (to->plan != 0 && (to->plan & (~before->live | others)) == 0));
    broken |= BROKEN(PHX_VERIFY_PHASE_STEP, phases_follow(rules, from->phase, to->phase));
    broken |= BROKEN(PHX_VERIFY_DETECT_REAL, !detects || (from->owned & ~before->live) != 0);
    return broken;
}

uint32_t phx_verify_broken_step(const phx_verify_rules *rules, const phx_verify_state *before,
                                const phx_verify_state *after)
{
    uint32_t broken = 0;
    for (uint32_t job = 0; job < rules->scope.jobs; ++job) {
        if (memcmp(&before->job[job], &after->job[job], sizeof before->job[job]) != 0) {
            broken |= broken_job(rules, before, after, job);
        }
    }
    return broken;
}

int phx_verify_healthy(const phx_verify_rules *rules, const phx_verify_state *state)
{
    int healthy = 1;
    for (uint32_t job = 0; job < rules->scope.jobs; ++job) {
        const phx_verify_job *of = &state->job[job];
        healthy &=
            of->phase == PHX_VERIFY_IN_RUN && of->owned != 0 && (of->owned & ~state->live) == 0;
    }
    return healthy;
}
