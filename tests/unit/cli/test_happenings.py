"""``LEVEL=NAME@SECONDS``: times, order, and rounds that answer."""

from __future__ import annotations

import pytest

from phalanx_core import Topology
from phalanx_core.cli.happenings import Happening, happenings_of, round_times
from phalanx_core.errors import InvalidRequest

TOPOLOGY = Topology.from_labels(("host",), {"host": ["a", "a", "b@1", "b@x"]})


def found(*given: tuple[str, str], since: float = 0.0) -> list[Happening]:
    """Of a run whose first round is at 100 s, then every 50 s."""
    return happenings_of(TOPOLOGY, given, 100.0, 50.0, since)


def test_order_is_of_time_and_then_of_the_command_line() -> None:
    """Without a time it is just before the second round."""
    told = found(("fail", "host=a@200"), ("drain", "host=b@x"), ("heal", "host=a@150"))
    assert [(one.kind, one.target.leaves, one.at_s) for one in told] == [
        ("drain", (3,), 150.0),
        ("heal", (0, 1), 150.0),
        ("fail", (0, 1), 200.0),
    ]


def test_a_name_may_have_a_sign_of_its_own() -> None:
    """The last one parts off a time if a number is behind it."""
    (one,) = found(("fail", "host=b@1@120"))
    assert (one.target.leaves, one.at_s) == ((2,), 120.0)


@pytest.mark.parametrize(
    ("text", "since", "message"),
    [
        ("host=a@nan", 0.0, "--fail host=a@nan: its time must be finite seconds"),
        ("host=a@-3", 0.0, "--fail host=a@-3: its time must be finite seconds"),
        ("host=a@9", 10.0, "--fail host=a@9: must be at 10 s or later, when this run"),
        ("host@9", 0.0, "--fail 'host': must be LEVEL=NAME"),
        ("host=c@9", 0.0, "--fail: level 'host' has no domain 'c'"),
    ],
)
def test_what_breaks_a_rule_is_named(text: str, since: float, message: str) -> None:
    """One message with the option, its value and the rule."""
    with pytest.raises(InvalidRequest) as caught:
        found(("fail", text), since=since)
    assert str(caught.value).startswith(message)


def test_rounds_answer_everything() -> None:
    """As many as it takes for a round at the last happening or after it."""
    assert round_times(found(("fail", "host=a@150")), 100.0, 50.0, None) == [100, 150]
    late = found(("fail", "host=a@151"))
    assert round_times(late, 100.0, 50.0, None) == [100.0, 150.0, 200.0]
    assert round_times(late, 100.0, 50.0, 4) == [100.0, 150.0, 200.0, 250.0]
    with pytest.raises(InvalidRequest) as caught:
        round_times(late, 100.0, 50.0, 2)
    assert str(caught.value) == (
        "--fail host=a@151: needs 3 rounds, the last of them to answer it, and there "
        "are at most 2"
    )


def test_times_that_do_not_add_up_exactly_are_met() -> None:
    """Ten times a tenth is below one in doubles; the round after it answers."""
    topology = Topology.from_spec("host:1 gpu:1")
    told = happenings_of(topology, [("fail", "host=host-0@1")], 0.0, 0.1, 0.0)
    times = round_times(told, 0.0, 0.1, None)
    assert times[-1] >= 1.0 > times[-2]


@pytest.mark.parametrize("count", [0, -1, 100_001])
def test_numbers_of_rounds_have_limits(count: int) -> None:
    """None at all and more than a run can tell are refused."""
    with pytest.raises(InvalidRequest, match="must be from 1 to 100000"):
        round_times([], 0.0, 60.0, count)


def test_rounds_end_before_the_last_second() -> None:
    """Seconds above 2**52 are not told apart finely enough by the ledgers."""
    assert round_times([], 0.0, 2.0**51, 3) == [0.0, 2.0**51, 2.0**52]
    with pytest.raises(InvalidRequest) as caught:
        round_times([], 0.0, 1e15, 6)
    assert str(caught.value) == (
        "--round 1e+15: round 6 would be at 5e+15 s, and the last second is 4.5036e+15"
    )


def test_a_time_beyond_all_rounds_is_refused() -> None:
    """The number of rounds that it would take is not counted to its end."""
    with pytest.raises(InvalidRequest, match="needs more than 100000 rounds"):
        round_times(found(("fail", "host=a@1e300")), 100.0, 50.0, None)
