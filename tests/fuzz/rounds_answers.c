/* Answers of a round: what they are worth, and what is known of all of them. */
#include "rounds.h"

#include <string.h>

#define FEW 4096 /* answers: all are looked at */

int64_t worth_of(const fixture *on, const int32_t *chosen)
{
    wide left[ROUND_ROWS];
    wide total = 0;
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        left[row] = on->capacity[row];
    }
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        const uint32_t choice = on->first[job] + (uint32_t)chosen[job];
        require(chosen[job] >= -1 && (chosen[job] < 0 || choice < on->first[job + 1]), "a place");
        total += chosen[job] < 0 ? 0 : on->value[choice];
        for (uint32_t row = 0; chosen[job] >= 0 && row < on->table.rows; ++row) {
            left[row] -= on->demand[on->kind[choice] * on->table.rows + row];
        }
    }
    require(total < LARGE, "a total leaves 62 bits");
    for (uint32_t row = 0; row < on->table.rows; ++row) {
        if (left[row] < 0) {
            return -1;
        }
    }
    return (int64_t)total;
}

int64_t check_answer(fixture *on, const int32_t *chosen)
{
    const int64_t worth = worth_of(on, chosen);
    require(worth >= 0, "an answer wants too much");
    on->known = worth > on->known ? worth : on->known;
    require(on->known <= on->most, "an answer is worth more than a bound");
    return worth;
}

void check_bound(fixture *on, wide bound)
{
    on->most = bound < on->most ? (int64_t)bound : on->most;
    require(on->known <= on->most, "a bound is below an answer");
}

void any_answer(const fixture *on, tape *in, int32_t *chosen)
{
    const uint32_t kind = tape_next(in) % 3;
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        const uint32_t places = on->first[job + 1] - on->first[job];
        chosen[job] = kind == 0   ? -1
                      : kind == 1 ? on->alone[job]
                                  : (int32_t)(tape_next(in) % (places + 1)) - 1;
    }
}

/* The next of all answers; 0: that was the last. */
static int next_answer(const fixture *on, int32_t *chosen)
{
    for (uint32_t job = 0; job < on->table.jobs; ++job) {
        if (++chosen[job] < (int32_t)(on->first[job + 1] - on->first[job])) {
            return 1;
        }
        chosen[job] = -1;
    }
    return 0;
}

void look_at_all(fixture *on)
{
    int32_t chosen[JOBS_MAX];
    uint64_t count = 1;
    on->bound = -1;
    on->most = LARGE;
    for (uint32_t job = 0; job < on->table.jobs && count <= FEW; ++job) {
        count *= on->first[job + 1] - on->first[job] + 1;
    }
    if (count > FEW) {
        return;
    }
    memset(chosen, 0xff, sizeof chosen);
    do {
        const int64_t worth = worth_of(on, chosen);
        on->known = worth > on->known ? worth : on->known;
    } while (next_answer(on, chosen));
    on->most = on->known;
}
