#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define FANOUT_MAX 64

/* One level while it is being built: children by `first`, `visible` = caller's level. */
typedef struct draft {
    uint32_t count;
    uint32_t *first; /* count + 1, owned */
    const uint8_t *phantom;
    uint8_t hidden;
    uint8_t visible;
} draft;

static uint8_t shift_of(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0 ? (uint8_t)phx_ctz(value) : (uint8_t)255;
}

static uint64_t hash_words(uint64_t hash, const uint32_t *words, size_t count)
{
    for (size_t at = 0; at < count; ++at) {
        hash = (hash ^ words[at]) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

static int level_is_sound(const uint32_t *first, uint32_t count, uint32_t below)
{
    if (first[0] != 0 || first[count] != below) {
        return 0;
    }
    for (uint32_t vertex = 0; vertex < count; ++vertex) {
        if (first[vertex + 1] <= first[vertex]) {
            return 0;
        }
    }
    return 1;
}

static uint32_t widest(const draft *level)
{
    uint32_t most = 0;
    for (uint32_t vertex = 0; vertex < level->count; ++vertex) {
        const uint32_t fanout = level->first[vertex + 1] - level->first[vertex];
        most = fanout > most ? fanout : most;
    }
    return most;
}

/* Cut the children of every vertex into runs of 64: `below` gets the runs, `level` holds runs. */
static int split_level(draft *level, draft *below)
{
    uint32_t runs = 0;
    for (uint32_t vertex = 0; vertex < level->count; ++vertex) {
        runs += (level->first[vertex + 1] - level->first[vertex] + FANOUT_MAX - 1) / FANOUT_MAX;
    }
    uint32_t *run_first = malloc(((size_t)runs + 1) * sizeof *run_first);
    uint32_t *first = malloc(((size_t)level->count + 1) * sizeof *first);
    if (run_first == NULL || first == NULL) {
        free(run_first);
        free(first);
        return 0;
    }
    uint32_t run = 0;
    for (uint32_t vertex = 0; vertex < level->count; ++vertex) {
        first[vertex] = run;
        for (uint32_t at = level->first[vertex]; at < level->first[vertex + 1]; at += FANOUT_MAX) {
            run_first[run++] = at;
        }
    }
    first[level->count] = run;
    run_first[run] = level->first[level->count];
    free(level->first);
    level->first = first;
    *below = (draft){runs, run_first, NULL, 1, level->visible};
    return 1;
}

/* Reads the caller's levels into drafts, with hidden levels put in; number of levels or 0. */
static uint32_t make_drafts(uint32_t depth, const uint32_t *counts, const uint32_t *first,
                            const uint8_t *phantom, draft *drafts, phx_status *status)
{
    uint32_t made = 0;
    for (uint32_t level = 1; level <= depth; ++level) {
        const uint32_t count = counts[level];
        *status = PHX_BAD_TREE;
        if (count == 0 || count > counts[level - 1] ||
            !level_is_sound(first, count, counts[level - 1])) {
            return 0;
        }
        draft top = {count, malloc(((size_t)count + 1) * sizeof *first), phantom, 0,
                     (uint8_t)level};
        *status = PHX_NO_MEMORY;
        if (top.first == NULL) {
            return 0;
        }
        memcpy(top.first, first, ((size_t)count + 1) * sizeof *first);
        while (widest(&top) > FANOUT_MAX) {
            if (made + 2 > PHX_DEPTH_MAX || !split_level(&top, &drafts[made])) {
                *status = made + 2 > PHX_DEPTH_MAX ? PHX_BAD_TREE : PHX_NO_MEMORY;
                free(top.first);
                drafts[made].first = NULL;
                return 0;
            }
            ++made;
        }
        if (made >= PHX_DEPTH_MAX) {
            *status = PHX_BAD_TREE;
            free(top.first);
            return 0;
        }
        drafts[made++] = top;
        first += (size_t)count + 1;
        phantom = phantom == NULL ? NULL : phantom + count;
    }
    *status = PHX_OK;
    return made;
}

/* Copies a level's arrays into the tree's arena where they are not constant. */
static void *copy_array(char **arena, const uint32_t *from, size_t count)
{
    void *to = *arena;
    memcpy(to, from, count * sizeof *from);
    *arena += ((count * sizeof *from) + 7) / 8 * 8;
    return to;
}

static void fill_level(phx_tree *tree, uint32_t at, const draft *from, char **arena)
{
    phx_level *level = &tree->level[at];
    const phx_level *below = &tree->level[at - 1];
    level->count = from->count;
    level->hidden = from->hidden;
    level->visible = from->visible;
    level->fanout = from->first[1] - from->first[0];
    uint32_t *leaf_first = (uint32_t *)(void *)*arena; /* kept only when it is not constant */
    leaf_first[0] = 0;
    level->leaves = 0;
    int same_leaves = 1;
    for (uint32_t vertex = 0; vertex < from->count; ++vertex) {
        const uint32_t fanout = from->first[vertex + 1] - from->first[vertex];
        const uint32_t end = from->first[vertex + 1];
        leaf_first[vertex + 1] = below->leaves != 0 ? end * below->leaves : below->leaf_first[end];
        const uint32_t leaves = leaf_first[vertex + 1] - leaf_first[vertex];
        level->fanout_max = fanout > level->fanout_max ? fanout : level->fanout_max;
        level->leaves_max = leaves > level->leaves_max ? leaves : level->leaves_max;
        level->fanout = fanout == level->fanout ? fanout : 0;
        same_leaves = same_leaves && leaves == leaf_first[1];
    }
    level->leaves = same_leaves ? leaf_first[1] : 0;
    if (level->leaves == 0) {
        level->leaf_first = leaf_first;
        *arena += (((size_t)from->count + 1) * sizeof *leaf_first + 7) / 8 * 8;
    }
    level->fanout_shift = shift_of(level->fanout);
    level->leaves_shift = shift_of(level->leaves);
    if (level->fanout == 0) {
        level->first = copy_array(arena, from->first, (size_t)from->count + 1);
        uint32_t *parent = (uint32_t *)(void *)*arena;
        for (uint32_t vertex = 0; vertex < from->count; ++vertex) {
            for (uint32_t at_child = from->first[vertex]; at_child < from->first[vertex + 1];
                 ++at_child) {
                parent[at_child] = vertex;
            }
        }
        tree->level[at - 1].parent = parent;
        *arena += ((size_t)below->count * sizeof *parent + 7) / 8 * 8;
    }
    if (from->phantom != NULL) {
        uint64_t *bits = (uint64_t *)(void *)*arena;
        memset(bits, 0, PHX_WORDS((size_t)from->count) * sizeof *bits);
        for (uint32_t vertex = 0; vertex < from->count; ++vertex) {
            if (from->phantom[vertex] != 0) {
                phx_bit_set(bits, vertex);
                ++level->phantoms;
            }
        }
        if (level->phantoms != 0) {
            level->phantom = bits;
            *arena += PHX_WORDS((size_t)from->count) * sizeof *bits;
        }
    }
}

/* Orders of one byte from the definition: aligned runs no wider aligned run contains. */
static void fill_orders_of_byte(phx_tree *tree)
{
    for (uint32_t mask = 0; mask < 256; ++mask) {
        uint32_t covered = 0;
        uint32_t orders = 0;
        for (uint32_t order = 3; order-- > 0;) {
            const uint32_t width = 1u << order;
            for (uint32_t at = 0; at < 8; at += width) {
                const uint32_t run = ((1u << width) - 1) << at;
                if ((mask & run) == run && (covered & run) == 0) {
                    orders |= 1u << order;
                    covered |= run;
                }
            }
        }
        tree->orders_of_byte[mask] = (uint8_t)orders;
    }
}

static void fill_shapes(phx_tree *tree)
{
    tree->shape_count = 0;
    tree->uniform = 1;
    tree->buddy = 1;
    for (uint32_t at = 1; at <= tree->depth; ++at) {
        const phx_level *level = &tree->level[at];
        tree->uniform &= level->fanout != 0;
        tree->buddy &= level->fanout_shift != 255;
        tree->shape_base[at] = (uint8_t)tree->shape_count;
        for (uint32_t order = 0; (1u << order) < level->fanout_max; ++order) {
            const phx_level *below = &tree->level[at - 1];
            tree->shape[tree->shape_count++] =
                (phx_shape){(uint8_t)at, (uint8_t)order, level->leaves_shift, below->leaves_shift,
                            below->leaves << order};
            ++tree->order_count[at];
        }
    }
    const phx_level *top = &tree->level[tree->depth];
    tree->shape_base[tree->depth + 1] = (uint8_t)tree->shape_count;
    tree->shape[tree->shape_count++] = (phx_shape){(uint8_t)(tree->depth + 1), 0, top->leaves_shift,
                                                   top->leaves_shift, top->leaves};
    tree->order_count[tree->depth + 1] = 1;
    for (uint32_t at = 0; at <= tree->depth; ++at) {
        tree->leaves_shift[at] = tree->level[at].leaves_shift;
    }
    for (uint32_t at = tree->depth + 1; at <= PHX_DEPTH_MAX; ++at) {
        tree->leaves_shift[at] = 31;
    }
    if (tree->buddy) {
        tree->blocks = tree->shape_count;
        const uint32_t above_hosts = tree->depth < 2 ? 0 : tree->leaves_shift[2];
        tree->narrow = above_hosts <= PHX_ORDERS ? above_hosts : PHX_ORDERS + 1;
        for (uint32_t size = tree->leaves_shift[1]; size < tree->narrow; ++size) {
            tree->narrow_hosts[size] = phx_low_power(size - tree->leaves_shift[1]);
        }
    }
}

static size_t arena_bytes(const draft *drafts, uint32_t made, uint32_t leaves)
{
    size_t bytes = 64;
    uint32_t below = leaves;
    for (uint32_t at = 0; at < made; ++at) {
        bytes += ((size_t)drafts[at].count + 2) * 2 * sizeof(uint32_t);
        bytes += ((size_t)below + 2) * sizeof(uint32_t);
        bytes += (PHX_WORDS((size_t)drafts[at].count) + 1) * sizeof(uint64_t);
        below = drafts[at].count;
    }
    return bytes;
}

phx_status phx_tree_new(uint32_t depth, const uint32_t *counts, const uint32_t *first,
                        const uint8_t *phantom, phx_tree **out)
{
    *out = NULL;
    if (depth == 0 || depth > PHX_LEVELS_MAX - 1 || counts[0] == 0 || counts[0] > PHX_LEAVES_MAX) {
        return PHX_BAD_TREE;
    }
    draft drafts[PHX_DEPTH_MAX + 1] = {{0, NULL, NULL, 0, 0}};
    phx_status status = PHX_OK;
    const uint32_t made = make_drafts(depth, counts, first, phantom, drafts, &status);
    phx_tree *tree = NULL;
    if (status == PHX_OK) {
        const size_t bytes = sizeof *tree + arena_bytes(drafts, made, counts[0]);
        tree = calloc(1, bytes);
        status = tree == NULL ? PHX_NO_MEMORY : PHX_OK;
    }
    if (tree != NULL) {
        char *arena = (char *)tree + (sizeof *tree + 7) / 8 * 8;
        tree->depth = made;
        tree->visible_depth = depth;
        tree->level[0] = (phx_level){counts[0], 1, 1, 1, 1, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL};
        tree->fingerprint = hash_words(UINT64_C(0xcbf29ce484222325), counts, depth + 1);
        for (uint32_t at = 1; at <= made; ++at) {
            fill_level(tree, at, &drafts[at - 1], &arena);
            if (!drafts[at - 1].hidden) {
                tree->internal[drafts[at - 1].visible] = (uint8_t)at;
            }
            tree->fingerprint = hash_words(tree->fingerprint, drafts[at - 1].first,
                                           (size_t)drafts[at - 1].count + 1);
            for (uint32_t v = 0; drafts[at - 1].phantom != NULL && v < drafts[at - 1].count; ++v) {
                const uint32_t stand_in = drafts[at - 1].phantom[v] != 0 ? v + 1 : 0;
                tree->fingerprint = hash_words(tree->fingerprint, &stand_in, 1);
            }
        }
        tree->bytes = (size_t)(arena - (char *)tree);
        fill_orders_of_byte(tree);
        fill_shapes(tree);
    }
    for (uint32_t at = 0; at <= PHX_DEPTH_MAX; ++at) {
        free(drafts[at].first);
    }
    *out = tree;
    return status;
}

phx_status phx_tree_set_rails(phx_tree *tree, const uint8_t *rails)
{
    uint8_t *copy = malloc(tree->level[0].count);
    if (copy == NULL) {
        return PHX_NO_MEMORY;
    }
    memcpy(copy, rails, tree->level[0].count);
    free(tree->rails);
    tree->rails = copy;
    return PHX_OK;
}

void phx_tree_free(phx_tree *tree)
{
    if (tree != NULL) {
        free(tree->rails);
    }
    free(tree);
}

uint32_t phx_tree_leaf_count(const phx_tree *tree)
{
    return tree->level[0].count;
}

uint32_t phx_tree_depth(const phx_tree *tree)
{
    return tree->visible_depth;
}

uint64_t phx_tree_fingerprint(const phx_tree *tree)
{
    return tree->fingerprint;
}

size_t phx_tree_bytes(const phx_tree *tree)
{
    return tree->bytes;
}

uint32_t phx_common_level(const phx_tree *tree, uint32_t leaf_a, uint32_t leaf_b)
{
    uint32_t level = 0;
    while (leaf_a != leaf_b && level < tree->depth) {
        leaf_a = phx_parent(tree, level, leaf_a);
        leaf_b = phx_parent(tree, level, leaf_b);
        ++level;
    }
    return leaf_a == leaf_b ? level : tree->depth + 1;
}

uint32_t phx_tree_distance(const phx_tree *tree, uint32_t leaf_a, uint32_t leaf_b)
{
    const uint32_t level = phx_common_level(tree, leaf_a, leaf_b);
    return level > tree->depth ? tree->visible_depth + 1 : tree->level[level].visible;
}
