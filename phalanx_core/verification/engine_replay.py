"""``EngineReplay``: a run of the model, taken step by step by the engine's own code on a store."""

from __future__ import annotations

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Client,
    Event,
    Fate,
    HostAgent,
    Layout,
    Outcome,
    Phase,
    Records,
    Refused,
    codec,
)
from phalanx_core.reformation.changes import returned
from phalanx_core.reformation.committing import commit
from phalanx_core.reformation.observing import View
from phalanx_core.reformation.preparing import Facts, Prepared, prepare
from phalanx_core.reformation.records import Job, leaves_of
from phalanx_core.reformation.stores import Limits, MemoryStore, VirtualClock

PROPOSALS = (Action.PLAN, Action.DRAIN, Action.RESIZE)
# Scopes are small, but a model's step may be about all leaves at once.
LIMITS = Limits(operations=1 << 20, request_bytes=1 << 30)


class EngineReplay:
    """A store in memory that begins as a model does, and takes the model's events.

    A proposal prepares its transaction from what the store holds then; the commit, or the
    abort, sends it, however much happened between the two.

    Parameters
    ----------
    start
        Initial records: jobs in Run at epoch 0 with one manifest, or gone.
    leaves
        How many; each is a host of its own.
    load_then_run
        Whether the model tells the two apart; printed, its Restore is both.

    Attributes
    ----------
    retries
        Commits that lost, and were attempted again.

    Notes
    -----
    Jobs come to where the model begins by transitions too, so that tokens and manifests of
    the store are ahead of the model's: each uid by one, epochs of jobs that run from the
    start by one, until they are released.

    Examples
    --------
    The printed protocol commits a leaf that died after the plan (F2); an engine does not:

    >>> from phalanx_core.reformation import started
    >>> replay = EngineReplay(started([0b0011], 4), 4)
    >>> for event in (
    ...     Event(Action.FAIL, leaves=0b0001), Event(Action.DETECT),
    ...     Event(Action.PLAN, leaves=0b0110), Event(Action.FAIL, leaves=0b0100),
    ...     Event(Action.COMMIT),
    ... ):
    ...     outcome = replay.take(event)
    >>> outcome.action.name, outcome.fate.value
    ('COMMIT', 'aborted')
    """

    def __init__(
        self, start: Records, leaves: int, *, load_then_run: bool = True
    ) -> None:
        self._load_then_run = load_then_run
        self.clock = clock = VirtualClock()
        self.store = MemoryStore(clock, LIMITS)
        self.layout = Layout([(f"l{leaf + 1}", 1) for leaf in range(leaves)])
        self.client = Client(self.store, self.layout, "replay", clock)
        self.retries = 0
        self._sent = self._beats = self._seals = 0
        self._ahead = [0] * len(start.jobs)
        self._proposals: dict[int, tuple[Event, Prepared]] = {}
        self._heal(start.live)
        for index, job in enumerate(start.jobs):
            self._begin(index, job)

    def take(self, event: Event) -> Outcome | None:
        """What the engine's code makes of an event of the model.

        Parameters
        ----------
        event
            With the model's token and manifest.

        Returns
        -------
        The outcome; None of what only an engine's memory sees: a proposal that its guards
        allow, and a crash. Of an abort, that of the transaction which it gives up. Of a
        commit that lost, and that another attempt with the same leaves brings about, that of
        the other.
        """
        action = event.action
        if action > Action.TRUST:
            ahead = self._ahead[event.job]
            event = event._replace(
                epoch=event.epoch + ahead, uid=event.uid + 1,
                manifest=event.manifest + ahead,
            )  # fmt: skip
        if action in PROPOSALS:
            return self._propose(event)
        if action == Action.CRASH:
            self._proposals.pop(event.job, None)
            return None
        if action in (Action.COMMIT, Action.ABORT):
            return self._commit(event)
        outcome = self._plain(event)
        if action == Action.RESTORE and outcome and not self._load_then_run:
            return self._plain(event._replace(action=Action.RUN))
        return outcome

    def expected(self, records: Records) -> Records:
        """What the store holds where the model has these records."""
        jobs = []
        for job, ahead in zip(records.jobs, self._ahead, strict=True):
            if job.phase == Phase.COMMIT:
                job = returned(job, HARDENED)
            phase, epoch, alloc, _, sealed, fenced, cause, base, uid = job
            plan = alloc if phase in (Phase.RUN, Phase.RESTORE) else 0
            sealed = sealed << ahead | ahead
            # A model's first epoch went on from nothing, a store's from an empty manifest.
            base = base + ahead if base >= 0 or phase == Phase.RUN else base
            jobs.append(
                Job(phase, epoch + ahead, alloc, plan, sealed, fenced, cause, base, uid + 1)
            )  # fmt: skip
        return records._replace(jobs=tuple(jobs), failures=0)

    def view(self) -> View:
        """What the store holds."""
        return self.client.observe()

    def _begin(self, index: int, job: Job) -> None:
        """A job as the model begins with it."""
        self.take(Event(Action.ADMIT, index))
        if not job.alloc:
            self.take(Event(Action.RELEASE, index))
            return
        self.take(Event(Action.PLAN, index, job.alloc))
        self.take(Event(Action.COMMIT, index))
        self._ahead[index] = 1
        self.take(Event(Action.RESTORE, index, manifest=-1))
        if self._load_then_run:
            self.take(Event(Action.RUN, index))
        self.take(Event(Action.SEAL, index))

    def _propose(self, event: Event) -> Outcome | None:
        found = self._prepared((event, event._replace(action=Action.COMMIT, leaves=0)))
        if isinstance(found, Refused):
            return self._refused(event, found)
        self._proposals[event.job] = event, found
        return None

    def _commit(self, event: Event) -> Outcome:
        proposal, prepared = self._proposals.pop(event.job, (None, None))
        if proposal is None or prepared is None:
            return self._refused(event, Refused(event.action, "in_commit"))
        outcome = commit(self.store, prepared)
        if outcome or event.action == Action.ABORT:
            return outcome
        self.retries += 1
        found = self._prepared((proposal, event))
        again = None if isinstance(found, Refused) else commit(self.store, found)
        return again or outcome

    def _plain(self, event: Event) -> Outcome:
        action = event.action
        if action == Action.FAIL:
            self._die(event.leaves)
        if action == Action.HEAL:
            return self._heal(event.leaves)
        if action == Action.LOSE:
            return self._lose(event)
        if action == Action.RUN:
            self._load(event)
        found = self._prepared((event,))
        if isinstance(found, Refused):
            return self._refused(event, found)
        outcome = commit(self.store, found)
        if outcome and action in (Action.RELEASE, Action.ADMIT):
            self._ahead[event.job] = 0
            self._proposals.pop(event.job, None)
        return outcome

    def _prepared(self, events: tuple[Event, ...]) -> Prepared | Refused:
        """The transaction of events, from what the store holds now."""
        event, view = events[0], self.view()
        name = f"j{event.job + 1}" if event.action > Action.TRUST else ""
        job = view.jobs[event.job] if name and event.job < len(view.jobs) else None
        step = 0
        if event.action == Action.SEAL:
            self._seals += 1
            step = self._seals
        elif job and event.action == Action.RESTORE:
            steps = [step for epoch, step in job.seals if epoch == event.manifest]
            step = max(steps, default=0)
        self._sent += 1
        nonce, ranks = f"replay:{self._sent}", tuple(leaves_of(event.leaves))
        request = str(len(ranks) or 1)
        facts = Facts(nonce, float(self._sent), name, ranks, request, step)
        return prepare(view, events, facts, LIMITS)

    def _refused(self, event: Event, refused: Refused) -> Outcome:
        name = f"j{event.job + 1}" if event.action > Action.TRUST else ""
        return Outcome(Fate.REFUSED, refused.action, name, refused.guard)

    def _die(self, leaves: int) -> None:
        for host in self.layout.hosts_of(leaves):
            found = self.store.get(codec.key("heartbeat", host))
            if found:
                self.store.revoke(found.lease)

    def _heal(self, leaves: int) -> Outcome:
        for host in self.layout.hosts_of(leaves):
            self._beats += 1
            boot = str(self._beats)
            HostAgent(self.store, self.layout, host, self.clock, 1.0, boot).beat()
        found = self._prepared((Event(Action.HEAL, leaves=leaves),))
        if isinstance(found, Refused):
            return self._refused(Event(Action.HEAL), found)
        return commit(self.store, found)

    def _lose(self, event: Event) -> Outcome:
        """Every step of an epoch; the last of them is what the model sees."""
        job = self.view().jobs[event.job]
        outcome = self._refused(event, Refused(event.action, "losable"))
        for epoch, step in list(job.seals):
            if epoch == event.manifest:
                outcome = self.client.lose(job.name, (epoch, step))
        return outcome

    def _load(self, event: Event) -> None:
        job = self.view().jobs[event.job]
        if job.record.base is not None:
            self.client.loaded(job.name, job.token, job.record.base)
