/* Nested slices and even spreading: what is placed, refused and repaired, counted by hand. */
#include "check.h"

#define MOVES_MAX 64

static const uint32_t RACKS[3] = {4, 4, 4};   /* 4 leaves a host, 4 hosts a rack, 4 racks */
static const uint32_t PODS[4] = {2, 2, 2, 4}; /* 2 a host, 2 hosts a rack, 2 racks a pod, 4 pods */
static const uint32_t NVL[3] = {1, 18, 8};    /* 8 racks of 18 hosts of one leaf */

typedef struct fixture {
    phx_tree *tree;
    phx_planner *planner;
    phx_move moves[MOVES_MAX];
    phx_repair repair;
} fixture;

static fixture start(uint32_t depth, const uint32_t *fanouts)
{
    fixture made;
    memset(&made, 0, sizeof made);
    made.tree = even_tree(depth, fanouts);
    made.planner = new_planner(made.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    return made;
}

static void finish(fixture *made)
{
    CHECK_VALID(made->planner);
    phx_planner_free(made->planner);
    phx_tree_free(made->tree);
}

static phx_request sliced(const fixture *on, uint32_t ranks, uint32_t group,
                          const phx_slice *slices, uint32_t count)
{
    phx_request request = request_of(on->planner, ranks, group, PHX_NONE);
    CHECK(phx_request_slices(on->planner, &request, slices, count) == PHX_OK);
    return request;
}

static void change(phx_planner *planner, phx_change what, uint32_t first, uint32_t count)
{
    for (uint32_t leaf = first; leaf < first + count; ++leaf) {
        uint32_t owner = 0;
        CHECK(phx_health_change(planner, what, &leaf, 1, &owner) == PHX_OK);
    }
}

/* Ranks of the gang inside leaves first .. first + count - 1. */
static uint32_t ranks_in(const fixture *on, uint32_t slot, uint32_t first, uint32_t count)
{
    uint32_t leaves[256];
    uint32_t inside = 0;
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    for (uint32_t rank = 0; rank < phx_gang_ranks(on->planner, slot); ++rank) {
        inside += leaves[rank] >= first && leaves[rank] < first + count;
    }
    return inside;
}

static uint32_t placed(fixture *on, const phx_request *request)
{
    const int64_t word = phx_place(on->planner, request);
    CHECK(word >= 0);
    return slot_of(word);
}

static void test_what_is_no_chain(void)
{
    fixture on = start(3, RACKS);
    const phx_slice odd = {6, 2};
    const phx_slice level = {8, 4};
    const phx_slice leaf = {8, 0};
    const phx_slice empty = {0, 2};
    const phx_slice falls[2] = {{8, 2}, {16, 1}};
    const phx_slice *const wrong[] = {&odd, &level, &leaf, &empty, falls};
    const uint32_t counts[] = {1, 1, 1, 1, 2};
    for (uint32_t at = 0; at < 5; ++at) {
        phx_request request = request_of(on.planner, 32, 4, PHX_NONE);
        CHECK(phx_request_slices(on.planner, &request, wrong[at], counts[at]) == PHX_BAD_GANG);
    }
    phx_request within = request_of(on.planner, 32, 4, 2);
    const phx_slice above = {16, 3};
    CHECK(phx_request_slices(on.planner, &within, &above, 1) == PHX_BAD_GANG);
    phx_request ranks = request_of(on.planner, 24, 4, PHX_NONE);
    const phx_slice sixteen = {16, 2};
    CHECK(phx_request_slices(on.planner, &ranks, &sixteen, 1) == PHX_BAD_GANG);
    CHECK(phx_request_slices(on.planner, &ranks, &sixteen, PHX_SLICES_MAX + 1) == PHX_BAD_GANG);
    CHECK(phx_request_balance(on.planner, &ranks, 0) == PHX_BAD_GANG);
    CHECK(phx_request_balance(on.planner, &ranks, 9) == PHX_BAD_GANG);
    phx_planner *buddy = new_planner(on.tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    phx_request aligned = request_of(buddy, 32, 4, PHX_NONE);
    CHECK(phx_request_slices(buddy, &aligned, &sixteen, 1) == PHX_BAD_GANG);
    CHECK(phx_request_balance(buddy, &aligned, 2) == PHX_BAD_GANG);
    phx_planner_free(buddy);
    finish(&on);
}

/* Each rack has 14 free leaves: one slice of 12 or 8 a rack, and no slice is split. */
static void test_slices_are_whole(void)
{
    fixture on = start(3, RACKS);
    for (uint32_t rack = 0; rack < 4; ++rack) {
        change(on.planner, PHX_CORDON, 16 * rack, 2);
    }
    const phx_slice twelve = {12, 2};
    const phx_request four = sliced(&on, 48, 1, &twelve, 1);
    const phx_slice eight = {8, 2};
    const phx_request five = sliced(&on, 40, 1, &eight, 1);
    CHECK(phx_place(on.planner, &five) == -(int64_t)PHX_MISFIT);
    phx_level_record records[4];
    uint32_t count = 0;
    uint32_t code = 0;
    CHECK(phx_explain(on.planner, &five, NULL, records, 4, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_GROUPS && records[count - 1].ranks == 32);
    const phx_slice many = {32, 2};
    const phx_request never = sliced(&on, 32, 1, &many, 1);
    CHECK(phx_explain(on.planner, &never, NULL, records, 4, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_TOO_LARGE);
    const uint32_t slot = placed(&on, &four);
    uint32_t leaves[48];
    CHECK(phx_gang_leaves(on.planner, slot, leaves) == PHX_OK);
    for (uint32_t rank = 0; rank < 48; ++rank) {
        CHECK(leaves[rank] / 16 == rank / 12);
    }
    uint32_t moved[48];
    memcpy(moved, leaves, sizeof moved);
    CHECK(phx_release(on.planner, slot) == PHX_OK);
    moved[0] = leaves[12];
    moved[12] = leaves[0];
    CHECK(phx_adopt(on.planner, &four, moved) == -(int64_t)PHX_BAD_CHAIN);
    CHECK(phx_adopt(on.planner, &four, leaves) >= 0);
    finish(&on);
}

/* Two racks of a pod hold a slice of 4 each; the outer slice of 8 keeps both in one pod. */
static void test_nested_slices(void)
{
    fixture on = start(4, PODS);
    const phx_slice chain[2] = {{4, 2}, {8, 3}};
    change(on.planner, PHX_CORDON, 0, 4); /* pods 0 and 1 have one rack left each */
    change(on.planner, PHX_CORDON, 12, 4);
    const phx_request two = sliced(&on, 16, 2, chain, 2);
    const uint32_t slot = placed(&on, &two);
    CHECK(ranks_in(&on, slot, 16, 16) == 16);
    const phx_request one = sliced(&on, 8, 2, chain, 2);
    CHECK(phx_place(on.planner, &one) == -(int64_t)PHX_MISFIT);
    const phx_request loose = sliced(&on, 8, 2, chain, 1);
    CHECK(phx_place(on.planner, &loose) >= 0);
    finish(&on);
}

static void check_shares(uint32_t ranks, uint32_t unit, const uint32_t *cordoned,
                         const uint32_t *shares)
{
    fixture on = start(3, NVL);
    for (uint32_t rack = 0; rack < 8; ++rack) {
        change(on.planner, PHX_CORDON, 18 * rack, cordoned[rack]);
    }
    const phx_slice slice = {unit, 2};
    phx_request request = request_of(on.planner, ranks, 1, PHX_NONE);
    CHECK(phx_request_slices(on.planner, &request, &slice, unit > 1) == PHX_OK);
    CHECK(phx_request_balance(on.planner, &request, 2) == PHX_OK);
    const uint32_t slot = placed(&on, &request);
    for (uint32_t rack = 0; rack < 8; ++rack) {
        CHECK(ranks_in(&on, slot, 18 * rack, 18) == shares[rack]);
    }
    finish(&on);
}

/* Fewest racks, even; a rack that is too small for its share is full. */
static void test_balanced(void)
{
    const uint32_t none[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const uint32_t some[8] = {0, 1, 2, 0, 1, 2, 0, 1};
    const uint32_t sixteens[8] = {16, 16, 16, 16, 16, 16, 16, 16};
    const uint32_t pair[8] = {12, 12, 0, 0, 0, 0, 0, 0};
    const uint32_t small[8] = {12, 18, 18, 0, 18, 18, 18, 18};
    const uint32_t filled[8] = {6, 0, 0, 18, 0, 0, 0, 0};
    const uint32_t tight[8] = {6, 0, 2, 18, 6, 18, 18, 18};
    const uint32_t snug[8] = {12, 0, 0, 0, 12, 0, 0, 0};
    const uint32_t three[8] = {14, 13, 13, 0, 0, 0, 0, 0};
    const uint32_t units[8] = {8, 4, 4, 0, 0, 0, 0, 0};
    const uint32_t narrow[8] = {9, 9, 9, 18, 18, 18, 18, 18};
    const uint32_t quarters[8] = {8, 8, 8, 0, 0, 0, 0, 0};
    check_shares(128, 1, some, sixteens);
    check_shares(24, 1, none, pair);
    check_shares(24, 1, small, filled);
    check_shares(24, 1, tight, snug);
    check_shares(40, 1, none, three);
    check_shares(24, 4, narrow, quarters);
    check_shares(16, 4, (const uint32_t[8]){9, 14, 14, 18, 18, 18, 18, 18}, units);
}

/* Lost leaves come from the slice's own rack while it has room, else the slice moves whole. */
static void test_repairs(void)
{
    fixture on = start(4, PODS);
    const phx_slice chain[2] = {{4, 2}, {8, 3}};
    const phx_request two = sliced(&on, 16, 2, chain, 2);
    const uint32_t slot = placed(&on, &two);
    CHECK(ranks_in(&on, slot, 0, 16) == 16);
    const phx_run one = {1, 1};
    /* Rack 0 is full and so is pod 0, where the outer slice lives. */
    CHECK(phx_replan_sliced(on.planner, slot, &two, &one, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_MISFIT);
    CHECK(on.repair.proven == 1 && on.repair.unresolved == 1);
    const phx_run pod = {0, 8};
    CHECK(phx_replan_sliced(on.planner, slot, &two, &pod, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_OK);
    CHECK(on.repair.moved == 8 && on.repair.moves == 1 && on.moves[0].to == 16);
    CHECK(phx_apply(on.planner, slot, on.moves, 1, &pod, 1) == PHX_OK);
    CHECK(ranks_in(&on, slot, 16, 8) == 8);
    finish(&on);
}

/* Half a rack is free: a group shifts inside it; two lost groups make the slice move. */
static void test_groups_shift(void)
{
    fixture on = start(3, RACKS);
    const phx_slice slice = {8, 2};
    const phx_request gang = sliced(&on, 8, 4, &slice, 1);
    const uint32_t slot = placed(&on, &gang);
    const phx_request filler = request_of(on.planner, 4, 4, PHX_NONE);
    CHECK(slot_of(phx_place(on.planner, &filler)) != slot); /* one host of rack 0 is left */
    phx_run lost = {2, 1};
    CHECK(phx_replan_sliced(on.planner, slot, &gang, &lost, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_OK);
    CHECK(on.repair.moved == 4 && on.repair.moves == 1);
    CHECK(on.moves[0].from == 0 && on.moves[0].to == 12 && on.moves[0].rank == 0);
    const phx_run both[2] = {{2, 1}, {4, 1}};
    CHECK(phx_replan_sliced(on.planner, slot, &gang, both, 2, NULL, PHX_REPLAN_APPLY, on.moves,
                            MOVES_MAX, &on.repair) == PHX_OK);
    CHECK(on.repair.moved == 8 && ranks_in(&on, slot, 16, 16) == 8);
    CHECK_VALID(on.planner);
    lost.first = on.moves[0].to;
    CHECK(phx_replan_sliced(on.planner, slot, &gang, &lost, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_OK);
    on.moves[0].to = 40; /* another rack: the slice would be split */
    CHECK(phx_apply_sliced(on.planner, slot, &gang, on.moves, 1, &lost, 1) == PHX_STALE_PLAN);
    phx_request other = sliced(&on, 16, 4, &slice, 1);
    CHECK(phx_replan_sliced(on.planner, slot, &other, &lost, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_BAD_GANG);
    CHECK(phx_replan_sliced(on.planner, 77, &gang, &lost, 1, NULL, 0, on.moves, MOVES_MAX,
                            &on.repair) == PHX_STALE_HANDLE);
    CHECK(phx_apply_sliced(on.planner, 77, &gang, on.moves, 1, &lost, 1) == PHX_STALE_HANDLE);
    finish(&on);
}

/* A move to no leaf at all is refused before its place in an uneven tree is looked up. */
static void test_a_move_to_no_leaf(void)
{
    const uint32_t counts[3] = {10, 4, 2};
    const uint32_t first[8] = {0, 2, 5, 7, 10, 0, 2, 4}; /* hosts of 2 and 3, racks of two */
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(2, counts, first, NULL, &tree) == PHX_OK);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    phx_request gang = request_of(planner, 2, 1, PHX_NONE);
    const phx_slice slice = {2, 2};
    CHECK(phx_request_slices(planner, &gang, &slice, 1) == PHX_OK);
    const uint32_t slot = slot_of(phx_place(planner, &gang));
    uint32_t leaves[2];
    CHECK(phx_gang_leaves(planner, slot, leaves) == PHX_OK);
    const phx_run lost = {leaves[0], 1};
    const phx_move move = {0, leaves[0], 1u << 24, 1};
    CHECK(phx_apply_sliced(planner, slot, &gang, &move, 1, &lost, 1) == PHX_STALE_PLAN);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* A call that refuses leaves the request as it was. */
static void test_refusals_keep_the_request(void)
{
    fixture on = start(3, RACKS);
    const phx_slice good = {8, 2};
    const phx_slice wrong[3] = {{4, 1}, {6, 2}, {5, 3}};
    phx_request request = sliced(&on, 8, 4, &good, 1);
    const phx_request before = request;
    CHECK(phx_request_slices(on.planner, &request, wrong, 2) == PHX_BAD_GANG);
    CHECK(memcmp(&request, &before, sizeof before) == 0);
    const phx_slice sixteen = {16, 2};
    CHECK(phx_request_slices(on.planner, &request, &sixteen, 1) == PHX_BAD_GANG);
    CHECK(memcmp(&request, &before, sizeof before) == 0);
    phx_planner *buddy = new_planner(on.tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    phx_request aligned = request_of(buddy, 16, 4, PHX_NONE);
    const phx_request plain = aligned;
    CHECK(phx_request_slices(buddy, &aligned, &sixteen, 1) == PHX_BAD_GANG);
    CHECK(phx_request_balance(buddy, &aligned, 2) == PHX_BAD_GANG);
    CHECK(memcmp(&aligned, &plain, sizeof plain) == 0);
    phx_planner_free(buddy);
    finish(&on);
}

int main(void)
{
    test_what_is_no_chain();
    test_slices_are_whole();
    test_nested_slices();
    test_balanced();
    test_repairs();
    test_groups_shift();
    test_a_move_to_no_leaf();
    test_refusals_keep_the_request();
    puts("test_slices: 8 passed, 0 failed");
    return 0;
}
