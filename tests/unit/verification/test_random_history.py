"""100,000 random transitions: legal, with a floor for each action; and corrupted ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Action, check
from phalanx_core.verification.history import Replay, validate
from phalanx_core.verification.history_lines import BadLine
from phalanx_core.verification.random_history import random_history
from tests.unit.verification.slow_history import document, legal

TRANSITIONS = 100_000
FLOOR = 1_000
CORRUPTED = 20_000


@pytest.fixture(scope="module")
def history() -> list[str]:
    """Four jobs on 32 leaves, as the paper has it."""
    return list(random_history(seed=1, transitions=TRANSITIONS))


def test_every_transition_is_legal_and_no_action_is_rare(history: list[str]) -> None:
    """No divergence; every action, and the plan of a dead leaf, at least so often."""
    report = validate(history)
    assert report.fault is None
    assert report.transitions == TRANSITIONS
    assert {one.name: n for one, n in report.by_action.items() if n < FLOOR} == {}
    assert report.aborts["claims_live"] >= FLOOR
    assert report.dead_plans >= FLOOR
    # Two jobs want a leaf, a repair goes first, a verdict comes or goes under a plan.
    assert report.aborts["free_or_mine"] >= 500
    assert report.aborts["first_served"] >= 200
    assert report.aborts["claims_trusted"] >= 50
    assert report.aborts["drain_wanted"] >= 20


def test_the_slow_twin_agrees(history: list[str]) -> None:
    """Whole documents, merged and compared, say the same of the first 3,000 lines."""
    replay = Replay.of(history[0])
    for line in history[1:3_001]:
        before = document(replay.records)
        assert legal(replay.name, before, json.loads(line))
        replay.follow(line)
        check(replay.records)
        assert line.endswith("\n")


def test_equal_seeds_give_equal_lines() -> None:
    """And other seeds others; a longer history begins as a shorter one."""
    once = list(random_history(seed=5, transitions=300))
    assert once == list(random_history(seed=5, transitions=300))
    assert once == list(random_history(seed=5, transitions=400))[:301]
    assert once[1:] != list(random_history(seed=6, transitions=300))[1:]
    assert once[1].startswith('{"n":1,"at":1.0,"action":')


@pytest.mark.parametrize(
    ("jobs", "leaves"), [(0, 8), (3, 11), (1, 3), (True, 8), (2, 8.0)]
)
def test_a_world_too_small_is_refused(jobs: int, leaves: int) -> None:
    """Every job starts on three leaves, with as many again for all."""
    with pytest.raises(InvalidRequest, match="four leaves each"):
        next(random_history(1, 1, jobs, leaves))


@pytest.mark.parametrize(("jobs", "leaves"), [(1, 4), (2, 8), (9, 64)])
def test_other_worlds(jobs: int, leaves: int) -> None:
    """Small and larger ones are legal too."""
    report = validate(random_history(3, 2_000, jobs, leaves))
    assert (report.fault, report.transitions) == (None, 2_000)


def _other_mask(random: Random, told: str, bits: int) -> str:
    return hex(int(told, 16) ^ 1 << random.randrange(bits))


def _in_records(random: Random, told: dict[str, Any]) -> None:
    """One bit or number of a field that the line says has changed."""
    after = told["after"]
    keys = [key for key in after if key != "jobs"] + ["jobs"] * len(
        after.get("jobs", {})
    )
    key = random.choice(keys)
    if key == "failures":
        after[key] += 1
    elif key != "jobs":
        after[key] = _other_mask(random, after[key], 32)
    else:
        job = after["jobs"][random.choice(list(after["jobs"]))]
        at = random.randrange(9)
        if at in (2, 3, 5):
            job[at] = _other_mask(random, job[at], 32)
        elif at == 4:
            job[at] = _other_mask(random, job[at], job[1] + 1)
        elif at in (0, 6):
            job[at] = (job[at] + 1) % 4
        else:
            job[at] += 1


def _in_event(random: Random, told: dict[str, Any]) -> None:
    """One field of the event, action and number aside."""
    key = random.choice(["job", "leaves", "epoch", "uid", "manifest"])
    if key == "leaves":
        told[key] = _other_mask(random, told[key], 32)
    else:
        told[key] = (told[key] + 1) % 4 if key == "job" else told[key] + 1


def _left_out(random: Random, told: dict[str, Any]) -> None:
    """A field that changed is not told."""
    told["after"].pop(random.choice(list(told["after"])))


def _action(random: Random, told: dict[str, Any]) -> None:
    """Another action."""
    others = [one.name for one in Action if one.name != told["action"]]
    told["action"] = random.choice(others)


def corrupted(
    history: list[str], spoil: Callable[[Random, dict[str, Any]], None]
) -> tuple[int, int, Counter[str]]:
    """How many spoilt lines there were, were noticed, and which actions had the others.

    Each is judged by the validator and by the slow twin, which have to agree.
    """
    random = Random(2)
    replay = Replay.of(history[0])
    made = noticed = 0
    legal_ones: Counter[str] = Counter()
    for line in history[1 : CORRUPTED + 1]:
        told = json.loads(line)
        if told["after"]:
            before = document(replay.records)
            spoil(random, told)
            made += 1
            state = (replay.records, replay.transitions)
            sound = legal(replay.name, before, told)
            spoilt = Replay(replay.name, replay.rules, replay.leaves, *state)
            try:
                spoilt.follow(json.dumps(told))
            except BadLine:
                noticed += 1
                assert not sound, told
                assert (spoilt.records, spoilt.transitions) == state
            else:
                assert sound, told
                legal_ones[told["action"]] += 1
        replay.follow(line)
    return made, noticed, legal_ones


@pytest.mark.parametrize(
    ("spoil", "least"),
    [(_in_records, 1.0), (_left_out, 1.0), (_action, 0.95), (_in_event, 0.3)],
)
def test_corrupted_lines_are_noticed(
    history: list[str],
    spoil: Callable[[Random, dict[str, Any]], None],
    least: float,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All that are no legal step are; a wrong state always, for a step has one outcome."""
    made, noticed, others = corrupted(history, spoil)
    with capsys.disabled():
        told = f"{spoil.__name__[1:]}: {noticed} of {made} noticed, others legal {dict(others)}"
        print(f"\n  {told}", end="")  # noqa: T201
    assert made > 0.8 * CORRUPTED
    assert noticed >= least * made
