/* What every end of a state loses at least.
 *
 * Prices may be moved: at prices lower by `move`, what a state has left costs move . left less, and
 * a job to come gains by an option at most what move . more is above its loss. So with
 * G = the least of loss - move . more over the options of all jobs to come, an end loses at least
 * lost + move . left + G. A row's amounts are whole: what they are modulo a few units is carried
 * along, since an end that leaves so much unsold pays for it. Any move that leaves no price below 0
 * will do; a ladder of them is tried, by rows alone and by all rows in the directions where the
 * state is off.
 */
#include "core.h"
#include "mutants.h"

#include <string.h>

#define STEPS 10 /* of the ladder: each doubles */
#define PATTERN_ROWS 4
#define LAYERS 256
#define LARGE (INT64_C(1) << 61)

/* Of few rows, every pattern of signs. */
static uint32_t patterns_of(uint32_t rows)
{
    return rows > 1 && rows <= PATTERN_ROWS ? UINT32_C(1) << rows : 0;
}

void phx_floors_lay_out(phx_floors *floors, const phx_deck *deck, phx_room *room)
{
    const uint32_t jobs = deck->core->jobs;
    floors->stride = jobs / LAYERS + 1;
    floors->layers = jobs / floors->stride + 1;
    floors->singles = STEPS * 2 * deck->rows;
    floors->patterns = STEPS * patterns_of(deck->rows);
    floors->last = 0;
    floors->single = phx_next(room, floors->singles * sizeof *floors->single);
    floors->pattern =
        phx_next(room, (size_t)floors->patterns * deck->rows * sizeof *floors->pattern);
    floors->residue = phx_next(room, (size_t)floors->layers * floors->singles * PHX_RESIDUES *
                                         sizeof *floors->residue);
    floors->rest = phx_next(room, (size_t)floors->layers * floors->patterns * sizeof *floors->rest);
}

/* Of the moves of one row, those of a step down and up. */
static uint32_t single_of(const phx_deck *deck, uint32_t step, uint32_t row, int negative)
{
    return (step * deck->rows + row) * 2 + (negative ? 1 : 0);
}

static void find_moves(phx_floors *floors, const phx_deck *deck, int64_t best)
{
    const uint32_t signs = patterns_of(deck->rows);
    memset(floors->single, 0, floors->singles * sizeof *floors->single);
    memset(floors->pattern, 0, (size_t)floors->patterns * deck->rows * sizeof *floors->pattern);
    for (uint32_t row = 0; row < deck->rows; ++row) {
        for (uint32_t step = 0; step < STEPS; ++step) {
            const phx_wide wide = ((phx_wide)best << step) / (deck->most[row] * 4) + 1;
            if (wide * (deck->range[row] + 1) >= LARGE / PHX_ROWS_MAX) {
                break;
            }
            const int64_t size = (int64_t)wide;
            /* A price does not fall below 0. */
            const int64_t down =
                PHX_MUTANT_BELOW_FREE || size < deck->price[row] ? size : deck->price[row];
            floors->single[single_of(deck, step, row, 0)] = down;
            floors->single[single_of(deck, step, row, 1)] = -size;
            for (uint32_t sign = 0; sign < signs; ++sign) {
                floors->pattern[((size_t)step * signs + sign) * deck->rows + row] =
                    sign >> row & 1 ? -size : down;
            }
        }
    }
}

static int64_t *residues_at(const phx_floors *floors, uint32_t layer, uint32_t single)
{
    return floors->residue + ((size_t)layer * floors->singles + single) * PHX_RESIDUES;
}

/* One row of residues: what is left at the end is paid for. */
static void end_residues(const phx_floors *floors, const phx_deck *deck, uint32_t row,
                         uint32_t single, int64_t *here)
{
    const phx_wide price = (phx_wide)deck->price[row] - floors->single[single];
    for (int64_t left = 0; left < PHX_RESIDUES; ++left) {
        const phx_wide paid = price * left;
        here[left] = paid < LARGE ? (int64_t)paid : LARGE;
    }
}

/* A job takes its base or another option, whichever leads to less. */
static void add_residues(const phx_deck *deck, uint32_t job, uint32_t row, int64_t move,
                         int64_t *here)
{
    const phx_core *core = deck->core;
    int64_t after[PHX_RESIDUES];
    memcpy(after, here, sizeof after);
    for (uint32_t option = core->first[job] + 1; option < core->first[job + 1]; ++option) {
        const int32_t more = deck->more[(size_t)option * deck->rows + row];
        if (more == 0) {
            continue; /* it loses for nothing */
        }
        const int64_t loss = core->loss[option] - (PHX_MUTANT_WRONG_SIGN ? -move : move) * more;
        for (uint32_t left = 0; left < PHX_RESIDUES; ++left) {
            const int64_t other =
                after[(PHX_MUTANT_WRONG_RESIDUE ? left : left - (uint32_t)more) % PHX_RESIDUES] +
                loss;
            here[left] = other < here[left] ? other : here[left];
        }
    }
}

static int64_t moved(const int64_t *move, const int32_t *amounts, uint32_t rows)
{
    int64_t sum = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        sum += move[row] * amounts[row];
    }
    return sum;
}

/* The least that a job loses at moved prices, at most 0. */
static int64_t gain_of(const phx_deck *deck, uint32_t job, const int64_t *move)
{
    const phx_core *core = deck->core;
    int64_t low = 0;
    for (uint32_t option = core->first[job] + 1; option < core->first[job + 1]; ++option) {
        const int64_t here =
            core->loss[option] - moved(move, deck->more + (size_t)option * deck->rows, deck->rows);
        low = here < low ? here : low;
    }
    return PHX_MUTANT_NO_GAIN ? 0 : low;
}

void phx_floors_fill(phx_floors *floors, const phx_deck *deck, int64_t best)
{
    const uint32_t jobs = deck->core->jobs;
    find_moves(floors, deck, best);
    for (uint32_t single = 0; single < floors->singles; ++single) {
        const uint32_t row = single / 2 % deck->rows;
        int64_t here[PHX_RESIDUES];
        end_residues(floors, deck, row, single, here);
        for (uint32_t at = jobs + 1; at-- > 0;) {
            if (at + PHX_MUTANT_LATE_LAYER < jobs) {
                const uint32_t job = deck->order[at + PHX_MUTANT_LATE_LAYER];
                add_residues(deck, job, row, floors->single[single], here);
            }
            if (at % floors->stride == 0) {
                memcpy(residues_at(floors, at / floors->stride, single), here, sizeof here);
            }
        }
    }
    for (uint32_t pattern = 0; pattern < floors->patterns; ++pattern) {
        const int64_t *move = floors->pattern + (size_t)pattern * deck->rows;
        int64_t here = 0;
        for (uint32_t at = jobs + 1; at-- > 0;) {
            if (at + PHX_MUTANT_LATE_LAYER < jobs) {
                here += gain_of(deck, deck->order[at + PHX_MUTANT_LATE_LAYER], move);
            }
            if (at % floors->stride == 0) {
                floors->rest[(size_t)(at / floors->stride) * floors->patterns + pattern] = here;
            }
        }
    }
}

static int64_t single_floor(const phx_floors *floors, uint32_t layer, uint32_t single, int32_t left)
{
    const uint32_t residue = (uint32_t)left % PHX_RESIDUES;
    return floors->single[single] * left + residues_at(floors, layer, single)[residue];
}

static int64_t pattern_floor(const phx_floors *floors, const phx_deck *deck, uint32_t layer,
                             uint32_t pattern, const int32_t *left)
{
    return moved(floors->pattern + (size_t)pattern * deck->rows, left, deck->rows) +
           floors->rest[(size_t)layer * floors->patterns + pattern];
}

/* The pattern of a state: where it wants too much. */
static uint32_t signs_of(const phx_deck *deck, const int32_t *left)
{
    uint32_t signs = 0;
    for (uint32_t row = 0; row < deck->rows && row < PATTERN_ROWS; ++row) {
        signs |= (left[row] < 0 ? UINT32_C(1) : 0) << row;
    }
    return signs;
}

/* Whether the floor of a row alone, or of all rows together, reaches so far on a step of the
 * ladder. */
static int step_reaches(const phx_floors *floors, const phx_deck *deck, uint32_t layer,
                        uint32_t step, uint32_t signs, const int32_t *left, int64_t room)
{
    for (uint32_t row = 0; row < deck->rows; ++row) {
        if (single_floor(floors, layer, single_of(deck, step, row, left[row] < 0), left[row]) >=
            room) {
            return 1;
        }
    }
    if (floors->patterns == 0) {
        return 0;
    }
    const uint32_t pattern = step * patterns_of(deck->rows) + signs;
    return pattern_floor(floors, deck, layer, pattern, left) >= room;
}

int phx_floors_reach(phx_floors *floors, const phx_deck *deck, uint32_t layer, const int32_t *left,
                     int64_t room)
{
    const uint32_t signs = signs_of(deck, left);
    if (step_reaches(floors, deck, layer, floors->last, signs, left, room)) {
        return 1;
    }
    for (uint32_t step = 0; step < STEPS; ++step) {
        if (step != floors->last && step_reaches(floors, deck, layer, step, signs, left, room)) {
            floors->last = step;
            return 1;
        }
    }
    return 0;
}

int64_t phx_floors_root(const phx_floors *floors, const phx_deck *deck)
{
    int64_t high = 0;
    for (uint32_t single = 0; single < floors->singles; ++single) {
        const int64_t here = single_floor(floors, 0, single, deck->left[single / 2 % deck->rows]);
        high = here > high ? here : high;
    }
    for (uint32_t pattern = 0; pattern < floors->patterns; ++pattern) {
        const int64_t here = pattern_floor(floors, deck, 0, pattern, deck->left);
        high = here > high ? here : high;
    }
    return deck->start + high;
}
