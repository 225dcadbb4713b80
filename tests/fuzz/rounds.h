/* What the parts of the rounds' fuzz target share: a round made of a table, and what is known of
 * its answers. */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "solve.h"
#include "tape.h"

#define JOBS_MAX 24
#define WIDTH_MAX 4
#define ROUND_ROWS 6
#define GROUPS_MAX 3
#define CHOICES_ALL (JOBS_MAX * WIDTH_MAX)
#define KINDS_ALL (GROUPS_MAX * WIDTH_MAX)
#define OPTIONS_MAX (JOBS_MAX * (WIDTH_MAX + 1))
#define DENSE_MAX 4096 /* of a capacity, where every amount is looked at */
#define LARGE (INT64_C(1) << 62)

__extension__ typedef __int128 wide;

typedef struct fixture {
    phx_table table;
    double utility[CHOICES_ALL];
    uint32_t group[JOBS_MAX];
    uint32_t demand[KINDS_ALL * ROUND_ROWS];
    int64_t capacity[ROUND_ROWS];
    int32_t fixed[JOBS_MAX];
    int32_t held[JOBS_MAX];
    uint32_t order[JOBS_MAX];
    double counted[CHOICES_ALL];
    int32_t job_bits;
    int32_t all_bits;
    int32_t bits;
    phx_round round;
    uint32_t first[JOBS_MAX + 1];
    uint32_t kind[CHOICES_ALL];
    int64_t value[CHOICES_ALL];
    int64_t scratch[KINDS_ALL];
    int32_t alone[JOBS_MAX];
    int32_t shift;
    int64_t prices[ROUND_ROWS];
    int64_t bound; /* at these prices, -1 = it is refused */
    int64_t known; /* some answer is worth so much */
    int64_t most;  /* and none is worth more than that */
} fixture;

enum {
    BEST,
    NONE_BETTER,
    TOO_MANY,
    FLOOR_RAISED,
    THINNED,
    HOPELESS,
    DENSE,
    SMALL,
    TRIVIAL,
    DEALT,
    MENDED,
    NOT_MENDED,
    FILLED,
    NOT_FILLED,
    NO_ROOM,
    DEAR,
    FOUND,
    OUTCOMES
};

/* rounds_table.c: a table of the first bytes. */
void draw_table(fixture *on, tape *in);

/* rounds_build.c: a round of it that is checked, 0 where a utility is infinite. */
int fixture_build(fixture *on, tape *in);

/* rounds_answers.c: what an answer is worth, -1 where it wants too much; an answer or a bound that
 * was told joins what is known; any answer from the tape; and all answers, where they are few. */
int64_t worth_of(const fixture *on, const int32_t *chosen);
int64_t check_answer(fixture *on, const int32_t *chosen);
void check_bound(fixture *on, wide bound);
void any_answer(const fixture *on, tape *in, int32_t *chosen);
void look_at_all(fixture *on);

/* rounds_steps.c */
void do_sum(fixture *on, tape *in);
void do_mend(fixture *on, tape *in);
void do_fill(fixture *on, tape *in);
void do_dense(fixture *on, tape *in);

/* rounds_prices.c: what a place of a job loses at the prices; and steps. */
wide loss_of(const fixture *on, uint32_t job, int32_t place);
void do_prices(fixture *on, tape *in);
void do_find(fixture *on, tape *in);
void do_losses(fixture *on, tape *in);

/* A core, and memory for it. */
typedef struct open_core {
    phx_core core;
    int64_t width;
    uint32_t job[JOBS_MAX];
    uint32_t first[JOBS_MAX + 1];
    int32_t place[OPTIONS_MAX];
    int64_t loss[OPTIONS_MAX];
    int32_t base[JOBS_MAX];
    int64_t left[ROUND_ROWS];
} open_core;

/* rounds_core.c */
void do_core(fixture *on, tape *in);

/* rounds_thin.c: takes out options by which every answer loses at least `total`; the least that
 * answers of the core lose. */
int64_t thin(fixture *on, open_core *of, int64_t total);

/* rounds_small.c: a small round in one call; and what jobs that are alike have, in order. */
void do_small(fixture *on, tape *in);
void do_deal(fixture *on, tape *in);

#endif
