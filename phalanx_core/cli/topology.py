"""``phalanx topology``: what the cluster's files compile to."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx_core.cli import exits
from phalanx_core.cli.marks import CORDONED, DOWN, MEANINGS
from phalanx_core.cli.progress import ReadingBar
from phalanx_core.cli.screen import Screen
from phalanx_core.topology import Topology, picture


@dataclass(frozen=True)
class Source:
    """Files of a cluster and how to read them; see ``Topology.read``."""

    paths: tuple[str, ...]
    gpus_per_host: int | None = None
    label_keys: tuple[str, ...] | None = None
    topology: str | None = None
    tolerate: tuple[str, ...] = ()

    def read(self) -> Topology:
        """Compile the files, with a bar on stderr where they are large.

        Raises
        ------
        TopologyError
            If the files do not compile.
        """
        with ReadingBar() as bar:
            return Topology.read(
                self.paths,
                self.gpus_per_host,
                self.label_keys,
                self.topology,
                self.tolerate,
                progress=bar,
            )


def show_topology(source: Source, *, as_json: bool) -> int:
    """Print report and picture of a cluster; an exit code.

    Raises
    ------
    TopologyError
        If the files do not compile.
    """
    topology = source.read()
    screen = Screen(as_json)
    if as_json:
        report = topology.report.to_dict() if topology.report else None
        screen.document({**summary(topology), "report": report})
        return exits.DONE
    screen.text(str(topology.report))
    screen.text("")
    marks = _marks(topology)
    screen.text(picture(topology, marks, width=screen.width))
    for mark in dict.fromkeys(marks.values()):
        screen.text(f"{mark} {MEANINGS[mark]}")
    screen.show()
    return exits.DONE


def _marks(topology: Topology) -> dict[int, str]:
    """Leaf id to the character of its health at its source."""
    report = topology.report
    if report is None:
        return {}
    marks = {topology.leaf(name): CORDONED for name in report.cordoned}
    return {**marks, **{topology.leaf(name): DOWN for name in report.tainted}}


def summary(topology: Topology) -> dict[str, object]:
    """The few facts that name a topology, for JSON."""
    return {
        "topology": topology.describe(),
        "fingerprint": topology.fingerprint.hex(),
        "levels": list(topology.levels),
        "leaves": topology.leaf_count,
        "types": list(topology.type_names),
    }
