"""A small cluster with running jobs, and plans for it that change nothing."""

from __future__ import annotations

from typing import Any

from phalanx_core import DefragmentPlan, Gang, Misfit, Planner, Topology

HOST = Gang(4, within="host")


def racks() -> Planner:
    """Two racks of two hosts of four: aa.. | bb.. || bbc. | cd.. ."""
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:4"))
    planner.adopt("a", Gang(2, group=2), [0, 1])
    planner.adopt("b", Gang(4, group=2), [4, 5, 8, 9])
    planner.adopt("c", Gang(2), [10, 12])
    planner.adopt("d", Gang(1), [13])
    return planner


def planned(planner: Planner, wanted: Gang, **options: Any) -> DefragmentPlan:
    """A plan, which must exist and change nothing."""
    saved = planner.save()
    plan = planner.defragment(wanted, **options)
    assert planner.save() == saved
    assert isinstance(plan, DefragmentPlan)
    return plan


def refused(planner: Planner, wanted: Gang, **options: Any) -> Misfit:
    """A refusal, which must change nothing."""
    saved = planner.save()
    answer = planner.defragment(wanted, **options)
    assert planner.save() == saved
    assert isinstance(answer, Misfit)
    return answer


def moves(plan: DefragmentPlan) -> dict[Any, list[list[int]]]:
    """Job to its moves."""
    return {job: repair.moves.tolist() for job, repair in plan.items()}
