"""``View``: a store's records at one revision, and the pure core's records that they are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from phalanx_core.errors import InvariantBroken, SaveError, UnknownJob
from phalanx_core.reformation import codec
from phalanx_core.reformation.codec import EpochRecord, Holding
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.records import Job, Phase, Records
from phalanx_core.reformation.stores import Item, Range, Store

GONE, PLAN = Phase.GONE, Phase.PLAN
WHOLE = Range.prefix(codec.ROOT)
EPOCHS = codec.prefix("epoch")
# What reading a record may raise where it is none of ours.
DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
# Of each family of keys, the other parts of the key beside what was found there.
Families: TypeAlias = dict[str, list[tuple[tuple[str, ...], Item]]]


class Block(NamedTuple):
    """An alloc record as it was found: who holds it, and since which revision."""

    path: str
    mask: int
    holding: Holding
    revision: int


class Beat(NamedTuple):
    """A heartbeat as it was found: the host's incarnation, and what it wrote."""

    incarnation: int
    value: bytes


@dataclass(slots=True)
class JobView:
    """What a store holds of one job.

    Attributes
    ----------
    name, record
        The job's, and its epoch record.
    revision
        When that was last written.
    created
        When the job's name was first; jobs are numbered in this order.
    owned, fenced
        Its blocks, by path.
    seals
        (epoch, step) of its manifests that can be read, ascending, and the revisions at
        which they were sealed.
    lost
        Hosts that died under it.
    loaded
        Token whose workers have all loaded, None = none yet.
    """

    name: str
    record: EpochRecord
    revision: int
    created: int
    owned: list[Block] = field(default_factory=list)
    fenced: list[Block] = field(default_factory=list)
    seals: dict[tuple[int, int], int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    loaded: tuple[int, int] | None = None

    @property
    def token(self) -> tuple[int, int]:
        """Of its workers: uid and epoch."""
        return self.record.uid, self.record.epoch

    def newest(self) -> tuple[int, int] | None:
        """Epoch and step of the newest manifest of an earlier epoch (F7)."""
        epoch = self.record.epoch
        return next((one for one in reversed(self.seals) if one[0] < epoch), None)


class View:
    """A store at one revision.

    Parameters
    ----------
    layout
        Of its leaves.
    revision
        Of the store.
    items
        All that it holds below ``phalanx/``.

    Raises
    ------
    SaveError
        If a record is damaged, of a later version, or of another layout.

    Attributes
    ----------
    jobs
        One a name there ever was, oldest first: the place is the job's index in the records
        of the pure core. A job that is gone keeps its place and its uid.
    index
        Index of each job's name.
    hosts, host_revisions
        Incarnations by which hosts are live, and the revisions of those records.
    beats
        Heartbeats there are.
    suspects
        Hosts with a verdict, and the revision of it.
    owners, repairs
        Revisions at which an owner changed last, and a death broke a job last.
    leader
        Name of the engine that leads, "" = none.
    started
        Whether the store has a layout.
    """

    def __init__(self, layout: Layout, revision: int, items: Iterable[Item]) -> None:
        self._empty(layout, revision)
        items = tuple(items)
        try:
            self._read(items)
        except DAMAGE as error:
            raise SaveError(f"{self._damaged(items)!r:.200}: {error}") from error

    def _empty(self, layout: Layout, revision: int) -> None:
        self.layout = layout
        self.revision = revision
        self.jobs: list[JobView] = []
        self.index: dict[str, int] = {}
        self.hosts: dict[str, int] = {}
        self.host_revisions: dict[str, int] = {}
        self.beats: dict[str, Beat] = {}
        self.suspects: dict[str, int] = {}
        self.owners = self.repairs = 0
        self.leader = ""
        self.started = False
        self._records: Records | None = None

    def _read(self, items: Iterable[Item]) -> None:
        families: Families = {}
        for item in items:
            family, parts = codec.parts_of(item.key)
            found = families.get(family)
            if found is None:
                found = families[family] = []
            found.append((parts, item))
        self._read_single(families)
        self._read_hosts(families)
        self._read_jobs(families)

    def _damaged(self, items: tuple[Item, ...]) -> bytes:
        """Key of a record that cannot be read after those before it, jobs' records first."""
        ordered = sorted(items, key=lambda item: not item.key.startswith(EPOCHS))

        def fails(count: int) -> bool:
            one = View.__new__(View)
            one._empty(self.layout, self.revision)
            try:
                one._read(ordered[:count])
            except DAMAGE:
                return True
            return False

        # Whatever has the first such record fails too, so it is found by halving.
        return ordered[bisect_left(range(1, len(ordered)), True, key=fails)].key

    @property
    def records(self) -> Records:
        """The records of the pure core.

        Plans of others are not known and not needed: Commit is no phase of a store (F9).
        Failures are not counted.

        Raises
        ------
        InvariantBroken
            If two jobs hold a leaf.
        """
        if self._records is None:
            self._records = self._core_records()
        return self._records

    def _core_records(self) -> Records:
        layout = self.layout
        live = suspect = lost = 0
        for host in self.hosts:
            live |= layout.host_mask(host)
        for host in self.suspects:
            suspect |= layout.host_mask(host)
        jobs, taken = [], 0
        for view in self.jobs:
            alloc, fenced = held(view.owned), held(view.fenced)
            if taken & (alloc | fenced) or alloc & fenced:
                raise InvariantBroken("R1", f"a leaf of {view.name!r} is held twice")
            taken |= alloc | fenced
            dead = 0
            for host in view.lost:
                dead |= layout.host_mask(host)
            lost |= alloc & dead
            jobs.append(_core_job(view, alloc, fenced))
        return Records(live, tuple(jobs), 0, suspect, lost)

    def job(self, name: str) -> JobView:
        """What the store holds of a job that is there.

        Raises
        ------
        UnknownJob
            If there is none of that name, or no longer.
        """
        at = self.index.get(name, -1)
        if at < 0 or self.jobs[at].record.phase == GONE:
            raise UnknownJob(f"job {name!r}: the store has none")
        return self.jobs[at]

    def _read_single(self, families: Families) -> None:
        for _, item in families.get("layout", ()):
            self.started = True
            _check_layout(item.value, self.layout)
        for _, item in families.get("leader", ()):
            self.leader = item.value.decode()
        for _, item in families.get("owners", ()):
            self.owners = item.mod_revision
        for _, item in families.get("repairs", ()):
            self.repairs = item.mod_revision

    def _read_hosts(self, families: Families) -> None:
        known = self.layout.host_mask
        for (host,), item in families.get("host", ()):
            known(host)
            self.hosts[host] = int(item.value)
            self.host_revisions[host] = item.mod_revision
        for (host,), item in families.get("heartbeat", ()):
            # An agent of a host that no layout has yet is not for us.
            if host in self.layout.hosts_set:
                self.beats[host] = Beat(item.create_revision, item.value)
        for (path,), item in families.get("suspect", ()):
            self.suspects[self.layout.host_at(path)] = item.mod_revision

    def _read_jobs(self, families: Families) -> None:
        jobs = _Jobs()
        for (name,), item in families.get("epoch", ()):
            record = codec.epoch_of(item.value)
            jobs[name] = JobView(name, record, item.mod_revision, item.create_revision)
        self.jobs = sorted(jobs.values(), key=attrgetter("created"))
        self.index.update((job.name, at) for at, job in enumerate(self.jobs))
        everything = (1 << self.layout.leaves) - 1
        for (path,), item in families.get("alloc", ()):
            holding = codec.holding_of(item.value)
            mask = self.layout.mask(path) & everything
            block = Block(path, mask, holding, item.mod_revision)
            job = jobs[holding.job]
            (job.fenced if holding.fenced else job.owned).append(block)
        for (name, uid, epoch, step), item in families.get("seal", ()):
            job = jobs[name]
            if int(uid) == job.record.uid and not codec.manifest_of(item.value).lost:
                job.seals[int(epoch), int(step)] = item.mod_revision
        for (name, host), _ in families.get("lost", ()):
            jobs[name].lost.append(host)
        for (name,), item in families.get("loaded", ()):
            uid, epoch = codec.unpacked(item.value, f"loaded/{name}")
            jobs[name].loaded = (uid, epoch)


class _Jobs(dict[str, JobView]):
    """Jobs by name; one that only other records know is damage."""

    def __missing__(self, name: str) -> JobView:
        raise SaveError(f"job {name!r} has records but no epoch record")


def held(blocks: Iterable[Block]) -> int:
    """Mask of blocks; each leaf is in one of them."""
    mask = 0
    for block in blocks:
        if mask & block.mask:
            raise InvariantBroken("R1", f"block {block.path!r} lies in another")
        mask |= block.mask
    return mask


def observe(store: Store, layout: Layout, last: View | None = None) -> View:
    """All of a store at one revision, by one linearizable read.

    Parameters
    ----------
    store, layout
        What is read.
    last
        An earlier view of the same store, which is returned if nothing changed since.

    Raises
    ------
    Unavailable
        If it cannot be read.
    SaveError
        If a record is damaged, of a later version, or of another layout.

    Notes
    -----
    O(keys of the store); values that were read before are not read anew.
    """
    revision, items = store.range(WHOLE)
    if last is not None and last.revision == revision and last.layout is layout:
        return last
    return View(layout, revision, items)


def _core_job(view: JobView, alloc: int, fenced: int) -> Job:
    uid, epoch, phase, cause, base, *_ = view.record
    sealed = 0
    for of, _ in view.seals:
        sealed |= 1 << of
    plan = alloc if phase not in (GONE, PLAN) else 0
    loading = -1 if base is None else base[0]
    return Job(phase, epoch, alloc, plan, sealed, fenced, cause, loading, uid)


def _check_layout(value: bytes, layout: Layout) -> None:
    if value != codec.layout_bytes(layout):
        codec.unpacked(value, "the layout")
        raise SaveError("the store's layout is another: other hosts or radices")
