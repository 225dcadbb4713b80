"""The unreduced search in scopes too large for every run of the tests; minutes.

``python -m tests.verification_campaign [NAME...]`` prints a line a scope; 1 if one differs
from what is expected.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import NamedTuple

from phalanx_core.verification.unreduced import explore
from phalanx_core.verification.unreduced_result import Progress
from phalanx_core.verification.unreduced_scope import FIXED, Rule, Scope

BOTH = ("ReformLive", "ESR")


class Expected(NamedTuple):
    """What a scope must give; shortest is the states of the shortest counterexample."""

    scope: Scope
    initial: int
    generated: int
    distinct: int
    depth: int
    violated: tuple[str, ...] = ()
    shortest: int = 0


CAMPAIGN = {
    "2/7/2": Expected(Scope(2, 7, 2), 210, 3_146_990, 834_050, 13),
    "2/8/2": Expected(Scope(2, 8, 2), 1_302, 70_201_362, 12_314_974, 13),
    "3/9/2": Expected(Scope(3, 9, 2), 1_680, 37_814_280, 9_973_320, 13),
    "2/8/3": Expected(Scope(2, 8, 3), 70, 86_278_402, 22_255_534, 19, BOTH, 13),
    "2/9/3-pinned": Expected(
        Scope(2, 9, 3, Rule.PINNED), 882, 43_695_288, 14_399_784, 24
    ),
    "2/9/3-fixed": Expected(Scope(2, 9, 3, FIXED), 882, 47_281_248, 15_481_872, 19),
}


def show(look: Progress) -> None:
    """How far it is, on one line that is written over."""
    sys.stderr.write(
        f"\r  {look.stage:<10} {look.expanded:>12,} of {look.distinct:>12,}"
        f" {look.per_second:>12,.0f} a second "
    )


def holds(name: str, expected: Expected) -> bool:
    """Whether a scope gives what is expected; a line about it."""
    before = perf_counter()
    found = explore(expected.scope, progress=show if sys.stderr.isatty() else None)
    seconds = perf_counter() - before
    shortest = min((len(one.steps) for one in found.counterexamples), default=0)
    given = Expected(
        *(expected.scope, found.initial, found.generated, found.distinct, found.depth),
        found.violated,
        shortest,
    )
    verdict = "as expected" if given == expected else f"DIFFERENT: {given}"
    lines = [
        f"{name:<13} {found.generated:>12,} generated {found.distinct:>11,} distinct "
        f"depth {found.depth:<2} {found.verdict.value:<9} {seconds:6.1f} s "
        f"{found.bytes_peak / 2**20:7.1f} MiB  {verdict}",
        *map(str, found.counterexamples[:1]),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return given == expected


def main() -> int:
    """Every scope, or those that are named."""
    names = sys.argv[1:] or list(CAMPAIGN)
    if unknown := [name for name in names if name not in CAMPAIGN]:
        sys.stderr.write(f"{', '.join(unknown)}: one of {', '.join(CAMPAIGN)}\n")
        return 2
    verdicts = [holds(name, CAMPAIGN[name]) for name in names]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
