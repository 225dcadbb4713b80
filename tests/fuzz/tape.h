/* What every fuzz target and replay.c share: the tape of bytes, and how often outcomes came up. */
#ifndef TAPE_H
#define TAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tape {
    const uint8_t *at;
    const uint8_t *end;
} tape;

/* How often an outcome comes up in a million operations, rounded down from ten seeds. */
typedef struct outcome {
    const char *name;
    uint64_t per_million;
} outcome;

/* Of the target: outcomes that it may have, operations so far, and how often each came up. */
extern const outcome fuzz_expected[];
extern const int fuzz_kinds;
extern uint64_t fuzz_operations;
extern uint64_t fuzz_outcomes[];

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The next byte, 0 behind the last. */
static inline uint32_t tape_next(tape *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static inline void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

#endif
