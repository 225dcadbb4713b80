/* Where gangs go when a rule, an aim, limits or buddy blocks decide; free leaves counted by hand.
 */
#include "check.h"
#include "pack.h"

static const uint32_t PAPER[4] = {8, 4, 2, 2}; /* 8 leaves a host, 4 hosts a rail, 2 rails a pod */

static phx_request request_for(const phx_planner *planner, phx_gang gang)
{
    phx_request request;
    CHECK(phx_request_init(planner, &gang, &request) == PHX_OK);
    return request;
}

/* Somebody holds leaves first .. first + count - 1. */
static void hold(phx_planner *planner, uint32_t first, uint32_t count)
{
    uint32_t leaves[128];
    const phx_request request = request_of(planner, count, 1, PHX_NONE);
    for (uint32_t at = 0; at < count; ++at) {
        leaves[at] = first + at;
    }
    CHECK(phx_adopt(planner, &request, leaves) >= 0);
}

/* Where a gang would go, as its first run; the number of runs. */
static uint32_t would_go(phx_planner *planner, phx_gang gang, const int32_t *const *limits,
                         phx_run *runs)
{
    const phx_request request = request_for(planner, gang);
    uint32_t count = 0;
    const int64_t placed = phx_place_limited(planner, &request, limits, 0, runs, 16, &count);
    CHECK((placed == 0 && count > 0) || placed == -(int64_t)PHX_MISFIT);
    CHECK_VALID(planner);
    return placed == 0 ? count : 0;
}

/* Host 0 has leaves 4..7 free, host 1 leaves 14 and 15, all other hosts everything. */
static void test_rules(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang smallest = {2, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang fullest = {2, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_FULLEST};
    const phx_gang lowest = {2, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_LOWEST};
    const phx_gang rail = {16, 8, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_FULLEST};
    phx_run runs[16];
    hold(planner, 0, 4);
    hold(planner, 8, 6);
    CHECK(would_go(planner, smallest, NULL, runs) == 1 && runs[0].first == 14);
    CHECK(would_go(planner, fullest, NULL, runs) == 1 && runs[0].first == 14);
    CHECK(would_go(planner, lowest, NULL, runs) == 1 && runs[0].first == 4);
    CHECK(would_go(planner, rail, NULL, runs) == 1 && runs[0].first == 16);
    hold(planner, 14, 2);
    CHECK(would_go(planner, fullest, NULL, runs) == 1 && runs[0].first == 4);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Groups that do not talk fill host 0's last pair, then host 5's four, then a whole host. */
static void test_fill(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang fill = {8, 2, 1, PHX_NONE, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    const phx_gang one = {2, 2, 1, PHX_NONE, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    const phx_gang inside = {40, 2, 1, 2, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    int32_t hosts[16];
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, hosts};
    phx_run runs[16];
    hold(planner, 0, 6);
    hold(planner, 40, 4);
    CHECK(would_go(planner, fill, NULL, runs) == 2);
    CHECK(runs[0].first == 6 && runs[0].count == 4);
    CHECK(runs[1].first == 44 && runs[1].count == 4);
    CHECK(would_go(planner, one, NULL, runs) == 1 && runs[0].first == 6);
    for (uint32_t host = 0; host < 16; ++host) {
        hosts[host] = 100;
    }
    hosts[0] = 0;
    hosts[5] = 2;
    CHECK(would_go(planner, fill, limits, runs) == 2);
    CHECK(runs[0].first == 8 && runs[0].count == 6);
    CHECK(runs[1].first == 44 && runs[1].count == 2);
    CHECK(would_go(planner, inside, NULL, runs) == 0);
    const phx_request request = request_for(planner, fill);
    uint32_t count = 0;
    const int64_t placed = phx_place_limited(planner, &request, limits, 1, runs, 16, &count);
    CHECK(placed >= 0 && first_of(placed) == 8 && level_of(placed) == 3);
    CHECK(((placed >> 47) & 1) == 1);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Even leaves are barred one by one, host 0 may give one leaf: host 1 gives 9 and 11. */
static void test_limits_on_two_levels(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang two = {2, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang five = {5, 5, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    int32_t leaf[128];
    int32_t hosts[16];
    for (uint32_t at = 0; at < 128; ++at) {
        leaf[at] = (int32_t)(at & 1);
        hosts[at / 8] = at < 8 ? 1 : 8;
    }
    const int32_t *limits[PHX_LEVELS_MAX] = {leaf, hosts};
    phx_run runs[16];
    CHECK(would_go(planner, two, limits, runs) == 2);
    CHECK(runs[0].first == 9 && runs[1].first == 11);
    CHECK(would_go(planner, five, limits, runs) == 0);
    const phx_request request = request_for(planner, five);
    phx_level_record records[5];
    uint32_t count = 0;
    uint32_t code = 9;
    CHECK(phx_explain(planner, &request, limits, records, 5, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_LIMITED && count == 4);
    CHECK(records[0].best == 0 && records[0].ranks == 0 && records[0].available == 8);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* One host of each kind of leaf: 2 owned, 1 quarantined, 1 down, 1 suspect, 1 cordoned, 2 free. */
static void test_why_not(void)
{
    const uint32_t pair[2] = {8, 2};
    phx_tree *tree = even_tree(2, pair);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 2, 1, 1);
    const uint32_t ill[4] = {2, 3, 4, 5};
    uint32_t owners[4];
    hold(planner, 0, 2);
    const phx_request one = request_of(planner, 1, 1, PHX_NONE);
    const uint32_t lost = slot_of(phx_adopt(planner, &one, ill));
    CHECK(phx_health_change(planner, PHX_FAIL, ill, 2, owners) == PHX_OK);
    CHECK(owners[0] == lost && owners[1] == PHX_NONE);
    CHECK(phx_health_change(planner, PHX_DOUBT, ill + 2, 1, owners) == PHX_OK);
    CHECK(phx_health_change(planner, PHX_DOUBT, ill + 1, 1, owners) == PHX_OK); /* stays down */
    CHECK(phx_health_change(planner, PHX_CORDON, ill + 3, 1, owners) == PHX_OK);
    CHECK(phx_release(planner, lost) == PHX_OK);
    const phx_request three = request_of(planner, 3, 1, PHX_NONE);
    phx_level_record records[3];
    uint32_t count = 0;
    uint32_t code = 9;
    CHECK(phx_place(planner, &three) == -(int64_t)PHX_MISFIT);
    CHECK(phx_explain(planner, &three, NULL, records, 3, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_CAPACITY && count == 2);
    CHECK(records[0].level == 1 && records[0].best == 0 && records[0].ranks == 2);
    CHECK(records[0].leaves == 8 && records[0].available == 2 && records[0].owned == 2);
    CHECK(records[0].quarantined == 1 && records[0].down == 1);
    CHECK(records[0].suspect == 1 && records[0].cordoned == 1 && records[0].spare == 0);
    CHECK(records[1].level == 2 && records[1].leaves == 16 && records[1].spare == 8);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Groups inside single leaves cannot be larger than one. */
static void test_groups_inside_a_leaf(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang pairs = {2, 2, 0, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang ones = {2, 1, 0, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_run runs[16];
    phx_level_record records[5];
    uint32_t count = 0;
    uint32_t code = 9;
    CHECK(would_go(planner, pairs, NULL, runs) == 0);
    const phx_request request = request_for(planner, pairs);
    CHECK(phx_explain(planner, &request, NULL, records, 5, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_TOO_LARGE);
    CHECK(would_go(planner, ones, NULL, runs) == 1 && runs[0].first == 0);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* One rank fits into one leaf, two do not, and a full cluster refuses for want of leaves. */
static void test_gangs_inside_one_leaf(void)
{
    const uint32_t two[1] = {2};
    phx_tree *tree = even_tree(1, two);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang one = {1, 1, 0, 0, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang pair = {2, 1, 0, 0, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_request small = request_for(planner, one);
    const phx_request large = request_for(planner, pair);
    phx_level_record records[2];
    uint32_t count = 0;
    uint32_t code = 9;
    CHECK(phx_place(planner, &large) == -(int64_t)PHX_MISFIT);
    CHECK(phx_explain(planner, &large, NULL, records, 2, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_TOO_LARGE);
    CHECK(first_of(phx_place(planner, &small)) == 0);
    CHECK(first_of(phx_place(planner, &small)) == 1);
    CHECK(phx_place(planner, &small) == -(int64_t)PHX_MISFIT);
    CHECK(phx_explain(planner, &small, NULL, records, 2, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_CAPACITY);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Pods of 64 leaves with one spare host each: 64 ranks are the free halves of two pods. */
static void test_buddy_unions(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_BUDDY, 3, 1, 1);
    const phx_gang two = {48, 8, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang pod = {64, 8, 1, 3, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const phx_gang wide = {64, 64, 3, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_run runs[16];
    CHECK(would_go(planner, two, NULL, runs) == 2);
    CHECK(runs[0].first == 0 && runs[0].count == 32);
    CHECK(runs[1].first == 64 && runs[1].count == 32);
    CHECK(would_go(planner, pod, NULL, runs) == 0);
    phx_request request;
    CHECK(phx_request_init(planner, &wide, &request) == PHX_BAD_GANG);
    request = request_for(planner, two);
    const int64_t placed = phx_place(planner, &request);
    CHECK(placed >= 0 && first_of(placed) == 0 && level_of(placed) == 4);
    CHECK(phx_gang_ranks(planner, slot_of(placed)) == 48);
    CHECK_VALID(planner);
    CHECK(phx_place(planner, &request) == -(int64_t)PHX_MISFIT);
    phx_level_record records[5];
    uint32_t count = 0;
    uint32_t code = 9;
    CHECK(phx_explain(planner, &request, NULL, records, 5, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_ALIGNMENT);
    CHECK(phx_release(planner, slot_of(placed)) == PHX_OK);
    CHECK(phx_free_leaves(planner, 0, NULL) == 112);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Pods 1 and 2 are stand-ins and hold no spares, so pieces can touch. Free: 0..31, all of pod 1
 * (64..127) and 128..159. */
static void test_pieces_that_touch(void)
{
    uint32_t first[64 / 2 + 1 + 8 + 1 + 4 + 1 + 2];
    const uint32_t counts[5] = {256, 32, 8, 4, 1};
    static const uint32_t fanouts[4] = {8, 4, 2, 4};
    uint8_t phantom[45] = {0};
    uint32_t at = 0;
    for (uint32_t level = 1; level <= 4; ++level) {
        for (uint32_t vertex = 0; vertex <= counts[level]; ++vertex) {
            first[at++] = vertex * fanouts[level - 1];
        }
    }
    phantom[32 + 8 + 1] = 1;
    phantom[32 + 8 + 2] = 1;
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(4, counts, first, phantom, &tree) == PHX_OK);
    phx_planner *planner = new_planner(tree, PHX_BUDDY, 3, 1, 1);
    const phx_gang four = {128, 8, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_run runs[16];
    CHECK((phx_leaf_state(planner, 63) & 3) == PHX_SPARE);
    CHECK((phx_leaf_state(planner, 127) & 3) == PHX_FREE);
    hold(planner, 160, 32);
    hold(planner, 192, 32);
    CHECK(would_go(planner, four, NULL, runs) == 2);
    CHECK(runs[0].first == 0 && runs[0].count == 32);
    CHECK(runs[1].first == 64 && runs[1].count == 96);
    const phx_request request = request_for(planner, four);
    const int64_t placed = phx_place(planner, &request);
    CHECK(placed >= 0 && first_of(placed) == 0 && level_of(placed) == 4);
    uint32_t count = 0;
    CHECK(phx_gang_runs(planner, slot_of(placed), runs, 16, &count) == PHX_OK && count == 2);
    CHECK(runs[0].first == 0 && runs[0].count == 32);
    CHECK(runs[1].first == 64 && runs[1].count == 96);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* A vertex smaller than the need has no block, whatever is free. */
static void test_blocks_inside_a_vertex(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    CHECK(phx_block_find(&planner->space, 9, 0, 1, 0) == PHX_NONE);
    CHECK(phx_block_find(&planner->space, 8, 0, 1, 3) == 24);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    test_rules();
    test_fill();
    test_limits_on_two_levels();
    test_why_not();
    test_groups_inside_a_leaf();
    test_gangs_inside_one_leaf();
    test_buddy_unions();
    test_pieces_that_touch();
    test_blocks_inside_a_vertex();
    puts("test_choices: 9 passed, 0 failed");
    return 0;
}
