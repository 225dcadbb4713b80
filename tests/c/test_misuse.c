/* Every refusal of the public calls: the status it has, and not one byte of the state changed. */
#include "check.h"

static const uint32_t PAPER[4] = {8, 4, 2, 2}; /* 8 leaves a host, 4 hosts a rail, 2 rails a pod */

/* The bytes of a planner when it was last looked at. */
typedef struct watch {
    phx_tree *tree;
    phx_planner *planner;
    size_t size;
    char *before;
    char *after;
} watch;

static watch watch_new(uint32_t alignment, uint32_t per)
{
    watch on = {even_tree(4, PAPER), NULL, 0, NULL, NULL};
    const int spares = per != PHX_NONE;
    on.planner = new_planner(on.tree, alignment, per, spares ? 1 : PHX_NONE, (uint32_t)spares);
    on.size = phx_planner_save_bytes(on.planner);
    on.before = malloc(on.size);
    on.after = malloc(on.size);
    CHECK(on.before != NULL && on.after != NULL);
    return on;
}

static void look(watch *on)
{
    CHECK(phx_planner_save(on->planner, on->before, on->size) == PHX_OK);
}

/* Nothing changed since the last look, scratch included: validation borrows it. */
static int same(watch *on)
{
    CHECK(phx_planner_save(on->planner, on->after, on->size) == PHX_OK);
    CHECK_VALID(on->planner);
    return memcmp(on->before, on->after, on->size) == 0;
}

static void watch_end(watch *on)
{
    CHECK_VALID(on->planner);
    free(on->before);
    free(on->after);
    phx_planner_free(on->planner);
    phx_tree_free(on->tree);
}

static void test_gangs_that_are_none(void)
{
    static const phx_gang bad[] = {
        {0, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST}, /* no ranks */
        {4, 0, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST}, /* no group */
        {5, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST}, /* does not divide */
        {4, 2, 5, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST}, /* no such level */
        {4, 2, 3, 2, PHX_NONE, PHX_NEAR, PHX_SMALLEST},        /* levels fall */
        {4, 2, 1, 5, PHX_NONE, PHX_NEAR, PHX_SMALLEST},        /* no such level */
        {4, 2, 1, 2, 3, PHX_NEAR, PHX_SMALLEST},               /* prefers above within */
        {4, 2, 1, PHX_NONE, 5, PHX_NEAR, PHX_SMALLEST},        /* no such level */
        {4, 2, 1, PHX_NONE, PHX_NONE, 2, PHX_SMALLEST},        /* no such aim */
        {4, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, 3},            /* no such rule */
    };
    watch on = watch_new(PHX_EXACT, PHX_NONE);
    phx_request request;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; ++at) {
        CHECK(phx_request_init(on.planner, &bad[at], &request) == PHX_BAD_GANG);
    }
    const uint32_t sizes[3] = {4, 0, 5};
    int64_t handles[2];
    int64_t offsets[3];
    int32_t levels[2];
    int32_t leaves[16];
    const phx_gang pairs = {2, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    look(&on);
    CHECK(phx_place_many(on.planner, &bad[1], sizes, 1, handles, levels, offsets, leaves) ==
          PHX_BAD_GANG);
    CHECK(phx_place_many(on.planner, &pairs, sizes, 2, handles, levels, offsets, leaves) ==
          PHX_BAD_GANG);
    CHECK(phx_place_many(on.planner, &pairs, sizes + 2, 1, handles, levels, offsets, leaves) ==
          PHX_BAD_GANG);
    CHECK(same(&on));
    watch_end(&on);
}

static void test_gangs_that_buddy_blocks_cannot_hold(void)
{
    static const phx_gang bad[] = {
        {3, 3, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST},   /* groups of three */
        {8, 2, 1, PHX_NONE, PHX_NONE, PHX_FILL, PHX_SMALLEST},   /* ranks that do not talk */
        {8, 2, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_LOWEST},     /* another rule */
        {32, 16, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST}, /* wider than their level */
        {2, 2, 0, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST},   /* groups inside one leaf */
    };
    static const phx_gang large[] = {
        {300, 3, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST},
        {2097152, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST},
        {9, 1, 1, 1, PHX_NONE, PHX_NEAR, PHX_SMALLEST},
    };
    watch on = watch_new(PHX_BUDDY, PHX_NONE);
    phx_request request;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; ++at) {
        CHECK(phx_request_init(on.planner, &bad[at], &request) == PHX_BAD_GANG);
    }
    look(&on);
    for (size_t at = 0; at < sizeof large / sizeof *large; ++at) {
        phx_level_record records[5];
        uint32_t count = 0;
        uint32_t code = 9;
        CHECK(phx_request_init(on.planner, &large[at], &request) == PHX_OK);
        CHECK(phx_place(on.planner, &request) == -(int64_t)PHX_MISFIT);
        CHECK(phx_explain(on.planner, &request, NULL, records, 5, &count, &code) == PHX_OK);
        CHECK(code == PHX_MISFIT_TOO_LARGE);
    }
    const int32_t hosts[16] = {0};
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, hosts};
    request = request_of(on.planner, 4, 4, PHX_NONE);
    CHECK(phx_place_limited(on.planner, &request, limits, 1, NULL, 0, NULL) ==
          -(int64_t)PHX_BAD_GANG);
    CHECK(same(&on));
    /* The second size breaks the rule of buddy blocks, the first does not. */
    const phx_gang fill = {2, 2, 1, PHX_NONE, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    const uint32_t sizes[2] = {2, 4};
    int64_t handles[2];
    int64_t offsets[3];
    int32_t levels[2];
    int32_t leaves[6];
    CHECK(phx_place_many(on.planner, &fill, sizes, 2, handles, levels, offsets, leaves) == PHX_OK);
    CHECK(handles[0] >= 0 && handles[1] == -1 && offsets[2] == 2);
    watch_end(&on);
}

static void test_handles_that_are_stale(void)
{
    watch on = watch_new(PHX_EXACT, PHX_NONE);
    const phx_request two = request_of(on.planner, 2, 1, PHX_NONE);
    const uint32_t gone = slot_of(phx_place(on.planner, &two));
    const int64_t old = phx_handle(on.planner, gone);
    CHECK(phx_release(on.planner, gone) == PHX_OK);
    const uint32_t kept = slot_of(phx_place(on.planner, &two));
    CHECK(kept == gone && phx_handle(on.planner, kept) != old);
    uint32_t leaves[2];
    uint32_t count = 0;
    phx_run run;
    phx_repair repair;
    phx_move move = {0, 0, 8, 1};
    const int64_t one[1] = {old};
    const int64_t none[1] = {-1};
    const int64_t both[2] = {phx_handle(on.planner, kept), old};
    look(&on);
    CHECK(phx_release(on.planner, 7) == PHX_STALE_HANDLE);
    CHECK(phx_handle(on.planner, 7) == -(int64_t)PHX_STALE_HANDLE);
    CHECK(phx_gang_leaves(on.planner, 7, leaves) == PHX_STALE_HANDLE);
    CHECK(phx_gang_runs(on.planner, 7, &run, 1, &count) == PHX_STALE_HANDLE && count == 0);
    CHECK(phx_gang_ranks(on.planner, 7) == 0 && phx_gang_level(on.planner, 7) == PHX_NONE);
    CHECK(phx_replan(on.planner, 7, NULL, 0, NULL, 0, &move, 1, &repair) == PHX_STALE_HANDLE);
    CHECK(phx_apply(on.planner, 7, &move, 1, NULL, 0) == PHX_STALE_HANDLE);
    CHECK(phx_release_many(on.planner, one, 1) == PHX_STALE_HANDLE);
    CHECK(phx_release_many(on.planner, none, 1) == PHX_STALE_HANDLE);
    CHECK(phx_release_many(on.planner, both, 2) == PHX_STALE_HANDLE);
    CHECK(same(&on));
    watch_end(&on);
}

static void test_leaves_of_nobody_and_of_others(void)
{
    watch on = watch_new(PHX_EXACT, PHX_NONE);
    const phx_request two = request_of(on.planner, 2, 2, 1);
    const uint32_t slot = slot_of(phx_place(on.planner, &two));
    const uint32_t outside[2] = {9, 128};
    const uint32_t twice[2] = {9, 9};
    const uint32_t held[2] = {8, 1};
    const uint32_t across[2] = {15, 16};
    const phx_run runs[] = {{0, 1}, {0, 2}, {128, 1}, {1, 128}, {2, 1}};
    uint32_t owners[2];
    phx_move moves[2];
    phx_repair repair;
    look(&on);
    CHECK(phx_health_change(on.planner, PHX_FAIL, outside, 2, owners) == PHX_BAD_LEAF);
    CHECK(phx_health_change(on.planner, PHX_FAIL, twice, 2, owners) == PHX_LEAF_TWICE);
    CHECK(phx_quarantine_release(on.planner, outside, 2) == PHX_BAD_LEAF);
    CHECK(phx_quarantine_release(on.planner, twice, 2) == PHX_LEAF_TWICE);
    CHECK(phx_quarantine_release(on.planner, held, 2) == PHX_NOT_QUARANTINED);
    CHECK(phx_adopt(on.planner, &two, outside) == -(int64_t)PHX_BAD_LEAF);
    CHECK(phx_adopt(on.planner, &two, twice) == -(int64_t)PHX_LEAF_TWICE);
    CHECK(phx_adopt(on.planner, &two, held) == -(int64_t)PHX_NOT_FREE);
    CHECK(phx_adopt(on.planner, &two, across) == -(int64_t)PHX_BAD_CHAIN);
    CHECK(phx_replan(on.planner, slot, runs, 2, NULL, 0, moves, 2, &repair) == PHX_LEAF_TWICE);
    CHECK(phx_replan(on.planner, slot, runs + 2, 1, NULL, 0, moves, 2, &repair) == PHX_BAD_LEAF);
    CHECK(phx_replan(on.planner, slot, runs + 3, 1, NULL, 0, moves, 2, &repair) == PHX_BAD_LEAF);
    CHECK(phx_replan(on.planner, slot, runs + 4, 1, NULL, 0, moves, 2, &repair) == PHX_NOT_OWNED);
    CHECK(same(&on));
    CHECK(phx_health_change(on.planner, PHX_FAIL, held + 1, 1, owners) == PHX_OK);
    CHECK(phx_release(on.planner, slot) == PHX_OK);
    look(&on);
    const uint32_t fenced[2] = {1, 2};
    CHECK(phx_adopt(on.planner, &two, fenced) == -(int64_t)PHX_NOT_FREE);
    CHECK(phx_health_change(on.planner, (phx_change)9, held, 1, owners) == PHX_OK);
    CHECK(same(&on));
    watch_end(&on);
}

/* A run of failed leaves whose end is beyond 32 bits, while a leaf behind its start is down. */
static void test_failed_runs_without_an_end(void)
{
    watch on = watch_new(PHX_EXACT, PHX_NONE);
    const phx_request eight = request_of(on.planner, 8, 8, PHX_NONE);
    const uint32_t slot = slot_of(phx_place(on.planner, &eight));
    const uint32_t down = 2;
    const phx_run failed = {1, PHX_NONE};
    uint32_t owner = 0;
    phx_move move;
    phx_repair repair;
    CHECK(phx_health_change(on.planner, PHX_FAIL, &down, 1, &owner) == PHX_OK && owner == slot);
    look(&on);
    CHECK(phx_replan(on.planner, slot, &failed, 1, NULL, 0, &move, 1, &repair) == PHX_BAD_LEAF);
    CHECK(same(&on));
    watch_end(&on);
}

/* The gang holds leaves 0..7 and 32..35; host 1 is somebody else's, leaf 127 in a spare. */
static void test_plans_that_are_stale(void)
{
    watch on = watch_new(PHX_EXACT, 3);
    const uint32_t leaves[12] = {0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35};
    const uint32_t other[4] = {8, 9, 10, 11};
    const phx_request twelve = request_of(on.planner, 12, 1, PHX_NONE);
    const phx_request four = request_of(on.planner, 4, 1, PHX_NONE);
    const uint32_t slot = slot_of(phx_adopt(on.planner, &twelve, leaves));
    CHECK(phx_adopt(on.planner, &four, other) >= 0);
    static const struct {
        phx_move moves[2];
        uint32_t count;
    } stale[] = {
        {{{0, 0, 16, 0}}, 1},                /* moves nothing */
        {{{2, 2, 16, 1}, {0, 0, 17, 1}}, 2}, /* ranks fall */
        {{{12, 36, 16, 1}}, 1},              /* no such rank */
        {{{11, 35, 16, 2}}, 1},              /* more than there are */
        {{{1, 2, 16, 1}}, 1},                /* from another leaf */
        {{{6, 6, 16, 4}}, 1},                /* over the end of a run */
        {{{0, 0, 128, 1}}, 1},               /* to outside */
        {{{0, 0, 126, 4}}, 1},
        {{{0, 0, 16, 2}, {2, 2, 17, 1}}, 2}, /* to the same leaf twice */
        {{{0, 0, 8, 1}}, 1},                 /* to a leaf that is held */
        {{{0, 0, 8, 2}, {2, 2, 16, 1}}, 2},
    };
    static const phx_run failed[] = {{0, 1}, {128, 1}, {8, 1}, {5, PHX_NONE}};
    look(&on);
    for (size_t at = 0; at < sizeof stale / sizeof *stale; ++at) {
        CHECK(phx_apply(on.planner, slot, stale[at].moves, stale[at].count, failed, 1) ==
              PHX_STALE_PLAN);
        CHECK(same(&on));
    }
    const phx_move good[2] = {{0, 0, 16, 4}, {10, 34, 124, 2}};
    CHECK(phx_apply(on.planner, slot, good, 2, failed, 2) == PHX_STALE_PLAN);
    CHECK(phx_apply(on.planner, slot, good, 2, failed + 2, 1) == PHX_STALE_PLAN);
    CHECK(phx_apply(on.planner, slot, good, 2, failed + 3, 1) == PHX_STALE_PLAN);
    CHECK(same(&on));
    CHECK(phx_apply(on.planner, slot, good, 2, failed, 1) == PHX_OK);
    CHECK(phx_apply(on.planner, slot, good, 2, failed, 1) == PHX_STALE_PLAN);
    uint32_t now[12];
    static const uint32_t expected[12] = {16, 17, 18, 19, 4, 5, 6, 7, 32, 33, 124, 125};
    CHECK(phx_gang_leaves(on.planner, slot, now) == PHX_OK);
    CHECK(memcmp(now, expected, sizeof now) == 0);
    CHECK((phx_leaf_state(on.planner, 126) & 3) == PHX_FREE);
    CHECK((phx_leaf_state(on.planner, 119) & 3) == PHX_SPARE);
    watch_end(&on);
}

static void test_buffers_that_are_too_small(void)
{
    watch on = watch_new(PHX_EXACT, PHX_NONE);
    const phx_request pair = request_of(on.planner, 16, 8, PHX_NONE);
    const phx_gang fill = {8, 4, 1, PHX_NONE, PHX_NONE, PHX_FILL, PHX_SMALLEST};
    const uint32_t hosts[16] = {0, 1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39};
    const phx_run failed[2] = {{0, 1}, {32, 1}};
    const uint32_t slot = slot_of(phx_adopt(on.planner, &pair, hosts));
    phx_request request;
    phx_run run;
    phx_move move;
    phx_repair repair;
    phx_level_record record;
    uint32_t count = 0;
    uint32_t code = 0;
    char byte;
    look(&on);
    CHECK(phx_gang_runs(on.planner, slot, &run, 1, &count) == PHX_NO_ROOM && count == 2);
    CHECK(phx_place_limited(on.planner, &pair, NULL, 1, &run, 0, &count) == -(int64_t)PHX_NO_ROOM);
    CHECK(count == 1);
    CHECK(phx_request_init(on.planner, &fill, &request) == PHX_OK);
    CHECK(phx_place_limited(on.planner, &request, NULL, 1, &run, 0, &count) ==
          -(int64_t)PHX_NO_ROOM);
    CHECK(phx_explain(on.planner, &pair, NULL, &record, 1, &count, &code) == PHX_NO_ROOM);
    CHECK(count == 1);
    CHECK(phx_replan(on.planner, slot, failed, 2, NULL, PHX_REPLAN_APPLY, &move, 1, &repair) ==
          PHX_NO_ROOM);
    CHECK(phx_replan(on.planner, slot, failed, 1, NULL, PHX_REPLAN_APPLY, &move, 0, &repair) ==
          PHX_NO_ROOM);
    CHECK(phx_planner_save(on.planner, &byte, 1) == PHX_NO_ROOM);
    CHECK(same(&on));
    watch_end(&on);
}

static void test_options_and_probes(void)
{
    watch on = watch_new(PHX_EXACT, 3);
    static const phx_options bad[] = {
        {PHX_EXACT, 5, 1, 1}, {PHX_EXACT, 3, 3, 1}, {PHX_EXACT, 3, 1, 0}};
    phx_planner *planner = NULL;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; ++at) {
        CHECK(phx_planner_new(on.tree, &bad[at], &planner) == PHX_BAD_SPARES && planner == NULL);
    }
    phx_tree *twin = even_tree(4, PAPER);
    phx_planner *foreign = new_planner(twin, PHX_EXACT, 3, 1, 1);
    phx_planner *bare = new_planner(on.tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    phx_planner *rails = new_planner(on.tree, PHX_EXACT, 3, 2, 1);
    look(&on);
    CHECK(phx_planner_probe(on.planner, foreign) == PHX_OTHER_TREE);
    CHECK(phx_planner_probe(on.planner, bare) == PHX_BAD_SPARES);
    CHECK(phx_planner_probe(on.planner, rails) == PHX_BAD_SPARES);
    CHECK(same(&on));
    CHECK(phx_planner_short_domains(bare) == 0);
    CHECK(strcmp(phx_status_name(-1), "UNKNOWN") == 0);
    CHECK(strcmp(phx_status_name(21), "UNKNOWN") == 0);
    phx_planner_free(rails);
    phx_planner_free(bare);
    phx_planner_free(foreign);
    phx_tree_free(twin);
    watch_end(&on);
}

int main(void)
{
    test_gangs_that_are_none();
    test_gangs_that_buddy_blocks_cannot_hold();
    test_handles_that_are_stale();
    test_leaves_of_nobody_and_of_others();
    test_failed_runs_without_an_end();
    test_plans_that_are_stale();
    test_buffers_that_are_too_small();
    test_options_and_probes();
    puts("test_misuse: 8 passed, 0 failed");
    return 0;
}
