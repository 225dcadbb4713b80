/* What a search tells: counts, shortest runs to a violation, states and steps, its own soundness.
 */
#include "mutants.h"
#include "verify_graph.h"

#include <string.h>

void phx_verify_tell(const phx_verify *verify, phx_verify_told *out)
{
    *out = verify->told;
}

phx_status phx_verify_at(const phx_verify *verify, uint64_t index, phx_verify_state *out)
{
    if (index >= verify->told.distinct) {
        return PHX_BAD_LEAF;
    }
    phx_verify_unpack(&verify->rules, verify->word + index * verify->rules.words, out);
    return PHX_OK;
}

phx_status phx_verify_next(const phx_verify *verify, const phx_verify_state *before,
                           phx_verify_step *steps, uint32_t room, uint32_t *count)
{
    const phx_verify_rules *rules = &verify->rules;
    uint32_t enabled = 0;
    *count = rules->steps_max; /* nobody knows how many there are before they are made */
    if (room < rules->steps_max) {
        return PHX_NO_ROOM;
    }
    *count = phx_verify_steps(rules, before, steps, &enabled);
    return PHX_OK;
}

uint32_t phx_verify_judge_state(const phx_verify *verify, const phx_verify_state *state)
{
    return phx_verify_broken_state(&verify->rules, state);
}

uint32_t phx_verify_judge_step(const phx_verify *verify, const phx_verify_state *before,
                               const phx_verify_state *after)
{
    return phx_verify_broken_step(&verify->rules, before, after);
}

/* The first level that a state is in, from 1. */
static uint32_t level_of(const phx_verify *verify, uint32_t index)
{
    uint32_t level = 1;
    while (level < verify->told.depth && index >= verify->level[level]) {
        ++level;
    }
    return level;
}

/* The step by which a state of a level after the first was found: from the first state of the level
 * before that has one to it. */
static uint32_t found_by(phx_verify *verify, uint32_t index, uint32_t level, phx_verify_step *out)
{
    const uint32_t words = verify->rules.words;
    const uint64_t *wanted = verify->word + (size_t)index * words;
    for (uint32_t at = verify->level[level - 2]; at < verify->level[level - 1]; ++at) {
        phx_verify_state before;
        uint32_t enabled = 0;
        const uint32_t count = phx_verify_expand(verify, at, &before, &enabled);
        for (uint32_t step = 0; step < count; ++step) {
            if (memcmp(verify->probe[step].key.word, wanted, words * sizeof *wanted) == 0) {
                *out = verify->step[step];
                return at;
            }
        }
    }
    return PHX_NONE;
}

phx_status phx_verify_path(phx_verify *verify, uint32_t property, uint32_t job,
                           phx_verify_step *steps, uint32_t room, uint32_t *count, uint32_t *alike)
{
    const int live = property == PHX_VERIFY_REFORM_LIVE;
    *count = 0;
    *alike = 0;
    if (property >= PHX_VERIFY_PROPERTIES || (live && job >= verify->rules.scope.jobs)) {
        return PHX_MISFIT;
    }
    const phx_verify_fault *fault = &verify->fault[live ? PHX_VERIFY_PROPERTIES + job : property];
    if (!fault->found) {
        return PHX_MISFIT;
    }
    uint32_t index = fault->index;
    const uint32_t level = level_of(verify, index);
    *count = level + (fault->alike == 0);
    *alike = fault->alike;
    if (room < *count) {
        return PHX_NO_ROOM;
    }
    if (fault->alike == 0) {
        steps[level] = fault->step;
    }
    for (uint32_t at = level; at > 1; --at) {
        index = found_by(verify, index, at, &steps[at - 1]);
        if (index == PHX_NONE) {
            return PHX_BROKEN;
        }
    }
    memset(&steps[0], 0, sizeof steps[0]);
    phx_verify_unpack(&verify->rules, verify->word + (size_t)index * verify->rules.words,
                      &steps[0].after);
    steps[0].action = PHX_VERIFY_INIT;
    steps[0].job = PHX_NONE;
    steps[0].leaves = verify->rules.all;
    steps[0].times = 1;
    return PHX_OK;
}

static int table_is_of_states(const phx_verify *verify)
{
    const uint32_t words = verify->rules.words;
    uint64_t used = 0;
    for (size_t slot = 0; slot < verify->slots; ++slot) {
        used += verify->table[slot] != 0;
    }
    for (uint64_t index = 0; index < verify->told.distinct; ++index) {
        phx_verify_state state;
        phx_verify_probe probe;
        phx_verify_unpack(&verify->rules, verify->word + index * words, &state);
        phx_verify_probe_of(verify, &state, &probe);
        if (phx_verify_find(verify, &probe) != index) {
            return 0;
        }
    }
    return used == verify->told.distinct;
}

static phx_status broken(const char **reason, const char *why)
{
    *reason = why;
    return PHX_BROKEN;
}

phx_status phx_verify_validate(const phx_verify *verify, const char **reason)
{
    const phx_verify_told *told = &verify->told;
    uint64_t generated = 0;
    if (told->distinct * 10 >= (uint64_t)verify->slots * 6) {
        return broken(reason, "V2: the table is too full");
    }
    if (!table_is_of_states(verify)) {
        return broken(reason, "V1: the table does not find every state at its own index");
    }
    for (uint32_t level = 1; level <= told->depth; ++level) {
        if (verify->level[level] <= verify->level[level - 1] ||
            verify->level[level] > told->distinct) {
            return broken(reason, "V3: levels do not ascend to the number of states");
        }
    }
    for (uint32_t action = 0; action < PHX_VERIFY_ACTIONS; ++action) {
        generated += told->steps[action];
    }
    if (generated != told->generated) {
        return broken(reason, "V4: steps of all actions are not the generated states");
    }
    if (verify->rules.scope.bytes_max != 0 && told->bytes > verify->rules.scope.bytes_max) {
        return broken(reason, "V5: more bytes than allowed");
    }
    return PHX_OK;
}
