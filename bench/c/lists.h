/* lists: the reference, a bare buddy allocator as kernels have it.
 *
 * One doubly linked list of free blocks an order and a map that gives the order of a free block's
 * first leaf. It knows no owners, no domains, no health, and neither checks what it is given.
 */
#ifndef BENCH_LISTS_H
#define BENCH_LISTS_H

#include <stdint.h>

#define LISTS_ORDERS 21
#define LISTS_NONE UINT32_MAX

typedef struct lists {
    uint32_t head[LISTS_ORDERS];
    uint32_t orders; /* the whole is one block of order orders - 1 */
    uint32_t *next;  /* [leaves] */
    uint32_t *previous;
    uint8_t *order; /* of a free block at its first leaf, + 1; else 0 */
} lists;

lists lists_new(uint32_t leaves);
void lists_free(lists *buddy);
uint32_t lists_take(lists *buddy, uint32_t order);
void lists_give(lists *buddy, uint32_t first, uint32_t order);

#endif
