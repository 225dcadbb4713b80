"""What the unreduced search is of: a scope, changed rules, states and steps."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import NONE, ffi, lib

JOBS_MAX: int = lib.PHX_VERIFY_JOBS_MAX
LEAVES_MAX: int = lib.PHX_VERIFY_LEAVES_MAX
FAILURES_MAX: int = lib.PHX_VERIFY_FAILS_MAX

PHASES = ("Run", "Plan", "Commit", "Restore")


def _names(call: Any, count: int) -> tuple[str, ...]:
    return tuple(ffi.string(call(at)).decode() for at in range(count))


ACTIONS = _names(lib.phx_verify_action_name, lib.PHX_VERIFY_ACTIONS)
PROPERTIES = _names(lib.phx_verify_property_name, lib.PHX_VERIFY_PROPERTIES)


class Rule(enum.IntFlag):
    """Changes of single rules of the printed protocol, which has none of them.

    Faults are there to be seen: a property of states or steps is violated by each.
    """

    PINNED = lib.PHX_VERIFY_PINNED
    """A plan keeps the live leaves of its job."""
    LIVE_COMMIT = lib.PHX_VERIFY_LIVE_COMMIT
    """Commit needs every planned leaf live; else Abort is enabled."""
    DETECT_RESTORE = lib.PHX_VERIFY_DETECT_RESTORE
    """Detect is enabled in Restore too."""
    LIVE_RESTORE = lib.PHX_VERIFY_LIVE_RESTORE
    """Restore needs every leaf of its job live."""
    NO_ABORT = lib.PHX_VERIFY_NO_ABORT
    """There is no Abort."""
    FIXED_SIZE = lib.PHX_VERIFY_FIXED_SIZE
    """A plan has as many leaves as its job."""
    CRASH = lib.PHX_VERIFY_CRASH
    """An engine may fall from Commit back to Plan, again and again."""
    UNGUARDED = lib.PHX_VERIFY_UNGUARDED
    """Fault: Commit is always enabled, and takes leaves of other jobs."""
    DEAD_PLAN = lib.PHX_VERIFY_DEAD_PLAN
    """Fault: a plan may have dead leaves."""
    FOREIGN_PLAN = lib.PHX_VERIFY_FOREIGN_PLAN
    """Fault: a plan may have leaves of other jobs."""
    EMPTY_PLAN = lib.PHX_VERIFY_EMPTY_PLAN
    """Fault: a plan may have no leaf."""
    LOOSE_SEAL = lib.PHX_VERIFY_LOOSE_SEAL
    """Fault: Seal is enabled in every phase."""
    ABORT_RUNS = lib.PHX_VERIFY_ABORT_RUNS
    """Fault: Abort leads to Run."""
    NO_RESTORE = lib.PHX_VERIFY_NO_RESTORE
    """Fault: Commit leads to Run."""


PRINTED = Rule(0)
FIXED = Rule.PINNED | Rule.LIVE_COMMIT | Rule.DETECT_RESTORE | Rule.LIVE_RESTORE


class JobState(NamedTuple):
    """One job of a state.

    Attributes
    ----------
    phase
        Of :data:`PHASES`.
    epoch
        From 0.
    owned, plan
        Masks of leaves.
    sealed
        A bit an epoch that has a manifest.
    """

    phase: str
    epoch: int
    owned: int
    plan: int
    sealed: int


class State(NamedTuple):
    """A state of the protocol: the mask of live leaves, and every job."""

    live: int
    jobs: tuple[JobState, ...]


class Step(NamedTuple):
    """A step of the protocol.

    Attributes
    ----------
    action
        Of :data:`ACTIONS`; "Init" is the initial state.
    job
        Who takes it; None for Init and Fail.
    leaves
        A mask: the leaf that fails, the dead ones that are seen, the planned or claimed
        ones, those that bar a commit; all at Init; 0 for Seal and Restore.
    epoch
        The job's afterwards; 0 for Init and Fail.
    times
        How often TLC counts it: Restore once a witness.
    after
        The state it leads to.
    """

    action: str
    job: int | None
    leaves: int
    epoch: int
    times: int
    after: State

    def __str__(self) -> str:
        who = "" if self.job is None else f"job {self.job}"
        which = [at for at in range(LEAVES_MAX) if self.leaves >> at & 1]
        leaves = f"leaves {','.join(map(str, which))}" if which else ""
        epoch = "" if self.job is None else f"epoch {self.epoch}"
        return (
            f"{self.action}({'; '.join(part for part in (who, leaves, epoch) if part)})"
        )


def _whole(name: str, value: object, low: int, high: int) -> None:
    if not is_whole(value) or not low <= int(value) <= high:  # type: ignore[call-overload]
        raise InvalidRequest(
            f"scope: {name} {value!r}: a whole number from {low} to {high}"
        )


@dataclass(frozen=True)
class Scope:
    """A scope of the Rank Reformation Protocol (RRP; the Phalanx paper, Figure 2).

    Parameters
    ----------
    jobs
        1 to 4.
    leaves
        At least ``jobs * (failures + 1)``, since every job begins with more leaves than
        can fail; at most 16.
    failures
        ``MaxFail`` of the paper, 0 to 7.
    rules
        What is changed of the printed protocol.
    start
        Leaves of each job as masks: the only initial state. None: every allocation in
        which each job has more than ``failures`` leaves.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain, leaves of a start overlap or are too few, or a
        state does not fit two words of 64 bits.

    Examples
    --------
    >>> Scope(2, 7, 2).rules is PRINTED
    True
    >>> Scope(2, 5, 2)
    Traceback (most recent call last):
        ...
    phalanx_core.errors.InvalidRequest: scope: leaves 5: a whole number from 6 to 16
    """

    jobs: int
    leaves: int
    failures: int
    rules: Rule = PRINTED
    start: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _whole("jobs", self.jobs, 1, JOBS_MAX)
        _whole("failures", self.failures, 0, FAILURES_MAX)
        _whole("leaves", self.leaves, self.jobs * (self.failures + 1), LEAVES_MAX)
        known = sum(Rule)
        if not is_whole(int(self.rules)) or int(self.rules) & ~known:
            raise InvalidRequest(f"scope: rules {self.rules!r}: of {Rule.__name__}")
        if self.start is not None:
            self._check_start(self.start)
        if not lib.phx_verify_words(core_scope(self)):
            raise InvalidRequest(
                f"scope: {self.jobs} jobs, {self.leaves} leaves, {self.failures} "
                "failures: a state must fit two words of 64 bits"
            )

    def _check_start(self, start: tuple[int, ...]) -> None:
        if len(start) != self.jobs:
            raise InvalidRequest(f"scope: start {start!r}: one mask a job")
        taken = 0
        for job, owned in enumerate(start):
            _whole(f"start[{job}]", owned, 1, (1 << self.leaves) - 1)
            if owned.bit_count() <= self.failures:
                raise InvalidRequest(
                    f"scope: start[{job}] {owned:#x}: more than {self.failures} leaves"
                )
            if owned & taken:
                raise InvalidRequest(
                    f"scope: start[{job}] {owned:#x}: no leaf of another job"
                )
            taken |= owned


def core_scope(scope: Scope) -> Any:
    """A ``phx_verify_scope *`` without liveness or a bound on bytes."""
    given = ffi.new("phx_verify_scope *")
    given.jobs, given.leaves, given.fails = scope.jobs, scope.leaves, scope.failures
    given.rules, given.started = int(scope.rules), int(scope.start is not None)
    given.start[0 : scope.jobs] = scope.start or (0,) * scope.jobs
    return given


def state_of(core: Any, jobs: int) -> State:
    """A ``phx_verify_state`` as values."""
    return State(
        int(core.live),
        tuple(
            JobState(PHASES[of.phase], of.epoch, of.owned, of.plan, of.sealed)
            for of in core.job[0:jobs]
        ),
    )


def core_state(state: State) -> Any:
    """A ``phx_verify_state *`` of values."""
    rows = [
        (of.owned, of.plan, of.sealed, PHASES.index(of.phase), of.epoch)
        for of in state.jobs
    ]
    return ffi.new("phx_verify_state *", (rows, state.live))


def step_of(core: Any, jobs: int) -> Step:
    """A ``phx_verify_step`` as values."""
    job = None if core.job == NONE else int(core.job)
    action = ACTIONS[core.action]
    return Step(
        action, job, core.leaves, core.epoch, core.times, state_of(core.after, jobs)
    )
