"""Slurm host lists (``tux[0-3,12]``), expanded by ClusterShell within bounds."""

from __future__ import annotations

import importlib
import re
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.inventory import natural

HOSTS_MAX = 1 << 20
_ALLOWED = re.compile(r"[A-Za-z0-9_.,\[\]-]+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expand(text: str, where: str) -> list[str]:
    """Names of a host list, naturally sorted, each once.

    Raises
    ------
    TopologyError
        If the text is malformed or names more than ``HOSTS_MAX`` hosts.

    Examples
    --------
    >>> expand("host[08-10],login", "topology.conf: line 1")
    ['host08', 'host09', 'host10', 'login']
    """
    if not _ALLOWED.fullmatch(text):
        raise TopologyError(f"{where}: {text!r:.200} is no host list")
    if "[" not in text and "]" not in text:
        names = [name for name in text.split(",") if name]
        return sorted(dict.fromkeys(names), key=natural)
    _bound(text, where)
    try:
        nodeset: Any = importlib.import_module("ClusterShell.NodeSet")
    except ImportError:
        rule = "host lists need the package ClusterShell"
        install = "pip install 'phalanx_core[readers]'"
        raise TopologyError(f"{where}: {rule}: {install}") from None
    try:
        made = nodeset.NodeSet(text, resolver=nodeset.RESOLVER_NOGROUP)
        return sorted(map(str, made), key=natural)
    except nodeset.NodeSetException as error:
        rule = f"{text!r:.200} is no host list: {error!s:.200}"
        raise TopologyError(f"{where}: {rule}") from None


def _bound(text: str, where: str) -> None:
    """Refuse a list that would expand without end, before it is expanded."""
    product = 1
    total = 0
    end = 0
    for match in _BRACKET.finditer(text):
        if "," in text[end : match.start()]:
            total += product
            product = 1
        width = 0
        for part in match[1].split(","):
            span = _RANGE.fullmatch(part)
            if span is None:
                raise TopologyError(
                    f"{where}: {part!r:.60} in {text!r:.200} is no range"
                )
            low, high = int(span[1]), int(span[2] or span[1])
            if high < low:
                raise TopologyError(f"{where}: range {part!r:.60} runs backwards")
            width += high - low + 1
        product *= width
        end = match.end()
        if total + product > HOSTS_MAX:
            rule = f"{text!r:.200} names more than {HOSTS_MAX} hosts"
            raise TopologyError(f"{where}: {rule}")
