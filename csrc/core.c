/* The best answer of a core, job by job: what can be left of all capacities, and at what loss.
 *
 * A state is what is left and the least that was lost to leave that; each job in turn, from the one
 * whose other options lose least, makes new states of all. A state goes on only while some end of
 * it may lose less than the best so far.
 */
#include "core.h"
#include "mutants.h"

#include <string.h>

#define NO_STATE UINT32_MAX

/* Arrays of the search, all in the caller's scratch. */
typedef struct search {
    phx_deck deck;
    phx_floors floors;
    uint32_t most;
    uint32_t count;
    uint32_t lives;
    size_t slots; /* of the hash table, a power of two */
    int64_t best; /* an end that loses less is looked for */
    uint32_t best_state;
    int64_t *lost;     /* [most] */
    int32_t *left;     /* [most * rows] */
    uint32_t *parent;  /* [most] */
    uint32_t *option;  /* [most] */
    uint32_t *live;    /* [most] */
    uint8_t *replaced; /* [most] */
    uint32_t *slot;    /* [slots] */
} search;

/* Lays the arrays out in a scratch. */
static void lay_out(search *all, const phx_round *round, const phx_core *core, uint32_t states,
                    phx_room *room)
{
    const size_t most = states;
    memset(all, 0, sizeof *all);
    all->deck.core = core;
    all->deck.rows = round->rows;
    all->most = states;
    for (all->slots = 64; all->slots < 2 * most;) {
        all->slots *= 2;
    }
    phx_deck_lay_out(&all->deck, room);
    phx_floors_lay_out(&all->floors, &all->deck, room);
    all->lost = phx_next(room, most * sizeof *all->lost);
    all->left = phx_next(room, most * round->rows * sizeof *all->left);
    all->parent = phx_next(room, most * sizeof *all->parent);
    all->option = phx_next(room, most * sizeof *all->option);
    all->live = phx_next(room, most * sizeof *all->live);
    all->replaced = phx_next(room, most);
    all->slot = phx_next(room, all->slots * sizeof *all->slot);
}

size_t phx_core_bytes(const phx_round *round, const phx_core *core, uint32_t states)
{
    search all;
    phx_room room = {NULL, 0};
    lay_out(&all, round, core, states, &room);
    return room.used;
}

static const int32_t *left_of(const search *all, uint32_t state)
{
    return all->left + (size_t)state * all->deck.rows;
}

static uint64_t hash_of(const int32_t *left, uint32_t rows)
{
    uint64_t word = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        word = (word ^ (uint32_t)left[row]) * UINT64_C(0x9E3779B97F4A7C15);
        word ^= word >> 29;
    }
    return word;
}

/* The slot of a state with that much left, or the free one for it. */
static uint32_t *slot_of(const search *all, const int32_t *left)
{
    const uint32_t rows = all->deck.rows;
    size_t at = hash_of(left, rows) & (all->slots - 1);
    for (;; at = (at + 1) & (all->slots - 1)) {
        const uint32_t state = all->slot[at];
        if (state == NO_STATE || memcmp(left_of(all, state), left, rows * sizeof *left) == 0) {
            return all->slot + at;
        }
    }
}

/* What an end loses: what is left is not sold. INT64_MAX where it is no better than the best. */
static int64_t loss_of_end(const search *all, uint32_t state)
{
    phx_wide sum = all->lost[state];
    for (uint32_t row = 0; row < all->deck.rows - PHX_MUTANT_DROPPED_ROW; ++row) {
        const int32_t left = left_of(all, state)[row];
        if (left < 0) {
            return INT64_MAX;
        }
        sum += PHX_MUTANT_FREE_REST ? 0 : (phx_wide)all->deck.price[row] * left;
    }
    return sum < all->best ? (int64_t)sum : INT64_MAX;
}

/* Adds a state unless one that leaves as much has lost no more; 0: there are too many. */
static int add_state(search *all, uint32_t parent, uint32_t option, int64_t lost,
                     const int32_t *left)
{
    uint32_t *slot = slot_of(all, left);
    if (*slot != NO_STATE) {
        if (PHX_MUTANT_LOST_MORE || all->lost[*slot] <= lost) {
            return 1;
        }
        all->replaced[*slot] = 1;
    }
    if (all->count == all->most) {
        return 0;
    }
    const uint32_t state = all->count++;
    *slot = state;
    all->lost[state] = lost;
    memcpy(all->left + (size_t)state * all->deck.rows, left, all->deck.rows * sizeof *left);
    all->parent[state] = parent;
    all->option[state] = option;
    all->replaced[state] = 0;
    all->live[all->lives++] = state;
    const int64_t end = loss_of_end(all, state);
    if (end < all->best) {
        all->best = end;
        all->best_state = state;
    }
    return 1;
}

/* A live state with an option of the job at a place of the order; 0: there are too many. */
static int take_option(search *all, uint32_t at, uint32_t state, uint32_t option)
{
    const uint32_t rows = all->deck.rows;
    const int64_t lost = all->lost[state] + all->deck.core->loss[option];
    const int32_t *more = all->deck.more + (size_t)option * rows;
    int32_t left[PHX_ROWS_MAX];
    if (lost >= all->best) {
        return 1;
    }
    for (uint32_t row = 0; row < rows; ++row) {
        left[row] = left_of(all, state)[row] - more[row];
    }
    const uint32_t layer = phx_layer_of(&all->floors, at + 1);
    if (phx_floors_reach(&all->floors, &all->deck, layer, left, all->best - lost)) {
        return 1;
    }
    return add_state(all, state, option, lost, left);
}

/* Every live state with every other option of a job; 0: there are too many. */
static int take_job(search *all, uint32_t at)
{
    const phx_core *core = all->deck.core;
    const uint32_t job = all->deck.order[at];
    const uint32_t lives = all->lives;
    for (uint32_t live = 0; live < lives; ++live) {
        for (uint32_t option = core->first[job] + 1; option < core->first[job + 1]; ++option) {
            if (!take_option(all, at, all->live[live], option)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Drops states that another replaced, or that no job to come can end well; floors are asked where
 * a new layer of them begins. */
static void drop_states(search *all, uint32_t at)
{
    const int64_t least = (int64_t)all->deck.least[all->deck.order[at]];
    const uint32_t layer = phx_layer_of(&all->floors, at);
    const int asks = at % all->floors.stride == 0;
    uint32_t kept = 0;
    for (uint32_t live = 0; live < all->lives; ++live) {
        const uint32_t state = all->live[live];
        const int64_t room = all->best - all->lost[state];
        const int goes_on =
            least < room && !all->replaced[state] &&
            !(asks && phx_floors_reach(&all->floors, &all->deck, layer, left_of(all, state), room));
        all->live[kept] = state;
        kept += goes_on ? 1 : 0;
    }
    all->lives = kept;
}

/* What the jobs have at a state. */
static void tell(const search *all, uint32_t jobs, int32_t *chosen)
{
    const phx_core *core = all->deck.core;
    memcpy(chosen, core->base, jobs * sizeof *chosen);
    for (uint32_t state = all->best_state; all->parent[state] != NO_STATE;
         state = all->parent[state]) {
        const uint32_t option = all->option[state];
        chosen[core->job[all->deck.owner[option]]] = core->place[option];
    }
}

phx_status phx_core_search(const phx_round *round, const phx_core *core, const int64_t *prices,
                           uint32_t states, void *scratch, int64_t *total, int32_t *chosen,
                           uint64_t *steps)
{
    search all;
    phx_room room = {scratch, 0};
    *steps = 0;
    if (round->rows > PHX_ROWS_MAX) {
        return PHX_BAD_GANG;
    }
    if (*total <= 0) {
        return PHX_MISFIT; /* no answer loses less than nothing */
    }
    lay_out(&all, round, core, states, &room);
    if (!phx_deck_fill(&all.deck, round, prices)) {
        return PHX_GAVE_UP;
    }
    all.best = *total;
    all.best_state = NO_STATE;
    phx_floors_fill(&all.floors, &all.deck, all.best);
    memset(all.slot, 0xff, all.slots * sizeof *all.slot);
    int complete = states > 0 && add_state(&all, NO_STATE, 0, all.deck.start, all.deck.left);
    for (uint32_t at = 0; complete && all.lives > 0 && at < core->jobs; ++at) {
        drop_states(&all, at);
        complete = take_job(&all, at);
    }
    *steps = all.count;
    if (all.best_state != NO_STATE) {
        *total = all.best;
        tell(&all, round->jobs, chosen);
    }
    return !complete ? PHX_GAVE_UP : all.best_state == NO_STATE ? PHX_MISFIT : PHX_OK;
}
