"""``Embedder``: plays what a program around the scheduler does between its rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from phalanx_core.cli.happenings import Happening
from phalanx_core.cli.workload_file import Entry
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import (
    Action,
    ActionKind,
    Decision,
    JobRequest,
    JobState,
    Scheduler,
    Why,
)


@dataclass
class Played:
    """How far a job came.

    Attributes
    ----------
    ready_s
        From when it does useful work, if it runs.
    done_s, saved_s
        Useful seconds in its first configuration so far, and of those that its last
        checkpoint has.
    """

    ready_s: float = 0.0
    done_s: float = 0.0
    saved_s: float = 0.0


@dataclass(frozen=True)
class Ended:
    """A job that is done, for the summary."""

    name: str
    tenant: str
    submitted_s: float
    finished_s: float
    waited_s: float
    leases: int
    cold_starts: int
    lost_s: float
    had_s: float
    due_s: float


class Embedder:
    """A workload on a scheduler.

    Parameters
    ----------
    scheduler
        Its releases are "immediate".
    entries
        Jobs that did not come yet, and their requests.

    Attributes
    ----------
    now
        Seconds up to which all is played.
    arrived, finished
        Names of the jobs that came and ended since they were last cleared.
    ended
        All that ended.

    Notes
    -----
    A start costs ``cold_start_s`` before useful work begins, as does a repair or a move;
    a checkpoint at the end of a lease stops a job that goes on for ``checkpoint_s``. A
    job that lost a leaf stands still until its repair and goes back to its last
    checkpoint, which is as old as its last lease. All that happens is ordered by time,
    then ends before arrivals before what befalls the cluster.
    """

    def __init__(
        self, scheduler: Scheduler, entries: Iterable[tuple[Entry, JobRequest]]
    ) -> None:
        self.scheduler = scheduler
        self.now = 0.0
        self.entries: dict[str, Entry] = {}
        self.played: dict[str, Played] = {}
        self.ended: dict[str, Ended] = {}
        self.arrived: list[str] = []
        self.finished: list[str] = []
        self._coming: list[tuple[Entry, JobRequest]] = []
        # Of the jobs that work now.
        self._rates: dict[str, float] = {}
        self.expect(entries)

    def expect(self, entries: Iterable[tuple[Entry, JobRequest]]) -> None:
        """Further jobs, each of which comes when it says, or now if that has passed."""
        for entry, request in entries:
            self.entries[entry.name] = entry
            self._coming.append((entry, request))
        # Of equal times the order of the file decides, as the sort is stable.
        self._coming.sort(key=lambda pair: pair[0].arrive_s)

    @property
    def coming(self) -> tuple[str, ...]:
        """Jobs that did not come yet."""
        return tuple(entry.name for entry, _ in self._coming)

    def play(self, until: float, happened: Sequence[Happening]) -> Iterator[Happening]:
        """Go on to a time; yields each happening when its turn has come, to be struck.

        Parameters
        ----------
        happened
            In order of time, none before ``now``.
        """
        left = list(happened)
        while True:
            end_s, job = self._next_end()
            come_s = self._coming[0][0].arrive_s if self._coming else inf
            strike_s = left[0].at_s if left else inf
            first = min(end_s, come_s, strike_s)
            if first > until:
                break
            self._advance(max(first, self.now))
            if end_s <= first and job is not None:
                self._end(job)
            elif come_s <= first:
                self._come(*self._coming.pop(0))
            else:
                yield left.pop(0)
                self._refresh()
        self._advance(until)

    def carry_out(self, decision: Decision) -> None:
        """Stop, start and move what the decision says; all of it is done at once."""
        for action in decision:
            if action.kind in _CARRIED:
                self._carry_out(action, self.played[str(action.job)])
        self._refresh()

    def _carry_out(self, action: Action, played: Played) -> None:
        name, now, kind = str(action.job), self.now, action.kind
        entry = self.entries[name]
        if action.checkpoint:
            played.saved_s = played.done_s
        elif kind is ActionKind.STOP or action.why is Why.FAILED:
            played.done_s = played.saved_s
        if kind is ActionKind.KEEP:
            if action.checkpoint:
                self.scheduler.checkpointed(name)
                played.ready_s = max(played.ready_s, now) + entry.checkpoint_s
            return
        if kind is ActionKind.START:
            self.scheduler.started(name, now)
        else:
            self.scheduler.fenced(name)
        if kind is not ActionKind.STOP:
            played.ready_s = now + entry.cold_start_s
        if kind is ActionKind.MOVE and action.checkpoint:
            # Of a stop the scheduler has counted it.
            self.scheduler.checkpointed(name)

    def _come(self, entry: Entry, request: JobRequest) -> None:
        try:
            self.scheduler.submit(entry.name, request, self.now)
        except InvalidRequest as error:
            raise InvalidRequest(f"{entry.where}: {error}") from None
        if entry.progress_s or entry.overhead_s:
            self.scheduler.progress(entry.name, entry.progress_s)
            self.scheduler.checkpointed(entry.name, entry.overhead_s)
        done = entry.progress_s
        self.played[entry.name] = Played(done_s=done, saved_s=done)
        self.arrived.append(entry.name)

    def _end(self, name: str) -> None:
        status = self.scheduler.status(name)
        del self.played[name], self._rates[name]
        account = self.scheduler.finish(name, self.now)
        self.scheduler.fenced(name)
        self.ended[name] = Ended(
            name=name,
            tenant=account.tenant,
            submitted_s=status.submitted_s,
            finished_s=self.now,
            waited_s=status.waited_s,
            leases=status.leases,
            cold_starts=status.cold_starts,
            lost_s=status.lost_s,
            had_s=account.service,
            due_s=account.entitled,
        )
        self.finished.append(name)

    def _refresh(self) -> None:
        """Who works, in order of arrival, and how fast in its first configuration's."""
        planners = self.scheduler.planners.values()
        broken = frozenset(str(job) for one in planners for job in one.broken())
        self._rates = {}
        for name in self.played:
            status = self.scheduler.status(name)
            if status.state is JobState.RUNNING and name not in broken:
                ways = status.request.ways
                rate = ways[status.configuration].goodput / ways[0].goodput
                self._rates[name] = rate

    def _next_end(self) -> tuple[float, str | None]:
        """When the next job is done, and which."""
        first, found = inf, None
        for name, rate in self._rates.items():
            runs_s = self.entries[name].runs_s
            if runs_s is None:
                continue
            played = self.played[name]
            left = max(runs_s - played.done_s, 0.0) / rate
            end = max(self.now, played.ready_s) + left
            if end < first:
                first, found = end, name
        return first, found

    def _advance(self, to: float) -> None:
        for name, rate in self._rates.items():
            played = self.played[name]
            useful = to - max(self.now, played.ready_s)
            if useful > 0:
                self.scheduler.progress(name, useful)
                played.done_s += useful * rate
        self.now = to

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that :meth:`resume` takes; without the scheduler."""
        return {
            "now_s": self.now,
            "coming": list(self.coming),
            "played": {name: asdict(one) for name, one in self.played.items()},
            "ended": [asdict(one) for one in self.ended.values()],
        }

    def resume(self, told: dict[str, Any]) -> None:
        """Go on where :meth:`to_dict` was; jobs that were still to come are expected.

        Raises
        ------
        KeyError, TypeError
            If it is something else.
        """
        self.now = float(told["now_s"])
        self.played = {name: Played(**one) for name, one in told["played"].items()}
        self.ended = {one["name"]: Ended(**one) for one in told["ended"]}
        self._refresh()


_CARRIED = (ActionKind.STOP, ActionKind.START, ActionKind.MOVE, ActionKind.KEEP)
