/* Fewer options of a core: those that no answer within a loss takes, by the floors of what they
 * would leave. */
#include "core.h"
#include "mutants.h"

#include <string.h>

typedef struct thinning {
    phx_deck deck;
    phx_floors floors;
} thinning;

static void lay_out(thinning *all, const phx_round *round, const phx_core *core, phx_room *room)
{
    memset(all, 0, sizeof *all);
    all->deck.core = core;
    all->deck.rows = round->rows;
    phx_deck_lay_out(&all->deck, room);
    phx_floors_lay_out(&all->floors, &all->deck, room);
}

size_t phx_thin_bytes(const phx_round *round, const phx_core *core)
{
    thinning all;
    phx_room room = {NULL, 0};
    lay_out(&all, round, core, &room);
    return room.used;
}

/* Whether an answer that takes an option beside the bases may lose less than `total`. */
static int may_help(thinning *all, uint32_t option, int64_t total)
{
    const phx_deck *deck = &all->deck;
    const int64_t lost = deck->start + deck->core->loss[option];
    int32_t left[PHX_ROWS_MAX];
    for (uint32_t row = 0; row < deck->rows; ++row) {
        left[row] = deck->left[row] - deck->more[(size_t)option * deck->rows + row];
    }
    return lost < total && !phx_floors_reach(&all->floors, deck, 0, left, total - lost);
}

/* Keeps the options that may help; jobs with none beside their base leave the core. */
static void keep_options(thinning *all, phx_core *core, int64_t total)
{
    const uint32_t jobs = core->jobs;
    uint32_t kept = 0;
    uint32_t begin = 0;
    core->jobs = 0;
    for (uint32_t job = 0; job < jobs; ++job) {
        const uint32_t base = kept;
        const uint32_t end = core->first[job + 1];
        for (uint32_t option = begin; option < end; ++option) {
            if (option == begin ? !PHX_MUTANT_BASE_THINNED
                                : may_help(all, option, total - PHX_MUTANT_THINNED_EARLY)) {
                core->place[kept] = core->place[option];
                core->loss[kept++] = core->loss[option];
            }
        }
        begin = end;
        if (kept - base > 1) {
            core->job[core->jobs++] = core->job[job];
            core->first[core->jobs] = kept;
        } else {
            kept = base;
        }
    }
}

phx_status phx_core_thin(const phx_round *round, phx_core *core, const int64_t *prices,
                         int64_t total, void *scratch, int64_t *floor)
{
    thinning all;
    phx_room room = {scratch, 0};
    *floor = 0;
    if (round->rows > PHX_ROWS_MAX) {
        return PHX_BAD_GANG;
    }
    if (total <= 0) {
        return PHX_OK; /* every answer loses at least nothing */
    }
    lay_out(&all, round, core, &room);
    if (!phx_deck_fill(&all.deck, round, prices)) {
        return PHX_GAVE_UP;
    }
    phx_floors_fill(&all.floors, &all.deck, total);
    *floor = phx_floors_root(&all.floors, &all.deck);
    if (*floor < total) {
        keep_options(&all, core, total);
    }
    return PHX_OK;
}
