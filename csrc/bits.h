/* Bit runs, and bitmaps with 64-ary summary rows (a set bit above = a word below is not zero). */
#ifndef PHX_BITS_H
#define PHX_BITS_H

#include "mutants.h"

#include <stddef.h>
#include <stdint.h>

#define PHX_INLINE static inline __attribute__((always_inline))
#define PHX_RARELY(condition) __builtin_expect((condition) != 0, 0)

PHX_INLINE uint32_t phx_ctz(uint64_t word)
{
    return (uint32_t)__builtin_ctzll(word);
}

/* Smallest order with 2^order >= value; value 1..2^31. */
PHX_INLINE uint32_t phx_log2_ceil(uint32_t value)
{
    return 63u ^ (uint32_t)__builtin_clzll(((uint64_t)value << 1) - 1);
}

PHX_INLINE uint32_t phx_popcount(uint64_t word)
{
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
}

/* The lowest `count` bits, all when there are no more than that. */
PHX_INLINE uint64_t phx_low(uint32_t count)
{
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* The lowest 2^order bits, order 0..6. */
PHX_INLINE uint64_t phx_low_power(uint32_t order)
{
    static const uint64_t low[] = {UINT64_C(0x1),  UINT64_C(0x3),    UINT64_C(0xf),
                                   UINT64_C(0xff), UINT64_C(0xffff), UINT64_C(0xffffffff),
                                   ~UINT64_C(0)};
    return low[order];
}

PHX_INLINE int phx_bit(const uint64_t *words, uint32_t at)
{
    return (int)((words[at >> 6] >> (at & 63)) & 1);
}

PHX_INLINE void phx_bit_set(uint64_t *words, uint32_t at)
{
    words[at >> 6] |= UINT64_C(1) << (at & 63);
}

PHX_INLINE void phx_bit_clear(uint64_t *words, uint32_t at)
{
    words[at >> 6] &= ~(UINT64_C(1) << (at & 63));
}

/* Bits first .. first + count - 1 as a word, count 1..64; reads one word past the last one used
 * never, because the second word is touched only where the run crosses into it. */
PHX_INLINE uint64_t phx_bits_get(const uint64_t *words, uint32_t first, uint32_t count)
{
    const uint32_t shift = first & 63;
    uint64_t word = words[first >> 6] >> shift;
    if (shift + count > 64) {
        word |= words[(first >> 6) + 1] << (64 - shift);
    }
    return word & phx_low(count);
}

PHX_INLINE void phx_bits_fill(uint64_t *words, uint32_t first, uint32_t count, int on)
{
    uint32_t at = first;
    uint32_t left = count;
    while (left > 0) {
        const uint32_t shift = at & 63;
        const uint32_t here = left < 64 - shift ? left : 64 - shift;
        const uint64_t mask = phx_low(here) << shift;
        if (on) {
            words[at >> 6] |= mask;
        } else {
            words[at >> 6] &= ~mask;
        }
        at += here;
        left -= here;
    }
}

/* First set bit in first .. end - 1, or end. */
static inline uint32_t phx_bits_next(const uint64_t *words, uint32_t first, uint32_t end)
{
    uint32_t at = first;
    while (at < end) {
        const uint64_t word = words[at >> 6] >> (at & 63);
        if (word != 0) {
            at += phx_ctz(word);
            return at < end ? at : end;
        }
        at = (at | 63) + 1;
    }
    return end;
}

/* First clear bit in first .. end - 1, or end. */
static inline uint32_t phx_bits_next_clear(const uint64_t *words, uint32_t first, uint32_t end)
{
    uint32_t at = first;
    while (at < end) {
        const uint64_t word = ~words[at >> 6] >> (at & 63);
        if (word != 0) {
            at += phx_ctz(word);
            return at < end ? at : end;
        }
        at = (at | 63) + 1;
    }
    return end;
}

/* Set bits in a run; words that are zero, most of them in a sparse bitmap, cost one comparison. */
static inline uint32_t phx_bits_count(const uint64_t *words, uint32_t first, uint32_t count)
{
    const uint32_t end = first + count;
    uint32_t sum = 0;
    for (uint32_t at = first; at < end;) {
        const uint32_t shift = at & 63;
        const uint32_t here = end - at < 64 - shift ? end - at : 64 - shift;
        const uint64_t word = words[at >> 6];
        sum += word == 0 ? 0 : phx_popcount(word >> shift & phx_low(here));
        at += here;
    }
    return sum;
}

#define PHX_ROWS_MIN 3 /* so many in every set, however small: no branch asks for their number */
#define PHX_SET_ROWS_MAX 4
#define PHX_WORDS(bits) (((bits) + 63) / 64)

typedef struct phx_set {
    uint64_t *row[PHX_SET_ROWS_MAX];
    uint32_t rows; /* the last one is a single word */
    uint32_t size; /* bits in row 0 */
} phx_set;

PHX_INLINE void phx_set_add(phx_set *set, uint32_t at)
{
    uint64_t *zero = &set->row[0][at >> 6];
    const int skipped = PHX_MUTANT_SKIPPED_SUMMARY && *zero == 0 && at >= 64;
    *zero |= UINT64_C(1) << (at & 63);
    if (skipped) {
        return;
    }
    set->row[1][at >> 12] |= UINT64_C(1) << ((at >> 6) & 63);
    set->row[2][at >> 18] |= UINT64_C(1) << ((at >> 12) & 63);
    if (PHX_RARELY(set->rows > PHX_ROWS_MIN)) {
        set->row[3][0] |= UINT64_C(1) << (at >> 18);
    }
}

/* Clears a bit if `emptied` is 1; then 1 when no bit is left in its word. */
PHX_INLINE uint64_t phx_row_remove(uint64_t *row, uint32_t at, uint64_t emptied)
{
    const uint64_t after = row[at >> 6] & ~(emptied << (at & 63));
    row[at >> 6] = after;
    return emptied & (uint64_t)(after == 0);
}

/* Removes a member if `gone` is 1, without a branch: a word that becomes zero clears its bit in the
 * row above. 1 when that was the last member. */
PHX_INLINE uint64_t phx_set_remove_if(phx_set *set, uint32_t at, uint64_t gone)
{
    gone = phx_row_remove(set->row[0], at, gone);
    gone = phx_row_remove(set->row[1], at >> 6, gone);
    gone = phx_row_remove(set->row[2], at >> 12, gone);
    if (PHX_RARELY(set->rows > PHX_ROWS_MIN)) {
        gone = phx_row_remove(set->row[3], at >> 18, gone);
    }
    return gone;
}

PHX_INLINE int phx_set_empty(const phx_set *set)
{
    return set->row[set->rows - 1][0] == 0;
}

/* Lowest member; the set is not empty. */
PHX_INLINE uint32_t phx_set_first(const phx_set *set)
{
    uint32_t at = PHX_RARELY(set->rows > PHX_ROWS_MIN) ? phx_ctz(set->row[3][0]) : 0;
    at = (at << 6) + phx_ctz(set->row[2][at]);
    at = (at << 6) + phx_ctz(set->row[1][at]);
    return (at << 6) + phx_ctz(set->row[0][at]);
}

/* Lowest member in from .. end - 1, or end. */
static inline uint32_t phx_set_next(const phx_set *set, uint32_t from, uint32_t end)
{
    uint32_t bits = set->size;
    uint32_t at = from;
    uint32_t row = 0;
    while (at < bits) {
        const uint64_t word = set->row[row][at >> 6] >> (at & 63);
        if (word != 0) {
            at += phx_ctz(word);
            for (; row > 0; --row) {
                at = (at << 6) + phx_ctz(set->row[row - 1][at]);
            }
            return at < end ? at : end;
        }
        if (++row == set->rows) {
            break;
        }
        at = (at >> 6) + 1;
        bits = PHX_WORDS(bits);
    }
    return end;
}

#endif
