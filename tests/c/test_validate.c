/* One broken word at a time: phx_planner_validate must name the invariant, and a save of the broken
 * state, whose checksum is right, must not load. */
#include "check.h"
#include "planner.h"

static const uint32_t FANOUTS[4] = {4, 8, 4, 4}; /* 512 leaves, 128 hosts: a summary row */

enum { PAIR, THREE, TWO_RUNS, FREED_LAST = 3, FREED_FIRST = 4 }; /* slots of the fixture */

/* Gangs of one run, of a shared host and of two runs; two free slots; leaf 12 in quarantine; leaf
 * 40 suspect, 41 cordoned; the last host of every level-3 domain a spare. */
static phx_planner *fixture(const phx_tree *tree)
{
    phx_planner *planner = new_planner(tree, PHX_EXACT, 3, 1, 1);
    const phx_request pair = request_of(planner, 8, 4, 2);
    const phx_request three = request_of(planner, 3, 1, PHX_NONE);
    const phx_request one = request_of(planner, 1, 1, PHX_NONE);
    const uint32_t low[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const uint32_t two_runs[8] = {16, 17, 18, 19, 24, 25, 26, 27};
    const uint32_t ill[3] = {12, 40, 41};
    uint32_t owner = 0;
    CHECK(slot_of(phx_adopt(planner, &pair, low)) == PAIR);
    CHECK(slot_of(phx_adopt(planner, &three, low + 8)) == THREE);
    CHECK(slot_of(phx_adopt(planner, &pair, two_runs)) == TWO_RUNS);
    CHECK(slot_of(phx_adopt(planner, &one, ill)) == FREED_LAST);
    CHECK(slot_of(phx_place(planner, &one)) == FREED_FIRST);
    CHECK(phx_health_change(planner, PHX_FAIL, ill, 1, &owner) == PHX_OK && owner == FREED_LAST);
    CHECK(phx_health_change(planner, PHX_DOUBT, ill + 1, 1, &owner) == PHX_OK);
    CHECK(phx_health_change(planner, PHX_CORDON, ill + 2, 1, &owner) == PHX_OK);
    CHECK(phx_release(planner, FREED_FIRST) == PHX_OK);
    CHECK(phx_release(planner, FREED_LAST) == PHX_OK);
    CHECK_VALID(planner);
    return planner;
}

static void set_levels(phx_gang_slot *gang, uint32_t group_level, uint32_t within, uint32_t level)
{
    gang->levels = (uint16_t)(group_level | (within << 5) | (level << 10));
}

static void s1_whole_bit(phx_planner *p)
{
    p->space.whole[1][1] ^= 1;
}
static void s1_whole_parent(phx_planner *p)
{
    phx_bit_set(p->space.whole[3], 0);
}
static void s2_count(phx_planner *p)
{
    ++p->space.free_count[2][0];
}
static void s3_index_bit(phx_planner *p)
{
    p->space.index[1].row[0][0] ^= UINT64_C(1) << 5;
}
static void s1_past_the_end(phx_planner *p)
{
    phx_bit_set(p->space.whole[3], 5);
}
static void s3_past_the_end(phx_planner *p)
{
    phx_bit_set(p->space.index[3].row[0], 20);
}
static void s4_summary_bit(phx_planner *p)
{
    p->space.index[0].row[1][0] ^= 2;
}
static void s5_shapes_word(phx_planner *p)
{
    *p->space.shapes ^= 1;
}
static void s5_shape_that_is_none(phx_planner *p)
{
    *p->space.shapes |= UINT64_C(1) << 63;
}

static void l1_empty_run(phx_planner *p)
{
    p->links[8].count = 0;
}
static void l1_long_run(phx_planner *p)
{
    p->links[8].count = 1000;
}
static void l1_far_head(phx_planner *p)
{
    p->gangs[THREE].head = 512;
}
static void l1_far_link(phx_planner *p)
{
    p->links[8].next = 600;
}
static void l1_overlap(phx_planner *p)
{
    p->gangs[THREE].head = 0;
}
static void l1_loop(phx_planner *p)
{
    p->links[24].next = 17;
}
static void l1_too_few(phx_planner *p)
{
    p->gangs[THREE].ranks = 4;
}
static void l1_not_maximal(phx_planner *p)
{
    p->links[0].count = 4;
    p->links[0].next = 5;
    p->links[4].count = 4;
}

static void l2_other_owner(phx_planner *p)
{
    p->leaf_owner[9] = PAIR + 1;
}
static void l2_no_run(phx_planner *p)
{
    p->leaf_owner[11] = PAIR + 1;
}
static void l2_owner_twice(phx_planner *p)
{
    p->leaf_owner[0] = PAIR + 1;
}
static void l3_taken_but_free(phx_planner *p)
{
    phx_bit_set(p->suspect, 300);
}
static void l3_free_but_taken(phx_planner *p)
{
    phx_bit_clear(p->quarantine, 12);
    phx_bit_clear(p->down, 12);
}
static void l4_two_kinds(phx_planner *p)
{
    phx_bit_set(p->quarantine, 0);
}
static void l4_ill_spare(phx_planner *p)
{
    phx_bit_set(p->down, 127);
}
static void l4_held(phx_planner *p)
{
    ++p->spare_held[0];
}
static void l4_wanted(phx_planner *p)
{
    p->spare_wanted[0] = 0;
}
static void l4_missing(phx_planner *p)
{
    ++p->count->spare_missing;
}
static void l5_short(phx_planner *p)
{
    p->spare_wanted[0] = 2;
}

static void l6_too_many_slots(phx_planner *p)
{
    p->count->slot_fresh = 513;
}
static void l6_free_slot_unknown(phx_planner *p)
{
    p->count->slot_free = p->count->slot_fresh + 1;
}
static void l6_free_slot_held(phx_planner *p)
{
    p->gangs[FREED_FIRST].head = PAIR + 1;
}
static void l6_free_list_loops(phx_planner *p)
{
    p->gangs[FREED_FIRST].head = FREED_LAST + 1;
}
static void l6_free_slot_lost(phx_planner *p)
{
    p->count->slot_free = 0;
}
static void l6_gangs(phx_planner *p)
{
    ++p->count->gangs;
}
static void l6_down(phx_planner *p)
{
    ++p->count->down;
}
static void l6_ill(phx_planner *p)
{
    --p->count->ill;
}
static void l7_link(phx_planner *p)
{
    p->links[5].next = 1;
}
static void l7_run(phx_planner *p)
{
    p->links[300].count = 1;
}

static void l8_no_group(phx_planner *p)
{
    p->gangs[PAIR].group = 0;
}
static void l8_group_divides_not(phx_planner *p)
{
    p->gangs[PAIR].group = 3;
}
static void l8_group_level(phx_planner *p)
{
    set_levels(&p->gangs[PAIR], 5, 2, 2);
}
static void l8_within(phx_planner *p)
{
    set_levels(&p->gangs[PAIR], 1, 5, 2);
}
static void l8_level(phx_planner *p)
{
    set_levels(&p->gangs[PAIR], 1, 2, 5);
}
static void l8_group_is_split(phx_planner *p)
{
    p->gangs[TWO_RUNS].group = 8;
}
static void l8_out_of_domain(phx_planner *p)
{
    set_levels(&p->gangs[TWO_RUNS], 1, 1, 2);
}
static void l8_other_level(phx_planner *p)
{
    set_levels(&p->gangs[PAIR], 1, 2, 3);
}

typedef struct fault {
    const char *tag;
    void (*make)(phx_planner *);
} fault;

static const fault FAULTS[] = {{"S1", s1_whole_bit},
                               {"S1", s1_whole_parent},
                               {"S2", s2_count},
                               {"S3", s3_index_bit},
                               {"S1", s1_past_the_end},
                               {"S3", s3_past_the_end},
                               {"S4", s4_summary_bit},
                               {"S5", s5_shapes_word},
                               {"S5", s5_shape_that_is_none},
                               {"L1", l1_empty_run},
                               {"L1", l1_long_run},
                               {"L1", l1_far_head},
                               {"L1", l1_far_link},
                               {"L1", l1_overlap},
                               {"L1", l1_loop},
                               {"L1", l1_too_few},
                               {"L1", l1_not_maximal},
                               {"L2", l2_other_owner},
                               {"L2", l2_no_run},
                               {"L2", l2_owner_twice},
                               {"L3", l3_taken_but_free},
                               {"L3", l3_free_but_taken},
                               {"L4", l4_two_kinds},
                               {"L4", l4_ill_spare},
                               {"L4", l4_held},
                               {"L4", l4_wanted},
                               {"L4", l4_missing},
                               {"L5", l5_short},
                               {"L6", l6_too_many_slots},
                               {"L6", l6_free_slot_unknown},
                               {"L6", l6_free_slot_held},
                               {"L6", l6_free_list_loops},
                               {"L6", l6_free_slot_lost},
                               {"L6", l6_gangs},
                               {"L6", l6_down},
                               {"L6", l6_ill},
                               {"L7", l7_link},
                               {"L7", l7_run},
                               {"L8", l8_no_group},
                               {"L8", l8_group_divides_not},
                               {"L8", l8_group_level},
                               {"L8", l8_within},
                               {"L8", l8_level},
                               {"L8", l8_group_is_split},
                               {"L8", l8_out_of_domain},
                               {"L8", l8_other_level}};

/* The save of a planner, with a checksum that is right. */
static unsigned char *save(const phx_planner *planner)
{
    const size_t size = phx_planner_save_bytes(planner);
    unsigned char *bytes = malloc(size);
    CHECK(bytes != NULL && phx_planner_save(planner, bytes, size) == PHX_OK);
    return bytes;
}

static phx_status load(const phx_tree *tree, const void *bytes, size_t size)
{
    phx_planner *loaded = NULL;
    const phx_status status = phx_planner_load(tree, bytes, size, &loaded);
    CHECK((loaded != NULL) == (status == PHX_OK));
    phx_planner_free(loaded);
    return status;
}

static void test_every_invariant(void)
{
    phx_tree *tree = even_tree(4, FANOUTS);
    phx_planner *planner = fixture(tree);
    const size_t size = planner->saved_bytes;
    char *sound = malloc(size);
    CHECK(sound != NULL);
    memcpy(sound, planner->region, size);
    for (size_t at = 0; at < sizeof FAULTS / sizeof *FAULTS; ++at) {
        const char *reason = NULL;
        FAULTS[at].make(planner);
        const phx_status status = phx_planner_validate(planner, &reason);
        if (status != PHX_BROKEN || reason == NULL || strncmp(reason, FAULTS[at].tag, 2) != 0) {
            fprintf(stderr, "fault %zu, wanted %s: %s\n", at, FAULTS[at].tag, reason);
            exit(1);
        }
        unsigned char *bytes = save(planner);
        CHECK(load(tree, bytes, phx_planner_save_bytes(planner)) == PHX_BAD_SAVE);
        free(bytes);
        memcpy(planner->region, sound, size);
        CHECK_VALID(planner);
    }
    free(sound);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* A domain with no whole vertex may be short of spares, one with a phantom vertex alone as well. */
static void test_short_domains_are_sound(void)
{
    phx_tree *tree = even_tree(4, FANOUTS);
    phx_planner *planner = new_planner(tree, PHX_EXACT, 3, 1, 1);
    uint32_t leaves[32];
    uint32_t owners[32];
    for (uint32_t at = 0; at < 32; ++at) {
        leaves[at] = 4 * at;
    }
    CHECK(phx_health_change(planner, PHX_DOUBT, leaves, 32, owners) == PHX_OK);
    CHECK(phx_planner_short_domains(planner) == 1);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
    const uint32_t counts[3] = {8, 3, 1};
    const uint32_t first[] = {0, 2, 4, 8, 0, 3};
    const uint8_t phantom[] = {0, 0, 1, 0};
    CHECK(phx_tree_new(2, counts, first, phantom, &tree) == PHX_OK);
    planner = new_planner(tree, PHX_EXACT, 2, 1, 1);
    CHECK((phx_leaf_state(planner, 3) & 3) == PHX_SPARE);
    CHECK((phx_leaf_state(planner, 7) & 3) == PHX_FREE);
    leaves[0] = 0;
    leaves[1] = 2;
    CHECK(phx_health_change(planner, PHX_FAIL, leaves, 2, owners) == PHX_OK);
    CHECK(phx_planner_short_domains(planner) == 1);
    CHECK_VALID(planner);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Counters that no planner writes, with a right checksum. */
static void refuse(const phx_tree *tree, phx_planner *planner, uint32_t *counter, uint32_t value)
{
    const uint32_t before = *counter;
    *counter = value;
    unsigned char *bytes = save(planner);
    CHECK(load(tree, bytes, phx_planner_save_bytes(planner)) == PHX_BAD_SAVE);
    free(bytes);
    *counter = before;
}

static void test_options_of_a_save(void)
{
    phx_tree *tree = even_tree(4, FANOUTS);
    phx_planner *planner = fixture(tree);
    refuse(tree, planner, &planner->count->alignment, 2);
    refuse(tree, planner, &planner->count->spare_per, 4); /* fewer domains, so another size */
    refuse(tree, planner, &planner->count->spare_per, 5);
    refuse(tree, planner, &planner->count->spare_per, PHX_NONE);
    refuse(tree, planner, &planner->count->spare_size, 3);
    refuse(tree, planner, &planner->count->spare_count, 0);
    phx_planner_free(planner);
    planner = new_planner(tree, PHX_BUDDY, PHX_NONE, PHX_NONE, 0);
    refuse(tree, planner, &planner->count->spare_per, 3);
    refuse(tree, planner, &planner->count->spare_size, 99);
    refuse(tree, planner, &planner->count->spare_count, 1);
    phx_planner_free(planner);
    phx_tree_free(tree);
    const uint32_t nvl72[2] = {4, 18};
    tree = even_tree(2, nvl72);
    planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    refuse(tree, planner, &planner->count->alignment, PHX_BUDDY);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* Offsets of the header: magic 0, version 8, leaves 12, fingerprint 16, size 24, checksum 32. */
static void test_header_of_a_save(void)
{
    phx_tree *tree = even_tree(4, FANOUTS);
    phx_planner *planner = fixture(tree);
    const size_t size = phx_planner_save_bytes(planner);
    unsigned char *sound = save(planner);
    unsigned char *bytes = malloc(size + 8);
    const struct {
        size_t offset;
        phx_status status;
    } fields[] = {{0, PHX_BAD_SAVE},    {8, PHX_OTHER_VERSION},  {12, PHX_OTHER_TREE},
                  {16, PHX_OTHER_TREE}, {24, PHX_BAD_SAVE},      {32, PHX_BAD_SAVE},
                  {40, PHX_BAD_SAVE},   {size - 1, PHX_BAD_SAVE}};
    CHECK(bytes != NULL && load(tree, sound, size) == PHX_OK);
    for (size_t at = 0; at < sizeof fields / sizeof *fields; ++at) {
        memcpy(bytes, sound, size);
        bytes[fields[at].offset] ^= 1;
        CHECK(load(tree, bytes, size) == fields[at].status);
    }
    CHECK(load(tree, sound, 79) == PHX_BAD_SAVE);
    CHECK(load(tree, sound, size - 8) == PHX_BAD_SAVE);
    const uint64_t odd = size - 40 + 4; /* the size that is said is not whole words */
    memcpy(bytes, sound, size);
    memset(bytes + size, 0, 8);
    memcpy(bytes + 24, &odd, sizeof odd);
    CHECK(load(tree, bytes, size + 4) == PHX_BAD_SAVE);
    free(bytes);
    free(sound);
    phx_planner_free(planner);
    phx_tree_free(tree);
}

/* 72 leaves fill a word and a part of another: none of its other bits may be set. */
static void test_leaves_that_do_not_exist(void)
{
    const uint32_t nvl72[2] = {4, 18};
    phx_tree *tree = even_tree(2, nvl72);
    phx_planner *planner = new_planner(tree, PHX_EXACT, PHX_NONE, PHX_NONE, 0);
    uint64_t *bitmaps[] = {planner->down, planner->suspect, planner->cordoned, planner->quarantine};
    for (size_t at = 0; at < sizeof bitmaps / sizeof *bitmaps; ++at) {
        const char *reason = NULL;
        phx_bit_set(bitmaps[at], 72);
        CHECK(phx_planner_validate(planner, &reason) == PHX_BROKEN);
        CHECK(strncmp(reason, "L3", 2) == 0);
        phx_bit_clear(bitmaps[at], 72);
        CHECK_VALID(planner);
    }
    phx_planner_free(planner);
    phx_tree_free(tree);
}

int main(void)
{
    test_every_invariant();
    test_short_domains_are_sound();
    test_leaves_that_do_not_exist();
    test_options_of_a_save();
    test_header_of_a_save();
    printf("test_validate: %zu faults named, 5 passed, 0 failed\n", sizeof FAULTS / sizeof *FAULTS);
    return 0;
}
