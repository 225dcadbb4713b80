"""``host=NAME`` on the command line: which leaves an event is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phalanx_core.cli.near import did_you_mean
from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology


@dataclass(frozen=True)
class Target:
    """What one option names.

    Attributes
    ----------
    text
        The option's value as given.
    leaves
        Leaf ids, ascending, each once.
    """

    text: str
    leaves: tuple[int, ...]


def find_target(topology: Topology, option: str, text: str) -> Target:
    """Leaves of "host=a,b", "gpu=host/gpu-3" or any LEVEL=NAME of the topology.

    Parameters
    ----------
    topology
        Where the names live.
    option
        Name of the option, for messages.
    text
        LEVEL=NAME[,NAME...]; all that one option names happens at once.

    Raises
    ------
    InvalidRequest
        If the form is wrong, or the level or a name does not exist.

    Examples
    --------
    >>> topology = Topology.from_spec("host:4 gpu:2")
    >>> find_target(topology, "--fail", "host=host-1,host-3").leaves
    (2, 3, 6, 7)
    """
    level, equals, names = text.partition("=")
    if not equals or not level or not all(names.split(",")):
        raise InvalidRequest(
            f"{option} {text!r}: must be LEVEL=NAME, such as host=NAME or gpu=NAME"
        )
    index = _level(topology, option, level)
    found: set[int] = set()
    for name in names.split(","):
        domain = find_domain(topology, option, index, name)
        found.update(topology.leaves(index, domain).tolist())
    return Target(text, tuple(sorted(found)))


def find_targets(
    topology: Topology, option: str, texts: Sequence[str]
) -> tuple[Target, ...]:
    """One target a text, in order."""
    return tuple(find_target(topology, option, text) for text in texts)


def find_level(topology: Topology, where: str, level: str) -> int:
    """Index of a level; the message of a wrong one suggests near names."""
    if level not in topology.levels:
        known = ", ".join(topology.levels)
        near = did_you_mean(level, topology.levels)
        raise InvalidRequest(
            f"{where}: level {level!r} does not exist; levels are {known}{near}"
        )
    return topology.level_index(level)


def find_domain(topology: Topology, where: str, level: int, name: str) -> int:
    """Id of a domain; the message of a wrong name suggests near ones."""
    try:
        return topology.domain_index(level, name)
    except InvalidRequest as error:
        near = did_you_mean(name, topology.domain_names(level))
        raise InvalidRequest(f"{where}: {error}{near}") from None


def _level(topology: Topology, option: str, level: str) -> int:
    if level == "gpu" and "gpu" not in topology.levels:
        return 0
    return find_level(topology, option, level)
