#include "lists.h"

#include <stdio.h>
#include <stdlib.h>

lists lists_new(uint32_t leaves)
{
    lists buddy = {0};
    while ((1u << buddy.orders) <= leaves) {
        buddy.head[buddy.orders++] = LISTS_NONE;
    }
    buddy.next = calloc(leaves, sizeof *buddy.next);
    buddy.previous = calloc(leaves, sizeof *buddy.previous);
    buddy.order = calloc(leaves, sizeof *buddy.order);
    if (buddy.next == NULL || buddy.previous == NULL || buddy.order == NULL) {
        fputs("not enough memory for the reference\n", stderr);
        exit(1);
    }
    /* Touched once, as the planner's arena is. */
    for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
        ((volatile uint32_t *)buddy.next)[leaf] = 0;
        ((volatile uint32_t *)buddy.previous)[leaf] = 0;
        ((volatile uint8_t *)buddy.order)[leaf] = 0;
    }
    lists_give(&buddy, 0, buddy.orders - 1);
    return buddy;
}

void lists_free(lists *buddy)
{
    free(buddy->next);
    free(buddy->previous);
    free(buddy->order);
}

static inline void push(lists *buddy, uint32_t first, uint32_t order)
{
    const uint32_t head = buddy->head[order];
    buddy->next[first] = head;
    buddy->previous[first] = LISTS_NONE;
    buddy->order[first] = (uint8_t)(order + 1);
    if (head != LISTS_NONE) {
        buddy->previous[head] = first;
    }
    buddy->head[order] = first;
}

static inline void unlink_block(lists *buddy, uint32_t first, uint32_t order)
{
    const uint32_t next = buddy->next[first];
    const uint32_t previous = buddy->previous[first];
    if (previous == LISTS_NONE) {
        buddy->head[order] = next;
    } else {
        buddy->next[previous] = next;
    }
    if (next != LISTS_NONE) {
        buddy->previous[next] = previous;
    }
    buddy->order[first] = 0;
}

uint32_t lists_take(lists *buddy, uint32_t order)
{
    for (uint32_t from = order; from < buddy->orders; ++from) {
        const uint32_t first = buddy->head[from];
        if (first == LISTS_NONE) {
            continue;
        }
        unlink_block(buddy, first, from);
        while (from > order) {
            --from;
            push(buddy, first + (1u << from), from);
        }
        return first;
    }
    return LISTS_NONE;
}

void lists_give(lists *buddy, uint32_t first, uint32_t order)
{
    while (order + 1 < buddy->orders) {
        const uint32_t other = first ^ (1u << order);
        if (buddy->order[other] != order + 1) {
            break;
        }
        unlink_block(buddy, other, order);
        first &= ~(1u << order);
        ++order;
    }
    push(buddy, first, order);
}
