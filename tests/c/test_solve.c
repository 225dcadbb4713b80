/* Rounds: every assignment of small ones is looked at, and larger ones keep their promises. */
#include "cases.h"

#include "solve.h"

#define JOBS_MAX 5
#define CHOICES_MAX 3
#define ROWS 2

typedef struct small {
    phx_round round;
    uint32_t first[JOBS_MAX + 1];
    uint32_t demand[JOBS_MAX * CHOICES_MAX * ROWS];
    int64_t value[JOBS_MAX * CHOICES_MAX];
    int64_t capacity[ROWS];
    uint8_t only_row[JOBS_MAX * CHOICES_MAX];
    uint32_t only[JOBS_MAX * CHOICES_MAX];
} small;

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* A round of one row or two; `single`: no choice wants more than one of them. */
static void fill(small *made, uint32_t rows, int single)
{
    memset(made, 0, sizeof *made);
    const uint32_t jobs = draw(JOBS_MAX + 1);
    for (uint32_t job = 0; job < jobs; ++job) {
        const uint32_t count = draw(CHOICES_MAX + 1);
        made->first[job + 1] = made->first[job] + count;
        for (uint32_t choice = made->first[job]; choice < made->first[job + 1]; ++choice) {
            made->value[choice] = draw(12);
            const uint32_t row = draw(rows);
            for (uint32_t at = 0; at < rows; ++at) {
                made->demand[choice * rows + at] = single && at != row ? 0 : draw(5);
            }
            made->only_row[choice] = (uint8_t)row;
            made->only[choice] = made->demand[choice * rows + row];
        }
    }
    for (uint32_t row = 0; row < rows; ++row) {
        made->capacity[row] = draw(9);
    }
    made->round =
        (phx_round){jobs, rows, made->first, made->demand, made->value, made->capacity, NULL, NULL};
    if (single) {
        made->round.only_row = made->only_row;
        made->round.only = made->only;
    }
}

/* What an answer is worth, -1 where it wants too much. */
static int64_t worth(const phx_round *round, const int32_t *chosen)
{
    int64_t total = 0;
    int64_t left[ROWS] = {0};
    memcpy(left, round->capacity, round->rows * sizeof *left);
    for (uint32_t job = 0; job < round->jobs; ++job) {
        if (chosen[job] >= 0) {
            const uint32_t choice = round->first[job] + (uint32_t)chosen[job];
            total += round->value[choice];
            for (uint32_t row = 0; row < round->rows; ++row) {
                left[row] -= round->demand[choice * round->rows + row];
            }
        }
    }
    for (uint32_t row = 0; row < round->rows; ++row) {
        if (left[row] < 0) {
            return -1;
        }
    }
    return total;
}

/* The most that any answer is worth. */
static int64_t best_of(const phx_round *round)
{
    int32_t chosen[JOBS_MAX];
    int64_t best = 0;
    for (uint32_t job = 0; job < JOBS_MAX; ++job) {
        chosen[job] = -1;
    }
    for (;;) {
        const int64_t here = worth(round, chosen);
        best = here > best ? here : best;
        uint32_t job = 0;
        while (job < round->jobs &&
               ++chosen[job] == (int32_t)(round->first[job + 1] - round->first[job])) {
            chosen[job++] = -1;
        }
        if (job == round->jobs) {
            return best;
        }
    }
}

static void case_dense_is_the_best_there_is(void)
{
    int64_t scratch[256];
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        fill(&made, 1, 0);
        int32_t chosen[JOBS_MAX];
        int64_t total = -1;
        const uint32_t capacity = (uint32_t)made.capacity[0];
        CHECK(phx_assign_dense_bytes(made.round.jobs, capacity) <= sizeof scratch);
        CHECK(phx_assign_dense(made.round.jobs, made.first, made.demand, made.value, capacity,
                               scratch, chosen, &total) == PHX_OK);
        CHECK(total == best_of(&made.round));
        CHECK(worth(&made.round, chosen) == total);
    }
    const uint32_t falls[3] = {0, 2, 1};
    const uint32_t many[2] = {0, 65535};
    int32_t chosen[2];
    int64_t total = 0;
    CHECK(phx_assign_dense(2, falls, NULL, NULL, 1, scratch, chosen, &total) == PHX_BAD_GANG);
    CHECK(phx_assign_dense(1, many, NULL, NULL, 1, scratch, chosen, &total) == PHX_BAD_GANG);
}

/* Equal answers: the lowest choice, and any before none. */
static void case_ties_of_the_dense_recurrence(void)
{
    int64_t scratch[64];
    const uint32_t first[3] = {0, 2, 3};
    const uint32_t demand[3] = {2, 1, 0};
    const int64_t value[3] = {5, 5, 0};
    int32_t chosen[2];
    int64_t total = 0;
    CHECK(phx_assign_dense(2, first, demand, value, 3, scratch, chosen, &total) == PHX_OK);
    CHECK(total == 5 && chosen[0] == 0 && chosen[1] == 0);
}

static void case_prices_bound_and_mended_answers_fit(void)
{
    uint32_t exact = 0;
    uint32_t gave_up = 0;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        fill(&made, 1 + turn % 2, (int)(turn / 2 % 2));
        double prices[ROWS] = {0};
        int32_t chosen[JOBS_MAX];
        int32_t shared[JOBS_MAX];
        double bound = 0;
        uint32_t passes = 0;
        CHECK(phx_price_find(&made.round, prices, 1e-12, 200, chosen, shared, &bound, &passes) ==
              PHX_OK);
        const int64_t best = best_of(&made.round);
        CHECK(bound >= (double)best - 1e-6);
        int64_t whole[ROWS];
        int64_t proven = 0;
        for (uint32_t row = 0; row < made.round.rows; ++row) {
            whole[row] = (int64_t)(prices[row] + 0.5);
        }
        CHECK(phx_price_bound(&made.round, whole, &proven) == PHX_OK);
        CHECK(proven >= best);
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

/* 900 jobs alike: at one price all want the same; by turns they nearly share what there is. */
static void case_jobs_alike_share_by_turns(void)
{
    enum { JOBS = 900 };
    static uint32_t first[JOBS + 1];
    static uint32_t demand[2 * JOBS];
    static int64_t value[2 * JOBS];
    static int32_t chosen[JOBS];
    static int32_t shared[JOBS];
    for (uint32_t job = 0; job < JOBS; ++job) {
        first[job + 1] = 2 * job + 2;
        demand[2 * job] = 1;
        value[2 * job] = 1000;
        demand[2 * job + 1] = 4;
        value[2 * job + 1] = 2500;
    }
    const int64_t capacity = 1800;
    const phx_round round = {JOBS, 1, first, demand, value, &capacity, NULL, NULL};
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

static void case_what_is_no_round(void)
{
    small made;
    fill(&made, 1, 0);
    const int64_t below = -1;
    int64_t bound = 0;
    double prices[1] = {0};
    double told = 0;
    uint32_t passes = 0;
    int32_t chosen[JOBS_MAX] = {0};
    CHECK(phx_price_bound(&made.round, &below, &bound) == PHX_BAD_GANG);
    const int64_t large = INT64_C(1) << 61;
    const int64_t many = 4;
    phx_round round = {0, 1, made.first, made.demand, made.value, &many, NULL, NULL};
    CHECK(phx_price_bound(&round, &large, &bound) == PHX_BAD_GANG);
    for (uint32_t turn = 0; turn < 2; ++turn) {
        round.rows = turn == 0 ? 0 : PHX_ROWS_MAX + 1;
        CHECK(phx_price_find(&round, prices, 0, 1, chosen, chosen, &told, &passes) == PHX_BAD_GANG);
        CHECK(phx_round_mend(&round, &below, 1, chosen, &passes) == PHX_BAD_GANG);
    }
    const uint32_t first[2] = {0, 1};
    const uint32_t demand = 1;
    const int64_t value = 1;
    const phx_round one = {1, 1, first, &demand, &value, &many, NULL, NULL};
    for (int32_t wrong = -2; wrong < 3; wrong += 3) {
        chosen[0] = wrong;
        CHECK(phx_round_mend(&one, &many, 1, chosen, &passes) == PHX_BAD_GANG);
    }
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(dense_is_the_best_there_is),
                                       CASE(ties_of_the_dense_recurrence),
                                       CASE(prices_bound_and_mended_answers_fit),
                                       CASE(jobs_alike_share_by_turns), CASE(what_is_no_round)};
    return run_cases("test_solve", cases, sizeof cases / sizeof *cases, count, words);
}
