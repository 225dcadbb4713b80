"""Lines of key=value as Slurm's configurations are made of, with what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Inventory, natural

_PAIR = re.compile(r'([A-Za-z]\w*)\s*=\s*("[^"]*"|[^\s"]+)')
# Level, BlockIndex, BlockSize and AggregatedBlock are words of scontrol show topology.
TOPOLOGY_KEYS = {
    "switchname": ("nodes", "switches", "linkspeed", "level"),
    "blockname": ("nodes", "blockindex", "blocksize"),
    "aggregatedblock": ("nodes", "blockindex", "blocksize"),
    "blocksizes": (),
    "ringname": ("nodes",),
}


class Text(NamedTuple):
    """A logical line: its place, its text, and the comment line right above it."""

    where: str
    text: str
    comment: str


@dataclass(frozen=True)
class Line:
    """One entry of a topology: pairs with lower-case keys, and where it stands.

    ``alias`` is the name its source gives beside the entry's own, "" where it gives none.
    """

    file: str
    where: str
    head: str
    pairs: dict[str, str]
    alias: str = ""

    @property
    def name(self) -> str:
        """Name of the switch or block."""
        return self.pairs[self.head]


def logical_lines(document: Document) -> Iterator[Text]:
    """Logical lines without comments, continuations joined, with their number."""
    held = ""
    first = 0
    comment = ""
    for number, raw in enumerate(document.body.splitlines(), start=1):
        text = raw.split("#", 1)[0].rstrip()
        first = first if held else number
        if text.endswith("\\"):
            held += text[:-1] + " "
            continue
        whole = " ".join((held + text).split())
        held = ""
        if not whole.isprintable():
            rule = "the line has a character that cannot be printed"
            raise TopologyError(f"{document.file}: line {first}: {rule}")
        if whole:
            yield Text(f"{document.file}: line {first}", whole, comment)
        comment = "" if whole else raw.strip().lstrip("#").strip()
    if held.strip():
        yield Text(f"{document.file}: line {first}", " ".join(held.split()), comment)


def pairs_of(where: str, text: str) -> dict[str, str]:
    """Pairs of one line, keys in lower case.

    Raises
    ------
    TopologyError
        If a word is not key=value or a key occurs twice.

    Examples
    --------
    >>> pairs_of("slurm.conf: line 1", 'NodeName=n1 Reason="no fan"')
    {'nodename': 'n1', 'reason': 'no fan'}
    """
    rest = _PAIR.sub("", text).strip()
    if rest:
        raise TopologyError(f"{where}: {rest!r:.200} is not key=value")
    pairs: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        if key.lower() in pairs:
            raise TopologyError(f"{where}: {key} occurs twice")
        pairs[key.lower()] = value.strip('"')
    return pairs


def topology_line(file: str, line: Text) -> Line:
    """One line of ``topology.conf``; a comment ``# name=alias`` above it names it too.

    Raises
    ------
    TopologyError
        If the line begins with another key or has a key of another kind of line.
    """
    where, text, comment = line
    pairs = pairs_of(where, text)
    head = next(iter(pairs))
    if head not in TOPOLOGY_KEYS:
        known = "SwitchName, BlockName, BlockSizes, RingName"
        raise TopologyError(
            f"{where}: {head!r:.60}: a line must begin with one of {known}"
        )
    place = f"{where} {text.split()[0]:.100}"
    for key in pairs:
        if key != head and key not in TOPOLOGY_KEYS[head]:
            raise TopologyError(f"{place}: {key!r:.60} is no key of such a line")
    name, _, alias = comment.partition("=")
    known_as = alias.strip() if name.strip() == pairs[head] else ""
    return Line(file, place, head, pairs, known_as)


def configured(lines: Sequence[Line]) -> list[Line]:
    """Lines of ``scontrol show topology`` as a topology.conf would say them.

    It lists all hosts below a switch, and each joined block with its size.

    Examples
    --------
    >>> pairs = {"switchname": "s", "level": "1", "nodes": "n[1-8]", "switches": "a,b"}
    >>> configured([Line("f", "f: line 1", "switchname", pairs)])[0].pairs
    {'switchname': 's', 'level': '1', 'switches': 'a,b'}
    """
    made: list[Line] = []
    sizes: dict[str, Line] = {}
    for line in lines:
        if "blocksize" in line.pairs:
            sizes.setdefault(line.pairs["blocksize"], line)
        if line.head == "aggregatedblock":
            continue
        pairs = dict(line.pairs)
        if "level" in pairs and "switches" in pairs:
            pairs.pop("nodes", None)
        made.append(replace(line, pairs=pairs))
    if sizes:
        first = next(iter(sizes.values()))
        joined = ",".join(sorted(sizes, key=natural))
        made.append(replace(first, head="blocksizes", pairs={"blocksizes": joined}))
    return made


def shown_names(lines: Sequence[Line], inventory: Inventory) -> dict[str, str]:
    """Name each switch or block is shown by: its alias, if no two would be one.

    Examples
    --------
    >>> from phalanx_core.topology.readers.inventory import Options
    >>> rows = [Line("f", "f: line 1", "blockname", {"blockname": "b1"}, "rack-7")]
    >>> shown_names(rows, Inventory(Options(None, None)))
    {'b1': 'rack-7'}
    """
    shown = {line.name: line.alias or line.name for line in lines}
    if len(set(shown.values())) < len(shown):
        inventory.notes.append(
            f"{lines[0].file}: names in comments are not unique: "
            "the file's own names are used"
        )
        return {name: name for name in shown}
    return shown
