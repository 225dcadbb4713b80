/* Choice rules: which share of the asked leaves is refused when gangs of 32..1024 come and go at
 * 85, 90 and 95 % load. Gangs ask for one pod (`within`); a rule never decides whether a gang fits
 * now, only what is left for the next one. The lists take the most recently freed block of one
 * domain. */
#include "bench.h"

#define SIZE_FIRST 32
#define SIZE_ORDERS 6
#define CONTESTANTS 5

static const char *const NAMES[CONTESTANTS] = {"smallest", "fullest", "lowest", "buddy", "lists"};

typedef struct contest {
    uint64_t asked; /* leaves */
    uint64_t refused;
    uint64_t levels; /* sum over placed gangs */
    uint64_t placed;
    uint64_t checksum;
} contest;

/* Places with a planner, or with the lists when `planner` is NULL. */
typedef struct contestant {
    phx_planner *planner;
    lists buddy;
    phx_request requests[SIZE_ORDERS];
} contestant;

typedef struct holding {
    uint32_t at; /* slot or first leaf */
    uint32_t order;
} holding;

static contestant enter(const settings *run, const phx_tree *tree, uint32_t which)
{
    contestant who = {0};
    if (which == CONTESTANTS - 1) {
        who.buddy = lists_new(run->leaves);
        return who;
    }
    who.planner = planner_of(tree, which == 3 ? PHX_BUDDY : PHX_EXACT, 0);
    for (uint32_t order = 0; order < SIZE_ORDERS; ++order) {
        const phx_gang gang = {SIZE_FIRST << order,
                               8,
                               HOST_LEVEL,
                               POD_LEVEL,
                               PHX_NONE,
                               PHX_NEAR,
                               which < 3 ? which : PHX_SMALLEST};
        CHECK(phx_request_init(who.planner, &gang, &who.requests[order]) == PHX_OK);
    }
    return who;
}

static int ask(contestant *who, uint32_t order, holding *out, contest *sum)
{
    out->order = order;
    if (who->planner == NULL) {
        out->at = lists_take(&who->buddy, order + order_of(SIZE_FIRST));
        return out->at != LISTS_NONE;
    }
    const int64_t decision = phx_place(who->planner, &who->requests[order]);
    sum->checksum = fold(sum->checksum, decision);
    if (decision >= 0) {
        sum->levels += (uint64_t)(decision >> 42) & 31;
        out->at = (uint32_t)decision & 0x1fffffu;
    }
    return decision >= 0;
}

static void leave(contestant *who, const holding *gang)
{
    if (who->planner == NULL) {
        lists_give(&who->buddy, gang->at, gang->order + order_of(SIZE_FIRST));
    } else {
        CHECK(phx_release(who->planner, gang->at) == PHX_OK);
    }
}

static contest compete(const settings *run, contestant *who, uint32_t percent)
{
    holding *live = malloc(sizeof *live * run->leaves / SIZE_FIRST);
    const uint64_t target = (uint64_t)run->leaves * percent / 100;
    uint64_t state = run->seed;
    uint64_t used = 0;
    uint32_t living = 0;
    contest sum = {0, 0, 0, 0, 0};
    CHECK(live != NULL);
    for (uint32_t arrivals = 0; arrivals < 4 * run->events; ++arrivals) {
        const uint32_t order = random_below(&state, SIZE_ORDERS);
        const uint32_t size = SIZE_FIRST << order;
        while (used + size > target) {
            const uint32_t at = random_below(&state, living);
            leave(who, &live[at]);
            used -= SIZE_FIRST << live[at].order;
            live[at] = live[--living];
        }
        sum.asked += size;
        if (ask(who, order, &live[living], &sum)) {
            used += size;
            ++living;
            ++sum.placed;
        } else {
            sum.refused += size;
        }
    }
    free(live);
    return sum;
}

void suite_rules(const settings *run)
{
    static const uint32_t PERCENTS[3] = {85, 90, 95};
    phx_tree *tree = uniform_tree(run->leaves);
    for (uint32_t which = 0; which < CONTESTANTS && !is_small(run->leaves); ++which) {
        for (uint32_t at = 0; at < 3; ++at) {
            contestant who = enter(run, tree, which);
            const contest sum = compete(run, &who, PERCENTS[at]);
            char name[32];
            snprintf(name, sizeof name, "rules/%s/%u", NAMES[which], PERCENTS[at]);
            row_begin(name, run);
            row_number("refused_percent", 100.0 * (double)sum.refused / (double)sum.asked);
            row_number("level_mean", (double)sum.levels / (double)sum.placed);
            row_checksum(sum.checksum);
            row_end();
            if (who.planner == NULL) {
                lists_free(&who.buddy);
            } else {
                phx_planner_free(who.planner);
            }
        }
    }
    phx_tree_free(tree);
}
