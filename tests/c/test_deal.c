/* Order of jobs by keys, and jobs that are alike served in order. */
#include "cases.h"
#include "small.h"

#define MANY 2000

static const uint64_t *sorted_by;

static int compare(const void *one, const void *other)
{
    const uint32_t first = *(const uint32_t *)one;
    const uint32_t second = *(const uint32_t *)other;
    if (sorted_by[first] != sorted_by[second]) {
        return sorted_by[first] < sorted_by[second] ? -1 : 1;
    }
    return first < second ? -1 : first > second;
}

static void check_order(const uint64_t *keys, uint32_t count)
{
    static uint32_t order[MANY + 1];
    static uint32_t expected[MANY + 1];
    for (uint32_t at = 0; at <= count; ++at) {
        order[at] = UINT32_MAX;
        expected[at] = at;
    }
    phx_order_by(keys, count, order);
    CHECK(order[count] == UINT32_MAX); /* no place beyond the last */
    sorted_by = keys;
    qsort(expected, count, sizeof *expected, compare);
    CHECK(memcmp(order, expected, count * sizeof *order) == 0);
}

/* All sizes, with keys that are mostly equal, all different, and falling. */
static void case_order_is_by_key_then_place(void)
{
    static uint64_t keys[MANY];
    state = 20;
    for (uint32_t count = 0; count <= MANY; count += count < 60 ? 1 : 97) {
        for (uint32_t kind = 0; kind < 4; ++kind) {
            for (uint32_t at = 0; at < count; ++at) {
                keys[at] = kind == 0   ? draw(4)
                           : kind == 1 ? (uint64_t)draw(1U << 30) << 34 | draw(1U << 30)
                           : kind == 2 ? UINT64_MAX - at
                                       : 7;
            }
            check_order(keys, count);
        }
    }
    check_order(keys, MANY);
}

#define ALIKE_JOBS 40
#define ALIKE_CHOICES 4
#define ALIKE_ROWS 3
#define ALIKE_KINDS 12

/* Few kinds of jobs, and rows of demand that are equal though they are not the same. */
typedef struct dealt {
    phx_round round;
    uint32_t first[ALIKE_JOBS + 1];
    uint32_t kind[ALIKE_JOBS * ALIKE_CHOICES];
    int64_t value[ALIKE_JOBS * ALIKE_CHOICES];
    uint32_t demand[ALIKE_KINDS * ALIKE_ROWS];
    int64_t capacity[ALIKE_ROWS];
    int32_t chosen[ALIKE_JOBS];
} dealt;

static void draw_dealt(dealt *made, uint32_t rows)
{
    memset(made, 0, sizeof *made);
    const uint32_t jobs = draw(ALIKE_JOBS + 1);
    for (uint32_t at = 0; at < ALIKE_KINDS * rows; ++at) {
        made->demand[at] = draw(8) == 0 ? draw(3) : at % (ALIKE_KINDS / 2 * rows) / 4;
    }
    for (uint32_t job = 0; job < jobs; ++job) {
        const uint32_t model = draw(3);
        const uint32_t places = model == 0 ? draw(2) : 2 + model;
        made->first[job + 1] = made->first[job] + places;
        for (uint32_t place = 0; place < places; ++place) {
            const uint32_t choice = made->first[job] + place;
            made->kind[choice] = (place + draw(2) * ALIKE_KINDS / 2) % ALIKE_KINDS;
            made->value[choice] = draw(16) == 0 ? draw(4) : (5 * place + model) % 4;
        }
        made->chosen[job] = (int32_t)draw(places + 1) - 1;
    }
    made->round = (phx_round){jobs,        rows,         ALIKE_KINDS,    made->first, made->kind,
                              made->value, made->demand, made->capacity, NULL};
}

/* Whether all choices of two jobs are worth the same and want the same. */
static int are_alike(const phx_round *round, uint32_t one, uint32_t other)
{
    const uint32_t places = round->first[one + 1] - round->first[one];
    int alike = places == round->first[other + 1] - round->first[other];
    for (uint32_t place = 0; alike && place < places; ++place) {
        alike &=
            round->value[round->first[one] + place] == round->value[round->first[other] + place];
        for (uint32_t row = 0; row < round->rows; ++row) {
            alike &= wanted(round, one, (int32_t)place, row) ==
                     wanted(round, other, (int32_t)place, row);
        }
    }
    return alike;
}

/* Whether a place of a job goes to a lower job than another place does. */
static int goes_first(const phx_round *round, uint32_t job, int32_t one, int32_t other)
{
    const int64_t one_worth = one < 0 ? -1 : round->value[round->first[job] + (uint32_t)one];
    const int64_t other_worth = other < 0 ? -1 : round->value[round->first[job] + (uint32_t)other];
    return one_worth != other_worth ? one_worth > other_worth : one < other;
}

/* Every pair of jobs that are alike changes places until none has to; how many did. */
static uint32_t deal_by_pairs(const phx_round *round, int32_t *chosen)
{
    uint32_t changes = 0;
    for (uint32_t before = UINT32_MAX; before != changes;) {
        before = changes;
        for (uint32_t one = 0; one < round->jobs; ++one) {
            for (uint32_t other = one + 1; other < round->jobs; ++other) {
                if (are_alike(round, one, other) &&
                    goes_first(round, one, chosen[other], chosen[one])) {
                    const int32_t kept = chosen[one];
                    chosen[one] = chosen[other];
                    chosen[other] = kept;
                    ++changes;
                }
            }
        }
    }
    return changes;
}

static phx_status deal(const phx_round *round, int32_t *chosen)
{
    static int64_t scratch[200];
    CHECK(phx_deal_bytes(round->jobs) <= sizeof scratch);
    return phx_round_deal(round, scratch, chosen);
}

static void case_jobs_alike_are_served_in_order(void)
{
    uint32_t changes = 0;
    state = 21;
    for (uint32_t turn = 0; turn < 4000; ++turn) {
        dealt of;
        int32_t expected[ALIKE_JOBS];
        int64_t used[2][ALIKE_ROWS];
        int64_t total[2] = {0, 1};
        draw_dealt(&of, 1 + turn % ALIKE_ROWS);
        memcpy(expected, of.chosen, sizeof expected);
        CHECK(phx_round_sum(&of.round, of.chosen, &total[0], used[0]) == PHX_OK);
        CHECK(deal(&of.round, of.chosen) == PHX_OK);
        CHECK(phx_round_sum(&of.round, of.chosen, &total[1], used[1]) == PHX_OK);
        CHECK(total[0] == total[1]);
        CHECK(memcmp(used[0], used[1], of.round.rows * sizeof *used[0]) == 0);
        changes += deal_by_pairs(&of.round, expected);
        CHECK(memcmp(of.chosen, expected, sizeof expected) == 0);
        CHECK(deal(&of.round, of.chosen) == PHX_OK); /* again: nothing is left to do */
        CHECK(memcmp(of.chosen, expected, sizeof expected) == 0);
    }

    CHECK(changes > 20000);
}

/* Five jobs of one kind, whose rows of demand are two, and two that are not of it. */
static void case_alike_is_by_what_is_wanted(void)
{
    const uint32_t first[8] = {0, 2, 4, 6, 8, 10, 12, 14};
    const uint32_t kind[14] = {0, 1, 2, 3, 0, 1, 0, 4, 2, 1, 0, 1, 0, 1};
    const int64_t value[14] = {5, 9, 5, 9, 5, 9, 5, 9, 5, 9, 5, 9, 5, 8};
    /* Rows 0 and 2 are equal, so are 1 and 3; row 4 differs from 1 in what is wanted last. */
    const uint32_t demand[10] = {1, 1, 2, 4, 1, 1, 2, 4, 2, 3};
    const int64_t capacity[2] = {100, 100};
    const phx_round round = {7, 2, 5, first, kind, value, demand, capacity, NULL};
    int32_t chosen[7] = {-1, 0, 1, 0, 1, -1, 1};
    const int32_t expected[7] = {1, 1, 0, 0, -1, -1, 1};
    CHECK(deal(&round, chosen) == PHX_OK);
    CHECK(memcmp(chosen, expected, sizeof expected) == 0);
    int32_t other[7] = {-1, -1, -1, -1, -1, 1, -1};
    const int32_t moved[7] = {1, -1, -1, -1, -1, -1, -1};
    CHECK(deal(&round, other) == PHX_OK);
    CHECK(memcmp(other, moved, sizeof moved) == 0);
    int32_t unlike[7] = {-1, -1, -1, 1, -1, -1, 1};
    const int32_t kept[7] = {-1, -1, -1, 1, -1, -1, 1};
    CHECK(deal(&round, unlike) == PHX_OK);
    CHECK(memcmp(unlike, kept, sizeof kept) == 0);
}

/* Of choices that are worth the same the lower goes to the lower job; one worth nothing stands
 * before none. */
static void case_equal_worth_is_dealt_by_place(void)
{
    const uint32_t first[5] = {0, 3, 6, 9, 12};
    const uint32_t kind[12] = {0};
    const int64_t value[12] = {4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4};
    const uint32_t demand[1] = {0};
    const int64_t capacity[1] = {0};
    const phx_round round = {4, 1, 1, first, kind, value, demand, capacity, NULL};
    int32_t chosen[4] = {-1, 1, 2, 0};
    const int32_t expected[4] = {0, 2, 1, -1};
    CHECK(deal(&round, chosen) == PHX_OK);
    CHECK(memcmp(chosen, expected, sizeof expected) == 0);
}

/* Every second job is of one kind, the others of another, and the words of both are the same. */
static void check_meeting(const uint32_t *first, const int64_t *value, const uint32_t *demand,
                          uint32_t rows)
{
    uint32_t kind[5] = {0};
    for (uint32_t job = 0; job < 5; ++job) {
        for (uint32_t choice = first[job]; choice < first[job + 1]; ++choice) {
            kind[choice] = job % 2;
        }
    }
    const phx_round round = {5, rows, 2, first, kind, value, demand, NULL, NULL};
    const int32_t lower = first[2] > first[1] ? 0 : -1; /* of the second kind, if it has any */
    int32_t chosen[5] = {-1, -1, 0, lower, 0};
    const int32_t expected[5] = {0, lower, 0, -1, -1};
    CHECK(deal(&round, chosen) == PHX_OK);
    CHECK(memcmp(chosen, expected, sizeof expected) == 0);
}

static void case_words_that_meet_part_no_jobs(void)
{
    const uint32_t one_each[6] = {0, 1, 2, 3, 4, 5};
    const uint32_t none_between[6] = {0, 1, 1, 2, 2, 3};
    /* One choice that is worth 1 and wants nothing, beside no choice. */
    const int64_t ones[3] = {1, 1, 1};
    const uint32_t nothing[2] = {0, 0};
    check_meeting(none_between, ones, nothing, 1);
    /* Choices that differ in both, and in what they want alone. */
    const int64_t large = INT64_C(4191503622821399895);
    const int64_t values[5] = {1, large, 1, large, 1};
    const uint32_t wanted_once[2] = {0, 14};
    check_meeting(one_each, values, wanted_once, 1);
    const int64_t sevens[5] = {7, 7, 7, 7, 7};
    const uint32_t wanted_twice[4] = {2444712010U, 0, 1586365611U, 51977877U};
    check_meeting(one_each, sevens, wanted_twice, 2);
}

static void case_places_that_are_none_are_not_dealt(void)
{
    const uint32_t first[3] = {0, 1, 2};
    const uint32_t kind[2] = {0, 0};
    const int64_t value[2] = {1, 1};
    const uint32_t demand[1] = {1};
    const int64_t capacity[1] = {9};
    const phx_round round = {2, 1, 1, first, kind, value, demand, capacity, NULL};
    int32_t chosen[2] = {-1, 1};
    CHECK(deal(&round, chosen) == PHX_BAD_GANG && chosen[0] == -1 && chosen[1] == 1);
    chosen[1] = -2;
    CHECK(deal(&round, chosen) == PHX_BAD_GANG && chosen[0] == -1 && chosen[1] == -2);
    const phx_round none = {0, 1, 1, first, kind, value, demand, capacity, NULL};
    CHECK(deal(&none, NULL) == PHX_OK);
}

int main(int count, char **words)
{
    static const named_case cases[] = {
        CASE(order_is_by_key_then_place),   CASE(jobs_alike_are_served_in_order),
        CASE(alike_is_by_what_is_wanted),   CASE(equal_worth_is_dealt_by_place),
        CASE(words_that_meet_part_no_jobs), CASE(places_that_are_none_are_not_dealt)};
    return run_cases("test_deal", cases, sizeof cases / sizeof *cases, count, words);
}
