"""``Decision``: what a round tells its embedder to do, in the order in which to do it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Misfit, Placement, Repair
from phalanx_core.placement.keys import Job
from phalanx_core.placement.limits import IntArray

NO_LEAVES: IntArray = np.empty(0, np.int32)
NO_LEAVES.flags.writeable = False


class ActionKind(StrEnum):
    """What is to be done, in the order in which a decision lists it."""

    STOP = "stop"  #: have the job checkpoint and end its processes, then ``released``
    RELEASE = "release"  #: the leaves of a stopped job are free again
    START = "start"  #: start its ranks on these leaves, then ``started``
    MOVE = (
        "move"  #: ranks of a running job change leaves; ``fenced`` when the old ended
    )
    KEEP = "keep"  #: the job stays as it is
    WAIT = "wait"  #: the job has no leaves, or is still stopping


class Why(StrEnum):
    """Reasons of actions."""

    LEASE_ENDED = "lease ended"  #: its lease is over and others come first
    RECONFIGURED = "reconfigured"  #: it goes on in another configuration
    CANCELLED = "cancelled"  #: its user ends it
    BROKEN = "broken"  #: it lost leaves and cannot be repaired where it is
    DRAINED = "drained"  #: its leaves are closed and its lease is over
    EVICTED = "evicted"  #: its lease is ended early for a job of its tenant
    RELEASED = "released"  #: its embedder told so, or ends it within this decision
    CHOSEN = "chosen"  #: the order chose it
    BORROWED = "borrowed"  #: beyond its tenant's budget, on leaves nobody else can use
    OVERDUE = "overdue"  #: it waited longer than the bound, and comes before all others
    FAILED = "failed"  #: leaves of it are down
    DRAINING = "draining"  #: leaves of it are closed
    LEASED = "leased"  #: its lease goes on
    RENEWED = "renewed"  #: a new lease in place
    RESERVED = "reserved"  #: leaves are held for it, or it may stay until another's are
    OUTBID = "outbid"  #: others are worth more, or are owed more
    MISFIT = "misfit"  #: no leaves for any of its configurations
    HELD = "held"  #: its leaves are known, and still of jobs that are stopping
    STOPPING = "stopping"  #: it is to stop, and not yet ``released``
    INFEASIBLE = "infeasible"  #: no configuration could ever run here


class Cut(NamedTuple):
    """A choice that the topology could not hold.

    Attributes
    ----------
    job, configuration
        What was chosen.
    misfit
        Why it does not fit.
    """

    job: Job
    configuration: int
    misfit: Misfit


class Action:
    """One thing to do, or to leave as it is, for one job.

    Attributes
    ----------
    kind
        What.
    job
        Whose.
    why
        The reason's code; ``reason`` has it as a sentence.
    configuration
        Index into the job's configurations, -1 where it has none.
    type
        GPU type of its leaves, None where it has none.
    lease_end_s
        When its lease ends; not part of equality. None where it has no lease.
    checkpoint
        Whether a checkpoint is due, since a lease ends, renewed or not, or ranks leave
        leaves that are well; not of a broken job. Who has yet to start has nothing to save.
    worth
        Utility of the configuration that was chosen, where the order is by utility and a
        choice was made; not part of equality, as it grows with time. Else None.
    repair
        Moves of a "move"; else None.
    """

    __slots__ = (
        "_detail",
        "_given",
        "checkpoint",
        "configuration",
        "job",
        "kind",
        "lease_end_s",
        "repair",
        "type",
        "why",
        "worth",
    )

    def __init__(
        self,
        kind: ActionKind,
        job: Job,
        why: Why,
        detail: object = "",
        given: Placement | Repair | IntArray | None = None,
        *,
        configuration: int = -1,
        type: str | None = None,
        lease_end_s: float | None = None,
        checkpoint: bool = False,
        worth: float | None = None,
    ) -> None:
        self.kind = kind
        self.job = job
        self.why = why
        self._detail = detail
        self._given = given
        self.configuration = configuration
        self.type = type
        self.lease_end_s = lease_end_s
        self.checkpoint = checkpoint
        self.worth = worth
        self.repair = given if isinstance(given, Repair) else None

    @property
    def leaves(self) -> IntArray:
        """Leaf ids: of a stop or release those given up, else all that it then has."""
        given = self._given
        if given is None:
            return NO_LEAVES
        return given if isinstance(given, np.ndarray) else given.leaves

    @property
    def misfit(self) -> Misfit | None:
        """Why it does not fit, where that is the reason."""
        return self._detail if isinstance(self._detail, Misfit) else None

    @property
    def reason(self) -> str:
        """The reason in one sentence."""
        detail = self._detail
        told = str(detail)
        return f"{self.why.value}: {told}" if told else self.why.value

    def _key(self) -> tuple[Any, ...]:
        moves = None if self.repair is None else self.repair.moves.tobytes()
        return (
            self.kind,
            self.job,
            self.why,
            self.configuration,
            self.type,
            self.checkpoint,
            self.leaves.tobytes(),
            moves,
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if type(other) is Action else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        told: dict[str, Any] = {
            "action": self.kind.value,
            "job": self.job,
            "why": self.why.value,
            "reason": self.reason,
            "configuration": None if self.configuration < 0 else self.configuration,
            "type": self.type,
            "leaves": self.leaves.tolist(),
            "lease_end_s": self.lease_end_s,
            "checkpoint": self.checkpoint,
            "worth": self.worth,
        }
        if self.repair is not None:
            told["moves"] = self.repair.moves.tolist()
        if self.misfit is not None:
            told["misfit"] = self.misfit.to_dict()
        return told

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Action cannot be pickled or copied: use to_dict()")

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.job!r}: {self.reason}>"


@dataclass(frozen=True, eq=False)
class Decision:
    """What a round decided; falsy where it changes nothing.

    Attributes
    ----------
    now_s
        When; not part of equality, as no time is.
    actions
        In order of kinds, and within one in order of submission; every job that the
        scheduler knows has one at least, and the last that names it is its outcome.
    cuts
        Choices that the topology could not hold, in the order they were cut.
    budgets
        GPUs that each tenant may have of each type where the order is
        "owed-then-utility": int64, shape (tenants, types); else None.
    objective, bound
        Utility of what was chosen first, and what no choice exceeds, where the order is
        by utility; else None.
    times_s
        Stage to wall seconds; not part of equality.
    """

    now_s: float
    actions: tuple[Action, ...]
    cuts: tuple[Cut, ...] = ()
    budgets: NDArray[np.int64] | None = None
    objective: float | None = None
    bound: float | None = None
    times_s: dict[str, float] = field(default_factory=dict)

    @cached_property
    def _last(self) -> dict[Job, Action]:
        return {action.job: action for action in self.actions}

    def outcome(self, job: Job) -> Action:
        """What became of a job: the last action that names it.

        Raises
        ------
        KeyError
            If it was not there.
        """
        return self._last[job]

    def of(self, kind: ActionKind | str) -> tuple[Action, ...]:
        """The actions of a kind."""
        try:
            wanted = ActionKind(kind)
        except ValueError:
            known = ", ".join(ActionKind)
            raise InvalidRequest(f"kind {kind!r}: one of {known}") from None
        return tuple(action for action in self.actions if action.kind is wanted)

    def __bool__(self) -> bool:
        return any(
            action.checkpoint or action.kind not in (ActionKind.KEEP, ActionKind.WAIT)
            for action in self.actions
        )

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)

    def _key(self) -> tuple[Any, ...]:
        cuts = tuple(
            (cut.job, cut.configuration, cut.misfit.reason) for cut in self.cuts
        )
        budgets = None if self.budgets is None else self.budgets.tolist()
        return self.actions, cuts, budgets, self.objective, self.bound

    def __eq__(self, other: object) -> bool:
        if type(other) is not Decision:
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.actions)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without the times that it took."""
        return {
            "now_s": self.now_s,
            "actions": [action.to_dict() for action in self.actions],
            "cuts": [
                {
                    "job": cut.job,
                    "configuration": cut.configuration,
                    "misfit": cut.misfit.to_dict(),
                }
                for cut in self.cuts
            ],
            "budgets": None if self.budgets is None else self.budgets.tolist(),
            "objective": self.objective,
            "bound": self.bound,
        }

    def __str__(self) -> str:
        counts = [
            f"{len(self.of(kind))} {kind.value}" for kind in ActionKind if self.of(kind)
        ]
        return f"round at {self.now_s:g} s: {', '.join(counts) or 'no jobs'}"
