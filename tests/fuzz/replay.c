/* Runs a fuzz target without libFuzzer: `replay FILE ...` feeds files, `replay --random N SEED`
 * feeds random inputs until N operations are done and prints how often each outcome came up. */
#include "tape.h"

#include <string.h>

#define INPUT_MAX 65536
/* From here on every outcome must come up at least once in OPERATIONS_EACH operations. */
#define OPERATIONS_LONG 1000000
#define OPERATIONS_EACH 10000
/* With variance twice its mean, an outcome expected so often is absent once in 10000 runs. */
#define EXPECTED_SURE 14

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int run_file(const char *path)
{
    static uint8_t bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        return 1;
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(bytes, size);
}

/* How often an outcome must come up; in a short run what four standard deviations leave of it. */
static uint64_t floor_of(int kind, uint64_t operations)
{
    uint64_t floor = operations / OPERATIONS_EACH;
    if (operations >= OPERATIONS_LONG) {
        return floor;
    }
    const uint64_t expected = fuzz_expected[kind].per_million * operations / 1000000;
    floor = floor < expected ? floor : expected;
    while (floor > 0 && (expected - floor) * (expected - floor) < 16 * 2 * expected) {
        --floor;
    }
    return floor == 0 && expected >= EXPECTED_SURE ? 1 : floor;
}

static int run_random(uint64_t operations, uint64_t seed)
{
    uint8_t bytes[1024];
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    while (fuzz_operations < operations) {
        const size_t size = 64 + draw() % (sizeof bytes - 64);
        for (size_t at = 0; at < size; ++at) {
            bytes[at] = (uint8_t)(draw() >> 32);
        }
        LLVMFuzzerTestOneInput(bytes, size);
    }
    printf("fuzz: %llu operations, seed %llu\n", (unsigned long long)fuzz_operations,
           (unsigned long long)seed);
    int thin = 0;
    for (int at = 0; at < fuzz_kinds; ++at) {
        const uint64_t floor = floor_of(at, operations);
        const char *verdict = fuzz_outcomes[at] < floor ? ": too few" : "";
        printf("  %-15s %llu (at least %llu)%s\n", fuzz_expected[at].name,
               (unsigned long long)fuzz_outcomes[at], (unsigned long long)floor, verdict);
        thin |= fuzz_outcomes[at] < floor;
    }
    return thin;
}

int main(int count, char **words)
{
    int failed = 0;
    if (count == 4 && strcmp(words[1], "--random") == 0) {
        return run_random(strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10));
    }
    for (int at = 1; at < count; ++at) {
        failed |= run_file(words[at]);
    }
    return failed;
}
