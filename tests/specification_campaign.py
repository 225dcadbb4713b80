"""The specification's own text in scopes too large for every run of the tests; minutes.

``python -m tests.specification_campaign [NAME...]`` searches configurations of Printed.tla
as TLC does; 1 if the counts of one are not what is expected.
"""

from __future__ import annotations

import sys
from time import perf_counter

from phalanx_core.verification.specification import specifications
from tests.unit.verification.tla_reader import configured, read
from tests.unit.verification.tla_search import search

# Generated, distinct and depth of whole graphs, as TLC counts them.
EXPECTED = {
    "Printed_2_7_2": (3_146_990, 834_050, 13),
    "Printed_2_7_2_without_abort": (1_937_390, 713_090, 13),
    "Printed_2_7_2_pinned": (431_270, 157_220, 13),
    "Printed_2_7_2_restore_live": (3_142_790, 834_050, 13),
    "Printed_2_7_2_restore_commit_live": (3_198_230, 848_330, 13),
    "Printed_2_7_2_detect_in_restore": (3_202_430, 848_330, 13),
    "Printed_2_7_2_fixed_gang": (131_180, 50_890, 11),
    "Printed_2_7_2_crashes": (10_651_130, 1_442_490, 13),
}


def main(names: list[str]) -> int:
    """Search the configurations of these names, or all."""
    texts, wrong = specifications(), 0
    module = read(texts["Printed.tla"])
    for name in names or EXPECTED:
        one, before = configured(texts[f"{name}.cfg"]), perf_counter()
        found = search(module, one.constants, one.invariants, (), None)
        counts = (found.generated, found.distinct, found.depth)
        same = counts == EXPECTED[name] and found.violated is None
        wrong += not same
        told = f"{counts[0]:,} generated, {counts[1]:,} distinct, depth {counts[2]}"
        seconds = perf_counter() - before
        verdict = "as expected" if same else "WRONG"
        sys.stdout.write(f"{verdict:<12} {name}: {told}, {seconds:.0f} s\n")
        sys.stdout.flush()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
