"""``Layout``: a placement as formats need it, ranks by domain, and what they refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from phalanx_core.errors import OutputError
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.repair import Repair
from phalanx_core.placement.results import Placement, spans
from phalanx_core.topology import Topology

# What DNS, Slurm, Open MPI and a shell all take as a name and nothing else.
HOST_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
HOST_NAME_MAX = 253
# "gpu-3", "host/gpu3", "3"; no tail of a UUID, whose groups are longer.
GPU_NUMBER = re.compile(r"(?:.*[/_-])?[A-Za-z]{0,8}(0|[1-9][0-9]?)", re.DOTALL)
GPUS_MAX = 64  # CUDA counts no more in one host


@dataclass(frozen=True, slots=True)
class Share:
    """The ranks of a job in one domain.

    Attributes
    ----------
    domain
        Domain id.
    ranks, leaves
        Ranks ascending, and the leaf id of each.
    """

    domain: int
    ranks: tuple[int, ...]
    leaves: tuple[int, ...]

    @property
    def consecutive(self) -> bool:
        """Whether no rank between the first and the last is elsewhere."""
        return self.ranks[-1] - self.ranks[0] + 1 == len(self.ranks)


@dataclass(frozen=True)
class Layout:
    """A placement on its way into a format.

    Attributes
    ----------
    placement
        Placement or repair.
    job
        Its key, or None where nobody named it.
    format
        Name of the format, for refusals.
    part
        The part of the gang that is written, None for all of it.
    """

    placement: Placement | Repair
    job: Job | Handle | None
    format: str
    part: int | None = None

    @property
    def topology(self) -> Topology:
        """The cluster it is on."""
        return self.placement._frame.topology

    @cached_property
    def ranks(self) -> range:
        """Ranks of the gang that are written; the first of them is rank 0 there."""
        parts = self.placement.gang.part_ranks
        if self.part is None:
            return range(self.placement.gang.ranks)
        if not self.placement.gang.parts or self.part >= len(parts):
            have = len(self.placement.gang.parts) or "no"
            self.refuse(f"part {self.part}: the gang has {have} parts, counted from 0")
        return parts[self.part]

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Leaf id of each rank that is written."""
        leaves = self.placement.leaves.tolist()
        return tuple(leaves[self.ranks.start : self.ranks.stop])

    @property
    def host_level(self) -> int:
        """The level called "host", else the one above the leaf."""
        levels = self.topology.levels
        return levels.index("host") if "host" in levels else 1

    def refuse(self, rule: str) -> NoReturn:
        """Raise the one error of all formats.

        Raises
        ------
        OutputError
            Naming job, format and rule.
        """
        ranks = self.placement.gang.ranks
        whom = f"a gang of {ranks} ranks" if self.job is None else f"job {self.job!r}"
        raise OutputError(f"{whom}: format {self.format!r}: {rule}")

    def shares(self, level: int) -> tuple[Share, ...]:
        """Ranks by domain of a level, in the order in which ranks meet the domains."""
        ranks: dict[int, list[int]] = {}
        domains = self.topology.domain_of(level)[list(self.leaves)].tolist()
        for rank, domain in enumerate(domains):
            if domain < 0:
                leaf = self.topology.names[self.leaves[rank]]
                self.refuse(
                    f"leaf {leaf!r} of rank {rank} has no {self.topology.levels[level]}"
                )
            ranks.setdefault(domain, []).append(rank)
        return tuple(
            Share(domain, tuple(held), tuple(self.leaves[rank] for rank in held))
            for domain, held in ranks.items()
        )

    @cached_property
    def hosts(self) -> tuple[Share, ...]:
        """Ranks by host."""
        return self.shares(self.host_level)

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """Name of each of ``hosts``, checked."""
        names = self.topology.domain_names(self.host_level)
        return tuple(self._checked(names[share.domain]) for share in self.hosts)

    def _checked(self, name: str) -> str:
        if len(name) > HOST_NAME_MAX or not HOST_NAME.fullmatch(name):
            self.refuse(
                f"host {name!r}: a name has letters, digits, '-', '_' and '.', begins "
                f"and ends with a letter or digit, and has at most {HOST_NAME_MAX} signs"
            )
        return name

    def require_blocks(self, shares: Sequence[Share], level: int, why: str) -> None:
        """Refuse where a domain's ranks do not follow one another."""
        for share in shares:
            if not share.consecutive:
                where = self.topology.domain_name(level, share.domain)
                ranks = spans(np.array(share.ranks))
                self.refuse(
                    f"{self.topology.levels[level]} {where!r} has ranks {ranks}; {why}"
                )

    @cached_property
    def gpus(self) -> tuple[int, ...]:
        """Index of each rank's GPU within its host, from the numbers in leaf names."""
        numbers: dict[int, int] = {}
        names = self.topology.names
        for share, host in zip(self.hosts, self.host_names, strict=True):
            held = self.topology.leaves(self.host_level, share.domain).tolist()
            found = [GPU_NUMBER.fullmatch(names[leaf]) for leaf in held]
            for leaf, match in zip(held, found, strict=True):
                if match is None or int(match[1]) >= GPUS_MAX:
                    self.refuse(
                        f"leaf {names[leaf]!r} of host {host!r}: its name must end in "
                        f"the GPU's index, 0 to {GPUS_MAX - 1}, such as 'gpu-3'"
                    )
            row = [int(match[1]) for match in found if match is not None]
            if len(set(row)) != len(row):
                again = next(number for number in row if row.count(number) > 1)
                self.refuse(f"host {host!r} has two leaves of GPU index {again}")
            numbers.update(zip(held, row, strict=True))
        return tuple(numbers[leaf] for leaf in self.leaves)


def layout_of(
    placement: Placement | Repair,
    job: Job | Handle | None,
    format: str,
    part: int | None = None,
) -> Layout:
    """The layout of a placement; a repair knows its job."""
    if job is None and isinstance(placement, Repair):
        job = placement.job
    return Layout(placement, job, format, part)
