"""Lines of a history: records and transitions are read back, and wrong ones are told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import InvariantBroken, SaveError
from phalanx_core.reformation import (
    Action,
    Cause,
    Event,
    Job,
    Phase,
    Records,
    started,
)
from phalanx_core.reformation.history import (
    History,
    job_from_list,
    records_from_dict,
    records_to_dict,
)

MASKS = st.integers(0, 2**70)
JOBS = st.builds(
    Job,
    phase=st.sampled_from(Phase),
    epoch=st.integers(0, 99),
    alloc=MASKS,
    plan=MASKS,
    sealed=MASKS,
    fenced=MASKS,
    cause=st.sampled_from(Cause),
    base=st.integers(-1, 99),
    uid=st.integers(0, 99),
)
RECORDS = st.builds(
    Records,
    live=MASKS,
    jobs=st.lists(JOBS, max_size=4).map(tuple),
    failures=st.integers(0, 99),
    suspect=MASKS,
    lost=MASKS,
)


@given(RECORDS)
def test_records_are_read_back(records: Records) -> None:
    """Through JSON, every field."""
    told = json.loads(json.dumps(records_to_dict(records)))
    assert records_from_dict(told) == records


def test_lines_are_pinned() -> None:
    """The format is a contract with those who validate: bytes, not only fields."""
    history = History(started([0b011], 3), 3, ["a"])
    assert history.header() == (
        '{"phalanx_history":1,"rules":"HARDENED","leaves":3,"records":{"live":"0x7",'
        '"suspect":"0x0","lost":"0x0","failures":0,"jobs":[[1,0,"0x3","0x0","0x1","0x0"'
        ',0,-1,0]]},"names":["a"]}\n'
    )
    assert history.line(Event(Action.FAIL, leaves=1), 12.5) == (
        '{"n":1,"at":12.5,"action":"FAIL","job":0,"leaves":"0x1","epoch":0,"uid":0,'
        '"manifest":0,"after":{"live":"0x6","lost":"0x1","failures":1}}\n'
    )
    assert history.line(Event(Action.DETECT), 13.0) == (
        '{"n":2,"at":13.0,"action":"DETECT","job":0,"leaves":"0x0","epoch":0,"uid":0,'
        '"manifest":0,"after":{"jobs":{"0":[2,0,"0x3","0x0","0x1","0x0",0,-1,0]}},'
        '"name":"a"}\n'
    )


def test_a_transition_that_is_none_is_told() -> None:
    """H1 names the transition and the guard, and the history stands where it stood."""
    history = History(started([0b011], 3), 3, ["a"])
    with pytest.raises(InvariantBroken, match=r"H1.*breaks broken"):
        history.line(Event(Action.DETECT), 0.0)
    assert history.count == 0
    assert history.records == started([0b011], 3)


@pytest.mark.parametrize(
    "given",
    [
        [],
        [1, 2],
        [9, 0, "0x0", "0x0", "0x0", "0x0", 0, -1, 0],
        [1, 0, "0xg", "0x0", "0x0", "0x0", 0, -1, 0],
        [1, 0, 7, "0x0", "0x0", "0x0", 0, -1, 0],
    ],
)
def test_jobs_that_are_none_are_told(given: list[object]) -> None:
    """Too few fields, an unknown phase, a mask that is no hexadecimal text."""
    with pytest.raises(SaveError, match="job"):
        job_from_list(given)


@pytest.mark.parametrize("given", [{}, {"live": "0x0", "suspect": "0x0", "lost": 1}])
def test_records_that_are_none_are_told(given: dict[str, object]) -> None:
    """A field is missing, or of another type."""
    with pytest.raises(SaveError, match="records"):
        records_from_dict(given)
