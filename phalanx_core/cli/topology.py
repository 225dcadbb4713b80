"""``phalanx topology``: what the cluster's files compile to."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx_core.cli import exits
from phalanx_core.cli.screen import Screen
from phalanx_core.topology import Topology, picture


def show_topology(
    files: Sequence[str],
    gpus_per_host: int | None,
    label_keys: Sequence[str] | None,
    as_json: bool,
) -> int:
    """Print report and picture of a cluster; an exit code.

    Raises
    ------
    TopologyError
        If the files do not compile.
    """
    topology = Topology.read(files, gpus_per_host, label_keys)
    screen = Screen(as_json)
    if as_json:
        report = topology.report.to_dict() if topology.report else None
        screen.document({**summary(topology), "report": report})
        return exits.DONE
    screen.text(str(topology.report))
    screen.text("")
    screen.text(picture(topology, width=screen.width))
    screen.show()
    return exits.DONE


def summary(topology: Topology) -> dict[str, object]:
    """The few facts that name a topology, for JSON."""
    return {
        "topology": topology.describe(),
        "fingerprint": topology.fingerprint.hex(),
        "levels": list(topology.levels),
        "leaves": topology.leaf_count,
        "types": list(topology.type_names),
    }
