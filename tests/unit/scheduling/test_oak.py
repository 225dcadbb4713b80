"""``oak``: the paper's consequences, and the guards against them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import certificate
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import oak
from phalanx_core.scoring import score

FRESH: dict[str, Any] = {
    "goodput": [[1.0]],
    "demand": [1],
    "capacity": 8,
    "progress_s": [0.0],
    "checkpoint_s": [0.0],
    "restart_s": 30.0,
}


def test_a_fresh_job_waits_until_its_age_key_passes_the_threshold() -> None:
    """ln(1.1) / 0.01 = 9.53 s on an empty cluster; with the other sign it runs at once."""
    chosen = {
        waiting: int(oak(**FRESH, waiting_s=[waiting]).assignment.choice[0])
        for waiting in (0.0, 9.5, 9.6, 60.0)
    }
    assert chosen == {0.0: -1, 9.5: -1, 9.6: 0, 60.0: 0}
    assert oak(**FRESH, waiting_s=[0.0], idle=-1.1).assignment.choice.tolist() == [0]
    assert oak(**FRESH, waiting_s=[0.0], idle=0.0).assignment.choice.tolist() == [0]


def test_a_job_without_progress_starves_for_ever_unless_guarded() -> None:
    """Its restart factor is 0, and 0 times any age key is below 1.1."""
    lost = FRESH | {"checkpoint_s": [4000.0], "waiting_s": [1e9]}
    assert oak(**lost).assignment.choice.tolist() == [-1]
    assert oak(**lost, restart_floor=1e-3).assignment.choice.tolist() == [0]
    guarded = oak(**lost, waiting_bound_s=3600.0)
    assert guarded.assignment.choice.tolist() == [0]
    assert guarded.overdue.tolist() == [True]
    # The utility that is told has no boost.
    assert guarded.utility.tolist() == [[0.0]]


def test_the_guarded_mode_has_both_guards() -> None:
    """And each can be set, or turned off, alone."""
    lost: dict[str, Any] = FRESH | {"checkpoint_s": [4000.0], "mode": "guarded"}
    young, old = {"waiting_s": [230.0]}, {"waiting_s": [245.0]}
    # sqrt(0.01) times an age key of 11 is the threshold: ln(11) / 0.01 = 239.8 s.
    assert oak(**lost, **young).assignment.choice.tolist() == [-1]
    assert oak(**lost, **old).assignment.choice.tolist() == [0]
    late = {"waiting_s": [21_601.0], "restart_floor": 0.0}
    assert oak(**lost, **late).overdue.tolist() == [True]
    assert oak(**lost, **late).assignment.choice.tolist() == [0]
    off = {"waiting_bound_s": float("inf")}
    assert oak(**lost, **late, **off).assignment.choice.tolist() == [-1]


def test_overdue_jobs_come_before_any_number_of_others() -> None:
    """One that waited too long gets its eight GPUs from eight that are worth far more."""
    others = 8
    round_ = oak(
        goodput=[[4.0]] + [[900.0]] * others,
        demand=[[8]] + [[1]] * others,
        capacity=8,
        progress_s=[0.0] + [900.0] * others,
        checkpoint_s=[500.0] + [0.0] * others,
        restart_s=30.0,
        waiting_s=[7200.0] + [400.0] * others,
        waiting_bound_s=3600.0,
    )
    assert round_.assignment.choice.tolist() == [0] + [-1] * others


def test_the_longest_wait_comes_before_any_number_of_shorter_ones() -> None:
    """A large job that waited longest is not left out for two small ones, overdue too."""
    round_ = oak(
        goodput=[[100.0, np.nan], [np.nan, 1.0], [np.nan, 1.0], [np.nan, 50.0]],
        demand=[8, 1],
        capacity=8,
        progress_s=[0.0] * 4,
        checkpoint_s=[0.0] * 4,
        restart_s=30.0,
        waiting_s=[1e6, 22_000.0, 22_000.0, 0.0],
        mode="guarded",
    )
    assert round_.assignment.choice.tolist() == [0, -1, -1, -1]
    assert round_.overdue.tolist() == [True, True, True, False]
    found = certificate(round_.assignment, round_.solved, [8, 1], 8, 1.1)
    assert found.broken == ()
    assert found.verified


def test_who_holds_something_is_not_overdue() -> None:
    """However long it waited before: else it would come first for ever."""
    jobs = FRESH | {"goodput": [[1.0], [2.0]], "capacity": 1, "mode": "guarded"}
    jobs |= {
        "progress_s": [0.0] * 2,
        "checkpoint_s": [0.0] * 2,
        "waiting_s": [9e4, 5e4],
    }
    assert oak(**jobs).assignment.choice.tolist() == [0, -1]
    held = oak(**jobs, current=[0, -1])
    assert held.overdue.tolist() == [False, True]
    assert held.assignment.choice.tolist() == [-1, 0]


def test_the_restart_factor_of_a_change_alone() -> None:
    """What a job holds costs no restart, so it is kept where the other is little better."""
    fields: Any = {
        "goodput": [[1.5, 1.6]],
        "demand": [2, 2],
        "capacity": 2,
        "progress_s": [300.0],
        "checkpoint_s": [30.0],
        "restart_s": 60.0,
        "waiting_s": [100.0],
        "current": [0],
    }
    assert oak(**fields).assignment.choice.tolist() == [1]
    assert oak(**fields, changed_only=True).assignment.choice.tolist() == [0]


def test_it_is_score_and_then_solve(seed: int) -> None:
    """Options reach the solver; the utilities are those of ``score``."""
    rng = np.random.default_rng(seed)
    goodput = rng.random((30, 4)) * 8
    fields: Any = {
        "progress_s": rng.random(30) * 1e4,
        "checkpoint_s": rng.random(30) * 1e3,
        "restart_s": 30.0,
        "waiting_s": rng.random(30) * 600,
    }
    round_ = oak(goodput, [1, 2, 4, 8], 40, **fields, solver="core", certify=True)
    assert round_.utility.tobytes() == score(goodput, **fields).tobytes()
    assert round_.assignment.status == "optimal"
    assert not round_.overdue.any()


def test_what_is_refused_is_named() -> None:
    """Its own options; the others' are refused by ``score`` and ``solve``."""
    with pytest.raises(InvalidRequest, match="changed_only: current says what"):
        oak(**FRESH, waiting_s=[0.0], changed_only=True)
    with pytest.raises(InvalidRequest, match="mode 'wild': one of paper, guarded"):
        oak(**FRESH, waiting_s=[0.0], mode="wild")
    with pytest.raises(InvalidRequest, match="waiting_bound_s -1: from 0, or None"):
        oak(**FRESH, waiting_s=[0.0], waiting_bound_s=-1)
