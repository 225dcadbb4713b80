/* Gangs that shrink and grow: which leaves stay, which are fenced, and what is refused. */
#include "check.h"

static const uint32_t RACKS[3] = {4, 4, 4}; /* 4 leaves a host, 4 hosts a rack, 4 racks */

static phx_request sliced(const phx_planner *planner, uint32_t ranks)
{
    const phx_slice slice = {8, 2};
    phx_request request = request_of(planner, ranks, 4, PHX_NONE);
    CHECK(phx_request_slices(planner, &request, &slice, 1) == PHX_OK);
    return request;
}

static void check_leaves(const phx_planner *planner, uint32_t slot, const phx_run *runs,
                         uint32_t count)
{
    uint32_t leaves[64];
    uint32_t rank = 0;
    CHECK(phx_gang_leaves(planner, slot, leaves) == PHX_OK);
    for (uint32_t run = 0; run < count; ++run) {
        for (uint32_t at = 0; at < runs[run].count; ++at) {
            CHECK(leaves[rank++] == runs[run].first + at);
        }
    }
    CHECK(rank == phx_gang_ranks(planner, slot));
}

static void test_shrink(void)
{
    phx_tree *tree = even_tree(3, RACKS);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request request = sliced(planner, 40);
    const uint32_t slot = slot_of(phx_place(planner, &request));
    const phx_run kept[2] = {{8, 8}, {24, 8}};
    CHECK(phx_shrink(planner, slot, kept, 2) == PHX_OK);
    check_leaves(planner, slot, (const phx_run[2]){{8, 8}, {24, 8}}, 2);
    CHECK((phx_leaf_state(planner, 0) & 3) == PHX_QUARANTINE);
    CHECK((phx_leaf_state(planner, 16) & 3) == PHX_QUARANTINE);
    CHECK((phx_leaf_state(planner, 39) & 3) == PHX_QUARANTINE);
    CHECK(phx_free_leaves(planner, 0, NULL) == 24 && phx_gang_level(planner, slot) == 3);
    CHECK_VALID(planner);
    const phx_run last = {8, 8};
    CHECK(phx_shrink(planner, slot, &last, 1) == PHX_OK);
    check_leaves(planner, slot, (const phx_run[1]){{24, 8}}, 1);
    CHECK(phx_gang_level(planner, slot) == 2);
    CHECK_VALID(planner);
    CHECK(phx_release(planner, slot) == PHX_OK);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_what_is_no_shrink(void)
{
    phx_tree *tree = even_tree(3, RACKS);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request request = sliced(planner, 32);
    const uint32_t slot = slot_of(phx_place(planner, &request));
    const phx_run all = {0, 32};
    const phx_run half_a_group = {0, 10};
    const phx_run inside_a_group = {2, 8};
    const phx_run beyond = {24, 16};
    const phx_run nothing = {8, 0};
    const phx_run turned[2] = {{16, 8}, {0, 8}};
    const phx_run twice[2] = {{0, 16}, {8, 8}};
    CHECK(phx_shrink(planner, slot, &all, 1) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, &all, 0) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, &half_a_group, 1) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, &inside_a_group, 1) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, &beyond, 1) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, &nothing, 1) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, turned, 2) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, slot, twice, 2) == PHX_BAD_GANG);
    CHECK(phx_shrink(planner, 9, &half_a_group, 1) == PHX_STALE_HANDLE);
    check_leaves(planner, slot, &all, 1);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* The rest of the gang's own rack first, then as near as there is room. */
static void test_grow(void)
{
    phx_tree *tree = even_tree(3, RACKS);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request eight = sliced(planner, 8);
    const phx_request sixteen = sliced(planner, 16);
    const uint32_t slot = slot_of(phx_place(planner, &eight));
    phx_run runs[8];
    uint32_t count = 0;
    CHECK(phx_grow_plan(planner, slot, &eight, NULL, runs, 8, &count) == PHX_OK);
    CHECK(count == 1 && runs[0].first == 8 && runs[0].count == 8);
    CHECK(phx_grow(planner, slot, &sixteen, runs, 1) == PHX_STALE_PLAN); /* not as many */
    CHECK(phx_grow(planner, slot, &eight, runs, 1) == PHX_OK);
    CHECK(phx_grow(planner, slot, &eight, runs, 1) == PHX_STALE_PLAN); /* held by now */
    check_leaves(planner, slot, (const phx_run[1]){{0, 16}}, 1);
    CHECK(phx_gang_level(planner, slot) == 2);
    int32_t racks[4] = {16, 8, 0, 16};
    const int32_t *limits[4] = {NULL, NULL, racks, NULL};
    CHECK(phx_grow_plan(planner, slot, &sixteen, limits, runs, 8, &count) == PHX_OK);
    CHECK(count == 1 && runs[0].first == 48 && runs[0].count == 16);
    racks[3] = 4;
    CHECK(phx_grow_plan(planner, slot, &sixteen, limits, runs, 8, &count) == PHX_MISFIT);
    const phx_run split[2] = {{20, 4}, {32, 4}}; /* one slice over two racks */
    CHECK(phx_grow(planner, slot, &eight, split, 2) == PHX_STALE_PLAN);
    const phx_run odd[2] = {{18, 4}, {24, 4}}; /* a group over two hosts */
    CHECK(phx_grow(planner, slot, &eight, odd, 2) == PHX_STALE_PLAN);
    const phx_run back[2] = {{24, 4}, {20, 4}};
    CHECK(phx_grow(planner, slot, &eight, back, 2) == PHX_STALE_PLAN);
    const phx_run far = {60, 8};
    CHECK(phx_grow(planner, slot, &eight, &far, 1) == PHX_STALE_PLAN);
    const phx_run hosts[2] = {{20, 4}, {28, 4}};
    CHECK(phx_grow(planner, slot, &eight, hosts, 2) == PHX_OK);
    check_leaves(planner, slot, (const phx_run[3]){{0, 16}, {20, 4}, {28, 4}}, 3);
    CHECK(phx_gang_level(planner, slot) == 3);
    CHECK(phx_grow_plan(planner, 9, &eight, NULL, runs, 8, &count) == PHX_STALE_HANDLE);
    CHECK(phx_grow(planner, 9, &eight, hosts, 2) == PHX_STALE_HANDLE);
    const phx_request other = request_of(planner, 8, 2, PHX_NONE);
    CHECK(phx_grow_plan(planner, slot, &other, NULL, runs, 8, &count) == PHX_BAD_GANG);
    CHECK(phx_grow(planner, slot, &other, hosts, 2) == PHX_BAD_GANG);
    const phx_gang looser = {8, 4, 2, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_request rack_groups; /* groups of another level are not the gang's */
    CHECK(phx_request_init(planner, &looser, &rack_groups) == PHX_OK);
    CHECK(phx_grow_plan(planner, slot, &rack_groups, NULL, runs, 8, &count) == PHX_BAD_GANG);
    CHECK(phx_grow(planner, slot, &rack_groups, hosts, 2) == PHX_BAD_GANG);
    CHECK(phx_grow_plan(planner, slot, &sixteen, NULL, runs, 0, &count) == PHX_NO_ROOM);
    CHECK(count == 1);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* A gang that must stay in its rack grows there or not at all. */
static void test_grow_within(void)
{
    phx_tree *tree = even_tree(3, RACKS);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request twelve = request_of(planner, 12, 4, 2);
    const phx_request eight = request_of(planner, 8, 4, 2);
    const phx_request four = request_of(planner, 4, 4, 2);
    const uint32_t slot = slot_of(phx_place(planner, &twelve));
    phx_run runs[4];
    uint32_t count = 0;
    CHECK(phx_grow_plan(planner, slot, &eight, NULL, runs, 4, &count) == PHX_MISFIT);
    CHECK(phx_grow_plan(planner, slot, &four, NULL, runs, 4, &count) == PHX_OK);
    CHECK(count == 1 && runs[0].first == 12);
    const phx_run away = {16, 4};
    CHECK(phx_grow(planner, slot, &four, &away, 1) == PHX_STALE_PLAN);
    CHECK(phx_grow(planner, slot, &four, runs, 1) == PHX_OK);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_planner *buddy = new_planner(tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    const uint32_t block = slot_of(phx_place(buddy, &eight));
    CHECK(phx_grow_plan(buddy, block, &four, NULL, runs, 4, &count) == PHX_BAD_GANG);
    CHECK(phx_grow(buddy, block, &four, &away, 1) == PHX_BAD_GANG);
    const phx_run kept = {0, 4};
    CHECK(phx_shrink(buddy, block, &kept, 1) == PHX_BAD_GANG);
    phx_planner_free(buddy);
    phx_tree_free(tree);
}

int main(void)
{
    test_shrink();
    test_what_is_no_shrink();
    test_grow();
    test_grow_within();
    puts("test_resize: 4 passed, 0 failed");
    return 0;
}
