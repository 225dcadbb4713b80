/* Values of the public interface: statuses, options, gangs, repairs, records. */
#ifndef PHALANX_MODEL_H
#define PHALANX_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* cffi:begin */
#define PHX_LEVELS_MAX 17
#define PHX_LEAVES_MAX 1048576
#define PHX_NONE 4294967295u
#define PHX_VERSION 2

typedef struct phx_tree phx_tree;
typedef struct phx_planner phx_planner;

typedef enum phx_status {
    PHX_OK = 0,
    PHX_MISFIT = 1,           /* it does not fit now; the state is unchanged */
    PHX_BAD_TREE = 2,         /* vertices do not cover the level below, or too many */
    PHX_BAD_GANG = 3,         /* zero size, a size that does not divide, or no such level */
    PHX_BAD_LEAF = 4,         /* a leaf outside the tree */
    PHX_LEAF_TWICE = 5,       /* the same leaf twice in one list */
    PHX_STALE_HANDLE = 6,     /* released before, or never placed */
    PHX_NOT_OWNED = 7,        /* a leaf that this gang does not hold */
    PHX_NOT_FREE = 8,         /* a leaf that somebody else holds */
    PHX_BAD_CHAIN = 9,        /* adopted leaves break the gang's own constraints */
    PHX_STALE_PLAN = 10,      /* a leaf of the plan changed since it was made */
    PHX_NO_ROOM = 11,         /* the caller's buffer is too small */
    PHX_NOT_BUDDY = 12,       /* buddy alignment needs equal fanouts that are powers of two */
    PHX_BAD_SAVE = 13,        /* damaged or foreign bytes */
    PHX_OTHER_VERSION = 14,   /* bytes of another version of this format */
    PHX_OTHER_TREE = 15,      /* bytes of another topology */
    PHX_NO_MEMORY = 16,       /* only from the functions that create */
    PHX_BAD_SPARES = 17,      /* no such level, size not below per, or count zero */
    PHX_BROKEN = 18,          /* phx_planner_validate found a fault */
    PHX_NOT_QUARANTINED = 19, /* a leaf to take out of quarantine that is not in it */
    PHX_GAVE_UP = 20          /* a bounded search found nothing: it may fit; state unchanged */
} phx_status;

typedef enum phx_aim { PHX_NEAR = 0, PHX_FILL = 1 } phx_aim;

typedef enum phx_rule {
    PHX_SMALLEST = 0, /* the smallest sufficient maximal block, lowest address */
    PHX_FULLEST = 1,  /* the domain with the fewest free leaves, lowest address */
    PHX_LOWEST = 2    /* the lowest address */
} phx_rule;

/* Every `group` consecutive ranks share a vertex of group_level, all ranks one of `within`. The
 * search starts at `prefer` (PHX_NONE: at the lowest level that could hold the gang). */
typedef struct phx_gang {
    uint32_t ranks;
    uint32_t group;
    uint32_t group_level;
    uint32_t within; /* PHX_NONE: anywhere inside one tree */
    uint32_t prefer; /* PHX_NONE: the lowest level that could hold it */
    uint32_t aim;
    uint32_t rule;
} phx_gang;

typedef enum phx_alignment { PHX_EXACT = 0, PHX_BUDDY = 1 } phx_alignment;

typedef struct phx_options {
    uint32_t alignment;
    uint32_t spare_per;   /* level of the domains that hold spares; PHX_NONE: no spares */
    uint32_t spare_size;  /* level of one spare */
    uint32_t spare_count; /* spares a domain */
} phx_options;

/* A gang resolved against a planner: levels checked, search start computed. Opaque but by value, so
 * that a caller can keep one a gang shape and place it again and again. */
#define PHX_SLICES_MAX 16
/* Every run of `size` consecutive ranks shares a vertex of `level`. */
typedef struct phx_slice {
    uint32_t size;
    uint32_t level;
} phx_slice;

#define PHX_PARTS_MAX 32
#define PHX_PARTS_WORDS 1048576 /* of 4 bytes: room for the tables of a joint search */
typedef struct phx_part phx_part;

typedef struct phx_request {
    uint32_t ranks, held, group, group_level, within, start, aim, rule;
    uint32_t level, shape, quick, bounded, pieces;
    uint64_t shapes, answer;
    uint32_t levels, balanced, slice_count, part_count;
    const phx_part *parts;
    uint32_t *scratch;
    phx_slice slices[PHX_SLICES_MAX];
} phx_request;

/* One role of a gang of several: ranks with a chain of their own, and limits on their leaves alone
 * (rows by level, NULL: none). A level of one domain that must hold all of them is the last slice
 * of the request as well: a repair keeps the part there while one of its ranks lives. */
struct phx_part {
    phx_request request;
    const int32_t *const *limits;
    uint32_t within; /* PHX_NONE: that of the gang */
};

typedef struct phx_run {
    uint32_t first;
    uint32_t count;
} phx_run;

/* Ranks rank .. rank + count - 1 go from leaves from .. to leaves to .. (consecutive). */
typedef struct phx_move {
    uint32_t rank;
    uint32_t from;
    uint32_t to;
    uint32_t count;
} phx_move;

typedef struct phx_repair {
    uint32_t moves;        /* entries written */
    uint32_t moved;        /* ranks that change leaf */
    uint32_t dead;         /* ranks that had lost their leaf */
    uint32_t unresolved;   /* dead or displaced ranks left without a leaf */
    uint32_t level_before; /* of the smallest vertex that holds the gang */
    uint32_t level_after;
    uint32_t spares_used; /* spare domains opened */
    uint32_t proven;      /* 0: a bounded search refused */
} phx_repair;

#define PHX_REPLAN_PARTIAL 1  /* repair what can be repaired */
#define PHX_REPLAN_APPLY 2    /* commit at once */
#define PHX_REPLAN_CORDONED 4 /* cordoned leaves count as lost (drain) */
#define PHX_REPLAN_WIDEN 8    /* a slice without a place may take the one around it along */

typedef enum phx_owner_kind {
    PHX_FREE = 0,
    PHX_JOB = 1,
    PHX_SPARE = 2,
    PHX_QUARANTINE = 3
} phx_owner_kind;

typedef enum phx_health { PHX_UP = 0, PHX_SUSPECT = 1, PHX_DOWN = 2 } phx_health;

typedef enum phx_change {
    PHX_FAIL = 0,
    PHX_HEAL = 1,
    PHX_DOUBT = 2,
    PHX_CORDON = 3,
    PHX_UNCORDON = 4
} phx_change;

/* What each level from the start of the search up could give at best; one record a level. */
typedef struct phx_level_record {
    uint32_t level;
    uint32_t domains;   /* real vertices of the level */
    uint32_t best;      /* the vertex that could hold most ranks, lowest address; PHX_NONE: none */
    uint32_t ranks;     /* that it could hold */
    uint32_t available; /* available leaves in it */
    uint32_t leaves;    /* leaves in it */
    uint32_t owned;     /* leaves of it held by jobs */
    uint32_t spare;     /* held back as spares */
    uint32_t quarantined;
    uint32_t down;     /* free but down */
    uint32_t suspect;  /* free but suspect */
    uint32_t cordoned; /* free and up but cordoned */
} phx_level_record;

typedef enum phx_misfit_code {
    PHX_MISFIT_TOO_LARGE = 0,  /* could not fit in the empty, healthy cluster either */
    PHX_MISFIT_LIMITED = 1,    /* would fit now without the caller's limits */
    PHX_MISFIT_CAPACITY = 2,   /* no domain has that many available leaves */
    PHX_MISFIT_GROUPS = 3,     /* enough leaves, not enough whole groups */
    PHX_MISFIT_ALIGNMENT = 4,  /* enough whole groups, no aligned block (buddy) */
    PHX_MISFIT_REPLACEMENT = 5 /* a broken unit has no replacement */
} phx_misfit_code;

/* cffi:end */

#endif
