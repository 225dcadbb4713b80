"""Budgets of the core at 131,072 leaves, and which of them a run meets.

A ratio is the budget wherever there is a reference in the same run; times in nanoseconds
are what one machine reached. Missed by less than 1.5x is "near".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
NEAR = 1.5


@dataclass(frozen=True)
class Check:
    """One measured value and the most it may be."""

    row: str
    what: str
    value: float
    limit: float

    @property
    def excess(self) -> float:
        """Value over limit; above 1 is a miss."""
        return self.value / self.limit if self.limit else float(self.value > 0) * 9.99

    @property
    def verdict(self) -> str:
        """Met, near or missed."""
        return (
            "met" if self.excess <= 1 else "near" if self.excess <= NEAR else "MISSED"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**vars(self), "verdict": self.verdict}

    def __str__(self) -> str:
        excess = "" if self.excess <= 1 else f" {self.excess:.1f}x"
        return f"{self.what} {self.value:.3g}<={self.limit:g} {self.verdict}{excess}"


def ratio(row: Row) -> float:
    """Ours over theirs: of untimed streams where there are any, else of medians."""
    ours, theirs = row["ours"], row["theirs"]
    if ours.get("bulk") and theirs.get("bulk"):
        return float(ours["bulk"] / theirs["bulk"])
    return float(ours["median"] / theirs["median"]) if theirs["median"] else 0.0


def _time(key: str) -> Callable[[Row], float]:
    return lambda row: float(row["ours"][key])


def _gain(row: Row) -> float:
    """Their time over ours, inverted so that a smaller value is better."""
    return ratio(row)


def _over(peer: str, times: float) -> tuple[str, Callable[[Row], float], float]:
    """At least so many times faster than a peer."""
    return (f"x {peer}", _gain, 1 / times)


def _milliseconds(limit: float) -> tuple[str, Callable[[Row], float], float]:
    return ("median ms", lambda row: float(row["ours"]["median"]) / 1e6, limit)


def _searching(limit: float) -> tuple[tuple[str, Callable[[Row], float], float], ...]:
    worse = ("rounds worse than the seed", lambda row: row["worse_than_seed"], 0)
    return (_milliseconds(limit), _over("pymoo", 50), worse)


MEDIAN, P99, WORST = _time("median"), _time("p99"), _time("max")

# row -> (what, how it is read, limit); worst is the worst of a stream, repeats merged.
LIMITS: Mapping[str, tuple[tuple[str, Callable[[Row], float], float], ...]] = {
    "churn/place/buddy": (
        ("median ns", MEDIAN, 40),
        ("p99 ns", P99, 100),
        ("x lists", ratio, 3),
    ),
    "churn/release/buddy": (("median ns", MEDIAN, 35), ("p99 ns", P99, 100)),
    "fill/place/buddy": (
        ("median ns", MEDIAN, 30),
        ("p99 ns", P99, 250),
        ("worst ns", WORST, 500),
    ),
    "fill/refusal": (("median ns", MEDIAN, 15),),
    "fill/misfit": (("median ns", MEDIAN, 20_000),),
    "replan/plan/buddy": (
        ("median ns", MEDIAN, 20),
        ("p99 ns", P99, 50),
        ("worst ns", WORST, 500),
        ("% not 8 moves", lambda row: 100 - row["moved_8_percent"], 0),
    ),
    "packed/limits": (("median ns", MEDIAN, 10_000), ("p99 ns", P99, 30_000)),
    "packed/slices": (("median ns", MEDIAN, 10_000), ("p99 ns", P99, 30_000)),
    "packed/balanced": (("median ns", MEDIAN, 10_000), ("p99 ns", P99, 30_000)),
    "copy/probe": (("median ns", MEDIAN, 2_000),),
    "copy/what-if": (
        ("median ns", MEDIAN, 75),
        ("core bytes changed", lambda row: row["core_bytes_differing"], 0),
    ),
    "python/place": (("x floor", ratio, 3.5),),
    "python/release": (("x floor", ratio, 3),),
    "python/replan": (("x floor", ratio, 4),),
    "python/batch/place": (
        ("ns a gang", MEDIAN, 50),
        ("x set buddy", _gain, 1 / 4),
    ),
    "python/batch/release": (("ns a gang", MEDIAN, 25),),
    "python/batch/place/numpy-scan": (("x numpy scan", _gain, 1 / 300),),
    "start/import": (
        ("ms", lambda row: row["value"], 60),
        ("heavy modules", lambda row: len(row["heavy"]), 0),
    ),
    "start/first-decision": (
        ("s", lambda row: row["value"], 0.5),
        ("heavy modules", lambda row: len(row["heavy"]), 0),
    ),
    "start/compile": (
        ("x json.loads", lambda row: row["value"] / row["theirs_value"], 4),
        (
            "x json.loads, with a bar",
            lambda row: row["with_bar_value"] / row["theirs_value"],
            4,
        ),
    ),
    "score/1e7": (("x numpy", ratio, 1),),
    "solve/A14/exact": (_milliseconds(0.10),),
    "solve/B40/exact": (_milliseconds(0.15),),
    **{
        f"solve/{name}/{peer}": (_over(label, times),)
        for name in ("A14", "B40")
        for peer, label, times in (
            ("cvxpy", "CVXPY+GLPK_MI", 75),
            ("glpk", "GLPK", 6),
            ("cp-sat-tuned", "tuned CP-SAT", 20),
        )
    },
    "solve/A14/certified": (_milliseconds(1),),
    "solve/C100/exact": (_milliseconds(7),),
    "solve/D1k/exact": (_milliseconds(9),),
    "solve/D1k/highs": (_over("HiGHS", 100),),
    "solve/D1k/cp-sat-tuned": (_over("tuned CP-SAT", 100),),
    "solve/D1k/gap 1e-4": (_milliseconds(5),),
    "solve/E5k/exact": (_milliseconds(100),),
    "solve/E5k/gap 1e-4": (_milliseconds(25),),
    "solve/F10k/exact": (_milliseconds(500),),
    "solve/F10k/gap 1e-4": (_milliseconds(45),),
    "solve/identical": (_milliseconds(20),),
    "solve/one-type": (_milliseconds(10),),
    **{
        f"schedule/{jobs}{order}": (_milliseconds(limit),)
        for jobs, limit in (("40", 1), ("1000", 20), ("10000", 150))
        for order in ("", "/owed", "/owed-then-utility")
    },
    "fairness/event": (("median ns", MEDIAN, 2000),),
    "fairness/round": (_milliseconds(0.2),),
    "fairness/batch/many": (_milliseconds(50),),
    "fairness/batch/few": (_milliseconds(6),),
    "fairness/batch/naive": (_over("naive", 100),),
    "montecarlo/table3": (
        ("ns a cycle", MEDIAN, 40),
        ("s", lambda row: row["seconds"], 0.5),
        _over("numpy", 2.5),
    ),
    "montecarlo/table3/python": (_over("pure Python", 40),),
    "stores/sqlite/commit": (("x one row", ratio, 2),),
    "protocol/transition": (("median ns", MEDIAN, 5000),),
    "protocol/orbits/2/7/2": (_milliseconds(100),),
    "protocol/orbits/3/12/3 hardened": (_milliseconds(5000),),
    "protocol/schedule": (_milliseconds(1),),
    "verify/2/7/2/liveness": (_milliseconds(1500), _over("TLC", 100)),
    "hybrid/20x20": _searching(1),
    "hybrid/100x100": _searching(14),
}


def _across(rows: list[Row]) -> list[Check]:
    """Budgets that compare rows with each other."""
    named = {row["row"]: row for row in rows if not row["row"].startswith("growth/")}
    checks = []
    for kind in ("place", "release"):
        pair = [named.get(f"churn/{kind}/{how}") for how in ("exact", "buddy")]
        if all(pair):
            value = pair[0]["ours"]["median"] / pair[1]["ours"]["median"]
            checks.append(Check(pair[0]["row"], "x buddy", value, 1.5))
    for kind in ("place", "replan"):
        by_size = {
            r["leaves"]: r["ours"]["median"]
            for r in rows
            if r["row"] == f"growth/{kind}"
        }
        if 1048576 in by_size:
            value = by_size[1048576] / by_size[8192]
            checks.append(Check(f"growth/{kind}", "x from 8,192 to 1M", value, 2))
    wide = [named.get(f"packed/limits{size}") for size in ("/eightfold", "")]
    if all(wide):
        hosts = wide[0]["hosts"] / wide[1]["hosts"]
        value = wide[0]["ours"]["median"] / wide[1]["ours"]["median"]
        checks.append(
            Check("packed/limits/eightfold", "x of packed/limits", value, hosts)
        )
    return checks


def _was_measured(row: Row, read: Callable[[Row], float]) -> bool:
    """Whether the row has what is read, where a peer or a solver may be missing."""
    return "missing" not in row or ("ours" in row and read not in (ratio, _gain))


def checks_of(rows: list[Row]) -> list[Check]:
    """Every budget that the rows speak of."""
    checks = [
        Check(row["row"], what, float(read(row)), limit)
        for row in rows
        for what, read, limit in LIMITS.get(row["row"], ())
        if _was_measured(row, read)
    ]
    checks += [
        Check(row["row"], "bytes", row["bytes"], row["bytes_max"])
        for row in rows
        if "bytes_max" in row
    ]
    return checks + _across(rows)
