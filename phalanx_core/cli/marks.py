"""One character a leaf: who holds it, or why nobody may."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from phalanx_core.cli.results import Change, domain_of
from phalanx_core.placement import Health, Owner, OwnerKind, Planner
from phalanx_core.topology import Topology

FREE, SPARE, DOWN, SUSPECT, CORDONED, QUARANTINE, MANY = ".sx?-q#"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnoprtuvwyz"
MEANINGS = {
    FREE: "free",
    SPARE: "spare",
    DOWN: "down",
    SUSPECT: "suspect",
    CORDONED: "cordoned",
    QUARANTINE: "quarantined",
    MANY: "further jobs",
}


class Letters:
    """A letter a job, in order of arrival; a job that leaves gives its own back.

    Parameters
    ----------
    given
        Letters that jobs have already.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._of: dict[str, str] = dict(given or {})

    def give(self, job: str) -> str:
        """The job's letter, the first free one where it has none yet."""
        if job not in self._of:
            taken = self._of.values()
            free = (letter for letter in ALPHABET if letter not in taken)
            self._of[job] = next(free, MANY)
        return self._of[job]

    def drop(self, job: str) -> None:
        """Forget a job."""
        self._of.pop(job, None)

    def of(self, job: str) -> str:
        """The job's letter."""
        return self._of.get(job, MANY)

    def to_dict(self) -> dict[str, str]:
        """Job to letter."""
        return dict(self._of)


def mark_of(owner: Owner, letters: Letters) -> str:
    """Character of one leaf; a lost leaf is drawn as lost whoever holds it."""
    if owner.kind is OwnerKind.QUARANTINE:
        return QUARANTINE
    if owner.health is Health.DOWN:
        return DOWN
    if owner.kind is OwnerKind.JOB:
        return letters.of(str(owner.job))
    if owner.health is Health.SUSPECT:
        return SUSPECT
    if owner.cordoned:
        return CORDONED
    return SPARE if owner.kind is OwnerKind.SPARE else FREE


def marks_of(
    topology: Topology,
    planners: Mapping[str, Planner],
    letters: Letters,
    own: Callable[[Planner, list[int]], list[int]] = lambda _, leaves: leaves,
) -> str:
    """One character a leaf, by leaf id.

    Parameters
    ----------
    own
        Ids of leaves in a planner's own topology, where that is another one.
    """
    row = [""] * topology.leaf_count
    for name, planner in planners.items():
        code = topology.type_names.index(name)
        leaves = np.flatnonzero(topology.type_of == code).tolist()
        for leaf, there in zip(leaves, own(planner, leaves), strict=True):
            row[leaf] = mark_of(planner.owner(there), letters)
    return "".join(row)


def changes(
    topology: Topology, touched: Sequence[int], before: str, after: str
) -> Iterator[Change]:
    """Rows of the hosts of some leaves, before and after, in order of mention."""
    hosts = topology.domain_of(1)
    seen: dict[int, None] = {}
    for leaf in touched:
        host = int(hosts[leaf])
        key = host if host >= 0 else -1 - leaf
        if key in seen:
            continue
        seen[key] = None
        row = topology.leaves(1, host).tolist() if host >= 0 else [leaf]
        yield Change(
            domain_of(topology, 1, leaf),
            "".join(before[at] for at in row),
            "".join(after[at] for at in row),
        )


def legend(drawn: str) -> str:
    """Meaning of the marks that are not letters and occur in a picture.

    Examples
    --------
    >>> legend("AA..x")
    '. free  x down'
    """
    return "  ".join(f"{m} {what}" for m, what in MEANINGS.items() if m in drawn)
