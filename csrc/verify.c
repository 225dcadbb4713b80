/* The breadth-first search: states in an array that is the queue, a table of indexes beside it. */
#include "verify.h"

#include "mutants.h"
#include "verify_graph.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 1024

static const char *const PROPERTIES[] = {
    "TypeOK",       "SealBound",     "RunWitness", "RestoreReady", "EpochBound", "Footprint",
    "NonEmpty",     "EpochMonotone", "EpochStep",  "SealFence",    "NoTheft",    "CommitPlanned",
    "PlanFeasible", "PhaseStep",     "DetectReal", "ReformLive",   "ESR"};
static const char *const ACTIONS[] = {"Init",  "Fail", "Detect",  "Plan", "Commit",
                                      "Abort", "Seal", "Restore", "Crash"};

_Static_assert(sizeof PROPERTIES / sizeof *PROPERTIES == PHX_VERIFY_PROPERTIES, "a name each");
_Static_assert(sizeof ACTIONS / sizeof *ACTIONS == PHX_VERIFY_ACTIONS, "a name each");

const char *phx_verify_property_name(uint32_t property)
{
    return property < PHX_VERIFY_PROPERTIES ? PROPERTIES[property] : "Unknown";
}

const char *phx_verify_action_name(uint32_t action)
{
    return action < PHX_VERIFY_ACTIONS ? ACTIONS[action] : "Unknown";
}

/* Counts bytes before they are asked for. */
static phx_status charge(phx_verify *verify, uint64_t more)
{
    const uint64_t most = verify->rules.scope.bytes_max;
    const uint64_t bytes = verify->told.bytes + more;
    if (most != 0 && bytes > most && !PHX_MUTANT_UNBOUNDED) {
        return PHX_GAVE_UP;
    }
    verify->told.bytes = bytes;
    if (bytes > verify->told.bytes_peak) {
        verify->told.bytes_peak = bytes;
    }
    return PHX_OK;
}

phx_status phx_verify_reserve(phx_verify *verify, void **array, size_t *room, size_t count,
                              size_t size)
{
    if (count <= *room) {
        return PHX_OK;
    }
    size_t wanted = *room + *room / 2;
    wanted = wanted < count ? count : wanted;
    wanted = wanted < 64 ? 64 : wanted;
    const uint64_t more = (uint64_t)(wanted - *room) * size;
    const phx_status status = charge(verify, more);
    if (status != PHX_OK) {
        return status;
    }
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL) {
        verify->told.bytes -= more;
        return PHX_NO_MEMORY;
    }
    *array = grown;
    *room = wanted;
    return PHX_OK;
}

static inline const uint64_t *word_of(const phx_verify *verify, uint64_t index)
{
    return verify->word + index * verify->rules.words;
}

static inline uint64_t hash_of(const uint64_t *word, uint32_t words)
{
    uint64_t hash = word[0] * UINT64_C(0x9e3779b97f4a7c15);
    if (words > 1) {
        hash = (hash ^ hash >> 29 ^ word[1]) * UINT64_C(0xd6e8feb86659fd93);
    }
    hash ^= hash >> 32;
    return hash * UINT64_C(0xff51afd7ed558ccd);
}

static inline int same(const uint64_t *one, const uint64_t *other, uint32_t words)
{
    return one[0] == other[0] && (words == 1 || one[1] == other[1]);
}

/* The slot of a key: where its index is, or 0 where it would be. */
static inline size_t slot_of(const phx_verify *verify, const phx_verify_probe *probe)
{
    const uint32_t words = verify->rules.words;
    size_t slot = (size_t)(probe->hash >> verify->slot_shift);
    while (verify->table[slot] != 0) {
        if (same(word_of(verify, verify->table[slot] - 1), probe->key.word, words) ||
            PHX_MUTANT_COLLISION_EQUAL) {
            break;
        }
        slot = (slot + 1) & (verify->slots - 1);
    }
    return slot;
}

uint32_t phx_verify_find(const phx_verify *verify, const phx_verify_probe *probe)
{
    return verify->table[slot_of(verify, probe)] - 1; /* 0 becomes PHX_NONE */
}

/* A table of that many slots with all states in it. */
static phx_status make_table(phx_verify *verify, size_t slots, uint32_t shift)
{
    uint32_t *table = calloc(slots, sizeof *table);
    if (table == NULL) {
        return PHX_NO_MEMORY;
    }
    free(verify->table);
    verify->table = table;
    verify->slots = slots;
    verify->slot_shift = shift;
    phx_verify_probe probe = {{{0}}, 0};
    for (uint64_t at = 0; at < verify->told.distinct; ++at) {
        memcpy(probe.key.word, word_of(verify, at), verify->rules.words * sizeof(uint64_t));
        probe.hash = hash_of(probe.key.word, verify->rules.words);
        verify->table[slot_of(verify, &probe)] = (uint32_t)at + 1;
    }
    return PHX_OK;
}

/* Room for so many more states, the table below its load. */
static phx_status reserve_states(phx_verify *verify, size_t more)
{
    const uint64_t wanted = verify->told.distinct + more;
    if (wanted >= UINT32_MAX) {
        return PHX_GAVE_UP;
    }
    phx_status status = phx_verify_reserve(verify, (void **)&verify->word, &verify->word_room,
                                           (size_t)wanted * verify->rules.words, sizeof(uint64_t));
    size_t slots = verify->slots < SLOTS_MIN ? SLOTS_MIN : verify->slots;
    uint32_t shift = verify->slots < SLOTS_MIN ? 54 : verify->slot_shift;
    while (wanted * 10 >= (uint64_t)slots * 6) {
        slots *= 2;
        --shift;
    }
    if (status != PHX_OK || slots == verify->slots) {
        return status;
    }
    /* Both tables stand side by side for a moment. */
    const uint64_t old = verify->slots * sizeof(uint32_t);
    status = charge(verify, slots * sizeof(uint32_t));
    if (status == PHX_OK) {
        status = make_table(verify, slots, shift);
        verify->told.bytes -= status == PHX_OK ? old : slots * sizeof(uint32_t);
    }
    return status;
}

/* A state is there afterwards, whether it was or not. */
static void insert(phx_verify *verify, const phx_verify_probe *probe)
{
    const size_t slot = slot_of(verify, probe);
    if (verify->table[slot] == 0) {
        const uint32_t words = verify->rules.words;
        const uint64_t index = verify->told.distinct++;
        verify->word[index * words] = probe->key.word[0];
        if (words > 1) {
            verify->word[index * words + 1] = probe->key.word[1];
        }
        verify->table[slot] = (uint32_t)index + 1;
    }
}

void phx_verify_probe_of(const phx_verify *verify, const phx_verify_state *state,
                         phx_verify_probe *probe)
{
    phx_verify_pack(&verify->rules, state, &probe->key);
    probe->hash = hash_of(probe->key.word, verify->rules.words);
    __builtin_prefetch(&verify->table[probe->hash >> verify->slot_shift]);
}

uint32_t phx_verify_expand(phx_verify *verify, uint32_t index, phx_verify_state *before,
                           uint32_t *enabled)
{
    phx_verify_unpack(&verify->rules, word_of(verify, index), before);
    const uint32_t count = phx_verify_steps(&verify->rules, before, verify->step, enabled);
    for (uint32_t at = 0; at < count; ++at) {
        phx_verify_probe_of(verify, &verify->step[at].after, &verify->probe[at]);
    }
    for (uint32_t at = 0; at < count; ++at) {
        const uint32_t found = verify->table[verify->probe[at].hash >> verify->slot_shift];
        __builtin_prefetch(word_of(verify, found == 0 ? 0 : found - 1));
    }
    return count;
}

static phx_status try_initial(phx_verify *verify, const uint32_t *owned)
{
    phx_verify_state state;
    phx_verify_probe probe;
    memset(&state, 0, sizeof state);
    state.live = verify->rules.all;
    for (uint32_t job = 0; job < verify->rules.scope.jobs; ++job) {
        if (phx_popcount(owned[job]) <= verify->rules.scope.fails) {
            return PHX_OK;
        }
        state.job[job].owned = (uint16_t)owned[job];
        state.job[job].sealed = 1;
    }
    const phx_status status = reserve_states(verify, 1);
    if (status == PHX_OK) {
        phx_verify_probe_of(verify, &state, &probe);
        insert(verify, &probe);
        ++verify->told.generated;
        ++verify->told.initial;
        ++verify->told.steps[PHX_VERIFY_INIT];
    }
    return status;
}

/* Initial states: every map from leaves to a job or none, the number whose digits it is going up.
 */
static phx_status begin(phx_verify *verify, uint64_t *left)
{
    const phx_verify_scope *scope = &verify->rules.scope;
    uint64_t end = 1;
    for (uint32_t leaf = 0; leaf < scope->leaves; ++leaf) {
        end *= scope->jobs + 1;
    }
    if (scope->started) {
        end = 1;
    }
    for (; verify->start_code < end && *left > 0; --*left) {
        uint32_t owned[PHX_VERIFY_JOBS_MAX + 1] = {0};
        uint64_t code = verify->start_code;
        for (uint32_t leaf = 0; leaf < scope->leaves; ++leaf, code /= scope->jobs + 1) {
            owned[code % (scope->jobs + 1)] |= UINT32_C(1) << leaf;
        }
        const phx_status status = try_initial(verify, scope->started ? scope->start : owned + 1);
        if (status != PHX_OK) {
            return status;
        }
        ++verify->start_code;
    }
    if (verify->start_code >= end && verify->told.depth == 0) {
        verify->told.depth = 1;
        verify->level[1] = (uint32_t)verify->told.distinct;
    }
    return PHX_OK;
}

/* The lowest property that a step breaks ends the search, as TLC does. */
static void stop_at(phx_verify *verify, uint32_t index, const phx_verify_step *step,
                    uint32_t broken)
{
    const uint32_t property = phx_ctz(broken);
    verify->fault[property] = (phx_verify_fault){1, index, 0, *step};
    verify->told.violated |= UINT32_C(1) << property;
    verify->told.stage = PHX_VERIFY_DONE;
}

/* Expands the next state: all of its steps, or none where there is no room. */
static phx_status expand_next(phx_verify *verify)
{
    phx_verify_told *told = &verify->told;
    phx_verify_state before;
    uint32_t enabled = 0;
    if (verify->next == verify->level[told->depth]) {
        if (told->depth == PHX_VERIFY_LEVELS_MAX) {
            return PHX_GAVE_UP;
        }
        verify->level[++told->depth] = (uint32_t)told->distinct;
    }
    const uint32_t count = phx_verify_expand(verify, verify->next, &before, &enabled);
    const phx_status status = reserve_states(verify, count);
    if (status != PHX_OK) {
        return status;
    }
    for (uint32_t at = 0; at < count; ++at) {
        const phx_verify_step *step = &verify->step[at];
        uint32_t broken = phx_verify_broken_step(&verify->rules, &before, &step->after);
        told->generated += step->times;
        told->steps[step->action] += step->times;
        /* A state that breaks a rule may not fit its packed form. */
        broken = broken != 0 ? broken : phx_verify_broken_state(&verify->rules, &step->after);
        if (broken != 0) {
            stop_at(verify, verify->next, step, broken);
            return PHX_OK;
        }
        insert(verify, &verify->probe[at]);
    }
    ++verify->next;
    return PHX_OK;
}

static phx_status search(phx_verify *verify, uint64_t *left)
{
    phx_status status = verify->told.depth == 0 ? begin(verify, left) : PHX_OK;
    while (status == PHX_OK && *left > 0 && verify->told.stage == PHX_VERIFY_SEARCH) {
        if (verify->next == verify->told.distinct) {
            const int live = verify->rules.scope.liveness != 0;
            verify->told.stage = live ? PHX_VERIFY_COMPONENTS : PHX_VERIFY_DONE;
        } else {
            status = expand_next(verify);
            --*left;
        }
    }
    verify->told.expanded = verify->next;
    return status;
}

phx_status phx_verify_run(phx_verify *verify, uint64_t states)
{
    uint64_t left = states;
    phx_status status = PHX_OK;
    if (verify->told.stage == PHX_VERIFY_SEARCH) {
        status = search(verify, &left);
    }
    if (status == PHX_OK && left > 0 && verify->told.stage != PHX_VERIFY_SEARCH) {
        status = phx_verify_liveness(verify, &left);
    }
    return status;
}

uint32_t phx_verify_words(const phx_verify_scope *scope)
{
    phx_verify_rules rules;
    return phx_verify_rules_init(&rules, scope) ? rules.words : 0;
}

phx_status phx_verify_new(const phx_verify_scope *scope, phx_verify **out)
{
    phx_verify_rules rules;
    *out = NULL;
    if (!phx_verify_rules_init(&rules, scope)) {
        return PHX_BAD_GANG;
    }
    phx_verify *verify = calloc(1, sizeof *verify);
    if (verify == NULL) {
        return PHX_NO_MEMORY;
    }
    verify->rules = rules;
    size_t steps = 0;
    size_t probes = 0;
    phx_status status = charge(verify, sizeof *verify);
    if (status == PHX_OK) {
        status = phx_verify_reserve(verify, (void **)&verify->step, &steps, rules.steps_max,
                                    sizeof *verify->step);
    }
    if (status == PHX_OK) {
        status = phx_verify_reserve(verify, (void **)&verify->probe, &probes, rules.steps_max,
                                    sizeof *verify->probe);
    }
    if (status == PHX_OK) {
        status = reserve_states(verify, 1);
    }
    if (status != PHX_OK) {
        phx_verify_free(verify);
        return status;
    }
    *out = verify;
    return PHX_OK;
}

void phx_verify_free(phx_verify *verify)
{
    if (verify == NULL) {
        return;
    }
    phx_verify_pass_free(&verify->whole);
    phx_verify_pass_free(&verify->part);
    free(verify->wide);
    free(verify->probe);
    free(verify->step);
    free(verify->table);
    free(verify->word);
    free(verify);
}
