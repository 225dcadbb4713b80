/* Gangs of parts: what is refused, and where parts are placed together, counted by hand. */
#include "roles.h"

static phx_status asks_for(team *on, phx_request whole, const phx_part *parts, uint32_t count)
{
    const phx_request before = whole;
    const phx_status status = phx_request_parts(on->planner, &whole, parts, count, scratch);
    CHECK(status == PHX_OK || memcmp(&whole, &before, sizeof whole) == 0);
    return status;
}

static void test_what_are_no_parts(void)
{
    team *on = start(3, RACKS);
    const role two = {2, 2, 1, {0, 0}, 0, NULL};
    phx_part parts[PHX_PARTS_MAX + 1];
    for (uint32_t at = 0; at <= PHX_PARTS_MAX; ++at) {
        parts[at] = part_of(on->planner, &two, PHX_NONE);
    }
    const phx_request six = request_of(on->planner, 6, 1, PHX_NONE);
    CHECK(asks_for(on, six, parts, 3) == PHX_OK);
    CHECK(asks_for(on, six, parts, 0) == PHX_BAD_GANG);
    CHECK(asks_for(on, six, parts, 2) == PHX_BAD_GANG);
    const phx_request most = request_of(on->planner, 2 * PHX_PARTS_MAX, 1, PHX_NONE);
    CHECK(asks_for(on, most, parts, PHX_PARTS_MAX) == PHX_OK);
    const phx_request many = request_of(on->planner, 2 * PHX_PARTS_MAX + 2, 1, PHX_NONE);
    CHECK(asks_for(on, many, parts, PHX_PARTS_MAX + 1) == PHX_BAD_GANG);

    CHECK(asks_for(on, request_of(on->planner, 6, 2, PHX_NONE), parts, 3) == PHX_BAD_GANG);
    CHECK(asks_for(on, request_of(on->planner, 6, 1, 3), parts, 3) == PHX_BAD_GANG); /* bounded */
    CHECK(asks_for(on, request_of(on->planner, 6, 1, 2), parts, 3) == PHX_BAD_GANG);
    phx_request whole = six;
    const phx_slice slice = {2, 2};
    CHECK(phx_request_slices(on->planner, &whole, &slice, 1) == PHX_OK);
    CHECK(asks_for(on, whole, parts, 3) == PHX_BAD_GANG);
    whole = six;
    CHECK(phx_request_balance(on->planner, &whole, 2) == PHX_OK);
    CHECK(asks_for(on, whole, parts, 3) == PHX_BAD_GANG);
    whole = six;
    whole.aim = PHX_FILL;
    CHECK(asks_for(on, whole, parts, 3) == PHX_BAD_GANG);
    whole = six;
    CHECK(phx_request_parts(on->planner, &whole, parts, 3, scratch) == PHX_OK);
    CHECK(phx_request_slices(on->planner, &whole, &slice, 1) == PHX_BAD_GANG);
    CHECK(phx_request_balance(on->planner, &whole, 2) == PHX_BAD_GANG);

    parts[1].request.aim = PHX_FILL;
    CHECK(asks_for(on, six, parts, 3) == PHX_BAD_GANG);
    parts[1] = parts[0];
    parts[1].request.part_count = 1;
    CHECK(asks_for(on, six, parts, 3) == PHX_BAD_GANG);
    phx_planner *buddy = new_planner(on->tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    whole = request_of(buddy, 2, 1, PHX_NONE);
    CHECK(phx_request_parts(buddy, &whole, parts, 1, scratch) == PHX_BAD_GANG);
    phx_planner_free(buddy);
    finish(on);
}

/* A level of its own must exist and be the part's last slice, or a repair could not keep to it. */
static void test_a_part_within_a_level_of_its_own(void)
{
    team *on = start(3, RACKS);
    const role held = {4, 2, 1, {0, 0}, 2, NULL};
    const phx_request four = request_of(on->planner, 4, 1, PHX_NONE);
    const phx_part sound = part_of(on->planner, &held, PHX_NONE);
    CHECK(asks_for(on, four, &sound, 1) == PHX_OK);
    phx_part part = sound;
    part.within = 9;
    CHECK(asks_for(on, four, &part, 1) == PHX_BAD_GANG);
    part.within = 3;
    CHECK(asks_for(on, four, &part, 1) == PHX_BAD_GANG);
    part.within = 2;
    part.request.slice_count = 0;
    CHECK(asks_for(on, four, &part, 1) == PHX_BAD_GANG);
    part.request.slice_count = 1; /* the pairs alone */
    CHECK(asks_for(on, four, &part, 1) == PHX_BAD_GANG);
    finish(on);
}

/* Two ranks within one leaf never fit, whatever their parts were resolved with. */
static void test_more_than_a_leaf(void)
{
    team *on = start(3, RACKS);
    const role one = {1, 1, 1, {0, 0}, 0, NULL};
    const phx_part parts[2] = {part_of(on->planner, &one, PHX_NONE),
                               part_of(on->planner, &one, PHX_NONE)};
    const phx_gang gang = {2, 1, 0, 0, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    CHECK(phx_request_init(on->planner, &gang, &on->request) == PHX_OK);
    CHECK(phx_request_parts(on->planner, &on->request, parts, 2, scratch) == PHX_OK);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* A leader of 5 on one host and 7 workers in its block: hosts with 3, 3 and 8 free leaves hold
 * them, one with 11 does not. */
static void test_a_leader_and_its_workers(void)
{
    const uint32_t blocks[3] = {12, 3, 2};
    const role roles[2] = {{5, 5, 1, {0, 0}, 0, NULL}, {7, 1, 1, {0, 0}, 0, NULL}};
    team *on = start(3, blocks);
    change(on->planner, PHX_CORDON, 3, 9);
    change(on->planner, PHX_CORDON, 15, 9);
    change(on->planner, PHX_CORDON, 32, 4);
    change(on->planner, PHX_CORDON, 47, 25);
    gather(on, roles, 2, 2);
    const uint32_t slot = placed(on, NULL);
    CHECK(phx_gang_level(on->planner, slot) == 2);
    CHECK(ranks_on(on, slot, 0, 5, 24, 32) == 5);
    CHECK(ranks_on(on, slot, 5, 7, 0, 3) + ranks_on(on, slot, 5, 7, 12, 15) == 6);
    CHECK(ranks_on(on, slot, 5, 7, 24, 32) == 1);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Parts of 3, 3, 3 and 1 in one block: 9 leaves are one too few, 10 of 18 are enough. */
static void test_parts_share_a_block(void)
{
    const uint32_t counts[4] = {27, 9, 2, 1};
    const uint32_t first[] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 0, 6, 9, 0, 2};
    const role roles[4] = {{3, 3, 1, {0, 0}, 0, NULL},
                           {3, 3, 1, {0, 0}, 0, NULL},
                           {3, 3, 1, {0, 0}, 0, NULL},
                           {1, 1, 1, {0, 0}, 0, NULL}};
    team *on = calloc(1, sizeof *on);
    CHECK(phx_tree_new(3, counts, first, NULL, &on->tree) == PHX_OK);
    on->planner = new_planner(on->tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    gather(on, roles, 4, 2);
    change(on->planner, PHX_CORDON, 0, 8);
    const uint32_t slot = placed(on, NULL);
    uint32_t leaves[10];
    const uint32_t expected[10] = {9, 10, 11, 12, 13, 14, 15, 16, 17, 8};
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    CHECK(memcmp(leaves, expected, sizeof leaves) == 0);
    CHECK(phx_release(on->planner, slot) == PHX_OK);
    change(on->planner, PHX_CORDON, 8, 1);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Racks whose hosts have 8, 8, 8, 4 and 4 free leaves. */
static team *start_uneven(uint32_t racks)
{
    const uint32_t fanouts[3] = {8, 5, racks};
    team *on = start(3, fanouts);
    for (uint32_t rack = 0; rack < racks; ++rack) {
        change(on->planner, PHX_CORDON, 40 * rack + 28, 4);
        change(on->planner, PHX_CORDON, 40 * rack + 36, 4);
    }
    return on;
}

/* With 24 ranks in hosts of 8 a rack has no 16 left for a slice, with 16 it has: two racks hold 32
 * and 32 as 16 and 16 each alone, which no part finds that goes first. */
static void test_tables_find_what_no_order_does(void)
{
    const role roles[2] = {{32, 8, 1, {0, 0}, 0, NULL}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start_uneven(2);
    gather(on, roles, 2, PHX_NONE);
    on->request.scratch = NULL;
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    on->request.scratch = scratch;
    const uint32_t slot = placed(on, NULL);
    for (uint32_t rack = 0; rack < 2; ++rack) {
        CHECK(ranks_on(on, slot, 0, 32, 40 * rack, 40 * rack + 40) == 16);
        CHECK(ranks_on(on, slot, 32, 32, 40 * rack, 40 * rack + 40) == 16);
    }
    uint32_t leaves[64];
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    for (uint32_t rank = 0; rank < 32; ++rank) {
        CHECK(leaves[rank] / 8 == leaves[rank / 8 * 8] / 8);
        CHECK(leaves[32 + rank] / 40 == rank / 16);
    }
    CHECK(phx_gang_level(on->planner, slot) == 3);
    finish(on);
}

/* The same in racks of 70 hosts, which a hidden level cuts in two. */
static void test_tables_below_a_hidden_level(void)
{
    const uint32_t fanouts[3] = {8, 70, 2};
    const uint32_t usable[70] = {[3] = 8, [40] = 8, [62] = 8, [63] = 4, [69] = 4};
    const role roles[2] = {{32, 8, 1, {0, 0}, 0, NULL}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start(3, fanouts);
    for (uint32_t host = 0; host < 140; ++host) {
        change(on->planner, PHX_CORDON, 8 * host + usable[host % 70], 8 - usable[host % 70]);
    }
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 32, 0, 560) == 16 && ranks_on(on, slot, 32, 32, 0, 560) == 16);
    CHECK(ranks_on(on, slot, 32, 32, 552, 560) == 4);
    CHECK(phx_gang_level(on->planner, slot) == 3);
    finish(on);
}

/* A third rack may hold 16 ranks in all: a slice there would leave too few hosts of 8 elsewhere. */
static void test_tables_under_limits(void)
{
    const int32_t racks[3] = {32, 32, 16};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    const role roles[2] = {{48, 8, 1, {0, 0}, 0, NULL}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start_uneven(3);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, rows);
    CHECK(ranks_on(on, slot, 0, 48, 80, 120) == 16 && ranks_on(on, slot, 48, 32, 80, 120) == 0);
    CHECK(ranks_on(on, slot, 0, 48, 0, 40) == 16 && ranks_on(on, slot, 48, 32, 0, 40) == 16);
    finish(on);
}

/* 48 and 16 are 64 and each fits, but 24 and 24 leave no slice of 16. */
static void test_parts_that_fit_but_not_together(void)
{
    const role roles[2] = {{48, 8, 1, {0, 0}, 0, NULL}, {16, 1, 1, {16, 2}, 0, NULL}};
    team *on = start_uneven(2);
    gather(on, roles, 2, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    on->request.scratch = NULL;
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    gather(on, roles, 1, PHX_NONE);
    CHECK(asked(on, NULL) >= 0);
    gather(on, roles + 1, 1, PHX_NONE);
    CHECK(asked(on, NULL) >= 0);
    finish(on);
}

/* Each of the two parts of 32 and 16 in hosts of 8 may have 16 ranks a rack: the same rows bind
 * them apart. Racks of 40 as 8, 8, 8, 8, 4, 4 hold 24 and 16, so the parts go 16 + 16 and 8 + 8. */
static void test_parts_with_the_same_limits(void)
{
    const uint32_t fanouts[3] = {8, 6, 2};
    const int32_t racks[2] = {16, 16};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    const role roles[3] = {
        {32, 8, 1, {0, 0}, 0, rows}, {16, 8, 1, {0, 0}, 0, rows}, {32, 1, 1, {16, 2}, 0, NULL}};
    team *on = start(3, fanouts);
    for (uint32_t host = 4; host < 12; host += host == 5 ? 5 : 1) {
        change(on->planner, PHX_CORDON, 8 * host + 4, 4);
    }
    gather(on, roles, 3, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 32, 0, 48) == 16);
    CHECK(ranks_on(on, slot, 32, 16, 0, 48) == 8);
    CHECK(ranks_on(on, slot, 48, 32, 0, 48) == 16);
    finish(on);
}

/* More kinds than tables are made for: a refusal that is not proven. */
static void test_too_many_kinds(void)
{
    int32_t all[15] = {0};
    const int32_t *rows[5][ROWS] = {{NULL}};
    role roles[7] = {{48, 8, 1, {0, 0}, 0, NULL}, {16, 1, 1, {16, 2}, 0, NULL}};
    team *on = start_uneven(3);
    change(on->planner, PHX_CORDON, 80, 27); /* the third rack has one leaf, and four */
    for (uint32_t host = 0; host < 15; ++host) {
        all[host] = 8;
    }
    for (uint32_t at = 0; at < 5; ++at) {
        rows[at][1] = all;
        roles[2 + at] = (role){1, 1, 1, {0, 0}, 0, rows[at]};
    }
    gather(on, roles, 6, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    gather(on, roles, 7, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    for (uint32_t at = 0; at < 5; ++at) {
        roles[2 + at].limits = NULL; /* one kind */
    }
    gather(on, roles, 7, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Runs of a what-if are those of the place, in rank order, and it changes nothing. */
static void test_what_if(void)
{
    const role roles[3] = {
        {2, 1, 1, {0, 0}, 0, NULL}, {8, 4, 1, {0, 0}, 0, NULL}, {3, 3, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    phx_run runs[16];
    uint32_t count = 0;
    size_t size = 0;
    gather(on, roles, 3, 2);
    void *before = saved(on->planner, &size);
    CHECK(phx_place_limited(on->planner, &on->request, NULL, 0, runs, 16, &count) >= 0);
    check_same(on->planner, before, size);
    before = saved(on->planner, &size);
    uint32_t needed = 0;
    CHECK(phx_place_limited(on->planner, &on->request, NULL, 0, runs, count - 1, &needed) ==
          -(int64_t)PHX_NO_ROOM);
    CHECK(needed == count);
    CHECK(phx_place_limited(on->planner, &on->request, NULL, 1, runs, 1, &needed) ==
          -(int64_t)PHX_NO_ROOM);
    check_same(on->planner, before, size);
    CHECK(phx_place_limited(on->planner, &on->request, NULL, 0, runs, 16, &count) >= 0);
    const int64_t word = phx_place(on->planner, &on->request);
    CHECK(word >= 0 && first_of(word) == runs[0].first && level_of(word) == 2);
    CHECK((word >> 47) == (count > 1));
    uint32_t leaves[13];
    CHECK(phx_gang_leaves(on->planner, slot_of(word), leaves) == PHX_OK);
    uint32_t rank = 0;
    for (uint32_t at = 0; at < count; ++at) {
        for (uint32_t leaf = runs[at].first; leaf < runs[at].first + runs[at].count; ++leaf) {
            CHECK(leaves[rank++] == leaf);
        }
    }
    CHECK(rank == 13);
    CHECK(ranks_on(on, slot_of(word), 2, 4, leaves[2] / 4 * 4, leaves[2] / 4 * 4 + 4) == 4);
    CHECK(phx_release(on->planner, slot_of(word)) == PHX_OK);
    for (uint32_t leaf = 0; leaf < 64; ++leaf) {
        CHECK((phx_leaf_state(on->planner, leaf) & 0x23) == 0x20);
    }
    CHECK(phx_largest_block(on->planner, 3).count == 64);
    finish(on);
}

/* Parts side by side make one run; the level is that of their common domain. */
static void test_runs_are_joined(void)
{
    const role roles[3] = {
        {4, 4, 1, {0, 0}, 0, NULL}, {4, 4, 1, {0, 0}, 0, NULL}, {8, 4, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    gather(on, roles, 3, PHX_NONE);
    const int64_t word = phx_place(on->planner, &on->request);
    CHECK(first_of(word) == 0 && level_of(word) == 2 && (word >> 47) == 0);
    finish(on);
}

/* The leaves of a part count for its own groups, slices and level. */
static void test_adopt(void)
{
    const role roles[3] = {
        {4, 2, 1, {0, 0}, 0, NULL}, {4, 1, 1, {2, 2}, 0, NULL}, {2, 1, 1, {0, 0}, 1, NULL}};
    const uint32_t sound[10] = {0, 1, 4, 5, 16, 20, 32, 33, 50, 51};
    team *on = start(3, RACKS);
    size_t size = 0;
    gather(on, roles, 3, PHX_NONE);
    void *before = saved(on->planner, &size);
    const uint32_t wrong[3][2] = {{1, 8}, {5, 34}, {9, 53}}; /* rank, leaf */
    for (uint32_t at = 0; at < 3; ++at) {
        uint32_t leaves[10];
        memcpy(leaves, sound, sizeof leaves);
        leaves[wrong[at][0]] = wrong[at][1];
        CHECK(phx_adopt(on->planner, &on->request, leaves) == -(int64_t)PHX_BAD_CHAIN);
    }
    check_same(on->planner, before, size);
    const int64_t word = phx_adopt(on->planner, &on->request, sound);
    CHECK(word >= 0 && level_of(word) == 3);
    finish(on);
}

int main(void)
{
    test_what_are_no_parts();
    test_a_part_within_a_level_of_its_own();
    test_more_than_a_leaf();
    test_a_leader_and_its_workers();
    test_parts_share_a_block();
    test_tables_find_what_no_order_does();
    test_tables_below_a_hidden_level();
    test_tables_under_limits();
    test_parts_that_fit_but_not_together();
    test_parts_with_the_same_limits();
    test_too_many_kinds();
    test_what_if();
    test_runs_are_joined();
    test_adopt();
    printf("test_parts: 14 passed, 0 failed\n");
    return 0;
}
