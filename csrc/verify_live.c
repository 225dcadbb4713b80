/* What must hold for ever, under weak fairness: strongly connected components, each judged once.
 *
 * A run may stay in a component for ever iff for each fair action either some state of it has the
 * action disabled, or some step inside it is one; a single state counts, since a run may stutter.
 * The second asks for nothing more: every fair action leads to a phase in which it is disabled.
 *   ESR         is violated iff such a component holds a state that is not healthy.
 *   ReformLive  is violated iff the states in which the job does not run have such a component.
 * Components of those states lie inside components of all states, so only where one of these has
 * several states is a second search made.
 */
#include "mutants.h"
#include "verify_graph.h"

#include <stdlib.h>
#include <string.h>

/* What components are of: all states, or those of one in which a job does not run. */
#define WHOLE PHX_NONE

void phx_verify_pass_free(phx_verify_pass *pass)
{
    free(pass->rank);
    free(pass->frame);
    free(pass->successor);
    free(pass->stack);
}

static inline const uint64_t *word_at(const phx_verify *verify, uint32_t index)
{
    return verify->word + (size_t)index * verify->rules.words;
}

static phx_status pass_begin(phx_verify *verify, phx_verify_pass *pass)
{
    const size_t count = (size_t)verify->told.distinct;
    const phx_status status = phx_verify_reserve(verify, (void **)&pass->rank, &pass->rank_room,
                                                 count, sizeof *pass->rank);
    if (status == PHX_OK) {
        memset(pass->rank, 0, count * sizeof *pass->rank);
        pass->low = 1;
        pass->high = UINT32_MAX;
        pass->root = 0;
    }
    return status;
}

static inline int is_wide(const phx_verify *verify, uint32_t index)
{
    return phx_bit(verify->wide, index);
}

/* Whether a state belongs to a second search. */
static int is_part(const phx_verify *verify, uint32_t index, uint32_t job)
{
    phx_verify_state state;
    if (!is_wide(verify, index)) {
        return 0;
    }
    phx_verify_unpack(&verify->rules, word_at(verify, index), &state);
    return state.job[job].phase != PHX_VERIFY_IN_RUN;
}

/* Whether a step stays among the states that are searched. */
static inline int stays(const phx_verify *verify, uint32_t job, uint32_t from, uint32_t to,
                        const phx_verify_step *step)
{
    return job == WHOLE || (step->after.job[job].phase != PHX_VERIFY_IN_RUN &&
                            verify->whole.rank[from] == verify->whole.rank[to]);
}

/* Meets a state: its successors are made and wait. */
static phx_status enter(phx_verify *verify, phx_verify_pass *pass, uint32_t job, uint32_t index)
{
    phx_verify_state before;
    uint32_t enabled = 0;
    const uint32_t count = phx_verify_expand(verify, index, &before, &enabled);
    phx_status status = phx_verify_reserve(verify, (void **)&pass->successor, &pass->waiting_room,
                                           (size_t)pass->waiting + count, sizeof(uint32_t));
    if (status == PHX_OK) {
        status = phx_verify_reserve(verify, (void **)&pass->frame, &pass->frame_room,
                                    (size_t)pass->frames + 1, sizeof *pass->frame);
    }
    if (status == PHX_OK) { /* every frame may be on the stack of states at once */
        status = phx_verify_reserve(verify, (void **)&pass->stack, &pass->open_room,
                                    (size_t)pass->open + pass->frames + 1, sizeof(uint32_t));
    }
    if (status != PHX_OK) {
        return status;
    }
    const uint32_t start = pass->waiting;
    for (uint32_t at = 0; at < count; ++at) {
        const uint32_t to = phx_verify_find(verify, &verify->probe[at]);
        if (to != index && stays(verify, job, index, to, &verify->step[at])) {
            pass->successor[pass->waiting++] = to;
            __builtin_prefetch(&pass->rank[to]);
        }
    }
    pass->rank[index] = pass->low++;
    pass->frame[pass->frames++] = (phx_verify_frame){index, start, 1, enabled};
    return PHX_OK;
}

static void found(phx_verify *verify, uint32_t property, uint32_t job, uint32_t index,
                  uint32_t alike)
{
    const uint32_t at = property == PHX_VERIFY_REFORM_LIVE ? PHX_VERIFY_PROPERTIES + job : property;
    phx_verify_fault *fault = &verify->fault[at];
    verify->told.violated |= UINT32_C(1) << property;
    if (property == PHX_VERIFY_REFORM_LIVE) {
        verify->told.stuck_jobs |= UINT32_C(1) << job;
    }
    /* The lowest index has a shortest way to it. */
    const int nearer = PHX_MUTANT_LAST_STUCK ? index > fault->index : index < fault->index;
    if (!fault->found || nearer) {
        fault->found = 1;
        fault->index = index;
        fault->alike = alike;
    }
}

/* A component that a run can stay in for ever violates what it does not meet. */
static void judge(phx_verify *verify, uint32_t job, uint32_t index, uint32_t alike, int healthy)
{
    phx_verify_state state;
    verify->told.endless += job == WHOLE;
    if (job != WHOLE) {
        found(verify, PHX_VERIFY_REFORM_LIVE, job, index, alike);
        return;
    }
    if (!healthy) {
        found(verify, PHX_VERIFY_ESR, 0, index, alike);
    }
    if (alike == 1) {
        phx_verify_unpack(&verify->rules, word_at(verify, index), &state);
        for (uint32_t other = 0; other < verify->rules.scope.jobs; ++other) {
            if (state.job[other].phase != PHX_VERIFY_IN_RUN) {
                found(verify, PHX_VERIFY_REFORM_LIVE, other, index, alike);
            }
        }
    }
}

static void judge_single(phx_verify *verify, uint32_t job, const phx_verify_frame *frame)
{
    phx_verify_state state;
    const uint32_t disabled = PHX_MUTANT_DISABLED_IGNORED ? 0 : ~frame->enabled;
    if ((disabled & verify->rules.fair) == verify->rules.fair && !PHX_MUTANT_SINGLES_IGNORED) {
        phx_verify_unpack(&verify->rules, word_at(verify, frame->index), &state);
        judge(verify, job, frame->index, 1, phx_verify_healthy(&verify->rules, &state));
    }
}

/* Several states of one component. */
static void judge_several(phx_verify *verify, uint32_t job, const uint32_t *member, uint32_t count)
{
    uint32_t lowest = PHX_NONE;
    uint32_t disabled = 0; /* somewhere */
    int healthy = 1;
    for (uint32_t one = 0; one < count; ++one) {
        phx_verify_state state;
        uint32_t enabled = 0;
        phx_verify_unpack(&verify->rules, word_at(verify, member[one]), &state);
        phx_verify_steps(&verify->rules, &state, verify->step, &enabled);
        disabled |= PHX_MUTANT_DISABLED_IGNORED ? 0 : ~enabled;
        healthy &= phx_verify_healthy(&verify->rules, &state);
        lowest = member[one] < lowest ? member[one] : lowest;
    }
    if ((disabled & verify->rules.fair) == verify->rules.fair || PHX_MUTANT_OWED_IGNORED) {
        judge(verify, job, lowest, count, healthy);
    }
}

/* A component is complete: the state that it was entered by and those above it on the stack. */
static void complete(phx_verify *verify, phx_verify_pass *pass, uint32_t job,
                     const phx_verify_frame *frame)
{
    const uint32_t number = pass->high--;
    const uint32_t rank = pass->rank[frame->index];
    const uint32_t end = pass->open;
    while (pass->open > 0 && pass->rank[pass->stack[pass->open - 1]] >= rank) {
        pass->rank[pass->stack[--pass->open]] = number;
    }
    const uint32_t count = end - pass->open + 1;
    pass->rank[frame->index] = number;
    pass->low -= count;
    if (job == WHOLE) {
        ++verify->told.components;
        verify->told.largest = count > verify->told.largest ? count : verify->told.largest;
    }
    if (count == 1) {
        judge_single(verify, job, frame);
        return;
    }
    pass->stack[end] = frame->index; /* its room was made when it was met */
    uint32_t *member = pass->stack + pass->open;
    for (uint32_t at = 0; job == WHOLE && at < count; ++at) {
        phx_bit_set(verify->wide, member[at]);
    }
    judge_several(verify, job, member, count);
}

/* Leaves a state whose successors are all met. */
static void leave(phx_verify *verify, phx_verify_pass *pass, uint32_t job)
{
    const phx_verify_frame frame = pass->frame[--pass->frames];
    if (frame.root) {
        complete(verify, pass, job, &frame);
    } else {
        pass->stack[pass->open++] = frame.index;
    }
    if (pass->frames > 0) {
        phx_verify_frame *above = &pass->frame[pass->frames - 1];
        if (pass->rank[frame.index] < pass->rank[above->index]) {
            pass->rank[above->index] = pass->rank[frame.index];
            above->root = 0;
        }
    }
}

/* Goes on with one search until it is complete or so many states were met. */
static phx_status search_on(phx_verify *verify, phx_verify_pass *pass, uint32_t job, uint64_t *left)
{
    const uint32_t count = (uint32_t)verify->told.distinct;
    while (*left > 0 && (pass->frames > 0 || pass->root < count)) {
        uint32_t met = PHX_NONE;
        if (pass->frames == 0) {
            const uint32_t root = pass->root++;
            if (pass->rank[root] == 0 && (job == WHOLE || is_part(verify, root, job))) {
                met = root;
            } else {
                continue;
            }
        } else {
            phx_verify_frame *top = &pass->frame[pass->frames - 1];
            if (top->first == pass->waiting) {
                leave(verify, pass, job);
                continue;
            }
            const uint32_t to = pass->successor[--pass->waiting];
            if (pass->rank[to] == 0) {
                met = to;
            } else if (pass->rank[to] < pass->rank[top->index]) {
                pass->rank[top->index] = pass->rank[to];
                top->root = 0;
            }
        }
        if (met != PHX_NONE) {
            const phx_status status = enter(verify, pass, job, met);
            if (status != PHX_OK) {
                pass->root -= pass->frames == 0;
                pass->waiting += pass->frames > 0;
                return status;
            }
            ++verify->told.expanded;
            --*left;
        }
    }
    return PHX_OK;
}

static phx_status components(phx_verify *verify, uint64_t *left)
{
    const size_t words = (size_t)PHX_WORDS(verify->told.distinct);
    phx_status status = PHX_OK;
    if (verify->whole.low == 0) {
        status = phx_verify_reserve(verify, (void **)&verify->wide, &verify->wide_room, words,
                                    sizeof *verify->wide);
        if (status == PHX_OK) {
            memset(verify->wide, 0, words * sizeof *verify->wide);
            status = pass_begin(verify, &verify->whole);
        }
        verify->told.expanded = 0;
    }
    if (status == PHX_OK) {
        status = search_on(verify, &verify->whole, WHOLE, left);
    }
    if (status == PHX_OK && verify->whole.frames == 0 &&
        verify->whole.root == verify->told.distinct) {
        const int several = verify->told.largest > 1;
        verify->told.stage = several ? PHX_VERIFY_JOBS : PHX_VERIFY_DONE;
    }
    return status;
}

static phx_status jobs(phx_verify *verify, uint64_t *left)
{
    phx_verify_pass *pass = &verify->part;
    phx_status status = PHX_OK;
    while (status == PHX_OK && *left > 0 && verify->told.stage == PHX_VERIFY_JOBS) {
        if (pass->low == 0) {
            status = pass_begin(verify, pass);
            verify->told.expanded = 0;
        }
        if (status == PHX_OK) {
            status = search_on(verify, pass, verify->part_job, left);
        }
        if (status == PHX_OK && pass->frames == 0 && pass->root == verify->told.distinct) {
            pass->low = 0;
            if (++verify->part_job == verify->rules.scope.jobs) {
                verify->told.stage = PHX_VERIFY_DONE;
            }
        }
    }
    return status;
}

phx_status phx_verify_liveness(phx_verify *verify, uint64_t *left)
{
    phx_status status = PHX_OK;
    if (verify->told.stage == PHX_VERIFY_COMPONENTS) {
        status = components(verify, left);
    }
    if (status == PHX_OK && verify->told.stage == PHX_VERIFY_JOBS) {
        status = jobs(verify, left);
    }
    return status;
}
