#include "bench.h"

#include <inttypes.h>

void row_begin(const char *name, const settings *run)
{
    printf("{\"row\": \"%s\", \"leaves\": %u, \"seed\": %" PRIu64, name, run->leaves, run->seed);
}

void row_series(const char *key, const series *samples)
{
    printf(", \"%s\": ", key);
    series_print(samples);
}

void row_number(const char *key, double value)
{
    printf(", \"%s\": %.6g", key, value);
}

void row_text(const char *key, const char *value)
{
    printf(", \"%s\": \"%s\"", key, value);
}

void row_checksum(uint64_t checksum)
{
    printf(", \"checksum\": \"%016" PRIx64 "\"", checksum);
}

void row_end(void)
{
    puts("}");
    fflush(stdout);
}
