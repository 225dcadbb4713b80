"""YAML by a safe loader, with bounded nesting, aliases and numbers."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from phalanx_core.errors import TopologyError

YAML_DEPTH_MAX = 64
YAML_EXPANDED_MAX = 50_000_000
NUMBER_LENGTH_MAX = 1000
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_:]*)")


def yaml_bodies(path: str, text: str) -> Iterator[Any]:
    """Values of the documents of a text that are not empty.

    Raises
    ------
    TopologyError
        If the text is no YAML, breaks a bound, or PyYAML is not installed.
    """
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        rule = "reading YAML needs the package pyyaml"
        install = "pip install 'phalanx_core[readers]'"
        raise TopologyError(f"{path}: {rule}: {install}") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(path, yaml, text, loader)
        for body in yaml.load_all(text, Loader=loader):
            if body is not None:
                yield body
    except yaml.YAMLError as error:
        raise TopologyError(f"{path}: not YAML: {_one_line(error)}") from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, TopologyError):
            raise
        raise TopologyError(f"{path}: not YAML: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _check_events(path: str, yaml: Any, text: str, loader: Any) -> None:
    """Refuse deep nesting and aliases that expand without end, before building."""
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes and any(a == event.anchor for a, _ in open_):
                raise TopologyError(f"{path}: alias *{event.anchor} holds itself")
            total += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            long = event.implicit[0] and len(event.value) > NUMBER_LENGTH_MAX
            if long and _NUMBER.fullmatch(event.value):
                # Hexadecimal numbers have no limit of Python's own, but in messages.
                rule = f"a number has more than {NUMBER_LENGTH_MAX} digits"
                raise TopologyError(f"{path}: {rule}")
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(open_) > YAML_DEPTH_MAX:
            rule = f"YAML is nested deeper than {YAML_DEPTH_MAX}"
            raise TopologyError(f"{path}: {rule}")
        if total > YAML_EXPANDED_MAX:
            rule = f"YAML expands to more than {YAML_EXPANDED_MAX} values"
            raise TopologyError(f"{path}: {rule}")
