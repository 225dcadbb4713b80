"""``Scheduler``: jobs, leases, ledgers and planners composed into rounds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Literal, NoReturn, cast

from phalanx_core.errors import InvalidRequest, InvariantBroken, SaveError
from phalanx_core.fairness import Ledger
from phalanx_core.placement import Planner, Spares
from phalanx_core.placement.keys import Job
from phalanx_core.placement.state import Inside
from phalanx_core.scheduling import evicting, owing, repairing, reserving, valuing
from phalanx_core.scheduling.committing import Commit
from phalanx_core.scheduling.decision import Decision, Why
from phalanx_core.scheduling.events import CheckpointHook
from phalanx_core.scheduling.feasible import Feasible
from phalanx_core.scheduling.options import SchedulerOptions
from phalanx_core.scheduling.queries import Queries
from phalanx_core.scheduling.records import JobRecord, JobState
from phalanx_core.scheduling.round import Refused, Round, Stopped, is_running
from phalanx_core.scheduling.saving import read, restore, saved
from phalanx_core.scheduling.table import ChoiceTable
from phalanx_core.scheduling.turn import uninterrupted
from phalanx_core.scheduling.whatif import WhatIf
from phalanx_core.topology import Topology

if TYPE_CHECKING:
    from typing import Self


class Scheduler(Queries):
    """Decides, round by round, which job runs where; the façade for embedders.

    Parameters
    ----------
    topology
        The cluster; it gets a planner for each GPU type.
    tenants
        Name to weight. None: whoever submits is a tenant of weight 1.
    spares
        Domains held back for repairs.
    options
        How rounds are decided.
    memory_bytes
        GPU type to memory of one GPU, against which configurations are checked.
    on_checkpoint
        Called with a job and its leaves whenever a lease ends, renewed or not, and
        before a job stops: its agent is to save its last complete snapshot, and then
        ``checkpointed`` is told. Called after the round is done, in order of actions;
        what it raises reaches the caller of :meth:`round`, the decision is ``last``.

    Attributes
    ----------
    planners
        GPU type to planner, to be asked; changes go through the scheduler.
    ledger
        What tenants and jobs had and were due; to be asked.
    last
        The last decision, or None.

    Raises
    ------
    InvalidRequest
        If an argument is not as said above.

    Notes
    -----
    One round: leases that are over, ledgers, repairs, who waited too long, then by
    ``options.order`` who else gets which configuration, each placed by the real planner,
    then early evictions. All of it is tried on copies of the planners and taken over at
    the end, so that an error leaves everything as it was. The same events in the same
    order give the same decisions. One thread owns a scheduler.

    Examples
    --------
    >>> from phalanx_core import Gang, Topology
    >>> scheduler = Scheduler(Topology.from_spec("rack:2 host:3 gpu:4"))
    >>> scheduler.submit("train", Gang(8, group=4, within="rack"), now=0.0)
    >>> scheduler.submit("tune", Gang(12), now=0.0)
    >>> decision = scheduler.round(now=0.0)
    >>> for action in decision:
    ...     print(action.kind, action.job, action.leaves.tolist())
    start train [12, 13, 14, 15, 16, 17, 18, 19]
    start tune [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    >>> scheduler.started("train"), scheduler.fail([17])
    (None, ['train'])
    >>> moved = scheduler.round(now=60.0).outcome("train")
    >>> moved.reason, moved.repair.moves[0].tolist()
    ('failed', [4, 16, 20])
    """

    def __init__(
        self,
        topology: Topology,
        tenants: Mapping[str, float] | None = None,
        *,
        spares: Spares | None = None,
        options: SchedulerOptions | None = None,
        memory_bytes: Mapping[str, float] | None = None,
        on_checkpoint: CheckpointHook | None = None,
    ) -> None:
        if not isinstance(topology, Topology):
            raise InvalidRequest(f"topology {topology!r}: a Topology")
        options = options or SchedulerOptions()
        if not isinstance(options, SchedulerOptions):
            raise InvalidRequest(f"options {options!r}: SchedulerOptions")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # planners keep them as ``warnings``
            planners = {
                name: Planner(topology, name, spares) for name in topology.type_names
            }
        ledger = Ledger(
            _available(planners),
            tenants or {},
            cast("Literal['quota', 'demand']", options.entitlement),
            options.window_s,
        )
        self._start(topology, planners, ledger, options)
        self._open_tenants = tenants is None
        self._feasible = Feasible(planners, memory_bytes, options.normalized)
        self.on_checkpoint = on_checkpoint

    def _start(
        self,
        topology: Topology,
        planners: dict[str, Planner],
        ledger: Ledger,
        options: SchedulerOptions,
    ) -> None:
        self.topology = topology
        self.planners = planners
        self.ledger = ledger
        self.options = options
        self.last: Decision | None = None
        self._records: dict[Job, JobRecord] = {}
        self._table = ChoiceTable(len(planners))
        self._draining = {name: {} for name in planners}
        self._freed = []
        self._sequence = 0
        self._dirty = False
        self._last_round_s = -inf
        self._inside = Inside([None], "scheduler")
        self._broken = None

    def round(self, now: float) -> Decision:
        """Decide who has which leaves from now on.

        Parameters
        ----------
        now
            Seconds, not before the last event.

        Returns
        -------
        Decision
            What is to be done, in that order. Leaves of a stopped job are free only once
            ``released(job)`` is told, unless ``options.releases`` is "immediate".

        Raises
        ------
        InvalidRequest
            If time runs backward.
        ConcurrentUse
            If another call is inside this scheduler.
        InvariantBroken
            If an earlier call was cut short half-way: go on from the last save.

        Notes
        -----
        O(jobs * configurations) beside ``solve``, and a placement for each start. An
        error leaves all but the time as it was; what a signal's handler raises while a
        round is taken over is raised once it has been.
        """
        self._check_whole()
        with self._inside:
            self._decide(now)
        decision = self.last
        assert decision is not None
        self._signal(decision)
        return decision

    def _decide(self, now: float) -> None:
        """Try a round on copies, then take it over to its end."""
        self.ledger.advance(now)
        now = self.ledger.now  # a float, whatever number was given
        self._count(now)
        round = Round(
            now,
            self.options,
            WhatIf(self.planners),
            self._table,
            tuple(self.planners),
            self.ledger,
        )
        self._sort(round)
        round.clock.lap("leases")
        repairing.repair(round, self._records, self._draining)
        self._set_out(round)
        round.clock.lap("repair")
        reserving.serve_overdue(round)
        round.clock.lap("reserve")
        if self.options.order == "owed":
            owing.choose(round)
        else:
            valuing.choose(round)
        evicting.evict(round)
        commit = Commit(round, self._records.values(), self._freed, self._vacate)
        commit.prepare()
        taken: list[None] = []

        def take_over() -> None:
            self.last = commit.take_over()
            self._freed = []
            self._dirty = False
            self._last_round_s = now
            taken.append(None)

        try:
            interrupt = uninterrupted(take_over)
        except BaseException as error:
            if not taken:
                told = f"a round was cut short by {error!r}: go on from the last save"
                self._broken = told
            raise
        if interrupt is not None:
            raise interrupt

    def _count(self, now: float) -> None:
        """What tenants share is what jobs have or could have."""
        held = sum(one.gpus for one in self._records.values() if one.holds)
        usable = _available(self.planners) + held
        if usable != self.ledger.capacity:
            self.ledger.set_capacity(usable, now)

    def _sort(self, round: Round) -> None:
        """What each job is in this round, by its state and lease."""
        for record in self._records.values():
            if record.state is JobState.PENDING:
                self._sort_pending(round, record)
            elif record.state is JobState.STOPPING:
                round.leaving[record.job] = record
            elif record.closed:
                round.stopped[record.job] = Stopped(Why.CANCELLED)
                round.leaving[record.job] = record
            elif record.lease is not None and record.lease.is_over(round.now):
                round.ending.append(record)
            else:
                round.fixed.append(record)

    def _sort_pending(self, round: Round, record: JobRecord) -> None:
        round.pending.append(record)
        if all(why is not None for why in record.infeasible):
            told = "; ".join(dict.fromkeys(filter(None, record.infeasible)))
            round.refused[record.job] = Refused(Why.INFEASIBLE, told)

    def _set_out(self, round: Round) -> None:
        """Free, on the copies, the leaves of all who are leaving."""
        for job in round.stopped:
            round.leaving.setdefault(job, self._records[job])
        for record in round.leaving.values():
            round.whatif.give(record)
        round.fixed = [one for one in round.fixed if one.job not in round.leaving]
        round.ending = [one for one in round.ending if one.job not in round.leaving]
        if self.options.releases == "immediate":
            # They wait again in this very round, but for those whose users end them.
            back = [one for one in round.leaving.values() if not one.closed]
            round.pending += back

    def _signal(self, decision: Decision) -> None:
        if self.on_checkpoint is None:
            return
        for action in decision:
            if action.checkpoint:
                self.on_checkpoint(action.job, action.leaves)

    def save(self) -> bytes:
        """The whole state for :meth:`load`, as JSON; equal states give equal bytes.

        Options and the hook are not part of it; limits of memory are.
        """
        self._check_whole()
        with self._inside:
            return saved(self)

    @classmethod
    def load(
        cls,
        topology: Topology,
        data: bytes,
        *,
        options: SchedulerOptions | None = None,
        memory_bytes: Mapping[str, float] | None = None,
        on_checkpoint: CheckpointHook | None = None,
    ) -> Self:
        """A scheduler as it was saved, which goes on as the saved one would.

        Parameters
        ----------
        topology
            The same cluster as when it was saved.
        data
            Bytes of :meth:`save`.
        options, on_checkpoint
            As for the class; they are not saved.
        memory_bytes
            As for the class; None: as it was saved.

        Raises
        ------
        SaveError
            If the bytes are damaged, of another version or another topology, or the
            ledger was kept by other rules than the options say.
        """
        body = read(data)
        memory = body["memory"] if memory_bytes is None else memory_bytes
        made = cls(
            topology,
            options=options,
            memory_bytes=memory,
            on_checkpoint=on_checkpoint,
        )
        restore(made, body)
        try:
            made.validate()
        except InvariantBroken as error:
            raise SaveError(f"scheduler: saved half-done: {error}") from None
        return made

    def __repr__(self) -> str:
        return (
            f"Scheduler({self.topology.describe()!r}, jobs={len(self._records)}, "
            f"now={self.ledger.now:g})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Scheduler cannot be pickled or copied: use save() and load()"
        )

    def next_round_s(self) -> float:
        """When the next round is due: a time, -inf for at once.

        Notes
        -----
        Every ``round_s`` after the last one; with trigger "event" at once after each
        event that may change something, and when the next lease is over.
        """
        due = self._last_round_s + self.options.round_s
        if self.options.trigger == "timer" or not self._records:
            return due
        if self._dirty:
            return -inf
        running = (one.lease for one in self._records.values() if is_running(one))
        ends = [lease.end_s for lease in running if lease is not None]
        return min([due, *ends])


def _available(planners: Mapping[str, Planner]) -> int:
    return sum(int(planner.free_leaves()) for planner in planners.values())
