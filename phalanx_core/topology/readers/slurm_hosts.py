"""Slurm's hosts: GPUs of ``Gres=`` and states, from slurm.conf and from scontrol."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Gpu, Inventory
from phalanx_core.topology.readers.slurm_lines import Text, pairs_of

_COUNT = re.compile(r"[0-9]{1,4}")
_NO_COUNT = "no_consume"
_RECORD = re.compile(r"^(?=NodeName=)", re.MULTILINE)
_SHOWN = re.compile(r"^(?:SwitchName|BlockName|AggregatedBlock)=", re.MULTILINE)
_FIELD = re.compile(r"(?:^|\s)(NodeName|Gres|State)=(\S+)")
_FLAGS = re.compile(r"[^A-Z_]+")
_DOWN = frozenset(
    ("DOWN", "ERROR", "FAIL", "FAILING", "INVAL", "INVALID_REG", "NOT_RESPONDING")
)
_CORDONED = frozenset(("DRAIN", "DRAINED", "DRAINING", "MAINT", "MAINTENANCE"))
_PLAIN = frozenset(("CLOUD", "FUTURE", "IDLE", "UNKNOWN"))
FUTURE = "FUTURE"


@dataclass
class SlurmHosts:
    """What is said of hosts: GPUs and state words, in upper case."""

    gpus: dict[str, list[Gpu]] = field(default_factory=dict)
    states: dict[str, set[str]] = field(default_factory=dict)

    def mark(self, inventory: Inventory) -> None:
        """Carry states to the hosts; a host that is still to come is left out."""
        for name, words in self.states.items():
            if FUTURE in words:
                why = "its state FUTURE says that it is not there yet"
                inventory.leave_out("host", why, name)
                inventory.hosts.pop(name, None)
                continue
            host = inventory.host(name)
            host.down = host.down or not _DOWN.isdisjoint(words)
            host.cordoned = host.cordoned or not _CORDONED.isdisjoint(words)
            host.marks += tuple(sorted(words & (_DOWN | _CORDONED)))


def is_scontrol(document: Document) -> bool:
    """Whether a document is the output of ``scontrol show nodes``, as text or JSON."""
    body = document.body
    if document.is_conf:
        return body.lstrip().startswith("NodeName=") and "CPUTot=" in body
    rows = body.get("nodes") if isinstance(body, dict) else None
    first = rows[0] if isinstance(rows, list) and rows else None
    return isinstance(first, dict) and "name" in first and "state" in first


def shown_apart(document: Document) -> list[Document]:
    """Topology and hosts that scontrol showed in one stream, each by its own lines.

    Lines of the other are left blank, so errors name the lines of the stream.
    """
    body = document.body
    if not document.is_conf or "CPUTot=" not in body or not _SHOWN.search(body):
        return [document]
    parts: tuple[list[str], list[str]] = ([], [])
    in_hosts = False
    for line in body.splitlines():
        # A host's record may go on over several lines.
        in_hosts = not _SHOWN.match(line) and (in_hosts or line.startswith("NodeName="))
        parts[in_hosts].append(line)
        parts[not in_hosts].append("")
    return [
        Document(document.file, document.number, "\n".join(part), is_conf=True)
        for part in parts
        if any(part)
    ]


def read_scontrol(document: Document, hosts: SlurmHosts) -> None:
    """Add states, and the GPUs of hosts of which no slurm.conf line speaks.

    Raises
    ------
    TopologyError
        If a record has no name, or a field is of another type.
    """
    records = _text_records if document.is_conf else _json_records
    seen: set[str] = set()
    for where, name, gres, state in records(document):
        if name in seen:
            raise TopologyError(f"{where}: host {name} occurs twice")
        seen.add(name)
        found = [] if gres == "(null)" else _gres(f"{where}: Gres", gres)
        hosts.gpus.setdefault(name, found)
        hosts.states[name] = _words(state)


def _text_records(document: Document) -> Iterator[tuple[str, str, str, str]]:
    """Name, Gres and State of each record; other fields hold spaces and are skipped."""
    line = 1
    for record in _RECORD.split(document.body):
        where = f"{document.file}: line {line}"
        line += record.count("\n")
        if not record.strip():
            continue
        found: dict[str, str] = {}
        for key, value in _FIELD.findall(record):
            found.setdefault(key, value)
        if not "".join(found.values()).isprintable():
            raise TopologyError(f"{where}: a character cannot be printed")
        if "NodeName" not in found or "State" not in found:
            raise TopologyError(f"{where}: a record needs NodeName= and State=")
        yield where, found["NodeName"], found.get("Gres", ""), found["State"]


def _json_records(document: Document) -> Iterator[tuple[str, str, str, str]]:
    for index, row in enumerate(document.body["nodes"]):
        where = f"{document.file}: nodes[{index}]"
        if not isinstance(row, dict):
            raise TopologyError(f"{where}: must be a mapping")
        name = row.get("name")
        if not isinstance(name, str) or not name or not name.isprintable():
            rule = f"must be a printable text, got {name!a:.60}"
            raise TopologyError(f"{where}: name: {rule}")
        gres = row.get("gres", "")
        if not isinstance(gres, str):
            raise TopologyError(
                f"{where} {name}: gres: must be a text, got {gres!r:.60}"
            )
        words = [*_list(row.get("state")), *_list(row.get("state_flags", []))]
        if not words or not all(isinstance(word, str) for word in words):
            rule = f"must be a text or a list of texts, got {row.get('state')!r:.60}"
            raise TopologyError(f"{where} {name}: state: {rule}")
        yield where, name, gres, "+".join(words)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _words(state: str) -> set[str]:
    """State words of a text such as ``DOWN*+DRAIN``; the star is for no response."""
    words = {_FLAGS.sub("", word) for word in state.upper().split("+")}
    return words | {"NOT_RESPONDING"} if "*" in state else words


def read_host_lines(keyed: Iterable[tuple[str, Text]], hosts: SlurmHosts) -> None:
    """Take the NodeName and DownNodes lines of one slurm.conf, in their order."""
    default: dict[str, str] = {}
    for key, line in keyed:
        if key == "nodename":
            default = _host_line(line, default, hosts)
        elif key == "downnodes":
            pairs = pairs_of(line.where, line.text)
            state = _conf_state(line.where, pairs.get("state", "DOWN"))
            for host in expand(pairs["downnodes"], f"{line.where}: DownNodes"):
                hosts.states.setdefault(host, set()).update(state)


def _host_line(
    line: Text, default: dict[str, str], hosts: SlurmHosts
) -> dict[str, str]:
    """Take one NodeName line; returns what NodeName=DEFAULT says from here on."""
    where = line.where
    pairs = {**default, **pairs_of(where, line.text)}
    name = pairs["nodename"]
    if name.upper() == "DEFAULT":
        return pairs
    gpus = _gres(f"{where} NodeName={name}: Gres", pairs.get("gres", ""))
    state = _conf_state(where, pairs.get("state", "UNKNOWN"))
    for host in expand(name, f"{where}: NodeName"):
        if host in hosts.gpus:
            raise TopologyError(f"{where}: host {host} occurs in two NodeName lines")
        hosts.gpus[host] = [Gpu(gpu.name, gpu.type) for gpu in gpus]
        hosts.states.setdefault(host, set()).update(state)
    return default


def _conf_state(where: str, text: str) -> set[str]:
    words = _words(text)
    known = _DOWN | _CORDONED | _PLAIN
    if not words <= known:
        raise TopologyError(f"{where}: State: {text!r:.60} is no state of a host")
    return words


def _gres(where: str, text: str) -> list[Gpu]:
    """GPUs of a generic-resource text such as ``gpu:h100:8(S:0-1),nic:2``."""
    gpus: list[Gpu] = []
    for entry in re.sub(r"\([^)]*\)", "", text).split(","):
        words = [word for word in entry.strip().split(":") if word != _NO_COUNT]
        if not words or words[0].lower() != "gpu":
            continue
        count = words.pop() if len(words) > 1 and words[-1].isdecimal() else "1"
        if len(words) > 2 or not _COUNT.fullmatch(count) or int(count) > 1024:
            rule = f"{entry!r:.200} must be gpu[:type][:count], at most 1024"
            raise TopologyError(f"{where}: {rule}")
        kind = words[1] if len(words) > 1 and words[1] else "gpu"
        gpus += [Gpu("", kind)] * int(count)
    return [Gpu(f"gpu-{index}", gpu.type) for index, gpu in enumerate(gpus)]
