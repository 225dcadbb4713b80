"""A topology drawn as text: a line a domain, a row of marks a host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology.forest import Forest
from phalanx_core.topology.tree import DomainTree, build_tree

HOSTS_DRAWN_MAX = 128
_ALIKE_MIN = 3


def picture(
    topology: Forest,
    marks: Mapping[int, str] | None = None,
    width: int = 88,
    collapse: bool | None = None,
) -> str:
    """Draw the tree; every leaf is one character of its host's row.

    Parameters
    ----------
    topology
        Any forest.
    marks
        Leaf id to one character (a job's letter, "x" down, "s" spare, "q"
        quarantine); a leaf without a mark is drawn ".".
    width
        Characters a line may have, at least 20; a longer single name still shows.
    collapse
        Draw a run of alike siblings as its first with a count. By default only where
        more than ``HOSTS_DRAWN_MAX`` of the lowest domains exist.

    Returns
    -------
    str
        Lines joined by newlines.

    Raises
    ------
    InvalidRequest
        If a mark is not one character, a leaf does not exist, or width is too small.

    Notes
    -----
    O(leaves * levels).

    Examples
    --------
    >>> from phalanx_core.topology import Topology
    >>> print(picture(Topology.from_spec("rack:2 host:2 gpu:4"), {0: "A", 1: "A"}))
    cluster
    ├─ rack-0
    │  host-0[AA..] host-1[....]
    └─ rack-1
       host-2[....] host-3[....]
    """
    if width < 20:
        raise InvalidRequest(f"width must be at least 20, got {width}")
    tree = build_tree(topology)
    drawn = _characters(topology, tree, marks or {})
    if collapse is None:
        collapse = len(tree.first[0]) - 1 > HOSTS_DRAWN_MAX
    canvas = _Canvas(topology, tree, drawn, _alike(tree, drawn), width, collapse)
    roots = range(len(tree.real[-1]))
    return "\n".join(canvas.draw(tree.depth, roots, "", root=True))


def _characters(topology: Forest, tree: DomainTree, marks: Mapping[int, str]) -> str:
    row = ["."] * topology.leaf_count
    for leaf, mark in marks.items():
        if len(mark) != 1 or not mark.isprintable():
            raise InvalidRequest(f"mark {mark!r} of leaf {leaf}: must be one character")
        if not 0 <= leaf < topology.leaf_count:
            raise InvalidRequest(f"mark {mark!r}: leaf {leaf} does not exist")
        row[leaf] = mark
    return "".join([row[leaf] for leaf in tree.leaf_at.tolist()])


def _alike(tree: DomainTree, drawn: str) -> list[list[int]]:
    """A number for each vertex of each level; equal numbers are drawn the same."""
    seen: dict[object, int] = {}
    below: list[int] = []
    made: list[list[int]] = [below]
    for level in range(1, tree.depth + 1):
        edges = tree.first[level - 1].tolist()
        real = (tree.real[level] >= 0).tolist()
        kinds = []
        for vertex in range(len(edges) - 1):
            low, high = edges[vertex], edges[vertex + 1]
            inside = drawn[low:high] if level == 1 else tuple(below[low:high])
            kinds.append(seen.setdefault((level, real[vertex], inside), len(seen)))
        made.append(kinds)
        below = kinds
    return made


@dataclass(frozen=True)
class _Canvas:
    topology: Forest
    tree: DomainTree
    drawn: str
    alike: list[list[int]]
    width: int
    collapse: bool

    def draw(
        self, level: int, vertices: range, indent: str, root: bool = False
    ) -> Iterator[str]:
        """Lines of sibling vertices of one level."""
        if level == 1:
            yield from self._host_rows(vertices, indent or ("" if root else "  "))
            return
        runs = list(self._runs(level, vertices))
        for row, (vertex, count) in enumerate(runs):
            last = row == len(runs) - 1
            label, low, inside = self._chain(level, vertex)
            if not label:
                yield from self.draw(low - 1, inside, indent, root)
                continue
            if count > 1:
                end = self._label(level, vertex + count - 1)
                label += f" .. {end}: {count} alike"
            branch = "" if root else ("└─ " if last else "├─ ")
            yield f"{indent}{branch}{label}"[: max(self.width, len(indent) + 20)]
            deeper = "" if root else ("   " if last else "│  ")
            yield from self.draw(low - 1, inside, indent + deeper)

    def _chain(self, level: int, vertex: int) -> tuple[str, int, range]:
        """Label of a vertex joined with its only children's, and what is below."""
        labels = [self._label(level, vertex)]
        inside = self._children(level, vertex)
        while level > 2 and len(inside) == 1:
            level -= 1
            labels.append(self._label(level, inside[0]))
            inside = self._children(level, inside[0])
        return " / ".join(label for label in labels if label), level, inside

    def _host_rows(self, vertices: range, indent: str) -> Iterator[str]:
        line = ""
        for vertex, count in self._runs(1, vertices):
            edges = self.tree.first[0]
            marks = self.drawn[int(edges[vertex]) : int(edges[vertex + 1])]
            label = self._label(1, vertex) or f"(no {self.topology.levels[1]})"
            if count > 1:
                end = self._label(1, vertex + count - 1) or "(none)"
                label += f" .. {end}: {count} x "
            for word in _folded(f"{label}[{marks}]", self.width - len(indent)):
                if line and len(indent) + len(line) + 1 + len(word) > self.width:
                    yield indent + line
                    line = ""
                line += (" " if line else "") + word
        if line:
            yield indent + line

    def _runs(self, level: int, vertices: range) -> Iterator[tuple[int, int]]:
        """First vertex and length of each run that is drawn as one."""
        kinds: NDArray[np.int64] = np.array(
            self.alike[level][vertices.start : vertices.stop], dtype=np.int64
        )
        starts = [0, *(np.flatnonzero(kinds[1:] != kinds[:-1]) + 1).tolist()]
        for low, high in zip(starts, [*starts[1:], len(kinds)], strict=True):
            if self.collapse and high - low >= _ALIKE_MIN:
                yield vertices.start + low, high - low
            else:
                for vertex in range(low, high):
                    yield vertices.start + vertex, 1

    def _children(self, level: int, vertex: int) -> range:
        edges = self.tree.first[level - 1]
        return range(int(edges[vertex]), int(edges[vertex + 1]))

    def _label(self, level: int, vertex: int) -> str:
        domain = int(self.tree.real[level][vertex])
        return "" if domain < 0 else str(self.topology.labels_of(level)[domain])


def _folded(word: str, room: int) -> list[str]:
    room = max(room, 16)
    return [word[i : i + room] for i in range(0, len(word), room)]
