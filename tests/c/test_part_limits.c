/* Parts under limits, and tables that grow too large: what is placed and refused, by hand. */
#include "roles.h"

/* One role may use the sixth host alone; the other is not held by that. */
static void test_limits_of_one_part(void)
{
    int32_t hosts[16] = {0};
    const int32_t *const rows[ROWS] = {NULL, hosts};
    const role roles[2] = {{3, 1, 1, {0, 0}, 0, NULL}, {3, 1, 1, {0, 0}, 0, rows}};
    team *on = start(3, RACKS);
    hosts[5] = 3;
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 3, 3, 20, 24) == 3);
    CHECK(phx_gang_level(on->planner, slot) == 2);
    CHECK(phx_release(on->planner, slot) == PHX_OK);
    hosts[5] = 2;
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Two ranks a host for all parts together: 4 and 4 take four hosts. */
static void test_limits_of_the_whole(void)
{
    int32_t hosts[16];
    const int32_t *const rows[ROWS] = {NULL, hosts};
    const role roles[2] = {{4, 1, 1, {0, 0}, 0, NULL}, {4, 2, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    for (uint32_t host = 0; host < 16; ++host) {
        hosts[host] = 2;
    }
    gather(on, roles, 2, 2);
    const uint32_t slot = placed(on, rows);
    for (uint32_t host = 0; host < 4; ++host) {
        CHECK(ranks_on(on, slot, 0, 8, 4 * host, 4 * host + 4) == 2);
    }
    hosts[0] = hosts[4] = hosts[8] = hosts[12] = 1; /* seven a rack */
    CHECK(asked(on, rows) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Three a host for all, two of them of the second part, and racks of at most 9 and 4. */
static void test_limits_of_both(void)
{
    int32_t hosts[16];
    int32_t fewer[16];
    const int32_t all[4] = {9, 9, 9, 9};
    const int32_t own[4] = {4, 4, 4, 4};
    const int32_t *const rows[ROWS] = {NULL, hosts, all};
    const int32_t *const part[ROWS] = {NULL, fewer, own};
    role roles[2] = {{5, 1, 1, {0, 0}, 0, NULL}, {4, 1, 1, {0, 0}, 0, part}};
    team *on = start(3, RACKS);
    for (uint32_t host = 0; host < 16; ++host) {
        hosts[host] = 3;
        fewer[host] = 2;
    }
    gather(on, roles, 2, 2);
    const uint32_t slot = placed(on, rows);
    for (uint32_t host = 0; host < 4; ++host) {
        CHECK(ranks_on(on, slot, 0, 9, 4 * host, 4 * host + 4) <= 3);
        CHECK(ranks_on(on, slot, 5, 4, 4 * host, 4 * host + 4) <= 2);
    }
    roles[0].ranks = 6; /* ten in all */
    gather(on, roles, 2, 2);
    CHECK(asked(on, rows) == -(int64_t)PHX_MISFIT);
    roles[0].ranks = 4;
    roles[1].ranks = 5; /* one more than the part may have in a rack */
    gather(on, roles, 2, 2);
    CHECK(asked(on, rows) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* Parts of one rank may take the first so many of leaves 8, 10, 12 and 14. Only the narrowest first
 * serves them all, which none of the orders tried is; by Hall's theorem they fit. */
static void check_widths(const uint32_t *width, const uint32_t *expected)
{
    const uint32_t hosts[3] = {8, 4, 2};
    int32_t allowed[4][64] = {{0}};
    const int32_t *rows[4][ROWS] = {{NULL}};
    role roles[4];
    uint32_t leaves[4];
    team *on = start(3, hosts);
    for (uint32_t part = 0; part < 4; ++part) {
        for (uint32_t leaf = 0; leaf < width[part]; ++leaf) {
            allowed[part][8 + 2 * leaf] = 1;
        }
        rows[part][0] = allowed[part];
        roles[part] = (role){1, 1, 1, {0, 0}, 0, rows[part]};
    }
    gather(on, roles, 4, PHX_NONE);
    on->request.scratch = NULL;
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    on->request.scratch = scratch;
    const uint32_t slot = placed(on, NULL);
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    CHECK(memcmp(leaves, expected, sizeof leaves) == 0);
    CHECK(phx_release(on->planner, slot) == PHX_OK);
    int32_t fewer[64] = {0};
    const int32_t *const whole[ROWS] = {fewer};
    fewer[8] = fewer[10] = fewer[12] = 1;
    CHECK(asked(on, whole) == -(int64_t)PHX_MISFIT);
    const int32_t hosts_all[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    const int32_t *const three[ROWS] = {NULL, hosts_all};
    CHECK(asked(on, three) == -(int64_t)PHX_MISFIT);
    for (uint32_t part = 0; part < 4; ++part) {
        allowed[part][14] = 0;
    }
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

static void test_leaves_by_halls_theorem(void)
{
    const uint32_t second[4] = {2, 1, 3, 4};
    const uint32_t second_leaves[4] = {10, 8, 12, 14};
    const uint32_t last[4] = {2, 4, 3, 1};
    const uint32_t last_leaves[4] = {10, 14, 12, 8};
    check_widths(second, second_leaves);
    check_widths(last, last_leaves);
}

/* Two real racks with 8, 8, 8, 4 and 4 free leaves, and a stand-in for one with a host of 8, a
 * stand-in for such a host, and 4: it takes a group of 8 and no slice of a rack. */
static void test_tables_with_phantoms(void)
{
    const uint32_t counts[4] = {84, 13, 3, 1};
    uint32_t first[14 + 4 + 2];
    uint8_t phantom[13 + 3 + 1] = {0};
    const role roles[2] = {{40, 8, 1, {0, 0}, 0, NULL}, {32, 1, 1, {16, 2}, 0, NULL}};
    const uint32_t sizes[13] = {8, 8, 8, 4, 4, 8, 8, 8, 4, 4, 8, 8, 4};
    for (uint32_t host = 0, leaf = 0; host < 13; leaf += sizes[host++]) {
        first[host] = leaf;
        first[host + 1] = leaf + sizes[host];
    }
    const uint32_t above[6] = {0, 5, 10, 13, 0, 3};
    memcpy(first + 14, above, sizeof above);
    phantom[11] = 1;
    phantom[13 + 2] = 1;
    team *on = calloc(1, sizeof *on);
    CHECK(phx_tree_new(3, counts, first, phantom, &on->tree) == PHX_OK);
    on->planner = new_planner(on->tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 40, 64, 72) == 8 && ranks_on(on, slot, 0, 40, 0, 32) == 16);
    CHECK(ranks_on(on, slot, 40, 32, 0, 32) == 16 && ranks_on(on, slot, 40, 32, 32, 64) == 16);
    finish(on);
}

/* Parts that may take the same leaves alone are one kind: two of three fit on two leaves. */
static void test_rows_of_leaves_bind_together(void)
{
    int32_t two[64] = {0};
    const int32_t *const rows[ROWS] = {two};
    const role roles[3] = {
        {1, 1, 1, {0, 0}, 0, rows}, {1, 1, 1, {0, 0}, 0, rows}, {1, 1, 1, {0, 0}, 0, rows}};
    team *on = start(3, RACKS);
    two[4] = two[6] = 1;
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 2, 4, 7) == 2);
    CHECK(phx_release(on->planner, slot) == PHX_OK);
    gather(on, roles, 3, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    finish(on);
}

/* A stand-in for a rack serves no part that must lie in one, and one that need not. */
static void test_phantoms(void)
{
    const uint32_t counts[4] = {12, 3, 2, 1};
    const uint32_t first[] = {0, 4, 8, 12, 0, 2, 3, 0, 2};
    const uint8_t phantom[] = {0, 0, 0, 0, 1, 0};
    const role racked[2] = {{3, 1, 1, {0, 0}, 2, NULL}, {6, 1, 1, {0, 0}, 0, NULL}};
    const role both[2] = {{3, 1, 1, {0, 0}, 2, NULL}, {6, 3, 1, {6, 2}, 0, NULL}};
    const role alone[1] = {{1, 1, 1, {0, 0}, 2, NULL}};
    team *on = calloc(1, sizeof *on);
    CHECK(phx_tree_new(3, counts, first, phantom, &on->tree) == PHX_OK);
    on->planner = new_planner(on->tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    change(on->planner, PHX_CORDON, 0, 3);
    gather(on, racked, 2, PHX_NONE);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 3, 3, 8) == 3);
    CHECK(phx_release(on->planner, slot) == PHX_OK);
    gather(on, both, 2, PHX_NONE); /* nine in a rack of five */
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    gather(on, alone, 1, 2);
    const uint32_t single = placed(on, NULL);
    change(on->planner, PHX_CORDON, 3, 5);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    CHECK(replanned(on, single, NULL, 0, NULL, PHX_REPLAN_CORDONED) == PHX_MISFIT);
    CHECK(on->repair.dead == 1 && on->repair.unresolved == 1);
    finish(on);
}

/* Racks of hosts with 8, 8, 8, 4, 4 and 5 free leaves, two pods of `racks` each, and parts that
 * fit as 16, 16 and 5 a rack alone. */
static int64_t asked_of_pods(uint32_t racks, uint32_t asks)
{
    const uint32_t fanouts[4] = {8, 6, racks, 2};
    const uint32_t all = 2 * racks;
    const role roles[3] = {{16 * all, 8, 1, {0, 0}, 0, NULL},
                           {16 * all, 1, 1, {16, 2}, 0, NULL},
                           {5 * all, 1, 1, {5, 2}, 0, NULL}};
    const uint32_t filled[3] = {28, 36, 45};
    team *on = start(4, fanouts);
    for (uint32_t rack = 0; rack < all; ++rack) {
        for (uint32_t host = 0; host < 3; ++host) {
            change(on->planner, PHX_CORDON, 48 * rack + filled[host], host < 2 ? 4 : 3);
        }
    }
    gather(on, roles, 3, PHX_NONE);
    int64_t word = 0;
    for (uint32_t ask = 0; ask < asks && word >= 0; ++ask) {
        word = phx_place_limited(on->planner, &on->request, NULL, (int)(ask + 1 == asks), NULL, 0,
                                 NULL);
        CHECK(word < 0 || asks == 1 || ask + 1 == asks || word == 0);
    }
    CHECK(phx_free_leaves(on->planner, 0, NULL) == (word < 0 ? 37 * all : 0));
    finish(on);
    return word;
}

/* The tables of four racks are small; of sixty they cost too much work, of fifty half way down, of
 * seventy they outgrow the scratch. Whatever was given by then is free again. */
static void test_large_tables(void)
{
    CHECK(asked_of_pods(2, 2) >= 0);
    CHECK(asked_of_pods(25, 1) == -(int64_t)PHX_GAVE_UP);
    CHECK(asked_of_pods(30, 1) == -(int64_t)PHX_GAVE_UP);
    CHECK(asked_of_pods(35, 1) == -(int64_t)PHX_GAVE_UP);
}

/* Tables far beyond the scratch already one level below the top. */
static void test_tables_beyond_all_counting(void)
{
    const uint32_t fanouts[5] = {8, 5, 50, 2, 2};
    const role roles[6] = {{4800, 8, 1, {0, 0}, 0, NULL}, {16, 1, 1, {16, 2}, 0, NULL},
                           {420, 1, 1, {7, 2}, 0, NULL},  {500, 1, 1, {5, 2}, 0, NULL},
                           {200, 1, 1, {4, 2}, 0, NULL},  {300, 1, 1, {3, 2}, 0, NULL}};
    team *on = start(5, fanouts);
    for (uint32_t rack = 0; rack < 200; ++rack) {
        change(on->planner, PHX_CORDON, 40 * rack + 28, 4);
        change(on->planner, PHX_CORDON, 40 * rack + 36, 4);
    }
    gather(on, roles, 6, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    finish(on);
}

/* Six kinds of ten ranks on hosts of 64, two of them on the same nineteen leaves: a host's own
 * table is work as well, and of the third host too much. */
static void test_tables_of_hosts(void)
{
    const uint32_t fanouts[2] = {64, 3};
    int32_t most[6][192];
    const int32_t *rows[6][ROWS] = {{NULL}};
    role roles[6];
    team *on = start(2, fanouts);
    for (uint32_t part = 0; part < 6; ++part) {
        for (uint32_t leaf = 0; leaf < 192; ++leaf) {
            most[part][leaf] = part > 1 || leaf % 64 < 19;
        }
        rows[part][0] = most[part];
        roles[part] = (role){10, 1, 1, {0, 0}, 0, rows[part]};
    }
    gather(on, roles, 6, 1);
    change(on->planner, PHX_CORDON, 128, 64);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    change(on->planner, PHX_UNCORDON, 128, 64);
    CHECK(asked(on, NULL) == -(int64_t)PHX_GAVE_UP);
    finish(on);
}

/* Parts of any size: their sum must be the gang's, and no count of them is taken for small. */
static void test_ranks_beyond_all_leaves(void)
{
    const uint32_t huge = 2147483647u;
    const role roles[2] = {{huge, 1, 1, {0, 0}, 0, NULL}, {huge, 1, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    CHECK(asked(on, NULL) == -(int64_t)PHX_MISFIT);
    const phx_part parts[3] = {on->parts[0], on->parts[0],
                               part_of(on->planner, &(role){6, 1, 1, {0, 0}, 0, NULL}, PHX_NONE)};
    phx_request wrapped = request_of(on->planner, 4, 1, PHX_NONE); /* 2^32 + 4 */
    CHECK(phx_request_parts(on->planner, &wrapped, parts, 3, scratch) == PHX_BAD_GANG);
    finish(on);
}

int main(void)
{
    test_limits_of_one_part();
    test_limits_of_the_whole();
    test_limits_of_both();
    test_leaves_by_halls_theorem();
    test_rows_of_leaves_bind_together();
    test_phantoms();
    test_tables_with_phantoms();
    test_large_tables();
    test_tables_beyond_all_counting();
    test_tables_of_hosts();
    test_ranks_beyond_all_leaves();
    printf("test_part_limits: 11 passed, 0 failed\n");
    return 0;
}
