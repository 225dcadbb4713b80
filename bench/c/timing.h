/* timing: one operation at a time in nanoseconds, and the quantiles of many.
 *
 * The counter is rdtsc or cntvct between fences, elsewhere clock_gettime; the mean cost of reading
 * it twice is taken off every sample. A stream is repeated, and a sample is the mean of the middle
 * half of its repeats: what the operation costs, without what else the machine did, and finer than
 * the counter's step (10 ns on some machines). Raw quantiles, of every repeat, stand beside.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
#define TIMING_SOURCE "rdtsc"
static inline uint64_t tick_start(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static inline uint64_t tick_end(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high)::"rcx", "memory");
    return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
#define TIMING_SOURCE "cntvct"
static inline uint64_t tick_start(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

static inline uint64_t tick_end(void)
{
    return tick_start();
}
#else
#define TIMING_SOURCE "clock_gettime"
static inline uint64_t tick_start(void)
{
    return clock_ns();
}

static inline uint64_t tick_end(void)
{
    return clock_ns();
}
#endif

/* Nanoseconds a tick, ticks that an empty measurement takes, and the smallest step of the counter
 * in ticks; set by timing_calibrate. */
extern double timing_tick_ns;
extern double timing_overhead;
extern uint64_t timing_step;
void timing_calibrate(void);

/* Samples of one kind of operation, `count` a repeat. */
typedef struct series {
    uint32_t *ticks; /* [repeats][room] */
    uint32_t room;
    uint32_t repeats;
    uint32_t repeat; /* 1 + the current one, 0 before the first */
    uint32_t at;     /* next sample of this repeat */
    uint32_t count;  /* samples of one repeat */
    double bulk_ns;  /* an operation's mean where the stream ran untimed; 0 where it did not */
} series;

series series_new(uint32_t room, uint32_t repeats);
void series_free(series *samples);
/* A new repeat begins; every repeat has the same samples. */
void series_rewind(series *samples);
void series_add(series *samples, uint64_t ticks);
/* Prints {"median": .., "p90": .., ..} in nanoseconds. */
void series_print(const series *samples);

#endif
