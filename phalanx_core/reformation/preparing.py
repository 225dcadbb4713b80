"""``prepare``: a transition of the pure core as one transaction of a store.

The operations are the difference between the records before and after; the compares hold
exactly where the core, asked again at the moment of the transaction, would still take the
transition. A commit is prepared together with its proposal, as if both happened at once,
so that what a store holds never depends on what an engine remembers.
"""

from __future__ import annotations

from dataclasses import dataclass

from phalanx_core.reformation import codec, comparing
from phalanx_core.reformation.blocks import block_operations
from phalanx_core.reformation.codec import EpochRecord, Manifest
from phalanx_core.reformation.events import Action, Effect, Event, Refused
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import JobView, View
from phalanx_core.reformation.records import Job, Phase, Records
from phalanx_core.reformation.stores import (
    Compare,
    Delete,
    Limits,
    Operation,
    Put,
    Range,
    Read,
    Where,
)
from phalanx_core.reformation.transition import transition

GONE = Phase.GONE
ETCD = Limits()
MARKED = {
    Action.DETECT,
    Action.COMMIT,
    Action.RESTORE,
    Action.RUN,
    Action.RELEASE,
}
# After these, nobody has loaded what the epoch record says.
UNLOADING = (Action.COMMIT, Action.RELEASE, Action.RESTORE, Action.RUN)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a transaction writes beside what the pure core knows.

    Attributes
    ----------
    nonce
        By which its sender knows it again.
    at
        When it was made, for the history, seconds.
    name
        Of the job; of an admission, the new one.
    ranks, request
        Of a proposal or an admission.
    step
        Of the manifest that is sealed, chosen or lost.
    content
        Of the manifest that is sealed.
    reason
        Of a verdict.
    witness
        A manifest that must be readable when another is removed, None = none.
    """

    nonce: str
    at: float = 0.0
    name: str = ""
    ranks: tuple[int, ...] = ()
    request: str = ""
    step: int = 0
    content: str = ""
    reason: str = ""
    witness: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A transaction that is ready to be sent, as often as it takes.

    Attributes
    ----------
    event
        The last transition of it.
    facts
        Those it writes.
    compares, then, otherwise
        As :meth:`Store.transaction` takes them.
    revision
        Of what it was prepared from.
    marker
        Key in which the nonce is found again, b"" where there is none.
    marked
        Revision at which the marker was last written when this was prepared.
    record
        Key of the job's epoch record; the marker tells as long as that is as it was.
    recorded
        Revision at which the record was last written then.
    effects
        What is to be done once it is applied.
    after
        The records that it leads to.
    """

    event: Event
    facts: Facts
    compares: tuple[Compare, ...]
    then: tuple[Operation, ...]
    otherwise: tuple[Operation, ...]
    revision: int
    marker: bytes
    marked: int
    record: bytes
    recorded: int
    effects: tuple[Effect, ...]
    after: Records


def prepare(
    view: View,
    events: tuple[Event, ...],
    facts: Facts,
    limits: Limits = ETCD,
) -> Prepared | Refused:
    """One transaction for a transition, or for a proposal and its commit.

    Parameters
    ----------
    view
        What was observed.
    events
        One, or a proposal followed by its commit.
    facts
        The rest.
    limits
        The store's.

    Returns
    -------
    The transaction; or the guard that refuses, of the core, or ``operations_max`` or
    ``bytes_max`` if the transaction is too long for the store.

    Notes
    -----
    A function of its arguments. O(blocks and hosts that change).
    """
    event = events[-1]
    records: Records = view.records
    effects: tuple[Effect, ...] = ()
    for one in events:
        if _of_a_step(view, one, facts):
            continue
        taken = transition(records, one)
        if isinstance(taken, Refused):
            return taken
        records, effects = taken
    then = _operations(view, events, records, facts)
    compares = comparing.compares_of(view, events, facts, limits.operations)
    longest = max(len(then), len(compares))
    if longest > limits.operations:
        rule = f"the store takes {limits.operations} in a list: see Limits"
        detail = f"its transaction has {longest} operations, and {rule}"
        return Refused(event.action, "operations_max", detail)
    record = codec.key("epoch", facts.name)
    recorded = view.jobs[event.job].revision if event.job < len(view.jobs) else 0
    marker, marked = b"", 0
    if event.action in (Action.ADMIT, Action.SEAL):
        # Created once, and kept whatever befalls the job next but its release.
        marker = codec.seal_key(facts.name, event.uid, event.epoch, facts.step)
    elif event.action in MARKED:
        marker, marked = record, recorded
    reads = (marker, record) if marker else (record,) if facts.name else ()
    otherwise = tuple(map(Read, reads))
    size = _size(compares, (*then, *otherwise))
    if size > limits.request_bytes:
        rule = f"the store takes {limits.request_bytes}: see Limits"
        detail = f"its transaction has {size} bytes, and {rule}"
        return Refused(event.action, "bytes_max", detail)
    return Prepared(
        event=event,
        facts=facts,
        compares=compares,
        then=then,
        otherwise=otherwise,
        revision=view.revision,
        marker=marker,
        marked=marked,
        record=record,
        recorded=recorded,
        effects=effects,
        after=records,
    )


def _size(compares: tuple[Compare, ...], operations: tuple[Operation, ...]) -> int:
    """Bytes of keys and values, as stores count them."""
    size = 0
    for compare in compares:
        size += _bytes(compare.where)
        size += len(compare.value) if isinstance(compare.value, bytes) else 0
    for one in operations:
        if isinstance(one, Put):
            size += len(one.key) + len(one.value)
        else:
            size += _bytes(one.where)
    return size


def _bytes(where: Where) -> int:
    if isinstance(where, bytes):
        return len(where)
    return len(where.start) + len(where.end or b"")


def _of_a_step(view: View, event: Event, facts: Facts) -> bool:
    """A loss after which its epoch has another manifest: the core sees no change."""
    if event.action != Action.LOSE or event.job >= len(view.jobs):
        return False
    job = view.jobs[event.job]
    there = (event.manifest, facts.step) in job.seals
    return there and next_step(job, event.manifest, facts.step) is not None


def _operations(
    view: View, events: tuple[Event, ...], after: Records, facts: Facts
) -> tuple[Operation, ...]:
    """The difference between the records before and after."""
    before, event = view.records, events[-1]
    operations = _of_hosts(view, before, after, facts)
    owners = False
    for at, job in enumerate(after.jobs):
        if at < len(before.jobs):
            old, known = before.jobs[at], view.jobs[at]
        else:
            old, known = Job(GONE, 0, 0, 0, 0), None
        if job != old or (at == event.job and event.action > Action.TRUST):
            operations += _of_job(view.layout, (old, job), known, event, facts)
            owners |= job.alloc != old.alloc
    # Also of what was lost before: a commit that comes first may have taken that back.
    if lost := _of_lost(view, before.live & ~after.live):
        operations += lost
        operations.append(Put(codec.REPAIRS, facts.nonce.encode()))
    if owners:
        operations.append(Put(codec.OWNERS, facts.nonce.encode()))
    # The loss of one of several steps is no transition of the core.
    told = () if _of_a_step(view, event, facts) else events
    operations.append(Put(codec.LOG, _log(told, facts)))
    return tuple(operations)


def _log(events: tuple[Event, ...], facts: Facts) -> bytes:
    """The transitions for the history, with all that the pure core does not derive."""
    told = [
        {
            "action": event.action.name,
            "leaves": hex(event.leaves),
            "epoch": event.epoch,
            "uid": event.uid,
            "manifest": event.manifest,
        }
        for event in events
    ]
    log = {"v": codec.VERSION, "at": facts.at, "name": facts.name, "events": told}
    return codec.packed({**log, "nonce": facts.nonce})


def _of_hosts(
    view: View, before: Records, after: Records, facts: Facts
) -> list[Operation]:
    layout = view.layout
    operations: list[Operation] = []
    for host in layout.hosts_of(before.live ^ after.live):
        down = codec.key("down", layout.host_path(host))
        mark = codec.key("host", host)
        if after.live & layout.host_mask(host):
            operations.append(Put(mark, str(view.beats[host].incarnation).encode()))
            operations.append(Delete(down))
        else:
            operations.append(Delete(mark))
            operations.append(Put(down, str(view.hosts[host]).encode()))
    for host in layout.hosts_of(before.suspect ^ after.suspect):
        verdict = codec.key("suspect", layout.host_path(host))
        if after.suspect & layout.host_mask(host):
            operations.append(Put(verdict, facts.reason.encode()))
            continue
        operations.append(Delete(verdict))
        if before.live & after.live & layout.host_mask(host):
            # Written anew, so that a late copy of the verdict finds its host changed.
            mark = codec.key("host", host)
            operations.append(Put(mark, str(view.hosts[host]).encode()))
    return operations


def _of_lost(view: View, died: int) -> list[Operation]:
    """A record for each job and host that it loses."""
    operations: list[Operation] = []
    for job, core in zip(view.jobs, view.records.jobs, strict=True):
        for host in view.layout.hosts_of(core.alloc & died):
            operations.append(Put(codec.key("lost", job.name, host), b""))
    return operations


def _of_job(
    layout: Layout,
    changed: tuple[Job, Job],
    view: JobView | None,
    event: Event,
    facts: Facts,
) -> list[Operation]:
    old, job = changed
    name = view.name if view else facts.name
    operations = _of_manifests(name, job, view, event, facts)
    if event.action == Action.COMMIT or event.action == Action.RELEASE:
        operations.append(Delete(Range.prefix(codec.prefix("lost", name))))
    unread = view and view.record.base == (event.manifest, facts.step)
    if event.action in UNLOADING or (event.action == Action.LOSE and unread):
        operations.append(Delete(codec.key("loaded", name)))
    if view is not None:
        operations += block_operations(layout, view, old, job)
    record = _epoch_record(job, view, event, facts)
    if view is None or record != view.record:
        record = record._replace(nonce=facts.nonce)
        operations.append(Put(codec.key("epoch", name), codec.epoch_bytes(record)))
    return operations


def _epoch_record(
    job: Job, view: JobView | None, event: Event, facts: Facts
) -> EpochRecord:
    """The job's epoch record after a transition, with the nonce that it had."""
    if view is None or event.action == Action.ADMIT:
        ranks, request, base, nonce = (), facts.request, None, facts.nonce
        return EpochRecord(
            job.uid, job.epoch, job.phase, job.cause, base, nonce, ranks, request
        )
    record = view.record._replace(
        uid=job.uid, epoch=job.epoch, phase=job.phase, cause=job.cause
    )
    if event.action == Action.RESTORE:
        return record._replace(base=(event.manifest, facts.step))
    lost = event.action == Action.LOSE and job.phase == Phase.RESTORE
    if lost and record.base == (event.manifest, facts.step):
        # An older step of the same epoch, which is below what the core tells apart. Who
        # runs already went on from what is lost, and seals say so.
        base = next_step(view, event.manifest, facts.step)
        record = record._replace(base=base or record.base)
    if event.action == Action.COMMIT:
        record = record._replace(ranks=facts.ranks, request=facts.request)
    if event.action == Action.RELEASE:
        record = record._replace(ranks=(), request="")
    return record._replace(base=None) if job.base < 0 else record


def next_step(view: JobView, epoch: int, step: int) -> tuple[int, int] | None:
    """The newest manifest of an epoch but this one, None = none."""
    others = [one for one in view.seals if one[0] == epoch and one[1] != step]
    return max(others, default=None)


def _of_manifests(
    name: str, job: Job, view: JobView | None, event: Event, facts: Facts
) -> list[Operation]:
    if event.action == Action.RELEASE:
        return [Delete(Range.prefix(codec.prefix("seal", name)))]
    if event.action == Action.ADMIT:
        key = codec.seal_key(name, job.uid, 0, 0)
        first = Manifest(None, "", facts.nonce)
        return [Put(key, codec.manifest_bytes(first))]
    key = codec.seal_key(name, job.uid, event.manifest, facts.step)
    if event.action == Action.LOSE:
        if facts.witness and event.manifest < job.epoch:
            # No seal of an earlier epoch is accepted any more, so none comes back.
            return [Delete(key)]
        return [Put(key, codec.manifest_bytes(Manifest(None, "", facts.nonce, True)))]
    if event.action == Action.SEAL and view:
        key = codec.seal_key(name, job.uid, event.epoch, facts.step)
        mine = [one for one in view.seals if one < (event.epoch, facts.step)]
        mine = [one for one in mine if one[0] == event.epoch]
        parent = max(mine, default=view.record.base)
        manifest = Manifest(parent, facts.content, facts.nonce)
        return [Put(key, codec.manifest_bytes(manifest))]
    return []
