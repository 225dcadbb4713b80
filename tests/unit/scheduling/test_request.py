"""What jobs ask for: values that are refused, sizes, and the way through JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx_core import Gang
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import Configuration, JobRequest

BAD_CONFIGURATIONS = [
    # Not a gang at all.
    ({"gang": 8}, "gang 8: a Gang"),
    # Worth nothing, or no number.
    ({"goodput": 0.0}, "goodput 0.0: from 1e-100 to 1e+100"),
    ({"goodput": float("nan")}, "goodput nan: from 1e-100 to 1e+100"),
    ({"goodput": "fast"}, "goodput 'fast': from 1e-100 to 1e+100"),
    # A type is a name.
    ({"type": 3}, "type 3: a GPU type's name, or None"),
    ({"memory_bytes": -1}, "memory_bytes -1: at least 0"),
]
BAD_REQUESTS = [
    ({"configurations": "abc"}, "configurations 'abc': a list of Configuration"),
    ({"configurations": [1]}, "configurations: 1: a Configuration"),
    ({"configurations": []}, "configurations (): at least one"),
    ({"tenant": ""}, "tenant '': a text that is not empty"),
    ({"tenant": 5}, "tenant 5: a text that is not empty"),
    ({"weight": 0}, "weight 0: from 1e-06 to 1e+06"),
    ({"weight": 1e13}, "weight 10000000000000.0: from 1e-06 to 1e+06"),
    ({"demand": 0}, "demand 0: a whole number from 1, or None"),
    ({"demand": 1.5}, "demand 1.5: a whole number from 1, or None"),
    # A flag is no number here.
    ({"priority": True}, "priority True: a whole number"),
    ({"urgent": 1}, "urgent 1: True or False"),
    ({"restart_s": -1.0}, "restart_s -1.0: from 0 to 1e+12"),
    ({"checkpoint_s": float("inf")}, "checkpoint_s inf: from 0 to 1e+12"),
    ({"cold_start_s": None}, "cold_start_s None: from 0 to 1e+12"),
]


@pytest.mark.parametrize(("given", "message"), BAD_CONFIGURATIONS)
def test_bad_configurations(given: dict[str, Any], message: str) -> None:
    """The error names field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        Configuration(**({"gang": Gang(4)} | given))
    assert str(caught.value) == message


@pytest.mark.parametrize(("given", "message"), BAD_REQUESTS)
def test_bad_requests(given: dict[str, Any], message: str) -> None:
    """The error names field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        JobRequest(**({"configurations": Gang(4)} | given))
    assert str(caught.value) == message


def test_a_gang_with_templates_is_no_single_configuration() -> None:
    """Each of its sizes is worth something else."""
    with pytest.raises(InvalidRequest, match=r"with templates each size is a"):
        Configuration(Gang(8, templates=(4,)))


def test_sizes_are_the_gang_cut_down() -> None:
    """From the largest down; a size without a goodput is left out."""
    gang = Gang(16, group=4, templates=(8, 4))
    made = Configuration.sizes(gang, {4: 1.0, 16: 3.0}, "H100", 5)
    assert [(one.gpus, one.goodput, one.type) for one in made] == [
        (16, 3.0, "H100"),
        (4, 1.0, "H100"),
    ]
    assert [one.gang.group for one in made] == [4, 4]
    assert [one.gang.templates for one in made] == [(), ()]
    with pytest.raises(
        InvalidRequest, match=r"^goodput of 12 ranks: sizes are 16, 8, 4$"
    ):
        Configuration.sizes(gang, {12: 1.0})


def test_what_is_claimed_is_the_largest_or_what_is_said() -> None:
    """A gang stands for a configuration of goodput 1."""
    request = JobRequest([Gang(8), Configuration(Gang(16), 1.8)])
    assert (request.gpus, request.ways[0].goodput) == (16, 1.0)
    assert JobRequest(Gang(8), demand=3).gpus == 3


def test_requests_come_back_from_json() -> None:
    """All fields, gangs among them."""
    way = Configuration(
        Gang(8, group=2, slices=((4, "host"),), within="rack"), 2.5, "H100", 80e9
    )
    request = JobRequest(
        [way, Gang(4)], tenant="t", weight=2.0, demand=9, priority=-3, urgent=True
    )
    back = JobRequest.from_dict(json.loads(json.dumps(request.to_dict())))
    assert back == request
