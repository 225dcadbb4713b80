/* Bytes: what a decision reads and writes, with the owners of hosts, and everything. */
#include "bench.h"

static void memory_row(const char *name, const settings *run, double bytes, double budget)
{
    row_begin(name, run);
    row_number("bytes", bytes);
    row_number("bytes_max", budget);
    row_end();
}

void suite_memory(const settings *run)
{
    phx_tree *tree = uniform_tree(run->leaves);
    phx_planner *planner = planner_of(tree, PHX_BUDDY, 1);
    const double kib = 1024.0;
    memory_row("memory/core", run, (double)phx_planner_core_bytes(planner, 0), 32 * kib);
    memory_row("memory/hosts", run, (double)phx_planner_core_bytes(planner, 1), 100 * kib);
    memory_row("memory/all", run, (double)(phx_planner_bytes(planner) + phx_tree_bytes(tree)),
               4096 * kib);
    phx_planner_free(planner);
    phx_tree_free(tree);
    if (run->leaves >= 131072) {
        settings large = *run;
        large.leaves = 1048576;
        tree = uniform_tree(large.leaves);
        planner = planner_of(tree, PHX_BUDDY, 1);
        memory_row("memory/1m", &large, (double)(phx_planner_bytes(planner) + phx_tree_bytes(tree)),
                   32768 * kib);
        phx_planner_free(planner);
        phx_tree_free(tree);
    }
}
