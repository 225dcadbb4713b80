#include "bench.h"

#define DEPTH 4

/* Builds a tree from the child counts of each level's vertices, level after level from 1. */
static phx_tree *tree_of(const uint32_t *counts, const uint32_t *children)
{
    uint32_t entries = 0;
    for (uint32_t level = 1; level <= DEPTH; ++level) {
        entries += counts[level] + 1;
    }
    uint32_t *first = malloc(sizeof *first * entries);
    CHECK(first != NULL);
    uint32_t *at = first;
    for (uint32_t level = 1; level <= DEPTH; ++level) {
        *at = 0;
        for (uint32_t vertex = 0; vertex < counts[level]; ++vertex, ++at) {
            at[1] = at[0] + *children++;
        }
        CHECK(*at == counts[level - 1]);
        ++at;
    }
    phx_tree *tree = NULL;
    CHECK(phx_tree_new(DEPTH, counts, first, NULL, &tree) == PHX_OK);
    free(first);
    return tree;
}

phx_tree *uniform_tree(uint32_t leaves)
{
    const int small = is_small(leaves);
    const uint32_t hosts_a_rail = small ? 16 : 32;
    const uint32_t rails_a_pod = small ? 2 : 8;
    const uint32_t pods = leaves / 8 / hosts_a_rail / rails_a_pod;
    const uint32_t rails = pods * rails_a_pod;
    const uint32_t counts[DEPTH + 1] = {leaves, leaves / 8, rails, pods, 1};
    uint32_t *children = malloc(sizeof *children * (leaves / 8 + rails + pods + 1));
    CHECK(children != NULL);
    uint32_t at = 0;
    for (uint32_t host = 0; host < leaves / 8; ++host) {
        children[at++] = 8;
    }
    for (uint32_t rail = 0; rail < rails; ++rail) {
        children[at++] = hosts_a_rail;
    }
    for (uint32_t pod = 0; pod < pods; ++pod) {
        children[at++] = rails_a_pod;
    }
    children[at] = pods;
    phx_tree *tree = tree_of(counts, children);
    free(children);
    return tree;
}

/* Cuts `total` into runs of low..high, written to `out`; how many there are. */
static uint32_t cut(uint32_t total, uint32_t low, uint32_t high, uint64_t *state, uint32_t *out)
{
    uint32_t runs = 0;
    while (total > 0) {
        const uint32_t wanted = low + random_below(state, high - low + 1);
        out[runs] = wanted < total ? wanted : total;
        total -= out[runs++];
    }
    return runs;
}

phx_tree *irregular_tree(uint32_t hosts, uint64_t seed)
{
    uint32_t *children = malloc(sizeof *children * (3 * hosts + 1));
    CHECK(children != NULL);
    uint32_t counts[DEPTH + 1] = {0, hosts, 0, 0, 1};
    for (uint32_t host = 0; host < hosts; ++host) {
        children[host] = random_below(&seed, 32) == 0 ? 4 : 8;
        counts[0] += children[host];
    }
    counts[2] = cut(hosts, 1, 64, &seed, children + hosts);
    counts[3] = cut(counts[2], 4, 40, &seed, children + hosts + counts[2]);
    children[hosts + counts[2] + counts[3]] = counts[3];
    phx_tree *tree = tree_of(counts, children);
    free(children);
    return tree;
}

phx_planner *planner_of(const phx_tree *tree, uint32_t alignment, uint32_t spares_of_pod)
{
    const phx_options options = {alignment, spares_of_pod ? POD_LEVEL : PHX_NONE, HOST_LEVEL,
                                 spares_of_pod};
    phx_planner *planner = NULL;
    CHECK(phx_planner_new(tree, &options, &planner) == PHX_OK);
    return planner;
}

phx_request request_of(const phx_planner *planner, uint32_t ranks, uint32_t group)
{
    const phx_gang gang = {ranks, group, HOST_LEVEL, PHX_NONE, PHX_NONE, PHX_NEAR, PHX_SMALLEST};
    phx_request request;
    CHECK(phx_request_init(planner, &gang, &request) == PHX_OK);
    return request;
}

lists lists_with_spares(uint32_t leaves)
{
    const uint32_t pod = is_small(leaves) ? 256 : 2048;
    lists buddy = lists_new(leaves);
    while (lists_take(&buddy, order_of(pod)) != LISTS_NONE) {
    }
    for (uint32_t host = 0; host < leaves / 8; ++host) {
        if ((host + 1) % (pod / 8) != 0) {
            lists_give(&buddy, 8 * host, 3);
        }
    }
    return buddy;
}

fill_result fill(phx_planner *planner, const settings *run, uint32_t size_min, uint32_t size_max,
                 uint32_t *slots, series *samples)
{
    const uint32_t low = order_of(size_min);
    const uint32_t orders = order_of(size_max) - low + 1;
    phx_request requests[LISTS_ORDERS];
    for (uint32_t at = 0; at < orders; ++at) {
        requests[at] = request_of(planner, size_min << at, 8);
    }
    fill_result result = {0, 0, 0, 0};
    uint64_t state = run->seed;
    for (uint32_t tries = 0; tries < run->leaves; ++tries) {
        const uint32_t at = random_below(&state, orders);
        const uint64_t before = tick_start();
        const int64_t decision = phx_place(planner, &requests[at]);
        const uint64_t ticks = tick_end() - before;
        result.checksum = fold(result.checksum, decision);
        if (decision < 0) {
            CHECK(decision == -PHX_MISFIT);
            ++result.refused;
            continue;
        }
        if (samples != NULL) {
            series_add(samples, ticks);
        }
        slots[result.gangs++] = (uint32_t)decision & 0x1fffffu;
        result.used += size_min << at;
        if (10 * (uint64_t)result.used >= 9 * (uint64_t)run->leaves) {
            break;
        }
    }
    return result;
}
