/* Rounds made of tables, their marks, what answers are worth, and answers filled greedily. */
#include "cases.h"
#include "table.h"

#include <math.h>

typedef struct built {
    uint8_t fits[GROUPS * WIDTH];
    uint32_t first[TABLE_JOBS + 1];
    uint32_t kind[TABLE_JOBS * WIDTH];
    int64_t value[TABLE_JOBS * WIDTH];
    int32_t alone[TABLE_JOBS];
    int32_t shift;
} built;

static built build(const given *of, int32_t job_bits, int32_t all_bits, int32_t bits)
{
    built made;
    memset(&made, 0xee, sizeof made);
    phx_round_build(&of->table, of->order, job_bits, all_bits, bits, made.fits, made.first,
                    made.kind, made.value, made.alone, &made.shift);
    return made;
}

static void case_build_leaves_out_what_no_answer_takes(void)
{
    given of;
    use(&of, 3, 4, 1);
    const double utility[12] = {NAN, 1.5, 0.5, -3.0, 2.0, 9.0, 0.25, -0.0, 5.0, 5.0, 5.0, 5.0};
    const uint32_t demand[4] = {1, 2, 3, 101};
    memcpy(of.utility, utility, sizeof utility);
    memcpy(of.demand, demand, sizeof demand);
    of.table.idle = 0.5;
    of.fixed[2] = 1;
    of.order[0] = 1;
    of.order[1] = 2;
    of.order[2] = 0;
    const built made = build(&of, 10, 20, 0);
    const uint32_t first[4] = {0, 2, 2, 4};
    const uint32_t kind[4] = {0, 1, 1, 2};
    /* The jobs' best are worth 8.5 and 1, which is below 2^4. */
    const int64_t value[4] = {96, 544, 64, 0};
    const int32_t alone[3] = {1, -1, 0};
    CHECK(made.shift == 6 && memcmp(made.first, first, sizeof first) == 0);
    CHECK(memcmp(made.kind, kind, sizeof kind) == 0);
    CHECK(memcmp(made.value, value, sizeof value) == 0);
    CHECK(memcmp(made.alone, alone, sizeof alone) == 0);
}

/* Zero of either sign is worth as much as none, so it stays; with nothing else there is no shift.
 */
static void case_build_of_zeros(void)
{
    given of;
    use(&of, 1, 3, 1);
    of.utility[0] = -0.0;
    of.utility[1] = 0.0;
    of.utility[2] = -5e-324;
    const built made = build(&of, 10, 20, 3);
    CHECK(made.shift == 0 && made.first[1] == 2 && made.value[0] == 0 && made.value[1] == 0);
    CHECK(made.alone[0] == 0);
}

static void case_held_wins_ties_by_one(void)
{
    given of;
    use(&of, 2, 3, 1);
    const double utility[6] = {2.0, 2.0, 1.0, 2.0, 1.0, 1.0};
    memcpy(of.utility, utility, sizeof utility);
    of.held[0] = 1;
    of.held[1] = 2;
    const built made = build(&of, 10, 20, 2);
    /* 4 is below 2^3: five of the eight bits are behind the point, and two are for what is held. */
    const int64_t value[6] = {256, 257, 128, 256, 128, 129};
    CHECK(made.shift == 5 && memcmp(made.value, value, sizeof value) == 0);
    CHECK(made.alone[0] == 1 && made.alone[1] == 0);
    of.table.held = NULL;
    const built free = build(&of, 10, 20, 2);
    CHECK(free.value[1] == 256 && free.alone[0] == 0);
}

static void case_groups_have_demands_of_their_own(void)
{
    given of;
    use(&of, 2, 2, 2);
    const uint32_t demand[8] = {1, 2, 101, 0, 3, 4, 0, 100};
    memcpy(of.demand, demand, sizeof demand);
    of.table.groups = 2;
    of.table.group = of.group;
    of.group[0] = 1;
    for (uint32_t at = 0; at < 4; ++at) {
        of.utility[at] = 1.0 + at;
    }
    const built made = build(&of, 10, 20, 0);
    const uint32_t kind[3] = {2, 3, 0};
    CHECK(made.first[1] == 2 && made.first[2] == 3);
    CHECK(memcmp(made.kind, kind, sizeof kind) == 0);
}

/* A round of nothing but one number by as many jobs. */
static built alike(given *of, uint32_t jobs, double utility, int32_t job_bits, int32_t all_bits)
{
    use(of, jobs, 1, 1);
    for (uint32_t job = 0; job < jobs; ++job) {
        of->utility[job] = utility;
    }
    return build(of, job_bits, all_bits, 0);
}

static void case_numbers_of_any_size_keep_their_bits(void)
{
    given of;
    built made = alike(&of, 1, 5e-324, 50, 58);
    CHECK(made.shift == 50 + 1073 && made.value[0] == INT64_C(1) << 49);
    made = alike(&of, 1, 1.7e308, 50, 58);
    CHECK(made.shift == 50 - 1024 && made.value[0] > INT64_C(1) << 49);
    CHECK(made.value[0] == llrint(ldexp(1.7e308, 50 - 1024)));
    /* The jobs' best have two bits fewer than all of them; all have no more than these. */
    made = alike(&of, 3, 1.0, 10, 20);
    CHECK(made.shift == 8 && made.value[2] == 256);
    made = alike(&of, 3, 1.0, 20, 10);
    CHECK(made.shift == 8 && made.value[2] == 256);
    made = alike(&of, 1, 1 - 0x1p-53, 10, 20);
    CHECK(made.shift == 10 && made.value[0] == 1024); /* rounded, it is no longer below */
}

/* 0.1 + 0.2 + 0.7 is 1 in doubles, 0.7 + 0.2 + 0.1 is below it: what counts is the round's order.
 */
static void case_the_order_of_the_table_does_not_matter(void)
{
    given of;
    use(&of, 3, 1, 1);
    const double utility[3] = {0.1, 0.2, 0.7};
    memcpy(of.utility, utility, sizeof utility);
    const built made = build(&of, 50, 58, 0);
    for (uint32_t job = 0; job < 3; ++job) {
        of.utility[job] = utility[2 - job];
        of.order[job] = 2 - job;
    }
    const built turned = build(&of, 50, 58, 0);
    CHECK(made.shift == 49 && turned.shift == 49);
    CHECK(memcmp(made.value, turned.value, 3 * sizeof *made.value) == 0);
}

/* Sums that leave a double, and numbers whose difference does. */
static void case_sums_may_be_too_large_for_a_double(void)
{
    given of;
    built made = alike(&of, 6, 1.7e308, 50, 58);
    CHECK(made.shift == 50 - 1027);
    for (uint32_t job = 0; job < 6; ++job) {
        CHECK(made.value[job] == llrint(ldexp(1.7e308, 50 - 1027)));
    }
    of.table.idle = -1.7e308;
    of.table.jobs = 1;
    made = build(&of, 50, 58, 2);
    CHECK(made.shift == 48 - 1025);
    CHECK(made.value[0] == 4 * llrint(ldexp(1.7e308, 48 - 1024)));
}

/* Random tables beside what the header says, in extended precision. */
static void case_build_is_what_the_header_says(void)
{
    state = 8;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        given of;
        const uint32_t jobs = draw(TABLE_JOBS + 1);
        use(&of, jobs, 1 + draw(WIDTH), TABLE_ROWS);
        const uint32_t width = of.table.configurations;
        for (uint32_t at = 0; at < jobs * width; ++at) {
            of.utility[at] = draw(8) == 0 ? NAN : ldexp(draw(1000), (int)draw(40) - 20);
        }
        for (uint32_t at = 0; at < WANTS; ++at) {
            of.demand[at] = draw(120);
        }
        of.table.groups = GROUPS;
        of.table.group = of.group;
        of.table.idle = draw(3) * 0.75;
        for (uint32_t job = 0; job < jobs; ++job) {
            of.group[job] = draw(GROUPS);
            of.fixed[job] = (int32_t)draw(4) == 0 ? 0 : -1;
            of.held[job] = (int32_t)draw(width + 1) - 1;
        }
        if (draw(4) == 0) {
            of.table.fixed = NULL; /* as if each were free */
            memset(of.fixed, 0xff, sizeof of.fixed);
        }
        const int32_t bits = (int32_t)draw(4);
        const built made = build(&of, 30, 33, bits);
        uint32_t count = 0;
        double best_sum = 0.0;
        double sum = 0.0;
        for (uint32_t job = 0; job < jobs; ++job) {
            double best = 0.0;
            CHECK(made.first[job] == count);
            for (uint32_t at = 0; at < width && of.fixed[job] < 0; ++at) {
                const uint32_t kind = of.group[job] * width + at;
                const double net = of.utility[job * width + at] - of.table.idle;
                if (net >= 0 && of.demand[2 * kind] <= 100 && of.demand[2 * kind + 1] <= 100) {
                    const int64_t whole = llrintl(ldexpl(net, made.shift));
                    CHECK(made.kind[count] == kind);
                    CHECK(made.value[count] ==
                          whole * (1 << bits) + ((int32_t)at == of.held[job] ? 1 : 0));
                    best = net > best ? net : best;
                    sum += net;
                    ++count;
                }
            }
            best_sum += best;
        }
        CHECK(made.first[jobs] == count);
        /* Below the limits, and not by more than a bit. */
        const double best_bits = ldexp(best_sum, made.shift + bits);
        const double all_bits = ldexp(sum, made.shift + bits);
        CHECK(best_bits < ldexp(1.0, 30) && all_bits < ldexp(1.0, 33));
        CHECK(best_sum == 0.0 || best_bits >= ldexp(1.0, 29) || all_bits >= ldexp(1.0, 32));
    }
}

static void case_alone_takes_the_first_of_the_best(void)
{
    given of;
    use(&of, 2, 4, 1);
    const double utility[8] = {1.0, 3.0, 3.0, 2.0, NAN, NAN, NAN, -1.0};
    memcpy(of.utility, utility, sizeof utility);
    const built made = build(&of, 10, 20, 0);
    CHECK(made.alone[0] == 1 && made.alone[1] == -1);
}

static void case_marks_are_of_rows_alone(void)
{
    given of;
    use(&of, 6, 2, 1);
    const double utility[12] = {1.0, 2.0, 2.0, 1.0, 0.0, NAN, 1.0, 2.0, -0.0, -NAN, 1.0, 2.0};
    memcpy(of.utility, utility, sizeof utility);
    uint64_t marks[6];
    uint64_t turned[6];
    uint64_t bad = 99;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_OK && bad == 99);
    CHECK(marks[0] == marks[3] && marks[2] == marks[4] && marks[0] == marks[5]);
    CHECK(marks[0] != marks[1] && marks[0] != marks[2] && marks[1] != marks[2]);
    for (uint32_t job = 0; job < 6; ++job) {
        memcpy(of.utility + (size_t)2 * job, utility + (size_t)2 * (5 - job), 2 * sizeof *utility);
    }
    CHECK(phx_round_marks(&of.table, turned, &bad) == PHX_OK);
    for (uint32_t job = 0; job < 6; ++job) {
        CHECK(turned[job] == marks[5 - job]);
    }
}

/* Numbers side by side, a place apart, are other numbers. */
static void case_marks_tell_numbers_from_places(void)
{
    given of;
    use(&of, 2, 2, 1);
    const double utility[4] = {3.0, 3.0, nextafter(3.0, 4.0), nextafter(3.0, 2.0)};
    memcpy(of.utility, utility, sizeof utility);
    uint64_t marks[2];
    uint64_t bad = 0;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_OK && marks[0] != marks[1]);
}

/* Groups with the same demands are one; what a row of another group wants tells jobs apart. */
static void case_marks_are_of_demands_too(void)
{
    given of;
    use(&of, 2, 2, 2);
    uint64_t marks[2];
    uint64_t bad = 0;
    for (uint32_t at = 0; at < 8; ++at) {
        of.demand[at] = 5 + at % 4;
    }
    of.table.groups = 2;
    of.table.group = of.group;
    of.group[1] = 1;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_OK && marks[0] == marks[1]);
    of.demand[7] = 9;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_OK && marks[0] != marks[1]);
    of.table.group = NULL;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_OK && marks[0] == marks[1]);
}

static void case_marks_refuse_the_first_infinity(void)
{
    given of;
    use(&of, 3, 2, 1);
    uint64_t marks[3];
    uint64_t bad = 0;
    of.utility[5] = INFINITY;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_BAD_GANG && bad == 5);
    of.utility[2] = -INFINITY;
    of.utility[3] = INFINITY;
    CHECK(phx_round_marks(&of.table, marks, &bad) == PHX_BAD_GANG && bad == 2);
}

static void case_sums_are_of_what_is_chosen(void)
{
    small made;
    state = 9;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        draw_small(&made, 1 + turn % ROWS, 1);
        int32_t chosen[JOBS_MAX];
        int64_t used[ROWS];
        int64_t value = 0;
        int64_t total = -1;
        for (uint32_t job = 0; job < made.round.jobs; ++job) {
            chosen[job] = (int32_t)draw(made.first[job + 1] - made.first[job] + 1) - 1;
            value += chosen[job] < 0 ? 0 : made.value[made.first[job] + (uint32_t)chosen[job]];
        }
        CHECK(phx_round_sum(&made.round, chosen, &total, used) == PHX_OK && total == value);
        for (uint32_t row = 0; row < made.round.rows; ++row) {
            for (uint32_t job = 0; job < made.round.jobs; ++job) {
                used[row] -= wanted(&made.round, job, chosen[job], row);
            }
            CHECK(used[row] == 0);
        }
        for (int32_t wrong = 0; made.round.jobs > 0 && wrong < 2; ++wrong) {
            chosen[0] = wrong ? (int32_t)made.first[1] : -2;
            CHECK(phx_round_sum(&made.round, chosen, &total, used) == PHX_BAD_GANG);
            CHECK(phx_round_fill(&made.round, NULL, chosen) == PHX_BAD_GANG);
        }
    }
}

/* The choice that a job with none takes of what is left, as a loop over all of them says. */
static int32_t greedy(const phx_round *round, uint32_t job, int32_t *chosen)
{
    int32_t best = -1;
    const int32_t places = (int32_t)(round->first[job + 1] - round->first[job]);
    int64_t value = -1;
    for (int32_t place = 0; place < places; ++place) {
        const int64_t here = round->value[round->first[job] + (uint32_t)place];
        chosen[job] = place;
        if (worth(round, chosen) >= 0 && here > value) {
            value = here;
            best = place;
        }
    }
    chosen[job] = best;
    return best;
}

static void case_filled_in_order_by_what_fits(void)
{
    state = 10;
    uint32_t refused = 0;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        small made;
        draw_small(&made, 1 + turn % ROWS, 1);
        const uint32_t jobs = made.round.jobs;
        int32_t chosen[JOBS_MAX];
        int32_t expected[JOBS_MAX];
        int64_t order[JOBS_MAX];
        const uint32_t start = draw(JOBS_MAX);
        for (uint32_t job = 0; job < jobs; ++job) {
            const uint32_t places = made.first[job + 1] - made.first[job];
            chosen[job] = draw(3) == 0 ? (int32_t)draw(places + 1) - 1 : -1;
            order[job] = (start + 2 * job) % jobs;
        }
        for (uint32_t job = 0; jobs % 2 == 0 && job < jobs; ++job) {
            order[job] = jobs - 1 - job; /* steps of two meet only some of them */
        }
        memcpy(expected, chosen, sizeof expected);
        const int fits = worth(&made.round, chosen) >= 0;
        refused += !fits;
        CHECK(phx_round_fill(&made.round, order, chosen) == (fits ? PHX_OK : PHX_BAD_GANG));
        for (uint32_t place = 0; fits && place < jobs; ++place) {
            const uint32_t job = (uint32_t)order[place];
            CHECK(chosen[job] ==
                  (expected[job] >= 0 ? expected[job] : greedy(&made.round, job, expected)));
        }
        CHECK(memcmp(chosen, expected, jobs * sizeof *chosen) == 0);
    }
    CHECK(refused > 200);
    phx_round wide = {0, PHX_ROWS_MAX + 1, 0, NULL, NULL, NULL, NULL, NULL, NULL};
    CHECK(phx_round_fill(&wide, NULL, NULL) == PHX_BAD_GANG);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(build_leaves_out_what_no_answer_takes),
                                       CASE(build_of_zeros),
                                       CASE(held_wins_ties_by_one),
                                       CASE(groups_have_demands_of_their_own),
                                       CASE(numbers_of_any_size_keep_their_bits),
                                       CASE(the_order_of_the_table_does_not_matter),
                                       CASE(sums_may_be_too_large_for_a_double),
                                       CASE(build_is_what_the_header_says),
                                       CASE(alone_takes_the_first_of_the_best),
                                       CASE(marks_are_of_rows_alone),
                                       CASE(marks_tell_numbers_from_places),
                                       CASE(marks_are_of_demands_too),
                                       CASE(marks_refuse_the_first_infinity),
                                       CASE(sums_are_of_what_is_chosen),
                                       CASE(filled_in_order_by_what_fits)};
    return run_cases("test_rounds", cases, sizeof cases / sizeof *cases, count, words);
}
