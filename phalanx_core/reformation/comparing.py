"""Compares of each transition's transaction: what must still be as it was observed.

Every guard of the pure core that reads something which another transaction may change has
its compare here; the rest is implied by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

from phalanx_core.reformation import codec
from phalanx_core.reformation.events import Action, Event
from phalanx_core.reformation.observing import View
from phalanx_core.reformation.records import Cause
from phalanx_core.reformation.stores import (
    Compare,
    Field,
    Range,
    Relation,
    absent,
    created_at,
    modified_at,
    present,
)

if TYPE_CHECKING:
    from phalanx_core.reformation.preparing import Facts

COMPARES_MAX = 128
"""Of a commit, whatever the store takes: a gang of any size commits in a few of them."""

Compares = Iterator[Compare]
OfProposal = Callable[[View, Event], Compares]
OfLeaves = Callable[[View, int], Compares]


def compares_of(
    view: View, events: tuple[Event, ...], facts: Facts, compares_max: int
) -> tuple[Compare, ...]:
    """Compares of a transition, or of a proposal and its commit.

    Parameters
    ----------
    view, events, facts
        As for :func:`~phalanx_core.reformation.preparing.prepare`.
    compares_max
        As many as the store takes. If a commit has more, or more than COMPARES_MAX, then
        in this order: one compare of ``owners`` stands for those of every claimed block,
        which is exact as well, but lost to any other change of an owner; and one a block,
        that no host below it is ``down``, for those of heartbeats, which does not see a
        death that nobody noted.

    Returns
    -------
    Each compare once; of a commit that is too long however it is written, too many.
    """
    event = events[-1]
    if event.action != Action.COMMIT:
        return _unique(COMPARES[event.action](view, event, facts))
    ways = product((_hosts_alive, _none_down), (_empty, _same_owners))
    found = []
    for alive, owned in ways:
        found.append(_unique(_commit(view, events[0], owned, alive)))
        if len(found[-1]) <= min(compares_max, COMPARES_MAX):
            return found[-1]
    return next((one for one in found if len(one) <= compares_max), found[-1])


def _unique(compares: Compares) -> tuple[Compare, ...]:
    return tuple(dict.fromkeys(compares))


def _fail(view: View, event: Event, facts: Facts) -> Compares:
    """The hosts are as they were, their heartbeats are not, and no owner changed."""
    yield modified_at(codec.OWNERS, view.owners)
    for host in view.layout.hosts_of(event.leaves):
        yield modified_at(codec.key("host", host), view.host_revisions[host])
        beat = view.beats.get(host)
        heartbeat = codec.key("heartbeat", host)
        yield created_at(heartbeat, beat.incarnation if beat else 0)


def _heal(view: View, event: Event, facts: Facts) -> Compares:
    for host in view.layout.hosts_of(event.leaves):
        yield created_at(codec.key("heartbeat", host), view.beats[host].incarnation)
        yield absent(codec.key("host", host))


def _suspect(view: View, event: Event, facts: Facts) -> Compares:
    for host in view.layout.hosts_of(event.leaves):
        yield modified_at(codec.key("host", host), view.host_revisions[host])
        yield absent(codec.key("suspect", view.layout.host_path(host)))


def _trust(view: View, event: Event, facts: Facts) -> Compares:
    """The verdicts stand, and their hosts live, or do not, as they did."""
    for host in view.layout.hosts_of(event.leaves):
        yield _verdict_stands(view, host)
        known = view.host_revisions.get(host, 0)
        yield modified_at(codec.key("host", host), known)


def _verdict_stands(view: View, host: str) -> Compare:
    verdict = codec.key("suspect", view.layout.host_path(host))
    return modified_at(verdict, view.suspects[host])


def _epoch(view: View, event: Event, facts: Facts) -> Compares:
    """The epoch record is as it was observed; so are, then, the job's leaves (F9, F10)."""
    revision = 0
    if event.job < len(view.jobs):
        revision = view.jobs[event.job].revision
    yield modified_at(codec.key("epoch", facts.name), revision)


def _detect(view: View, event: Event, facts: Facts) -> Compares:
    yield from _epoch(view, event, facts)
    yield present(Range.prefix(codec.prefix("lost", facts.name)))


def _whole(name: str) -> Compare:
    """No host died under the job: each death under an owner writes ``lost``."""
    return absent(Range.prefix(codec.prefix("lost", name)))


def _seal(view: View, event: Event, facts: Facts) -> Compares:
    yield from _epoch(view, event, facts)
    yield absent(codec.seal_key(facts.name, event.uid, event.epoch, facts.step))


def _sealed(view: View, event: Event, manifest: tuple[int, int]) -> Compare:
    """A manifest can still be read, as it could when it was observed."""
    job = view.jobs[event.job]
    found = codec.seal_key(job.name, job.record.uid, *manifest)
    # One that could not be read then has no revision, and fails.
    return modified_at(found, job.seals.get(manifest, view.revision + 1))


def _restore(view: View, event: Event, facts: Facts) -> Compares:
    yield from _epoch(view, event, facts)
    yield _whole(facts.name)
    yield _sealed(view, event, (event.manifest, facts.step))


def _run(view: View, event: Event, facts: Facts) -> Compares:
    yield from _epoch(view, event, facts)
    yield _whole(facts.name)
    base = view.jobs[event.job].record.base
    if base is not None:
        yield _sealed(view, event, base)


def _fence(view: View, event: Event, facts: Facts) -> Compares:
    job = view.jobs[event.job]
    for block in job.fenced:
        if block.mask & event.leaves:
            yield modified_at(codec.key("alloc", block.path), block.revision)
    for host in view.layout.hosts_of(event.leaves):
        yield modified_at(codec.key("host", host), view.host_revisions[host])


def _lose(view: View, event: Event, facts: Facts) -> Compares:
    """The manifest can be read, and none of its epoch was sealed or lost meanwhile."""
    yield from _epoch(view, event, facts)
    yield _sealed(view, event, (event.manifest, facts.step))
    job = view.jobs[event.job]
    manifest = event.manifest, facts.step
    others = [one for one in job.seals if one[0] == manifest[0] and one != manifest]
    if others:
        # A deletion leaves no revision, so that the epoch keeps one is asked by itself.
        yield _sealed(view, event, max(others))
    if facts.witness:
        yield _sealed(view, event, facts.witness)
    uid = job.record.uid
    whole = codec.prefix("seal", facts.name, f"{uid:010}", f"{event.manifest:010}")
    yield Compare(Range.prefix(whole), Field.MOD, Relation.LESS, view.revision + 1)


def _commit(
    view: View, proposal: Event, unclaimed: OfProposal, alive: OfLeaves
) -> Compares:
    job, core = view.jobs[proposal.job], view.records.jobs[proposal.job]
    plan, alloc = proposal.leaves, core.alloc
    yield modified_at(codec.key("epoch", job.name), job.revision)
    yield from unclaimed(view, proposal)
    yield from alive(view, plan)
    # A drain keeps no suspect leaf; others may keep those that they own.
    draining = proposal.action == Action.DRAIN
    yield from _trusted(view, plan if draining else plan & ~alloc)
    # A verdict that is withdrawn pins leaves which this plan gives up.
    left = alloc & ~plan & view.records.suspect
    for host in view.layout.hosts_of(left):
        yield _verdict_stands(view, host)
    if proposal.action != Action.PLAN:
        yield _whole(job.name)
    growing = proposal.action != Action.RESIZE or plan & ~alloc
    cause = core.cause if proposal.action == Action.PLAN else Cause.DRAIN
    if cause != Cause.REPAIR and growing:
        yield modified_at(codec.REPAIRS, view.repairs)


def _empty(view: View, proposal: Event) -> Compares:
    """Nobody holds a claimed block, anything in it, or anything that it lies in."""
    layout = view.layout
    alloc = view.records.jobs[proposal.job].alloc
    for path in layout.cover(proposal.leaves & ~alloc):
        yield absent(Range.prefix(codec.key("alloc", path)))
        for around in layout.around(path):
            yield absent(codec.key("alloc", around))


def _same_owners(view: View, proposal: Event) -> Compares:
    """No leaf has another owner than was observed."""
    yield modified_at(codec.OWNERS, view.owners)


def _hosts_alive(view: View, plan: int) -> Compares:
    """The heartbeat of each planned host is that of its known incarnation (F2, F12)."""
    for host in view.layout.hosts_of(plan):
        yield created_at(codec.key("heartbeat", host), view.hosts[host])


def _none_down(view: View, plan: int) -> Compares:
    """No planned host's death was noted; of those that a block's path misses, as above.

    A heartbeat that ended is not there to be compared, so one that nobody noted passes:
    it is noted next, and detected from Restore, since Run needs all hosts.
    """
    hosts, blocks = _places(view, plan)
    for path in blocks:
        yield absent(Range.prefix(codec.key("down", path)))
    for host in hosts:
        yield created_at(codec.key("heartbeat", host), view.hosts[host])


def _trusted(view: View, claimed: int) -> Compares:
    """No verdict was passed on a host that is claimed (F13), one by one or by block."""
    hosts, blocks = _places(view, claimed)
    every = view.layout.hosts_of(claimed)
    if len(every) <= len(hosts) + len(blocks):
        hosts, blocks = every, ()
    for path in blocks:
        yield absent(Range.prefix(codec.key("suspect", path)))
    for host in hosts:
        yield absent(codec.key("suspect", view.layout.host_path(host)))


def _places(view: View, mask: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Blocks of a mask, and before them its hosts that begin outside of it.

    The records of a host lie below the path of its first leaf.
    """
    layout = view.layout
    hosts = layout.hosts_of(mask)
    astray = tuple(host for host in hosts if not layout.begins_in(host, mask))
    return astray, layout.cover(mask)


COMPARES: dict[Action, Callable[[View, Event, Facts], Compares]] = {
    Action.FAIL: _fail,
    Action.HEAL: _heal,
    Action.SUSPECT: _suspect,
    Action.TRUST: _trust,
    Action.ADMIT: _epoch,
    Action.DETECT: _detect,
    Action.SEAL: _seal,
    Action.RESTORE: _restore,
    Action.RUN: _run,
    Action.RELEASE: _epoch,
    Action.FENCE: _fence,
    Action.LOSE: _lose,
}
"""Of each action but a commit, which needs its proposal."""
