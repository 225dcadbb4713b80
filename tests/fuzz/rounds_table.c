/* A table from the tape. */
#include "rounds.h"

#include <math.h>
#include <string.h>

/* Few values, so that answers tie; now and then what is no number, or any double there is. */
static double any_utility(tape *in, int wild)
{
    const uint32_t drawn = tape_next(in);
    if (drawn < 224) {
        return drawn % 16 * 0.25;
    }
    if (drawn < 240 || !wild) {
        return drawn % 4 == 0 ? -0.0 : drawn % 4 == 1 ? -1.0 : NAN;
    }
    union {
        uint64_t word;
        double number;
    } any = {0};
    for (uint32_t byte = 0; byte < sizeof any.word; ++byte) {
        any.word = any.word << 8 | tape_next(in);
    }
    return drawn < 244 ? ldexp(1.0 + drawn % 4, 1021) : any.number;
}

static void draw_jobs(fixture *on, tape *in, int wild)
{
    phx_table *table = &on->table;
    const uint32_t start = tape_next(in);
    for (uint32_t job = 0; job < table->jobs; ++job) {
        const uint32_t drawn = tape_next(in);
        for (uint32_t at = 0; at < table->configurations; ++at) {
            const uint32_t pair = job * table->configurations + at;
            on->utility[pair] = any_utility(in, wild);
            on->counted[pair] = on->utility[pair] * 0.7;
        }
        on->group[job] = drawn % table->groups;
        if (job > 0 && drawn % 8 == 7) { /* alike the one before */
            const size_t row = table->configurations * sizeof *on->utility;
            memcpy(on->utility + job * table->configurations,
                   on->utility + (job - 1) * table->configurations, row);
            memcpy(on->counted + job * table->configurations,
                   on->counted + (job - 1) * table->configurations, row);
            on->group[job] = on->group[job - 1];
        }
        on->fixed[job] = drawn >= 240 ? 0 : -1;
        on->held[job] = (int32_t)(drawn / 4 % (table->configurations + 1)) - 1;
        on->order[job] = start % 2 ? table->jobs - 1 - job : (start + job) % table->jobs;
    }
}

static void draw_rows(fixture *on, tape *in)
{
    static const uint32_t units[4] = {1, 3, 1000, 1U << 28};
    const phx_table *table = &on->table;
    const uint32_t kinds = table->groups * table->configurations;
    const uint32_t unit = units[tape_next(in) % 4];
    for (uint32_t at = 0; at < kinds * table->rows; ++at) {
        const uint32_t drawn = tape_next(in);
        on->demand[at] = drawn >= 252 ? UINT32_MAX - drawn % 4 : drawn % 8 * unit;
    }
    for (uint32_t row = 0; row < table->rows; ++row) {
        const uint32_t drawn = tape_next(in);
        const int64_t odd = drawn / 32 % 4;
        on->capacity[row] =
            drawn >= 250 ? INT64_C(1) << (drawn % 16 + 25) : (int64_t)(drawn % 32) * unit + odd;
    }
}

void draw_table(fixture *on, tape *in)
{
    static const int32_t job_bits[4] = {50, 30, 9, 5};
    const uint32_t kind = tape_next(in);
    const uint32_t shape = tape_next(in);
    const uint32_t rows = tape_next(in) % 8;
    const uint32_t jobs = shape % 4 == 0 ? kind % (JOBS_MAX + 1) : kind % 8;
    on->table = (phx_table){jobs,
                            1 + shape / 4 % WIDTH_MAX,
                            rows < 6 ? 1 + rows % 3 : rows - 1,
                            1,
                            NULL,
                            on->utility,
                            shape & 2 ? on->counted : NULL,
                            on->demand,
                            on->capacity,
                            kind & 16 ? on->fixed : NULL,
                            kind & 64 ? on->held : NULL,
                            shape / 64 * 0.5};
    if (kind & 128) {
        on->table.groups = GROUPS_MAX;
        on->table.group = on->group;
    }
    on->bits = kind & 64 ? 2 : 0;
    on->job_bits = job_bits[shape / 16 % 4];
    on->all_bits = on->job_bits + 8;
    draw_rows(on, in);
    draw_jobs(on, in, kind & 32);
}
