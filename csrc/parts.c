#include "parts.h"

#include <string.h>

#define LAZY_TRIES 4 /* candidates looked into one by one before all of a level are */

/* Whether a part was resolved as the whole; a domain of its own must be its last slice. */
static int part_is_sound(const phx_tree *tree, const phx_request *whole, const phx_part *part)
{
    const phx_request *own = &part->request;
    const int held = own->within == whole->within && own->bounded == whole->bounded;
    int sound = (held || whole->within == 0) && own->aim == PHX_NEAR && own->part_count == 0;
    if (sound && part->within != PHX_NONE) {
        const phx_slice *end = own->slices + own->slice_count;
        sound = part->within <= tree->visible_depth && own->slice_count > 0 &&
                end[-1].size == own->ranks && end[-1].level == tree->internal[part->within];
    }
    return sound;
}

phx_status phx_request_parts(const phx_planner *planner, phx_request *request,
                             const phx_part *parts, uint32_t count, uint32_t *scratch)
{
    uint64_t ranks = 0;
    int sound = count > 0 && count <= PHX_PARTS_MAX && request->group == 1 &&
                request->slice_count == 0 && request->balanced == 0 && request->aim == PHX_NEAR &&
                planner->count->alignment == PHX_EXACT;
    for (uint32_t at = 0; sound && at < count; ++at) {
        ranks += parts[at].request.ranks;
        sound = part_is_sound(planner->tree, request, &parts[at]);
    }
    if (!sound || ranks != request->ranks) {
        return PHX_BAD_GANG;
    }
    request->parts = parts;
    request->part_count = count;
    request->scratch = scratch;
    request->quick = 0;
    return PHX_OK;
}

int phx_chain_covers(const phx_search *one, const phx_search *other)
{
    int covers = (other->named & ~one->named) == 0;
    for (uint32_t level = 0; level <= PHX_DEPTH_MAX && covers; ++level) {
        covers = one->unit[level] % other->unit[level] == 0;
    }
    return covers;
}

/* Whether a part goes before another: the larger unit at the highest level where they differ. */
static int is_coarser(const phx_search *one, const phx_search *other)
{
    for (uint32_t level = PHX_DEPTH_MAX + 1; level-- > 0;) {
        if (one->unit[level] != other->unit[level]) {
            return one->unit[level] > other->unit[level];
        }
    }
    return (other->named & ~one->named) == 0 && one->named != other->named;
}

void phx_team_start(phx_team *team, phx_planner *planner, const phx_request *whole,
                    const int32_t *const *limits)
{
    memset(team, 0, sizeof *team);
    team->planner = planner;
    team->whole = whole;
    team->limits = limits;
    team->nested = 1;
    for (uint32_t part = 0; part < whole->part_count; ++part) {
        team->chain[part] = phx_search_of(planner, &whole->parts[part].request);
        team->chain[part].named |= phx_part_names(planner->tree, &whole->parts[part]);
        team->head[part] = PHX_NONE;
        team->tail[part] = PHX_NONE;
        team->nested &= whole->parts[part].limits == NULL;
        uint32_t at = part;
        for (; at > 0 && is_coarser(&team->chain[part], &team->chain[team->order[at - 1]]); --at) {
            team->order[at] = team->order[at - 1];
        }
        team->order[at] = part;
    }
    for (uint32_t at = 1; at < whole->part_count; ++at) {
        const phx_search *before = &team->chain[team->order[at - 1]];
        team->nested &= (uint32_t)phx_chain_covers(before, &team->chain[team->order[at]]);
    }
}

void phx_team_append(phx_team *team, uint32_t part, phx_run run)
{
    phx_link *links = team->planner->links;
    const uint32_t tail = team->tail[part];
    phx_space_take(&team->planner->space, run.first, run.count);
    if (tail != PHX_NONE && tail + links[tail].count == run.first) {
        links[tail].count += run.count;
        return;
    }
    links[run.first] = (phx_link){0, run.count};
    if (tail == PHX_NONE) {
        team->head[part] = run.first;
    } else {
        links[tail].next = run.first + 1;
    }
    team->tail[part] = run.first;
}

/* The leaves of all parts are free again. */
static void drop_all(phx_team *team)
{
    phx_link *links = team->planner->links;
    for (uint32_t part = 0; part < team->whole->part_count; ++part) {
        uint32_t next = team->head[part] == PHX_NONE ? 0 : team->head[part] + 1;
        while (next != 0) {
            const uint32_t first = next - 1;
            const phx_link run = links[first];
            links[first] = (phx_link){0, 0};
            phx_space_give(&team->planner->space, first, run.count);
            next = run.next;
        }
        team->head[part] = PHX_NONE;
        team->tail[part] = PHX_NONE;
    }
}

/* Limits of the gang beside the leaves of the parts that have theirs, and of the part. */
static void load_limits(phx_team *team, phx_search *search, uint32_t part)
{
    phx_planner *planner = team->planner;
    phx_search_limit(planner, search, team->limits);
    phx_search_own_limits(planner, search);
    for (uint32_t other = 0; search->limited && other < team->whole->part_count; ++other) {
        uint32_t next = team->head[other] == PHX_NONE ? 0 : team->head[other] + 1;
        for (; next != 0; next = planner->links[next - 1].next) {
            phx_search_charge(planner, search, next - 1, planner->links[next - 1].count);
        }
    }
    if (!PHX_MUTANT_PART_UNLIMITED) {
        phx_search_narrow(planner, search, team->whole->parts[part].limits);
    }
}

/* Gives a part its leaves inside a vertex. */
static phx_status deal_part(phx_team *team, uint32_t part, uint32_t level, uint32_t vertex)
{
    phx_search search = team->chain[part];
    search.start = 1;
    search.within = level;
    search.bounded = 0;
    search.scope_level = level;
    search.scope_vertex = vertex;
    load_limits(team, &search, part);
    const phx_status status = phx_search_run(team->planner, &search);
    if (status != PHX_OK) {
        return status;
    }
    for (phx_run run = phx_pick_next(&search, search.low); run.count > 0;
         run = phx_pick_next(&search, run.first + run.count)) {
        phx_team_append(team, part, run);
    }
    phx_pick_clear(&search);
    return PHX_OK;
}

/* One part after the other, in one of their orders. */
static phx_status deal_in(phx_team *team, uint32_t order, uint32_t level, uint32_t vertex)
{
    const uint32_t count = team->whole->part_count;
    for (uint32_t step = 0; step < count; ++step) {
        const uint32_t part = team->order[phx_part_in_order(order, step, count)];
        if (deal_part(team, part, level, vertex) != PHX_OK) {
            drop_all(team);
            return PHX_MISFIT;
        }
    }
    return PHX_OK;
}

static phx_status deal_all(phx_team *team, uint32_t level, uint32_t vertex)
{
    const uint32_t tries = team->nested ? 1 : phx_part_orders(team->whole->part_count);
    for (uint32_t at = 0; at < tries; ++at) {
        const uint32_t order = team->nested && PHX_MUTANT_FINEST_FIRST ? 1 : at;
        if (deal_in(team, order, level, vertex) == PHX_OK) {
            return PHX_OK;
        }
    }
    if (team->nested || PHX_MUTANT_JOINT_SKIPPED) {
        return PHX_MISFIT;
    }
    const phx_status status = phx_joint_deal(team, level, vertex);
    if (status != PHX_OK && !PHX_MUTANT_DEAL_KEPT) {
        drop_all(team); /* it may give up half way down */
    }
    return status;
}

/* Whether a vertex could hold so many ranks of a chain, under its limits. */
static int could_take(phx_team *team, const phx_search *search)
{
    phx_planner *planner = team->planner;
    const uint32_t level = search->scope_level;
    const uint32_t vertex = search->scope_vertex;
    if (!phx_ancestors_allow(planner, search, level, vertex)) {
        return 0;
    }
    phx_caps_start(planner);
    phx_caps_fill(planner, search, level, vertex);
    return phx_cap_of(planner, level, vertex) >= search->need;
}

/* All ranks in units that divide those of every part. */
static phx_search common_chain(const phx_team *team)
{
    phx_search common = team->chain[team->order[team->whole->part_count - 1]];
    for (uint32_t part = 0; part < team->whole->part_count; ++part) {
        const phx_search *chain = &team->chain[part];
        common.named &= chain->named;
        for (uint32_t level = 0; level <= PHX_DEPTH_MAX; ++level) {
            uint32_t rest = chain->unit[level];
            while (rest != 0) { /* Euclid */
                const uint32_t next = common.unit[level] % rest;
                common.unit[level] = rest;
                rest = next;
            }
        }
    }
    common.need = team->whole->ranks;
    return common;
}

/* Whether the finest parts that a part's chain covers fit together, and it alone. */
static int part_could(phx_team *team, uint32_t part, uint32_t level, uint32_t vertex)
{
    const phx_request *whole = team->whole;
    phx_search search = team->chain[part];
    search.scope_level = level;
    search.scope_vertex = vertex;
    phx_search alone = search;
    search.need = 0;
    for (uint32_t other = 0; other < whole->part_count; ++other) {
        const int covers = phx_chain_covers(&team->chain[other], &team->chain[part]);
        search.need += covers ? whole->parts[other].request.ranks : 0;
    }
    phx_search_limit(team->planner, &search, team->limits);
    if (!could_take(team, &search)) {
        return 0;
    }
    if (whole->parts[part].limits == NULL) {
        return 1;
    }
    load_limits(team, &alone, part);
    return could_take(team, &alone);
}

/* What every placement of the parts in a vertex implies for one chain at a time; where the parts
 * nest, it is enough. */
static int could_hold(phx_team *team, uint32_t level, uint32_t vertex)
{
    phx_search search = common_chain(team);
    search.scope_level = level;
    search.scope_vertex = vertex;
    phx_search_limit(team->planner, &search, team->limits);
    int could = could_take(team, &search);
    for (uint32_t part = 0; part < team->whole->part_count && could; ++part) {
        could = part_could(team, part, level, vertex);
    }
    return could;
}

/* The vertex of a level behind (available, vertex) in the order of fewest available leaves that has
 * at least all the ranks; of `marked` ones only, unless that is NULL. */
static uint32_t next_vertex(const phx_team *team, uint32_t level, const uint64_t *marked,
                            uint32_t *available, uint32_t after)
{
    const phx_planner *planner = team->planner;
    const uint32_t count = planner->tree->level[level].count;
    for (uint32_t vertex = after == PHX_NONE ? count : after + 1; vertex < count; ++vertex) {
        if (phx_space_count(&planner->space, level, vertex) == *available &&
            (marked == NULL || phx_bit(marked, vertex))) {
            return vertex;
        }
    }
    const uint32_t floor = after == PHX_NONE ? team->whole->ranks : *available + 1;
    uint32_t best = PHX_NONE;
    for (uint32_t vertex = 0; vertex < count; ++vertex) {
        const uint32_t here = phx_space_count(&planner->space, level, vertex);
        if (here >= floor && (best == PHX_NONE || here < *available) &&
            (marked == NULL || phx_bit(marked, vertex))) {
            best = vertex;
            *available = here;
        }
    }
    return best;
}

static void mark_able(phx_team *team, uint32_t level)
{
    phx_planner *planner = team->planner;
    for (uint32_t vertex = 0; vertex < planner->tree->level[level].count; ++vertex) {
        if (phx_space_count(&planner->space, level, vertex) >= team->whole->ranks &&
            could_hold(team, level, vertex)) {
            phx_bit_set(planner->moving, vertex);
        }
    }
}

/* Leaves for all parts in one vertex of a level. */
static phx_status deal_level(phx_team *team, uint32_t level)
{
    phx_planner *planner = team->planner;
    const uint64_t *marked = NULL;
    uint32_t available = 0;
    uint32_t vertex = PHX_NONE;
    phx_status status = PHX_MISFIT;
    for (uint32_t tried = 0; status != PHX_OK; ++tried) {
        if (tried == LAZY_TRIES) {
            mark_able(team, level);
            marked = planner->moving;
        }
        vertex = next_vertex(team, level, marked, &available, vertex);
        if (vertex == PHX_NONE) {
            break;
        }
        if (marked != NULL || could_hold(team, level, vertex)) {
            const phx_status here = deal_all(team, level, vertex);
            status = here == PHX_MISFIT ? status : here;
        }
    }
    if (marked != NULL) {
        phx_bits_fill(planner->moving, 0, planner->tree->level[level].count, 0);
    }
    return status;
}

/* The part whose ranks come at a place among the parts: they keep their own order. */
static uint32_t part_at(const phx_team *team, uint32_t at)
{
    return PHX_MUTANT_PARTS_REORDERED ? team->order[at] : at;
}

/* Chains the parts in their own order; runs stay maximal. The first run. */
static uint32_t join_all(phx_team *team)
{
    phx_link *links = team->planner->links;
    uint32_t tail = team->tail[part_at(team, 0)];
    for (uint32_t at = 1; at < team->whole->part_count; ++at) {
        const uint32_t part = part_at(team, at);
        const uint32_t head = team->head[part];
        if (tail + links[tail].count != head) {
            links[tail].next = head + 1;
            tail = team->tail[part];
            continue;
        }
        links[tail].count += links[head].count;
        links[tail].next = links[head].next;
        links[head] = (phx_link){0, 0};
        tail = team->tail[part] == head ? tail : team->tail[part];
    }
    return team->head[part_at(team, 0)];
}

static phx_status write_chain(const phx_planner *planner, uint32_t head, phx_run *runs,
                              uint32_t room, uint32_t *count)
{
    *count = 0;
    for (uint32_t next = head + 1; next != 0; next = planner->links[next - 1].next) {
        if (*count < room) {
            runs[*count] = (phx_run){next - 1, planner->links[next - 1].count};
        }
        ++*count;
    }
    return *count <= room ? PHX_OK : PHX_NO_ROOM;
}

/* The chained leaves, which have left the free space, become a gang. */
static int64_t commit_chain(phx_planner *planner, const phx_request *request, uint32_t head)
{
    const uint32_t slot = phx_slot_new(planner, request, 0);
    phx_gang_slot *gang = &planner->gangs[slot];
    gang->head = head;
    for (uint32_t next = head + 1; next != 0; next = planner->links[next - 1].next) {
        phx_own(planner, next - 1, planner->links[next - 1].count, slot);
    }
    const uint32_t level = phx_span_level(planner, slot);
    phx_slot_set_level(gang, level);
    const uint64_t visible = planner->tree->level[level].visible;
    const uint64_t many = planner->links[head].next != 0;
    return (int64_t)((uint64_t)slot | ((uint64_t)head << 21) | (visible << 42) | (many << 47));
}

int64_t phx_place_parts(phx_planner *planner, const phx_request *request,
                        const int32_t *const *limits, int apply, phx_run *runs, uint32_t room,
                        uint32_t *count)
{
    phx_team team;
    phx_team_start(&team, planner, request, limits);
    phx_status status = PHX_MISFIT;
    int gave_up = 0;
    for (uint32_t level = request->start; level <= request->within && status != PHX_OK; ++level) {
        status = deal_level(&team, level);
        gave_up |= status == PHX_GAVE_UP;
    }
    if (status != PHX_OK) {
        return -(int64_t)(gave_up ? PHX_GAVE_UP : PHX_MISFIT);
    }
    const uint32_t head = join_all(&team);
    if (count != NULL) {
        status = write_chain(planner, head, runs, room, count);
    }
    if (apply && status == PHX_OK) {
        return commit_chain(planner, request, head);
    }
    for (uint32_t part = 1; part < request->part_count; ++part) {
        team.head[part] = PHX_NONE; /* the chain of the first goes through all of them now */
    }
    drop_all(&team);
    return -(int64_t)status;
}
