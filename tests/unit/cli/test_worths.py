"""The worths that a person is shown are those that the scheduler chose by."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import Gang, Topology
from phalanx_core.cli.worths import worths
from phalanx_core.scheduling import (
    Configuration,
    Decision,
    JobRequest,
    Scheduler,
    SchedulerOptions,
    Why,
)
from phalanx_core.scheduling.feasible import Feasible

TOPOLOGY = Topology.from_spec("host:16 gpu:1")
CHOSEN = (Why.CHOSEN, Why.RENEWED)


def fresh() -> Scheduler:
    """Sixteen GPUs of any shape, so that nothing is cut; every choice is proven."""
    options = SchedulerOptions(
        lease_s=60.0, releases="immediate", gap=0.0, effort=None, waiting_bound_s=1e9
    )
    return Scheduler(TOPOLOGY, options=options)


def told(scheduler: Scheduler, now: float) -> dict[str, Any]:
    """Worths of all jobs before a round."""
    jobs = [scheduler.status(job) for job in scheduler.jobs()]
    options = scheduler.options
    feasible = Feasible(scheduler.planners, None, options.normalized)
    return dict(worths(jobs, now, feasible, options))


def chosen(decision: Decision, worth: dict[str, Any]) -> float:
    """Worth of what a round chose."""
    last = [decision.outcome(job) for job in worth]
    return fsum(
        worth[str(one.job)][one.configuration] for one in last if one.why in CHOSEN
    )


@given(
    st.lists(
        st.tuples(
            st.integers(1, 8),
            st.floats(0.1, 100.0),
            st.floats(0.1, 100.0),
            st.integers(0, 3),
            st.integers(0, 500),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_chosen_is_worth_the_objective(
    rows: list[tuple[int, float, float, int, int]],
) -> None:
    """Over five rounds of starts, renewals and waiting."""
    scheduler = fresh()
    for now in range(5):
        for at, (ranks, one, two, come, useful) in enumerate(rows):
            if come == now:
                ways = (
                    Configuration(Gang(2 * ranks), one),
                    Configuration(Gang(ranks), two),
                )
                scheduler.submit(f"j{at}", JobRequest(ways), 60.0 * now)
                scheduler.progress(f"j{at}", float(useful))
        worth = told(scheduler, 60.0 * now)
        decision = scheduler.round(60.0 * now)
        if decision.objective is not None:
            assert chosen(decision, worth) == pytest.approx(decision.objective)
        for action in decision.of("start"):
            scheduler.started(action.job)
        for action in decision.of("keep"):
            scheduler.checkpointed(action.job)


def test_what_cannot_run_is_worth_nothing() -> None:
    """A configuration that the topology can never hold is NaN, in its place."""
    scheduler = fresh()
    ways = (Configuration(Gang(32), 9.0), Configuration(Gang(4), 2.0))
    scheduler.submit("a", JobRequest(ways), 0.0)
    (row,) = told(scheduler, 0.0).values()
    np.testing.assert_array_equal(row, [np.nan, 1.0])


def test_no_jobs_have_no_worths() -> None:
    """The first round of an empty cluster is one too."""
    assert told(fresh(), 0.0) == {}
