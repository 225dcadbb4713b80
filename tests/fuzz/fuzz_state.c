/* The tree and the planner under test, made of the first bytes, and the checks of their state. */
#include "fuzz.h"

#include <string.h>

void fixture_check(const fixture *on)
{
    const char *reason = NULL;
    const phx_status status = phx_planner_validate(on->planner, &reason);
    require(status == PHX_OK, reason);
}

/* Level sizes from the tape, top down, so that the children of a vertex differ. */
int fixture_build(fixture *on, tape *in)
{
    static uint32_t first[4 * (LEAVES_MAX + 1)];
    static uint8_t phantom[4 * LEAVES_MAX];
    uint32_t size[5][LEAVES_MAX + 1];
    memset(phantom, 0, sizeof phantom);
    on->depth = 1 + tape_next(in) % 4;
    const uint32_t regular = tape_next(in) % 3;
    on->counts[on->depth] = 1 + tape_next(in) % 3;
    for (uint32_t level = on->depth; level > 0; --level) {
        const uint32_t drawn = tape_next(in); /* beyond 64 children a hidden level is needed */
        const uint32_t fanout = drawn >= 240 ? 65 + drawn % 16 : 1 + drawn % 8;
        uint32_t sum = 0;
        for (uint32_t at = 0; at < on->counts[level]; ++at) {
            size[level][at] = sum;
            sum += regular == 0   ? 1u << (fanout % 4)
                   : regular == 1 ? fanout
                                  : 1 + tape_next(in) % 6;
            if (sum > LEAVES_MAX) {
                return 0;
            }
        }
        size[level][on->counts[level]] = sum;
        on->counts[level - 1] = sum;
    }
    uint32_t words = 0;
    uint32_t bytes = 0;
    const uint32_t stand_ins = tape_next(in) % 4;
    for (uint32_t level = 1; level <= on->depth; ++level) {
        for (uint32_t at = 0; at <= on->counts[level]; ++at) {
            first[words++] = size[level][at];
        }
        for (uint32_t at = 0; at < on->counts[level]; ++at) {
            const uint32_t children = size[level][at + 1] - size[level][at];
            phantom[bytes++] = stand_ins == 1 && children == 1 && level > 1;
        }
    }
    on->leaves = on->counts[0];
    if (phx_tree_new(on->depth, on->counts, first, phantom, &on->tree) != PHX_OK) {
        return 0;
    }
    uint8_t rails[LEAVES_MAX];
    for (uint32_t leaf = 0; leaf < on->leaves; ++leaf) {
        rails[leaf] = (uint8_t)(leaf * 5 % 8);
    }
    return stand_ins != 2 || phx_tree_set_rails(on->tree, rails) == PHX_OK;
}

int fixture_start(fixture *on, tape *in)
{
    phx_options options = {PHX_EXACT, PHX_NONE, PHX_NONE, 0};
    const uint32_t kind = tape_next(in);
    on->full = kind >> 7;
    on->parts = kind >> 6 == 3;
    options.alignment = kind & 1 ? PHX_BUDDY : PHX_EXACT;
    if ((kind & 2) != 0 && on->depth > 1) {
        options.spare_per = 2 + (kind >> 2) % (on->depth - 1);
        options.spare_size = 1;
        options.spare_count = 1 + (kind >> 5) % 2;
    }
    phx_status status = phx_planner_new(on->tree, &options, &on->planner);
    if (status == PHX_NOT_BUDDY) {
        options.alignment = PHX_EXACT;
        status = phx_planner_new(on->tree, &options, &on->planner);
    }
    on->buddy = options.alignment;
    return status == PHX_OK;
}

void *copy_of(const phx_planner *planner, size_t *size)
{
    *size = phx_planner_save_bytes(planner);
    void *bytes = malloc(*size);
    require(bytes != NULL && phx_planner_save(planner, bytes, *size) == PHX_OK, "save");
    return bytes;
}

void require_same(const phx_planner *planner, void *before, size_t size, const char *what)
{
    size_t now_size = 0;
    void *now = copy_of(planner, &now_size);
    require(now_size == size && memcmp(now, before, size) == 0, what);
    free(now);
    free(before);
}
