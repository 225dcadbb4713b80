/* A core in the order and the units of its search. */
#include "core.h"
#include "mutants.h"

void phx_deck_lay_out(phx_deck *deck, phx_room *room)
{
    const size_t jobs = deck->core->jobs;
    const size_t options = deck->core->first[jobs];
    deck->order = phx_next(room, jobs * sizeof *deck->order);
    deck->least = phx_next(room, jobs * sizeof *deck->least);
    deck->owner = phx_next(room, options * sizeof *deck->owner);
    deck->more = phx_next(room, options * deck->rows * sizeof *deck->more);
}

static int64_t size_of(int64_t number)
{
    return number < 0 ? -number : number;
}

/* What an option of a core job wants of a row; none wants nothing. */
static int64_t wants(const phx_deck *deck, const phx_round *round, uint32_t job, uint32_t option,
                     uint32_t row)
{
    const int32_t place = deck->core->place[option];
    const uint32_t begin = round->first[deck->core->job[job]];
    return place < 0 ? 0 : phx_wants(round, begin + (uint32_t)place)[row];
}

/* 0: an option differs from the base by more than 32 bits hold. */
static int find_more(phx_deck *deck, const phx_round *round)
{
    const phx_core *core = deck->core;
    for (uint32_t job = 0; job < core->jobs; ++job) {
        const uint32_t base = core->first[job];
        deck->least[job] = INT64_MAX;
        for (uint32_t option = base; option < core->first[job + 1]; ++option) {
            deck->owner[option] = job;
            for (uint32_t row = 0; row < deck->rows; ++row) {
                const int64_t more =
                    wants(deck, round, job, option, row) - wants(deck, round, job, base, row);
                if (size_of(more) > INT32_MAX) {
                    return 0;
                }
                deck->more[(size_t)option * deck->rows + row] = (int32_t)more;
            }
            if (option > base && (uint64_t)core->loss[option] < deck->least[job]) {
                deck->least[job] = (uint64_t)core->loss[option];
            }
        }
    }
    return 1;
}

/* The largest unit that every option changes a row by multiples of. */
static int64_t unit_of(const phx_deck *deck, uint32_t row)
{
    int64_t unit = 0;
    for (uint32_t option = 0; option < deck->core->first[deck->core->jobs]; ++option) {
        int64_t other = size_of(deck->more[(size_t)option * deck->rows + row]);
        while (other != 0) {
            const int64_t rest = unit % other;
            unit = other;
            other = rest;
        }
    }
    return unit == 0 ? 1 : unit;
}

/* Counts a row in its unit; 0: what can be left may leave 32 bits. */
static int count_row(phx_deck *deck, uint32_t row, int64_t price)
{
    const int64_t unit = unit_of(deck, row);
    const int64_t left = deck->core->left[row];
    const int64_t lost = (left % unit + unit) % unit;
    int64_t range = size_of((left - lost) / unit);
    int64_t most = 1;
    for (uint32_t option = 0; option < deck->core->first[deck->core->jobs]; ++option) {
        int32_t *more = deck->more + (size_t)option * deck->rows + row;
        *more = (int32_t)(*more / unit);
        most = size_of(*more) > most ? size_of(*more) : most;
        range += size_of(*more);
    }
    const phx_wide start = (PHX_MUTANT_FREE_START ? 0 : (phx_wide)price * lost) + deck->start;
    const phx_wide cost = (phx_wide)price * unit;
    const int64_t large = INT64_C(1) << 62;
    deck->start = start < large ? (int64_t)start : large;
    deck->price[row] = cost < large ? (int64_t)cost : large;
    deck->range[row] = range;
    deck->most[row] = most;
    deck->left[row] = (int32_t)((left - lost) / unit);
    return PHX_MUTANT_WIDE_ROW || range <= INT32_MAX;
}

int phx_deck_fill(phx_deck *deck, const phx_round *round, const int64_t *prices)
{
    deck->start = 0;
    if (!find_more(deck, round)) {
        return 0;
    }
    phx_order_by(deck->least, deck->core->jobs, deck->order);
    for (uint32_t row = 0; row < deck->rows; ++row) {
        if (!count_row(deck, row, prices[row])) {
            return 0;
        }
    }
    return 1;
}
