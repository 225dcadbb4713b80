/* Packed gangs: 512 ranks in groups of 8 on an irregular tree at 88 % load, plain, with limits of
 * hosts, in slices of 64 a leaf group, spread evenly over leaf groups, and as two parts. The
 * reference scans all hosts once and only names the lowest domain that could hold the gang: no
 * choice among several, no leaves, no state kept. */
#include "bench.h"

#define LEVELS 5
#define LEAF_GROUP_LEVEL 2
#define LIMIT_SETS 4
#define PEERS 6 /* sizes 8 << 0 .. 8 << 5 fill the cluster */

/* What binds the gang beside its groups. */
typedef enum bound { PLAIN, LIMITS, SLICES, BALANCED, PARTS, CROSSED } bound;

typedef struct field {
    phx_tree *tree;
    phx_planner *planner;
    uint32_t hosts;
    uint32_t leaves;
    uint32_t ranks; /* of the gang that is placed */
    uint32_t *slots;
    uint32_t gangs;
    uint64_t state;
    phx_request requests[PEERS];
    phx_request wanted;
    phx_part parts[2];
    uint32_t *scratch;
    int32_t *limits[LIMIT_SETS]; /* of hosts */
    int32_t *host_free;
    uint32_t *group_of; /* of each host, by the distance of neighbours */
} field;

static void add_gang(field *world)
{
    const uint32_t order = random_below(&world->state, PEERS);
    const int64_t decision = phx_place(world->planner, &world->requests[order]);
    if (decision >= 0) {
        world->slots[world->gangs++] = (uint32_t)decision & 0x1fffffu;
    }
}

static void drop_gang(field *world)
{
    const uint32_t at = random_below(&world->state, world->gangs);
    CHECK(phx_release(world->planner, world->slots[at]) == PHX_OK);
    world->slots[at] = world->slots[--world->gangs];
}

/* A quarter of the ranks in groups of 8 and the rest in groups of 4, placed together; crossed: the
 * rest in slices of an eighth of a leaf group each, so that no part's units are those of the other.
 */
static void bind_parts(field *world, bound how)
{
    const phx_slice slice = {world->ranks / 8, LEAF_GROUP_LEVEL};
    const uint32_t quarter = world->ranks / 4;
    phx_part *parts = world->parts;
    world->scratch = malloc(sizeof *world->scratch * PHX_PARTS_WORDS);
    CHECK(world->scratch != NULL);
    parts[0] = (phx_part){request_of(world->planner, quarter, 8), NULL, PHX_NONE};
    parts[1] = (phx_part){request_of(world->planner, 3 * quarter, 4), NULL, PHX_NONE};
    CHECK(phx_request_slices(world->planner, &parts[1].request, &slice, how == CROSSED) == PHX_OK);
    world->wanted = request_of(world->planner, world->ranks, 1);
    CHECK(phx_request_parts(world->planner, &world->wanted, parts, 2, world->scratch) == PHX_OK);
}

/* Slices of an eighth of the ranks in one leaf group each, or the ranks evenly over leaf groups. */
static void bind(field *world, bound how)
{
    const phx_slice slice = {world->ranks / 8, LEAF_GROUP_LEVEL};
    if (how == SLICES) {
        CHECK(phx_request_slices(world->planner, &world->wanted, &slice, 1) == PHX_OK);
    } else if (how == BALANCED) {
        CHECK(phx_request_balance(world->planner, &world->wanted, LEAF_GROUP_LEVEL) == PHX_OK);
    }
}

static field field_new(uint32_t hosts, uint64_t seed)
{
    field world = {.tree = irregular_tree(hosts, seed), .hosts = hosts, .state = seed};
    world.planner = planner_of(world.tree, PHX_EXACT, 0);
    world.leaves = phx_tree_leaf_count(world.tree);
    world.slots = malloc(sizeof *world.slots * world.leaves);
    world.host_free = malloc(sizeof *world.host_free * hosts);
    world.group_of = malloc(sizeof *world.group_of * hosts);
    CHECK(world.slots != NULL && world.host_free != NULL && world.group_of != NULL);
    for (uint32_t order = 0; order < PEERS; ++order) {
        world.requests[order] = request_of(world.planner, 8u << order, 8);
    }
    world.ranks = is_small(world.leaves) ? 64 : 512;
    world.wanted = request_of(world.planner, world.ranks, 8);
    for (uint32_t set = 0; set < LIMIT_SETS; ++set) {
        world.limits[set] = malloc(sizeof **world.limits * hosts);
        CHECK(world.limits[set] != NULL);
        for (uint32_t host = 0; host < hosts; ++host) {
            const uint32_t draw = random_below(&world.state, 100);
            world.limits[set][host] = draw < 3 ? 0 : draw < 13 ? 4 : 8;
        }
    }
    phx_free_leaves(world.planner, HOST_LEVEL, world.host_free);
    uint32_t leaf = 0;
    for (uint32_t host = 0; host < hosts; ++host) {
        const int near =
            host > 0 && phx_tree_distance(world.tree, leaf - 1, leaf) == HOST_LEVEL + 1;
        world.group_of[host] = host == 0 ? 0 : world.group_of[host - 1] + !near;
        leaf += (uint32_t)world.host_free[host];
    }
    const uint32_t target = world.leaves / 100 * 12;
    while (phx_free_leaves(world.planner, 0, NULL) > target) {
        add_gang(&world);
    }
    return world;
}

static void field_free(field *world)
{
    free(world->scratch);
    phx_planner_free(world->planner);
    phx_tree_free(world->tree);
    free(world->slots);
    free(world->host_free);
    free(world->group_of);
    for (uint32_t set = 0; set < LIMIT_SETS; ++set) {
        free(world->limits[set]);
    }
}

/* The reference: whole groups of each leaf group in one pass over the hosts. */
static uint32_t scan(const field *world, const int32_t *limit)
{
    uint32_t best = UINT32_MAX;
    uint32_t groups = 0;
    for (uint32_t host = 0; host < world->hosts; ++host) {
        if (host > 0 && world->group_of[host] != world->group_of[host - 1]) {
            groups = 0;
        }
        const int32_t can =
            world->host_free[host] < limit[host] ? world->host_free[host] : limit[host];
        groups += can >= 8;
        if (groups * 8 >= world->ranks && best == UINT32_MAX) {
            best = world->group_of[host];
        }
    }
    return best;
}

typedef struct packed_result {
    uint64_t checksum;
    uint32_t refused;
    double level_mean;
} packed_result;

static packed_result run_field(field *world, const settings *run, bound how, series *ours,
                               series *theirs)
{
    packed_result made = {0, 0, 0.0};
    const int32_t *rows[LEVELS] = {NULL};
    for (uint32_t at = 0; at < run->events; ++at) {
        const int32_t *limit = world->limits[at % LIMIT_SETS];
        rows[HOST_LEVEL] = limit;
        uint64_t before = tick_start();
        const int64_t decision = how == LIMITS ? phx_place_limited(world->planner, &world->wanted,
                                                                   rows, 1, NULL, 0, NULL)
                                               : phx_place(world->planner, &world->wanted);
        series_add(ours, tick_end() - before);
        made.checksum = fold(made.checksum, decision);
        made.refused += decision < 0;
        if (decision >= 0) {
            const uint32_t slot = (uint32_t)decision & 0x1fffffu;
            made.level_mean += (double)phx_gang_level(world->planner, slot) / run->events;
            CHECK(phx_release(world->planner, slot) == PHX_OK);
        }
        phx_free_leaves(world->planner, HOST_LEVEL, world->host_free);
        before = tick_start();
        const volatile uint32_t best = scan(world, limit);
        (void)best;
        series_add(theirs, tick_end() - before);
        drop_gang(world);
        add_gang(world);
    }
    return made;
}

static void packed_row(const settings *run, uint32_t hosts, bound how, const char *name)
{
    series ours = series_new(run->events, run->repeats);
    series theirs = series_new(run->events, run->repeats);
    packed_result made = {0, 0, 0.0};
    settings seen = *run;
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        field world = field_new(hosts, run->seed);
        if (how == PARTS || how == CROSSED) {
            bind_parts(&world, how);
        } else {
            bind(&world, how);
        }
        const uint64_t before = made.checksum;
        seen.leaves = world.leaves;
        series_rewind(&ours);
        series_rewind(&theirs);
        made = run_field(&world, run, how, &ours, &theirs);
        CHECK(repeat == 0 || before == made.checksum);
        field_free(&world);
    }
    row_begin(name, &seen);
    row_series("ours", &ours);
    row_text("peer", "one scan of the hosts");
    row_series("theirs", &theirs);
    row_number("hosts", hosts);
    row_number("refused", made.refused);
    row_number("level_mean", made.level_mean);
    row_checksum(made.checksum);
    row_end();
    series_free(&ours);
    series_free(&theirs);
}

void suite_packed(const settings *run)
{
    settings few = *run;
    few.events = run->events / 40 > 20 ? run->events / 40 : 20;
    few.repeats = run->repeats < 3 ? run->repeats : 3;
    const uint32_t hosts = is_small(run->leaves) ? 512 : run->leaves / 8;
    if (!is_small(run->leaves)) {
        packed_row(&few, hosts / 8, LIMITS, "packed/limits/eighth");
    }
    packed_row(&few, hosts, LIMITS, "packed/limits");
    packed_row(&few, hosts, PLAIN, "packed/plain");
    packed_row(&few, hosts, SLICES, "packed/slices");
    packed_row(&few, hosts, BALANCED, "packed/balanced");
    packed_row(&few, hosts, PARTS, "packed/parts");
    packed_row(&few, hosts, CROSSED, "packed/parts/crossed");
    few.events = few.events / 4 > 20 ? few.events / 4 : 20;
    if (run->leaves >= 131072) {
        packed_row(&few, hosts * 8 <= 131072 ? hosts * 8 : 131072, LIMITS,
                   "packed/limits/eightfold");
    }
}
