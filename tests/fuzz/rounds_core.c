/* Cores of any width, and searches of them with any limit and few or many states. */
#include "rounds.h"

#include <string.h>

#define OPTIONS_MAX (JOBS_MAX * (WIDTH_MAX + 1))
#define STATES_MAX 4096

/* A core, and memory for it. */
typedef struct open_core {
    phx_core core;
    int64_t width;
    uint32_t job[JOBS_MAX];
    uint32_t first[JOBS_MAX + 1];
    int32_t place[OPTIONS_MAX];
    int64_t loss[OPTIONS_MAX];
    int32_t base[JOBS_MAX];
    int64_t left[ROUND_ROWS];
} open_core;

/* How many options of a job lose no more than the core is wide. */
static uint32_t options_of(const fixture *on, uint32_t job, int64_t width)
{
    uint32_t count = 0;
    const int32_t places = (int32_t)(on->first[job + 1] - on->first[job]);
    for (int32_t place = -1; place < places; ++place) {
        count += loss_of(on, job, place) <= width;
    }
    return count;
}

static void check_core(const fixture *on, const open_core *of)
{
    uint32_t at = 0;
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        const uint32_t options = options_of(on, job, of->width);
        require(loss_of(on, job, of->base[job]) == 0, "a base loses something");
        if (options > 1) {
            require(at < of->core.jobs && of->job[at] == job, "a job of a core");
            require(of->first[at + 1] - of->first[at] == options, "options of a core");
            require(of->place[of->first[at]] == of->base[job], "the base is first");
            for (uint32_t option = of->first[at]; option < of->first[at + 1]; ++option) {
                require(of->loss[option] == loss_of(on, job, of->place[option]), "an option");
                require(option == of->first[at] || of->place[option] != of->base[job], "twice");
            }
            ++at;
        }
    }
    require(at == of->core.jobs, "jobs of a core");
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        wide left = on->capacity[row];
        for (uint32_t job = 0; job < on->table.jobs; ++job) {
            const uint32_t choice = on->first[job] + (uint32_t)of->base[job];
            left -= of->base[job] < 0 ? 0 : on->demand[on->kind[choice] * on->table.rows + row];
        }
        require(of->left[row] == left, "what a core leaves");
    }
}

/* Picks a core; 0: the tape wants it in too little room. */
static int pick(const fixture *on, tape *in, open_core *of)
{
    int64_t loss[CHOICES_ALL];
    int64_t none[JOBS_MAX];
    uint32_t counts[64];
    const uint32_t drawn = tape_next(in);
    const uint32_t room = drawn >= 248 ? drawn % 8 * 4 : OPTIONS_MAX;
    const uint32_t kind = tape_next(in);
    of->width = kind < 128                     ? LARGE - 1
                : kind < 192 && on->bound >= 0 ? on->bound - on->known
                                               : (INT64_C(1) << kind % 62) - 1;
    of->core = (phx_core){0, of->job, of->first, of->place, of->loss, of->base, of->left};
    require(phx_price_losses(&on->round, on->prices, loss, none, counts) == PHX_OK, "losses");
    const phx_status status = phx_core_pick(&on->round, loss, none, of->width, room, &of->core);
    uint32_t options = 0;
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        options += options_of(on, job, of->width);
    }
    require(status == PHX_OK || (status == PHX_NO_ROOM && options > room), "pick");
    if (status == PHX_OK) {
        check_core(on, of);
    } else {
        ++fuzz_outcomes[NO_ROOM];
    }
    return status == PHX_OK;
}

/* What a search told before is kept: limits, floor. */
typedef struct limits {
    int64_t total;
    int64_t floor;
    uint32_t states;
} limits;

static phx_status search(fixture *on, const open_core *of, limits *within)
{
    static int64_t scratch[120000];
    int32_t chosen[JOBS_MAX];
    int64_t total = within->total;
    int64_t floor = within->floor;
    uint64_t steps = 0;
    require(phx_core_bytes(&on->round, &of->core, within->states) <= sizeof scratch, "scratch");
    const phx_status status = phx_core_search(&on->round, &of->core, on->prices, within->states,
                                              scratch, &total, &floor, chosen, &steps);
    require(steps <= within->states && floor >= within->floor, "what a search told");
    require((status == PHX_OK) <= (total < within->total), "found, and no better");
    require((status == PHX_MISFIT) <= (total == within->total), "better, and not found");
    if (total < within->total) {
        for (uint32_t job = 0; job < on->table.jobs; ++job) {
            require(loss_of(on, job, chosen[job]) <= of->width, "an option that is not open");
        }
        const int64_t worth = check_answer(on, chosen);
        require(on->bound < 0 || worth == on->bound - total, "loss of an answer");
    }
    within->total = total;
    within->floor = floor;
    return status;
}

/* Searches on from floors, as callers do; what is proven joins what is known. */
void do_core(fixture *on, tape *in)
{
    open_core of;
    memset(&of, 0, sizeof of);
    if (!pick(on, in, &of)) {
        return;
    }
    const uint32_t drawn = tape_next(in);
    const int64_t more = on->bound < 0 ? LARGE : on->bound - on->known + drawn % 2;
    const int64_t below = drawn < 96 ? more : drawn < 160 ? LARGE : INT64_C(1) << drawn % 63;
    limits within = {below, 0, tape_next(in) % 4 ? STATES_MAX : 1U << drawn % 12};
    phx_status status = PHX_GAVE_UP;
    for (int64_t floor = -1; status == PHX_GAVE_UP && floor < within.floor;) {
        floor = within.floor;
        status = search(on, &of, &within);
        fuzz_outcomes[FLOOR_RAISED] += within.floor > floor;
    }
    ++fuzz_outcomes[status == PHX_OK ? BEST : status == PHX_MISFIT ? NONE_BETTER : TOO_MANY];
    if (on->bound < 0) {
        return; /* losses are cut, so nothing is proven */
    }
    /* Answers that lose no more than the core is wide are in it, the others lose more. */
    const int64_t outside = of.width < LARGE - 1 ? of.width + 1 : LARGE;
    const int64_t least = status == PHX_GAVE_UP ? within.floor : within.total;
    check_bound(on, (wide)on->bound - (least < outside ? least : outside));
}
