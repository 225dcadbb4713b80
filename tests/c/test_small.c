/* Small rounds solved in one call, beside the calls that it stands for, and what answers are worth.
 */
#include "cases.h"
#include "table.h"

#include <float.h>
#include <math.h>

#define SMALL_BYTES 20000
#define CAPACITY_MAX 24

/* What a small round was told. */
typedef struct answer {
    phx_status status;
    int32_t choice[TABLE_JOBS];
    phx_small told;
} answer;

static answer solve(const given *of, const uint32_t *order, int32_t bits)
{
    static int64_t scratch[SMALL_BYTES / 8];
    answer made;
    memset(&made, 0xee, sizeof made);
    memset(scratch, 0xee, sizeof scratch);
    CHECK(phx_small_bytes(&of->table) <= sizeof scratch);
    made.status =
        phx_small_solve(&of->table, order, 30, 33, bits, scratch, made.choice, &made.told);
    return made;
}

/* Marks, order, round, sum and dense recurrence, one after the other. */
static answer solve_by_hand(const given *of, const uint32_t *given_order, int32_t bits)
{
    static int64_t scratch[SMALL_BYTES / 8];
    const phx_table *table = &of->table;
    const uint32_t width = table->configurations;
    answer made;
    uint8_t fits[GROUPS * WIDTH];
    uint64_t marks[TABLE_JOBS];
    uint32_t order[TABLE_JOBS];
    uint32_t first[TABLE_JOBS + 1];
    uint32_t kind[TABLE_JOBS * WIDTH];
    int64_t value[TABLE_JOBS * WIDTH];
    int32_t chosen[TABLE_JOBS];
    int64_t total = 0;
    memset(&made, 0xee, sizeof made);
    made.status = phx_round_marks(table, marks, &made.told.bad);
    if (made.status != PHX_OK) {
        return made;
    }
    phx_order_by(marks, table->jobs, order);
    memcpy(order, given_order == NULL ? order : given_order, table->jobs * sizeof *order);
    phx_round_build(table, order, 30, 33, bits, fits, first, kind, value, chosen, &made.told.shift);
    const phx_round round = {table->jobs, 1,     table->groups * width, first,
                             kind,        value, table->demand,         table->capacity,
                             NULL};
    CHECK(phx_round_sum(&round, chosen, &total, &made.told.used) == PHX_OK);
    made.told.trivial = made.told.used <= of->capacity[0];
    if (!made.told.trivial) {
        CHECK(phx_assign_dense_bytes(table->jobs, (uint32_t)of->capacity[0]) <= sizeof scratch);
        CHECK(phx_assign_dense(&round, scratch, chosen, &total) == PHX_OK);
        CHECK(phx_round_sum(&round, chosen, &total, &made.told.used) == PHX_OK);
    }
    for (uint32_t place = 0; place < table->jobs; ++place) {
        const uint32_t job = order[place];
        made.choice[job] = table->fixed == NULL ? -1 : table->fixed[job];
        if (chosen[place] >= 0) {
            CHECK(made.choice[job] == -1);
            made.choice[job] = (int32_t)(kind[first[place] + (uint32_t)chosen[place]] % width);
        }
    }
    made.told.objective = phx_objective(table, order, made.choice);
    return made;
}

/* A table of one row, of few values so that jobs tie, with all that a table may have or lack. */
static void draw_given(given *of)
{
    const uint32_t jobs = draw(TABLE_JOBS + 1);
    const uint32_t start = draw(TABLE_JOBS);
    use(of, jobs, 1 + draw(WIDTH), 1);
    const uint32_t width = of->table.configurations;
    of->capacity[0] = draw(CAPACITY_MAX);
    for (uint32_t at = 0; at < jobs * width; ++at) {
        of->utility[at] = draw(8) == 0 ? NAN : draw(12) * 0.25 + (draw(4) == 0 ? 0.1 : 0.0);
        of->utility[at] = draw(300) == 0 ? -INFINITY : of->utility[at];
        of->counted[at] = draw(50) * 0.7;
    }
    for (uint32_t at = 0; at < WANTS; ++at) {
        of->demand[at] = draw(14);
    }
    for (uint32_t job = 0; job < jobs; ++job) {
        of->group[job] = draw(GROUPS);
        of->fixed[job] = draw(4) == 0 ? (int32_t)draw(width) : -1;
        of->held[job] = (int32_t)draw(width + 1) - 1;
        of->order[job] = (job + start) % jobs;
    }
    of->table.groups = draw(2) == 0 ? 1 : GROUPS;
    of->table.group = of->table.groups == 1 ? NULL : of->group;
    of->table.idle = draw(3) * 0.75;
    of->table.fixed = draw(2) == 0 ? NULL : of->fixed;
    of->table.held = draw(2) == 0 ? NULL : of->held;
    of->table.counted = draw(2) == 0 ? NULL : of->counted;
}

static int is_same_answer(const answer *one, const answer *other, uint32_t jobs)
{
    const int counts = one->status == PHX_OK && other->status == PHX_OK;
    if (!counts) {
        return one->status == other->status && one->told.bad == other->told.bad;
    }
    const int same_worth =
        memcmp(&one->told.objective, &other->told.objective, sizeof(double)) == 0;
    return memcmp(one->choice, other->choice, jobs * sizeof *one->choice) == 0 &&
           one->told.used == other->told.used && one->told.shift == other->told.shift &&
           one->told.trivial == other->told.trivial &&
           (same_worth || (isnan(one->told.objective) && isnan(other->told.objective)));
}

static void case_small_is_what_its_parts_are(void)
{
    uint32_t solved[2] = {0};
    uint32_t refused = 0;
    state = 22;
    for (uint32_t turn = 0; turn < 8000; ++turn) {
        given of;
        draw_given(&of);
        const uint32_t *order = turn % 2 == 0 ? NULL : of.order;
        const int32_t bits = (int32_t)draw(4);
        const answer made = solve(&of, order, bits);
        const answer expected = solve_by_hand(&of, order, bits);
        CHECK(is_same_answer(&made, &expected, of.table.jobs));
        if (made.status == PHX_OK) {
            ++solved[made.told.trivial];
        } else {
            CHECK(made.status == PHX_BAD_GANG && isinf(of.utility[made.told.bad]));
            ++refused;
        }
    }
    CHECK(solved[0] > 1500 && solved[1] > 4000 && refused > 100);
}

/* Two jobs may have 1 or 3 of 4; the third has what it is fixed to, which no capacity counts. */
static void three_jobs(given *of)
{
    use(of, 3, 2, 1);
    const double utility[6] = {1.0, 4.0, 1.5, 5.0, 2.0, 8.0};
    memcpy(of->utility, utility, sizeof utility);
    of->demand[0] = 1;
    of->demand[1] = 3;
    of->capacity[0] = 4;
    of->fixed[2] = 0;
}

static void case_small_by_hand(void)
{
    given of;
    three_jobs(&of);
    const answer made = solve(&of, of.order, 0);
    const int32_t choice[3] = {0, 1, 0};
    CHECK(made.status == PHX_OK && memcmp(made.choice, choice, sizeof choice) == 0);
    CHECK(made.told.used == 4 && !made.told.trivial && made.told.objective == 8.0);
    /* 9 is below 2^4. */
    CHECK(made.told.shift == 26);
    of.capacity[0] = 6;
    const answer all = solve(&of, of.order, 0);
    const int32_t best[3] = {1, 1, 0};
    CHECK(memcmp(all.choice, best, sizeof best) == 0);
    CHECK(all.told.used == 6 && all.told.trivial && all.told.objective == 11.0);
    of.table.fixed = NULL;
    of.capacity[0] = 7;
    const answer free = solve(&of, of.order, 0);
    const int32_t three[3] = {0, 1, 1};
    CHECK(memcmp(free.choice, three, sizeof three) == 0);
    CHECK(free.told.used == 7 && free.told.objective == 14.0);
}

/* A job that is left out counts as idle, one that is fixed as what it has. */
static void case_idle_is_counted(void)
{
    given of;
    three_jobs(&of);
    of.capacity[0] = 0;
    of.table.idle = 0.5;
    answer made = solve(&of, NULL, 0);
    CHECK(made.choice[0] == -1 && made.choice[1] == -1 && made.choice[2] == 0);
    CHECK(made.told.trivial && made.told.used == 0 && made.told.objective == 3.0);
    const double counted[6] = {1.0, 1.0, 1.0, 1.0, 32.0, 1.0};
    memcpy(of.counted, counted, sizeof counted);
    of.table.counted = of.counted;
    made = solve(&of, NULL, 0);
    CHECK(made.told.objective == 33.0);
    of.capacity[0] = 3;
    made = solve(&of, NULL, 0);
    CHECK(made.choice[0] == -1 && made.choice[1] == 1 && made.told.objective == 33.5);
}

/* Of jobs that tie the order says which has it: given, or by the marks, which are of rows. */
static void case_order_settles_ties(void)
{
    given of;
    use(&of, 2, 1, 1);
    of.utility[0] = 1.0;
    of.utility[1] = 1.0;
    of.demand[0] = 3;
    of.capacity[0] = 3;
    const uint32_t turned[2] = {1, 0};
    answer made = solve(&of, of.order, 0);
    CHECK(made.choice[0] == 0 && made.choice[1] == -1);
    made = solve(&of, turned, 0);
    CHECK(made.choice[0] == -1 && made.choice[1] == 0);
    made = solve(&of, NULL, 0); /* equal marks: the lower job */
    CHECK(made.choice[0] == 0 && made.choice[1] == -1);
}

static void case_what_is_no_small_round(void)
{
    static int64_t scratch[SMALL_BYTES / 8];
    given of;
    three_jobs(&of);
    of.utility[5] = -INFINITY;
    of.utility[3] = INFINITY;
    answer made = solve(&of, NULL, 0);
    CHECK(made.status == PHX_BAD_GANG && made.told.bad == 3);
    three_jobs(&of);
    for (uint32_t rows = 0; rows < 3; rows += 2) {
        of.table.rows = rows;
        CHECK(solve(&of, NULL, 0).status == PHX_BAD_GANG);
    }
    three_jobs(&of);
    of.capacity[0] = -1;
    CHECK(phx_small_solve(&of.table, NULL, 30, 33, 0, scratch, made.choice, &made.told) ==
          PHX_BAD_GANG);
}

/* Every amount up to 2^32 is a number of states; beyond, what all want alone may fit still. */
static void case_capacities_beyond_32_bits(void)
{
    given of;
    three_jobs(&of);
    static int64_t scratch[SMALL_BYTES / 8];
    answer made;
    of.capacity[0] = INT64_C(1) << 32;
    CHECK(phx_small_bytes(&of.table) <= sizeof scratch);
    CHECK(phx_small_solve(&of.table, NULL, 30, 33, 0, scratch, made.choice, &made.told) == PHX_OK);
    CHECK(made.told.trivial && made.told.used == 6);
    of.demand[1] = UINT32_MAX;
    CHECK(phx_small_solve(&of.table, NULL, 30, 33, 0, scratch, made.choice, &made.told) ==
          PHX_BAD_GANG);
}

/* The sum of what jobs have, all of which are chosen but for those at -1. */
static double sum_of(const double *worth, const int32_t *choice, double idle)
{
    given of;
    use(&of, TABLE_JOBS, 1, 1);
    memcpy(of.utility, worth, TABLE_JOBS * sizeof *worth);
    of.table.idle = idle;
    return phx_objective(&of.table, of.order, choice);
}

static void case_objective_is_added_up_without_loss(void)
{
    const int32_t all[TABLE_JOBS] = {0};
    const int32_t some[TABLE_JOBS] = {0, -1, 0, -1, 0, 0};
    const double nasty[TABLE_JOBS] = {1e16, 1.0, -1e16, 1.0, 0.0, 0.0};
    CHECK(sum_of(nasty, all, 0.0) == 2.0);
    CHECK(sum_of(nasty, some, 1.0) == 2.0);
    const double turned[TABLE_JOBS] = {1.0, 1e100, 1.0, -1e100, 0.0, 0.0};
    CHECK(sum_of(turned, all, 0.0) == 2.0);
    const double zeros[TABLE_JOBS] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
    CHECK(sum_of(zeros, all, 0.0) == 0.0 && !signbit(sum_of(zeros, all, 0.0)));
    given none;
    use(&none, 0, 1, 1);
    CHECK(phx_objective(&none.table, none.order, NULL) == 0.0);
}

static void case_objectives_that_leave_a_double_are_infinite(void)
{
    const int32_t all[TABLE_JOBS] = {0};
    const int32_t idle[TABLE_JOBS] = {-1, -1, -1, -1, -1, -1};
    double large[TABLE_JOBS] = {DBL_MAX, DBL_MAX, 1.0, 0.0, 0.0, 0.0};
    CHECK(sum_of(large, all, 0.0) == INFINITY);
    CHECK(sum_of(large, idle, -DBL_MAX) == -INFINITY);
    large[1] = -DBL_MAX;
    CHECK(sum_of(large, all, 0.0) == 1.0);
    /* In another order this one is finite; the round's is what counts. */
    given of;
    use(&of, 3, 1, 1);
    of.utility[0] = DBL_MAX;
    of.utility[1] = DBL_MAX;
    of.utility[2] = -DBL_MAX;
    const uint32_t apart[3] = {0, 2, 1};
    CHECK(phx_objective(&of.table, of.order, all) == INFINITY);
    CHECK(phx_objective(&of.table, apart, all) == DBL_MAX);
}

/* Random sums beside those of extended precision. */
static void case_objective_is_as_of_extended_precision(void)
{
    uint32_t differ = 0;
    state = 23;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        given of;
        int32_t choice[TABLE_JOBS];
        long double sum = 0.0L;
        double plain = 0.0;
        double size = 0.0;
        use(&of, TABLE_JOBS, WIDTH, 1);
        of.table.idle = draw(100) * 0.01;
        of.table.counted = turn % 2 == 0 ? NULL : of.counted;
        for (uint32_t at = 0; at < TABLE_JOBS * WIDTH; ++at) {
            of.utility[at] = ldexp((double)draw(1000) - 500.0, (int)draw(30) - 15) * 0.1;
            of.counted[at] = ldexp((double)draw(1000) - 500.0, (int)draw(30) - 15) * 0.1;
        }
        for (uint32_t job = 0; job < TABLE_JOBS; ++job) {
            choice[job] = (int32_t)draw(WIDTH + 1) - 1;
            const double *worth = turn % 2 == 0 ? of.utility : of.counted;
            const double next =
                choice[job] < 0 ? of.table.idle : worth[job * WIDTH + (uint32_t)choice[job]];
            sum += next;
            plain += next;
            size += fabs(next);
            of.order[job] = TABLE_JOBS - 1 - job;
        }
        const double told = phx_objective(&of.table, of.order, choice);
        CHECK(fabsl(told - sum) <= DBL_EPSILON * fabsl(sum) + 1e-18L * size);
        differ += told != plain;
    }
    CHECK(differ > 500);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(small_is_what_its_parts_are),
                                       CASE(small_by_hand),
                                       CASE(idle_is_counted),
                                       CASE(order_settles_ties),
                                       CASE(what_is_no_small_round),
                                       CASE(capacities_beyond_32_bits),
                                       CASE(objective_is_added_up_without_loss),
                                       CASE(objectives_that_leave_a_double_are_infinite),
                                       CASE(objective_is_as_of_extended_precision)};
    return run_cases("test_small", cases, sizeof cases / sizeof *cases, count, words);
}
