/* Plain C: place a gang, lose a host, repair it. No Python anywhere.
 *
 *     cc -std=c11 -Icsrc csrc/[a-z]*.c examples/embed.c -lm -o embed && ./embed
 */
#include "phalanx.h"

#include <stdio.h>
#include <stdlib.h>

/* Two pods of four hosts with eight GPUs each. */
static phx_tree *make_tree(void)
{
    const uint32_t counts[4] = {64, 8, 2, 1};
    const uint32_t first[] = {0, 8, 16, 24, 32, 40, 48, 56, 64, /* hosts: their first GPU */
                              0, 4, 8,                          /* pods: their first host */
                              0, 2};                            /* the cluster: its first pod */
    phx_tree *tree = NULL;
    const phx_status status = phx_tree_new(3, counts, first, NULL, &tree);
    if (status != PHX_OK) {
        fprintf(stderr, "tree: %s\n", phx_status_name(status));
        exit(1);
    }
    return tree;
}

int main(void)
{
    phx_tree *tree = make_tree();
    const phx_options options = {PHX_EXACT, 2, 1, 1}; /* one spare host a pod */
    phx_planner *planner = NULL;
    phx_request request;
    const phx_gang gang = {24, 8, 1, 2, PHX_NONE, PHX_NEAR, PHX_SMALLEST}; /* in one pod */
    if (phx_planner_new(tree, &options, &planner) != PHX_OK ||
        phx_request_init(planner, &gang, &request) != PHX_OK) {
        return 1;
    }
    const int64_t placed = phx_place(planner, &request);
    if (placed < 0) {
        printf("refused: %s\n", phx_status_name((int)-placed));
        return 1;
    }
    const uint32_t slot = (uint32_t)(placed & 0x1fffff);
    printf("24 ranks on leaves %u.., level %u\n", (unsigned)(placed >> 21 & 0x1fffff),
           (unsigned)(placed >> 42 & 31));

    const phx_run lost = {8, 8}; /* the second host */
    phx_move moves[8];
    phx_repair repair;
    const phx_status status =
        phx_replan(planner, slot, &lost, 1, NULL, PHX_REPLAN_APPLY, moves, 8, &repair);
    printf("replan: %s, %u ranks move, spares used %u\n", phx_status_name((int)status),
           (unsigned)repair.moved, (unsigned)repair.spares_used);
    for (uint32_t at = 0; status == PHX_OK && at < repair.moves; ++at) {
        printf("  ranks %u..%u: leaves %u.. -> %u..\n", (unsigned)moves[at].rank,
               (unsigned)(moves[at].rank + moves[at].count - 1), (unsigned)moves[at].from,
               (unsigned)moves[at].to);
    }
    const char *reason = NULL;
    printf("state: %s\n", phx_planner_validate(planner, &reason) == PHX_OK ? "sound" : reason);
    phx_planner_free(planner);
    phx_tree_free(tree);
    return status == PHX_OK ? 0 : 1;
}
