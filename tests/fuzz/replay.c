/* Runs the fuzz target without libFuzzer: `replay FILE ...` feeds files, `replay --random N SEED`
 * feeds random inputs until N operations are done and prints how often each outcome came up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
extern uint64_t fuzz_operations;
#define OUTCOMES 12
extern uint64_t fuzz_outcomes[OUTCOMES];

#define INPUT_MAX 65536

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

static int run_random(uint64_t operations, uint64_t seed)
{
    static const char *const names[OUTCOMES] = {
        "placed",  "refused", "repaired",      "partial",         "no repair", "stale",
        "adopted", "loaded",  "placed slices", "repaired slices", "shrunk",    "grown"};
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
    for (int at = 0; at < OUTCOMES; ++at) {
        printf("  %-15s %llu\n", names[at], (unsigned long long)fuzz_outcomes[at]);
        thin |= fuzz_outcomes[at] < operations / 10000;
    }
    if (thin) {
        printf("fuzz: an outcome came up less than once in 10000 operations\n");
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
