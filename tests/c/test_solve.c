/* The dense recurrence, prices and mended answers, beside every answer of small rounds. */
#include "cases.h"
#include "small.h"

static phx_status solve_dense(const phx_round *round, int32_t *chosen, int64_t *total)
{
    static int64_t scratch[4096];
    CHECK(phx_assign_dense_bytes(round->jobs, (uint32_t)round->capacity[0]) <= sizeof scratch);
    return phx_assign_dense(round, scratch, chosen, total);
}

static void case_dense_is_the_best_there_is(void)
{
    state = 1;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1, 1 + turn % 3);
        int32_t chosen[JOBS_MAX];
        int64_t total = -1;
        CHECK(solve_dense(&made.round, chosen, &total) == PHX_OK);
        CHECK(total == best_of(&made.round));
        CHECK(worth(&made.round, chosen) == total);
    }
}

/* Whether the first job with another choice has the lower one in `one`; none is the last. */
static int stands_before(const int32_t *one, const int32_t *other, uint32_t jobs)
{
    for (uint32_t job = 0; job < jobs; ++job) {
        if (one[job] != other[job]) {
            return (uint32_t)one[job] < (uint32_t)other[job];
        }
    }
    return 0;
}

static void case_ties_of_the_dense_recurrence(void)
{
    state = 2;
    uint32_t ties = 0;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1, 1);
        int32_t chosen[JOBS_MAX];
        int32_t first[JOBS_MAX];
        int32_t other[JOBS_MAX];
        int64_t total = -1;
        CHECK(solve_dense(&made.round, chosen, &total) == PHX_OK);
        memcpy(first, chosen, sizeof first);
        no_answer(other);
        do {
            const int equal = worth(&made.round, other) == total;
            ties += equal && memcmp(other, chosen, made.round.jobs * sizeof *other) != 0;
            if (equal && stands_before(other, first, made.round.jobs)) {
                memcpy(first, other, sizeof first);
            }
        } while (next_answer(&made.round, other));
        CHECK(memcmp(first, chosen, made.round.jobs * sizeof *first) == 0);
    }
    CHECK(ties > 4000);
}

static void whole_prices(const phx_round *round, const double *prices, int64_t *whole)
{
    for (uint32_t row = 0; row < round->rows; ++row) {
        whole[row] = (int64_t)(prices[row] + 0.5);
    }
}

static void case_prices_bound_and_mended_answers_fit(void)
{
    state = 3;
    uint32_t exact = 0;
    uint32_t gave_up = 0;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1 + turn % 3, 1 + turn / 3 % 2);
        double prices[ROWS] = {0};
        int32_t chosen[JOBS_MAX];
        int32_t shared[JOBS_MAX];
        double bound = 0;
        uint32_t passes = 0;
        CHECK(phx_price_find(&made.round, prices, 1e-12, 200, chosen, shared, &bound, &passes) ==
              PHX_OK);
        const int64_t best = best_of(&made.round);
        CHECK(bound >= (double)best - 1e-6 && passes <= 201);
        int64_t whole[ROWS];
        int64_t proven = 0;
        whole_prices(&made.round, prices, whole);
        CHECK(phx_price_bound(&made.round, whole, &proven) == PHX_OK);
        int32_t none[JOBS_MAX];
        no_answer(none);
        /* An answer's worth and its loss make the bound, whatever the prices are. */
        CHECK(proven >= best && proven == loss_of(&made.round, whole, none));
        uint32_t steps = 0;
        int32_t tried[JOBS_MAX];
        memcpy(tried, chosen, sizeof tried);
        const phx_status status = phx_round_mend(&made.round, whole, 0, tried, &steps);
        CHECK(status == (worth(&made.round, chosen) < 0 ? PHX_GAVE_UP : PHX_OK) && steps == 0);
        gave_up += status == PHX_GAVE_UP;
        for (int start = 0; start < 2; ++start) {
            int32_t *answer = start == 0 ? chosen : shared;
            CHECK(phx_round_mend(&made.round, whole, 1000, answer, &steps) == PHX_OK);
            CHECK(worth(&made.round, answer) >= 0 && worth(&made.round, answer) <= best);
            exact += worth(&made.round, answer) == best;
        }
    }
    CHECK(exact > 6000 && gave_up > 200);
}

/* From any answer at any prices; one that fits never loses by it. */
static void case_any_answer_is_mended(void)
{
    state = 4;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1 + turn % ROWS, 1);
        int64_t prices[ROWS];
        int32_t chosen[JOBS_MAX];
        for (uint32_t row = 0; row < ROWS; ++row) {
            prices[row] = draw(5);
        }
        for (uint32_t job = 0; job < made.round.jobs; ++job) {
            chosen[job] = (int32_t)draw(made.first[job + 1] - made.first[job] + 1) - 1;
        }
        const int64_t before = worth(&made.round, chosen);
        uint32_t steps = 0;
        CHECK(phx_round_mend(&made.round, prices, 1000, chosen, &steps) == PHX_OK);
        CHECK(worth(&made.round, chosen) >= (before < 0 ? 0 : before));
    }
}

static void case_losses_are_beside_the_best(void)
{
    state = 5;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1 + turn % ROWS, 1);
        int64_t prices[ROWS];
        int64_t loss[JOBS_MAX * CHOICES_MAX];
        int64_t none[JOBS_MAX];
        uint32_t counts[64];
        uint32_t expected[64] = {0};
        const uint32_t most = 1U << draw(20);
        for (uint32_t row = 0; row < ROWS; ++row) {
            prices[row] = draw(most);
        }
        CHECK(phx_price_losses(&made.round, prices, loss, none, counts) == PHX_OK);
        for (uint32_t job = 0; job < made.round.jobs; ++job) {
            CHECK(none[job] == loss_of_place(&made.round, prices, job, -1));
            for (uint32_t choice = made.first[job]; choice < made.first[job + 1]; ++choice) {
                const int32_t place = (int32_t)(choice - made.first[job]);
                CHECK(loss[choice] == loss_of_place(&made.round, prices, job, place));
                for (uint32_t bit = 0; bit < 64; ++bit) {
                    expected[bit] +=
                        loss[choice] < (int64_t)(bit < 63 ? UINT64_C(1) << bit : INT64_MAX);
                }
            }
        }
        CHECK(memcmp(counts, expected, sizeof counts) == 0);
    }
}

/* Costs that leave 64 bits count as 2^62, more than anything is worth. */
static void case_dear_choices_are_not_worth_it(void)
{
    const uint32_t first[2] = {0, 2};
    const uint32_t kind[2] = {0, 1};
    const uint32_t demand[4] = {UINT32_MAX, UINT32_MAX, 0, 1};
    const int64_t value[2] = {(INT64_C(1) << 61) - 1, 7};
    const int64_t capacity[2] = {0, 0};
    const int64_t prices[2] = {INT64_MAX, INT64_MAX / UINT32_MAX};
    int64_t scratch[2];
    int64_t loss[2];
    int64_t none = -1;
    int64_t bound = -1;
    uint32_t counts[64];
    const phx_round round = {1, 2, 2, first, kind, value, demand, capacity, scratch};
    CHECK(phx_price_bound(&round, prices, &bound) == PHX_OK && bound == 0);
    CHECK(phx_price_losses(&round, prices, loss, &none, counts) == PHX_OK);
    CHECK(none == 0 && loss[0] == (INT64_C(1) << 61) + 1 && loss[1] == prices[1] - 7);
    CHECK(counts[30] == 0 && counts[31] == 1 && counts[61] == 1 && counts[62] == 2);
}

/* 900 jobs alike: at one price all want the same; by turns they nearly share what there is. */
static void case_jobs_alike_share_by_turns(void)
{
    enum { JOBS = 900 };
    static uint32_t first[JOBS + 1];
    static uint32_t kind[2 * JOBS];
    static int64_t value[2 * JOBS];
    static int32_t chosen[JOBS];
    static int32_t shared[JOBS];
    const uint32_t demand[2] = {1, 4};
    for (uint32_t job = 0; job < JOBS; ++job) {
        first[job + 1] = 2 * job + 2;
        value[2 * job] = 1000;
        kind[2 * job + 1] = 1;
        value[2 * job + 1] = 2500;
    }
    const int64_t capacity = 1800;
    int64_t scratch[2];
    const phx_round round = {JOBS, 1, 2, first, kind, value, demand, &capacity, scratch};
    double prices[1] = {0};
    double bound = 0;
    uint32_t passes = 0;
    CHECK(phx_price_find(&round, prices, 1e-9, 400, chosen, shared, &bound, &passes) == PHX_OK);
    CHECK(prices[0] > 499.99 && prices[0] < 500.01);
    CHECK(bound > 1349999.0 && bound < 1350001.0);
    int64_t used = 0;
    for (uint32_t job = 0; job < JOBS; ++job) {
        used += shared[job] == 0 ? 1 : shared[job] == 1 ? 4 : 0;
    }
    CHECK(used > 1780 && used < 1820);
    const int64_t whole = 500;
    uint32_t steps = 0;
    CHECK(phx_round_mend(&round, &whole, 100, shared, &steps) == PHX_OK);
    CHECK(steps < 20);
    double warm[1] = {499.0};
    uint32_t fewer = 0;
    CHECK(phx_price_find(&round, warm, 1e-9, 400, chosen, shared, &bound, &fewer) == PHX_OK);
    CHECK(warm[0] > 499.99 && warm[0] < 500.01);
}

/* The planes that are kept are fewer than it takes here; a round without jobs has no price. */
static void case_prices_of_many_rows(void)
{
    enum { JOBS = 500, WIDE = PHX_ROWS_MAX };
    static uint32_t first[JOBS + 1];
    static uint32_t kind[JOBS];
    static uint32_t demand[JOBS * WIDE];
    static int64_t value[JOBS];
    static int64_t scratch[JOBS];
    static int32_t chosen[JOBS];
    static int32_t shared[JOBS];
    int64_t capacity[WIDE];
    double prices[WIDE] = {0};
    double bound = 0;
    uint32_t passes = 0;
    state = 6;
    for (uint32_t job = 0; job < JOBS; ++job) {
        first[job + 1] = job + 1;
        kind[job] = job;
        value[job] = 1000 + draw(1000);
        for (uint32_t row = 0; row < WIDE; ++row) {
            demand[job * WIDE + row] = draw(9);
        }
    }
    for (uint32_t row = 0; row < WIDE; ++row) {
        capacity[row] = 300 + draw(300);
    }
    phx_round round = {JOBS, WIDE, JOBS, first, kind, value, demand, capacity, scratch};
    CHECK(phx_price_find(&round, prices, 1e-10, 400, chosen, shared, &bound, &passes) == PHX_OK);
    CHECK(passes > 96 && passes <= 401);
    int64_t whole[WIDE];
    int64_t proven = 0;
    uint32_t steps = 0;
    whole_prices(&round, prices, whole);
    CHECK(phx_price_bound(&round, whole, &proven) == PHX_OK);
    CHECK((double)proven < bound * 1.01 && (double)proven > bound * 0.99);
    CHECK(phx_round_mend(&round, whole, 1000, shared, &steps) == PHX_OK);
    CHECK(worth(&round, shared) > proven * 8 / 10 && worth(&round, shared) <= proven);
    round.jobs = 0;
    memset(prices, 0, sizeof prices);
    CHECK(phx_price_find(&round, prices, 1e-10, 400, chosen, shared, &bound, &passes) == PHX_OK);
    CHECK(bound == 0.0 && prices[0] == 0.0);
}

static void case_what_is_no_round(void)
{
    small made;
    state = 7;
    draw_small(&made, 1, 1);
    const int64_t below = -1;
    int64_t bound = 0;
    double prices[1] = {0};
    double told = 0;
    uint32_t passes = 0;
    uint32_t counts[64];
    int32_t chosen[JOBS_MAX] = {0};
    CHECK(phx_price_bound(&made.round, &below, &bound) == PHX_BAD_GANG);
    CHECK(phx_price_losses(&made.round, &below, &bound, &bound, counts) == PHX_BAD_GANG);
    const int64_t large = INT64_C(1) << 61;
    made.capacity[0] = 2;
    made.round.jobs = 0;
    CHECK(phx_price_bound(&made.round, &large, &bound) == PHX_BAD_GANG);
    for (uint32_t turn = 0; turn < 2; ++turn) {
        made.round.rows = turn == 0 ? 0 : PHX_ROWS_MAX + 1;
        CHECK(phx_price_find(&made.round, prices, 0, 1, chosen, chosen, &told, &passes) ==
              PHX_BAD_GANG);
        CHECK(phx_round_mend(&made.round, &below, 1, chosen, &passes) == PHX_BAD_GANG);
        CHECK(phx_assign_dense(&made.round, NULL, chosen, &bound) == PHX_BAD_GANG);
    }
    made.round.rows = 1;
    made.round.jobs = 1;
    made.first[1] = 1;
    for (int32_t wrong = -2; wrong < 3; wrong += 3) {
        chosen[0] = wrong;
        CHECK(phx_round_mend(&made.round, &large, 1, chosen, &passes) == PHX_BAD_GANG);
    }
}

static void case_what_the_dense_recurrence_refuses(void)
{
    int64_t scratch[64];
    int64_t total = 0;
    int32_t chosen[2];
    int64_t capacity = 1;
    const uint32_t falls[3] = {0, 2, 1};
    const uint32_t many[2] = {0, 65535};
    const uint32_t none[1] = {0};
    phx_round round = {2, 1, 0, falls, NULL, NULL, NULL, &capacity, NULL};
    CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_BAD_GANG);
    round.jobs = 1;
    round.first = many;
    CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_BAD_GANG);
    round.jobs = 0;
    round.first = none;
    CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_OK && total == 0);
    capacity = -1;
    CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_BAD_GANG);
    capacity = INT64_C(1) << 32;
    CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_BAD_GANG);
}

/* A capacity below 0 that no job takes of: no change helps, and none is made. */
static void case_what_cannot_be_mended(void)
{
    const uint32_t first[2] = {0, 0};
    const int64_t capacity = -1;
    const int64_t price = 1;
    int32_t chosen[1] = {-1};
    uint32_t steps = 7;
    const phx_round round = {1, 1, 0, first, NULL, NULL, NULL, &capacity, NULL};
    CHECK(phx_round_mend(&round, &price, 1000, chosen, &steps) == PHX_GAVE_UP);
    CHECK(steps == 0 && chosen[0] == -1);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(dense_is_the_best_there_is),
                                       CASE(ties_of_the_dense_recurrence),
                                       CASE(prices_bound_and_mended_answers_fit),
                                       CASE(any_answer_is_mended),
                                       CASE(losses_are_beside_the_best),
                                       CASE(dear_choices_are_not_worth_it),
                                       CASE(jobs_alike_share_by_turns),
                                       CASE(prices_of_many_rows),
                                       CASE(what_is_no_round),
                                       CASE(what_the_dense_recurrence_refuses),
                                       CASE(what_cannot_be_mended)};
    return run_cases("test_solve", cases, sizeof cases / sizeof *cases, count, words);
}
