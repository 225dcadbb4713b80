/* Cores with fewer options, beside every answer of the cores they were. */
#include "cases.h"
#include "open.h"

/* What thinning told of many cores. */
typedef struct tally {
    uint32_t dropped;  /* options taken out */
    uint32_t gone;     /* jobs that left the core */
    uint32_t hopeless; /* floors that reached the total */
    uint32_t exact;    /* floors that are the least */
} tally;

static phx_status thin(open_round *of, int64_t total, int64_t *floor)
{
    static int64_t scratch[60000];
    CHECK(phx_thin_bytes(&of->made.round, &of->core) <= sizeof scratch);
    return phx_core_thin(&of->made.round, &of->core, of->prices, total, scratch, floor);
}

/* A round and its core once more, in arrays of their own. */
static void copy_open(open_round *to, const open_round *from)
{
    *to = *from;
    to->made.round.first = to->made.first;
    to->made.round.kind = to->made.kind;
    to->made.round.value = to->made.value;
    to->made.round.demand = to->made.demand;
    to->made.round.capacity = to->made.capacity;
    to->made.round.scratch = to->made.scratch;
    to->core =
        (phx_core){from->core.jobs, to->job, to->first, to->place, to->lost, to->base, to->left};
}

static int is_same_core(const open_round *one, const open_round *other)
{
    const uint32_t jobs = one->core.jobs;
    const uint32_t options = one->first[jobs];
    return jobs == other->core.jobs && memcmp(one->job, other->job, jobs * sizeof *one->job) == 0 &&
           memcmp(one->first, other->first, (jobs + 1) * sizeof *one->first) == 0 &&
           memcmp(one->place, other->place, options * sizeof *one->place) == 0 &&
           memcmp(one->lost, other->lost, options * sizeof *one->lost) == 0;
}

/* Options of a job in the order they had, its base in front; jobs with others beside it alone. */
static void check_options(const open_round *before, const open_round *of)
{
    uint32_t from = 0;
    CHECK(memcmp(before->base, of->base, sizeof of->base) == 0);
    CHECK(memcmp(before->left, of->left, sizeof of->left) == 0);
    CHECK(of->first[0] == 0);
    for (uint32_t at = 0; at < of->core.jobs; ++at) {
        for (; before->job[from] != of->job[at]; ++from) {
            CHECK(from + 1 < before->core.jobs);
        }
        uint32_t option = before->first[from];
        CHECK(of->first[at + 1] > of->first[at] + 1);
        CHECK(of->place[of->first[at]] == of->base[of->job[at]]);
        for (uint32_t kept = of->first[at]; kept < of->first[at + 1]; ++kept) {
            for (; before->place[option] != of->place[kept]; ++option) {
                CHECK(option + 1 < before->first[from + 1]);
            }
            CHECK(before->lost[option++] == of->lost[kept]);
        }
        ++from;
    }
}

/* Every answer that loses less than the total is one of the thinned core as well. */
static void check_answers(const open_round *before, const open_round *of, int64_t total)
{
    int32_t chosen[JOBS_MAX];
    no_answer(chosen);
    do {
        if (worth(&of->made.round, chosen) >= 0 && all_open(before, chosen) &&
            !all_open(of, chosen)) {
            CHECK(loss_of(&of->made.round, of->prices, chosen) >= total);
        }
    } while (next_answer(&of->made.round, chosen));
}

/* Thins a core and compares it with the one it was; `least` is the least that an answer of that
 * loses. */
static void check_thin(open_round *of, int64_t total, int64_t least, tally *all)
{
    open_round before;
    int64_t floor = -1;
    copy_open(&before, of);
    CHECK(thin(of, total, &floor) == PHX_OK);
    CHECK(floor >= 0 && floor <= least);
    CHECK(floor < total || is_same_core(&before, of));
    check_options(&before, of);
    check_answers(&before, of, total);
    const told whole = search(&before, STATES, total);
    const told found = search(of, STATES, total);
    CHECK(found.status == whole.status && found.total == whole.total);
    CHECK(found.status == (least < total ? PHX_OK : PHX_MISFIT));
    CHECK(found.total == (least < total ? least : total));
    all->dropped += before.first[before.core.jobs] - of->first[of->core.jobs];
    all->gone += before.core.jobs - of->core.jobs;
    all->hopeless += floor >= total;
    all->exact += floor == least;
}

static void check_cores(uint32_t rows, uint32_t turns, tally *all)
{
    for (uint32_t turn = 0; turn < turns; ++turn) {
        open_round whole;
        draw_open(&whole, rows, turn % 4 == 0 ? 3 : 1, turn % 3);
        const int64_t width = draw(3) == 0 ? LARGE - 1 : draw(30);
        CHECK(pick(&whole, width, OPTIONS_MAX) == PHX_OK);
        const int64_t least = least_of(&whole);
        const int64_t near = least == INT64_MAX ? 20 : least;
        const int64_t totals[6] = {1, near, near + 1, 1 + draw(60), LARGE >> draw(40), LARGE};
        for (uint32_t at = 0; at < 6; ++at) {
            open_round of;
            copy_open(&of, &whole);
            /* Again, since fewer options have higher floors; then with less to lose. */
            for (int64_t total = totals[at], again = 0; total > 0 && again < 4; ++again) {
                const int64_t left = least_of(&of);
                CHECK(left == least || left >= total);
                check_thin(&of, total, left, all);
                total -= again > 0 ? total / 8 : 0;
            }
        }
    }
}

static void case_thinning_keeps_every_answer_that_helps(void)
{
    tally all = {0, 0, 0, 0};
    state = 17;
    for (uint32_t rows = 1; rows <= 3; ++rows) {
        check_cores(rows, 1000, &all);
    }
    CHECK(all.dropped > 8000 && all.gone > 2000 && all.hopeless > 7000 && all.exact > 25000);
}

/* Beyond four rows no moves of all rows are tried. */
static void case_thinning_of_many_rows(void)
{
    tally all = {0, 0, 0, 0};
    state = 18;
    for (uint32_t rows = 4; rows <= ROWS; ++rows) {
        check_cores(rows, 300, &all);
    }
    CHECK(all.dropped > 2500 && all.gone > 700 && all.hopeless > 2500 && all.exact > 6000);
}

/* Every total around the least loss, of one core after another. */
static void case_thinning_at_every_total(void)
{
    tally all = {0, 0, 0, 0};
    state = 19;
    for (uint32_t turn = 0; turn < 300; ++turn) {
        open_round whole;
        draw_open(&whole, 1 + turn % 3, 1 + turn % 2, 1 + turn % 2);
        CHECK(pick(&whole, LARGE - 1, OPTIONS_MAX) == PHX_OK);
        const int64_t least = least_of(&whole);
        for (int64_t total = 1; total < 40; ++total) {
            open_round of;
            copy_open(&of, &whole);
            check_thin(&of, total, least, &all);
        }
    }
    CHECK(all.dropped > 5000);
}

/* The job has 4 of 6 at a price of 1 and loses nothing, but for two that cannot be sold; without it
 * its 6 beyond the price are lost, and 6 that are not sold. */
static void case_thinned_where_an_option_loses_as_much(void)
{
    open_round of;
    for (int64_t total = 1; total < 20; ++total) {
        int64_t floor = -1;
        one_job(&of, 4, 6, 1);
        CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK && of.core.jobs == 1);
        CHECK(thin(&of, total, &floor) == PHX_OK && floor == 2);
        CHECK(of.core.jobs == (total <= 2 || total > 12));
        CHECK(of.base[0] == 0 && of.left[0] == 2);
    }
}

static void case_what_is_not_thinned(void)
{
    open_round of;
    open_round before;
    one_job(&of, 4, 6, 1);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    copy_open(&before, &of);
    const int64_t nothing[3] = {0, -1, INT64_MIN};
    for (uint32_t at = 0; at < 3; ++at) {
        int64_t floor = -1;
        CHECK(phx_core_thin(&of.made.round, &of.core, of.prices, nothing[at], NULL, &floor) ==
              PHX_OK);
        CHECK(floor == 0 && is_same_core(&before, &of));
    }
    int64_t floor = -1;
    of.made.round.rows = PHX_ROWS_MAX + 1;
    CHECK(phx_core_thin(&of.made.round, &of.core, of.prices, 3, NULL, &floor) == PHX_BAD_GANG);
    CHECK(is_same_core(&before, &of));
    /* A demand, and an amount that is left, that leave 32 bits. */
    one_job(&of, 3000000000U, 0, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    copy_open(&before, &of);
    CHECK(thin(&of, 5, &floor) == PHX_GAVE_UP && floor == 0 && is_same_core(&before, &of));
    one_job(&of, 1, (INT64_C(1) << 31) + 1, 0);
    CHECK(pick(&of, 10, OPTIONS_MAX) == PHX_OK);
    CHECK(thin(&of, 5, &floor) == PHX_GAVE_UP && floor == 0 && of.core.jobs == 1);
}

/* A core of no job has one answer, and the floor is what it loses. */
static void case_floor_of_a_core_without_jobs(void)
{
    open_round of;
    int64_t floor = -1;
    one_job(&of, 4, 6, 1);
    CHECK(pick(&of, 0, OPTIONS_MAX) == PHX_OK && of.core.jobs == 0);
    CHECK(thin(&of, 5, &floor) == PHX_OK && floor == 2 && of.core.jobs == 0);
    CHECK(thin(&of, LARGE, &floor) == PHX_OK && floor == 2);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(thinning_keeps_every_answer_that_helps),
                                       CASE(thinning_of_many_rows),
                                       CASE(thinning_at_every_total),
                                       CASE(thinned_where_an_option_loses_as_much),
                                       CASE(what_is_not_thinned),
                                       CASE(floor_of_a_core_without_jobs)};
    return run_cases("test_thin", cases, sizeof cases / sizeof *cases, count, words);
}
