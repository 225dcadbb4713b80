/* Bounds on the ends of a core's states, shared by its search. */
#ifndef PHALANX_CORE_H
#define PHALANX_CORE_H

#include "solve.h"

/* A core as its search counts: capacities in the largest unit that all its options are multiples
 * of, jobs in order of the least that another option than the base loses. */
typedef struct phx_deck {
    const phx_core *core;
    uint32_t rows;
    int64_t start;               /* lost in any case: what no multiple of the units can sell */
    int64_t price[PHX_ROWS_MAX]; /* of a unit */
    int32_t left[PHX_ROWS_MAX];  /* units that the bases leave */
    int64_t range[PHX_ROWS_MAX]; /* the most units that a row can be off */
    int64_t most[PHX_ROWS_MAX];  /* the most that an option changes a row by */
    uint32_t *order;             /* [jobs] */
    uint64_t *least;             /* [jobs]: what another option than the base loses at least */
    uint32_t *owner;             /* [options]: their job in the core */
    int32_t *more;               /* [options * rows]: units beyond the base's */
} phx_deck;

/* Lower bounds by moved prices, for states before one job in `stride`. */
typedef struct phx_floors {
    uint32_t stride;
    uint32_t layers;
    uint32_t singles;  /* moves of one row */
    uint32_t patterns; /* moves of all rows at once */
    int64_t *single;   /* [singles]: by how much the price of its row is lower */
    int64_t *pattern;  /* [patterns * rows] */
    int64_t *residue;  /* [layers * singles * PHX_RESIDUES] */
    int64_t *rest;     /* [layers * patterns] */
    uint32_t last;     /* the move that helped last, asked first */
} phx_floors;

#define PHX_RESIDUES 16

/* A scratch, or none where only its size is asked for, and how much of it is given away. */
typedef struct phx_room {
    char *start;
    size_t used;
} phx_room;

/* The next array of a scratch, aligned. */
static inline void *phx_next(phx_room *room, size_t bytes)
{
    void *found = room->start == NULL ? NULL : room->start + room->used;
    room->used += (bytes + 15) / 16 * 16;
    return found;
}

void phx_deck_lay_out(phx_deck *deck, phx_room *room);
/* 0: what can be left may leave 32 bits. */
int phx_deck_fill(phx_deck *deck, const phx_round *round, const int64_t *prices);

void phx_floors_lay_out(phx_floors *floors, const phx_deck *deck, phx_room *room);
/* For answers that lose less than `best`. */
void phx_floors_fill(phx_floors *floors, const phx_deck *deck, int64_t best);
/* The layer whose floors hold before the job at a place of the order. */
static inline uint32_t phx_layer_of(const phx_floors *floors, uint32_t at)
{
    return at / floors->stride;
}
/* Whether what is left costs at least `room` more in every end, the jobs from a layer on taking
 * what they like. */
int phx_floors_reach(phx_floors *floors, const phx_deck *deck, uint32_t layer, const int32_t *left,
                     int64_t room);
/* The highest floor there is before all jobs. */
int64_t phx_floors_root(const phx_floors *floors, const phx_deck *deck);

#endif
