/* The free space and the block path above it, against a plain array of bytes and owners.
 *
 * Invariants S1-S5 hold after any takes and gives on power-of-two and other trees; a take undone by
 * a give, and a place undone by a release, leave every byte as it was.
 */
#include "pack.h"

#include "check.h"

#define LEAVES 8192
#define ROUNDS 3000

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % bound);
}

/* Fanouts from the leaf upward, ended by 0; the number of roots. */
typedef struct shape_case {
    const char *name;
    uint32_t fanout[6];
    uint32_t roots;
    int buddy;
} shape_case;

static const shape_case UNIFORM[] = {
    {"8x4x8", {8, 4, 8, 0}, 1, 1},
    {"one leaf", {1, 0}, 1, 1},
    {"64x32", {64, 32, 0}, 1, 1},
    {"4x128, a hidden level", {4, 128, 0}, 1, 1},
    {"levels of one child", {1, 8, 1, 16, 1, 0}, 1, 1},
    {"a forest of eight", {8, 8, 0}, 8, 1},
    {"a forest of three", {4, 16, 0}, 3, 1},
    {"18x4", {4, 18, 5, 0}, 1, 0},
    {"3x100, a hidden level", {3, 100, 0}, 2, 0},
};

static phx_tree *uniform_tree(const shape_case *shape)
{
    uint32_t depth = 0;
    uint32_t counts[7] = {0};
    static uint32_t first[4 * LEAVES];
    while (shape->fanout[depth] != 0) {
        ++depth;
    }
    counts[depth] = shape->roots;
    for (uint32_t level = depth; level > 0; --level) {
        counts[level - 1] = counts[level] * shape->fanout[level - 1];
    }
    uint32_t at = 0;
    for (uint32_t level = 1; level <= depth; ++level) {
        for (uint32_t vertex = 0; vertex <= counts[level]; ++vertex) {
            first[at++] = vertex * shape->fanout[level - 1];
        }
    }
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(depth, counts, first, NULL, &tree) == PHX_OK);
    CHECK(tree->buddy == (uint32_t)shape->buddy);
    return tree;
}

/* Hosts of 1..8 leaves, racks of 1..90 hosts, one root. */
static phx_tree *irregular_tree(void)
{
    uint32_t counts[4] = {0};
    static uint32_t first[4 * LEAVES];
    uint32_t at = 0;
    for (first[at++] = 0; first[at - 1] < 1500; ++at) {
        first[at] = first[at - 1] + 1 + below(8);
    }
    counts[0] = first[at - 1];
    counts[1] = at - 1;
    const uint32_t racks = at;
    for (first[at++] = 0; first[at - 1] < counts[1]; ++at) {
        const uint32_t end = first[at - 1] + 1 + below(90);
        first[at] = end < counts[1] ? end : counts[1];
    }
    counts[2] = at - racks - 1;
    counts[3] = 1;
    first[at++] = 0;
    first[at++] = counts[2];
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(3, counts, first, NULL, &tree) == PHX_OK);
    return tree;
}

static uint32_t unions_compared;

static void check_space(const phx_space *space, const uint8_t *available)
{
    const char *reason = NULL;
    if (phx_space_validate(space, &reason) != PHX_OK) {
        fprintf(stderr, "%s\n", reason);
        exit(1);
    }
    for (uint32_t leaf = 0; leaf < space->tree->level[0].count; ++leaf) {
        CHECK(phx_bit(space->whole[0], leaf) == available[leaf]);
    }
}

/* A random run of equal leaves: often a block of a power of two, often as long as it can be. */
static phx_run random_run(const uint8_t *available, uint32_t leaves)
{
    uint32_t first = below(leaves);
    uint32_t most = 1u << below(11);
    if (below(2) == 0) {
        first = first / most * most;
    }
    most = below(4) == 0 ? 1 + below(leaves) : most;
    uint32_t count = 1;
    while (count < most && first + count < leaves && available[first + count] == available[first]) {
        ++count;
    }
    return (phx_run){first, count};
}

static void change(phx_space *space, uint8_t *available, phx_run run)
{
    if (available[run.first]) {
        phx_space_take(space, run.first, run.count);
    } else {
        phx_space_give(space, run.first, run.count);
    }
    memset(available + run.first, !available[run.first], run.count);
}

static void test_takes_and_gives(const phx_tree *tree)
{
    const uint32_t leaves = tree->level[0].count;
    const size_t bytes = phx_space_bytes(tree);
    uint64_t *region = calloc(1, bytes);
    uint64_t *before = calloc(1, bytes);
    uint8_t *available = calloc(1, leaves);
    phx_space space;
    CHECK(region != NULL && before != NULL && available != NULL);
    phx_space_attach(&space, tree, region);
    check_space(&space, available);
    change(&space, available, (phx_run){0, leaves});
    check_space(&space, available);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const phx_run run = random_run(available, leaves);
        memcpy(before, region, bytes);
        change(&space, available, run);
        check_space(&space, available);
        if (below(4) == 0) {
            change(&space, available, run);
            CHECK(memcmp(before, region, bytes) == 0);
        }
    }
    free(region);
    free(before);
    free(available);
}

/* Every leaf's owner by a plain array, and the free space derived from it. */
static void check_owners(const phx_planner *planner, const uint32_t *owner)
{
    static uint8_t available[LEAVES];
    for (uint32_t leaf = 0; leaf < planner->tree->level[0].count; ++leaf) {
        CHECK(phx_leaf_slot(planner, leaf) == owner[leaf]);
        available[leaf] = owner[leaf] == PHX_NONE && !phx_in_spare(planner, leaf);
    }
    check_space(&planner->space, available);
}

static uint32_t random_ranks(int64_t space_left)
{
    const uint32_t power = 1u << below(8);
    const uint32_t most = space_left > 0 ? 1 + (uint32_t)space_left / 4 : 1;
    return below(3) == 0 ? 1 + below(most) : power;
}

/* Places one gang and notes its leaves; its slot, or PHX_NONE when it does not fit. */
static uint32_t place(phx_planner *planner, uint32_t ranks, uint32_t *owner)
{
    static phx_run runs[LEAVES];
    const phx_gang gang = {ranks, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_request request;
    uint32_t count = 0;
    if (phx_request_init(planner, &gang, &request) != PHX_OK) {
        return PHX_NONE;
    }
    phx_planner *twin = NULL;
    CHECK(phx_planner_clone(planner, &twin) == PHX_OK);
    const int64_t result = phx_place(planner, &request);
    if (request.pieces > 1) { /* unions have a short cut of the search */
        CHECK(phx_place_limited(twin, &request, NULL, 1, NULL, 0, NULL) == result);
        CHECK(memcmp(planner->region, twin->region, planner->saved_bytes) == 0);
        ++unions_compared;
    }
    phx_planner_free(twin);
    if (result < 0) {
        CHECK(result == -(int64_t)PHX_MISFIT);
        return PHX_NONE;
    }
    const uint32_t slot = (uint32_t)(result & 0x1fffff);
    CHECK(phx_gang_ranks(planner, slot) == ranks);
    CHECK(phx_gang_runs(planner, slot, runs, LEAVES, &count) == PHX_OK);
    uint32_t held = 0;
    for (uint32_t run = 0; run < count; ++run) {
        for (uint32_t leaf = runs[run].first; leaf < runs[run].first + runs[run].count; ++leaf) {
            CHECK(owner[leaf] == PHX_NONE && !phx_in_spare(planner, leaf));
            owner[leaf] = slot;
            ++held;
        }
    }
    CHECK(held == request.held);
    return slot;
}

static void forget(const phx_planner *planner, uint32_t slot, uint32_t *owner)
{
    for (uint32_t leaf = 0; leaf < planner->tree->level[0].count; ++leaf) {
        owner[leaf] = owner[leaf] == slot ? PHX_NONE : owner[leaf];
    }
}

/* Bytes of free space, owners and runs: all of the state but the gangs and their counters. */
static size_t state_bytes(const phx_planner *planner)
{
    return (size_t)((const char *)planner->gangs - (const char *)planner->space.shapes);
}

static void test_places_and_releases(const phx_tree *tree, phx_options options)
{
    phx_planner *planner = NULL;
    static uint32_t owner[LEAVES];
    static uint32_t slots[LEAVES];
    uint32_t gangs = 0;
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_OK);
    const size_t bytes = state_bytes(planner);
    char *start = malloc(bytes);
    char *before = malloc(bytes);
    CHECK(start != NULL && before != NULL);
    memcpy(start, planner->space.shapes, bytes);
    memset(owner, 0xff, sizeof owner);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        if (gangs == 0 || below(20) < 11) {
            memcpy(before, planner->space.shapes, bytes);
            const uint32_t ranks = random_ranks(phx_space_total(&planner->space));
            const uint32_t slot = place(planner, ranks, owner);
            if (slot == PHX_NONE || below(4) == 0) {
                CHECK(slot == PHX_NONE || phx_release(planner, slot) == PHX_OK);
                CHECK(memcmp(before, planner->space.shapes, bytes) == 0);
                forget(planner, slot, owner);
            } else {
                slots[gangs++] = slot;
            }
        } else {
            const uint32_t at = below(gangs);
            CHECK(phx_release(planner, slots[at]) == PHX_OK);
            CHECK(phx_release(planner, slots[at]) == PHX_STALE_HANDLE);
            forget(planner, slots[at], owner);
            slots[at] = slots[--gangs];
        }
        check_owners(planner, owner);
    }
    while (gangs > 0) {
        CHECK(phx_release(planner, slots[--gangs]) == PHX_OK);
    }
    CHECK(memcmp(start, planner->space.shapes, bytes) == 0);
    free(start);
    free(before);
    phx_planner_free(planner);
}

/* A tree of hosts, racks and more, with and without spares, in both alignments where it can be. */
static void test_planner(const phx_tree *tree)
{
    const phx_options plain = {PHX_EXACT, PHX_NONE, PHX_NONE, 0};
    const phx_options spares = {PHX_EXACT, 2, 1, 1};
    test_places_and_releases(tree, plain);
    if (tree->visible_depth >= 2) {
        test_places_and_releases(tree, spares);
    }
    if (tree->buddy) {
        const phx_options buddy = {PHX_BUDDY, PHX_NONE, PHX_NONE, 0};
        test_places_and_releases(tree, buddy);
        const phx_options unions = {PHX_BUDDY, 2, 1, 1};
        if (tree->visible_depth >= 3 && tree->level[1].fanout > 1) {
            test_places_and_releases(tree, unions);
        }
    }
}

/* Runs of set bits from the definition: aligned runs that no wider aligned run contains. */
static void test_runs_of(void)
{
    for (uint32_t round = 0; round < 20000; ++round) {
        uint64_t mask = 0;
        for (uint32_t at = 0; at < 64; at += 1u << below(7)) {
            mask |= below(2) ? phx_low(1u << below(7)) << at : 0;
        }
        mask = mask == ~UINT64_C(0) ? mask >> 1 : mask;
        uint64_t covered = 0;
        for (uint32_t order = PHX_ORDERS; order-- > 0;) {
            uint64_t runs = 0;
            for (uint32_t at = 0; at < 64; at += 1u << order) {
                const uint64_t run = phx_low(1u << order) << at;
                if ((mask & run) == run && (covered & run) == 0) {
                    covered |= run;
                    runs |= UINT64_C(1) << at;
                }
            }
            CHECK(phx_runs_of(mask, order) == runs);
        }
    }
}

int main(void)
{
    test_runs_of();
    for (size_t at = 0; at < sizeof UNIFORM / sizeof *UNIFORM; ++at) {
        phx_tree *tree = uniform_tree(&UNIFORM[at]);
        test_takes_and_gives(tree);
        test_planner(tree);
        phx_tree_free(tree);
    }
    for (uint32_t made = 0; made < 3; ++made) {
        phx_tree *tree = irregular_tree();
        test_takes_and_gives(tree);
        test_planner(tree);
        phx_tree_free(tree);
    }
    CHECK(unions_compared > 500);
    puts("test_space: passed");
    return 0;
}
