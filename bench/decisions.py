"""Decision times of the OAK paper beside those of this machine: make decisions.

The paper's are means over the rounds of its simulated runs, on its machine; ours are of
synthetic rounds of the size it names. The rows of this machine compare with each other;
with the paper's they share the method and the size, not the processor or the jobs.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from bench.drawn import SHAPES, IntArray, Round
from bench.round_peers import INSTALL, PEERS
from bench.rounds import (
    held_rounds,
    hybrid_is_there,
    peer_on,
    pymoo_on,
    searched,
    solved,
)
from bench.run import machine
from bench.timing import quantile
from phalanx_core.experiments.timing import quiet

SHAPE = SHAPES["A14"]
Pairs = list[tuple[Round, IntArray]]


@dataclass(frozen=True)
class Published:
    """A figure of the paper's section V-E: a mean, and over how many rounds."""

    label: str
    mean_ms: float
    rounds: str


SIA = Published("Sia, ILP", 7.53, "6,859")
OAK = Published("OAK, ILP (CVXPY, GLPK_MI)", 7.65, "564")
HYBRID = Published("Hybrid OAK, NSGA-II 20x20", 285.0, "")  # "about", no count given
POLLUX = Published("Pollux, NSGA-II 100x100", 9909.0, "344")
PUBLISHED = (SIA, OAK, HYBRID, POLLUX)


@dataclass(frozen=True)
class Measured:
    """Seconds and objective of each round by one route on this machine.

    Attributes
    ----------
    published
        What the paper has of the same method.
    route
        Label of the peer's row that ours is compared with, "" = it is a peer.
    missing
        What it needs, where it could not be measured.
    """

    label: str
    published: Published
    seconds: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    route: str = ""
    missing: str = ""

    def quantile_ms(self, share: float) -> float:
        """Milliseconds within which that share of the rounds is decided."""
        return quantile(sorted(self.seconds), share) * 1e3

    @property
    def mean_ms(self) -> float:
        """Mean milliseconds, which is what the paper tells."""
        return sum(self.seconds) / len(self.seconds) * 1e3


def paper_route(pairs: Pairs) -> Measured:
    """CVXPY with GLPK_MI, model included, each answer checked to be the optimum."""
    peer = PEERS["cvxpy"]
    if peer.missing:
        return Measured(peer.label, OAK, missing=INSTALL)
    rounds = [given for given, _ in pairs]
    found = peer_on(peer, rounds, solved(rounds)[1], 10.0)
    seconds = tuple(one.total_s for one in found)
    return Measured(
        peer.label, OAK, seconds, tuple(one.objective or 0.0 for one in found)
    )


def pymoo_route(pairs: Pairs, size: int, seed: int, like: Published) -> Measured:
    """NSGA-II of pymoo, at the budget that the paper has for its search."""
    label = f"pymoo NSGA-II {size}x{size}"
    if find_spec("pymoo") is None:
        return Measured(label, like, missing=INSTALL)
    found = pymoo_on(pairs, size, seed)
    values = tuple(one.objective or 0.0 for one in found)
    return Measured(label, like, tuple(one.total_s for one in found), values)


def our_optimum(pairs: Pairs) -> Measured:
    """``solve`` as it is called without options: proven optima."""
    rounds = [given for given, _ in pairs]
    solved(rounds[:15])
    spans, answers = solved(rounds)
    seconds = tuple(span / 1e9 for span in spans)
    values = tuple(one.objective for one in answers)
    return Measured("phalanx solve", OAK, seconds, values, PEERS["cvxpy"].label)


def our_search(pairs: Pairs, size: int, seed: int, like: Published) -> Measured:
    """``solve`` with its own NSGA-II."""
    label, route = f"phalanx nsga2 {size}x{size}", f"pymoo NSGA-II {size}x{size}"
    if not hybrid_is_there():
        return Measured(label, like, missing="solve(solver='nsga2')")
    searched(*pairs[0], size, seed)
    seconds, values = [], []
    with quiet():
        for given, held in pairs:
            before = perf_counter()
            answer = searched(given, held, size, seed)
            seconds.append(perf_counter() - before)
            values.append(answer.objective)
    return Measured(label, like, tuple(seconds), tuple(values), route)


def measure(rounds: int, seed: int) -> list[Measured]:
    """Every route; pymoo on fewer rounds, since it takes most of the time."""
    pairs = held_rounds(SHAPE, seed, rounds)
    few = {20: pairs[: max(1, rounds // 4)], 100: pairs[: max(1, rounds // 20)]}
    return [
        paper_route(pairs),
        our_optimum(pairs),
        pymoo_route(few[20], 20, seed, HYBRID),
        our_search(pairs, 20, seed, HYBRID),
        pymoo_route(few[100], 100, seed, POLLUX),
        our_search(few[20], 100, seed, POLLUX),
    ]


LINE = "{:28} {:>6} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8}".format


def told(milliseconds: float) -> str:
    """Milliseconds with three digits, thousands apart."""
    digits = max(0, 3 - len(f"{int(milliseconds)}")) if milliseconds >= 1 else 3
    return f"{milliseconds:,.{digits}f}"


def render(measured: list[Measured], seed: int) -> str:
    """The paper's rows, then this machine's."""
    best = next(one for one in measured if one.label == "phalanx solve").values
    means = {one.label: one.mean_ms for one in measured if one.seconds}
    lines = [
        LINE(
            "ms a round", "rounds", "mean", "median", "p95", "gap", "x peer", "x paper"
        ),
        "OAK paper (V-E), 12 GPUs, its machine, rounds of its simulated runs",
    ]
    for one in PUBLISHED:
        shown = told(one.mean_ms) if one.rounds else f"~{told(one.mean_ms)}"
        lines.append(LINE("  " + one.label, one.rounds, shown, *[""] * 5).rstrip())
    lines.append(
        f"this machine, synthetic rounds of that size: {SHAPE.jobs} jobs, "
        f"{len(SHAPE.sizes)} configurations each, {SHAPE.capacity[0]} GPUs, seed {seed}"
    )
    for one in measured:
        if one.missing:
            lines.append(f"  {one.label:26} not measured, needs {one.missing}")
            continue
        pairs = zip(one.values, best, strict=False)
        gap = quantile(sorted(1 - value / most for value, most in pairs), 0.5)
        peer = f"{means[one.route] / one.mean_ms:.3g}" if one.route in means else ""
        paper = f"{one.published.mean_ms / one.mean_ms:.3g}"
        times = [told(one.mean_ms), *(told(one.quantile_ms(q)) for q in (0.5, 0.95))]
        gap_told = "0" if gap < 1e-9 else f"{gap:.2%}"
        count = str(len(one.seconds))
        lines.append(LINE("  " + one.label, count, *times, gap_told, peer, paper))
    return "\n".join([*lines, *FOOT])


FOOT = (
    "gap: median share by which the objective misses the optimum. x peer: mean of the",
    "peer's row above over ours. x paper: the published mean of the same method over this.",
    "Pollux optimises speedups of its own; pymoo here has OAK's utility at that budget.",
    "x paper mixes machines and jobs: the row of CVXPY is the same method on both, so what",
    "is left of the others' beside it is the method. nsga2 starts from our prices' answer.",
    "Slower methods are timed on the first of the same rounds.",
)


def main() -> int:
    """Measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(prog="bench.decisions", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds: at least 1")
    measured = measure(given.rounds, given.seed)
    facts = machine()
    for name in ("processor", "cores", "load", "python", "solvers", "commit"):
        print(f"{name:10} {facts[name]}")
    print()
    print(render(measured, given.seed))
    if given.json:
        report = {
            "machine": facts | {"seed": given.seed},
            "published": [asdict(one) for one in PUBLISHED],
            "measured": [asdict(one) for one in measured],
        }
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
