/* What prices leave open: the options that an answer within a loss can take. */
#include "mutants.h"
#include "solve.h"

/* Adds an option of the last job of the core; 0: there is no room. */
static int add_option(phx_core *core, uint32_t room, int32_t place, int64_t loss)
{
    const uint32_t at = core->first[core->jobs + 1];
    if (at == room) {
        return 0;
    }
    core->place[at] = place;
    core->loss[at] = loss;
    core->first[core->jobs + 1] = at + 1;
    return 1;
}

/* Puts the first option that loses nothing in front. */
static void base_first(phx_core *core)
{
    const uint32_t begin = core->first[core->jobs];
    uint32_t base = begin;
    while (core->loss[base] != 0) {
        ++base;
    }
    const int32_t place = core->place[base];
    for (; base > begin; --base) {
        core->place[base] = core->place[base - 1];
        core->loss[base] = core->loss[base - 1];
    }
    core->place[begin] = place;
    core->loss[begin] = 0;
}

phx_status phx_core_pick(const phx_round *round, const int64_t *loss, const int64_t *none,
                         int64_t width, uint32_t room, phx_core *core)
{
    if (width < 0) {
        return PHX_BAD_GANG;
    }
    core->jobs = 0;
    core->first[0] = 0;
    for (uint32_t row = 0; row < round->rows; ++row) {
        core->left[row] = round->capacity[row];
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t begin = core->first[core->jobs];
        core->first[core->jobs + 1] = begin;
        int fits = 1;
        for (uint32_t choice = round->first[job]; choice < round->first[job + 1]; ++choice) {
            if (loss[choice] <= width - PHX_MUTANT_NARROW_CORE) {
                fits &= add_option(core, room, (int32_t)(choice - round->first[job]), loss[choice]);
            }
        }
        if (none[job] <= width) {
            fits &= add_option(core, room, -1, none[job]);
        }
        if (!fits) {
            return PHX_NO_ROOM;
        }
        base_first(core);
        core->base[job] = core->place[begin];
        if (core->base[job] >= 0) {
            const uint32_t choice = round->first[job] + (uint32_t)core->base[job];
            for (uint32_t row = 0; row < round->rows; ++row) {
                core->left[row] -= PHX_MUTANT_BASE_FREE ? 0 : phx_wants(round, choice)[row];
            }
        }
        if (core->first[core->jobs + 1] - begin > 1) {
            core->job[core->jobs++] = job;
        }
    }
    return PHX_OK;
}
