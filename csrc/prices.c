/* Prices of capacities: the linear relaxation's dual, by cutting planes inside a box.
 *
 * The bound L(price) = max over x of value(x) + price . (capacity - demand(x)) is convex, and what
 * the jobs take at one price gives a plane below it everywhere. The lowest point of all planes so
 * far, within a box around the best price, is the next one to ask; the box follows and shrinks when
 * asking did not help. The lowest point is found by the simplex method on the planes' weights:
 * rows + 1 equations, planes and the box's sides as columns.
 */
#include "mutants.h"
#include "solve.h"

#include <math.h>
#include <string.h>

#define PLANES_MAX 96
#define SIZE_MAX_ (PHX_ROWS_MAX + 1)
#define PIVOTS_MAX 2000
#define EPSILON 1e-11
#define SAMPLE 400
#define SAMPLE_PASSES 200
#define GOLDEN 0.6180339887498949
#define COST_MAX (INT64_C(1) << 62) /* more than any choice is worth, and twice it a word */
#define BITS 64

static double size_of(double value)
{
    return value < 0 ? -value : value;
}

typedef struct plane {
    double value;
    double slack[PHX_ROWS_MAX];
    double prices[PHX_ROWS_MAX]; /* at which it was asked */
} plane;

/* The planes, and the basis of the simplex method: columns 0 .. PLANES_MAX - 1 are planes, then two
 * sides of the box for each row. */
typedef struct model {
    uint32_t rows;
    uint32_t planes;
    double low[PHX_ROWS_MAX];
    double high[PHX_ROWS_MAX];
    plane plane[PLANES_MAX];
    uint32_t basis[SIZE_MAX_];
    double weight[SIZE_MAX_];
    double inverse[SIZE_MAX_][SIZE_MAX_];
} model;

/* What each kind costs at some prices, at most COST_MAX. PHX_BAD_GANG: a price below 0. */
static phx_status find_costs(const phx_round *round, const int64_t *prices)
{
    for (uint32_t row = 0; row < round->rows; ++row) {
        if (prices[row] < 0) {
            return PHX_BAD_GANG;
        }
    }
    for (uint32_t kind = 0; kind < round->kinds; ++kind) {
        phx_wide cost = 0;
        for (uint32_t row = 0; row < round->rows; ++row) {
            cost += (phx_wide)prices[row] * round->demand[(size_t)kind * round->rows + row];
        }
        round->scratch[kind] = cost > COST_MAX ? COST_MAX : (int64_t)cost;
    }
    return PHX_OK;
}

/* What a job has beyond its price at most, at the costs found; none has 0. */
static int64_t best_worth(const phx_round *round, uint32_t job)
{
    int64_t best = 0;
    for (uint32_t choice = round->first[job]; choice < round->first[job + 1]; ++choice) {
        const int64_t worth = round->value[choice] - round->scratch[round->kind[choice]];
        best = worth > best ? worth : best;
    }
    return best;
}

phx_status phx_price_bound(const phx_round *round, const int64_t *prices, int64_t *bound)
{
    if (find_costs(round, prices) != PHX_OK) {
        return PHX_BAD_GANG;
    }
    phx_wide sum = 0;
    for (uint32_t row = 0; row < round->rows - PHX_MUTANT_FREE_ROW; ++row) {
        sum += (phx_wide)prices[row] * round->capacity[row];
    }
    for (uint32_t job = 0; job < round->jobs; ++job) {
        sum += best_worth(round, job);
    }
    if (sum >= COST_MAX) {
        return PHX_BAD_GANG;
    }
    *bound = (int64_t)sum;
    return PHX_OK;
}

/* Bits of a number from 0. */
static uint32_t bits_of(int64_t number)
{
    return number == 0 ? 0 : 64 - (uint32_t)__builtin_clzll((uint64_t)number);
}

phx_status phx_price_losses(const phx_round *round, const int64_t *prices, int64_t *loss,
                            int64_t *none, uint32_t *counts)
{
    if (find_costs(round, prices) != PHX_OK) {
        return PHX_BAD_GANG;
    }
    memset(counts, 0, BITS * sizeof *counts);
    for (uint32_t job = 0; job < round->jobs; ++job) {
        none[job] = best_worth(round, job);
        for (uint32_t choice = round->first[job]; choice < round->first[job + 1]; ++choice) {
            const int64_t worth = round->value[choice] - round->scratch[round->kind[choice]];
            loss[choice] = none[job] - worth;
            ++counts[bits_of(loss[choice])];
        }
    }
    for (uint32_t bit = 1; bit < BITS; ++bit) {
        counts[bit] += counts[bit - 1];
    }
    return PHX_OK;
}

/* The jobs that are asked: all, or one in `stride` with a share of the capacity. */
typedef struct asked {
    const phx_round *round;
    uint32_t stride;
    uint32_t jobs;
    double share;
} asked;

/* What a kind costs. */
static double cost_of(const phx_round *round, const double *prices, uint32_t kind)
{
    double cost = 0.0;
    for (uint32_t row = 0; row < round->rows; ++row) {
        cost += prices[row] * round->demand[(size_t)kind * round->rows + row];
    }
    return cost;
}

/* Costs of all kinds, where those are fewer than the choices that will ask for them. */
static const double *costs_of(const phx_round *round, const double *prices, size_t choices)
{
    if (round->kinds >= choices) {
        return NULL;
    }
    double *costs = (double *)(void *)round->scratch;
    for (uint32_t kind = 0; kind < round->kinds; ++kind) {
        costs[kind] = cost_of(round, prices, kind);
    }
    return costs;
}

/* The choice of a job that is worth most beyond its price, or the end of its choices. */
static uint32_t best_choice(const phx_round *round, const double *prices, const double *costs,
                            uint32_t job)
{
    const uint32_t end = round->first[job + 1];
    double best = 0.0;
    uint32_t taken = end;
    for (uint32_t choice = round->first[job]; choice < end; ++choice) {
        const uint32_t kind = round->kind[choice];
        const double cost = costs == NULL ? cost_of(round, prices, kind) : costs[kind];
        const double worth = (double)round->value[choice] - cost;
        taken = worth > best ? choice : taken;
        best = worth > best ? worth : best;
    }
    return taken;
}

/* What the jobs take at these prices, as a plane. */
static plane ask(const asked *of, const double *prices)
{
    const phx_round *round = of->round;
    const uint32_t rows = round->rows;
    const double *costs = costs_of(round, prices, round->first[round->jobs] / of->stride);
    int64_t value = 0;
    int64_t used[PHX_ROWS_MAX] = {0};
    for (uint32_t at = 0; at < of->jobs; ++at) {
        const uint32_t job = at * of->stride;
        const uint32_t taken = best_choice(round, prices, costs, job);
        if (taken != round->first[job + 1]) {
            value += round->value[taken];
            for (uint32_t row = 0; row < rows; ++row) {
                used[row] += phx_wants(round, taken)[row];
            }
        }
    }
    plane made = {(double)value, {0.0}, {0.0}};
    for (uint32_t row = 0; row < rows; ++row) {
        made.prices[row] = prices[row];
        made.slack[row] = (double)round->capacity[row] * of->share - (double)used[row];
    }
    return made;
}

static double height(const plane *at, uint32_t rows, const double *prices)
{
    double sum = at->value;
    for (uint32_t row = 0; row < rows; ++row) {
        sum += at->slack[row] * prices[row];
    }
    return sum;
}

/* Entry of a column: equation 0 makes the weights 1, equation row + 1 balances a row's slack. */
static double entry(const model *all, uint32_t column, uint32_t equation)
{
    if (column < PLANES_MAX) {
        return equation == 0 ? 1.0 : -all->plane[column].slack[equation - 1];
    }
    const uint32_t side = column - PLANES_MAX;
    return side / 2 + 1 != equation ? 0.0 : side % 2 == 0 ? 1.0 : -1.0;
}

static double gain(const model *all, uint32_t column)
{
    if (column < PLANES_MAX) {
        return all->plane[column].value;
    }
    const uint32_t side = column - PLANES_MAX;
    return side % 2 == 0 ? all->low[side / 2] : -all->high[side / 2];
}

/* The basis of one plane and the sides of the box that it falls to. */
static void start_basis(model *all, uint32_t first)
{
    memset(all->inverse, 0, sizeof all->inverse);
    all->basis[0] = first;
    all->weight[0] = 1.0;
    all->inverse[0][0] = 1.0;
    for (uint32_t row = 0; row < all->rows; ++row) {
        const double slack = all->plane[first].slack[row];
        const double sign = slack >= 0 ? 1.0 : -1.0;
        all->basis[row + 1] = PLANES_MAX + 2 * row + (slack >= 0 ? 0 : 1);
        all->weight[row + 1] = size_of(slack);
        all->inverse[row + 1][0] = sign * slack;
        all->inverse[row + 1][row + 1] = sign;
    }
}

/* A column enters the basis; 0: it cannot, or nothing limits it. */
static int enter(model *all, uint32_t column)
{
    const uint32_t size = all->rows + 1;
    double step[SIZE_MAX_];
    uint32_t leaves = size;
    double least = INFINITY;
    for (uint32_t at = 0; at < size; ++at) {
        step[at] = 0.0;
        for (uint32_t equation = 0; equation < size; ++equation) {
            step[at] += all->inverse[at][equation] * entry(all, column, equation);
        }
        if (step[at] > EPSILON && all->weight[at] / step[at] < least) {
            least = all->weight[at] / step[at];
            leaves = at;
        }
    }
    if (leaves == size) {
        return 0;
    }
    for (uint32_t at = 0; at < size; ++at) {
        all->weight[at] -= at == leaves ? 0.0 : step[at] * least;
        all->weight[at] = all->weight[at] < 0 ? 0.0 : all->weight[at];
    }
    all->weight[leaves] = least;
    all->basis[leaves] = column;
    for (uint32_t equation = 0; equation < size; ++equation) {
        all->inverse[leaves][equation] /= step[leaves];
        for (uint32_t at = 0; at < size; ++at) {
            if (at != leaves) {
                all->inverse[at][equation] -= step[at] * all->inverse[leaves][equation];
            }
        }
    }
    return 1;
}

/* The lowest point of the planes within the box: its prices, and how low it is. */
static double lowest(model *all, double *prices)
{
    const uint32_t size = all->rows + 1;
    double dual[SIZE_MAX_];
    for (uint32_t pivot = 0; pivot < PIVOTS_MAX; ++pivot) {
        for (uint32_t equation = 0; equation < size; ++equation) {
            dual[equation] = 0.0;
            for (uint32_t at = 0; at < size; ++at) {
                dual[equation] += gain(all, all->basis[at]) * all->inverse[at][equation];
            }
        }
        uint32_t best = UINT32_MAX;
        double most = EPSILON * (1.0 + size_of(dual[0]));
        for (uint32_t at = 0; at < all->planes + 2 * all->rows; ++at) {
            const uint32_t column = at < all->planes ? at : PLANES_MAX + at - all->planes;
            double reduced = gain(all, column);
            for (uint32_t equation = 0; equation < size; ++equation) {
                reduced -= dual[equation] * entry(all, column, equation);
            }
            if (reduced > most) {
                most = reduced;
                best = column;
            }
        }
        if (best == UINT32_MAX || !enter(all, best)) {
            break;
        }
    }
    for (uint32_t row = 0; row < all->rows; ++row) {
        const double price = dual[row + 1];
        prices[row] = price < all->low[row]    ? all->low[row]
                      : price > all->high[row] ? all->high[row]
                                               : price;
    }
    return dual[0];
}

/* A plane joins the others; when they are many it takes the place of the one that is highest above
 * the bound at the prices, and is in no basis. */
static void add_plane(model *all, const plane *made, const double *prices)
{
    if (all->planes < PLANES_MAX) {
        all->plane[all->planes++] = *made;
        return;
    }
    uint32_t worst = UINT32_MAX;
    double low = 0.0;
    for (uint32_t at = 0; at < PLANES_MAX; ++at) {
        int used = 0;
        for (uint32_t place = 0; place <= all->rows; ++place) {
            used |= all->basis[place] == at;
        }
        const double here = height(&all->plane[at], all->rows, prices);
        if (!used && (worst == UINT32_MAX || here < low)) {
            low = here;
            worst = at;
        }
    }
    all->plane[worst] = *made;
}

/* A price at which the first box is as wide as the prices that matter. */
static double first_width(const asked *of, uint32_t row)
{
    const phx_round *round = of->round;
    double value = 0.0;
    for (uint32_t at = 0; at < of->jobs; ++at) {
        const uint32_t job = at * of->stride;
        int64_t best = 0;
        for (uint32_t choice = round->first[job]; choice < round->first[job + 1]; ++choice) {
            const int wants = phx_wants(round, choice)[row] > 0;
            best = wants && round->value[choice] > best ? round->value[choice] : best;
        }
        value += (double)best;
    }
    const double capacity = (double)round->capacity[row] * of->share;
    return value / (capacity > 1.0 ? capacity : 1.0) + 1.0;
}

/* The box around the best prices so far. */
typedef struct box {
    double centre[PHX_ROWS_MAX];
    double width[PHX_ROWS_MAX];
    double least[PHX_ROWS_MAX]; /* narrower would be lost in rounding */
} box;

static void scale_box(box *around, uint32_t rows, double by)
{
    for (uint32_t row = 0; row < rows; ++row) {
        const double width = around->width[row] * by;
        around->width[row] = width < around->least[row] ? around->least[row] : width;
    }
}

/* The lowest point of the planes in the box, and whether it is no side of it that holds it up. */
static double lowest_inside(model *all, const box *around, double *next, int *inside)
{
    for (uint32_t row = 0; row < all->rows; ++row) {
        const double low = around->centre[row] - around->width[row];
        all->low[row] = low > 0 ? low : 0.0;
        all->high[row] = around->centre[row] + around->width[row];
    }
    const double low = lowest(all, next);
    *inside = 1;
    for (uint32_t row = 0; row < all->rows; ++row) {
        *inside &=
            (next[row] > all->low[row] || all->low[row] == 0.0) && next[row] < all->high[row];
    }
    return low;
}

/* Lowers the bound of some jobs until the planes say that there is no more to gain. */
static void descend(const asked *of, model *all, box *around, double tolerance, uint32_t most,
                    uint32_t *passes)
{
    double next[PHX_ROWS_MAX];
    int inside = 0;
    int widened = 0;
    all->rows = of->round->rows;
    all->planes = 0;
    plane made = ask(of, around->centre);
    double least = height(&made, all->rows, around->centre);
    add_plane(all, &made, around->centre);
    start_basis(all, 0);
    ++*passes;
    for (uint32_t step = 0; *passes < most && step < 4 * most; ++step) {
        const double low = lowest_inside(all, around, next, &inside);
        if (least - low <= tolerance * size_of(least)) {
            /* A point that a wider box leaves as low as it was is the lowest of all. */
            if (inside || widened) {
                return;
            }
            scale_box(around, all->rows, 4.0);
            widened = 1;
            continue;
        }
        widened = 0;
        made = ask(of, next);
        ++*passes;
        add_plane(all, &made, next);
        const double here = height(&made, all->rows, next);
        if (here < least) {
            least = here;
            memcpy(around->centre, next, sizeof next);
            scale_box(around, all->rows, inside ? 1.0 : 2.0);
        } else {
            scale_box(around, all->rows, 0.5);
        }
    }
}

/* The plane that a job goes by when each has its share of the jobs: spread evenly, and alike for
 * those that are alike, who at one price would all do the same. */
static const plane *turn_of(const model *all, uint32_t job)
{
    const double turns = (double)(job + 1) * GOLDEN;
    double left = turns - (double)(uint64_t)turns; /* what is behind the point */
    const plane *mine = NULL;
    for (uint32_t place = 0; place <= all->rows && left >= 0; ++place) {
        if (all->basis[place] < PLANES_MAX) {
            mine = &all->plane[all->basis[place]];
            left -= all->weight[place];
        }
    }
    return mine;
}

/* What each job takes at the best prices, and at the planes that hold the lowest point up. */
static void take_all(const asked *of, const model *all, const double *prices, int32_t *chosen,
                     int32_t *shared)
{
    const phx_round *round = of->round;
    const double *costs = costs_of(round, prices, round->first[round->jobs]);
    for (uint32_t job = 0; job < of->jobs; ++job) {
        const uint32_t end = round->first[job + 1];
        const uint32_t best = best_choice(round, prices, costs, job);
        const uint32_t turn = best_choice(round, turn_of(all, job)->prices, NULL, job);
        chosen[job] = best == end ? -1 : (int32_t)(best - round->first[job]);
        shared[job] = turn == end ? -1 : (int32_t)(turn - round->first[job]);
    }
}

/* Prices of a sample are near those of all. */
static void sample(const phx_round *round, box *around)
{
    const uint32_t stride = round->jobs / SAMPLE;
    uint32_t passes = 0;
    asked some = {round, stride, SAMPLE, 1.0 / stride};
    model all;
    descend(&some, &all, around, 1e-6, SAMPLE_PASSES, &passes);
    for (uint32_t row = 0; row < round->rows; ++row) {
        around->width[row] = (around->centre[row] + around->width[row]) / 16;
    }
}

phx_status phx_price_find(const phx_round *round, double *prices, double tolerance, uint32_t most,
                          int32_t *chosen, int32_t *shared, double *bound, uint32_t *passes)
{
    model planes;
    box around;
    int known = 0;
    if (round->rows == 0 || round->rows > PHX_ROWS_MAX) {
        return PHX_BAD_GANG;
    }
    asked all = {round, 1, round->jobs, 1.0};
    for (uint32_t row = 0; row < round->rows; ++row) {
        const double widest = first_width(&all, row);
        around.centre[row] = prices[row] > 0 ? prices[row] : 0.0;
        around.width[row] = prices[row] > 0 ? prices[row] / 16 : widest;
        around.least[row] = widest * 1e-13;
        known |= prices[row] > 0;
    }
    if (!known && round->jobs >= 2 * SAMPLE) {
        sample(round, &around);
    }
    *passes = 0;
    descend(&all, &planes, &around, tolerance, most, passes);
    take_all(&all, &planes, around.centre, chosen, shared);
    const plane made = ask(&all, around.centre);
    ++*passes;
    memcpy(prices, around.centre, round->rows * sizeof *prices);
    *bound = height(&made, round->rows, around.centre);
    return PHX_OK;
}
