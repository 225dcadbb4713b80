"""The text of a jobs file as plain values; what YAML can hide is refused."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NoReturn

from phalanx_core.cli.standard_input import standard_input
from phalanx_core.errors import InvalidRequest

BYTES_MAX = 4 << 20
DEPTH_MAX = 8
# What the text of a number begins with.
_OF_NUMBERS = tuple("+-.0123456789")


def read_yaml(path: str) -> Any:
    """Values of a YAML (or JSON) file, or of standard input where the path is "-".

    Raises
    ------
    InvalidRequest
        If it cannot be read, is not YAML, or is too large or too deep.
    """
    return _load(path, _text(path))


def _text(path: str) -> str:
    if not path:
        raise InvalidRequest("'': the path of the jobs file must not be empty")
    try:
        if Path(path).is_dir():
            raise InvalidRequest(
                f"{path}: the last argument is the jobs file, and this is a directory"
            )
        if path == "-":
            raw = standard_input().read(BYTES_MAX + 1)
        else:
            with open(path, "rb") as stream:
                raw = stream.read(BYTES_MAX + 1)
        if len(raw) > BYTES_MAX:
            raise InvalidRequest(f"{path}: a jobs file has at most {BYTES_MAX} bytes")
        return raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidRequest):
            raise
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InvalidRequest(f"{path}: cannot be read: {reason}") from None


def _load(path: str, text: str) -> Any:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        raise InvalidRequest(
            f"{path}: a jobs file needs the package pyyaml: "
            "pip install 'phalanx_core[cli]'"
        ) from None
    try:
        _check_events(path, yaml, text)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise InvalidRequest(f"{path}: not YAML: {place}") from None
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidRequest):
            raise
        raise InvalidRequest(f"{path}: not YAML: {error}") from None


def _check_events(path: str, yaml: Any, text: str) -> None:
    """Refuse depth, aliases and a key given twice, before anything is built."""
    open_: list[dict[Any, int] | None] = []
    expects_key: list[bool] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        at_key = bool(open_) and open_[-1] is not None and expects_key[-1]
        if isinstance(event, yaml.AliasEvent):
            rule = f"line {line}: aliases (*{event.anchor}) are not read"
            raise InvalidRequest(f"{path}: {rule}")
        if isinstance(event, yaml.ScalarEvent) and at_key:
            keys = open_[-1]
            if keys is not None:
                key = _key(yaml, event)
                if key in keys:
                    _refuse_twice(path, event.value, keys[key], line)
                keys[key] = line
        if isinstance(event, yaml.CollectionEndEvent):
            open_.pop()
            expects_key.pop()
        ended = (yaml.ScalarEvent, yaml.CollectionEndEvent)
        if isinstance(event, ended) and open_ and open_[-1] is not None:
            expects_key[-1] = not expects_key[-1]
        if isinstance(event, yaml.CollectionStartEvent):
            mapping = isinstance(event, yaml.MappingStartEvent)
            open_.append({} if mapping else None)
            expects_key.append(mapping)
            if len(open_) > DEPTH_MAX:
                raise InvalidRequest(f"{path}: nested deeper than {DEPTH_MAX}")


def _key(yaml: Any, event: Any) -> Any:
    """What a key is the same as: 8 and 0x8 are one number, and "8" is a text."""
    if event.value[:1] not in _OF_NUMBERS:
        return event.value
    loader = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit)
    return loader.construct_object(yaml.ScalarNode(tag, event.value))


def _refuse_twice(path: str, key: str, before: int, line: int) -> NoReturn:
    where = "twice" if before == line else f"in line {before} already"
    raise InvalidRequest(f"{path}: line {line}: key {key!r} was given {where}")
