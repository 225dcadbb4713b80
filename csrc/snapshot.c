#include "planner.h"

#include <string.h>

#define MAGIC UINT64_C(0x31304e4c50584850) /* "PHXPLN01" in memory of a little-endian machine */

/* Little-endian machines only read their own bytes back; a foreign order fails the magic. */
typedef struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t leaves;
    uint64_t fingerprint;
    uint64_t size;
    uint64_t checksum;
} header;

static uint64_t checksum_of(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint64_t word = 0;
    for (size_t done = 0; done < size; done += sizeof word) {
        memcpy(&word, at + done, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

size_t phx_planner_save_bytes(const phx_planner *planner)
{
    return sizeof(header) + planner->saved_bytes;
}

phx_status phx_planner_save(const phx_planner *planner, void *bytes, size_t size)
{
    if (size < phx_planner_save_bytes(planner)) {
        return PHX_NO_ROOM;
    }
    const header head = {MAGIC,
                         PHX_VERSION,
                         planner->tree->level[0].count,
                         planner->tree->fingerprint,
                         planner->saved_bytes,
                         checksum_of(planner->region, planner->saved_bytes)};
    memcpy(bytes, &head, sizeof head);
    memcpy((char *)bytes + sizeof head, planner->region, planner->saved_bytes);
    return PHX_OK;
}

/* Options that phx_planner_new can have written. */
static int options_are_sound(const phx_tree *tree, const phx_counters *counters)
{
    if (counters->alignment > PHX_BUDDY || (counters->alignment == PHX_BUDDY && !tree->buddy)) {
        return 0;
    }
    if (counters->spare_count == 0) {
        return counters->spare_per == PHX_NONE && counters->spare_size == PHX_NONE;
    }
    return counters->spare_per <= tree->depth && counters->spare_size < counters->spare_per;
}

static phx_status check_header(const phx_tree *tree, const void *bytes, size_t size,
                               phx_counters *counters)
{
    header head;
    if (size < sizeof head + sizeof *counters) {
        return PHX_BAD_SAVE;
    }
    memcpy(&head, bytes, sizeof head);
    if (head.magic != MAGIC) {
        return PHX_BAD_SAVE;
    }
    if (head.version != PHX_VERSION) {
        return PHX_OTHER_VERSION;
    }
    if (head.fingerprint != tree->fingerprint || head.leaves != tree->level[0].count) {
        return PHX_OTHER_TREE;
    }
    if (head.size != size - sizeof head || head.size % sizeof(uint64_t) != 0 ||
        head.checksum != checksum_of((const char *)bytes + sizeof head, (size_t)head.size)) {
        return PHX_BAD_SAVE;
    }
    memcpy(counters, (const char *)bytes + sizeof head, sizeof *counters);
    return options_are_sound(tree, counters) ? PHX_OK : PHX_BAD_SAVE;
}

phx_status phx_planner_load(const phx_tree *tree, const void *bytes, size_t size, phx_planner **out)
{
    phx_counters counters;
    *out = NULL;
    phx_status status = check_header(tree, bytes, size, &counters);
    if (status != PHX_OK) {
        return status;
    }
    phx_planner *planner = NULL;
    status = phx_planner_make(tree, counters.spare_per, counters.spare_size, &planner);
    if (status != PHX_OK) {
        return status;
    }
    if (planner->saved_bytes != size - sizeof(header)) {
        status = PHX_BAD_SAVE;
    } else {
        const char *reason = NULL;
        memcpy(planner->region, (const char *)bytes + sizeof(header), planner->saved_bytes);
        status = phx_planner_validate(planner, &reason) == PHX_OK ? PHX_OK : PHX_BAD_SAVE;
    }
    if (status != PHX_OK) {
        phx_planner_free(planner);
        planner = NULL;
    }
    *out = planner;
    return status;
}
