"""``PlannerProposals``: what the reformation engine asks, answered by the planner."""

from __future__ import annotations

import json
from itertools import groupby

import numpy as np

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Gang, Misfit, Placement, Planner, Spares
from phalanx_core.reformation import Ask, Cause, Layout, Proposal
from phalanx_core.reformation.records import leaves_of
from phalanx_core.topology import Topology


def layout_of(topology: Topology, level: str | int = "host") -> Layout:
    """The engine's leaves of a topology: bit ``p`` is the ``p``-th leaf by address.

    Parameters
    ----------
    topology
        Of the cluster.
    level
        Whose domains are hosts: what beats and dies as one.

    Raises
    ------
    InvalidRequest
        If there is no such level, or a leaf is in no domain of it.

    Examples
    --------
    >>> layout = layout_of(Topology.from_spec("pod:2 host:2 gpu:4"))
    >>> layout.hosts, layout.leaves
    (('host-0', 'host-1', 'host-2', 'host-3'), 16)
    """
    at = topology.level_index(level)
    domains = topology.domain_of(at)[topology.address_order].tolist()
    if -1 in domains:
        raise InvalidRequest(f"level {level!r}: a leaf is in no domain of it")
    runs = [(domain, len(list(run))) for domain, run in groupby(domains)]
    return Layout([(topology.domain_name(at, domain), n) for domain, n in runs])


def request_of(gang: Gang, ranks: int | None = None) -> str:
    """A gang as the text of a job's request.

    Parameters
    ----------
    gang
        What was asked for, with all its templates.
    ranks
        Which of its sizes; None = the largest.

    Examples
    --------
    >>> request_of(Gang(4, templates=(2,)), 2)
    '{"gang": {"ranks": 4, "templates": [2]}, "ranks": 2}'
    """
    ranks = gang.ranks if ranks is None else ranks
    return json.dumps({"gang": gang.to_dict(), "ranks": ranks}, sort_keys=True)


def gang_of(request: str) -> tuple[Gang, int]:
    """Gang and size of a request.

    Raises
    ------
    InvalidRequest
        If the text is none of :func:`request_of`.
    """
    try:
        told = json.loads(request)
        gang, ranks = Gang(**told["gang"]), told["ranks"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"request {request!r:.200}: {error!r}") from error
    if not is_whole(ranks) or ranks < 1:
        raise InvalidRequest(f"request {request!r:.200}: ranks is {ranks!r}, a size")
    return gang, ranks


class PlannerProposals:
    """A :class:`~phalanx_core.reformation.RepairPlanner` that places as a planner does.

    Parameters
    ----------
    topology
        Of the cluster.
    spares
        Hosts that placements leave free for repairs.
    level
        As for :func:`layout_of`.

    Attributes
    ----------
    layout
        For the engine.

    Notes
    -----
    It keeps no state: each proposal is that of a planner in which everything that may not
    be claimed is closed, so an engine that begins anew proposes what the last one would.
    A repair moves the ranks that lost their leaf, near the others, and uses spares; a gang
    with templates may shrink by it. A shrink that would give up a healthy leaf is not
    proposed, since survivors are pinned (F1). O(leaves) for the closing.

    Examples
    --------
    >>> proposals = PlannerProposals(Topology.from_spec("pod:2 host:2 gpu:2"))
    >>> request = request_of(Gang(4, within="pod"))
    >>> new = Ask("a", Cause.ADMIT, request, (), must=0, may=0b11111111)
    >>> proposals.propose(new).ranks
    (0, 1, 2, 3)
    >>> taken = Ask("a", Cause.ADMIT, request, (), must=0, may=0b11111110)
    >>> proposals.propose(taken).ranks
    (4, 5, 6, 7)
    """

    def __init__(
        self,
        topology: Topology,
        spares: Spares | None = None,
        level: str | int = "host",
    ) -> None:
        self.layout = layout_of(topology, level)
        self._ids = np.asarray(topology.address_order)
        self._positions = np.argsort(self._ids)
        self._empty = Planner(topology, spares=spares)

    def propose(self, ask: Ask) -> Proposal | str:
        """See :meth:`RepairPlanner.propose`; why there is none is the planner's own word.

        Raises
        ------
        InvalidRequest
            If the request is none of :func:`request_of`.
        """
        gang, ranks = gang_of(ask.request)
        planner = self._empty.clone()
        # What a drain leaves behind is still among what it may have.
        usable = ask.must if ask.cause == Cause.DRAIN else ask.must | ask.may
        own = set(ask.ranks)
        mine = 0
        for leaf in ask.ranks:
            mine |= 1 << leaf
        every = (1 << self.layout.leaves) - 1
        if closed := leaves_of(every & ~(ask.must | ask.may | mine)):
            planner.cordon(self._ids[closed])
        if not own:
            placed = planner.place(ask.job, gang.at(ranks))
            if isinstance(placed, Misfit):
                return str(placed)
            return self._of(placed, ask, gang)
        planner.adopt(ask.job, gang.at(len(ask.ranks)), self._ids[list(ask.ranks)])
        if ask.cause == Cause.RESIZE:
            changed = planner.resize(ask.job, ranks)
        else:
            lost = [leaf for leaf in ask.ranks if not usable >> leaf & 1]
            planner.fail(self._ids[lost])
            changed = planner.replan(ask.job)
        if isinstance(changed, Misfit):
            return str(changed)
        return self._of(planner.placement(ask.job), ask, gang)

    def _of(self, placed: Placement, ask: Ask, gang: Gang) -> Proposal | str:
        ranks = tuple(int(at) for at in self._positions[placed.leaves])
        pinned = ask.must if ask.cause != Cause.RESIZE else 0
        if given_up := pinned & ~sum(1 << leaf for leaf in ranks):
            return f"would give up {given_up.bit_count()} leaves that are well"
        return Proposal(ranks, request_of(gang, len(ranks)))
