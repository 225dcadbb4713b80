/* Repairs one by one: what moves, where to, and what is refused; every leaf counted by hand. */
#include "check.h"

#define MOVES_MAX 64

typedef struct bench {
    phx_tree *tree;
    phx_planner *planner;
    uint32_t slot; /* of the gang under repair */
    phx_move moves[MOVES_MAX];
    phx_repair repair;
} bench;

static const uint32_t PAPER[4] = {8, 4, 2, 2}; /* 8 leaves a host, 4 hosts a rail, 2 rails a pod */

static bench bench_new(uint32_t depth, const uint32_t *fanouts, uint32_t per, uint32_t size)
{
    bench on = {0};
    on.tree = even_tree(depth, fanouts);
    on.planner = new_planner(on.tree, PHX_EXACT, per, size, per != PHX_NONE);
    return on;
}

static void bench_end(bench *on)
{
    CHECK_VALID(on->planner);
    phx_planner_free(on->planner);
    phx_tree_free(on->tree);
}

/* Adopts runs of leaves in rank order; the slot. */
static uint32_t adopt(bench *on, phx_gang gang, const phx_run *runs)
{
    uint32_t leaves[256];
    uint32_t rank = 0;
    phx_request request;
    for (uint32_t run = 0; rank < gang.ranks; ++run) {
        for (uint32_t at = 0; at < runs[run].count; ++at) {
            leaves[rank++] = runs[run].first + at;
        }
    }
    CHECK(rank == gang.ranks && phx_request_init(on->planner, &gang, &request) == PHX_OK);
    const int64_t adopted = phx_adopt(on->planner, &request, leaves);
    CHECK(adopted >= 0);
    return slot_of(adopted);
}

static phx_gang gang_of(uint32_t ranks, uint32_t group, uint32_t group_level, uint32_t within)
{
    return (phx_gang){ranks, group, group_level, within, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
}

/* Somebody holds leaves first .. first + count - 1. */
static void hold(bench *on, uint32_t first, uint32_t count)
{
    const phx_run run = {first, count};
    adopt(on, gang_of(count, 1, 1, PHX_NONE), &run);
}

/* Plans, and applies what was planned when it can be done; the plan alone must change nothing. */
static phx_status replan(bench *on, const phx_run *failed, uint32_t failed_count,
                         const int32_t *const *limits, uint32_t flags)
{
    const size_t size = phx_planner_save_bytes(on->planner);
    char *before = malloc(size);
    char *after = malloc(size);
    CHECK(before != NULL && after != NULL);
    CHECK(phx_planner_save(on->planner, before, size) == PHX_OK);
    const phx_status status = phx_replan(on->planner, on->slot, failed, failed_count, limits, flags,
                                         on->moves, MOVES_MAX, &on->repair);
    CHECK(phx_planner_save(on->planner, after, size) == PHX_OK);
    CHECK(memcmp(before, after, size) == 0);
    free(before);
    free(after);
    if (status == PHX_OK) {
        CHECK(phx_apply(on->planner, on->slot, on->moves, on->repair.moves, failed, failed_count) ==
              PHX_OK);
        CHECK(phx_gang_level(on->planner, on->slot) == on->repair.level_after);
    }
    CHECK_VALID(on->planner);
    return status;
}

static int move_is(const phx_move *move, uint32_t rank, uint32_t from, uint32_t to, uint32_t count)
{
    return move->rank == rank && move->from == from && move->to == to && move->count == count;
}

/* A host that two runs of one gang share is held whole; its loss moves both runs, each in its own
 * order, and what is given back run by run is nobody's. */
static void test_two_runs_in_a_host(void)
{
    bench on = bench_new(4, PAPER, PHX_NONE, PHX_NONE);
    const phx_run runs[3] = {{12, 4}, {8, 4}, {16, 8}};
    const phx_run host = {8, 8};
    on.slot = adopt(&on, gang_of(16, 8, 1, PHX_NONE), runs);
    CHECK(replan(&on, &host, 1, NULL, 0) == PHX_OK && on.repair.moved == 8);
    uint32_t leaves[16];
    CHECK(phx_gang_leaves(on.planner, on.slot, leaves) == PHX_OK);
    for (uint32_t rank = 0; rank < 16; ++rank) {
        CHECK(leaves[rank] == (rank < 8 ? rank : rank + 8));
    }
    uint32_t lost[8];
    uint32_t owners[8];
    for (uint32_t at = 0; at < 8; ++at) {
        lost[at] = 8 + at;
    }
    CHECK(phx_health_change(on.planner, PHX_HEAL, lost, 8, owners) == PHX_OK);
    CHECK(phx_quarantine_release(on.planner, lost, 8) == PHX_OK);
    CHECK(phx_release(on.planner, on.slot) == PHX_OK);
    on.slot = adopt(&on, gang_of(16, 8, 1, PHX_NONE), runs);
    CHECK(phx_leaf_state(on.planner, 8) >> 8 == on.slot);
    CHECK(phx_release(on.planner, on.slot) == PHX_OK);
    CHECK_VALID(on.planner);
    CHECK(phx_free_leaves(on.planner, 0, NULL) == 128);
    bench_end(&on);
}

/* Cordoned leaves count as lost only for a drain. */
static void test_drain(void)
{
    bench on = bench_new(4, PAPER, PHX_NONE, PHX_NONE);
    const phx_run host = {0, 8};
    const uint32_t leaves[2] = {1, 2};
    uint32_t owners[2];
    on.slot = adopt(&on, gang_of(8, 8, 1, PHX_NONE), &host);
    CHECK(phx_health_change(on.planner, PHX_CORDON, leaves, 2, owners) == PHX_OK);
    CHECK(replan(&on, NULL, 0, NULL, 0) == PHX_OK && on.repair.moves == 0 && on.repair.dead == 0);
    CHECK(replan(&on, NULL, 0, NULL, PHX_REPLAN_CORDONED) == PHX_OK);
    CHECK(on.repair.dead == 2 && on.repair.moved == 8 && on.repair.moves == 1);
    CHECK(move_is(&on.moves[0], 0, 0, 8, 8));
    bench_end(&on);
}

/* Two hosts are lost, one is free: all or nothing, unless partial. */
static void test_partial(void)
{
    const uint32_t four[2] = {4, 4};
    bench on = bench_new(2, four, PHX_NONE, PHX_NONE);
    const phx_run hosts = {0, 8};
    const phx_run failed[2] = {{0, 4}, {4, 4}};
    on.slot = adopt(&on, gang_of(8, 4, 1, PHX_NONE), &hosts);
    hold(&on, 8, 4);
    CHECK(replan(&on, failed, 2, NULL, 0) == PHX_MISFIT);
    CHECK(on.repair.dead == 8 && on.repair.unresolved == 4 && on.repair.proven == 1);
    CHECK(replan(&on, failed, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on.repair.moved == 4 && on.repair.unresolved == 4 && on.repair.moves == 1);
    CHECK(move_is(&on.moves[0], 0, 0, 12, 4));
    CHECK(replan(&on, NULL, 0, NULL, PHX_REPLAN_PARTIAL) == PHX_MISFIT);
    CHECK(on.repair.dead == 4 && on.repair.unresolved == 4);
    bench_end(&on);
}

/* Rack 0 may hold 4 of the gang and rack 1 as many: neither unit can be filled while both stay; the
 * first moves whole, and the second is filled where it is. */
static void test_limits_that_make_a_unit_move(void)
{
    const uint32_t racks[3] = {8, 2, 2};
    bench on = bench_new(3, racks, PHX_NONE, PHX_NONE);
    const phx_run hosts[2] = {{0, 4}, {8, 4}};
    const phx_run failed[2] = {{0, 1}, {8, 1}};
    const int32_t rack[2] = {4, 4};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, NULL, rack};
    on.slot = adopt(&on, gang_of(8, 4, 1, PHX_NONE), hosts);
    CHECK(replan(&on, failed, 2, limits, 0) == PHX_OK);
    CHECK(on.repair.moves == 2 && on.repair.moved == 5 && on.repair.proven == 1);
    CHECK(move_is(&on.moves[0], 0, 0, 16, 4));
    CHECK(move_is(&on.moves[1], 4, 8, 12, 1));
    bench_end(&on);
}

/* Nothing helps: few broken units are a proof, more than ten are not. */
static void test_limits_that_refuse(void)
{
    const uint32_t racks[3] = {2, 16, 2};
    const int32_t rack[2] = {0, 10};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, NULL, rack};
    for (uint32_t broken = 6; broken <= 11; broken += 5) {
        bench on = bench_new(3, racks, PHX_NONE, PHX_NONE);
        const phx_run hosts = {0, 2 * broken};
        phx_run failed[11];
        for (uint32_t unit = 0; unit < broken; ++unit) {
            failed[unit] = (phx_run){2 * unit, 1};
        }
        on.slot = adopt(&on, gang_of(2 * broken, 2, 1, PHX_NONE), &hosts);
        CHECK(replan(&on, failed, broken, limits, 0) == PHX_MISFIT);
        CHECK(on.repair.dead == broken && on.repair.proven == (broken <= 10));
        CHECK(replan(&on, failed, broken, limits, PHX_REPLAN_PARTIAL) == PHX_OK);
        CHECK(on.repair.moved == 10 && on.repair.unresolved == broken - 5);
        bench_end(&on);
    }
}

/* 70 broken units, more than the subsets of one word; the limits allow all of them. */
static void test_limits_over_many_units(void)
{
    const uint32_t racks[3] = {2, 64, 2};
    bench on = bench_new(3, racks, PHX_NONE, PHX_NONE);
    const phx_run ranks = {0, 70};
    const int32_t rack[2] = {70, 70};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, NULL, rack};
    on.slot = adopt(&on, gang_of(70, 1, 1, PHX_NONE), &ranks);
    CHECK(replan(&on, &ranks, 1, limits, 0) == PHX_OK);
    CHECK(on.repair.dead == 70 && on.repair.moved == 70 && on.repair.unresolved == 0);
    bench_end(&on);
}

/* Rack 0 is lost whole and full, rack 1 is a stand-in: the gang goes to rack 2, or nowhere. */
static void test_gang_without_survivors(void)
{
    const uint32_t counts[4] = {24, 6, 3, 1};
    const uint32_t first[] = {0, 4, 8, 12, 16, 20, 24, 0, 2, 4, 6, 0, 3};
    const uint8_t phantom[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
    const phx_run rack = {0, 8};
    bench on = {0};
    CHECK(phx_tree_new(3, counts, first, phantom, &on.tree) == PHX_OK);
    on.planner = new_planner(on.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    on.slot = adopt(&on, gang_of(8, 4, 1, 2), &rack);
    const uint32_t stand_in[8] = {8, 9, 10, 11, 12, 13, 14, 15};
    const phx_request pair = request_of(on.planner, 8, 4, 2);
    CHECK(phx_adopt(on.planner, &pair, stand_in) == -(int64_t)PHX_BAD_CHAIN);
    CHECK(replan(&on, &rack, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.moves == 1 && move_is(&on.moves[0], 0, 0, 16, 8));
    CHECK(on.repair.level_before == 2 && on.repair.level_after == 2);
    const phx_run again = {16, 8};
    CHECK(replan(&on, &again, 1, NULL, 0) == PHX_MISFIT);
    CHECK(on.repair.dead == 8 && on.repair.unresolved == 8 && on.repair.proven == 1);
    bench_end(&on);
}

/* A spare of two hosts is opened for one rank: its other leaves are free then. */
static void test_spare_larger_than_a_host(void)
{
    const uint32_t racks[3] = {4, 2, 4};
    bench on = bench_new(3, racks, 3, 2);
    const phx_run host = {0, 4};
    const phx_run failed = {1, 1};
    CHECK((phx_leaf_state(on.planner, 24) & 3) == PHX_SPARE);
    on.slot = adopt(&on, gang_of(4, 4, 3, PHX_NONE), &host);
    hold(&on, 4, 20);
    CHECK(replan(&on, &failed, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.spares_used == 1 && on.repair.moved == 1);
    CHECK(on.moves[0].rank == 1 && on.moves[0].to == 25); /* the place it had in its host */
    CHECK((phx_leaf_state(on.planner, 24) & 3) == PHX_FREE);
    CHECK((phx_leaf_state(on.planner, 31) & 3) == PHX_FREE);
    CHECK(phx_planner_short_domains(on.planner) == 1);
    bench_end(&on);
}

/* Host losses that the short way must leave to the full search. */
static void test_spares_of_other_sizes(void)
{
    const phx_run hosts = {0, 16};
    const phx_run failed = {0, 8};
    bench pods = bench_new(4, PAPER, 4, 3);
    CHECK((phx_leaf_state(pods.planner, 64) & 3) == PHX_SPARE);
    pods.slot = adopt(&pods, gang_of(16, 8, 1, PHX_NONE), &hosts);
    hold(&pods, 16, 48);
    CHECK(replan(&pods, &failed, 1, NULL, 0) == PHX_OK);
    CHECK(pods.repair.spares_used == 1 && move_is(&pods.moves[0], 0, 0, 64, 8));
    bench_end(&pods);
    bench leaves = bench_new(4, PAPER, 1, 0); /* the last leaf of every host */
    CHECK((phx_leaf_state(leaves.planner, 15) & 3) == PHX_SPARE);
    leaves.slot = adopt(&leaves, gang_of(16, 8, 1, PHX_NONE), &hosts);
    hold(&leaves, 16, 112);
    CHECK(replan(&leaves, &failed, 1, NULL, 0) == PHX_MISFIT && leaves.repair.unresolved == 8);
    bench_end(&leaves);
}

/* Eight leaves that are no host, a host put together out of parts, and groups of three. */
static void test_losses_that_are_no_host(void)
{
    const phx_run pair = {0, 16};
    const phx_run parts[3] = {{4, 4}, {0, 4}, {8, 8}};
    const phx_run middle = {4, 8};
    const phx_run host = {0, 8};
    bench on = bench_new(4, PAPER, PHX_NONE, PHX_NONE);
    on.slot = adopt(&on, gang_of(16, 8, 1, PHX_NONE), &pair);
    CHECK(replan(&on, &middle, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.dead == 8 && on.repair.moved == 16);
    bench_end(&on);
    on = bench_new(4, PAPER, PHX_NONE, PHX_NONE);
    on.slot = adopt(&on, gang_of(16, 1, 1, PHX_NONE), parts);
    CHECK(replan(&on, &host, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.dead == 8 && on.repair.moved == 8);
    bench_end(&on);
    on = bench_new(4, PAPER, PHX_NONE, PHX_NONE);
    const phx_run threes[2] = {{0, 6}, {8, 6}};
    on.slot = adopt(&on, gang_of(12, 3, 1, PHX_NONE), threes);
    CHECK(replan(&on, &host, 1, NULL, 0) == PHX_NOT_OWNED);
    bench_end(&on);
}

/* A host that is a stand-in has no group domain: only gangs of single ranks live there. */
static void test_hosts_that_are_stand_ins(void)
{
    const uint32_t counts[3] = {12, 3, 1};
    const uint32_t first[] = {0, 4, 8, 12, 0, 3};
    const uint8_t phantom[] = {0, 1, 0, 0};
    const phx_run hosts = {0, 8};
    const phx_run failed = {0, 4};
    bench on = {0};
    CHECK(phx_tree_new(2, counts, first, phantom, &on.tree) == PHX_OK);
    on.planner = new_planner(on.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request four = request_of(on.planner, 4, 4, PHX_NONE);
    const uint32_t stand_in[4] = {4, 5, 6, 7};
    CHECK(phx_adopt(on.planner, &four, stand_in) == -(int64_t)PHX_BAD_CHAIN);
    on.slot = adopt(&on, gang_of(8, 1, 1, PHX_NONE), &hosts);
    CHECK(replan(&on, &failed, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.moves == 1 && move_is(&on.moves[0], 0, 0, 8, 4));
    bench_end(&on);
}

/* 12 ranks hold 16 leaves: the second host has four ranks and four leaves beside them. */
static void test_buddy_gang_with_leaves_to_spare(void)
{
    bench on = {0};
    on.tree = even_tree(4, PAPER);
    on.planner = new_planner(on.tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    const phx_request twelve = request_of(on.planner, 12, 4, PHX_NONE);
    const phx_run failed = {8, 8};
    on.slot = slot_of(phx_place(on.planner, &twelve));
    CHECK(replan(&on, &failed, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.dead == 4 && on.repair.moved == 4);
    CHECK(on.moves[0].rank == 8 && on.moves[0].from == 8);
    bench_end(&on);
}

/* The second host is wired the other way round: a rank keeps its rail, not its place. */
static void test_rails(void)
{
    const uint32_t pair[2] = {4, 2};
    const uint8_t rails[8] = {0, 1, 2, 3, 3, 2, 1, 0};
    const phx_run host = {0, 4};
    const phx_run failed = {1, 1};
    bench on = bench_new(2, pair, PHX_NONE, PHX_NONE);
    CHECK(phx_tree_set_rails(on.tree, rails) == PHX_OK);
    on.slot = adopt(&on, gang_of(4, 1, 1, PHX_NONE), &host);
    CHECK(replan(&on, &failed, 1, NULL, 0) == PHX_OK);
    CHECK(on.repair.moves == 1 && move_is(&on.moves[0], 1, 1, 6, 1));
    bench_end(&on);
}

int main(void)
{
    test_two_runs_in_a_host();
    test_drain();
    test_partial();
    test_limits_that_make_a_unit_move();
    test_limits_that_refuse();
    test_limits_over_many_units();
    test_gang_without_survivors();
    test_spare_larger_than_a_host();
    test_spares_of_other_sizes();
    test_losses_that_are_no_host();
    test_hosts_that_are_stand_ins();
    test_buddy_gang_with_leaves_to_spare();
    test_rails();
    puts("test_repairs: 13 passed, 0 failed");
    return 0;
}
