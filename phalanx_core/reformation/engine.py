"""``Engine``: looks at the store, and takes the transitions that what it sees calls for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import codec, guards
from phalanx_core.reformation.client import Client, Hook
from phalanx_core.reformation.committing import Fate, Outcome
from phalanx_core.reformation.detector import Detector
from phalanx_core.reformation.events import Action, Event, Refused
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import JobView, View
from phalanx_core.reformation.planning import Ask, Proposal, RepairPlanner, mask_of
from phalanx_core.reformation.records import Cause, Phase
from phalanx_core.reformation.reports import EngineOptions, Report, Wanted, wanted_of
from phalanx_core.reformation.rules import HARDENED
from phalanx_core.reformation.stores import (
    Put,
    Store,
    StoreError,
    UnknownLease,
    absent,
)

OPERATIONS_A_DEATH = 8
"""Operations that a host's death takes, and room for jobs that it breaks."""
OPERATIONS_A_RETURN = 4
TOO_LONG = ("operations_max", "bytes_max")


class Engine(Client):
    """Drives jobs through their reformations; a level-triggered reconcile loop.

    Parameters
    ----------
    store, layout, name, now, hook, life
        As for :class:`~phalanx_core.reformation.client.Client`.
    planner
        Who proposes leaves.
    options
        How it behaves.

    Notes
    -----
    It keeps nothing that matters: an engine that starts, or takes over, goes on from the
    store alone. Any number may run at once; which one leads decides who works, not what is
    right. No thread, no clock of its own: call :meth:`tick` again and again, at most some
    fraction of the heartbeats' seconds apart, with some jitter where there are several.

    A step is one read of everything and one transaction.

    Examples
    --------
    Job ``a`` loses a leaf of host h0, and gets one of h2 in its place:

    >>> from phalanx_core.reformation import Layout, HostAgent, FirstFree
    >>> from phalanx_core.reformation.stores import MemoryStore, VirtualClock
    >>> clock = VirtualClock()
    >>> store = MemoryStore(clock)
    >>> layout = Layout([("h0", 1), ("h1", 1), ("h2", 1)])
    >>> agents = [HostAgent(store, layout, host, clock, 5.0) for host in layout.hosts]
    >>> for agent in agents:
    ...     _ = agent.beat()
    >>> engine = Engine(store, layout, FirstFree(), "engine 1", clock)
    >>> engine.admit("a", "2").fate.name
    'APPLIED'
    >>> report = engine.tick()
    >>> report.wanted[0].phase.name, report.wanted[0].ranks, report.wanted[0].base
    ('RESTORE', (0, 1), (0, 0))
    >>> engine.loaded("a", token=(1, 1), base=(0, 0))
    True
    >>> engine.tick().wanted[0].phase.name
    'RUN'
    >>> engine.seal("a", token=(1, 1), step=100, content="shards").fate.name
    'APPLIED'
    >>> for _ in range(6):
    ...     clock.advance(1.0)
    ...     _ = agents[1].beat(), agents[2].beat()
    >>> report = engine.tick()
    >>> [outcome.action.name for outcome in report.outcomes]
    ['FAIL', 'DETECT', 'COMMIT', 'RESTORE']
    >>> report.wanted[0].ranks, report.wanted[0].epoch, report.wanted[0].base
    ((2, 1), 2, (1, 100))
    """

    def __init__(
        self,
        store: Store,
        layout: Layout,
        planner: RepairPlanner,
        name: str,
        now: Callable[[], float],
        options: EngineOptions | None = None,
        *,
        hook: Hook | None = None,
        life: str | None = None,
    ) -> None:
        super().__init__(store, layout, name, now, hook, life)
        self.planner = planner
        self.options = options or EngineOptions()
        self._detector = Detector(self.options.damping)
        self._lease = 0
        self._details: dict[str, str] = {}
        # Of the last view, since most ticks find nothing new.
        self._wanted: tuple[View | None, tuple[Wanted, ...]] = None, ()

    def tick(self) -> Report:
        """Take every transition that is called for, until there is none or too many fail.

        Returns
        -------
        What was done, what waits and what should run. An error of the store ends the tick
        early and is no exception: the next one begins anew.

        Raises
        ------
        SaveError
            If a record is damaged or of a later version: this engine stands aside.
        """
        outcomes: list[Outcome] = []
        waiting: dict[str, str] = {}
        self._details = {}
        view: View | None = None
        leads, misses = False, 0
        error: StoreError | None = None
        try:
            view = self.observe()
            leads = self._leads(view)
            while leads and len(outcomes) < self.options.steps_max:
                waiting, self._details = {}, {}
                left = self.options.steps_max - len(outcomes)
                done = self._act(view, waiting, left)
                outcomes += done
                misses += sum(not outcome for outcome in done)
                if not done or done[-1].fate is Fate.UNKNOWN:
                    break
                if misses >= self.options.misses_max:
                    break
                view = self.observe()
        except StoreError as told:
            error = told
        taken, details = tuple(outcomes), self._details
        if view is None:
            return Report(leads, taken, waiting, None, 0, details, error)
        if self._wanted[0] is not view:
            self._wanted = view, wanted_of(view)
        wanted, revision = self._wanted[1], view.revision
        return Report(leads, taken, waiting, wanted, revision, details, error)

    def step(self) -> Outcome | None:
        """One transition, whoever leads; None if none is called for.

        Raises
        ------
        Unavailable
            If the store cannot be read.
        """
        return next(iter(self._act(self.observe(), {}, 1)), None)

    def resize(self, job: str, request: str) -> Outcome:
        """A running job grows or shrinks; it stops only when the new leaves are its own.

        Parameters
        ----------
        job
            Its name.
        request
            What it wants now.

        Returns
        -------
        Applied; or refused by a guard, by ``no_leaves`` if the planner has none or
        ``bad_request`` if it cannot read the request; or aborted: it runs on as before.
        """
        view = self.observe()
        index = self._index(view, job)
        found, core = view.jobs[index], view.records.jobs[index]
        must, may = guards.resize_bounds(view.records, index)
        ask = Ask(job, Cause.RESIZE, request, found.record.ranks, must, may)
        proposal = self._proposal(ask)
        if isinstance(proposal, Refused):
            return _refused(Action.RESIZE, job, proposal)
        mask = self._mask_of(proposal)
        events = (
            Event(Action.RESIZE, index, mask, core.epoch, core.uid),
            Event(Action.COMMIT, index, 0, core.epoch, core.uid),
        )
        return self._propose(view, events, found, proposal)

    def _act(self, view: View, waiting: dict[str, str], most: int) -> list[Outcome]:
        """Send what a view calls for first: hosts in so many parts, or one job's transition.

        Parts of hosts do not concern one another, so they need no view each.
        """
        done: list[Outcome] = []
        for outcome in self._of_hosts(view):
            if outcome.fate is Fate.REFUSED:
                self._note(outcome.job, outcome)
            else:
                done.append(outcome)
                if not outcome or len(done) == most:
                    break
        if done:
            return done
        for outcome in self._called_for(view):
            if outcome.fate is not Fate.REFUSED:
                return [outcome]
            waiting[outcome.job] = outcome.guard
            self._note(outcome.job, outcome)
        return []

    def _note(self, name: str, outcome: Outcome) -> None:
        """Keep the sentence that says why something waits."""
        if outcome.detail:
            self._details[name] = outcome.detail

    def _called_for(self, view: View) -> Iterator[Outcome]:
        """Outcomes of what jobs call for, most urgent first; refusals are passed over."""
        loading = sum(job.record.phase == Phase.RESTORE for job in view.jobs)
        repairing = sum(
            job.record.phase == Phase.PLAN and job.record.cause == Cause.REPAIR
            for job in view.jobs
        )
        yield from self._detected(view, loading + repairing)
        for index, job in enumerate(view.jobs):
            if job.record.phase == Phase.RESTORE:
                yield from self._restoring(view, index, job)
        for cause in (Cause.REPAIR, Cause.ADMIT):
            for index, job in enumerate(view.jobs):
                if job.record.phase == Phase.PLAN and job.record.cause == cause:
                    yield self._planned(view, index, Action.PLAN)
        if repairing:
            # Whoever still plans has no leaves, and keeps nobody from a repair.
            yield from self._detected(view, loading)
        records = view.records
        for index, core in enumerate(records.jobs if records.suspect else ()):
            if core.phase == Phase.RUN and core.alloc & records.suspect:
                yield self._planned(view, index, Action.DRAIN)

    def _detected(self, view: View, under_repair: int) -> Iterator[Outcome]:
        """Jobs that lost leaves, as long as not too many are under repair at once."""
        most = self.options.repairs_max
        for index, job in enumerate(view.jobs):
            phase = job.record.phase
            due = phase == Phase.RUN and (most is None or under_repair < most)
            if job.lost and (due or phase == Phase.RESTORE):
                yield self._plain(view, Action.DETECT, index)

    def _of_hosts(self, view: View) -> Iterator[Outcome]:
        """Deaths, then returns, each in parts that a transaction of the store holds."""
        dead = self._detector.dead(view, self._now())
        yield from self._in_parts(view, Action.FAIL, dead, OPERATIONS_A_DEATH)
        back = [host for host in view.beats if host not in view.hosts]
        yield from self._in_parts(view, Action.HEAL, back, OPERATIONS_A_RETURN)

    def _in_parts(
        self, view: View, action: Action, hosts: Sequence[str], operations: int
    ) -> Iterator[Outcome]:
        for part in _parts(hosts, self.store.limits.operations // operations):
            outcome = self._of_part(view, action, part)
            if outcome.guard not in TOO_LONG:
                yield outcome
                continue
            # They break many jobs, or have long names: one by one.
            for host in part:
                outcome = self._of_part(view, action, [host])
                refused = outcome.fate is Fate.REFUSED
                yield outcome._replace(job=f"host {host}") if refused else outcome

    def _of_part(self, view: View, action: Action, hosts: Sequence[str]) -> Outcome:
        return self._send(view, (Event(action, leaves=self._mask(hosts)),))

    def _restoring(self, view: View, index: int, job: JobView) -> Iterator[Outcome]:
        base = job.record.base
        if base is not None and base in job.seals:
            if job.loaded == job.token:
                yield self._plain(view, Action.RUN, index)
            return
        newest = job.newest()
        if newest is None:
            yield Outcome(Fate.REFUSED, Action.RESTORE, job.name, "no_manifest")
            return
        uid, epoch = job.token
        event = Event(Action.RESTORE, index, 0, epoch, uid, newest[0])
        yield self._send(view, (event,), name=job.name, step=newest[1])

    def _plain(self, view: View, action: Action, index: int) -> Outcome:
        """A transition of a job that needs nothing but its token."""
        job = view.jobs[index]
        uid, epoch = job.token
        return self._send(view, (Event(action, index, 0, epoch, uid),), name=job.name)

    def _planned(self, view: View, index: int, action: Action) -> Outcome:
        """A proposal of the planner, and its commit."""
        job, core = view.jobs[index], view.records.jobs[index]
        if action == Action.PLAN:
            cause = core.cause
            must, may = guards.plan_bounds(view.records, index, HARDENED)
        else:
            cause = Cause.DRAIN
            must, may = guards.drain_bounds(view.records, index)
        if cause != Cause.REPAIR and guards.repair_waits(view.records, index):
            return Outcome(Fate.REFUSED, action, job.name, "first_served")
        ask = Ask(job.name, cause, job.record.request, job.record.ranks, must, may)
        proposal = self._proposal(ask)
        if isinstance(proposal, Refused):
            return _refused(action, job.name, proposal)
        events = (
            Event(action, index, self._mask_of(proposal), core.epoch, core.uid),
            Event(Action.COMMIT, index, 0, core.epoch, core.uid),
        )
        return self._propose(view, events, job, proposal)

    def _propose(
        self,
        view: View,
        events: tuple[Event, ...],
        job: JobView,
        proposal: Proposal,
    ) -> Outcome:
        return self._send(
            view,
            events,
            name=job.name,
            ranks=proposal.ranks,
            request=proposal.request,
        )

    def _proposal(self, ask: Ask) -> Proposal | Refused:
        """The planner's proposal, or why there is none."""
        try:
            found = self.planner.propose(ask)
        except InvalidRequest as error:
            # One job that asks for what cannot be must not keep the others waiting.
            return Refused(Action.PLAN, "bad_request", str(error))
        if isinstance(found, Proposal):
            return found
        return Refused(Action.PLAN, "no_leaves", found or "")

    def _mask_of(self, proposal: Proposal) -> int:
        """Mask of a proposal; 0, which every guard refuses, if a leaf is none."""
        if any(not 0 <= leaf < self.layout.leaves for leaf in proposal.ranks):
            return 0
        try:
            return mask_of(proposal.ranks)
        except InvalidRequest:
            return 0

    def _leads(self, view: View) -> bool:
        """Whether this engine holds the lease of the one that leads, or takes it now."""
        if not self.options.lead:
            return True
        if self._lease:
            try:
                self.store.keep_alive(self._lease)
                if view.leader:
                    return view.leader == self.name
            except UnknownLease:
                self._lease = 0
                return False
        if view.leader:
            return False
        if not self._lease:
            self._lease = self.store.grant(self.options.lead_s).number
        mine = Put(codec.LEADER, self.name.encode(), self._lease)
        return self.store.transaction([absent(codec.LEADER)], [mine]).succeeded


def _refused(action: Action, job: str, why: Refused) -> Outcome:
    return Outcome(Fate.REFUSED, action, job, why.guard, detail=why.detail)


def _parts(hosts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Hosts in parts of so many, at least one."""
    most = max(1, most)
    return (hosts[at : at + most] for at in range(0, len(hosts), most))
