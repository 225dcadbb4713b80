"""Replan of a job that lost a host, on the paper's fill."""

from __future__ import annotations

from typing import Any

import pytest

from bench.calls import checksum, filled

CHECKSUMS = {1024: "d29986ac99c871b0", 131072: "23d9f0910662e230"}


@pytest.mark.parametrize("leaves", [1024, 131072])
def test_replan_as_a_plan(benchmark: Any, leaves: int) -> None:
    """A plan for each job's first host; whereto is pinned, and nothing changes."""
    planner, jobs = filled(leaves, 1)
    events = [(job, planner.placement(job).leaves[:8].tolist()) for job in jobs]
    before = planner.save()

    def plan_all() -> list[Any]:
        return [planner.replan(job, failed=lost, apply=False) for job, lost in events]

    plans = benchmark(plan_all)
    assert checksum(int(one.moves[0, 2]) for one in plans if one) == CHECKSUMS[leaves]
    assert {len(one.moves) for one in plans if one} == {8}
    assert planner.save() == before
