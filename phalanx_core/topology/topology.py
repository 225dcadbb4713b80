"""``Topology``: an immutable forest of domains over leaves (GPUs)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.topology import checks
from phalanx_core.topology.forest import Forest
from phalanx_core.topology.grouping import group_labels
from phalanx_core.topology.spec import describe, parse_spec


@dataclass(frozen=True, eq=False, repr=False)
class Topology(Forest):
    """What a cluster looks like: levels of domains over leaves, leaf ids from 0.

    Make one by :meth:`from_labels`, :meth:`from_spec` or :meth:`read`. Levels are given
    by name or index everywhere; level 0 is the leaf. Ids of a level's domains are dense
    from 0 in *address order*, the depth-first order with siblings as they first appear.

    Examples
    --------
    >>> topology = Topology.from_spec("pod:2 rail:2 host:4 gpu:8")
    >>> topology.leaf_count, topology.distance(0, 9), topology.leaves("host", 1)[:2]
    (128, 2, array([8, 9], dtype=int32))
    """

    @classmethod
    def from_labels(
        cls,
        levels: Sequence[str],
        labels: Sequence[Sequence[Hashable]] | Mapping[str, Sequence[Hashable]],
        names: Sequence[str] | None = None,
        types: Sequence[str] | str | None = None,
        nic_rails: ArrayLike | None = None,
        bandwidth: Mapping[str, float] | None = None,
        *,
        nvlink: str | None = None,
        leaf: str = "gpu",
    ) -> Topology:
        """Compile a cluster from one label a leaf and level.

        Parameters
        ----------
        levels
            Level names from the leaf upward, without the leaf.
        labels
            ``labels[k]``, or ``labels[name]``, holds one hashable a leaf: its domain at
            that level, scoped by all levels above, so labels may recur; None = none.
        names
            Distinct leaf names; by default made from the lowest domain's name.
        types
            GPU type of each leaf, or one for all; by default the leaf level's name.
        nic_rails
            NIC index of each leaf, integers from 0; orders the leaves inside the lowest
            domains, so that equal places in two hosts are on equal rails.
        bandwidth
            Level name to bytes/s a GPU.
        nvlink
            Name of the level that NVLink spans; by default a level called "nvlink".
        leaf
            Name of level 0.

        Raises
        ------
        TopologyError
            If the cluster is empty, a count differs, or a value breaks its rule.

        Notes
        -----
        O(leaves * levels) time, O(leaves + domains) memory.

        Examples
        --------
        >>> Topology.from_labels(["host", "rack"], [["a", "a", "a"], ["r", "r", "s"]])
        Topology('rack:2 host:1 gpu:1..2')
        """
        names_all = checks.checked_levels(levels, leaf)
        rows = checks.checked_labels(names_all[1:], labels)
        leaf_count = len(rows[0])
        rails = checks.checked_rails(nic_rails, leaf_count)
        grouping = group_labels(names_all[1:], rows, leaf_count, rails)
        type_names, type_of = checks.checked_types(types, leaf, leaf_count)
        bandwidths = checks.checked_bandwidth(bandwidth, names_all)
        if nvlink is None and "nvlink" in names_all[1:]:
            nvlink = "nvlink"
        return cls(
            levels=names_all,
            address_order=grouping.order,
            type_names=type_names,
            type_of=type_of,
            bandwidth=bandwidths,
            nic_rails=rails,
            nvlink_level=checks.checked_nvlink(nvlink, names_all),
            _domains=grouping.domains,
            _labels=grouping.labels,
            _names=checks.checked_names(names, leaf_count),
        )

    @classmethod
    def from_spec(cls, text: str) -> Topology:
        """Uniform cluster from "pod:64 rail:8 host:32 gpu:8", widest level first.

        Domains are named by level and id ("rail-511"); a ``cluster`` root is added.

        Raises
        ------
        TopologyError
            If a word is malformed, a level recurs or there are too many leaves.

        Examples
        --------
        >>> Topology.from_spec("rack:2 host:18 gpu:4").levels
        ('gpu', 'host', 'rack', 'cluster')
        """
        spec = parse_spec(text)
        leaf_count = int(np.prod([fanout for _, fanout in spec], dtype=np.int64))
        domains = []
        labels: list[tuple[Hashable, ...]] = []
        count = 1
        for name, fanout in spec[:-1]:
            count *= fanout
            ids = np.arange(count, dtype=np.int32)
            domains.append(np.repeat(ids, leaf_count // count))
            one = name == "cluster" and count == 1
            labels.append(
                (name,) if one else tuple(f"{name}-{i}" for i in range(count))
            )
        levels = tuple(name for name, _ in reversed(spec))
        return cls(
            levels=levels,
            address_order=np.arange(leaf_count, dtype=np.int32),
            type_names=(levels[0],),
            type_of=np.zeros(leaf_count, dtype=np.int32),
            bandwidth=(None,) * len(levels),
            nvlink_level=levels.index("nvlink") if "nvlink" in levels[1:] else None,
            _domains=tuple(reversed(domains)),
            _labels=tuple(reversed(labels)),
        )

    @classmethod
    def read(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        gpus_per_host: int | None = None,
        label_keys: Sequence[str] | None = None,
        topology: str | None = None,
        tolerate: Sequence[str] = (),
        *,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Topology:
        """Compile a cluster from its files, whatever their order.

        Parameters
        ----------
        paths
            Files or directories; "-" is standard input. Objects of Kubernetes, DRA,
            Kueue, KAI and Volcano, files of Slurm, topograph and HiveD, and tables
            with a row a GPU are told apart by content and joined by host name.
        gpus_per_host
            GPUs of each host that a topology names and no source of GPUs speaks of.
        label_keys
            Host label keys that name the domains, broadest first; by default the keys
            of the one Topology object (Kueue, KAI), else the known keys present.
        topology
            Which Topology object names the levels, where the files hold several: its
            name, with the API group before it where that is not enough.
        tolerate
            Keys of taints, of Nodes and of GPUs, that say nothing of health, beside
            ``nvidia.com/gpu`` of Nodes.
        progress
            Called about every megabyte with the bytes read and the bytes of all files,
            None where one is a pipe; a last time, with two equal numbers, when all are
            read and the compiling starts.

        Raises
        ------
        TopologyError
            Naming file, object, field and rule.
        InvalidRequest
            If an option is of another type or size, or two exclude each other.
        """
        from phalanx_core.topology.readers import read_topology

        return read_topology(
            paths, gpus_per_host, label_keys, topology, tolerate, progress
        )

    def describe(self) -> str:
        """Spec text; a uniform topology's reads back by :meth:`from_spec`.

        Examples
        --------
        >>> Topology.from_spec("pod:2 host:4 gpu:8").describe()
        'pod:2 host:4 gpu:8'
        """
        return describe(self)

    def __str__(self) -> str:
        counts = [
            f"{self.domain_count(level)} {self.levels[level]}"
            for level in range(len(self.levels) - 1, -1, -1)
        ]
        return f"{self.describe()} ({', '.join(counts)}; {', '.join(self.type_names)})"

    def __repr__(self) -> str:
        return f"Topology({self.describe()!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> bytes:
        """16 bytes of BLAKE2b over levels, domains, labels, names, types and rails."""
        digest = hashlib.blake2b(digest_size=16)
        texts = ["\0".join(self.levels), "\0".join(self.type_names)]
        texts += ["\0".join(map(str, labels)) for labels in self._labels]
        texts += [repr(self.bandwidth), repr(self.nvlink_level)]
        texts.append("\0".join(self._names or ()))
        for text in texts:
            raw = text.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "little") + raw)
        rails = () if self.nic_rails is None else (self.nic_rails,)
        for array in (self.address_order, self.type_of, *self._domains, *rails):
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.digest()
