"""The slow twin of the embedder: a second at a time, by its definition."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx_core.cli.happenings import Happening
from phalanx_core.cli.workload_file import Entry
from phalanx_core.scheduling import Action, Decision, JobRequest, JobState, Scheduler


class SlowEmbedder:
    """Times are whole seconds, and every configuration of a job is as good as another."""

    def __init__(
        self,
        scheduler: Scheduler,
        entries: Sequence[tuple[Entry, JobRequest]],
        happened: Sequence[Happening],
    ) -> None:
        self.scheduler = scheduler
        self.entries = {entry.name: entry for entry, _ in entries}
        self.coming = list(entries)
        self.happened = list(happened)
        self.ready: dict[str, float] = {}
        self.done: dict[str, float] = {}
        self.saved: dict[str, float] = {}
        self.finished: dict[str, float] = {}
        self.decisions: list[Decision] = []

    def run(self, seconds: int, round_s: int) -> None:
        """Every second up to the last, which is one too."""
        for now in range(seconds + 1):
            if now:
                # Who has nothing left to do when it starts is done at once.
                self._end(now - 1)
                self._work(now)
            self._end(now)
            self._come(now)
            for one in self.happened:
                if one.at_s == now:
                    getattr(self.scheduler, one.kind)(list(one.target.leaves))
            if now % round_s == 0:
                decision = self.scheduler.round(float(now))
                self.decisions.append(decision)
                for action in decision:
                    self._do(action, now)

    def _runs(self, name: str) -> bool:
        broken = [job for p in self.scheduler.planners.values() for job in p.broken()]
        status = self.scheduler.status(name)
        return status.state is JobState.RUNNING and name not in broken

    def _work(self, now: int) -> None:
        for name in list(self.done):
            if self._runs(name) and now - 1 >= self.ready[name]:
                self.done[name] += 1
                self.scheduler.progress(name, 1.0)

    def _end(self, now: int) -> None:
        for name in list(self.done):
            runs_s = self.entries[name].runs_s
            over = runs_s is not None and self.done[name] >= runs_s
            if over and self._runs(name) and now >= self.ready[name]:
                self.scheduler.finish(name, float(now))
                self.scheduler.fenced(name)
                self.finished[name] = now
                del self.done[name]

    def _come(self, now: int) -> None:
        for entry, request in self.coming:
            if entry.arrive_s == now:
                self.scheduler.submit(entry.name, request, float(now))
                if entry.progress_s or entry.overhead_s:
                    self.scheduler.progress(entry.name, entry.progress_s)
                    self.scheduler.checkpointed(entry.name, entry.overhead_s)
                self.ready[entry.name] = 0
                self.done[entry.name] = self.saved[entry.name] = entry.progress_s

    def _do(self, action: Action, now: int) -> None:
        name, what = str(action.job), action.kind.value
        entry = self.entries.get(name)
        if entry is None or name not in self.done or what in ("release", "wait"):
            return
        if action.checkpoint:
            self.saved[name] = self.done[name]
        if what == "keep" and action.checkpoint:
            self.scheduler.checkpointed(name)
            self.ready[name] = max(self.ready[name], now) + entry.checkpoint_s
        if what == "start":
            self.scheduler.started(name, float(now))
            self.ready[name] = now + entry.cold_start_s
        if what == "stop":
            self.scheduler.fenced(name)
            self.done[name] = self.saved[name]
        if what == "move":
            self.scheduler.fenced(name)
            self.ready[name] = now + entry.cold_start_s
            if action.checkpoint:
                self.scheduler.checkpointed(name)
            else:
                self.done[name] = self.saved[name]
