/* Cores of any width, and searches of them with any limit and few or many states. */
#include "rounds.h"

#include <string.h>

#define STATES_MAX 4096

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

/* The best answer that loses less than *total, which it then loses. */
static phx_status search(fixture *on, const open_core *of, uint32_t states, int64_t *total)
{
    static int64_t scratch[120000];
    int32_t chosen[JOBS_MAX];
    const int64_t below = *total;
    uint64_t steps = 0;
    require(phx_core_bytes(&on->round, &of->core, states) <= sizeof scratch, "scratch");
    const phx_status status =
        phx_core_search(&on->round, &of->core, on->prices, states, scratch, total, chosen, &steps);
    require(steps <= states, "what a search told");
    require((status == PHX_OK) <= (*total < below), "found, and no better");
    require((status == PHX_MISFIT) <= (*total == below), "better, and not found");
    if (*total < below) {
        for (uint32_t job = 0; job < on->table.jobs; ++job) {
            require(loss_of(on, job, chosen[job]) <= of->width, "an option that is not open");
        }
        const int64_t worth = check_answer(on, chosen);
        require(on->bound < 0 || worth == on->bound - *total, "loss of an answer");
    }
    return status;
}

/* No answer loses less than so much: what is proven joins what is known. Answers that lose no more
 * than the core is wide were in it, the others lose more. */
static void prove(fixture *on, const open_core *of, int64_t least)
{
    const int64_t outside = of->width < LARGE - 1 ? of->width + 1 : LARGE;
    if (on->bound >= 0) { /* else losses are cut, so nothing is proven */
        check_bound(on, (wide)on->bound - (least < outside ? least : outside));
    }
}

/* Thins a core, now and then again, and searches what is left of it. */
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
    const uint32_t kind = tape_next(in);
    const uint32_t states = kind % 4 ? STATES_MAX : 1U << drawn % 12;
    for (uint32_t turn = 0; turn < kind / 4 % 4; ++turn) {
        const int64_t floor = thin(on, &of, below);
        prove(on, &of, floor < below ? floor : below);
    }
    int64_t total = below;
    const phx_status status = search(on, &of, states, &total);
    ++fuzz_outcomes[status == PHX_OK ? BEST : status == PHX_MISFIT ? NONE_BETTER : TOO_MANY];
    if (status != PHX_GAVE_UP) {
        prove(on, &of, total);
    }
}
