#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

#define CALIBRATION_SAMPLES 4096
#define CALIBRATION_NS 50000000

#define REPEATS_MAX 64

double timing_tick_ns = 1.0;
double timing_overhead = 0.0;
uint64_t timing_step = 1;

static int by_ticks(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Mean of the middle of sorted values: a quarter at each end is left out. */
static double middle(const uint32_t *sorted, uint32_t count)
{
    const uint32_t cut = (count + 1) / 4;
    double sum = 0.0;
    for (uint32_t at = cut; at < count - cut; ++at) {
        sum += sorted[at];
    }
    return sum / (count - 2 * cut);
}

void timing_calibrate(void)
{
    static uint32_t empty[CALIBRATION_SAMPLES];
    const uint64_t clock_first = clock_ns();
    const uint64_t tick_first = tick_start();
    uint64_t clock_last = clock_first;
    while (clock_last - clock_first < CALIBRATION_NS) {
        clock_last = clock_ns();
    }
    timing_tick_ns = (double)(clock_last - clock_first) / (double)(tick_end() - tick_first);
    for (uint32_t at = 0; at < CALIBRATION_SAMPLES; ++at) {
        const uint64_t before = tick_start();
        empty[at] = (uint32_t)(tick_end() - before);
    }
    qsort(empty, CALIBRATION_SAMPLES, sizeof *empty, by_ticks);
    timing_overhead = middle(empty, CALIBRATION_SAMPLES);
    timing_step = UINT32_MAX;
    for (uint32_t at = 1; at < CALIBRATION_SAMPLES; ++at) {
        const uint32_t step = empty[at] - empty[at - 1];
        /* Steps of one tick are rounding of a scaled counter. */
        timing_step = step > 1 && step < timing_step ? step : timing_step;
    }
}

series series_new(uint32_t room, uint32_t repeats)
{
    series samples = {0};
    samples.room = room;
    samples.repeats = repeats < REPEATS_MAX ? repeats : REPEATS_MAX;
    samples.ticks = malloc(sizeof *samples.ticks * room * samples.repeats);
    if (samples.ticks == NULL) {
        fputs("not enough memory for samples\n", stderr);
        exit(1);
    }
    return samples;
}

void series_free(series *samples)
{
    free(samples->ticks);
}

static void refuse(const char *reason)
{
    fputs(reason, stderr);
    exit(1);
}

void series_rewind(series *samples)
{
    if (samples->repeat == samples->repeats) {
        refuse("more repeats than the series has room for\n");
    }
    if (samples->repeat == 1) {
        samples->count = samples->at;
    } else if (samples->repeat > 1 && samples->at != samples->count) {
        refuse("a repeat has other samples than the first\n");
    }
    ++samples->repeat;
    samples->at = 0;
}

void series_add(series *samples, uint64_t ticks)
{
    if (samples->at == samples->room || samples->repeat == 0) {
        refuse("more samples than the series has room for\n");
    }
    const size_t row = (size_t)(samples->repeat - 1) * samples->room;
    samples->ticks[row + samples->at++] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* Nanoseconds of each sample, its repeats merged or (merged = 0) all of them, sorted. */
static double *sorted_ns(const series *samples, int merged, uint32_t *count)
{
    const uint32_t one = samples->at;
    *count = merged ? one : one * samples->repeat;
    double *values = malloc(sizeof *values * (*count + 1));
    if (values == NULL) {
        refuse("not enough memory for quantiles\n");
    }
    for (uint32_t at = 0; at < one; ++at) {
        uint32_t ticks[REPEATS_MAX];
        for (uint32_t repeat = 0; repeat < samples->repeat; ++repeat) {
            ticks[repeat] = samples->ticks[(size_t)repeat * samples->room + at];
            values[merged ? at : (size_t)repeat * one + at] = ticks[repeat];
        }
        if (merged) {
            qsort(ticks, samples->repeat, sizeof *ticks, by_ticks);
            values[at] = middle(ticks, samples->repeat);
        }
    }
    for (uint32_t at = 0; at < *count; ++at) {
        const double net = values[at] - timing_overhead;
        values[at] = net > 0.0 ? net * timing_tick_ns : 0.0;
    }
    qsort(values, *count, sizeof *values, by_value);
    return values;
}

static double quantile(const double *sorted, uint32_t count, double share)
{
    return count == 0 ? 0.0 : sorted[(uint32_t)(share * (double)(count - 1) + 0.5)];
}

void series_print(const series *samples)
{
    uint32_t count = 0;
    uint32_t raw_count = 0;
    double *merged = sorted_ns(samples, 1, &count);
    double *raw = sorted_ns(samples, 0, &raw_count);
    double sum = 0.0;
    for (uint32_t at = 0; at < count; ++at) {
        sum += merged[at];
    }
    printf("{\"count\": %u, \"median\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p999\": %.1f, "
           "\"max\": %.1f, \"mean\": %.1f, \"raw_median\": %.1f, \"raw_p99\": %.1f, "
           "\"raw_max\": %.1f, \"bulk\": %.2f}",
           count, quantile(merged, count, 0.5), quantile(merged, count, 0.9),
           quantile(merged, count, 0.99), quantile(merged, count, 0.999),
           quantile(merged, count, 1.0), count == 0 ? 0.0 : sum / count,
           quantile(raw, raw_count, 0.5), quantile(raw, raw_count, 0.99),
           quantile(raw, raw_count, 1.0), samples->bulk_ns);
    free(merged);
    free(raw);
}
