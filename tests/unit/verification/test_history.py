"""Histories: what is legal, and the first bad line with its reason."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx_core.reformation import Action
from phalanx_core.verification.history import lines_of, validate

FIRST = {
    "phalanx_history": 1,
    "rules": "HARDENED",
    "leaves": 4,
    "records": {
        "live": "0xf",
        "suspect": "0x0",
        "lost": "0x0",
        "failures": 0,
        "jobs": [[1, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]],
    },
}
STEPS = (
    {
        "n": 1,
        "at": 0.5,
        "action": "FAIL",
        "leaves": "0x1",
        "after": {"live": "0xe", "lost": "0x1", "failures": 1},
    },
    {
        "n": 2,
        "at": 1.5,
        "action": "DETECT",
        "job": 0,
        "leaves": "0x1",
        "after": {"jobs": {"0": [2, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]}},
    },
    {
        "n": 3,
        "action": "PLAN",
        "job": 0,
        "leaves": "0x6",
        "epoch": 0,
        "after": {"jobs": {"0": [3, 0, "0x3", "0x6", "0x1", "0x0", 0, -1, 0]}},
    },
    {
        "n": 4,
        "action": "COMMIT",
        "job": 0,
        "host": "any key of the writer's",
        "after": {
            "lost": "0x0",
            "jobs": {"0": [4, 1, "0x6", "0x6", "0x1", "0x1", 0, -1, 0]},
        },
    },
    {
        "n": 5,
        "action": "RESTORE",
        "epoch": 1,
        "manifest": 0,
        "after": {"jobs": {"0": [4, 1, "0x6", "0x6", "0x1", "0x1", 0, 0, 0]}},
    },
)


def text(*told: Any) -> list[str]:
    """Lines of documents; a string is a line as it is."""
    return [one if isinstance(one, str) else json.dumps(one) + "\n" for one in told]


def first(**changed: Any) -> dict[str, Any]:
    """The first line with fields of its own, or of its records, changed."""
    top = {key: value for key, value in changed.items() if key in FIRST}
    inner = {key: value for key, value in changed.items() if key not in FIRST}
    records = {**FIRST["records"], **inner}
    return {**FIRST, "records": records, **top}


def step(at: int, **changed: Any) -> dict[str, Any]:
    """A step with fields changed; one that is None is left out."""
    told = {**STEPS[at - 1], **changed}
    return {key: value for key, value in told.items() if value is not None}


def test_a_repair_is_legal() -> None:
    """Every line is a step; what happened is counted."""
    report = validate(text(FIRST, *STEPS))
    assert report.fault is None
    assert (report.rules, report.leaves, report.jobs) == ("HARDENED", 4, 1)
    assert report.transitions == 5
    assert {one.name: n for one, n in report.by_action.items() if n} == {
        "FAIL": 1,
        "DETECT": 1,
        "PLAN": 1,
        "COMMIT": 1,
        "RESTORE": 1,
    }
    assert set(report.by_action) == set(Action)
    assert (report.aborts, report.dead_plans, report.epoch_max) == ({}, 0, 1)


def test_a_history_without_steps_is_legal() -> None:
    """An engine that did nothing wrote one line."""
    report = validate(text(FIRST))
    assert (report.transitions, report.fault) == (0, None)


def test_an_abort_tells_its_guard() -> None:
    """A planned leaf dies: the abort counts as one of a dead plan, by its guard."""
    dead = {"n": 4, "action": "FAIL", "leaves": "0x4"}
    dead["after"] = {"live": "0xa", "failures": 2}
    abort = {"n": 5, "action": "ABORT", "job": 0}
    abort["after"] = {"jobs": {"0": [2, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]}}
    report = validate(text(FIRST, *STEPS[:3], dead, abort))
    assert report.fault is None
    assert (report.aborts, report.dead_plans) == ({"claims_live": 1}, 1)


def test_a_printed_commit_may_claim_the_dead() -> None:
    """Where no guard looks, the commit of a dead plan is counted itself."""
    plan = [3, 0, "0x3", "0x6", "0x1", "0x0", 0, -1, 0]
    lines = text(
        first(rules="PRINTED", live="0xa", failures=2, jobs=[plan]),
        {
            "n": 1,
            "action": "COMMIT",
            "after": {"jobs": {"0": [4, 1, "0x6", "0x6", "0x1", "0x0", 0, -1, 0]}},
        },
    )
    report = validate(lines)
    assert (report.fault, report.dead_plans) == (None, 1)


def test_an_admission_may_add_the_next_job() -> None:
    """Its records are all new, and have to be told."""
    told = [2, 0, "0x0", "0x0", "0x1", "0x0", 1, -1, 1]
    admit = {
        "n": 1,
        "action": "ADMIT",
        "job": 1,
        "uid": 1,
        "after": {"jobs": {"1": told}},
    }
    report = validate(text(FIRST, admit))
    assert (report.fault, report.jobs) == (None, 2)
    report = validate(text(FIRST, {**admit, "after": {}}))
    assert report.fault is not None
    assert report.fault.reason == "after.jobs.1 is left out, and ADMIT adds it"


FAULTS = (
    # what the lines are, number of the first bad one, kind, reason
    ([], 1, "header", "the history is empty"),
    (["\n"], 1, "json", None),
    (["[]\n"], 1, "json", "not a JSON object"),
    ([{}], 1, "header", "the first line has no phalanx_history: not a history"),
    ([first(phalanx_history=2)], 1, "header", "phalanx_history is 2: only 1 is known"),
    (
        [first(phalanx_history=True)],
        1,
        "header",
        "phalanx_history is True: only 1 is known",
    ),
    (
        [first(rules="printed")],
        1,
        "header",
        "rules is 'printed': one of PRINTED, FIXED, HARDENED",
    ),
    (
        [first(rules=["x"])],
        1,
        "header",
        "rules is ['x']: one of PRINTED, FIXED, HARDENED",
    ),
    ([first(leaves=-1)], 1, "header", "leaves is -1: a whole number from 0"),
    ([first(leaves=1 << 30)], 1, "header", "leaves is 1073741824: 16777216 at most"),
    ([first(records=[])], 1, "header", "records is not an object"),
    ([first(live="f")], 1, "header", "live is 'f': a mask such as '0x1f'"),
    ([first(live="0x")], 1, "header", "live is '0x': a mask such as '0x1f'"),
    ([first(live="0x_f")], 1, "header", "live is '0x_f': a mask such as '0x1f'"),
    ([first(live=15)], 1, "header", "live is 15: a mask such as '0x1f'"),
    ([first(live="0x1f")], 1, "header", "live has bit 4: 4 bits at most"),
    ([first(failures=1.0)], 1, "header", "failures is 1.0: a whole number from 0"),
    ([first(failures=False)], 1, "header", "failures is False: a whole number from 0"),
    ([first(jobs={})], 1, "header", "records.jobs is not a list"),
    (
        [first(jobs=[[1]])],
        1,
        "header",
        "records.jobs[0] is not a list of 9: phase, epoch, alloc, plan, sealed, fenced, "
        "cause, base, uid",
    ),
    (
        [first(jobs=[[5, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]])],
        1,
        "header",
        "records.jobs[0].phase is 5: 0 to 4",
    ),
    (
        [first(jobs=[[1, 0, "0x3", "0x0", "0x1", "0x0", 0, -2, 0]])],
        1,
        "header",
        "records.jobs[0].base is -2: a whole number from 0",
    ),
    (
        [first(jobs=[[1, 2_000_000, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]])],
        1,
        "header",
        "records.jobs[0].epoch is 2000000: 1000000 at most",
    ),
    (
        [first(jobs=[[1, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]] * 2)],
        1,
        "header",
        "records break R1: a leaf of job 1 is another's as well",
    ),
    ([FIRST, step(1, n=2)], 2, "order", "n is 2, and 1 comes next"),
    ([FIRST, STEPS[0], STEPS[0]], 3, "order", "n is 1, and 2 comes next"),
    ([FIRST, step(1, n=None)], 2, "order", "n is missing"),
    ([FIRST, step(1, n=True)], 2, "order", "n is True: a whole number from 0"),
    (
        [FIRST, step(1, action="fail")],
        2,
        "action",
        "action is 'fail': no action of the protocol",
    ),
    ([FIRST, step(1, action=0)], 2, "action", "action is 0: no action of the protocol"),
    ([FIRST, STEPS[0], step(2, job=1)], 3, "event", "job is 1: there are 1"),
    ([FIRST, step(1, job=-1)], 2, "event", "job is -1: a whole number from 0"),
    ([FIRST, step(1, leaves="0x10")], 2, "event", "leaves has bit 4: 4 bits at most"),
    ([FIRST, step(1, epoch="1")], 2, "event", "epoch is '1': a whole number from 0"),
    (
        [FIRST, step(1, leaves=None)],
        2,
        "guard",
        "FAIL: guard leaves_live does not hold",
    ),
    (
        [FIRST, STEPS[0], step(2, epoch=1)],
        3,
        "guard",
        "DETECT of job 0: guard token_current does not hold",
    ),
    (
        [FIRST, *STEPS[:2], step(3, leaves="0x4")],
        4,
        "guard",
        "PLAN of job 0: guard plan_bounds does not hold",
    ),
    (
        [FIRST, step(1, after=None)],
        2,
        "after",
        "after is not an object of the fields that changed",
    ),
    (
        [FIRST, step(1, after={"live": "0xe", "failures": 1})],
        2,
        "after",
        "after.lost is left out, so it stays 0x0, and FAIL makes it 0x1",
    ),
    (
        [FIRST, step(1, after={"live": "0xc", "lost": "0x1", "failures": 1})],
        2,
        "after",
        "after.live is 0xc, and FAIL makes it 0xe",
    ),
    (
        [FIRST, step(1, after={"live": "0xe", "lost": "0x1", "failures": 2})],
        2,
        "after",
        "after.failures is 2, and FAIL makes it 1",
    ),
    (
        [FIRST, step(1, after={"lives": "0xe"})],
        2,
        "after",
        "after.lives is no field of the records",
    ),
    (
        [FIRST, step(1, after={"jobs": []})],
        2,
        "after",
        "after.live is left out, so it stays 0xf, and FAIL makes it 0xe",
    ),
    (
        [FIRST, STEPS[0], step(2, after={"jobs": []})],
        3,
        "after",
        "after.jobs is not an object of jobs by index",
    ),
    (
        [FIRST, STEPS[0], step(2, after={"jobs": {"1": []}})],
        3,
        "after",
        "after.jobs.1: there are 1 jobs",
    ),
    (
        [FIRST, STEPS[0], step(2, after={})],
        3,
        "after",
        "after.jobs.0.phase is left out, so it stays 1, and DETECT makes it 2",
    ),
    (
        [
            FIRST,
            STEPS[0],
            step(
                2, after={"jobs": {"0": [2, 0, "0x2", "0x0", "0x1", "0x0", 0, -1, 0]}}
            ),
        ],
        3,
        "after",
        "after.jobs.0.alloc is 0x2, and DETECT makes it 0x3",
    ),
    (
        [FIRST, '{"n": 1, "action": "FAIL"\n'],
        2,
        "json",
        None,
    ),
    (
        [FIRST, STEPS[0], '{"n": 2, "acti'],
        3,
        "cut",
        "it has no newline at its end and was cut: not JSON: Unterminated string "
        "starting at (column 10)",
    ),
    ([FIRST, '{"n": 1, "n": 1}\n'], 2, "json", "not JSON: a key is given twice"),
    ([FIRST, '{"n": NaN}\n'], 2, "json", "not JSON: NaN is no number"),
    (
        [FIRST, "[" * 100_000 + "\n"],
        2,
        "json",
        None,
    ),
)


@pytest.mark.parametrize(("told", "line", "kind", "reason"), FAULTS)
def test_the_first_bad_line(
    told: list[Any], line: int, kind: str, reason: str | None
) -> None:
    """Its number, of what kind it is, and one sentence; None where Python words it."""
    report = validate(text(*told))
    assert report.fault is not None
    assert (report.fault.line, report.fault.kind) == (line, kind)
    assert report.transitions == max(line - 2, 0)
    if reason is not None:
        assert report.fault.reason == reason
        assert str(report.fault) == f"line {line}: {reason}"


def test_octets_are_read_as_text_is() -> None:
    """A file opened for octets; what is no UTF-8 is no JSON."""
    octets = [line.encode() for line in text(FIRST, *STEPS)]
    assert validate(octets) == validate(text(FIRST, *STEPS))
    fault = validate([octets[0], b'{"n": "\xff"}\n']).fault
    assert fault is not None
    assert fault.reason.startswith("not JSON: 'utf-8' codec can't decode byte 0xff")


def test_a_last_line_may_lack_its_newline() -> None:
    """If it is whole, nothing is missing."""
    lines = text(FIRST, *STEPS)
    assert validate([*lines[:-1], lines[-1].rstrip()]).fault is None


def test_nothing_after_a_bad_line_is_read() -> None:
    """The validator stops there: of a stream no more is taken."""
    lines = iter(text(FIRST, step(1, n=2), *STEPS))
    validate(lines)
    assert next(lines) == text(STEPS[0])[0]


def test_lines_are_bounded() -> None:
    """A line beyond the bound is cut, and so is no JSON; what was read is told."""
    seen: list[int] = []
    octets = "".join(text(FIRST, *STEPS)).encode()
    assert b"".join(lines_of(io.BytesIO(octets), seen=seen.append)) == octets
    assert seen[-1] == len(octets)
    lines = lines_of(io.BytesIO(octets), size_max=400)
    assert validate(lines).fault is None
    fault = validate(lines_of(io.BytesIO(octets), size_max=150)).fault
    assert fault is not None
    assert (fault.line, fault.kind) == (1, "cut")


def test_the_document() -> None:
    """All that a program needs, as JSON holds it."""
    told = validate(text(FIRST, STEPS[0], STEPS[0])).to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["fault"] == {
        "line": 3,
        "kind": "order",
        "reason": "n is 1, and 2 comes next",
    }
    assert told["by_action"]["FAIL"] == 1
    assert set(told) == {
        "rules",
        "leaves",
        "jobs",
        "transitions",
        "by_action",
        "aborts",
        "dead_plans",
        "epoch_max",
        "fault",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["n", "action", "after", "jobs", "0", "leaves", "live"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(JSON, st.sampled_from([0, 1, 2, 4]))
def test_no_line_ends_the_validator(told: Any, at: int) -> None:
    """Any JSON in place of a line is a fault of that line, never an exception."""
    lines = text(FIRST, *STEPS)
    lines[at] = json.dumps(told) + "\n"
    fault = validate(lines).fault
    assert fault is not None
    assert fault.line == at + 1


@settings(max_examples=300)
@given(st.binary(max_size=40), st.integers(0, 5))
def test_no_octets_end_the_validator(octets: bytes, at: int) -> None:
    """Nor do any octets."""
    lines = [line.encode() for line in text(FIRST, *STEPS)]
    lines[at] = octets
    fault = validate(lines).fault
    assert fault is not None
    assert fault.line == at + 1
