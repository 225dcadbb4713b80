"""What the readers found: hosts, their GPUs and domains; compiles to a topology."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from phalanx_core.errors import TopologyError
from phalanx_core.topology.odd_domains import odd_domains
from phalanx_core.topology.readers import products
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.level_lists import LevelList
from phalanx_core.topology.readers.taint_rules import TaintRules
from phalanx_core.topology.report import (
    CompileReport,
    LeftOut,
    first_names,
    summarise_levels,
)
from phalanx_core.topology.topology import Topology

_EXAMPLES = 3
_KINDS_TOLD = 8
_DIGITS = re.compile(r"(\d+)")
# Python refuses to convert longer numbers; their order is that of their start.
_NUMBER_MAX = 4000


def natural(text: str) -> tuple[list[str | int], str]:
    """Sort key in which host2 stands before host10."""
    parts = _DIGITS.split(text)
    return [int(p[:_NUMBER_MAX]) if i % 2 else p for i, p in enumerate(parts)], text


@dataclass(frozen=True)
class Options:
    """What the caller of ``Topology.read`` said beside the files."""

    gpus_per_host: int | None
    label_keys: tuple[str, ...] | None
    topology: str | None = None
    tolerate: tuple[str, ...] = ()


# A text to itself: documents parsed one by one share no strings of their own.
Texts = dict[str, str]


class Reader(Protocol):
    """One foreign format."""

    def claims(self, document: Document) -> bool:
        """Whether a document is of this format, by content alone."""

    def trim(self, document: Document, texts: Texts) -> None:
        """Cut a claimed document down to what reading needs; raises TopologyError.

        ``texts`` maps each text that recurs in many documents to its one copy.
        """
        return

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add what the documents say; raises TopologyError."""


@dataclass(slots=True)
class Gpu:
    """One leaf to be: its name within the host, its type, and whether it is marked.

    ``nic_rail`` is its NIC index where the source tells it, else its index in the host.
    """

    name: str
    type: str
    tainted: bool = False
    nic_rail: int | None = None


@dataclass(slots=True)
class Host:
    """One server; ``domains`` maps a level's name to a label.

    ``cordoned`` and ``down`` are health as the source tells it, of all its GPUs;
    ``marks`` are the source's words for it, and ``source`` the document that names it.
    ``why_empty`` tells why it is left out if no source gives it a GPU.
    """

    name: str
    gpus: list[Gpu] = field(default_factory=list)
    domains: dict[str, str] = field(default_factory=dict)
    cordoned: bool = False
    down: bool = False
    marks: tuple[str, ...] = ()
    source: Document | None = None
    why_empty: str = "it has no GPU"

    @property
    def where(self) -> str:
        """Start of an error message about this host."""
        return self.source.where if self.source else f"host {self.name}"


@dataclass
class Inventory:
    """Collects from all readers; ``levels`` run broadest first, above the host.

    ``finishers`` run when every reader is done: what they decide needs all GPUs.
    ``closers`` run after those: what they decide needs all domains as well.
    ``host_level`` names the level of hosts, ``level_lists`` are the lists of label keys
    that objects in the files give, ``node_labels`` the labels of each Node, ``twins`` two
    copies of one Node that are not alike, ``taint_rules`` the taints that devices of
    ResourceSlices get beside their own.
    """

    options: Options
    hosts: dict[str, Host] = field(default_factory=dict)
    levels: tuple[str, ...] = ()
    levels_source: str = ""
    root: str | None = "cluster"
    host_level: str = "host"
    nvlink: str | None = None
    notes: list[str] = field(default_factory=list)
    node_labels: dict[str, dict[str, str]] = field(default_factory=dict)
    twins: list[tuple[Document, Document]] = field(default_factory=list)
    taint_rules: TaintRules = field(default_factory=TaintRules)
    level_lists: list[LevelList] = field(default_factory=list)
    finishers: list[Callable[[Inventory], None]] = field(default_factory=list)
    closers: list[Callable[[Inventory], None]] = field(default_factory=list)
    _remarks: dict[str, list[str]] = field(default_factory=dict)
    _left_out: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def host(self, name: str) -> Host:
        """The host of a name, made on first mention."""
        found = self.hosts.get(name)
        if found is None:
            found = self.hosts[name] = Host(name)
        return found

    def leave_out(self, what: str, why: str, name: str, count: int = 1) -> None:
        """Count things that are seen and not compiled."""
        key = (what, why)
        self._counts[key] += count
        self._left_out.setdefault(key, []).append(name)

    def remark(self, what: str, name: str) -> None:
        """Note a fact of one thing; things of one fact share a sentence."""
        self._remarks.setdefault(what, []).append(name)

    def close_with(self, closer: Callable[[Inventory], None]) -> None:
        """Run a closer once, whichever readers ask for it."""
        if closer not in self.closers:
            self.closers.append(closer)

    def set_levels(self, levels: Sequence[str], source: str) -> None:
        """Name the levels above the host; only one source may."""
        if self.levels and levels:
            raise TopologyError(
                f"levels come from {self.levels_source} and from {source}: "
                "one source must name the domains"
            )
        if levels:
            self.levels, self.levels_source = tuple(levels), source

    def compile(self, files: Sequence[str], documents: int) -> Topology:
        """Topology of all hosts that have a GPU, naturally sorted, with its report.

        Raises
        ------
        TopologyError
            If there is no GPU at all.
        """
        for finish in (*self.finishers, *self.closers):
            finish(self)
        hosts = [host for host in self.hosts.values() if host.gpus]
        hosts.sort(key=lambda host: natural(host.name))
        for host in self.hosts.values():
            if not host.gpus:
                self.leave_out("host", host.why_empty, host.name)
        if not hosts:
            raise TopologyError(f"{', '.join(files)}: {self._no_gpu()}")
        for host in hosts:
            _check_printable(host)
        topology = self._topology(hosts)
        return replace(
            topology, report=self._report(topology, hosts, len(files), documents)
        )

    def _no_gpu(self) -> str:
        entries = [str(entry) for entry in self._entries()]
        if len(entries) > _KINDS_TOLD:
            rest = len(entries) - _KINDS_TOLD
            entries[_KINDS_TOLD:] = [f"{rest} more kinds of things"]
        for row in self.level_lists:
            entries.append(
                f"{row.full_name} lists label keys of Nodes and holds none: its Nodes "
                "are needed in the same read"
            )
        seen = "; ".join(entries) or "nothing"
        return (
            "a cluster needs at least one GPU (nvidia.com/gpu of a Node, a whole GPU of "
            f"a ResourceSlice, Gres=gpu of Slurm); left out: {seen}"
        )

    def _topology(self, hosts: list[Host]) -> Topology:
        names: list[str] = []
        types: list[str] = []
        rails: list[int] = []
        columns: list[list[Hashable]] = [[] for _ in self.levels]
        host_column: list[Hashable] = []
        for host in hosts:
            count = len(host.gpus)
            names += [f"{host.name}/{gpu.name}" for gpu in host.gpus]
            types += [gpu.type for gpu in host.gpus]
            rails += [
                at if gpu.nic_rail is None else gpu.nic_rail
                for at, gpu in enumerate(host.gpus)
            ]
            host_column += [host.name] * count
            for level, column in zip(self.levels, columns, strict=True):
                column += [host.domains.get(level)] * count
        columns = [host_column, *reversed(columns)]
        levels = [self.host_level, *reversed(self.levels)]
        if self.root is not None and self.root not in levels:
            levels.append(self.root)
            columns.append([self.root] * len(names))
        nvlink, bandwidth = products.nvlink_of(types, self.nvlink, self.host_level)
        reach = {nvlink: bandwidth} if nvlink and bandwidth else None
        return Topology.from_labels(
            levels, columns, names, types, rails, reach, nvlink=nvlink
        )

    def _report(
        self, topology: Topology, hosts: list[Host], files: int, documents: int
    ) -> CompileReport:
        kinds = Counter(topology.types)
        return CompileReport(
            files=files,
            documents=documents,
            hosts=len(hosts),
            leaves=topology.leaf_count,
            left_out=tuple(self._entries()),
            levels=summarise_levels(topology),
            types=tuple((name, kinds[name]) for name in topology.type_names),
            notes=tuple(sorted([*self.notes, *self._remarked()])),
            tainted=tuple(
                f"{host.name}/{gpu.name}"
                for host in hosts
                for gpu in host.gpus
                if gpu.tainted or host.down
            ),
            cordoned=tuple(
                f"{host.name}/{gpu.name}"
                for host in hosts
                if host.cordoned
                for gpu in host.gpus
            ),
            odd=odd_domains(topology),
        )

    def _remarked(self) -> list[str]:
        return [
            f"{len(names)} x {what}{first_names(_first(names), len(names))}"
            for what, names in self._remarks.items()
        ]

    def _entries(self) -> list[LeftOut]:
        return [
            LeftOut(
                what,
                why,
                self._counts[what, why],
                _first(names),
            )
            for (what, why), names in sorted(self._left_out.items())
        ]


def _first(names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=natural)[:_EXAMPLES])


def _check_printable(host: Host) -> None:
    """Refuse names that would steer a terminal."""
    words = [host.name, *host.domains, *host.domains.values()]
    for gpu in host.gpus:
        words += (gpu.name, gpu.type)
    if not "".join(words).isprintable():
        wrong = next(word for word in words if not word.isprintable())
        raise TopologyError(f"host {host.name!r}: name {wrong!r} must be printable")
