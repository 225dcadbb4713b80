"""What a compile took in, what it left out, and the shape that came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core.topology.odd_domains import OddDomains
from phalanx_core.topology.tree import build_tree

if TYPE_CHECKING:
    from phalanx_core.topology.forest import Forest

_EXAMPLES = 3


@dataclass(frozen=True)
class LeftOut:
    """One kind of thing that was seen and not compiled.

    Attributes
    ----------
    what
        The things, in the words of their format.
    why
        The rule that leaves them out, one sentence.
    count
        How many there were.
    examples
        The first few by name, naturally sorted.
    """

    what: str
    why: str
    count: int
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = first_names(self.examples, self.count)
        return f"{self.count} x {self.what}: {self.why}{names}"


def first_names(examples: Sequence[str], count: int) -> str:
    """Names in brackets behind a sentence, with dots where there are more.

    Examples
    --------
    >>> first_names(("a", "b"), 7)
    ' (a, b, ...)'
    """
    shown = ", ".join(examples)
    dots = ", ..." if count > len(examples) else ""
    return f" ({shown}{dots})" if shown else ""


@dataclass(frozen=True)
class LevelSummary:
    """Shape of one level; ``fanout_*`` count children of the level below.

    ``missing`` counts the leaves that have no domain at this level.
    """

    name: str
    domains: int
    fanout_min: int
    fanout_median: float
    fanout_max: int
    missing: int


@dataclass(frozen=True)
class CompileReport:
    """Counts of one ``Topology.read``; prints as a short text.

    Attributes
    ----------
    files, documents, hosts, leaves
        What came in: files read, documents in them, hosts and leaves compiled.
    left_out
        What was seen and not compiled, by kind.
    levels
        One :class:`LevelSummary` a level above the leaf, nearest first.
    types
        Pairs (GPU type, leaf count).
    notes
        Facts a reader of the picture should know, one sentence each.
    tainted
        Names of leaves that their source marks as unhealthy: by a taint of the GPU, or
        on a host that Kubernetes clears of work (NoExecute). They are compiled; what
        follows is the planner's matter: ``planner.fail(report.tainted)``.
    cordoned
        Names of leaves on hosts that take no new work (a cordon, a NoSchedule taint).
        What runs there stays: ``planner.cordon(report.cordoned)``.
    odd
        Levels with a usual shape, and the domains that differ from it.
    """

    files: int
    documents: int
    hosts: int
    leaves: int
    left_out: tuple[LeftOut, ...]
    levels: tuple[LevelSummary, ...]
    types: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()
    odd: tuple[OddDomains, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict of the same fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"files {self.files}  documents {self.documents}  "
            f"hosts {self.hosts}  leaves {self.leaves}",
            "types  " + ", ".join(f"{name} x {count}" for name, count in self.types),
            f"{'level':<16}{'domains':>9}  fanout min / median / max",
        ]
        for row in reversed(self.levels):
            lines.append(
                f"{row.name:<16}{row.domains:>9}  {row.fanout_min} / "
                f"{row.fanout_median:g} / {row.fanout_max}"
                + (f"  ({row.missing} leaves have none)" if row.missing else "")
            )
        lines += [f"odd  {entry}" for entry in self.odd]
        for word, leaves in (("unhealthy", self.tainted), ("cordoned", self.cordoned)):
            if leaves:
                names = first_names(leaves[:_EXAMPLES], len(leaves))
                lines.append(f"{word}  {len(leaves)} leaves by their source{names}")
        lines += [f"left out  {entry}" for entry in self.left_out]
        lines += [f"note  {note}" for note in self.notes]
        return "\n".join(lines)


def summarise_levels(topology: Forest) -> tuple[LevelSummary, ...]:
    """One summary a level above the leaf, nearest first; O(leaves * levels).

    Examples
    --------
    >>> from phalanx_core.topology import Topology
    >>> host, cluster = summarise_levels(Topology.from_spec("host:3 gpu:8"))
    >>> host.domains, host.fanout_max, cluster.fanout_median
    (3, 8, 3.0)
    """
    tree = build_tree(topology)
    rows = []
    for level in range(1, len(topology.levels)):
        fanout = np.diff(tree.first[level - 1].astype(np.int64))
        fanout = fanout[tree.real[level] >= 0]
        missing = int((topology.domain_of(level) < 0).sum())
        if fanout.size == 0:
            fanout = np.zeros(1, dtype=np.int64)
        rows.append(
            LevelSummary(
                name=topology.levels[level],
                domains=topology.domain_count(level),
                fanout_min=int(fanout.min()),
                fanout_median=float(np.median(fanout)),
                fanout_max=int(fanout.max()),
                missing=missing,
            )
        )
    return tuple(rows)
