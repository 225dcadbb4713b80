"""A small world around the protocol: engines, agents of hosts, workers, and what befalls.

Everything is drawn from one seed; time passes when the world says so.
"""

from __future__ import annotations

import io
from collections import Counter
from functools import cache
from random import Random
from typing import TypeAlias

from phalanx_core.errors import UnknownJob
from phalanx_core.reformation import (
    Client,
    Damping,
    Engine,
    EngineOptions,
    Fate,
    FirstFree,
    HostAgent,
    Outcome,
    Phase,
    View,
)
from phalanx_core.reformation.codec import epoch_of, key
from phalanx_core.reformation.history import Historian
from phalanx_core.reformation.observing import held, observe
from phalanx_core.reformation.reports import wanted_of
from phalanx_core.reformation.stores import (
    FaultKind,
    FaultyStore,
    Seeded,
    StoreError,
    VirtualClock,
)
from tests.properties.protocol_audit import Auditor, Violation
from tests.properties.protocol_scene import (
    ENGINE_FAULTS,
    OTHER_FAULTS,
    SCENES,
    TTL_S,
    Token,
    copied,
    scene,
)

# What may happen between an engine's read and its transaction, or before it has the answer.
MEANWHILE = (
    *("ticked", "ticked", "ticked", "died", "returned", "expired", "judged"),
    *("ended", "submitted", "sealed", "worked", "loaded", "unreadable"),
)


Holders: TypeAlias = tuple[dict[int, tuple[Token, bool]], dict[int, Token]]


@cache
def leaves_of(mask: int) -> tuple[int, ...]:
    """Leaves of a mask, in order."""
    return tuple(leaf for leaf in range(mask.bit_length()) if mask >> leaf & 1)


class Crash(Exception):
    """The end of an engine's process at a named point."""


class World:
    """One schedule's state.

    Parameters
    ----------
    seed
        Of everything that is drawn.
    faults
        Whether links to the store fail.
    """

    def __init__(self, seed: int, *, faults: bool = True) -> None:
        self.rng = rng = Random(seed)
        self.faults = faults
        self.clock = VirtualClock()
        begin = scene(*rng.choice(SCENES))
        self.layout, self.leaves = begin.layout, begin.leaves
        self.store = copied(begin.store, self.clock)
        self.processes = {leaf: set(one) for leaf, one in begin.processes.items()}
        self.auditor = Auditor(self.store, self.leaves, self.processes)
        self.seen: Counter[str] = Counter()
        self.seen_view: View | None = begin.view
        self.lent: list[Client] = []
        self.held_view: View | None = None
        self.held: Holders = {}, {}
        self.links: list[FaultyStore] = []
        self.crash_in: dict[str, int] = {}
        self.busy: list[str] = []
        self.births = 0
        self.side = self._link(OTHER_FAULTS)
        names = self.layout.hosts
        self.up = dict.fromkeys(names, True)
        self.beating = dict.fromkeys(names, True)
        self.agents = {name: self._agent(name) for name in names}
        for name, agent in self.agents.items():
            agent._lease = begin.leases[name]
            self.side._leases[agent._lease] = None
        self.client = Client(self.side, self.layout, "user", self.clock, life="")
        self.history = io.StringIO()
        self.historian = Historian(self.store, self.layout, self.history)
        self.engines = [self._engine() for _ in range(rng.choice((1, 2, 2, 3)))]
        self.tokens = [
            token for one in self.processes.values() for token in sorted(one)
        ]

    def _link(self, rates: dict[FaultKind, float]) -> FaultyStore:
        script = Seeded(self.rng.getrandbits(32), rates) if self.faults else None
        link = FaultyStore(self.store, script)
        self.links.append(link)
        return link

    def _agent(self, host: str) -> HostAgent:
        self.births += 1
        boot = str(self.births)
        return HostAgent(self.side, self.layout, host, self.clock, TTL_S, boot)

    def _engine(self) -> Engine:
        self.births += 1
        name = f"engine{self.births}"
        options = EngineOptions(
            lead=self.rng.random() < 0.5,
            lead_s=TTL_S,
            steps_max=self.rng.choice((1, 2, 50)),
            repairs_max=self.rng.choice((None, 1)),
            damping=Damping(hosts=1, wait_s=self.rng.choice((0.0, 0.0, 2.0))),
        )

        return Engine(
            self._link(ENGINE_FAULTS),
            self.layout,
            FirstFree(shrink=self.rng.random() < 0.5),
            name,
            self.clock,
            options,
            hook=lambda point: self.meanwhile(name, point),
            life="",
        )

    # What can happen.

    def ticked(self) -> None:
        """An engine looks, and acts; it may end while it does."""
        free = [e for e in self.engines if e.name not in self.busy]
        if not free:
            return
        engine = self.rng.choice(free)
        at = self.engines.index(engine)
        self.lend(engine)
        if self.faults and self.rng.random() < 0.08:
            self.crash_in[engine.name] = self.rng.randrange(6)
        try:
            report = engine.tick()
        except Crash:
            self.engines[at] = self._engine()
            return
        finally:
            self.crash_in.pop(engine.name, None)
        for outcome in report.outcomes:
            self.judge(outcome)

    def judge(self, outcome: Outcome) -> None:
        """Count an outcome; it has to agree with what the store took."""
        self.seen[f"{outcome.action.name} {outcome.fate.value}"] += 1
        self.auditor.poll()
        there = self.auditor.applied_at(outcome.nonce)
        if outcome.fate is Fate.APPLIED and not there:
            raise Violation(f"{outcome} is not in the store")
        # A copy that the network made may arrive after the answer, and be right by then.
        if outcome.fate is Fate.ABORTED and 0 < there <= outcome.revision:
            raise Violation(f"{outcome} is in the store at {there}")

    def passed(self) -> None:
        """Time passes, and agents beat."""
        self.clock.advance(self.rng.choice((0.5, 1.0, 2.0)))
        self.beat()

    def beat(self) -> None:
        """Every agent that can keeps its heartbeat."""
        for host, agent in self.agents.items():
            if self.up[host] and self.beating[host]:
                agent.beat()

    def died(self) -> None:
        """A host loses power, and all that runs there."""
        host = self.rng.choice(self.layout.hosts)
        if self.up[host]:
            self.up[host] = False
            for leaf in self.leaves[host]:
                self.processes[leaf].clear()
            self.seen["host died"] += 1

    def returned(self) -> None:
        """A host boots."""
        down = [host for host in self.layout.hosts if not self.up[host]]
        if down:
            host = self.rng.choice(down)
            self.up[host] = True
            self.agents[host] = self._agent(host)
            self.seen["host returned"] += 1

    def cut(self) -> None:
        """A host is cut off, or joined again: its processes run on."""
        host = self.rng.choice(self.layout.hosts)
        self.beating[host] = not self.beating[host]

    def expired(self) -> None:
        """The store ends a heartbeat whose host lives."""
        host = self.rng.choice(self.layout.hosts)
        lease = self.agents[host]._lease
        if lease:
            self.side.expire(lease)
            self.seen["false expiry"] += 1

    def judged(self) -> None:
        """A verdict is passed on a host, or withdrawn."""
        suspects = list(self.view().suspects)
        if suspects and self.rng.random() < 0.4:
            host = self.rng.choice(suspects)
            self._asked(lambda: self.client.trust([host]))
            return
        host = self.rng.choice(self.layout.hosts)
        self._asked(lambda: self.client.suspect([host], "ecc"))

    def _asked(self, call: object) -> None:
        """A client's call: judged if it was answered."""
        self.lend(self.client)
        try:
            outcome = call()  # type: ignore[operator]
        except (StoreError, UnknownJob):
            return
        self.judge(outcome)

    def submitted(self) -> None:
        """A job is admitted; a name of one that is gone serves again."""
        job, size = self.rng.choice("abc"), str(self.rng.choice((1, 2, 3)))
        self._asked(lambda: self.client.admit(job, size))

    def ended(self) -> None:
        """A job is released."""
        job = self.rng.choice("abc")
        self._asked(lambda: self.client.release(job))

    def resized(self) -> None:
        """A job wants more or fewer leaves."""
        job, size = self.rng.choice("abc"), str(self.rng.choice((1, 2, 3)))
        engine = self.rng.choice(self.engines)
        if engine.name in self.busy:
            return
        self.lend(engine)
        try:
            outcome = engine.resize(job, size)
        except (StoreError, UnknownJob, Crash):
            return
        self.judge(outcome)

    def sealed(self) -> None:
        """Workers seal, as often as not with a token of the past."""
        if not self.tokens:
            return
        job, uid, epoch = token = self.rng.choice(self.tokens[-6:])
        step = self.rng.randrange(8)
        self.lend(self.client)
        try:
            outcome = self.client.seal(job, (uid, epoch), step, f"{step}")
        except (StoreError, UnknownJob):
            return
        self.judge(outcome)
        self.seen[f"seal {outcome.fate.value} {outcome.guard}"] += 1
        now = epoch_of(self.store.get(key("epoch", job)).value)  # type: ignore[union-attr]
        # A release that was under way may have come after the seal: its epoch is 0.
        ended = now.phase == Phase.GONE
        if outcome and not ended and (now.uid, now.epoch) < (token[1], token[2]):
            raise Violation(f"{token} sealed before it began")

    def unreadable(self) -> None:
        """A manifest is found to be damaged."""
        view = self.view()
        for job in view.jobs:
            if job.seals and job.record.phase != Phase.GONE:
                manifest = self.rng.choice(list(job.seals))
                self._asked(lambda j=job, m=manifest: self.client.lose(j.name, m))
                return

    def pruned(self) -> None:
        """Old manifests of a job are forgotten."""
        self.lend(self.client)
        try:
            self.seen["pruned"] += self.client.prune(self.rng.choice("abc"), 1)
        except (StoreError, UnknownJob):
            return

    def worked(self) -> None:
        """The agent of one host ends what is old, confirms it, and starts what is new."""
        self.attend(self.rng.choice(self.layout.hosts), self.rng.random() < 0.3)

    def view(self) -> View:
        """What the store holds, as whoever reads it without a fault sees it."""
        for client in self.lent:
            found = client._view
            if found and self.seen_view and found.revision > self.seen_view.revision:
                self.seen_view = found
        self.lent.clear()
        self.seen_view = observe(self.store, self.layout, self.seen_view)
        return self.seen_view

    def lend(self, client: Client) -> None:
        """Spare a client the decoding of what is known; what it decodes is known then."""
        client._view = self.view()
        self.lent.append(client)

    def attend(self, host: str, stubborn: bool = False) -> None:
        """As :meth:`worked`; a stubborn process outlives the attempt."""
        if not self.up[host] or not self.beating[host]:
            return
        agent, view = self.agents[host], self.view()
        owner, fenced = self._holders(view)
        for leaf in self.leaves[host]:
            wanted, restoring = owner.get(leaf, (None, False))
            if not stubborn:
                self.processes[leaf] &= {wanted} if wanted else set()
            if self.processes[leaf] - ({wanted} if wanted else set()):
                self.seen["zombie"] += 1
                continue
            if wanted and restoring:
                self.processes[leaf].add(wanted)
                if wanted not in self.tokens:
                    self.tokens.append(wanted)
        mine = [leaf for leaf in self.leaves[host] if leaf in fenced]
        for name in dict.fromkeys(fenced[leaf][0] for leaf in mine):
            held = [leaf for leaf in mine if fenced[leaf][0] == name]
            if any(self.processes[leaf] for leaf in held):
                continue
            _, *token = max(fenced[leaf] for leaf in held)
            self.meanwhile(host, "ended")
            self.lend(agent)
            try:
                self.judge(agent.confirm(name, (token[0], token[1])))
            except StoreError:
                return

    def _holders(self, view: View) -> Holders:
        """The owner of each leaf and whether it restores, and the token of each fence."""
        if self.held_view is not view:
            owner, fenced = {}, {}
            for job in view.jobs:
                holder = (job.name, *job.token), job.record.phase == Phase.RESTORE
                owner.update(dict.fromkeys(leaves_of(held(job.owned)), holder))
                for block in job.fenced:
                    name, uid, epoch, _ = block.holding
                    token = name, uid, epoch
                    fenced.update(dict.fromkeys(leaves_of(block.mask), token))
            self.held_view, self.held = view, (owner, fenced)
        return self.held

    def loaded(self) -> None:
        """The workers of jobs that restore say so once they all run."""
        view = self.view()
        for want in wanted_of(view):
            token = (want.job, want.uid, want.epoch)
            if want.phase != Phase.RESTORE or not want.base:
                continue
            if all(token in self.processes[leaf] for leaf in want.ranks):
                self.lend(self.client)
                try:
                    self.client.loaded(want.job, token[1:], want.base)
                except (StoreError, UnknownJob):
                    return

    def proceeded(self) -> None:
        """A moment in which everybody does what there is to do."""
        self.passed()
        for _ in self.engines:
            self.ticked()
        for host in self.layout.hosts:
            self.attend(host)
        self.loaded()
        self.ticked()

    def meanwhile(self, name: str, point: str) -> None:
        """Something else happens while an engine is between two steps; it may end there."""
        if self.crash_in.get(name) is not None:
            self.crash_in[name] -= 1
            if self.crash_in[name] < 0:
                self.seen[f"crash {point}"] += 1
                raise Crash
        if not self.faults or name in self.busy or self.rng.random() > 0.2:
            return
        self.busy.append(name)
        action = self.rng.choice(MEANWHILE)
        self.seen[f"meanwhile {action}"] += 1
        getattr(self, action)()
        self.busy.pop()

    def compacted(self) -> None:
        """The store forgets the past."""
        self.auditor.poll()
        self.historian.poll()
        revision = self.store.range(b"\0").revision
        if revision > self.store._compacted:
            self.store.compact(revision)

    def check(self) -> None:
        """Everything that holds at any time."""
        self.auditor.poll()
        self.historian.poll()
        view = self.view()
        told = self.historian.history.records._replace(failures=0)
        if view.records != told:
            raise Violation(f"the history says {told}, the store {view.records}")
        for leaf, tokens in self.processes.items():
            jobs = {token[:2] for token in tokens}
            if len(jobs) > 1:
                raise Violation(f"leaf {leaf} runs {sorted(jobs)}")

    # The end.

    def settle(self, rounds: int = 60) -> None:
        """Faults stop; everything must come to rest, each job running or waiting rightly.

        Raises
        ------
        Violation
            If it does not.
        """
        for link in self.links:
            link._script = None
            link.deliver()
        self.faults = False
        self.crash_in.clear()
        for host in self.layout.hosts:
            self.beating[host] = True
            if not self.up[host]:
                self.up[host] = True
                self.agents[host] = self._agent(host)
        rest = attended = 0
        for _ in range(rounds):
            before = self.store._revision
            self.beat()
            reports = []
            for engine in self.engines:
                self.lend(engine)
                reports.append(engine.tick())
            if attended != self.view().revision:
                for host in self.layout.hosts:
                    self.attend(host)
                self.loaded()
                attended = self.view().revision
            still = self.store._revision == before
            leads = any(report.leads for report in reports)
            rest = rest + 1 if still and leads else 0
            if rest == 2:
                break
            # Where all waits, more than any damping does, and less than heartbeats last.
            self.clock.advance(0.9 * TTL_S if still else 0.9)
        else:
            raise Violation("it did not come to rest")
        self.check()
        waiting = {k: v for r in reports if r.leads for k, v in r.waiting.items()}
        self._check_rest(waiting)

    def _check_rest(self, waiting: dict[str, str]) -> None:
        view = self.view()
        records = view.records
        held = 0
        for job in records.jobs:
            held |= job.alloc | job.fenced
        usable = records.live & ~held & ~records.suspect
        for at, job in enumerate(view.jobs):
            core = records.jobs[at]
            if core.phase == Phase.GONE:
                continue
            if core.phase == Phase.RUN:
                if core.alloc & ~records.live or core.alloc & records.lost:
                    raise Violation(f"{job.name} runs on dead leaves at rest")
                self.seen["rest run"] += 1
                continue
            if core.phase != Phase.PLAN or job.name not in waiting:
                raise Violation(f"{job.name} rests in {core.phase.name}")
            self.seen[f"rest waits {waiting[job.name]}"] += 1
            mine = core.alloc & records.live & ~records.suspect
            room = (usable | mine).bit_count()
            if waiting[job.name] == "no_leaves" and room >= int(job.record.request):
                raise Violation(f"{job.name} waits, and there is room")
        if held & ~records.live:
            raise Violation("a leaf of a dead host is held at rest")
        # Who waits keeps what it lost in mind until it has a plan.
        if any(job.lost and job.record.phase != Phase.PLAN for job in view.jobs):
            raise Violation("a job lost leaves, and nobody repairs it")
