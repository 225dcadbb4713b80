#include "planner.h"

#include <stdlib.h>
#include <string.h>

static const char *const STATUS_NAMES[] = {
    "OK",           "MISFIT",          "BAD_TREE",      "BAD_GANG",   "BAD_LEAF",   "LEAF_TWICE",
    "STALE_HANDLE", "NOT_OWNED",       "NOT_FREE",      "BAD_CHAIN",  "STALE_PLAN", "NO_ROOM",
    "NOT_BUDDY",    "BAD_SAVE",        "OTHER_VERSION", "OTHER_TREE", "NO_MEMORY",  "BAD_SPARES",
    "BROKEN",       "NOT_QUARANTINED", "GAVE_UP"};

const char *phx_status_name(int status)
{
    const int known = (int)(sizeof STATUS_NAMES / sizeof *STATUS_NAMES);
    return status >= 0 && status < known ? STATUS_NAMES[status] : "UNKNOWN";
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Lays arrays out one after the other; with a NULL base it only measures. */
typedef struct layout {
    char *base;
    size_t at;
} layout;

static void *lay(layout *plan, size_t count, size_t size)
{
    void *here = plan->base == NULL ? NULL : plan->base + plan->at;
    plan->at += padded(count * size);
    return here;
}

static void lay_out(phx_planner *planner, const phx_tree *tree, uint32_t spare_per,
                    uint32_t spare_size, layout *plan)
{
    const size_t leaves = tree->level[0].count;
    const size_t words = PHX_WORDS(leaves);
    const size_t hosts = tree->level[1].count;
    planner->count = lay(plan, 1, sizeof *planner->count);
    void *space = lay(plan, 1, phx_space_bytes(tree));
    if (plan->base != NULL) {
        phx_space_attach(&planner->space, tree, space);
    }
    planner->core_bytes = plan->at;
    planner->host_owner = lay(plan, hosts, sizeof *planner->host_owner);
    planner->host_bytes = plan->at;
    planner->leaf_owner = lay(plan, leaves, sizeof *planner->leaf_owner);
    planner->links = lay(plan, leaves, sizeof *planner->links);
    planner->gangs = lay(plan, leaves, sizeof *planner->gangs);
    planner->down = lay(plan, words, sizeof *planner->down);
    planner->suspect = lay(plan, words, sizeof *planner->suspect);
    planner->cordoned = lay(plan, words, sizeof *planner->cordoned);
    planner->quarantine = lay(plan, words, sizeof *planner->quarantine);
    const size_t spares = spare_per == PHX_NONE ? 0 : tree->level[spare_size].count;
    const size_t domains = spare_per == PHX_NONE ? 0 : tree->level[spare_per].count;
    planner->spare = lay(plan, PHX_WORDS(spares) + 1, sizeof *planner->spare);
    planner->spare_held = lay(plan, domains, sizeof *planner->spare_held);
    planner->spare_wanted = lay(plan, domains, sizeof *planner->spare_wanted);
    planner->spare_lowest = lay(plan, domains, sizeof *planner->spare_lowest);
    planner->saved_bytes = plan->at;
    planner->pick = lay(plan, words, sizeof *planner->pick);
    planner->taken = lay(plan, words, sizeof *planner->taken);
    planner->lost = lay(plan, words, sizeof *planner->lost);
    planner->moving = lay(plan, words, sizeof *planner->moving);
    planner->shifting = lay(plan, words, sizeof *planner->shifting);
    planner->opened = lay(plan, PHX_WORDS(spares) + 1, sizeof *planner->opened);
    planner->allowed = lay(plan, words, sizeof *planner->allowed);
    planner->known = lay(plan, PHX_WORDS(hosts), sizeof *planner->known);
    planner->cap_host = lay(plan, hosts, sizeof *planner->cap_host);
    planner->share = lay(plan, hosts, sizeof *planner->share);
    for (uint32_t level = 1; level <= tree->depth; ++level) {
        planner->limit[level] = lay(plan, tree->level[level].count, sizeof **planner->limit);
    }
    for (uint32_t level = 2; level <= tree->depth; ++level) {
        planner->cap[level] = lay(plan, tree->level[level].count, sizeof **planner->cap);
    }
}

phx_status phx_planner_make(const phx_tree *tree, uint32_t spare_per, uint32_t spare_size,
                            phx_planner **out)
{
    phx_planner measured;
    layout plan = {NULL, 0};
    lay_out(&measured, tree, spare_per, spare_size, &plan);
    const size_t head = padded(sizeof measured);
    phx_planner *planner = calloc(1, head + plan.at);
    *out = planner;
    if (planner == NULL) {
        return PHX_NO_MEMORY;
    }
    planner->tree = tree;
    planner->bytes = head + plan.at;
    planner->region = (char *)planner + head;
    plan = (layout){planner->region, 0};
    lay_out(planner, tree, spare_per, spare_size, &plan);
    return PHX_OK;
}

/* Levels of the options, resolved; PHX_OK or the rule they break. */
static phx_status resolve_spares(const phx_tree *tree, const phx_options *options, uint32_t *per,
                                 uint32_t *size)
{
    *per = PHX_NONE;
    *size = PHX_NONE;
    if (options->spare_per == PHX_NONE) {
        return PHX_OK;
    }
    if (options->spare_per > tree->visible_depth || options->spare_size >= options->spare_per ||
        options->spare_count == 0) {
        return PHX_BAD_SPARES;
    }
    *per = tree->internal[options->spare_per];
    *size = tree->internal[options->spare_size];
    return PHX_OK;
}

phx_status phx_planner_new(const phx_tree *tree, const phx_options *options, phx_planner **out)
{
    uint32_t per = PHX_NONE;
    uint32_t size = PHX_NONE;
    *out = NULL;
    if (options->alignment > PHX_BUDDY || (options->alignment == PHX_BUDDY && !tree->buddy)) {
        return PHX_NOT_BUDDY;
    }
    phx_status status = resolve_spares(tree, options, &per, &size);
    if (status == PHX_OK) {
        status = phx_planner_make(tree, per, size, out);
    }
    if (status != PHX_OK) {
        return status;
    }
    phx_planner *planner = *out;
    planner->count->alignment = options->alignment;
    planner->count->spare_per = per;
    planner->count->spare_size = size;
    planner->count->spare_count = per == PHX_NONE ? 0 : options->spare_count;
    phx_space_give(&planner->space, 0, tree->level[0].count);
    phx_spares_start(planner);
    /* Touch every page once: the first Replan after a start must not pay for page faults. */
    volatile char *page = planner->region;
    for (size_t at = 0; at < planner->bytes - padded(sizeof *planner); at += 4096) {
        page[at] = page[at];
    }
    return PHX_OK;
}

void phx_planner_free(phx_planner *planner)
{
    free(planner);
}

size_t phx_planner_bytes(const phx_planner *planner)
{
    return planner->bytes;
}

size_t phx_planner_core_bytes(const phx_planner *planner, int with_hosts)
{
    return with_hosts ? planner->host_bytes : planner->core_bytes;
}

uint32_t phx_planner_short_domains(const phx_planner *planner)
{
    uint32_t domains = 0;
    if (planner->count->spare_count != 0) {
        for (uint32_t at = 0; at < planner->tree->level[planner->count->spare_per].count; ++at) {
            domains += planner->spare_held[at] < planner->spare_wanted[at];
        }
    }
    return domains;
}

phx_status phx_planner_clone(const phx_planner *planner, phx_planner **out)
{
    const phx_counters *count = planner->count;
    const phx_status status =
        phx_planner_make(planner->tree, count->spare_per, count->spare_size, out);
    if (status == PHX_OK) {
        memcpy((*out)->region, planner->region, planner->saved_bytes);
    }
    return status;
}

phx_status phx_planner_probe(phx_planner *to, const phx_planner *from)
{
    if (to->tree != from->tree) {
        return PHX_OTHER_TREE;
    }
    if (to->count->gangs != 0) {
        return PHX_NOT_FREE;
    }
    if (to->count->spare_per != from->count->spare_per ||
        to->count->spare_size != from->count->spare_size) {
        return PHX_BAD_SPARES;
    }
    const uint32_t slot_free = to->count->slot_free;
    const uint32_t slot_fresh = to->count->slot_fresh;
    memcpy(to->region, from->region, from->host_bytes);
    to->count->slot_free = slot_free;
    to->count->slot_fresh = slot_fresh;
    to->count->gangs = 0;
    return PHX_OK;
}

uint32_t phx_free_leaves(const phx_planner *planner, uint32_t level, int32_t *per_vertex)
{
    const phx_tree *tree = planner->tree;
    if (per_vertex != NULL && level <= tree->visible_depth) {
        const uint32_t inner = tree->internal[level];
        for (uint32_t vertex = 0; vertex < tree->level[inner].count; ++vertex) {
            per_vertex[vertex] = (int32_t)phx_space_count(&planner->space, inner, vertex);
        }
    }
    return phx_space_total(&planner->space);
}

/* Leaves of the aligned run of 2^order children that starts at child `at` of a vertex. */
static phx_run run_leaves(const phx_tree *tree, uint32_t level, uint32_t child, uint32_t width)
{
    const uint32_t first = phx_leaf_first(tree, level - 1, child);
    const uint32_t last = child + width - 1;
    const uint32_t end =
        phx_leaf_first(tree, level - 1, last) + phx_leaf_count(tree, level - 1, last);
    return (phx_run){first, end - first};
}

phx_run phx_largest_block(const phx_planner *planner, uint32_t level)
{
    const phx_tree *tree = planner->tree;
    const uint32_t top = tree->internal[level];
    phx_run best = {PHX_NONE, 0};
    const uint64_t *whole = planner->space.whole[top];
    const uint32_t vertices = tree->level[top].count;
    for (uint32_t at = phx_bits_next(whole, 0, vertices); at < vertices;
         at = phx_bits_next(whole, at + 1, vertices)) {
        if (phx_leaf_count(tree, top, at) > best.count) {
            best = (phx_run){phx_leaf_first(tree, top, at), phx_leaf_count(tree, top, at)};
        }
    }
    for (uint32_t shape = 0; top > 0 && shape < tree->shape_base[top + 1]; ++shape) {
        const phx_shape *kind = &tree->shape[shape];
        const phx_set *set = &planner->space.index[shape];
        for (uint32_t at = phx_set_next(set, 0, set->size); at < set->size;
             at = phx_set_next(set, at + 1, set->size)) {
            uint64_t runs =
                phx_runs_of(phx_space_mask(&planner->space, kind->level, at), kind->order);
            for (; runs != 0; runs &= runs - 1) {
                const uint32_t child = phx_child_first(tree, kind->level, at) + phx_ctz(runs);
                const phx_run run = run_leaves(tree, kind->level, child, 1u << kind->order);
                if (run.count > best.count || (run.count == best.count && run.first < best.first)) {
                    best = run;
                }
            }
        }
    }
    return best;
}
