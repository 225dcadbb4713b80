/* Churn: gangs of 1..512 arrive and leave in random order at 88 % load. The stream is made up front
 * and is the same for every contestant; a gang that one refused is skipped when it leaves. */
#include "bench.h"

#define SIZE_ORDERS 10
#define REFUSED (-1)

/* `order` of an arrival; a departure has -1. */
typedef struct step {
    uint32_t gang;
    int32_t order;
} step;

typedef struct stream {
    step *steps;
    uint32_t count;
    uint32_t warm; /* steps that only build the load up */
    uint32_t gangs;
} stream;

/* What a contestant made of the stream. */
typedef struct outcome {
    uint64_t checksum;
    uint32_t refused;
} outcome;

static stream make_stream(const settings *run)
{
    const uint32_t room = run->leaves + 4 * run->events;
    stream made = {malloc(sizeof(step) * 2 * room), 0, 0, 0};
    uint32_t *live = malloc(sizeof *live * room);
    uint8_t *order = malloc(room);
    CHECK(made.steps != NULL && live != NULL && order != NULL);
    uint64_t state = run->seed;
    uint64_t used = 0;
    uint32_t living = 0;
    const uint64_t target = (uint64_t)run->leaves * 88 / 100;
    const uint32_t orders = is_small(run->leaves) ? SIZE_ORDERS - 4 : SIZE_ORDERS;
    while (made.warm == 0 || made.count < made.warm + 2 * run->events) {
        const uint32_t next = random_below(&state, orders);
        while (used + (1u << next) > target) {
            made.warm = made.warm == 0 ? made.count : made.warm;
            const uint32_t at = random_below(&state, living);
            const uint32_t gang = live[at];
            live[at] = live[--living];
            used -= 1u << order[gang];
            made.steps[made.count++] = (step){gang, -1};
        }
        order[made.gangs] = (uint8_t)next;
        live[living++] = made.gangs;
        used += 1u << next;
        made.steps[made.count++] = (step){made.gangs++, (int32_t)next};
        CHECK(made.gangs < room);
    }
    free(live);
    free(order);
    return made;
}

static outcome run_planner(phx_planner *planner, const stream *ops, series *place, series *release,
                           double *bulk_ns)
{
    phx_request requests[SIZE_ORDERS];
    int64_t *held = malloc(sizeof *held * ops->gangs);
    CHECK(held != NULL);
    for (uint32_t order = 0; order < SIZE_ORDERS; ++order) {
        requests[order] = request_of(planner, 1u << order, 1);
    }
    outcome made = {0, 0};
    uint64_t bulk_start = 0;
    for (uint32_t at = 0; at < ops->count; ++at) {
        const step *now = &ops->steps[at];
        if (at == ops->warm) {
            bulk_start = clock_ns();
        }
        if (now->order >= 0) {
            const uint64_t before = place != NULL ? tick_start() : 0;
            const int64_t decision = phx_place(planner, &requests[now->order]);
            const uint64_t ticks = place != NULL ? tick_end() - before : 0;
            held[now->gang] = decision < 0 ? REFUSED : decision & 0x1fffff;
            made.checksum = fold(made.checksum, decision);
            made.refused += decision < 0;
            if (place != NULL && decision >= 0 && at >= ops->warm) {
                series_add(place, ticks);
            }
        } else if (held[now->gang] != REFUSED) {
            const uint64_t before = release != NULL ? tick_start() : 0;
            const phx_status status = phx_release(planner, (uint32_t)held[now->gang]);
            const uint64_t ticks = release != NULL ? tick_end() - before : 0;
            CHECK(status == PHX_OK);
            if (release != NULL && at >= ops->warm) {
                series_add(release, ticks);
            }
        }
    }
    *bulk_ns = (double)(clock_ns() - bulk_start) / (ops->count - ops->warm);
    free(held);
    return made;
}

static outcome run_lists(lists *buddy, const stream *ops, series *place, series *release,
                         double *bulk_ns)
{
    uint32_t *held = malloc(sizeof *held * ops->gangs);
    uint8_t *order = malloc(ops->gangs);
    CHECK(held != NULL && order != NULL);
    outcome made = {0, 0};
    uint64_t bulk_start = 0;
    for (uint32_t at = 0; at < ops->count; ++at) {
        const step *now = &ops->steps[at];
        if (at == ops->warm) {
            bulk_start = clock_ns();
        }
        if (now->order >= 0) {
            const uint64_t before = place != NULL ? tick_start() : 0;
            const uint32_t first = lists_take(buddy, (uint32_t)now->order);
            const uint64_t ticks = place != NULL ? tick_end() - before : 0;
            held[now->gang] = first;
            order[now->gang] = (uint8_t)now->order;
            made.checksum = fold(made.checksum, (int64_t)first << 21);
            made.refused += first == LISTS_NONE;
            if (place != NULL && first != LISTS_NONE && at >= ops->warm) {
                series_add(place, ticks);
            }
        } else if (held[now->gang] != LISTS_NONE) {
            const uint64_t before = release != NULL ? tick_start() : 0;
            lists_give(buddy, held[now->gang], order[now->gang]);
            const uint64_t ticks = release != NULL ? tick_end() - before : 0;
            if (release != NULL && at >= ops->warm) {
                series_add(release, ticks);
            }
        }
    }
    *bulk_ns = (double)(clock_ns() - bulk_start) / (ops->count - ops->warm);
    free(held);
    free(order);
    return made;
}

/* Contestants 0 and 1 are planners of that phx_alignment, 2 the lists. */
static outcome run_once(const settings *run, const phx_tree *tree, const stream *ops,
                        uint32_t contestant, series *pair, double *bulk_ns)
{
    series *place = pair;
    series *release = pair == NULL ? NULL : pair + 1;
    outcome made;
    if (pair != NULL) {
        series_rewind(place);
        series_rewind(release);
    }
    if (contestant == 2) {
        lists buddy = lists_with_spares(run->leaves);
        made = run_lists(&buddy, ops, place, release, bulk_ns);
        lists_free(&buddy);
    } else {
        phx_planner *planner = planner_of(tree, contestant, 1);
        made = run_planner(planner, ops, place, release, bulk_ns);
        phx_planner_free(planner);
    }
    return made;
}

void suite_churn(const settings *run)
{
    static const char *const NAMES[2][2] = {{"churn/place/exact", "churn/release/exact"},
                                            {"churn/place/buddy", "churn/release/buddy"}};
    phx_tree *tree = uniform_tree(run->leaves);
    stream ops = make_stream(run);
    series samples[3][2];
    outcome made[3];
    for (uint32_t who = 0; who < 3; ++who) {
        samples[who][0] = series_new(ops.count, run->repeats);
        samples[who][1] = series_new(ops.count, run->repeats);
        samples[who][0].bulk_ns = 1e9;
    }
    for (uint32_t repeat = 0; repeat < run->repeats; ++repeat) {
        for (uint32_t who = 0; who < 3; ++who) {
            double bulk_ns = 0.0;
            made[who] = run_once(run, tree, &ops, who, samples[who], &bulk_ns);
            const outcome again = run_once(run, tree, &ops, who, NULL, &bulk_ns);
            CHECK(again.checksum == made[who].checksum);
            if (bulk_ns < samples[who][0].bulk_ns) {
                samples[who][0].bulk_ns = samples[who][1].bulk_ns = bulk_ns;
            }
        }
    }
    for (uint32_t who = 0; who < 2; ++who) {
        for (uint32_t kind = 0; kind < 2; ++kind) {
            row_begin(NAMES[who][kind], run);
            row_series("ours", &samples[who][kind]);
            row_text("peer", "free lists in C");
            row_series("theirs", &samples[2][kind]);
            row_number("refused", made[who].refused);
            row_number("refused_theirs", made[2].refused);
            row_checksum(made[who].checksum);
            row_end();
        }
    }
    for (uint32_t who = 0; who < 3; ++who) {
        series_free(&samples[who][0]);
        series_free(&samples[who][1]);
    }
    free(ops.steps);
    phx_tree_free(tree);
}
