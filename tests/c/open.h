/* Cores of small rounds: what prices leave open, beside every answer. */
#ifndef OPEN_H
#define OPEN_H

#include "small.h"

#define STATES 4000
#define LARGE (INT64_C(1) << 62)

/* A small round at some prices, and a core of it. */
typedef struct open_round {
    small made;
    int64_t prices[ROWS];
    int64_t loss[JOBS_MAX * CHOICES_MAX];
    int64_t none[JOBS_MAX];
    uint32_t counts[64];
    phx_core core;
    uint32_t job[JOBS_MAX];
    uint32_t first[JOBS_MAX + 1];
    int32_t place[OPTIONS_MAX];
    int64_t lost[OPTIONS_MAX];
    int32_t base[JOBS_MAX];
    int64_t left[ROWS];
} open_round;

static inline const phx_round *lose(open_round *of)
{
    CHECK(phx_price_losses(&of->made.round, of->prices, of->loss, of->none, of->counts) == PHX_OK);
    of->core = (phx_core){0, of->job, of->first, of->place, of->lost, of->base, of->left};
    return &of->made.round;
}

static inline phx_status pick(open_round *of, int64_t width, uint32_t room)
{
    return phx_core_pick(&of->made.round, of->loss, of->none, width, room, &of->core);
}

/* A round at prices that are none, some, or the best there are. */
static inline void draw_open(open_round *of, uint32_t rows, uint32_t unit, uint32_t prices)
{
    draw_small(&of->made, rows, unit);
    double found[ROWS] = {0};
    int32_t chosen[2][JOBS_MAX];
    double bound = 0;
    uint32_t passes = 0;
    if (prices == 2) {
        CHECK(phx_price_find(&of->made.round, found, 1e-10, 100, chosen[0], chosen[1], &bound,
                             &passes) == PHX_OK);
    }
    const uint32_t most = 1 + draw(6);
    for (uint32_t row = 0; row < rows; ++row) {
        of->prices[row] = prices == 1 ? draw(most) : (int64_t)(found[row] + 0.5);
    }
    lose(of);
}

/* Whether a place is an option of its job in the core, or else the base. */
static inline int is_open(const open_round *of, uint32_t job, int32_t place)
{
    for (uint32_t at = 0; at < of->core.jobs; ++at) {
        for (uint32_t option = of->first[at]; of->job[at] == job && option < of->first[at + 1];
             ++option) {
            if (of->place[option] == place) {
                return 1;
            }
        }
    }
    return of->base[job] == place;
}

static inline int all_open(const open_round *of, const int32_t *chosen)
{
    int open = 1;
    for (uint32_t job = 0; job < of->made.round.jobs; ++job) {
        open &= is_open(of, job, chosen[job]);
    }
    return open;
}

/* The least that an answer of the core loses, INT64_MAX where none fits. */
static inline int64_t least_of(const open_round *of)
{
    int32_t chosen[JOBS_MAX];
    int64_t least = INT64_MAX;
    no_answer(chosen);
    do {
        if (worth(&of->made.round, chosen) >= 0 && all_open(of, chosen)) {
            const int64_t here = loss_of(&of->made.round, of->prices, chosen);
            least = here < least ? here : least;
        }
    } while (next_answer(&of->made.round, chosen));
    return least;
}

/* What a search told. */
typedef struct told {
    phx_status status;
    int64_t total;
    int32_t chosen[JOBS_MAX];
    uint64_t steps;
} told;

/* A search whose answer, if there is one, is of the core and loses what is told. */
static inline told search(const open_round *of, uint32_t states, int64_t total)
{
    static int64_t scratch[60000];
    told found = {PHX_OK, total, {0}, 99};
    CHECK(phx_core_bytes(&of->made.round, &of->core, states) <= sizeof scratch);
    found.status = phx_core_search(&of->made.round, &of->core, of->prices, states, scratch,
                                   &found.total, found.chosen, &found.steps);
    CHECK(found.steps <= states && found.total <= total);
    CHECK(found.status != PHX_OK || found.total < total);
    if (found.total < total) {
        CHECK(found.status == PHX_OK || found.status == PHX_GAVE_UP);
        CHECK(worth(&of->made.round, found.chosen) >= 0 && all_open(of, found.chosen));
        CHECK(loss_of(&of->made.round, of->prices, found.chosen) == found.total);
    }
    return found;
}

/* A round of one job that may take so much of one row. */
static inline const phx_round *one_job(open_round *of, uint32_t demand, int64_t capacity,
                                       int64_t price)
{
    memset(of, 0, sizeof *of);
    of->made.first[1] = 1;
    of->made.demand[0] = demand;
    of->made.value[0] = 10;
    of->made.capacity[0] = capacity;
    of->made.round = (phx_round){1,
                                 1,
                                 1,
                                 of->made.first,
                                 of->made.kind,
                                 of->made.value,
                                 of->made.demand,
                                 of->made.capacity,
                                 of->made.scratch};
    of->prices[0] = price;
    return lose(of);
}

#endif
