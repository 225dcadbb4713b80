/* Repairs of gangs of parts, and plans for them, counted by hand. */
#include "roles.h"

static const uint32_t HOSTS[3] = {8, 4, 2};    /* 8 leaves a host, 4 hosts a rack, 2 racks */
static const uint32_t PAPER[4] = {8, 4, 2, 2}; /* and 2 pods of 2 racks */

/* The repair moves these ranks alone, each to the leaf given. */
static void check_moves(const team *on, uint32_t count, const uint32_t *ranks, const uint32_t *to)
{
    uint32_t at = 0;
    for (uint32_t move = 0; move < on->repair.moves; ++move) {
        for (uint32_t rank = 0; rank < on->moves[move].count; ++rank, ++at) {
            CHECK(at < count && on->moves[move].rank + rank == ranks[at]);
            CHECK(on->moves[move].to + rank == to[at]);
        }
    }
    CHECK(at == count && on->repair.moved == count);
}

/* A leader on a host and seven workers: a worker's leaf costs one move, the leader's its host. */
static void test_one_part_and_both(void)
{
    const role roles[2] = {{4, 4, 1, {0, 0}, 0, NULL}, {7, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const phx_run lost[2] = {{5, 1}, {2, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = adopted(on, leaves);
    CHECK(replanned(on, slot, lost, 1, NULL, 0) == PHX_OK);
    check_moves(on, 1, (uint32_t[1]){5}, (uint32_t[1]){13}); /* the same rail */
    CHECK(on->repair.proven == 1 && on->repair.dead == 1 && on->repair.level_after == 2);
    CHECK(replanned(on, slot, lost + 1, 1, NULL, 0) == PHX_OK);
    check_moves(on, 4, (uint32_t[4]){0, 1, 2, 3}, (uint32_t[4]){12, 13, 14, 15});
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_OK);
    check_moves(on, 5, (uint32_t[5]){0, 1, 2, 3, 5}, (uint32_t[5]){12, 13, 14, 15, 11});

    change(on->planner, PHX_CORDON, 11, 1); /* each finds a place, the other then none */
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 0 && on->repair.dead == 2 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on->repair.proven == 0 && on->repair.moved == 4 && on->repair.unresolved == 1);
    change(on->planner, PHX_CORDON, 12, 1); /* none for the leader whatever becomes of the other */
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 1 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on->repair.moved == 1 && on->repair.unresolved == 1 && on->repair.proven == 0);
    finish(on);
}

/* Drained leaves count as lost when the caller says so. */
static void test_drain(void)
{
    const role roles[2] = {{2, 2, 1, {0, 0}, 0, NULL}, {2, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[4] = {0, 1, 2, 3};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 0, 4);
    CHECK(replanned(on, slot, NULL, 0, NULL, 0) == PHX_OK && on->repair.moves == 0);
    CHECK(replanned(on, slot, NULL, 0, NULL, PHX_REPLAN_CORDONED | PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(on->repair.dead == 4 && ranks_on(on, slot, 0, 4, 4, 16) == 4);
    CHECK(ranks_on(on, slot, 0, 2, 4, 8) % 2 == 0);
    finish(on);
}

/* A part within a host of its own stays there while one of its ranks lives. */
static void test_a_level_of_its_own_pins(void)
{
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {3, 1, 1, {0, 0}, 1, NULL}};
    const uint32_t leaves[5] = {0, 1, 4, 5, 6};
    const phx_run lost[3] = {{4, 1}, {5, 1}, {6, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    CHECK(replanned(on, slot, lost, 1, NULL, 0) == PHX_OK);
    check_moves(on, 1, (uint32_t[1]){2}, (uint32_t[1]){7});
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 1 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on->repair.moved == 1 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, lost, 3, NULL, PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(ranks_on(on, slot, 2, 3, 8, 12) == 3);
    finish(on);
}

/* One slice, the part's own rack, is its unit until a rank holds it there; then its groups are.
 * The rack has room for four: the pair without room in its host must go as the other is filled. */
static void test_a_pinned_part_of_one_slice(void)
{
    const int32_t racks[4] = {4, 4, 4, 4};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    const role roles[2] = {{4, 2, 1, {4, 2}, 0, NULL}, {1, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[5] = {0, 1, 4, 5, 16};
    const phx_run lost[2] = {{0, 1}, {4, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    on->parts[0].within = 2;
    CHECK(phx_request_parts(on->planner, &on->request, on->parts, 2, scratch) == PHX_OK);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 3, 1);
    change(on->planner, PHX_CORDON, 6, 2);
    CHECK(replanned(on, slot, lost, 2, rows, 0) == PHX_OK);
    check_moves(on, 3, (uint32_t[3]){0, 2, 3}, (uint32_t[3]){2, 8, 9});
    finish(on);
}

/* A rack that dies takes all parts along, to one that holds them together. */
static void test_all_dead_move_elsewhere(void)
{
    const role roles[2] = {{4, 4, 1, {0, 0}, 0, NULL}, {7, 1, 1, {0, 0}, 0, NULL}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 11, 0, 16) == 11);
    change(on->planner, PHX_FAIL, 0, 16);
    change(on->planner, PHX_CORDON, 16, 6); /* ten are one too few */
    CHECK(replanned(on, slot, NULL, 0, NULL, PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(on->repair.moved == 11 && on->repair.level_before == 2 && on->repair.level_after == 2);
    CHECK(ranks_on(on, slot, 0, 11, 32, 48) == 11);
    uint32_t leaves[11];
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    CHECK(leaves[0] / 4 == leaves[3] / 4);
    change(on->planner, PHX_FAIL, 32, 16);
    change(on->planner, PHX_CORDON, 56, 8);
    CHECK(replanned(on, slot, NULL, 0, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.unresolved == 11 && on->repair.proven == 0);
    finish(on);
}

/* A spare serves one of the parts, and is told once. */
static void test_spares(void)
{
    const role roles[2] = {{8, 8, 1, {0, 0}, 0, NULL}, {48, 8, 1, {0, 0}, 0, NULL}};
    team *on = start_spared(4, PAPER, 3);
    gather(on, roles, 2, 3);
    const uint32_t slot = placed(on, NULL);
    CHECK(ranks_on(on, slot, 0, 56, 0, 56) == 56);
    uint32_t leaves[56];
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    const phx_run lost[2] = {{leaves[0], 8}, {leaves[8], 8}};
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.unresolved == 8 && on->repair.proven == 0);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on->repair.moved == 8 && on->repair.spares_used == 1 && on->repair.unresolved == 8);
    CHECK(replanned(on, slot, lost, 1, NULL, PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(on->repair.spares_used == 1 && on->repair.level_after == 3);
    CHECK(on->moves[0].rank == 0 && on->moves[0].to == 56);
    CHECK(phx_planner_short_domains(on->planner) == 1);
    finish(on);
}

/* A spare of two racks' parts: what one part leaves of it is for the next. */
static void test_parts_share_a_spare(void)
{
    const role roles[2] = {{4, 4, 1, {0, 0}, 0, NULL}, {52, 1, 1, {0, 0}, 0, NULL}};
    team *on = start_spared(4, PAPER, 3);
    gather(on, roles, 2, 3);
    const uint32_t slot = placed(on, NULL);
    uint32_t leaves[56];
    CHECK(phx_gang_leaves(on->planner, slot, leaves) == PHX_OK);
    const phx_run lost[2] = {{leaves[3], 1}, {leaves[20], 3}};
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(on->repair.moved == 7 && on->repair.spares_used == 1);
    CHECK(ranks_on(on, slot, 0, 4, 56, 64) == 4 && ranks_on(on, slot, 4, 52, 56, 64) == 3);
    finish(on);
}

/* The part that goes first takes the leaf that the other alone cannot do without. */
static void test_the_other_order(void)
{
    const role roles[2] = {{2, 2, 1, {0, 0}, 0, NULL}, {3, 1, 1, {0, 0}, 1, NULL}};
    const uint32_t leaves[5] = {0, 1, 2, 3, 4};
    const phx_run lost[2] = {{0, 1}, {2, 1}};
    team *on = start(3, HOSTS);
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 6, 2);
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_OK);
    check_moves(on, 3, (uint32_t[3]){0, 1, 2}, (uint32_t[3]){8, 9, 5});
    change(on->planner, PHX_UNCORDON, 6, 1);
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_OK); /* both at home is better */
    CHECK(on->repair.moved == 2);
    finish(on);
}

/* A slice without a place takes the one around it along, if it may. */
static void test_widen(void)
{
    const role roles[2] = {{4, 2, 1, {4, 2}, 0, NULL}, {2, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[6] = {0, 1, 4, 5, 16, 17};
    const phx_run lost = {0, 1};
    team *on = start(3, RACKS);
    gather(on, roles, 2, PHX_NONE);
    const phx_slice chain[2] = {{2, 1}, {4, 2}};
    CHECK(phx_request_slices(on->planner, &on->parts[0].request, chain, 2) == PHX_OK);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 2, 2);
    change(on->planner, PHX_CORDON, 6, 10);
    CHECK(replanned(on, slot, &lost, 1, NULL, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 1 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, &lost, 1, NULL, PHX_REPLAN_WIDEN | PHX_REPLAN_APPLY) == PHX_OK);
    CHECK(on->repair.moved == 4 && ranks_on(on, slot, 0, 4, 16, 64) == 4);
    CHECK(ranks_on(on, slot, 4, 2, 16, 18) == 2);
    const phx_run sliced = {on->moves[0].to, 1};
    change(on->planner, PHX_CORDON, 16, 48);
    CHECK(replanned(on, slot, NULL, 0, NULL, PHX_REPLAN_WIDEN) == PHX_OK); /* nothing is broken */
    const phx_run whole = {16, 1};
    CHECK(replanned(on, slot, &whole, 1, NULL, PHX_REPLAN_WIDEN) == PHX_MISFIT);
    CHECK(on->repair.proven == 1); /* that part has no slices to widen */
    CHECK(replanned(on, slot, &sliced, 1, NULL, PHX_REPLAN_WIDEN) == PHX_MISFIT);
    CHECK(on->repair.proven == 0);
    finish(on);
}

/* Ranks of the other parts count, where they live or where they have just gone. */
static void test_limits_count_other_parts(void)
{
    int32_t racks[4] = {4, 4, 4, 4};
    const int32_t *const rows[ROWS] = {NULL, NULL, racks};
    int32_t hosts[16];
    const int32_t *const part[ROWS] = {NULL, hosts};
    role roles[2] = {{2, 2, 1, {0, 0}, 0, NULL}, {2, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[4] = {0, 1, 4, 5};
    const phx_run lost[2] = {{4, 1}, {0, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = adopted(on, leaves);
    CHECK(replanned(on, slot, lost, 1, rows, 0) == PHX_OK && on->repair.moved == 1);
    CHECK(replanned(on, slot, lost, 2, rows, 0) == PHX_OK && on->repair.moved == 2);
    racks[0] = 3;
    CHECK(replanned(on, slot, lost, 1, rows, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 1 && on->repair.unresolved == 1);
    CHECK(replanned(on, slot, lost, 2, rows, 0) == PHX_MISFIT);
    CHECK(on->repair.proven == 0);
    racks[0] = INT32_MIN; /* as good as none, and nothing is counted below it */
    CHECK(replanned(on, slot, lost, 1, rows, 0) == PHX_MISFIT);

    for (uint32_t host = 0; host < 16; ++host) { /* the second part may be in host 3 alone */
        hosts[host] = host == 3;
    }
    roles[1].limits = part;
    gather(on, roles, 2, 2);
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_OK);
    check_moves(on, 2, (uint32_t[2]){0, 2}, (uint32_t[2]){2, 12});
    hosts[3] = 0;
    CHECK(replanned(on, slot, lost, 1, NULL, 0) == PHX_MISFIT && on->repair.proven == 1);
    finish(on);
}

/* Which units of a part with slices are best left out is not tried out. */
static void test_a_partial_repair_of_one_part(void)
{
    const role roles[2] = {{4, 1, 1, {2, 1}, 0, NULL}, {1, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[5] = {0, 1, 4, 5, 8};
    const phx_run lost[2] = {{0, 1}, {4, 1}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 6, 2);
    change(on->planner, PHX_CORDON, 9, 7);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    CHECK(on->repair.moved == 1 && on->repair.unresolved == 1 && on->repair.proven == 0);
    CHECK(replanned(on, slot, lost + 1, 1, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    change(on->planner, PHX_CORDON, 2, 2);
    CHECK(replanned(on, slot, lost + 1, 1, NULL, PHX_REPLAN_PARTIAL) == PHX_MISFIT);
    CHECK(on->repair.proven == 1);
    finish(on);
}

/* Two leaves are left: a pair that moves whole, or both single ranks. */
static void test_a_partial_repair_mends_most_units(void)
{
    const role roles[2] = {{2, 2, 1, {0, 0}, 0, NULL}, {2, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[4] = {0, 1, 2, 3};
    const phx_run lost[2] = {{0, 1}, {2, 2}};
    team *on = start(3, RACKS);
    gather(on, roles, 2, 2);
    const uint32_t slot = adopted(on, leaves);
    change(on->planner, PHX_CORDON, 6, 10);
    CHECK(replanned(on, slot, lost, 2, NULL, 0) == PHX_MISFIT && on->repair.proven == 0);
    CHECK(replanned(on, slot, lost, 2, NULL, PHX_REPLAN_PARTIAL) == PHX_OK);
    check_moves(on, 2, (uint32_t[2]){2, 3}, (uint32_t[2]){4, 5});
    CHECK(on->repair.unresolved == 1 && on->repair.proven == 0);
    finish(on);
}

/* Ten broken units are tried in all subsets once: one part alone is proven, two are not. */
static void test_many_broken_units_under_limits(void)
{
    int32_t none[64] = {0};
    const int32_t *const rows[ROWS] = {none};
    role roles[2] = {{10, 1, 1, {0, 0}, 0, rows}, {10, 1, 1, {0, 0}, 0, rows}};
    uint32_t leaves[20];
    const phx_run lost[2] = {{0, 10}, {10, 10}};
    team *on = start(3, RACKS);
    for (uint32_t rank = 0; rank < 20; ++rank) {
        leaves[rank] = rank;
    }
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    CHECK(replanned(on, slot, lost, 1, NULL, 0) == PHX_MISFIT && on->repair.proven == 1);
    roles[0].limits = roles[1].limits = NULL;
    gather(on, roles, 2, PHX_NONE);
    CHECK(replanned(on, slot, lost, 2, rows, 0) == PHX_MISFIT && on->repair.proven == 0);
    CHECK(on->repair.dead == 20 && on->repair.unresolved == 20);
    finish(on);
}

/* Any room but enough is too little, and the planner is as it was. */
static void test_too_little_room(void)
{
    const role roles[2] = {{2, 1, 1, {0, 0}, 0, NULL}, {3, 1, 1, {0, 0}, 0, NULL}};
    const uint32_t leaves[5] = {0, 2, 4, 6, 8};
    const phx_run lost[5] = {{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}};
    team *on = start(3, RACKS);
    size_t size = 0;
    gather(on, roles, 2, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    for (uint32_t room = 0; room < 5; ++room) {
        void *before = saved(on->planner, &size);
        const phx_status status = phx_replan_sliced(on->planner, slot, &on->request, lost, 4, NULL,
                                                    0, on->moves, room, &on->repair);
        CHECK(status == (room < 4 ? PHX_NO_ROOM : PHX_OK));
        check_same(on->planner, before, size);
        CHECK_VALID(on->planner);
    }
    finish(on);
}

/* A plan that breaks a part's group, slice or level is refused, and one for other leaves. */
static void test_plans_are_checked(void)
{
    const role roles[3] = {
        {2, 2, 1, {0, 0}, 0, NULL}, {2, 1, 1, {2, 2}, 0, NULL}, {2, 1, 1, {0, 0}, 1, NULL}};
    const uint32_t leaves[6] = {0, 1, 4, 8, 16, 17};
    const uint32_t lost[3] = {0, 4, 16};
    const uint32_t sound[3] = {2, 5, 18};
    const uint32_t wrong[3] = {6, 20, 20};
    team *on = start(3, RACKS);
    gather(on, roles, 3, PHX_NONE);
    const uint32_t slot = adopted(on, leaves);
    for (uint32_t at = 0; at < 3; ++at) {
        const phx_run failed = {lost[at], 1};
        CHECK(replanned(on, slot, &failed, 1, NULL, 0) == PHX_OK && on->repair.moves == 1);
        on->moves[0].to = wrong[at];
        CHECK(phx_apply_sliced(on->planner, slot, &on->request, on->moves, 1, &failed, 1) ==
              PHX_STALE_PLAN);
        on->moves[0].to = sound[at];
        CHECK(phx_apply_sliced(on->planner, slot, &on->request, on->moves, 1, &failed, 1) ==
              PHX_OK);
        CHECK(phx_apply_sliced(on->planner, slot, &on->request, on->moves, 1, &failed, 1) ==
              PHX_STALE_PLAN);
    }
    phx_request other = on->request;
    other.ranks = 5;
    CHECK(phx_replan_sliced(on->planner, slot, &other, NULL, 0, NULL, 0, on->moves, MOVES_MAX,
                            &on->repair) == PHX_BAD_GANG);
    CHECK(phx_apply_sliced(on->planner, slot, &other, on->moves, 0, NULL, 0) == PHX_STALE_PLAN);
    CHECK(replanned(on, 77, NULL, 0, NULL, 0) == PHX_STALE_HANDLE);
    phx_run runs[4];
    uint32_t count = 0;
    CHECK(phx_grow_plan(on->planner, slot, &on->request, NULL, runs, 4, &count) == PHX_BAD_GANG);
    CHECK(phx_grow(on->planner, slot, &on->request, runs, 0) == PHX_BAD_GANG);
    finish(on);
}

int main(void)
{
    test_one_part_and_both();
    test_drain();
    test_a_level_of_its_own_pins();
    test_a_pinned_part_of_one_slice();
    test_all_dead_move_elsewhere();
    test_spares();
    test_parts_share_a_spare();
    test_the_other_order();
    test_widen();
    test_limits_count_other_parts();
    test_a_partial_repair_of_one_part();
    test_a_partial_repair_mends_most_units();
    test_many_broken_units_under_limits();
    test_too_little_room();
    test_plans_are_checked();
    printf("test_part_repairs: 15 passed, 0 failed\n");
    return 0;
}
