/* One case a rule of gangs of parts, as test_rules.c has them for all gangs. */
#include "cases.h"
#include "roles.h"

/* One host of the sixteen for the second part. */
static void case_limits_of_a_part_bind(void)
{
    int32_t hosts[16] = {0};
    const int32_t *const rows[ROWS] = {NULL, hosts};
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {3, 1, 1, {0, 0}, 0, rows}};
    team *on = start(3, RACKS);
    hosts[9] = 3;
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 2, 3, 36, 40) == 3);
    finish(on);
}

/* Racks of hosts with 8, 8, 8, 4 and 4 free leaves hold 16 ranks in hosts of 8 and a slice of 16,
 * but whoever goes first takes more. */
static void case_tables_find_what_no_order_does(void)
{
    const uint32_t fanouts[3] = {8, 5, 2};
    const role roles[2] = {{32, 8, 1, {0, 0}, 0, NULL}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start(3, fanouts);
    for (uint32_t rack = 0; rack < 2; ++rack) {
        change(on->planner, PHX_CORDON, 40 * rack + 28, 4);
        change(on->planner, PHX_CORDON, 40 * rack + 36, 4);
    }
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 32, 0, 40) == 16 && ranks_on(on, slot, 32, 32, 0, 40) == 16);
    finish(on);
}

/* Racks of 40 as 8, 8, 8, 8, 4 and 4; each of two parts in hosts of 8 may have 16 ranks in one. */
static void case_each_part_has_its_own_limits(void)
{
    const uint32_t fanouts[3] = {8, 6, 2};
    const int32_t racks[2] = {16, 16};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    const role roles[3] = {
        {32, 8, 1, {0, 0}, 0, rows}, {16, 8, 1, {0, 0}, 0, rows}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start(3, fanouts);
    for (uint32_t rack = 0; rack < 2; ++rack) {
        change(on->planner, PHX_CORDON, 48 * rack + 36, 4);
        change(on->planner, PHX_CORDON, 48 * rack + 44, 4);
    }
    gather(on, roles, 3, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 48, 0, 48) == 24);
    finish(on);
}

/* A group of 8 has one host, and six ranks would fit into it as well. */
static void case_the_coarsest_part_goes_first(void)
{
    const uint32_t fanouts[3] = {8, 3, 2};
    const role roles[2] = {{6, 1, 1, {0, 0}, 0, NULL}, {8, 8, 1, {0, 0}, 0, NULL}};
    team *on = start(3, fanouts);
    change(on->planner, PHX_CORDON, 12, 4);
    change(on->planner, PHX_CORDON, 20, 28);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 6, 8, 0, 8) == 8);
    finish(on);
}

/* Single ranks come first, though the group was placed before them. */
static void case_ranks_are_numbered_part_after_part(void)
{
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {4, 4, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = placed(on, NULL);
    uint32_t leaves[6];
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    CHECK(leaves[2] / 4 == leaves[5] / 4 && leaves[0] / 4 != leaves[2] / 4);
    finish(on);
}

/* Two parts of one and two ranks may take two leaves of a host: they are three with or without a
 * part beside them that may take all four. */
static void case_kinds_share_leaves(void)
{
    int32_t one[64] = {0};
    int32_t other[64] = {0};
    const int32_t *const rows[2][ROWS] = {{one}, {other}};
    const role roles[3] = {
        {1, 1, 1, {0, 0}, 0, rows[0]}, {2, 1, 1, {0, 0}, 0, rows[1]}, {1, 1, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    one[0] = one[2] = other[0] = other[2] = 1;
    gather(on, roles, 3, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    other[3] = 1;
    CHECK(asked(on, NULL) >= 0);
    finish(on);
}

/* Two pods of 25 racks: the tables cost too much work after some racks have been given out. */
static void case_a_search_that_gives_up_keeps_nothing(void)
{
    const uint32_t fanouts[4] = {8, 6, 25, 2};
    const role roles[3] = {{16 * 50, 8, 1, {0, 0}, 0, NULL},
                           {16 * 50, 1, 1, {16, 2}, 0, NULL},
                           {5 * 50, 1, 1, {5, 2}, 0, NULL}};
    team *on = start(4, fanouts);
    for (uint32_t rack = 0; rack < 50; ++rack) {
        change(on->planner, PHX_CORDON, 48 * rack + 28, 4);
        change(on->planner, PHX_CORDON, 48 * rack + 36, 4);
        change(on->planner, PHX_CORDON, 48 * rack + 45, 3);
    }
    gather(on, roles, 3, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    CHECK(phx_free_leaves(on->planner, 0, NULL) == 37 * 50);
    finish(on);
}

/* A pair within a rack loses one rank, and its rack has no room: while the other lives it may not
 * leave, though it would move whole. */
static void case_a_part_stays_in_its_own_domain(void)
{
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {2, 2, 1, {0, 0}, 2, NULL}};
    const uint32_t leaves[4] = {16, 17, 0, 1};
    const phx_run lost[2] = {{0, 1}, {1, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 2, 14);
    CHECK(replanned(on, slot, lost, 1, NULL, 0) == PHX_MISFIT && on->repair.proven == 1);
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_OK);
    finish(on);
}

/* A rack of four, all of both parts, is full of them: its limit lets no fifth in. */
static void case_other_parts_count_below_limits(void)
{
    const int32_t racks[4] = {3, 3, 3, 3};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {2, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[4] = {0, 1, 4, 5};
    const phx_run lost = {4, 1};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = adopted(on, leaves);
    CHECK(replanned(on, slot, &lost, 1, rows, 0) == PHX_MISFIT);
    finish(on);
}

/* Both parts lose a leaf of one host that has two left. */
static void case_each_part_gets_leaves_of_its_own(void)
{
    const role roles[2] = {{1, 1, 1, {0, 0}, 0, NULL}, {1, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[2] = {0, 1};
    const phx_run lost = {0, 2};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 1);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 4, 60);
    CHECK(replanned(on, slot, &lost, 1, NULL, PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(ranks_on(on, slot, 0, 2, 2, 4) == 2);
    finish(on);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(limits_of_a_part_bind),
                                       CASE(tables_find_what_no_order_does),
                                       CASE(each_part_has_its_own_limits),
                                       CASE(the_coarsest_part_goes_first),
                                       CASE(ranks_are_numbered_part_after_part),
                                       CASE(kinds_share_leaves),
                                       CASE(a_search_that_gives_up_keeps_nothing),
                                       CASE(a_part_stays_in_its_own_domain),
                                       CASE(other_parts_count_below_limits),
                                       CASE(each_part_gets_leaves_of_its_own)};
    return run_cases("test_part_rules", cases, sizeof cases / sizeof *cases, count, words);
}
