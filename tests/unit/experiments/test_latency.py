"""Section 8.3: what a fill leaves, and which calls are timed."""

from __future__ import annotations

import pytest

from phalanx_core import Planner
from phalanx_core.experiments import latency
from phalanx_core.experiments.table5 import fill_seeds
from phalanx_core.experiments.testbed import cluster, fill


def test_a_filling() -> None:
    """The first fill: 297 gangs, a block of order 9, all spares, 8 ranks a repair."""
    found = latency.filling(0)
    assert (found.gangs, found.order, found.spares) == (297, 9, 64)
    assert found.utilisation == pytest.approx(0.90283, abs=1e-5)
    assert found.moved == (8, 8)
    assert found.lost_outside == 0
    # Gangs of 256 lose their level, and no others do.
    filled = fill(cluster(), 0)
    share = list(filled.ranks.values()).count(256) / len(filled.ranks)
    assert found.kept == pytest.approx(1 - share, abs=0.04)


def test_what_gangs_of_32_would_explain() -> None:
    """The share that is printed, if they lost their level too: the reason names it."""
    shares = []
    for seed in fill_seeds(0):
        ranks = list(fill(cluster(), seed).ranks.values())
        shares.append(1 - (ranks.count(32) + ranks.count(256)) / len(ranks))
    found = (sum(shares) / len(shares), min(shares), max(shares))
    assert [round(100 * share) for share in found] == [64, 62, 70]
    assert "64 % (62 to 70)" in latency.TRIED


def test_every_gang_is_timed() -> None:
    """Those that are refused too, each as often as there are rounds."""
    asked = fill(cluster(), 0).asked
    spans = latency.place_ns(0)
    assert len(spans) == latency.PLACE_ROUNDS * len(asked)
    assert min(spans) > 0


def test_repairs_are_timed_on_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each repair every job but the one that is hit stands where it was placed."""
    filled = fill(cluster(), 0)
    placed = {
        job: filled.planner.placement(job).leaves.tolist() for job in filled.ranks
    }
    seen = []
    replan = Planner.replan

    def spied(planner: Planner, job: int) -> object:
        seen.append(planner.placement(job).leaves.tolist() == placed[job])
        return replan(planner, job)

    monkeypatch.setattr(latency, "REPAIRS", 500)
    monkeypatch.setattr(Planner, "replan", spied)
    assert len(latency.replan_ns(0)) == 500
    assert seen == [True] * 501
