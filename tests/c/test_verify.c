/* The unreduced search of the protocol: counts, properties, liveness, counterexamples, bounds. */
#include "cases.h"
#include "verify_graph.h"

#define PATH_MAX 64

/* Three leaves each and one that is free: the smallest start at which two jobs contend. */
static const phx_verify_scope CONTENDED = {2, 7, 2, 0, 1, 1, {0x07, 0x38}, 0};

static phx_verify *begun(const phx_verify_scope *scope)
{
    phx_verify *verify = NULL;
    CHECK(phx_verify_new(scope, &verify) == PHX_OK);
    return verify;
}

static phx_verify_told finished(phx_verify *verify)
{
    const char *why = NULL;
    phx_verify_told told;
    CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_OK);
    phx_verify_tell(verify, &told);
    CHECK(told.stage == PHX_VERIFY_DONE);
    CHECK(phx_verify_validate(verify, &why) == PHX_OK);
    return told;
}

static phx_verify_told told_of(const phx_verify_scope *scope)
{
    phx_verify *verify = begun(scope);
    const phx_verify_told told = finished(verify);
    phx_verify_free(verify);
    return told;
}

static uint32_t path_of(phx_verify *verify, uint32_t property, uint32_t job, phx_verify_step *steps)
{
    uint32_t count = 0;
    uint32_t alike = 0;
    CHECK(phx_verify_path(verify, property, job, steps, PATH_MAX, &count, &alike) == PHX_OK);
    return count;
}

#define LIVENESS (1U << PHX_VERIFY_REFORM_LIVE | 1U << PHX_VERIFY_ESR)

/* 2/6/2 of the paper, every kind of step as TLC counts it. */
static void case_counts_are_those_of_tlc(void)
{
    static const uint64_t steps[PHX_VERIFY_ACTIONS] = {20, 8520,  6240,  25200, 25680,
                                                       0,  40240, 14100, 0};
    const phx_verify_scope scope = {2, 6, 2, 0, 0, 1, {0}, 0};
    const phx_verify_told told = told_of(&scope);
    CHECK(memcmp(told.steps, steps, sizeof steps) == 0);
    CHECK(told.initial == 20 && told.generated == 120000);
    CHECK(told.distinct == 43070 && told.depth == 13);
    CHECK(told.components == 43070 && told.largest == 1);
    CHECK(told.violated == 0 && told.stuck_jobs == 0);
}

static void case_survivors_are_pinned(void)
{
    phx_verify_scope scope = {2, 7, 2, PHX_VERIFY_PINNED, 0, 1, {0}, 0};
    phx_verify_told told = told_of(&scope);
    CHECK(told.initial == 210 && told.generated == 431270);
    CHECK(told.distinct == 157220 && told.depth == 13 && told.violated == 0);
    scope = (phx_verify_scope){2, 8, 3, PHX_VERIFY_PINNED, 1, 1, {0x0f, 0xf0}, 0};
    told = told_of(&scope);
    CHECK(told.generated == 29491 && told.distinct == 10033);
    CHECK(told.depth == 19 && told.violated == 0);
}

static void case_a_lost_commit_is_stuck_without_abort(void)
{
    phx_verify_scope scope = CONTENDED;
    CHECK(told_of(&scope).violated == 0);
    scope.rules = PHX_VERIFY_NO_ABORT;
    phx_verify *verify = begun(&scope);
    const phx_verify_told told = finished(verify);
    CHECK(told.violated == LIVENESS && told.stuck_jobs == 3);
    phx_verify_step steps[PATH_MAX];
    for (uint32_t job = 0; job < 2; ++job) {
        const uint32_t count = path_of(verify, PHX_VERIFY_REFORM_LIVE, job, steps);
        const phx_verify_state *last = &steps[count - 1].after;
        CHECK(count == 9 && last->job[job].phase == PHX_VERIFY_IN_COMMIT);
        CHECK((last->job[job].plan & last->job[1 - job].owned) != 0);
    }
    phx_verify_free(verify);
}

/* An engine that falls for ever violates both; a component has several states. */
static void case_a_crash_loop_is_fair(void)
{
    phx_verify_scope scope = CONTENDED;
    scope.rules = PHX_VERIFY_CRASH;
    phx_verify *verify = begun(&scope);
    const phx_verify_told told = finished(verify);
    CHECK(told.violated == LIVENESS && told.stuck_jobs == 3 && told.largest == 196);
    phx_verify_step steps[PATH_MAX];
    uint32_t count = 0;
    uint32_t alike = 0;
    CHECK(phx_verify_path(verify, PHX_VERIFY_ESR, 0, steps, PATH_MAX, &count, &alike) == PHX_OK);
    CHECK(count == 4 && alike == 14);
    CHECK(steps[3].action == PHX_VERIFY_PLAN);
    phx_verify_free(verify);
}

/* Restore waits for a leaf that nothing detects: six states, and the last of them is the end. */
static void case_a_counterexample_is_a_shortest(void)
{
    static const uint32_t actions[] = {PHX_VERIFY_INIT, PHX_VERIFY_FAIL, PHX_VERIFY_DETECT,
                                       PHX_VERIFY_PLAN, PHX_VERIFY_FAIL, PHX_VERIFY_COMMIT};
    phx_verify_scope scope = CONTENDED;
    phx_verify_step steps[PATH_MAX];
    scope.rules = PHX_VERIFY_LIVE_RESTORE;
    phx_verify *verify = begun(&scope);
    CHECK(finished(verify).violated == LIVENESS);
    for (uint32_t job = 0; job < 2; ++job) {
        uint32_t enabled = 0;
        CHECK(path_of(verify, PHX_VERIFY_REFORM_LIVE, job, steps) == 6);
        for (uint32_t at = 0; at < 6; ++at) {
            CHECK(steps[at].action == actions[at]);
        }
        CHECK(steps[2].job == job && steps[5].job == job && steps[5].epoch == 1);
        CHECK(steps[5].leaves == steps[4].leaves);
        phx_verify_steps(&verify->rules, &steps[5].after, verify->step, &enabled);
        CHECK(enabled == 0);
    }
    uint32_t count = 0;
    uint32_t alike = 0;
    CHECK(phx_verify_path(verify, PHX_VERIFY_ESR, 0, steps, 5, &count, &alike) == PHX_NO_ROOM);
    CHECK(count == 6 && alike == 1);
    CHECK(phx_verify_path(verify, PHX_VERIFY_TYPE_OK, 0, steps, 9, &count, &alike) == PHX_MISFIT);
    CHECK(phx_verify_path(verify, PHX_VERIFY_REFORM_LIVE, 2, steps, 9, &count, &alike) ==
          PHX_MISFIT);
    CHECK(phx_verify_path(verify, PHX_VERIFY_PROPERTIES, 0, steps, 9, &count, &alike) ==
          PHX_MISFIT);
    phx_verify_free(verify);
}

/* Where a fair action stays enabled and is not taken, no run may go round for ever; how many
 * components are left was counted by the slow twin of the Python tests. */
static void case_a_loop_that_owes_an_action_is_none(void)
{
    phx_verify_scope scope = CONTENDED;
    CHECK(told_of(&scope).endless == 4082);
    scope.rules = PHX_VERIFY_CRASH;
    const phx_verify_told told = told_of(&scope);
    CHECK(told.distinct == 22757 && told.components == 12602);
    CHECK(told.largest == 196 && told.endless == 4505);
}

/* What each change of a rule does to the contended start, as the slow twin of the Python tests
 * counts it; the last states take two words. */
static void case_each_rule_changes_what_it_says(void)
{
    static const struct {
        phx_verify_scope scope;
        uint64_t generated;
        uint64_t distinct;
        uint64_t endless;
        uint32_t violated;
    } table[] = {
        {{2, 7, 2, 0, 1, 1, {0x07, 0x38}, 0}, 46296, 16874, 4082, 0},
        {{2, 7, 2, 1, 1, 1, {0x07, 0x38}, 0}, 3618, 1403, 242, 0},
        {{2, 7, 2, 2, 1, 1, {0x07, 0x38}, 0}, 46584, 16946, 4082, 0},
        {{2, 7, 2, 10, 1, 1, {0x07, 0x38}, 0}, 46512, 16946, 4154, LIVENESS},
        {{2, 7, 2, 14, 1, 1, {0x07, 0x38}, 0}, 46584, 16946, 4082, 0},
        {{2, 7, 2, 16, 1, 1, {0x07, 0x38}, 0}, 37656, 16010, 4658, LIVENESS},
        {{2, 7, 2, 32, 1, 1, {0x07, 0x38}, 0}, 1170, 467, 134, LIVENESS},
        {{3, 9, 2, 15, 1, 1, {0x007, 0x038, 0x1c0}, 0}, 4720, 1297, 181, 0},
    };
    for (size_t at = 0; at < sizeof table / sizeof *table; ++at) {
        const phx_verify_told told = told_of(&table[at].scope);
        CHECK(told.generated == table[at].generated && told.distinct == table[at].distinct);
        CHECK(told.endless == table[at].endless && told.violated == table[at].violated);
    }
    phx_verify_scope safe = CONTENDED;
    safe.liveness = 0;
    const phx_verify_told told = told_of(&safe);
    CHECK(told.distinct == 16874 && told.components == 0);
}

/* Each fault of the protocol is seen by its property, at the end of a shortest run. */
static void case_faults_end_the_search(void)
{
    static const struct {
        uint32_t rule;
        uint32_t property;
        uint32_t action;
        uint32_t states;
    } table[] = {
        {PHX_VERIFY_UNGUARDED, PHX_VERIFY_NO_THEFT, PHX_VERIFY_COMMIT, 9},
        {PHX_VERIFY_DEAD_PLAN, PHX_VERIFY_PLAN_FEASIBLE, PHX_VERIFY_PLAN, 4},
        {PHX_VERIFY_FOREIGN_PLAN, PHX_VERIFY_PLAN_FEASIBLE, PHX_VERIFY_PLAN, 4},
        {PHX_VERIFY_EMPTY_PLAN, PHX_VERIFY_PLAN_FEASIBLE, PHX_VERIFY_PLAN, 4},
        {PHX_VERIFY_LOOSE_SEAL, PHX_VERIFY_SEAL_FENCE, PHX_VERIFY_SEAL, 6},
        {PHX_VERIFY_ABORT_RUNS, PHX_VERIFY_PHASE_STEP, PHX_VERIFY_ABORT, 9},
        {PHX_VERIFY_NO_RESTORE, PHX_VERIFY_EPOCH_STEP, PHX_VERIFY_COMMIT, 5},
    };
    for (size_t at = 0; at < sizeof table / sizeof *table; ++at) {
        phx_verify_scope scope = CONTENDED;
        phx_verify_step steps[PATH_MAX];
        uint32_t count = 0;
        uint32_t alike = 1;
        scope.rules = table[at].rule;
        phx_verify *verify = begun(&scope);
        const phx_verify_told told = finished(verify);
        CHECK(told.violated == 1U << table[at].property);
        CHECK(phx_verify_path(verify, table[at].property, 0, steps, PATH_MAX, &count, &alike) ==
              PHX_OK);
        CHECK(count == table[at].states && alike == 0);
        CHECK(steps[0].action == PHX_VERIFY_INIT);
        CHECK(steps[count - 1].action == table[at].action);
        CHECK(phx_verify_judge_step(verify, &steps[count - 2].after, &steps[count - 1].after) >>
                  table[at].property &
              1);
        phx_verify_free(verify);
    }
}

/* Slices of one state find the same as one run. */
static void case_slices_find_the_same(void)
{
    static const uint32_t rules[] = {0, PHX_VERIFY_CRASH, PHX_VERIFY_NO_ABORT};
    for (size_t at = 0; at < sizeof rules / sizeof *rules; ++at) {
        phx_verify_scope scope = {2, 5, 1, rules[at], 0, 1, {0}, 0};
        const phx_verify_told whole = told_of(&scope);
        phx_verify *verify = begun(&scope);
        phx_verify_told told;
        memset(&told, 0, sizeof told);
        uint32_t slices = 0;
        for (; told.stage != PHX_VERIFY_DONE; ++slices) {
            CHECK(phx_verify_run(verify, 1) == PHX_OK);
            phx_verify_tell(verify, &told);
        }
        CHECK(slices > 2 * whole.distinct);
        CHECK(memcmp(&told, &whole, sizeof told) == 0);
        phx_verify_free(verify);
    }
}

/* What no bound allows is not taken, and what was found stays. */
static void case_bytes_are_bounded(void)
{
    phx_verify_scope scope = {2, 6, 2, 0, 0, 1, {0}, 0};
    const uint64_t wanted = told_of(&scope).bytes_peak;
    uint32_t given_up = 0;
    for (uint64_t most = 1; most < wanted; most += 1 + wanted / 50) {
        phx_verify *verify = NULL;
        phx_verify_told told;
        const char *why = NULL;
        scope.bytes_max = most;
        if (phx_verify_new(&scope, &verify) == PHX_GAVE_UP) {
            CHECK(verify == NULL);
            continue;
        }
        CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_GAVE_UP);
        CHECK(phx_verify_run(verify, UINT64_MAX) == PHX_GAVE_UP);
        phx_verify_tell(verify, &told);
        CHECK(told.bytes_peak <= most && told.stage != PHX_VERIFY_DONE);
        CHECK(phx_verify_validate(verify, &why) == PHX_OK);
        ++given_up;
        phx_verify_free(verify);
    }
    CHECK(given_up > 10);
    scope.bytes_max = wanted;
    CHECK(told_of(&scope).distinct == 43070);
}

#define R PHX_VERIFY_IN_RUN
#define P PHX_VERIFY_IN_PLAN
#define C PHX_VERIFY_IN_COMMIT
#define S PHX_VERIFY_IN_RESTORE
#define BIT(name) (1U << PHX_VERIFY_##name)

static void case_each_property_bites(void)
{
    static const phx_verify_job other = {0x38, 0, 1, R, 0};
    static const struct {
        phx_verify_job before;
        phx_verify_job after;
        uint32_t live;
        uint32_t states;
        uint32_t steps;
    } table[] = {
        /* owned, plan, sealed, phase, epoch; what holds: a commit, a seal, a plan, a restore */
        {{0x07, 0x46, 1, C, 0}, {0x46, 0x46, 1, S, 1}, 0x7e, 0, 0},
        {{0x46, 0x46, 1, R, 1}, {0x46, 0x46, 3, R, 1}, 0x7e, 0, 0},
        {{0x07, 0, 1, P, 0}, {0x07, 0x46, 1, C, 0}, 0x7e, 0, 0},
        {{0x46, 0x46, 1, S, 1}, {0x46, 0x46, 1, R, 1}, 0x7e, 0, 0},
        {{0x07, 0, 1, R, 0}, {0x07, 0, 1, P, 0}, 0x7e, 0, 0},
        /* what does not */
        {{0x07, 0x07, 1, R, 0}, {0x0f, 0x0f, 1, R, 0}, 0x7f, BIT(TYPE_OK), 0},
        {{0x07, 0, 1, R, 0}, {0x07, 0x80, 1, R, 0}, 0x7f, BIT(TYPE_OK), 0},
        {{0x07, 0, 1, R, 0},
         {0x07, 0, 9, R, 0},
         0x7f,
         BIT(TYPE_OK) | BIT(SEAL_BOUND),
         BIT(SEAL_FENCE)},
        {{0x07, 0, 1, R, 0}, {0x07, 0, 3, R, 0}, 0x7f, BIT(SEAL_BOUND), BIT(SEAL_FENCE)},
        {{0x07, 0, 1, R, 0}, {0x07, 0, 0, R, 0}, 0x7f, BIT(SEAL_BOUND), BIT(SEAL_FENCE)},
        {{0x07, 7, 1, S, 1}, {0x07, 7, 2, R, 1}, 0x7f, BIT(RUN_WITNESS), BIT(SEAL_FENCE)},
        {{0x07, 7, 1, C, 0}, {0x07, 7, 1, S, 0}, 0x7f, BIT(RESTORE_READY), 0},
        {{0x07, 7, 1, C, 2}, {0x07, 7, 1, S, 3}, 0x7f, BIT(EPOCH_BOUND), 0},
        {{0x07, 0x43, 1, C, 0}, {0x07, 0x43, 1, S, 1}, 0x7f, BIT(FOOTPRINT), BIT(COMMIT_PLANNED)},
        {{0x07, 0, 1, C, 0}, {0, 0, 1, S, 1}, 0x7f, BIT(NON_EMPTY), 0},
        {{0x07, 7, 1, R, 2}, {0x07, 7, 1, R, 1}, 0x7f, 0, BIT(EPOCH_MONOTONE) | BIT(EPOCH_STEP)},
        {{0x07, 7, 1, C, 0}, {0x07, 7, 1, S, 2}, 0x7f, 0, BIT(EPOCH_STEP)},
        {{0x07, 7, 1, S, 0}, {0x07, 7, 1, R, 1}, 0x7f, 0, BIT(EPOCH_STEP)},
        {{0x07, 7, 1, R, 2}, {0x07, 7, 3, R, 2}, 0x7f, 0, BIT(SEAL_FENCE)},
        {{0x07, 7, 1, S, 1}, {0x07, 7, 3, S, 1}, 0x7f, 0, BIT(SEAL_FENCE)},
        {{0x07, 7, 3, R, 2}, {0x07, 7, 5, R, 2}, 0x7f, 0, BIT(SEAL_FENCE)},
        {{0x07, 0, 1, R, 0}, {0x03, 0, 1, R, 0}, 0x7f, 0, BIT(NO_THEFT)},
        {{0x07, 0, 1, P, 0}, {0x07, 0, 1, C, 0}, 0x7e, 0, BIT(PLAN_FEASIBLE)},
        {{0x07, 0, 1, P, 0}, {0x07, 1, 1, C, 0}, 0x7e, 0, BIT(PLAN_FEASIBLE)},
        {{0x07, 0, 1, P, 0}, {0x07, 8, 1, C, 0}, 0x7e, 0, BIT(PLAN_FEASIBLE)},
        {{0x07, 7, 1, C, 0}, {0x07, 7, 1, R, 0}, 0x7e, 0, BIT(PHASE_STEP)},
        {{0x07, 7, 1, S, 1}, {0x07, 7, 1, C, 1}, 0x7e, 0, BIT(PHASE_STEP)},
        {{0x07, 7, 1, S, 1}, {0x07, 7, 1, P, 1}, 0x7e, 0, BIT(PHASE_STEP)},
        {{0x07, 0, 1, R, 0}, {0x07, 0, 1, P, 0}, 0x7f, 0, BIT(DETECT_REAL)},
    };
    phx_verify *verify = begun(&CONTENDED);
    for (size_t at = 0; at < sizeof table / sizeof *table; ++at) {
        for (uint32_t job = 0; job < 2; ++job) {
            phx_verify_state before = {{{0}}, table[at].live};
            phx_verify_state after = before;
            before.job[job] = table[at].before;
            after.job[job] = table[at].after;
            before.job[1 - job] = other;
            after.job[1 - job] = other;
            CHECK(phx_verify_judge_state(verify, &after) == table[at].states);
            CHECK(phx_verify_judge_step(verify, &before, &after) == table[at].steps);
        }
    }
    phx_verify_state dead = {{{0x07, 0, 1, R, 0}, {0x38, 0, 1, R, 0}}, 0x0f};
    CHECK(phx_verify_judge_state(verify, &dead) == BIT(TYPE_OK)); /* more failures than MaxFail */
    phx_verify_free(verify);
}

/* Packed states, of one word and of two, come back as they went. */
static void case_states_are_packed_whole(void)
{
    static const phx_verify_scope scopes[] = {{2, 7, 2, 0, 0, 0, {0}, 0},
                                              {3, 12, 3, 0, 0, 0, {0}, 0},
                                              {1, 16, 7, 0, 0, 0, {0}, 0},
                                              {4, 8, 0, 0, 0, 0, {0}, 0}};
    for (size_t at = 0; at < sizeof scopes / sizeof *scopes; ++at) {
        phx_verify_rules rules;
        CHECK(phx_verify_words(&scopes[at]) == (at == 1 || at == 3 ? 2 : 1));
        CHECK(phx_verify_rules_init(&rules, &scopes[at]));
        uint64_t drawn = 7;
        for (uint32_t turn = 0; turn < 2000; ++turn) {
            phx_verify_state state;
            phx_verify_state back;
            phx_verify_key key;
            memset(&state, 0, sizeof state);
            uint32_t word[17];
            for (size_t one = 0; one < 17; ++one) {
                drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407U;
                word[one] = (uint32_t)(drawn >> 33);
            }
            state.live = word[16] & rules.all;
            for (uint32_t job = 0; job < scopes[at].jobs; ++job) {
                const uint32_t *of = word + 4 * job;
                state.job[job] = (phx_verify_job){
                    (uint16_t)(of[0] & rules.all), (uint16_t)(of[1] & rules.all),
                    (uint16_t)(of[2] & phx_low(scopes[at].fails + 1)), (uint8_t)(of[3] & 3),
                    (uint8_t)((of[3] >> 2) % (scopes[at].fails + 1))};
            }
            phx_verify_pack(&rules, &state, &key);
            phx_verify_unpack(&rules, key.word, &back);
            CHECK(memcmp(&state, &back, sizeof state) == 0);
        }
    }
}

static void case_scopes_that_are_none_are_refused(void)
{
    static const phx_verify_scope bad[] = {
        {0, 7, 2, 0, 0, 0, {0}, 0},       {5, 16, 0, 0, 0, 0, {0}, 0},
        {2, 5, 2, 0, 0, 0, {0}, 0},       {1, 17, 2, 0, 0, 0, {0}, 0},
        {1, 16, 8, 0, 0, 0, {0}, 0},      {4, 12, 2, 0, 0, 0, {0}, 0},
        {2, 7, 2, 16384, 0, 0, {0}, 0},   {2, 7, 2, 0, 1, 0, {7, 0x1c}, 0},
        {2, 7, 2, 0, 1, 0, {7, 0x18}, 0}, {2, 7, 2, 0, 1, 0, {7, 0x98}, 0},
        {2, 7, 2, 0, 1, 0, {7, 0}, 0},
    };
    phx_verify *verify = NULL;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; ++at) {
        CHECK(phx_verify_words(&bad[at]) == 0);
        CHECK(phx_verify_new(&bad[at], &verify) == PHX_BAD_GANG && verify == NULL);
    }
    phx_verify_free(NULL);
    CHECK(strcmp(phx_verify_property_name(PHX_VERIFY_ESR), "ESR") == 0);
    CHECK(strcmp(phx_verify_property_name(PHX_VERIFY_PROPERTIES), "Unknown") == 0);
    CHECK(strcmp(phx_verify_action_name(PHX_VERIFY_CRASHED), "Crash") == 0);
    CHECK(strcmp(phx_verify_action_name(PHX_VERIFY_ACTIONS), "Unknown") == 0);
}

/* Successors of a state by hand: a leaf fails, the job sees it, seals. */
static void case_steps_are_told(void)
{
    phx_verify *verify = begun(&CONTENDED);
    const phx_verify_told told = finished(verify);
    phx_verify_state state;
    uint32_t count = 0;
    CHECK(phx_verify_at(verify, told.distinct, &state) == PHX_BAD_LEAF);
    CHECK(phx_verify_at(verify, 0, &state) == PHX_OK);
    CHECK(state.live == 0x7f && state.job[0].owned == 7 && state.job[1].owned == 0x38);
    CHECK(phx_verify_next(verify, &state, verify->step, 10, &count) == PHX_NO_ROOM);
    CHECK(count == 7 + 2 * (128 + 4));
    phx_verify_step *steps = calloc(count, sizeof *steps);
    state.live = 0x7d;
    CHECK(phx_verify_next(verify, &state, steps, count, &count) == PHX_OK && count == 9);
    CHECK(steps[0].action == PHX_VERIFY_FAIL && steps[0].leaves == 1);
    CHECK(steps[0].job == PHX_NONE && steps[0].after.live == 0x7c);
    CHECK(steps[6].action == PHX_VERIFY_DETECT && steps[6].job == 0 && steps[6].leaves == 2);
    CHECK(steps[7].action == PHX_VERIFY_SEAL && steps[7].times == 1);
    CHECK(steps[8].action == PHX_VERIFY_SEAL && steps[8].job == 1);
    free(steps);
    phx_verify_free(verify);
}

/* Every invariant of the search's own arrays is seen broken. */
static void case_validate_bites(void)
{
    const char *why = NULL;
    phx_verify *verify = begun(&CONTENDED);
    finished(verify);
    const size_t slots = verify->slots;
    verify->slots = (size_t)verify->told.distinct;
    CHECK(phx_verify_validate(verify, &why) == PHX_BROKEN && strncmp(why, "V2:", 3) == 0);
    verify->slots = slots;
    const uint64_t kept = verify->word[5];
    verify->word[5] = verify->word[6];
    CHECK(phx_verify_validate(verify, &why) == PHX_BROKEN && strncmp(why, "V1:", 3) == 0);
    verify->word[5] = kept;
    const uint32_t depth = verify->told.depth;
    verify->level[2] = verify->level[1];
    CHECK(phx_verify_validate(verify, &why) == PHX_BROKEN && strncmp(why, "V3:", 3) == 0);
    verify->told.depth = 1;
    ++verify->told.generated;
    CHECK(phx_verify_validate(verify, &why) == PHX_BROKEN && strncmp(why, "V4:", 3) == 0);
    --verify->told.generated;
    verify->rules.scope.bytes_max = verify->told.bytes - 1;
    CHECK(phx_verify_validate(verify, &why) == PHX_BROKEN && strncmp(why, "V5:", 3) == 0);
    verify->told.depth = depth;
    phx_verify_free(verify);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(counts_are_those_of_tlc),
                                       CASE(survivors_are_pinned),
                                       CASE(a_lost_commit_is_stuck_without_abort),
                                       CASE(a_crash_loop_is_fair),
                                       CASE(a_counterexample_is_a_shortest),
                                       CASE(a_loop_that_owes_an_action_is_none),
                                       CASE(each_rule_changes_what_it_says),
                                       CASE(faults_end_the_search),
                                       CASE(slices_find_the_same),
                                       CASE(bytes_are_bounded),
                                       CASE(each_property_bites),
                                       CASE(states_are_packed_whole),
                                       CASE(scopes_that_are_none_are_refused),
                                       CASE(steps_are_told),
                                       CASE(validate_bites)};
    return run_cases("test_verify", cases, sizeof cases / sizeof *cases, count, words);
}
