/* Tables of utilities and demands that cases fill in. */
#ifndef TABLE_H
#define TABLE_H

#include "small.h"

#define TABLE_JOBS 6
#define WIDTH 4
#define TABLE_ROWS 2
#define GROUPS 2
#define WANTS (GROUPS * WIDTH * TABLE_ROWS)

typedef struct given {
    phx_table table;
    double utility[TABLE_JOBS * WIDTH];
    double counted[TABLE_JOBS * WIDTH];
    uint32_t group[TABLE_JOBS];
    uint32_t demand[WANTS];
    int64_t capacity[TABLE_ROWS];
    int32_t fixed[TABLE_JOBS];
    int32_t held[TABLE_JOBS];
    uint32_t order[TABLE_JOBS];
} given;

static inline void use(given *of, uint32_t jobs, uint32_t width, uint32_t rows)
{
    memset(of, 0, sizeof *of);
    memset(of->fixed, 0xff, sizeof of->fixed);
    memset(of->held, 0xff, sizeof of->held);
    of->capacity[0] = 100;
    of->capacity[1] = 100;
    for (uint32_t job = 0; job < TABLE_JOBS; ++job) {
        of->order[job] = job;
    }
    of->table = (phx_table){jobs, width,      rows,         1,         NULL,     of->utility,
                            NULL, of->demand, of->capacity, of->fixed, of->held, 0.0};
}

#endif
