"""Topologies as a short text: "pod:64 rail:8 host:32 gpu:8", widest level first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from phalanx_core.errors import TopologyError

if TYPE_CHECKING:
    from phalanx_core.topology.forest import Forest

# The bounds of the core, which counts the leaf's level.
LEAVES_MAX = 1 << 20
LEVELS_MAX = 17
ROOT = "cluster"
_TOKEN = re.compile(r"([A-Za-z][\w.-]*):([0-9]+)")


def parse_spec(text: str) -> list[tuple[str, int]]:
    """Level names and fanouts of a spec, widest first, with a root in front.

    Parameters
    ----------
    text
        Words ``level:fanout``; the last is the leaf's level.

    Returns
    -------
    list of (name, fanout)
        The first is ``("cluster", 1)`` unless the text names ``cluster`` itself.

    Raises
    ------
    TopologyError
        If a word is malformed, a level recurs, a fanout is zero, no level stands
        above the leaf, or there are more than ``LEAVES_MAX`` leaves or
        ``LEVELS_MAX`` levels.

    Examples
    --------
    >>> parse_spec("rack:2 host:18 gpu:4")
    [('cluster', 1), ('rack', 2), ('host', 18), ('gpu', 4)]
    """
    if not isinstance(text, str):
        raise TopologyError(f"spec must be a text, got {type(text).__name__}")
    made: list[tuple[str, int]] = []
    leaf_count = 1
    for word in text.split():
        match = _TOKEN.fullmatch(word)
        if match is None or len(match[2]) > 9:
            raise TopologyError(f"spec {text!r}: {word!r} must be level:fanout")
        fanout = int(match[2])
        if fanout < 1:
            raise TopologyError(f"spec {text!r}: {word!r}: fanout must be at least 1")
        leaf_count *= fanout
        made.append((match[1], fanout))
    if not made:
        raise TopologyError("spec is empty: at least one level:fanout is needed")
    if made[0][0] != ROOT:
        made.insert(0, (ROOT, 1))
    names = [name for name, _ in made]
    for name in names:
        if names.count(name) > 1:
            raise TopologyError(f"spec {text!r}: level {name!r} occurs twice")
    if len(made) < 2:
        raise TopologyError(f"spec {text!r}: a level above the leaf is needed")
    if len(made) > LEVELS_MAX:
        raise TopologyError(
            f"spec {text!r}: {len(made)} levels, {ROOT} and leaf included, are more "
            f"than {LEVELS_MAX}"
        )
    if leaf_count > LEAVES_MAX:
        raise TopologyError(
            f"spec {text!r}: {leaf_count} leaves are more than {LEAVES_MAX}"
        )
    return made


def describe(topology: Forest) -> str:
    """Spec text of a topology; an uneven level is printed as ``min..max``."""
    from phalanx_core.topology.report import summarise_levels

    rows = summarise_levels(topology)
    words = []
    top = len(rows) - 1
    roots = rows[top].domains
    if topology.levels[-1] != ROOT or roots > 1:
        words.append(f"{topology.levels[-1]}:{roots}")
    for level in range(top, -1, -1):
        row = rows[level]
        fewest, most = row.fanout_min, row.fanout_max
        fanout = f"{fewest}" if fewest == most else f"{fewest}..{most}"
        words.append(f"{topology.levels[level]}:{fanout}")
    return " ".join(words)
