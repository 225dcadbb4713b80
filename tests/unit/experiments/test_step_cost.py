"""The cost model: literal seconds, worked by hand."""

from __future__ import annotations

import pytest

from phalanx_core import InvalidRequest
from phalanx_core.experiments.step_cost import StepCost


@pytest.mark.parametrize(
    ("ranks", "group", "gang", "seconds"),
    [
        # 4 / 900 alone: one replica reduces with nobody.
        (8, 1, 1, 0.004444),
        # 4 / 900 + 2 * 1/2 * 17.5 / 50
        (16, 1, 2, 0.354444),
        # 4 / 900 + 2 * 7/8 * 17.5 / 50
        (64, 1, 2, 0.616944),
        # 4 / 900 + 2 * 31/32 * 17.5 / 12.5
        (256, 1, 3, 2.716944),
        # 4 / 900 + 2 * 127/128 * 17.5 / 6.25
        (1024, 1, 4, 5.560694),
        # 4 / 6.25 + 2 * 1023/1024 * 17.5 / 6.25
        (8192, 4, 4, 6.234531),
        # 4 / 50 + 2 * 3/4 * 17.5 / 12.5
        (32, 2, 3, 2.18),
    ],
)
def test_seconds_of_a_step(ranks: int, group: int, gang: int, seconds: float) -> None:
    """The group's activations, then a ring among the replicas."""
    assert StepCost().step_s(ranks, group, gang) == pytest.approx(seconds, abs=1e-6)


def test_inflation_is_after_over_before() -> None:
    """From a rail group to the pod 3.98, back a quarter; scattered over the cluster 8.89."""
    cost = StepCost()
    assert cost.inflation(256, (1, 2), (1, 3)) == pytest.approx(3.9805, abs=1e-4)
    assert cost.inflation(256, (1, 3), (1, 2)) == pytest.approx(0.2512, abs=1e-4)
    assert cost.inflation(128, (1, 2), (4, 4)) == pytest.approx(8.9149, abs=1e-4)
    assert cost.inflation(64, (1, 2), (4, 4)) == pytest.approx(8.9797, abs=1e-4)
    assert cost.inflation(64, (1, 4), (1, 4)) == 1.0


def test_other_hardware() -> None:
    """Every number of the model is a parameter."""
    cost = StepCost((10.0, 10.0, 1.0), group_ranks=4, group_gb=20.0, gradient_gb=6.0)
    # 20 / 10 + 2 * 1/2 * 6 / 1
    assert cost.step_s(8, 1, 2) == 8.0


@pytest.mark.parametrize("ranks", [0, 4, 12, -8])
def test_groups_are_whole(ranks: int) -> None:
    """No part of a group, and at least one."""
    with pytest.raises(InvalidRequest, match="whole groups of 8"):
        StepCost().step_s(ranks, 1, 1)
