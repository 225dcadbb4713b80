/* Host failures on the filled state: an event hits a uniform host of a uniform gang of at least 64
 * ranks (all gangs of a small cluster). Plans leave the state as it was; applied repairs are
 * followed by heal and fence, so the load stays and the gangs wander. */
#include "bench.h"

#define MOVES_MAX 64
#define RANKS_MAX 8192

typedef struct tally {
    uint64_t checksum;
    uint32_t repaired;
    uint32_t refused;
    uint32_t moved_8; /* repairs that moved exactly the lost host's ranks */
    uint32_t kept;    /* bottleneck level as before or lower */
} tally;

typedef struct event {
    uint32_t slot;
    phx_run failed;
} event;

static event draw(const phx_planner *planner, const uint32_t *slots, uint32_t slot_count, int small,
                  uint64_t *state, uint32_t *leaves)
{
    const uint32_t least = small ? 32 : 64;
    uint32_t slot = 0;
    do {
        slot = slots[random_below(state, slot_count)];
    } while (phx_gang_ranks(planner, slot) < least);
    const uint32_t ranks = phx_gang_ranks(planner, slot);
    CHECK(ranks <= RANKS_MAX && phx_gang_leaves(planner, slot, leaves) == PHX_OK);
    return (event){slot, {leaves[8 * random_below(state, ranks / 8)], 8}};
}

static void note(tally *sum, phx_status status, const phx_repair *repair, const phx_move *moves)
{
    CHECK(status == PHX_OK || status == PHX_MISFIT);
    sum->refused += status == PHX_MISFIT;
    sum->checksum = fold(sum->checksum, -(int64_t)status);
    if (status == PHX_OK) {
        ++sum->repaired;
        sum->moved_8 += repair->moved == 8;
        sum->kept += repair->level_after <= repair->level_before;
        sum->checksum = fold(sum->checksum, (int64_t)((uint64_t)moves[0].to << 21));
    }
}

/* One row: how it plans, and whether its events are drawn up front. Drawing one reads all leaves of
 * the gang, which empties the nearest cache: a planner that was not used for a while. */
typedef struct kind {
    const char *name;
    uint32_t alignment;
    uint32_t flags;
    int drawn_first;
} kind;

static tally run_events(phx_planner *planner, const settings *run, const uint32_t *slots,
                        uint32_t slot_count, const kind *how, series *samples)
{
    static uint32_t leaves[RANKS_MAX];
    static phx_move moves[MOVES_MAX];
    const int small = is_small(run->leaves);
    const uint32_t flags = how->flags;
    uint64_t state = run->seed + 77;
    tally sum = {0, 0, 0, 0, 0};
    event *events = malloc(sizeof *events * run->events);
    CHECK(events != NULL);
    for (uint32_t at = 0; at < run->events && how->drawn_first; ++at) {
        events[at] = draw(planner, slots, slot_count, small, &state, leaves);
    }
    for (uint32_t at = 0; at < run->events; ++at) {
        if (!how->drawn_first) {
            events[at] = draw(planner, slots, slot_count, small, &state, leaves);
        }
        const event now = events[at];
        phx_repair repair;
        const uint64_t before = tick_start();
        const phx_status status =
            phx_replan(planner, now.slot, &now.failed, 1, NULL, flags, moves, MOVES_MAX, &repair);
        series_add(samples, tick_end() - before);
        note(&sum, status, &repair, moves);
        if ((flags & PHX_REPLAN_APPLY) != 0 && status == PHX_OK) {
            uint32_t lost[8];
            uint32_t owners[8];
            for (uint32_t leaf = 0; leaf < 8; ++leaf) {
                lost[leaf] = now.failed.first + leaf;
            }
            CHECK(phx_health_change(planner, PHX_HEAL, lost, 8, owners) == PHX_OK);
            CHECK(phx_quarantine_release(planner, lost, 8) == PHX_OK);
        }
    }
    free(events);
    return sum;
}

static void replan_row(const settings *run, const phx_tree *tree, const kind *how)
{
    const uint32_t size_max = run->leaves / 16 < RANKS_MAX ? run->leaves / 16 : RANKS_MAX;
    uint32_t *slots = malloc(sizeof *slots * run->leaves / 32);
    series samples = series_new(run->events, run->repeats);
    tally sum = {0, 0, 0, 0, 0};
    CHECK(slots != NULL);
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        phx_planner *planner = planner_of(tree, how->alignment, 1);
        const fill_result made = fill(planner, run, 32, size_max, slots, NULL);
        const uint64_t seen = sum.checksum;
        series_rewind(&samples);
        sum = run_events(planner, run, slots, made.gangs, how, &samples);
        CHECK(repeat == 0 || seen == sum.checksum);
        phx_planner_free(planner);
    }
    row_begin(how->name, run);
    row_series("ours", &samples);
    row_number("events", run->events);
    row_number("refused", sum.refused);
    row_number("moved_8_percent", 100.0 * sum.moved_8 / (sum.repaired ? sum.repaired : 1));
    row_number("level_kept_percent", 100.0 * sum.kept / (sum.repaired ? sum.repaired : 1));
    row_checksum(sum.checksum);
    row_end();
    series_free(&samples);
    free(slots);
}

static const kind KINDS[] = {{"replan/plan/buddy", PHX_BUDDY, 0, 1},
                             {"replan/plan/exact", PHX_EXACT, 0, 1},
                             {"replan/plan/cold", PHX_BUDDY, 0, 0},
                             {"replan/apply/cold", PHX_BUDDY, PHX_REPLAN_APPLY, 0}};

void suite_replan(const settings *run)
{
    phx_tree *tree = uniform_tree(run->leaves);
    for (size_t at = 0; at < sizeof KINDS / sizeof *KINDS; ++at) {
        replan_row(run, tree, &KINDS[at]);
    }
    phx_tree_free(tree);
}
