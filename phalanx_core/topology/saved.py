"""A topology as JSON values, and back: what a save must hold to be read on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from phalanx_core.errors import TopologyError
from phalanx_core.topology.topology import Topology


def to_table(topology: Topology) -> dict[str, Any]:
    """A topology as JSON values for :func:`from_table`, its report left out.

    A label that JSON has no word for becomes its text.

    Examples
    --------
    >>> table = to_table(Topology.from_spec("host:2 gpu:2"))
    >>> table["levels"], table["labels"][0]
    (['gpu', 'host', 'cluster'], ['host-0', 'host-1'])
    """
    levels = topology.levels
    upper = range(1, len(levels))
    nvlink, rails = topology.nvlink_level, topology.nic_rails
    return {
        "levels": list(levels),
        "nvlink": None if nvlink is None else levels[nvlink],
        "bandwidth": {
            level: rate
            for level, rate in zip(levels, topology.bandwidth, strict=True)
            if rate is not None
        },
        "types": list(topology.type_names),
        "type_of": topology.type_of.tolist(),
        "labels": [[_plain(one) for one in topology.labels_of(at)] for at in upper],
        "domain_of": [topology.domain_of(at).tolist() for at in upper],
        "names": None if topology._names is None else list(topology._names),
        "rails": None if rails is None else rails.tolist(),
    }


def from_table(table: dict[str, Any]) -> Topology:
    """The topology of :func:`to_table`'s value; it has the same fingerprint.

    Raises
    ------
    TopologyError
        If the table is not of that form.

    Examples
    --------
    >>> topology = Topology.from_spec("host:2 gpu:2")
    >>> from_table(to_table(topology)) == topology
    True
    """
    try:
        leaf, *levels = table["levels"]
        labels = [
            _of_leaves(known, domains)
            for known, domains in zip(table["labels"], table["domain_of"], strict=True)
        ]
        rails = table["rails"]
        return Topology.from_labels(
            levels,
            labels,
            names=table["names"],
            types=[table["types"][code] for code in table["type_of"]],
            nic_rails=None if rails is None else np.array(rails, np.int64),
            bandwidth=table["bandwidth"],
            nvlink=table["nvlink"],
            leaf=leaf,
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TopologyError(f"table of a topology: {error!r}") from None


def _of_leaves(labels: list[Any], domains: list[int]) -> list[Any]:
    """Label of each leaf; domain -1 is none, and finds the last one."""
    with_none = [*labels, None]
    return [with_none[domain] for domain in domains]


def _plain(label: Any) -> str | int:
    return label if type(label) in (str, int) else str(label)
