"""Placements as the files of those who start the ranks; one module a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.repair import Repair
from phalanx_core.placement.results import Placement, spans
from phalanx_core.placement.writers import (
    document,
    kueue,
    openmpi,
    slurm,
    torchrun,
)
from phalanx_core.placement.writers.layout import Layout, layout_of
from phalanx_core.placement.writers.options import WriteOptions

__all__ = ["FORMATS", "Format", "WriteOptions", "write"]


@dataclass(frozen=True, slots=True)
class Format:
    """One output format.

    Attributes
    ----------
    suffix
        Of a file that holds it.
    write
        Its writer.
    partial
        Whether it can say that ranks of a repair are unresolved.
    """

    suffix: str
    write: Callable[[Layout, WriteOptions], str]
    partial: bool = False


FORMATS: dict[str, Format] = {
    "json": Format(".json", document.write_document, partial=True),
    "kueue-v1beta1": Format(".kueue.json", kueue.write_v1beta1),
    "kueue-v1beta2": Format(".kueue.json", kueue.write_v1beta2),
    "slurm": Format(".srun", slurm.write_slurm),
    "slurm-nodelist": Format(".nodelist", slurm.write_nodelist),
    "slurm-hostfile": Format(".hosts", slurm.write_hostfile),
    "mpi-hostfile": Format(".hostfile", openmpi.write_hostfile),
    "mpi-rankfile": Format(".rankfile", openmpi.write_rankfile),
    "torchrun": Format(".torchrun", torchrun.write_torchrun),
}

_DEFAULTS = WriteOptions()


def write(
    placement: Placement | Repair,
    format: str,
    job: Job | Handle | None = None,
    options: WriteOptions = _DEFAULTS,
) -> str:
    """A placement, or a gang after its repair, as the text of a format.

    Parameters
    ----------
    placement
        From a planner; a repair is written as if applied.
    format
        A key of ``FORMATS``.
    job
        Whom messages and the JSON document name; a repair's own job by default.
    options
        What the format says beside the placement.

    Returns
    -------
    Text that ends in a newline.

    Raises
    ------
    InvalidRequest
        If the placement is none or the format unknown.
    OutputError
        If the format cannot express this placement; names job, format and rule.

    Notes
    -----
    O(ranks), but O(hosts log hosts) to sort and fold host names.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
    >>> print(write(planner.place("a", Gang(6)), "mpi-hostfile"), end="")
    host-0 slots=4
    host-1 slots=2
    """
    _check(placement, format, options)
    layout = layout_of(placement, job, format, options.part)
    chosen = FORMATS[format]
    if isinstance(placement, Repair) and not chosen.partial:
        left = placement.unresolved
        left = left[np.isin(left, layout.ranks)]
        if left.size:
            layout.refuse(
                f"rank{'s' if left.size > 1 else ''} {spans(left)} of the repair "
                f"{'are' if left.size > 1 else 'is'} unresolved: no healthy leaf"
            )
    return chosen.write(layout, options)


def _check(placement: Any, format: Any, options: Any) -> None:
    if not isinstance(placement, (Placement, Repair)):
        raise InvalidRequest(f"placement {placement!r}: a Placement or a Repair")
    if not isinstance(format, str) or format not in FORMATS:
        raise InvalidRequest(f"format {format!r}: one of {', '.join(FORMATS)}")
    if not isinstance(options, WriteOptions):
        raise InvalidRequest(f"options {options!r}: a WriteOptions")
