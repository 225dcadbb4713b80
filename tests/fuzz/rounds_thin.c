/* Thinned cores beside the cores they were. */
#include "rounds.h"

#include <string.h>

/* The options of a job at a place of the core are some of those it had, in order, its base first.
 */
static void check_kept(const open_core *before, uint32_t from, const open_core *of, uint32_t at)
{
    uint32_t option = before->first[from];
    require(of->place[of->first[at]] == of->base[of->job[at]], "a base was taken out");
    require(of->first[at + 1] > of->first[at] + 1, "a job with nothing to choose");
    for (uint32_t kept = of->first[at]; kept < of->first[at + 1]; ++kept) {
        while (option < before->first[from + 1] && before->place[option] != of->place[kept]) {
            ++option;
        }
        require(option < before->first[from + 1], "an option that was none");
        require(before->loss[option] == of->loss[kept], "what an option loses");
        ++option;
    }
}

static void check_thinned(const open_core *before, const open_core *of)
{
    uint32_t from = 0;
    require(memcmp(before->base, of->base, sizeof of->base) == 0, "bases of a thinned core");
    require(memcmp(before->left, of->left, sizeof of->left) == 0, "what a thinned core leaves");
    for (uint32_t at = 0; at < of->core.jobs; ++at, ++from) {
        while (from < before->core.jobs && before->job[from] != of->job[at]) {
            ++from;
        }
        require(from < before->core.jobs, "a job that was none of the core");
        check_kept(before, from, of, at);
    }
}

int64_t thin(fixture *on, open_core *of, int64_t total)
{
    static int64_t scratch[60000];
    const open_core before = *of;
    int64_t floor = -1;
    require(phx_thin_bytes(&on->round, &of->core) <= sizeof scratch, "scratch of thinning");
    const phx_status status =
        phx_core_thin(&on->round, &of->core, on->prices, total, scratch, &floor);
    require(status == PHX_OK || status == PHX_GAVE_UP, "status of thinning");
    require(floor >= 0 && (status == PHX_OK || floor == 0), "a floor");
    check_thinned(&before, of);
    const uint32_t options = of->first[of->core.jobs];
    const uint32_t had = before.first[before.core.jobs];
    require(options == had || (status == PHX_OK && floor < total), "thinned for nothing");
    fuzz_outcomes[FLOOR_RAISED] += floor > 0;
    fuzz_outcomes[THINNED] += options < had;
    fuzz_outcomes[HOPELESS] += total > 0 && floor >= total;
    return floor;
}
