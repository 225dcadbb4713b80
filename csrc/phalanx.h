/* phalanx.h: place gangs of GPUs on a tree of bandwidth domains, and repair them.
 *
 * A tree has levels 0..depth; level 0 holds the leaves (GPUs) in address order, every vertex above
 * covers a run of vertices of the level below. A block (level, m) is 2^m consecutive, aligned,
 * wholly free children of one vertex of that level; a whole vertex is a block as well:
 *
 *      rack      [ o o o o   . . o o | o o ]      18 trays split as 16 + 2: blocks 1 2 4 8 16
 *      tray       oooo oo.. oooo ....             4 leaves each:            blocks 1 2 | 4
 *
 * Free space is one bit a leaf. All else (wholly free vertices, maximal blocks, counts) is derived
 * from it and kept current, so the state is a function of the set of free leaves.
 *
 * Cost: place and release of one block O(levels); a packed gang O(hosts) at worst. One arena a
 * planner: no allocation after phx_planner_new, no recursion, no globals.
 * Threads: one owner a planner; callers serialise.
 */
#ifndef PHALANX_H
#define PHALANX_H

#include "model.h"

/* cffi:begin */
/* The rule's name in one word, "OK" to "GAVE_UP"; "UNKNOWN" for any other value. */
const char *phx_status_name(int status);

/* counts[level] vertices at level 0..depth; `first` holds, level after level from 1 to depth, the
 * counts[level] + 1 indexes of each vertex's first child; `phantom` (may be NULL) holds one byte a
 * vertex in the same order (without the + 1): 1 = stands in for a domain the leaves below do not
 * have, so it can serve no constraint of its level. */
phx_status phx_tree_new(uint32_t depth, const uint32_t *counts, const uint32_t *first,
                        const uint8_t *phantom, phx_tree **out);
/* NIC rail of every leaf, 0..63, copied; repairs then put a rank on the rail it had where the tree
 * allows. Without it a leaf's place in its host stands for its rail. Call before any planner. */
phx_status phx_tree_set_rails(phx_tree *tree, const uint8_t *rails);
void phx_tree_free(phx_tree *tree);
uint32_t phx_tree_leaf_count(const phx_tree *tree);
uint32_t phx_tree_depth(const phx_tree *tree);
uint64_t phx_tree_fingerprint(const phx_tree *tree);
size_t phx_tree_bytes(const phx_tree *tree);
/* Level of the lowest vertex that holds both leaves; depth + 1 across trees. */
uint32_t phx_tree_distance(const phx_tree *tree, uint32_t leaf_a, uint32_t leaf_b);

phx_status phx_planner_new(const phx_tree *tree, const phx_options *options, phx_planner **out);
void phx_planner_free(phx_planner *planner);
size_t phx_planner_bytes(const phx_planner *planner);
/* Bytes a decision reads and writes, without and with the owners of hosts. */
size_t phx_planner_core_bytes(const phx_planner *planner, int with_hosts);
/* Domains that hold fewer spares than asked. */
uint32_t phx_planner_short_domains(const phx_planner *planner);

phx_status phx_request_init(const phx_planner *planner, const phx_gang *gang, phx_request *out);
/* Slices of the gang, innermost first: each size divides the next, the group the first and the last
 * the ranks; levels do not fall, from the group's to `within`. */
phx_status phx_request_slices(const phx_planner *planner, phx_request *request,
                              const phx_slice *slices, uint32_t count);
/* Spread over the fewest vertices of a level, evenly: a preference, never a condition. */
phx_status phx_request_balance(const phx_planner *planner, phx_request *request, uint32_t level);

/* Parts that are placed together under one vertex of `within`, all or nothing; the gang's ranks are
 * theirs, part after part, and have no group or slices of their own. Each part was resolved with
 * the gang's `within` and its ranks are whole slices. The request refers to `parts` and to
 * PHX_PARTS_WORDS words of `scratch`, which the caller keeps. Placing writes the scratch; without
 * one (NULL) only parts that fit one after the other are found. */
phx_status phx_request_parts(const phx_planner *planner, phx_request *request,
                             const phx_part *parts, uint32_t count, uint32_t *scratch);

/* Place one gang. Result >= 0: handle's slot in bits 0..20, first leaf in bits 21..41, level in
 * bits 42..46, bit 47 set when the ranks are more than one run of leaves. Result < 0: minus a
 * phx_status, state unchanged. */
int64_t phx_place(phx_planner *planner, const phx_request *request);
/* The same under limits: limits[level] is NULL or one int32 a vertex of that level (at most so many
 * leaves of this gang below it). apply = 0 changes nothing and writes runs only; room in runs is
 * `room` entries, *count is what it takes. */
int64_t phx_place_limited(phx_planner *planner, const phx_request *request,
                          const int32_t *const *limits, int apply, phx_run *runs, uint32_t room,
                          uint32_t *count);
/* Place many gangs of one shape, sizes[i] ranks each: handles[i] or -1, levels[i], and the leaves
 * of gang i in leaves[offsets[i] .. offsets[i + 1]]. Sizes that are not multiples of the group:
 * PHX_BAD_GANG and nothing is placed. */
phx_status phx_place_many(phx_planner *planner, const phx_gang *gang, const uint32_t *sizes,
                          uint32_t size_count, int64_t *handles, int32_t *levels, int64_t *offsets,
                          int32_t *leaves);
/* Take exactly these leaves, in rank order. */
int64_t phx_adopt(phx_planner *planner, const phx_request *request, const uint32_t *leaves);

phx_status phx_release(phx_planner *planner, uint32_t slot);
/* Handles that phx_place_many gave; checked all before any is released. */
phx_status phx_release_many(phx_planner *planner, const int64_t *handles, uint32_t handle_count);
uint32_t phx_gang_is_unnamed(const phx_planner *planner, uint32_t slot); /* placed by a batch */
int64_t phx_handle(const phx_planner *planner, uint32_t slot);

/* Leaves of a gang in rank order, ranks entries; runs the same as runs. */
phx_status phx_gang_leaves(const phx_planner *planner, uint32_t slot, uint32_t *leaves);
phx_status phx_gang_runs(const phx_planner *planner, uint32_t slot, phx_run *runs, uint32_t room,
                         uint32_t *count);
uint32_t phx_gang_ranks(const phx_planner *planner, uint32_t slot);
/* What a repair keeps to: ranks, group, group_level and within; the rest as a gang without wishes.
 */
phx_status phx_gang_shape(const phx_planner *planner, uint32_t slot, phx_gang *out);
uint32_t phx_gang_level(const phx_planner *planner, uint32_t slot);

/* Bits 0..1 phx_owner_kind, 2..3 phx_health, 4 cordoned, 5 available, 8..31 the gang's slot. */
uint32_t phx_leaf_state(const phx_planner *planner, uint32_t leaf);
/* The same for leaves first .. first + count - 1. */
void phx_leaf_states(const phx_planner *planner, uint32_t first, uint32_t count, uint32_t *out);

/* Change the health or cordon of leaves; owners[i] is the slot that holds leaf i, or PHX_NONE. */
phx_status phx_health_change(phx_planner *planner, phx_change change, const uint32_t *leaves,
                             uint32_t leaf_count, uint32_t *owners);
phx_status phx_quarantine_release(phx_planner *planner, const uint32_t *leaves,
                                  uint32_t leaf_count);

/* Repair a gang whose leaves are down, or are listed in `failed` (runs of leaves it holds). Moves
 * are written in rank order of their units; PHX_MISFIT with *repair filled when it cannot be done
 * whole. */
phx_status phx_replan(phx_planner *planner, uint32_t slot, const phx_run *failed,
                      uint32_t failed_count, const int32_t *const *limits, uint32_t flags,
                      phx_move *moves, uint32_t room, phx_repair *repair);
/* The same for a gang whose request has slices or parts: the planner does not keep them. */
phx_status phx_replan_sliced(phx_planner *planner, uint32_t slot, const phx_request *request,
                             const phx_run *failed, uint32_t failed_count,
                             const int32_t *const *limits, uint32_t flags, phx_move *moves,
                             uint32_t room, phx_repair *repair);
/* Commit moves made with apply off; the leaves in `failed` are marked down with them. */
phx_status phx_apply(phx_planner *planner, uint32_t slot, const phx_move *moves,
                     uint32_t move_count, const phx_run *failed, uint32_t failed_count);
/* The same for a gang whose request has slices or parts, which the moves must keep. */
phx_status phx_apply_sliced(phx_planner *planner, uint32_t slot, const phx_request *request,
                            const phx_move *moves, uint32_t move_count, const phx_run *failed,
                            uint32_t failed_count);

/* Drop all ranks but these runs of them, in order and in whole groups; the others' leaves go to
 * quarantine, and the ranks that stay are numbered anew in order. */
phx_status phx_shrink(phx_planner *planner, uint32_t slot, const phx_run *kept, uint32_t count);
/* Where so many ranks more could go (`more`: their number, and the gang's chain), as near the gang
 * as may be; limits bind the whole gang. Changes nothing. */
phx_status phx_grow_plan(phx_planner *planner, uint32_t slot, const phx_request *more,
                         const int32_t *const *limits, phx_run *runs, uint32_t room,
                         uint32_t *count);
/* Take these leaves for ranks behind the last one. */
phx_status phx_grow(phx_planner *planner, uint32_t slot, const phx_request *more,
                    const phx_run *runs, uint32_t count);

/* Why a request is refused: writes up to `room` records, *count of them, and the code. */
phx_status phx_explain(phx_planner *planner, const phx_request *request,
                       const int32_t *const *limits, phx_level_record *records, uint32_t room,
                       uint32_t *count, uint32_t *code);

/* Available leaves; the most leaves one available block inside a vertex of `level` has, and its
 * first leaf (PHX_NONE when there is none). */
uint32_t phx_free_leaves(const phx_planner *planner, uint32_t level, int32_t *per_vertex);
phx_run phx_largest_block(const phx_planner *planner, uint32_t level);

phx_status phx_planner_clone(const phx_planner *planner, phx_planner **out);
/* Copy free space, index and owners of hosts into a planner of the same tree, for what-if
 * questions: `to` must hold no gangs, and its own gangs are all it can release. */
phx_status phx_planner_probe(phx_planner *to, const phx_planner *from);
size_t phx_planner_save_bytes(const phx_planner *planner);
phx_status phx_planner_save(const phx_planner *planner, void *bytes, size_t size);
phx_status phx_planner_load(const phx_tree *tree, const void *bytes, size_t size,
                            phx_planner **out);
/* Recompute every invariant from scratch. PHX_OK, or PHX_BROKEN and *reason "S2: ..." . */
phx_status phx_planner_validate(const phx_planner *planner, const char **reason);
/* cffi:end */

#endif
