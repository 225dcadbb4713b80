"""The unreduced search of the protocol beside TLC's published time."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from bench.timing import quantiles
from phalanx_core.experiments.timing import quiet
from phalanx_core.verification.unreduced import explore
from phalanx_core.verification.unreduced_result import Exploration
from phalanx_core.verification.unreduced_scope import Scope

# The Phalanx paper, Table 2: wall time of TLC with ReformLive, and what it counted.
TABLE_2 = {
    "2/6/2": (Scope(2, 6, 2), 14.0, 120_000, 43_070),
    "2/7/2": (Scope(2, 7, 2), 210.0, 3_146_990, 834_050),
}
BYTES_MAX = 64 << 20

Row = dict[str, Any]


def timed(
    scope: Scope, repeats: int, *, liveness: bool
) -> tuple[list[float], Exploration]:
    """Nanoseconds of each of so many searches, and what one found."""
    spans = []
    for _ in range(repeats):
        before = perf_counter_ns()
        found = explore(scope, liveness=liveness, bytes_max=BYTES_MAX)
        spans.append(float(perf_counter_ns() - before))
    return spans, found


def row(name: str, kind: str, repeats: int) -> Row:
    """One search, its counts checked against the published ones."""
    scope, published_s, generated, distinct = TABLE_2[name]
    spans, found = timed(scope, repeats, liveness=kind == "liveness")
    if (found.generated, found.distinct, found.violated) != (generated, distinct, ()):
        raise AssertionError(f"{name}: {found}")
    told = quantiles([], spans)
    published = quantiles([], [published_s * 1e9])
    return {
        "row": f"verify/{name}/{kind}",
        "ours": told,
        "peer": "TLC, as published",
        "theirs": published,
        "states_a_second": distinct / told["median"] * 1e9,
        "generated": generated,
        "bytes": found.bytes_peak,
        "bytes_max": BYTES_MAX,
        "checksum": f"{generated:016x}",
    }


def measure(*, few: bool) -> list[Row]:
    """The states alone, and with every liveness property; ``few``: the smaller scope."""
    name, repeats = ("2/6/2", 3) if few else ("2/7/2", 9)
    with quiet():
        return [row(name, kind, repeats) for kind in ("states", "liveness")]
