/* What prices leave open and the exact search of it, beside every answer of small rounds. */
#include "cases.h"
#include "open.h"

static void check_core(const open_round *of, int64_t width)
{
    const phx_round *round = &of->made.round;
    for (uint32_t row = 0; row < round->rows; ++row) {
        int64_t left = round->capacity[row];
        for (uint32_t job = 0; job < round->jobs; ++job) {
            left -= wanted(round, job, of->base[job], row);
        }
        CHECK(of->left[row] == left);
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        CHECK(loss_of_place(round, of->prices, job, of->base[job]) == 0);
    }
    for (uint32_t at = 0; at < of->core.jobs; ++at) {
        CHECK(at == 0 || of->job[at - 1] < of->job[at]);
        CHECK(of->first[at + 1] - of->first[at] > 1);
        CHECK(of->place[of->first[at]] == of->base[of->job[at]]);
        for (uint32_t option = of->first[at]; option < of->first[at + 1]; ++option) {
            CHECK(of->lost[option] <= width);
            CHECK(of->lost[option] ==
                  loss_of_place(round, of->prices, of->job[at], of->place[option]));
        }
    }
}

static void case_pick_leaves_what_an_answer_can_take(void)
{
    state = 11;
    uint32_t closed = 0;
    for (uint32_t turn = 0; turn < 3000; ++turn) {
        open_round of;
        draw_open(&of, 1 + turn % 3, 1, turn / 3 % 3);
        for (int64_t width = 0; width < 40; width = 3 * width + 1) {
            int32_t chosen[JOBS_MAX];
            CHECK(pick(&of, width, OPTIONS_MAX) == PHX_OK);
            check_core(&of, width);
            no_answer(chosen);
            do {
                const int open = all_open(&of, chosen);
                CHECK(open || worth(&of.made.round, chosen) < 0 ||
                      loss_of(&of.made.round, of.prices, chosen) > width);
                closed += !open;
            } while (next_answer(&of.made.round, chosen));
        }
    }
    CHECK(closed > 100000);
}

static void case_pick_takes_no_more_room_than_there_is(void)
{
    state = 12;
    for (uint32_t turn = 0; turn < 1000; ++turn) {
        open_round of;
        draw_open(&of, 1, 1, 1);
        const int64_t width = draw(10);
        uint32_t room = 0;
        for (; pick(&of, width, room) != PHX_OK; ++room) {
            CHECK(pick(&of, width, room) == PHX_NO_ROOM && room < OPTIONS_MAX);
        }
        /* A job that turns out to have one option needs its place for a moment. */
        CHECK(of.first[of.core.jobs] == room || of.first[of.core.jobs] + 1 == room);
    }
}

static void check_search(const open_round *of, int64_t total, int64_t least)
{
    const told found = search(of, STATES, total);
    CHECK(found.status == (least < total ? PHX_OK : PHX_MISFIT));
    CHECK(found.total == (least < total ? least : total));
}

/* With few states there may be an answer, and it need not be the best. */
static uint32_t check_few(const open_round *of, int64_t total, int64_t least)
{
    uint32_t gave_up = 0;
    for (uint32_t states = 0; states < 5; ++states) {
        const told found = search(of, states, total);
        CHECK(found.total >= (least < total ? least : total));
        CHECK(found.status != PHX_OK || found.total == least);
        CHECK(found.status != PHX_MISFIT || least >= total);
        gave_up += found.status == PHX_GAVE_UP;
    }
    return gave_up;
}

static void check_searches(uint32_t rows, uint32_t turns, uint32_t *gave_up, uint32_t *fits)
{
    for (uint32_t turn = 0; turn < turns; ++turn) {
        open_round of;
        draw_open(&of, rows, turn % 4 == 0 ? 3 : 1, turn % 3);
        const int64_t width = draw(3) == 0 ? LARGE - 1 : draw(30);
        CHECK(pick(&of, width, OPTIONS_MAX) == PHX_OK);
        const int64_t least = least_of(&of);
        const int64_t near = least == INT64_MAX ? 20 : least;
        const int64_t totals[6] = {1, near, near + 1, 1 + draw(60), LARGE >> draw(40), LARGE};
        for (uint32_t at = 0; at < 6; ++at) {
            if (totals[at] > 0) {
                check_search(&of, totals[at], least);
                *gave_up += check_few(&of, totals[at], least);
                *fits += least < totals[at];
            }
        }
    }
}

static void case_search_finds_the_least_loss(void)
{
    state = 13;
    uint32_t gave_up = 0;
    uint32_t fits = 0;
    for (uint32_t rows = 1; rows <= 3; ++rows) {
        check_searches(rows, 2000, &gave_up, &fits);
    }
    CHECK(gave_up > 20000 && fits > 15000);
}

/* Beyond four rows no moves of all rows are tried. */
static void case_search_of_many_rows(void)
{
    state = 14;
    uint32_t gave_up = 0;
    uint32_t fits = 0;
    for (uint32_t rows = 4; rows <= ROWS; ++rows) {
        check_searches(rows, 500, &gave_up, &fits);
    }
    CHECK(gave_up > 5000 && fits > 3000);
}

/* Every limit around the least loss, of one round after another. */
static void case_search_at_every_limit(void)
{
    state = 15;
    for (uint32_t turn = 0; turn < 400; ++turn) {
        open_round of;
        draw_open(&of, 1 + turn % 3, 1 + turn % 2, 1 + turn % 2);
        CHECK(pick(&of, LARGE - 1, OPTIONS_MAX) == PHX_OK);
        const int64_t least = least_of(&of);
        for (int64_t total = 1; total < 60; ++total) {
            check_search(&of, total, least);
        }
    }
}

/* Capacities are counted in the largest unit that all options change them by. */
static void case_rows_that_leave_32_bits_are_given_up(void)
{
    open_round of;
    one_job(&of, 1, INT32_MAX, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK && of.core.jobs == 1);
    told found = search(&of, STATES, 5);
    CHECK(found.status == PHX_OK && found.total == 0 && found.chosen[0] == 0);
    one_job(&of, 1, (INT64_C(1) << 31) + 1, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    found = search(&of, STATES, 5);
    CHECK(found.status == PHX_GAVE_UP && found.total == 5 && found.steps == 0);
    /* As a signed number this demand is below 0, which nothing is too little for. */
    one_job(&of, 3000000000U, 0, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    found = search(&of, STATES, 11);
    CHECK(found.status == PHX_GAVE_UP && found.total == 11 && found.steps == 0);
    one_job(&of, 1U << 20, INT64_C(1) << 50, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    found = search(&of, STATES, 5);
    CHECK(found.status == PHX_OK && found.total == 0 && found.chosen[0] == 0);
}

/* What no multiple of the units sells is lost from the start, whatever it costs. */
static void case_unsold_rest_is_lost_from_the_start(void)
{
    open_round of;
    one_job(&of, 4, 6, 1); /* worth 6 beyond its price; two of six cannot be sold */
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    CHECK(search(&of, STATES, 2).status == PHX_MISFIT);
    const told found = search(&of, STATES, 3);
    CHECK(found.status == PHX_OK && found.total == 2 && found.chosen[0] == 0);
    one_job(&of, 4, 6, LARGE - 1); /* two units cost more than any limit */
    CHECK(pick(&of, LARGE, OPTIONS_MAX) == PHX_OK);
    CHECK(search(&of, STATES, LARGE).status == PHX_MISFIT);
}

/* As many states as there are numbers for; the slots of a hash table are twice as many. */
static void case_scratch_of_any_number_of_states(void)
{
    open_round of;
    one_job(&of, 1, 1, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    const size_t slots = (size_t)2 * UINT32_MAX * sizeof(uint32_t);
    CHECK(phx_core_bytes(&of.made.round, &of.core, UINT32_MAX) > slots);
    CHECK(phx_core_bytes(&of.made.round, &of.core, 0) > 64 * sizeof(uint32_t));
}

/* No answer loses less than nothing, and none is within less. */
static void case_limits_below_what_can_be_lost(void)
{
    open_round of;
    one_job(&of, 1, 1, 0);
    CHECK(pick(&of, -1, OPTIONS_MAX) == PHX_BAD_GANG);
    CHECK(pick(&of, 0, OPTIONS_MAX) == PHX_OK && of.core.jobs == 0);
    for (int64_t total = -1; total < 1; ++total) {
        CHECK(search(&of, STATES, total).status == PHX_MISFIT);
    }
    CHECK(search(&of, STATES, INT64_MIN).status == PHX_MISFIT);
    CHECK(search(&of, STATES, 1).status == PHX_OK);
    of.made.round.rows = PHX_ROWS_MAX + 1;
    int64_t total = 1;
    uint64_t steps = 1;
    CHECK(phx_core_search(&of.made.round, &of.core, of.prices, 1, NULL, &total, NULL, &steps) ==
          PHX_BAD_GANG);
}

/* Many jobs of one row, more than there are layers of floors. */
#define WIDE_JOBS 700
#define WIDE_STATES 60000

typedef struct wide_round {
    phx_round round;
    uint32_t first[WIDE_JOBS + 1];
    uint32_t kind[2 * WIDE_JOBS];
    int64_t value[2 * WIDE_JOBS];
    uint32_t demand[4];
    int64_t capacity;
    int64_t scratch[4];
    int64_t price;
    int64_t bound;
    int64_t loss[2 * WIDE_JOBS];
    int64_t none[WIDE_JOBS];
    phx_core core;
    uint32_t job[WIDE_JOBS];
    uint32_t begins[WIDE_JOBS + 1];
    int32_t place[3 * WIDE_JOBS];
    int64_t lost[3 * WIDE_JOBS];
    int32_t base[WIDE_JOBS];
    int64_t left;
    int32_t chosen[WIDE_JOBS];
} wide_round;

static void draw_wide(wide_round *of, uint32_t jobs, uint32_t unit)
{
    const uint32_t demand[4] = {1, 3, 7, 19};
    for (uint32_t kind = 0; kind < 4; ++kind) {
        of->demand[kind] = unit * demand[kind];
    }
    of->capacity = 900 + draw(900);
    of->round = (phx_round){
        jobs, 1, 4, of->first, of->kind, of->value, of->demand, &of->capacity, of->scratch};
    of->core = (phx_core){0, of->job, of->begins, of->place, of->lost, of->base, &of->left};
    for (uint32_t job = 0; job < jobs; ++job) {
        const uint32_t worth_each = 50 + draw(50);
        of->first[job + 1] = 2 * job + 2;
        for (uint32_t choice = 2 * job; choice < 2 * job + 2; ++choice) {
            of->kind[choice] = draw(4);
            of->value[choice] = worth_each * demand[of->kind[choice]] + draw(9);
        }
    }
}

/* The best prices, what is lost at them, and what the dense recurrence says is the most. */
static int64_t solve_wide(wide_round *of)
{
    int64_t best = 0;
    double price = 0;
    double bound = 0;
    uint32_t passes = 0;
    uint32_t counts[64];
    void *room = malloc(phx_assign_dense_bytes(of->round.jobs, (uint32_t)of->capacity));
    CHECK(phx_assign_dense(&of->round, room, of->chosen, &best) == PHX_OK);
    free(room);
    CHECK(phx_price_find(&of->round, &price, 1e-10, 400, of->chosen, of->chosen, &bound, &passes) ==
          PHX_OK);
    of->price = (int64_t)(price + 0.5);
    CHECK(phx_price_bound(&of->round, &of->price, &of->bound) == PHX_OK && of->bound >= best);
    CHECK(phx_price_losses(&of->round, &of->price, of->loss, of->none, counts) == PHX_OK);
    return best;
}

/* Thins a core while that takes options out. */
static void thin_wide(wide_round *of, int64_t least)
{
    uint32_t before = 0;
    do {
        int64_t floor = -1;
        void *room = malloc(phx_thin_bytes(&of->round, &of->core));
        before = of->begins[of->core.jobs];
        CHECK(phx_core_thin(&of->round, &of->core, &of->price, least + 1, room, &floor) == PHX_OK);
        CHECK(floor >= 0 && floor <= least);
        free(room);
    } while (of->begins[of->core.jobs] < before);
}

static void search_wide(wide_round *of, int64_t best)
{
    const int64_t least = of->bound - best;
    void *room = malloc(phx_core_bytes(&of->round, &of->core, WIDE_STATES));
    int64_t total = least + 1;
    uint64_t steps = 0;
    CHECK(phx_core_search(&of->round, &of->core, &of->price, WIDE_STATES, room, &total, of->chosen,
                          &steps) == PHX_OK);
    CHECK(total == least && worth(&of->round, of->chosen) == best);
    CHECK(phx_core_search(&of->round, &of->core, &of->price, WIDE_STATES, room, &total, of->chosen,
                          &steps) == PHX_MISFIT);
    CHECK(total == least);
    free(room);
}

/* Returns how many options thinning takes out. */
static uint32_t check_wide(wide_round *of, int64_t width, int64_t best)
{
    CHECK(phx_core_pick(&of->round, of->loss, of->none, width, 3 * WIDE_JOBS, &of->core) == PHX_OK);
    search_wide(of, best);
    const uint32_t options = of->begins[of->core.jobs];
    thin_wide(of, of->bound - best);
    search_wide(of, best);
    return options - of->begins[of->core.jobs];
}

static void case_search_agrees_with_the_dense_recurrence(void)
{
    static wide_round of;
    uint32_t dropped = 0;
    state = 16;
    for (uint32_t turn = 0; turn < 12; ++turn) {
        draw_wide(&of, WIDE_JOBS - 200 * (turn % 3), 1 + turn % 2);
        const int64_t best = solve_wide(&of);
        /* As wide as the answer needs it, then all there is. */
        dropped += check_wide(&of, of.bound - best, best);
        dropped += check_wide(&of, LARGE - 1, best);
    }
    CHECK(dropped > 9000);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(pick_leaves_what_an_answer_can_take),
                                       CASE(pick_takes_no_more_room_than_there_is),
                                       CASE(search_finds_the_least_loss),
                                       CASE(search_of_many_rows),
                                       CASE(search_at_every_limit),
                                       CASE(rows_that_leave_32_bits_are_given_up),
                                       CASE(unsold_rest_is_lost_from_the_start),
                                       CASE(scratch_of_any_number_of_states),
                                       CASE(limits_below_what_can_be_lost),
                                       CASE(search_agrees_with_the_dense_recurrence)};
    return run_cases("test_core", cases, sizeof cases / sizeof *cases, count, words);
}
