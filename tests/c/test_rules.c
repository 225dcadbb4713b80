/* One case a rule of the core; `test_rules NAME` runs one, `test_rules` all. `make mutants` names
 * the case that each fault must fail. */
#include "cases.h"

typedef struct fixture {
    phx_tree *tree;
    phx_planner *planner;
} fixture;

static const uint32_t PAPER[4] = {8, 4, 2, 2};
static const uint32_t WIDE[3] = {2, 64, 2}; /* 128 hosts: a summary row above the index */

static fixture start(uint32_t depth, const uint32_t *fanouts, uint32_t per)
{
    fixture made;
    made.tree = even_tree(depth, fanouts);
    made.planner =
        new_planner(made.tree, PHX_EXACT, per, per == PHX_NONE ? PHX_NONE : 1, per != PHX_NONE);
    return made;
}

static void finish(fixture *made)
{
    CHECK_VALID(made->planner);
    phx_planner_free(made->planner);
    phx_tree_free(made->tree);
}

static uint32_t place(phx_planner *planner, uint32_t ranks, uint32_t group, uint32_t within)
{
    const phx_request request = request_of(planner, ranks, group, within);
    const int64_t placed = phx_place(planner, &request);
    CHECK(placed >= 0);
    return slot_of(placed);
}

static void change(phx_planner *planner, phx_change what, uint32_t first, uint32_t count)
{
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        uint32_t owner = 0;
        CHECK(phx_health_change(planner, what, &leaf, 1, &owner) == PHX_OK);
    }
}

/* A block behind the first 64 vertices of a level is found through its summary bit. */
static void case_far_block_is_found(void)
{
    fixture made = start(3, WIDE, PHX_NONE);
    change(made.planner, PHX_CORDON, 0, 256);
    change(made.planner, PHX_UNCORDON, 255, 1);
    const phx_request one = request_of(made.planner, 1, 1, PHX_NONE);
    const int64_t placed = phx_place(made.planner, &one);
    CHECK(placed >= 0 && first_of(placed) == 255);
    finish(&made);
}

static void case_level_is_the_common_domain(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    const phx_request pair = request_of(made.planner, 16, 8, PHX_NONE);
    const int64_t placed = phx_place(made.planner, &pair);
    CHECK(level_of(placed) == 2);
    CHECK(phx_gang_level(made.planner, slot_of(placed)) == 2);
    finish(&made);
}

/* One dead leaf moves a whole group; the healthy leaves it leaves behind may still run a process.
 */
static void case_taken_leaves_are_quarantined(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    const uint32_t slot = place(made.planner, 8, 8, PHX_NONE);
    const phx_run failed = {0, 1};
    phx_move moves[8];
    phx_repair repair;
    CHECK(phx_replan(made.planner, slot, &failed, 1, NULL, PHX_REPLAN_APPLY, moves, 8, &repair) ==
          PHX_OK);
    CHECK(repair.moved == 8 && repair.dead == 1);
    change(made.planner, PHX_HEAL, 0, 1);
    CHECK((phx_leaf_state(made.planner, 0) & 3) == PHX_QUARANTINE);
    CHECK((phx_leaf_state(made.planner, 7) & 3) == PHX_QUARANTINE);
    CHECK(phx_free_leaves(made.planner, 0, NULL) == 112);
    finish(&made);
}

/* The first pod has lost its spare: a repair inside that pod may not open the other pod's. */
static void case_spare_of_the_own_domain_only(void)
{
    fixture made = start(4, PAPER, 3);
    change(made.planner, PHX_CORDON, 56, 8);
    const uint32_t slot = place(made.planner, 48, 8, 3);
    CHECK(phx_gang_level(made.planner, slot) == 3);
    const phx_run failed[2] = {{0, 8}, {8, 8}};
    phx_move moves[8];
    phx_repair repair;
    CHECK(phx_replan(made.planner, slot, failed, 2, NULL, 0, moves, 8, &repair) == PHX_MISFIT);
    CHECK(repair.unresolved == 8);
    finish(&made);
}

static void case_release_forgets_the_owner(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    const uint32_t kept = place(made.planner, 2, 1, PHX_NONE);
    const uint32_t slot = place(made.planner, 2, 1, PHX_NONE);
    CHECK(kept != slot && phx_release(made.planner, slot) == PHX_OK);
    CHECK((phx_leaf_state(made.planner, 2) & 3) == PHX_FREE);
    finish(&made);
}

/* Hosts 0 and 1 share a rack, host 2 has none: its stand-in serves no rack constraint. */
static void case_phantom_serves_nothing(void)
{
    const uint32_t counts[4] = {12, 3, 2, 1};
    const uint32_t first[] = {0, 4, 8, 12, 0, 2, 3, 0, 2};
    const uint8_t phantom[] = {0, 0, 0, 0, 1, 0};
    fixture made;
    CHECK(phx_tree_new(3, counts, first, phantom, &made.tree) == PHX_OK);
    made.planner = new_planner(made.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request rack = request_of(made.planner, 4, 1, 2);
    CHECK(phx_place(made.planner, &rack) >= 0);
    CHECK(phx_place(made.planner, &rack) >= 0);
    CHECK(phx_place(made.planner, &rack) == -(int64_t)PHX_MISFIT);
    const phx_request anywhere = request_of(made.planner, 4, 1, PHX_NONE);
    const int64_t placed = phx_place(made.planner, &anywhere);
    CHECK(placed >= 0 && first_of(placed) == 8);
    finish(&made);
}

/* Two hosts with three leaves each in two pieces: equal unions, the lower address wins. */
static void case_ties_go_to_the_lower_address(void)
{
    const uint32_t counts[3] = {10, 3, 1};
    const uint32_t first[] = {0, 4, 8, 10, 0, 3};
    fixture made;
    CHECK(phx_tree_new(2, counts, first, NULL, &made.tree) == PHX_OK);
    made.planner = new_planner(made.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    change(made.planner, PHX_CORDON, 2, 1);
    change(made.planner, PHX_CORDON, 6, 1);
    const phx_request three = request_of(made.planner, 3, 1, 1);
    const int64_t placed = phx_place(made.planner, &three);
    CHECK(placed >= 0 && first_of(placed) == 0);
    finish(&made);
}

static void case_limits_above_hosts_bind(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    const int32_t rails[4] = {8, 8, 8, 8};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, NULL, rails};
    const phx_request wide = request_of(made.planner, 32, 8, PHX_NONE);
    const phx_request wider = request_of(made.planner, 40, 8, PHX_NONE);
    phx_run runs[8];
    uint32_t count = 0;
    CHECK(phx_place_limited(made.planner, &wider, limits, 0, runs, 8, &count) ==
          -(int64_t)PHX_MISFIT);
    const int64_t placed = phx_place_limited(made.planner, &wide, limits, 1, runs, 8, &count);
    CHECK(placed >= 0 && count == 4 && runs[1].first == 32);
    finish(&made);
}

/* A group across two hosts of an NVL72-like rack loses one leaf: one rank moves, seven stay. */
static void case_survivors_stay(void)
{
    const uint32_t racks[3] = {4, 6, 2};
    fixture made = start(3, racks, PHX_NONE);
    const phx_gang gang = {8, 8, 2, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_request request;
    CHECK(phx_request_init(made.planner, &gang, &request) == PHX_OK);
    const int64_t placed = phx_place(made.planner, &request);
    const phx_run failed = {1, 1};
    phx_move moves[8];
    phx_repair repair;
    CHECK(phx_replan(made.planner, slot_of(placed), &failed, 1, NULL, 0, moves, 8, &repair) ==
          PHX_OK);
    CHECK(repair.moved == 1 && moves[0].rank == 1 && moves[0].to == 9); /* the same rail */
    finish(&made);
}

/* Two hosts with three free leaves each hold no group of four. */
static void case_groups_are_whole(void)
{
    const uint32_t pair[2] = {4, 2};
    fixture made = start(2, pair, PHX_NONE);
    change(made.planner, PHX_FAIL, 3, 2);
    const phx_request group = request_of(made.planner, 4, 4, PHX_NONE);
    CHECK(phx_place(made.planner, &group) == -(int64_t)PHX_MISFIT);
    phx_level_record records[3];
    uint32_t count = 0;
    uint32_t code = 0;
    CHECK(phx_explain(made.planner, &group, NULL, records, 3, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_GROUPS);
    finish(&made);
}

/* Racks of 32 with 20 free: a slice of 16 each, however many leaves are left. */
static void case_slices_are_whole(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    for (uint32_t rack = 0; rack < 4; ++rack) {
        change(made.planner, PHX_CORDON, 32 * rack, 12);
    }
    const phx_slice slice = {16, 2};
    phx_request request = request_of(made.planner, 80, 1, PHX_NONE);
    CHECK(phx_request_slices(made.planner, &request, &slice, 1) == PHX_OK);
    CHECK(phx_place(made.planner, &request) == -(int64_t)PHX_MISFIT);
    request = request_of(made.planner, 64, 1, PHX_NONE);
    CHECK(phx_request_slices(made.planner, &request, &slice, 1) == PHX_OK);
    uint32_t leaves[64];
    CHECK(phx_gang_leaves(made.planner, slot_of(phx_place(made.planner, &request)), leaves) ==
          PHX_OK);
    for (uint32_t rank = 0; rank < 64; ++rank) {
        CHECK(leaves[rank] / 32 == rank / 16);
    }
    finish(&made);
}

/* A full pod has no room for a slice of its own; the free pod beside it does not count. */
static void case_slices_stay_in_the_one_around(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    const phx_slice chain[2] = {{32, 2}, {64, 3}};
    phx_request request = request_of(made.planner, 64, 8, PHX_NONE);
    CHECK(phx_request_slices(made.planner, &request, chain, 2) == PHX_OK);
    const uint32_t slot = slot_of(phx_place(made.planner, &request));
    const phx_run lost = {0, 8};
    phx_move moves[8];
    phx_repair repair;
    CHECK(phx_replan_sliced(made.planner, slot, &request, &lost, 1, NULL, 0, moves, 8, &repair) ==
          PHX_MISFIT);
    finish(&made);
}

static void case_a_spread_gang_is_even(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    phx_request request = request_of(made.planner, 40, 1, PHX_NONE);
    CHECK(phx_request_balance(made.planner, &request, 2) == PHX_OK);
    uint32_t leaves[40];
    CHECK(phx_gang_leaves(made.planner, slot_of(phx_place(made.planner, &request)), leaves) ==
          PHX_OK);
    CHECK(leaves[19] == 19 && leaves[20] == 32 && leaves[39] == 51);
    finish(&made);
}

static void case_spares_are_refilled(void)
{
    fixture made = start(4, PAPER, 3);
    const uint32_t slot = place(made.planner, 56, 8, 3);
    const phx_run failed = {0, 8};
    phx_move moves[8];
    phx_repair repair;
    CHECK(phx_replan(made.planner, slot, &failed, 1, NULL, PHX_REPLAN_APPLY, moves, 8, &repair) ==
          PHX_OK);
    CHECK(repair.spares_used == 1 && phx_planner_short_domains(made.planner) == 1);
    CHECK(phx_release(made.planner, slot) == PHX_OK);
    CHECK(phx_planner_short_domains(made.planner) == 0);
    CHECK((phx_leaf_state(made.planner, 56) & 3) == PHX_SPARE);
    finish(&made);
}

static void case_cordoned_leaves_are_not_placed_on(void)
{
    fixture made = start(4, PAPER, PHX_NONE);
    change(made.planner, PHX_CORDON, 0, 120);
    const phx_request nine = request_of(made.planner, 9, 1, PHX_NONE);
    CHECK(phx_place(made.planner, &nine) == -(int64_t)PHX_MISFIT);
    finish(&made);
}

int main(int count, char **words)
{
    static const named_case cases[] = {CASE(far_block_is_found),
                                       CASE(level_is_the_common_domain),
                                       CASE(taken_leaves_are_quarantined),
                                       CASE(spare_of_the_own_domain_only),
                                       CASE(release_forgets_the_owner),
                                       CASE(phantom_serves_nothing),
                                       CASE(ties_go_to_the_lower_address),
                                       CASE(limits_above_hosts_bind),
                                       CASE(survivors_stay),
                                       CASE(groups_are_whole),
                                       CASE(slices_are_whole),
                                       CASE(slices_stay_in_the_one_around),
                                       CASE(a_spread_gang_is_even),
                                       CASE(spares_are_refilled),
                                       CASE(cordoned_leaves_are_not_placed_on)};
    return run_cases("test_rules", cases, sizeof cases / sizeof *cases, count, words);
}
