/* The one macro of the C unit tests: a condition that does not hold ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include "phalanx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_VALID(planner)                                                                       \
    do {                                                                                           \
        const char *why_ = NULL;                                                                   \
        if (phx_planner_validate((planner), &why_) != PHX_OK) {                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, why_);                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A tree whose vertices of each level all have the same fanout, widest level last. */
static inline phx_tree *even_tree(uint32_t depth, const uint32_t *fanouts)
{
    uint32_t counts[PHX_LEVELS_MAX] = {0};
    uint32_t total = 0;
    counts[depth] = 1;
    for (uint32_t level = depth; level > 0; --level) {
        counts[level - 1] = counts[level] * fanouts[level - 1];
        total += counts[level] + 1;
    }
    uint32_t *first = malloc(total * sizeof *first);
    uint32_t at = 0;
    for (uint32_t level = 1; level <= depth; ++level) {
        for (uint32_t vertex = 0; vertex <= counts[level]; ++vertex) {
            first[at++] = vertex * fanouts[level - 1];
        }
    }
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(depth, counts, first, NULL, &tree) == PHX_OK);
    free(first);
    return tree;
}

static inline phx_planner *new_planner(const phx_tree *tree, uint32_t alignment, uint32_t per,
                                       uint32_t size, uint32_t count)
{
    const phx_options options = {alignment, per, size, count};
    phx_planner *planner = NULL;
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_OK);
    return planner;
}

static inline phx_request request_of(const phx_planner *planner, uint32_t ranks, uint32_t group,
                                     uint32_t within)
{
    const phx_gang gang = {ranks, group, 1, within, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_request request;
    CHECK(phx_request_init(planner, &gang, &request) == PHX_OK);
    return request;
}

static inline uint32_t slot_of(int64_t placed)
{
    return (uint32_t)(placed & 0x1fffff);
}

static inline uint32_t first_of(int64_t placed)
{
    return (uint32_t)((placed >> 21) & 0x1fffff);
}

static inline uint32_t level_of(int64_t placed)
{
    return (uint32_t)((placed >> 42) & 31);
}

#endif
