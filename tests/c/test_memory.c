/* Memory: no call allocates after phx_planner_new, and a creation that runs out of memory says so
 * and keeps nothing (AddressSanitizer would report it). Linked with --wrap=malloc,--wrap=calloc. */
#include "check.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static uint32_t allocations;
static uint32_t fail_at; /* the allocation that fails, counted from 1; 0: none */

void *__wrap_malloc(size_t size)
{
    return ++allocations == fail_at ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == fail_at ? NULL : __real_calloc(count, size);
}

static void arm(uint32_t at)
{
    allocations = 0;
    fail_at = at;
}

static const uint32_t WIDE[3] = {2, 130, 3}; /* a hidden level */

static phx_tree *wide_tree(void)
{
    phx_tree *tree = even_tree(3, WIDE);
    CHECK(phx_tree_leaf_count(tree) == 780);
    return tree;
}

static phx_status make_tree(phx_tree **out)
{
    const uint32_t counts[3] = {130, 65, 1};
    uint32_t first[66 + 2];
    for (uint32_t vertex = 0; vertex <= 65; ++vertex) {
        first[vertex] = 2 * vertex;
    }
    first[66] = 0;
    first[67] = 65;
    return phx_tree_new(2, counts, first, NULL, out);
}

/* Every allocation of a tree with one hidden level fails in turn: two levels, the two arrays of the
 * cut and the tree itself. */
static void test_tree_without_memory(void)
{
    phx_tree *tree = NULL;
    arm(0);
    CHECK(make_tree(&tree) == PHX_OK && allocations == 5);
    phx_tree_free(tree);
    for (uint32_t at = 1; at <= 5; ++at) {
        arm(at);
        CHECK(make_tree(&tree) == PHX_NO_MEMORY && tree == NULL);
    }
    arm(0);
}

static void test_planner_without_memory(void)
{
    const phx_options options = {PHX_EXACT, 3, 1, 1};
    phx_tree *tree = wide_tree();
    phx_planner *planner = NULL;
    phx_planner *copy = NULL;
    arm(1);
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_NO_MEMORY && planner == NULL);
    arm(0);
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_OK && allocations == 1);
    arm(1);
    CHECK(phx_planner_clone(planner, &copy) == PHX_NO_MEMORY && copy == NULL);
    const size_t size = phx_planner_save_bytes(planner);
    arm(0);
    void *bytes = malloc(size);
    CHECK(phx_planner_save(planner, bytes, size) == PHX_OK);
    arm(1);
    CHECK(phx_planner_load(tree, bytes, size, &copy) == PHX_NO_MEMORY && copy == NULL);
    arm(0);
    free(bytes);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_rails_without_memory(void)
{
    uint8_t rails[780] = {0};
    phx_tree *tree = wide_tree();
    arm(1);
    CHECK(phx_tree_set_rails(tree, rails) == PHX_NO_MEMORY);
    arm(0);
    CHECK(phx_tree_set_rails(tree, rails) == PHX_OK);
    CHECK(phx_tree_set_rails(tree, rails) == PHX_OK);
    phx_tree_free(tree);
    phx_tree_free(NULL);
    phx_planner_free(NULL);
}

typedef struct scratch {
    int32_t limit[390];
    phx_run runs[780];
    phx_move moves[780];
    phx_level_record records[8];
    int64_t handles[4];
    int32_t levels[4];
    int64_t offsets[5];
    int32_t leaves[780];
    uint32_t list[780];
} scratch;

/* One of each: placements with and without limits, a repair of two kinds, adoption, questions. */
static void every_call(phx_planner *planner, phx_planner *probe, scratch *space, void *save,
                       size_t size)
{
    const phx_gang fill = {12, 2, 1, 3, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    const phx_gang shape = {2, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const uint32_t sizes[4] = {2, 4, 8, 1000};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, space->limit};
    phx_request request;
    phx_repair repair;
    phx_run failed;
    uint32_t count = 0;
    uint32_t code = 0;
    uint32_t owners[2];
    const char *reason = NULL;
    CHECK(phx_request_init(planner, &fill, &request) == PHX_OK);
    const int64_t placed =
        phx_place_limited(planner, &request, limits, 1, space->runs, 780, &count);
    CHECK(placed >= 0);
    CHECK(phx_place_many(planner, &shape, sizes, 4, space->handles, space->levels, space->offsets,
                         space->leaves) == PHX_OK);
    CHECK(space->handles[2] >= 0 && space->handles[3] == -1);
    failed = (phx_run){first_of(placed), 2};
    CHECK(phx_replan(planner, slot_of(placed), &failed, 1, NULL, 0, space->moves, 780, &repair) ==
          PHX_OK);
    CHECK(phx_replan(planner, slot_of(placed), &failed, 1, limits, PHX_REPLAN_CORDONED,
                     space->moves, 780, &repair) == PHX_OK);
    CHECK(phx_apply(planner, slot_of(placed), space->moves, repair.moves, &failed, 1) == PHX_OK);
    const uint32_t broken[2] = {failed.first, failed.first + 1};
    CHECK(phx_quarantine_release(planner, broken, 2) == PHX_OK);
    CHECK(phx_health_change(planner, PHX_HEAL, broken, 2, owners) == PHX_OK);
    CHECK(phx_explain(planner, &request, limits, space->records, 8, &count, &code) == PHX_OK);
    CHECK(phx_gang_leaves(planner, slot_of(placed), space->list) == PHX_OK);
    CHECK(phx_release(planner, slot_of(placed)) == PHX_OK);
    const int64_t adopted = phx_adopt(planner, &request, space->list);
    CHECK(adopted >= 0 && phx_release(planner, slot_of(adopted)) == PHX_OK);
    CHECK(phx_planner_save(planner, save, size) == PHX_OK);
    CHECK(phx_planner_probe(probe, planner) == PHX_OK);
    CHECK(phx_release_many(planner, space->handles, 3) == PHX_OK);
    CHECK(phx_largest_block(planner, 3).count > 0);
    CHECK(phx_planner_validate(planner, &reason) == PHX_OK);
}

static void test_no_call_allocates(void)
{
    const phx_options options = {PHX_EXACT, 3, 1, 1};
    phx_tree *tree = wide_tree();
    phx_planner *planner = NULL;
    phx_planner *probe = NULL;
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_OK);
    CHECK(phx_planner_new(tree, &options, &probe) == PHX_OK);
    const size_t size = phx_planner_save_bytes(planner);
    scratch *space = malloc(sizeof *space);
    void *save = malloc(size);
    CHECK(space != NULL && save != NULL);
    for (uint32_t host = 0; host < 390; ++host) {
        space->limit[host] = 2;
    }
    arm(0);
    for (int round = 0; round < 300; ++round) {
        every_call(planner, probe, space, save, size);
    }
    CHECK(allocations == 0);
    free(save);
    free(space);
    phx_planner_free(probe);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    test_tree_without_memory();
    test_planner_without_memory();
    test_rails_without_memory();
    test_no_call_allocates();
    puts("test_memory: 4 passed, 0 failed");
    return 0;
}
