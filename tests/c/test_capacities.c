/* What a domain could hold, against the definition: available leaves are summed upward, cut to the
 * domain's limit, and rounded down to whole groups from the group level on. */
#include "check.h"

#define VERTICES_MAX 2048
#define ROUNDS 60

static uint64_t random_state = UINT64_C(0x2545f4914f6cdd1d);

static uint32_t below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % bound);
}

typedef struct shape_case {
    uint32_t depth;
    uint32_t fanout[4]; /* from the leaf upward */
} shape_case;

static const shape_case SHAPES[] = {
    {4, {8, 4, 2, 2}}, {3, {8, 3, 5}}, {2, {8, 70}}, {3, {5, 4, 3}}, {2, {4, 18}}, {1, {8}},
};

typedef struct wanted {
    uint32_t ranks[5]; /* the most a vertex of each level could hold */
    uint32_t best[5];  /* the lowest such vertex */
} wanted;

static wanted by_definition(const phx_planner *planner, const shape_case *shape,
                            const phx_gang *gang, const int32_t *const *limits)
{
    static uint32_t cap[VERTICES_MAX];
    wanted most = {{0}, {0}};
    uint32_t count = 1;
    for (uint32_t level = 0; level < shape->depth; ++level) {
        count *= shape->fanout[level];
    }
    for (uint32_t leaf = 0; leaf < count; ++leaf) {
        cap[leaf] = (phx_leaf_state(planner, leaf) >> 5) & 1;
    }
    for (uint32_t level = 1; level <= shape->depth; ++level) {
        const uint32_t fanout = shape->fanout[level - 1];
        count /= fanout;
        for (uint32_t vertex = 0; vertex < count; ++vertex) {
            uint32_t sum = 0;
            for (uint32_t child = 0; child < fanout; ++child) {
                sum += cap[vertex * fanout + child];
            }
            if (limits != NULL && limits[level] != NULL && sum > (uint32_t)limits[level][vertex]) {
                sum = (uint32_t)limits[level][vertex];
            }
            cap[vertex] = level >= gang->group_level ? sum - sum % gang->group : sum;
            if (cap[vertex] > most.ranks[level]) {
                most.ranks[level] = cap[vertex];
                most.best[level] = vertex;
            }
        }
    }
    return most;
}

/* Every level's record of one gang, and whether it fits. */
static void check_gang(phx_planner *planner, const shape_case *shape, const phx_gang *gang,
                       const int32_t *const *limits)
{
    phx_request request;
    phx_level_record records[5];
    phx_run run;
    uint32_t count = 0;
    uint32_t code = 0;
    const wanted most = by_definition(planner, shape, gang, limits);
    CHECK(phx_request_init(planner, gang, &request) == PHX_OK);
    CHECK(phx_explain(planner, &request, limits, records, 5, &count, &code) == PHX_OK);
    for (uint32_t at = 0; at < count; ++at) {
        CHECK(records[at].ranks == most.ranks[records[at].level]);
        CHECK(records[at].best == most.best[records[at].level]);
    }
    const int64_t placed = phx_place_limited(planner, &request, limits, 0, &run, 0, &count);
    const int fits = placed == -(int64_t)PHX_NO_ROOM; /* room for no run was given */
    CHECK(fits == (most.ranks[shape->depth] >= gang->ranks));
}

static void test_shape(const shape_case *shape)
{
    phx_tree *tree = even_tree(shape->depth, shape->fanout);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const uint32_t leaves = phx_tree_leaf_count(tree);
    static int32_t limit[VERTICES_MAX];
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const int32_t *limits[PHX_LEVELS_MAX] = {NULL};
        const phx_change change = below(3) == 0 ? PHX_UNCORDON : PHX_CORDON;
        for (uint32_t flips = 1 + below(leaves / 2); flips > 0; --flips) {
            const uint32_t leaf = below(leaves);
            uint32_t owner = 0;
            CHECK(phx_health_change(planner, change, &leaf, 1, &owner) == PHX_OK);
        }
        for (uint32_t at = 0; at < VERTICES_MAX; ++at) {
            limit[at] = (int32_t)below(12);
        }
        limits[1 + below(shape->depth)] = limit;
        for (uint32_t group = 1; group <= 16; ++group) {
            const uint32_t level = 1 + below(shape->depth);
            const phx_gang gang = {
                group * (1 + below(4)), group, level, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
            check_gang(planner, shape, &gang, NULL);
            check_gang(planner, shape, &gang, limits);
        }
    }
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    for (size_t at = 0; at < sizeof SHAPES / sizeof *SHAPES; ++at) {
        test_shape(&SHAPES[at]);
    }
    printf("test_capacities: %zu passed, 0 failed\n", sizeof SHAPES / sizeof *SHAPES);
    return 0;
}
