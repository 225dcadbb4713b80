/* The public calls of phalanx.h on trees small enough to count by hand. */
#include "check.h"

static const uint32_t PAPER[4] = {8, 4, 2,
                                  2}; /* 8 GPUs a host, 4 hosts a rail, 2 rails a pod, 2 pods */

static void test_names(void)
{
    CHECK(strcmp(phx_status_name(PHX_OK), "OK") == 0);
    CHECK(strcmp(phx_status_name(PHX_NOT_QUARANTINED), "NOT_QUARANTINED") == 0);
    CHECK(strcmp(phx_status_name(99), "UNKNOWN") == 0);
    CHECK(PHX_NOT_QUARANTINED == 19);
}

static void test_tree(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    CHECK(phx_tree_leaf_count(tree) == 128);
    CHECK(phx_tree_depth(tree) == 4);
    CHECK(phx_tree_distance(tree, 0, 0) == 0);
    CHECK(phx_tree_distance(tree, 0, 7) == 1);
    CHECK(phx_tree_distance(tree, 0, 8) == 2);
    CHECK(phx_tree_distance(tree, 0, 32) == 3);
    CHECK(phx_tree_distance(tree, 0, 127) == 4);
    CHECK(phx_tree_bytes(tree) < 16384);
    phx_tree *same = even_tree(4, PAPER);
    CHECK(phx_tree_fingerprint(tree) == phx_tree_fingerprint(same));
    phx_tree_free(same);
    phx_tree_free(tree);
    const uint32_t counts[2] = {4, 2};
    const uint32_t overlap[3] = {0, 3, 3};
    phx_tree *none = NULL;
    CHECK(phx_tree_new(1, counts, overlap, NULL, &none) == PHX_BAD_TREE && none == NULL);
    const uint32_t hole[3] = {0, 2, 3};
    CHECK(phx_tree_new(1, counts, hole, NULL, &none) == PHX_BAD_TREE && none == NULL);
}

static void test_place_and_release(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request six = request_of(planner, 6, 1, PHX_NONE);
    const int64_t placed = phx_place(planner, &six);
    CHECK(placed >= 0 && first_of(placed) == 0 && level_of(placed) == 1);
    uint32_t leaves[6];
    CHECK(phx_gang_leaves(planner, slot_of(placed), leaves) == PHX_OK);
    CHECK(leaves[0] == 0 && leaves[5] == 5);
    CHECK(phx_gang_ranks(planner, slot_of(placed)) == 6);
    CHECK(phx_gang_level(planner, slot_of(placed)) == 1);
    phx_gang shape;
    CHECK(phx_gang_shape(planner, slot_of(placed), &shape) == PHX_OK);
    CHECK(shape.ranks == 6 && shape.group == 1 && shape.within == PHX_NONE);
    CHECK(phx_gang_shape(planner, 99, &shape) == PHX_STALE_HANDLE);
    phx_run run;
    uint32_t count = 0;
    CHECK(phx_gang_runs(planner, slot_of(placed), &run, 1, &count) == PHX_OK);
    CHECK(count == 1 && run.first == 0 && run.count == 6);
    CHECK(phx_free_leaves(planner, 0, NULL) == 122);
    int32_t per_host[16];
    CHECK(phx_free_leaves(planner, 1, per_host) == 122 && per_host[0] == 2 && per_host[1] == 8);
    CHECK((phx_leaf_state(planner, 5) & 3) == PHX_JOB);
    CHECK((phx_leaf_state(planner, 6) & 3) == PHX_FREE);
    uint32_t states[2];
    phx_leaf_states(planner, 5, 2, states);
    CHECK(states[0] == phx_leaf_state(planner, 5) && states[1] == phx_leaf_state(planner, 6));
    const phx_run largest = phx_largest_block(planner, 4);
    CHECK(largest.first == 64 && largest.count == 64);
    CHECK_VALID(planner);
    CHECK(phx_release(planner, slot_of(placed)) == PHX_OK);
    CHECK(phx_release(planner, slot_of(placed)) == PHX_STALE_HANDLE);
    CHECK(phx_free_leaves(planner, 0, NULL) == 128);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_union_beats_the_aligned_block(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request host = request_of(planner, 8, 8, PHX_NONE);
    int64_t held[16];
    for (int at = 0; at < 16; ++at) {
        held[at] = phx_place(planner, &host);
        CHECK(first_of(held[at]) == (uint32_t)at * 8);
    }
    /* Hosts 1 and 2 of the first rail: 16 leaves, but no aligned pair. */
    CHECK(phx_release(planner, slot_of(held[1])) == PHX_OK);
    CHECK(phx_release(planner, slot_of(held[2])) == PHX_OK);
    const phx_request pair = request_of(planner, 16, 8, 2);
    phx_run runs[2];
    uint32_t count = 0;
    CHECK(phx_place_limited(planner, &pair, NULL, 0, runs, 2, &count) == 0);
    CHECK(count == 1 && runs[0].first == 8 && runs[0].count == 16);
    const int64_t placed = phx_place(planner, &pair);
    CHECK(placed >= 0 && level_of(placed) == 2);
    const int64_t refused = phx_place(planner, &host);
    CHECK(refused == -(int64_t)PHX_MISFIT);
    phx_level_record records[5];
    uint32_t code = 9;
    CHECK(phx_explain(planner, &host, NULL, records, 5, &count, &code) == PHX_OK);
    CHECK(code == PHX_MISFIT_CAPACITY && count == 4);
    CHECK(records[0].level == 1 && records[0].ranks == 0 && records[0].owned == 8);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_limits(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request eight = request_of(planner, 8, 4, PHX_NONE);
    int32_t hosts[16];
    for (int at = 0; at < 16; ++at) {
        hosts[at] = at < 4 ? 0 : 4;
    }
    const int32_t *limits[PHX_LEVELS_MAX] = {NULL, hosts};
    phx_run runs[4];
    uint32_t count = 0;
    const int64_t placed = phx_place_limited(planner, &eight, limits, 1, runs, 4, &count);
    CHECK(placed >= 0 && level_of(placed) == 2 && count == 2);
    CHECK(runs[0].first == 32 && runs[0].count == 4 && runs[1].first == 40);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_host_loss_takes_the_spare(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 3, 1, 1);
    CHECK((phx_leaf_state(planner, 56) & 3) == PHX_SPARE);
    CHECK((phx_leaf_state(planner, 127) & 3) == PHX_SPARE);
    CHECK(phx_planner_short_domains(planner) == 0);
    const phx_request pod = request_of(planner, 56, 8, PHX_NONE);
    const int64_t placed = phx_place(planner, &pod);
    CHECK(placed >= 0 && level_of(placed) == 3 && first_of(placed) == 0);
    const phx_run failed = {8, 8};
    phx_move moves[4];
    phx_repair repair;
    CHECK(phx_replan(planner, slot_of(placed), &failed, 1, NULL, PHX_REPLAN_APPLY, moves, 4,
                     &repair) == PHX_OK);
    CHECK(repair.moves == 1 && repair.moved == 8 && repair.dead == 8 && repair.spares_used == 1);
    CHECK(moves[0].rank == 8 && moves[0].from == 8 && moves[0].to == 56 && moves[0].count == 8);
    CHECK(repair.level_before == 3 && repair.level_after == 3);
    CHECK((phx_leaf_state(planner, 8) & 3) == PHX_QUARANTINE);
    CHECK(phx_planner_short_domains(planner) == 1);
    CHECK_VALID(planner);
    CHECK(phx_apply(planner, slot_of(placed), moves, 1, &failed, 1) == PHX_STALE_PLAN);
    const uint32_t leaf = 8;
    CHECK(phx_quarantine_release(planner, &leaf, 1) == PHX_OK);
    CHECK(phx_quarantine_release(planner, &leaf, 1) == PHX_NOT_QUARANTINED);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_apply_keeps_groups_together(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request pair = request_of(planner, 16, 8, 2);
    const int64_t placed = phx_place(planner, &pair);
    const phx_move split = {0, 0, 16, 1}; /* one rank of a group to another host */
    const phx_move away = {0, 0, 64, 8};  /* a whole group out of its rail */
    const phx_move whole = {0, 0, 16, 8};
    CHECK(phx_apply(planner, slot_of(placed), &split, 1, NULL, 0) == PHX_STALE_PLAN);
    CHECK(phx_apply(planner, slot_of(placed), &away, 1, NULL, 0) == PHX_STALE_PLAN);
    CHECK(phx_apply(planner, slot_of(placed), &whole, 1, NULL, 0) == PHX_OK);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_health(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request four = request_of(planner, 4, 4, PHX_NONE);
    const int64_t placed = phx_place(planner, &four);
    const uint32_t leaves[3] = {3, 4, 120};
    uint32_t owners[3];
    CHECK(phx_health_change(planner, PHX_FAIL, leaves, 3, owners) == PHX_OK);
    CHECK(owners[0] == slot_of(placed) && owners[1] == PHX_NONE && owners[2] == PHX_NONE);
    CHECK((phx_leaf_state(planner, 3) >> 2 & 3) == PHX_DOWN);
    CHECK(phx_free_leaves(planner, 0, NULL) == 122);
    const uint32_t twice[2] = {7, 7};
    CHECK(phx_health_change(planner, PHX_CORDON, twice, 2, owners) == PHX_LEAF_TWICE);
    const uint32_t outside = 128;
    CHECK(phx_health_change(planner, PHX_CORDON, &outside, 1, owners) == PHX_BAD_LEAF);
    CHECK(phx_health_change(planner, PHX_HEAL, leaves, 3, owners) == PHX_OK);
    CHECK(phx_free_leaves(planner, 0, NULL) == 124);
    CHECK(phx_health_change(planner, PHX_DOUBT, leaves + 1, 1, owners) == PHX_OK);
    CHECK(phx_health_change(planner, PHX_CORDON, leaves + 2, 1, owners) == PHX_OK);
    CHECK(phx_free_leaves(planner, 0, NULL) == 122);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_adopt(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request pairs = request_of(planner, 4, 2, 2);
    const uint32_t across[4] = {6, 8, 9, 10};
    const uint32_t far[4] = {6, 7, 32, 33};
    const uint32_t good[4] = {9, 8, 2, 3};
    CHECK(phx_adopt(planner, &pairs, across) == -(int64_t)PHX_BAD_CHAIN);
    CHECK(phx_adopt(planner, &pairs, far) == -(int64_t)PHX_BAD_CHAIN);
    const int64_t adopted = phx_adopt(planner, &pairs, good);
    CHECK(adopted >= 0 && first_of(adopted) == 9 && level_of(adopted) == 2);
    uint32_t leaves[4];
    CHECK(phx_gang_leaves(planner, slot_of(adopted), leaves) == PHX_OK);
    CHECK(memcmp(leaves, good, sizeof good) == 0);
    CHECK(phx_adopt(planner, &pairs, good) == -(int64_t)PHX_NOT_FREE);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_batches(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_gang gang = {1, 1, 1, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    const uint32_t sizes[4] = {64, 32, 64, 4};
    int64_t handles[4];
    int32_t levels[4];
    int64_t offsets[5];
    int32_t leaves[164];
    CHECK(phx_place_many(planner, &gang, sizes, 4, handles, levels, offsets, leaves) == PHX_OK);
    CHECK(handles[2] == -1 && levels[2] == -1 && offsets[3] - offsets[2] == 0);
    CHECK(levels[0] == 3 && levels[1] == 2 && levels[3] == 1 && offsets[4] == 100);
    CHECK(leaves[0] == 0 && leaves[64] == 64 && leaves[96] == 96);
    CHECK(phx_handle(planner, 0) == handles[0]);
    const int64_t twice[2] = {handles[0], handles[0]};
    CHECK(phx_release_many(planner, twice, 2) == PHX_STALE_HANDLE);
    const int64_t held[3] = {handles[0], handles[1], handles[3]};
    CHECK(phx_gang_is_unnamed(planner, 0) && !phx_gang_is_unnamed(planner, 3));
    phx_request request;
    CHECK(phx_request_init(planner, &gang, &request) == PHX_OK);
    const uint32_t named = (uint32_t)phx_place(planner, &request) & 0x1fffff;
    const int64_t mixed[2] = {handles[0], phx_handle(planner, named)};
    CHECK(!phx_gang_is_unnamed(planner, named));
    CHECK(phx_release_many(planner, mixed, 2) == PHX_STALE_HANDLE);
    CHECK(phx_gang_is_unnamed(planner, 0) && phx_release(planner, named) == PHX_OK);
    CHECK(phx_release_many(planner, held, 3) == PHX_OK);
    CHECK(phx_release_many(planner, held, 1) == PHX_STALE_HANDLE);
    CHECK(phx_free_leaves(planner, 0, NULL) == 128);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

static void test_copies(void)
{
    phx_tree *tree = even_tree(4, PAPER);
    phx_tree *other = even_tree(3, PAPER);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 3, 1, 1);
    const phx_request ten = request_of(planner, 10, 1, PHX_NONE);
    const int64_t placed = phx_place(planner, &ten);
    phx_planner *twin = NULL;
    CHECK(phx_planner_clone(planner, &twin) == PHX_OK);
    CHECK(phx_place(planner, &ten) == phx_place(twin, &ten));
    const size_t size = phx_planner_save_bytes(planner);
    unsigned char *bytes = malloc(size);
    unsigned char *again = malloc(size);
    CHECK(phx_planner_save(planner, bytes, size) == PHX_OK);
    CHECK(phx_planner_save(twin, again, size) == PHX_OK);
    CHECK(phx_planner_save(twin, again, size - 1) == PHX_NO_ROOM);
    CHECK(memcmp(bytes, again, size) == 0);
    phx_planner *loaded = NULL;
    CHECK(phx_planner_load(tree, bytes, size, &loaded) == PHX_OK);
    CHECK(phx_release(loaded, slot_of(placed)) == PHX_OK);
    CHECK_VALID(loaded);
    phx_planner *none = NULL;
    CHECK(phx_planner_load(other, bytes, size, &none) == PHX_OTHER_TREE && none == NULL);
    bytes[size / 2] ^= 1;
    CHECK(phx_planner_load(tree, bytes, size, &none) == PHX_BAD_SAVE && none == NULL);
    CHECK(phx_planner_load(tree, bytes, 10, &none) == PHX_BAD_SAVE);
    again[8] = 77;
    CHECK(phx_planner_load(tree, again, size, &none) == PHX_OTHER_VERSION);
    phx_planner *probe = new_planner(tree, PHX_EXACT, 3, 1, 1);
    CHECK(phx_planner_probe(probe, planner) == PHX_OK);
    CHECK(phx_free_leaves(probe, 0, NULL) == phx_free_leaves(planner, 0, NULL));
    CHECK(phx_place(probe, &ten) >= 0);
    CHECK(phx_planner_probe(probe, planner) == PHX_NOT_FREE);
    CHECK(phx_planner_core_bytes(planner, 0) < phx_planner_core_bytes(planner, 1));
    CHECK(phx_planner_core_bytes(planner, 1) < phx_planner_bytes(planner));
    free(bytes);
    free(again);
    phx_planner_free(probe);
    phx_planner_free(loaded);
    phx_planner_free(twin);
    phx_planner_free(planner);
    phx_tree_free(other);
    phx_tree_free(tree);
}

static void test_options(void)
{
    const uint32_t nvl72[2] = {4, 18};
    phx_tree *tree = even_tree(2, nvl72);
    const phx_options buddy = {PHX_BUDDY, PHX_NONE, PHX_NONE, 0};
    const phx_options upward = {PHX_EXACT, 1, 1, 1};
    const phx_options none_asked = {PHX_EXACT, 2, 1, 0};
    phx_planner *planner = NULL;
    CHECK(phx_planner_new(tree, &buddy, &planner) == PHX_NOT_BUDDY && planner == NULL);
    CHECK(phx_planner_new(tree, &upward, &planner) == PHX_BAD_SPARES && planner == NULL);
    CHECK(phx_planner_new(tree, &none_asked, &planner) == PHX_BAD_SPARES && planner == NULL);
    planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    const phx_request rack = request_of(planner, 72, 72, 2);
    const phx_request most = request_of(planner, 64, 4, PHX_NONE);
    const int64_t placed = phx_place(planner, &most);
    CHECK(placed >= 0 && first_of(placed) == 0);
    const phx_run left = phx_largest_block(planner, 2);
    CHECK(left.first == 64 && left.count == 8);
    CHECK(phx_place(planner, &rack) == -(int64_t)PHX_MISFIT);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    test_names();
    test_tree();
    test_place_and_release();
    test_union_beats_the_aligned_block();
    test_limits();
    test_host_loss_takes_the_spare();
    test_apply_keeps_groups_together();
    test_health();
    test_adopt();
    test_batches();
    test_copies();
    test_options();
    puts("test_planner: 12 passed, 0 failed");
    return 0;
}
