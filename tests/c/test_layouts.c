/* Trees at their limits: wide, deep, irregular, forests, a million leaves, and those refused. */
#include "check.h"
#include "tree.h"

#define WORDS_MAX 65536

/* A tree where the first vertex of every level has `wide[level - 1]` children and all others one.
 */
static phx_status lopsided(uint32_t depth, const uint32_t *wide, phx_tree **out)
{
    static uint32_t first[WORDS_MAX];
    uint32_t counts[PHX_LEVELS_MAX + 1] = {0};
    uint32_t at = 0;
    counts[depth] = 1;
    for (uint32_t level = depth; level > 0; --level) {
        counts[level - 1] = counts[level] + wide[level - 1] - 1;
    }
    for (uint32_t level = 1; level <= depth; ++level) {
        first[at++] = 0;
        for (uint32_t vertex = 0; vertex < counts[level]; ++vertex) {
            CHECK(at < WORDS_MAX);
            first[at++] = wide[level - 1] + vertex;
        }
    }
    return phx_tree_new(depth, counts, first, NULL, out);
}

static void test_trees_that_are_refused(void)
{
    phx_tree *tree = NULL;
    const uint32_t few[2] = {4, 2};
    const uint32_t good[3] = {0, 2, 4};
    const uint32_t none[2] = {0, 0};
    const uint32_t many[2] = {PHX_LEAVES_MAX + 1, 1};
    const uint32_t no_top[2] = {4, 0};
    const uint32_t more[2] = {2, 3};
    const uint32_t late[3] = {1, 2, 4};
    const uint32_t empty[3] = {0, 4, 4};
    const uint32_t short_of[3] = {0, 2, 3};
    CHECK(phx_tree_new(0, few, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(PHX_LEVELS_MAX, few, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, none, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, many, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, no_top, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, more, good, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, few, late, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, few, empty, NULL, &tree) == PHX_BAD_TREE);
    CHECK(phx_tree_new(1, few, short_of, NULL, &tree) == PHX_BAD_TREE && tree == NULL);
    uint32_t wide[16];
    for (uint32_t level = 0; level < 16; ++level) {
        wide[level] = 65;
    }
    CHECK(lopsided(16, wide, &tree) == PHX_BAD_TREE && tree == NULL); /* 32 levels inside */
    wide[12] = 2;
    CHECK(lopsided(13, wide, &tree) == PHX_BAD_TREE && tree == NULL); /* 25 levels inside */
    CHECK(lopsided(12, wide, &tree) == PHX_OK && phx_tree_depth(tree) == 12);
    CHECK(tree->depth == 24);
    phx_tree_free(tree);
}

/* Random placements and releases; everything is validated, and all is free again at the end. */
static void churn(const phx_tree *tree, uint32_t rounds)
{
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const uint32_t leaves = phx_tree_leaf_count(tree);
    uint32_t slots[64];
    uint32_t held = 0;
    uint64_t state = 88172645463325252u;
    for (uint32_t round = 0; round < rounds; ++round) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (held < 64 && (state & 3) != 0) {
            const phx_request request =
                request_of(planner, 1 + (uint32_t)(state >> 8) % (leaves / 8 + 1), 1, PHX_NONE);
            const int64_t placed = phx_place(planner, &request);
            if (placed >= 0) {
                slots[held++] = slot_of(placed);
            }
        } else if (held > 0) {
            CHECK(phx_release(planner, slots[--held]) == PHX_OK);
        }
        if (leaves < 10000) {
            CHECK_VALID(planner);
        }
    }
    while (held > 0) {
        CHECK(phx_release(planner, slots[--held]) == PHX_OK);
    }
    CHECK_VALID(planner);
    CHECK(phx_free_leaves(planner, 0, NULL) == (int64_t)leaves);
    phx_planner_free(planner);
}

/* 16 levels of up to 33 children: 97 shapes, more than the word of shapes has bits. */
static void test_more_shapes_than_a_word(void)
{
    uint32_t wide[16];
    phx_tree *tree = NULL;
    for (uint32_t level = 0; level < 16; ++level) {
        wide[level] = 33;
    }
    CHECK(lopsided(16, wide, &tree) == PHX_OK);
    CHECK(tree->shape_count == 97 && phx_tree_leaf_count(tree) == 513);
    CHECK(phx_tree_distance(tree, 0, 512) == 16 && phx_tree_distance(tree, 0, 32) == 1);
    churn(tree, 400);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request all = request_of(planner, 513, 1, PHX_NONE);
    const phx_request two = request_of(planner, 2, 1, 15);
    const int64_t placed = phx_place(planner, &all);
    CHECK(placed >= 0 && level_of(placed) == 16);
    CHECK(phx_place(planner, &two) == -(int64_t)PHX_MISFIT);
    CHECK(phx_release(planner, slot_of(placed)) == PHX_OK);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Hosts of 5000 leaves: two levels hide below each, nobody sees them. */
static void test_wide_hosts(void)
{
    const uint32_t fanouts[2] = {5000, 70};
    phx_tree *tree = even_tree(2, fanouts);
    CHECK(tree->depth == 5 && phx_tree_depth(tree) == 2);
    CHECK(phx_tree_distance(tree, 0, 63) == 1 && phx_tree_distance(tree, 0, 4999) == 1);
    CHECK(phx_tree_distance(tree, 0, 5000) == 2);
    churn(tree, 200);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 2, 1, 1);
    CHECK((phx_leaf_state(planner, 345000) & 3) == PHX_SPARE);
    const phx_request host = request_of(planner, 5000, 5000, 1);
    const phx_request part = request_of(planner, 100, 10, PHX_NONE);
    /* Hosts 64 to 68 are the last run of a hidden level: 68 is the smallest block. */
    const int64_t placed = phx_place(planner, &host);
    CHECK(placed >= 0 && level_of(placed) == 1 && first_of(placed) == 340000);
    const int64_t small = phx_place(planner, &part);
    CHECK(small >= 0 && level_of(small) == 1);
    phx_level_record records[3];
    uint32_t count = 0;
    uint32_t code = 0;
    CHECK(phx_explain(planner, &part, NULL, records, 3, &count, &code) == PHX_OK);
    CHECK(count == 2 && records[0].level == 1 && records[1].level == 2);
    CHECK(records[0].leaves == 5000 && records[0].domains == 70 && records[1].spare == 5000);
    int32_t per_host[70];
    CHECK(phx_free_leaves(planner, 1, per_host) == 339900 && per_host[68] == 0);
    CHECK(phx_free_leaves(planner, 3, per_host) == 339900); /* no such level: the total alone */
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Two trees: of 3 hosts with 2, 4, 2 leaves and of one host with 4; a gang stays inside one. */
static void test_forest(void)
{
    const uint32_t counts[3] = {12, 4, 2};
    const uint32_t first[] = {0, 2, 6, 8, 12, 0, 3, 4};
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(2, counts, first, NULL, &tree) == PHX_OK);
    CHECK(phx_tree_distance(tree, 7, 8) == 3 && phx_tree_distance(tree, 0, 7) == 2);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    int32_t leaf[12];
    CHECK(phx_free_leaves(planner, 0, leaf) == 12 && leaf[11] == 1);
    const phx_request ten = request_of(planner, 10, 1, PHX_NONE);
    const phx_request two = request_of(planner, 2, 1, PHX_NONE);
    const uint32_t across[2] = {7, 8};
    CHECK(phx_place(planner, &ten) == -(int64_t)PHX_MISFIT);
    CHECK(phx_adopt(planner, &two, across) == -(int64_t)PHX_BAD_CHAIN);
    phx_run largest = phx_largest_block(planner, 1);
    CHECK(largest.first == 2 && largest.count == 4);
    largest = phx_largest_block(planner, 2);
    CHECK(largest.first == 0 && largest.count == 8);
    largest = phx_largest_block(planner, 0);
    CHECK(largest.first == 0 && largest.count == 1);
    /* The smaller tree is cut first, then the smallest host of the other. */
    CHECK(first_of(phx_place(planner, &two)) == 8);
    CHECK(first_of(phx_place(planner, &two)) == 10);
    CHECK(first_of(phx_place(planner, &two)) == 0);
    largest = phx_largest_block(planner, 2); /* hosts 1 and 2 are not aligned; host 1 is first */
    CHECK(largest.first == 2 && largest.count == 4);
    churn(tree, 200);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* A block in a later level or vertex is the largest only when it is larger, or lower. */
static void test_largest_blocks(void)
{
    const uint32_t nvl72[2] = {4, 18};
    phx_tree *tree = even_tree(2, nvl72);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const uint32_t cordoned[3] = {0, 6, 63};
    uint32_t owners[3];
    CHECK(phx_health_change(planner, PHX_CORDON, cordoned, 3, owners) == PHX_OK);
    phx_run largest = phx_largest_block(planner, 2);
    CHECK(largest.first == 16 && largest.count == 16);
    largest = phx_largest_block(planner, 1);
    CHECK(largest.first == 8 && largest.count == 4);
    const phx_request rest = request_of(planner, 60, 1, PHX_NONE);
    CHECK(phx_place(planner, &rest) >= 0);
    largest = phx_largest_block(planner, 2);
    CHECK(largest.count > 0 && largest.count <= 4);
    const phx_request last = request_of(planner, 9, 1, PHX_NONE);
    CHECK(phx_place(planner, &last) >= 0);
    largest = phx_largest_block(planner, 2);
    CHECK(largest.first == PHX_NONE && largest.count == 0);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Four leaves of a wider host are met first, a whole host of four has the lower address. */
static void test_largest_block_of_another_shape(void)
{
    const uint32_t counts[3] = {14, 3, 1};
    const uint32_t first[] = {0, 4, 6, 14, 0, 3};
    const uint32_t cordoned[5] = {4, 6, 7, 8, 9};
    uint32_t owners[5];
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(2, counts, first, NULL, &tree) == PHX_OK);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    CHECK(phx_health_change(planner, PHX_CORDON, cordoned, 5, owners) == PHX_OK);
    const phx_run largest = phx_largest_block(planner, 2);
    CHECK(largest.first == 0 && largest.count == 4);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_chains_of_one_child(void)
{
    const uint32_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const uint32_t sparse[6] = {1, 4, 1, 1, 3, 1};
    phx_tree *tree = even_tree(16, ones);
    churn(tree, 20);
    phx_tree_free(tree);
    tree = even_tree(6, sparse);
    CHECK(phx_tree_distance(tree, 0, 3) == 2 && phx_tree_distance(tree, 0, 4) == 5);
    churn(tree, 200);
    phx_tree_free(tree);
}

/* The most leaves there may be, at the most levels. */
static void test_a_million_leaves(void)
{
    const uint32_t fanouts[16] = {4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    phx_tree *tree = even_tree(16, fanouts);
    CHECK(phx_tree_leaf_count(tree) == PHX_LEAVES_MAX);
    CHECK(phx_tree_distance(tree, 0, PHX_LEAVES_MAX - 1) == 16);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 12, 1, 1);
    const phx_request odd = request_of(planner, 3, 1, PHX_NONE);
    const phx_request block = request_of(planner, 4096, 64, PHX_NONE);
    const phx_request wide = request_of(planner, 100000, 1, PHX_NONE);
    const int64_t small = phx_place(planner, &odd);
    const int64_t middle = phx_place(planner, &block);
    const int64_t large = phx_place(planner, &wide);
    CHECK(small >= 0 && middle == -(int64_t)PHX_MISFIT && large >= 0);
    CHECK(level_of(small) == 1 && level_of(large) == 13);
    CHECK_VALID(planner);
    CHECK(phx_release(planner, slot_of(large)) == PHX_OK);
    CHECK(phx_release(planner, slot_of(small)) == PHX_OK);
    const int64_t again = phx_place(planner, &wide);
    CHECK(again == large || first_of(again) == first_of(large));
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    test_trees_that_are_refused();
    test_more_shapes_than_a_word();
    test_wide_hosts();
    test_forest();
    test_largest_blocks();
    test_largest_block_of_another_shape();
    test_chains_of_one_child();
    test_a_million_leaves();
    puts("test_layouts: 8 passed, 0 failed");
    return 0;
}
