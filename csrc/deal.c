/* Jobs that are alike take what their kind was given in order: the first what is worth most. */
#include "core.h"
#include "mutants.h"

#include <string.h>

#define FACTOR UINT64_C(0x9E3779B97F4A7C15)

/* A job's choices as a word: equal where all values and demands are. */
static uint64_t word_of(const phx_round *round, uint32_t job)
{
    uint64_t word = round->first[job + 1] - round->first[job];
    for (uint32_t choice = round->first[job]; choice < round->first[job + 1]; ++choice) {
        word = (word ^ (uint64_t)round->value[choice]) * FACTOR;
        for (uint32_t row = 0; row < round->rows && !PHX_MUTANT_DEALT_UNLIKE; ++row) {
            word = (word ^ (word >> 29) ^ phx_wants(round, choice)[row]) * FACTOR;
        }
    }
    return word ^ (word >> 32);
}

static int alike(const phx_round *round, uint32_t one, uint32_t other)
{
    const uint32_t choices = round->first[one + 1] - round->first[one];
    if (round->first[other + 1] - round->first[other] != choices) {
        return 0;
    }
    const uint32_t begin = round->first[one];
    const uint32_t beside = round->first[other];
    for (uint32_t place = 0; place < choices; ++place) {
        if (round->value[begin + place] != round->value[beside + place] ||
            (memcmp(phx_wants(round, begin + place), phx_wants(round, beside + place),
                    round->rows * sizeof(uint32_t)) != 0 &&
             !PHX_MUTANT_DEALT_UNLIKE)) {
            return 0;
        }
    }
    return 1;
}

/* Whether a place of the choices of a job comes before another: more value, then lower; none last.
 */
static int before(const phx_round *round, uint32_t job, int32_t one, int32_t other)
{
    if (one < 0 || other < 0) {
        return other < 0 && one >= 0;
    }
    const int64_t *value = round->value + round->first[job];
    return value[one] > value[other] || (value[one] == value[other] && one < other);
}

/* Sorts what the jobs at some places of the order have, stably, by merging into `spare`. */
static void sort_places(const phx_round *round, const uint32_t *jobs, uint32_t count,
                        int32_t *chosen, int32_t *places, int32_t *spare)
{
    for (uint32_t at = 0; at < count; ++at) {
        places[at] = chosen[jobs[at]];
    }
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t left = begin;
            const uint32_t middle = count - begin < width ? count : begin + width;
            const uint32_t end = count - begin < 2 * width ? count : begin + 2 * width;
            uint32_t right = middle;
            for (uint32_t to = begin; to < end; ++to) {
                const int takes_right =
                    left == middle ||
                    (right < end && before(round, jobs[0], places[right], places[left]));
                spare[to] = takes_right ? places[right++] : places[left++];
            }
        }
        memcpy(places, spare, count * sizeof *places);
    }
    for (uint32_t at = 0; at < count; ++at) {
        chosen[jobs[at]] = places[PHX_MUTANT_DEALT_BACK ? count - 1 - at : at];
    }
}

typedef struct dealing {
    uint64_t *words;
    uint32_t *order;
    uint32_t *unlike;
    int32_t *places;
    int32_t *spare;
} dealing;

static void lay_out(dealing *all, uint32_t jobs, phx_room *room)
{
    all->words = phx_next(room, jobs * sizeof *all->words);
    all->order = phx_next(room, jobs * sizeof *all->order);
    all->unlike = phx_next(room, jobs * sizeof *all->unlike);
    all->places = phx_next(room, jobs * sizeof *all->places);
    all->spare = phx_next(room, jobs * sizeof *all->spare);
}

size_t phx_deal_bytes(uint32_t jobs)
{
    dealing all;
    phx_room room = {NULL, 0};
    lay_out(&all, jobs, &room);
    return room.used;
}

/* Brings jobs that are alike the first from a place of the order on to its front, the lowest first;
 * returns how many they are. Others may have the same word. */
static uint32_t gather(const phx_round *round, const dealing *all, uint32_t begin)
{
    uint32_t *order = all->order + begin;
    const uint32_t most = round->jobs - begin;
    uint32_t count = 0;
    uint32_t others = 0;
    for (uint32_t at = 0; at < most && all->words[order[at]] == all->words[order[0]]; ++at) {
        if (alike(round, order[0], order[at])) {
            order[count++] = order[at];
        } else {
            all->unlike[others++] = order[at];
        }
    }
    memcpy(order + count, all->unlike, others * sizeof *order);
    return count;
}

phx_status phx_round_deal(const phx_round *round, void *scratch, int32_t *chosen)
{
    dealing all;
    phx_room room = {scratch, 0};
    lay_out(&all, round->jobs, &room);
    for (uint32_t job = 0; job < round->jobs; ++job) {
        const uint32_t choices = round->first[job + 1] - round->first[job];
        if (chosen[job] < -1 || chosen[job] >= (int64_t)choices) {
            return PHX_BAD_GANG;
        }
        all.words[job] = word_of(round, job);
    }
    phx_order_by(all.words, round->jobs, all.order);
    for (uint32_t begin = 0; begin < round->jobs;) {
        const uint32_t count = gather(round, &all, begin);
        sort_places(round, all.order + begin, count, chosen, all.places, all.spare);
        begin += count;
    }
    return PHX_OK;
}
