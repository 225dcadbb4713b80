"""A JSON file with a checksum: replaced whole, and read with care."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from phalanx_core.errors import SaveError

BYTES_MAX = 1 << 30


def write_sealed(path: str, kind: str, version: int, body: dict[str, Any]) -> None:
    """Write a file; readers see the old one or the new one, never a part.

    Parameters
    ----------
    kind
        Key that holds the version, the first of the file.
    body
        JSON values.

    Raises
    ------
    SaveError
        If the file cannot be written.
    """
    whole = {kind: version, "blake2b": digest(body), **body}
    target = Path(os.path.realpath(path))
    try:
        handle, scratch = tempfile.mkstemp(
            prefix=f".{target.name}.", dir=target.parent or "."
        )
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(whole, stream, indent=1)
                stream.write("\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(scratch, target)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}") from None


def read_sealed(path: str, kind: str, version: int, what: str) -> dict[str, Any] | None:
    """The body of a file, or None where there is no such file.

    Parameters
    ----------
    what
        What the file should be, for messages: "a state file of ...".

    Raises
    ------
    SaveError
        If the file is of another kind or version, or damaged.
    """
    try:
        with open(path, "rb") as stream:
            raw = stream.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SaveError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        whole = json.loads(raw.decode("utf-8")) if len(raw) <= BYTES_MAX else None
    except (ValueError, RecursionError):
        if raw.startswith(f'{{\n "{kind}": '.encode()):
            raise SaveError(f"{path}: is damaged: cut short or changed") from None
        whole = None
    if not isinstance(whole, dict) or kind not in whole:
        raise SaveError(f"{path}: is not {what}")
    found = whole.pop(kind)
    if found != version:
        raise SaveError(f"{path}: is of version {found!r}, this reads {version}")
    if whole.pop("blake2b", None) != digest(whole):
        raise SaveError(f"{path}: is damaged: its checksum does not match")
    return whole


def digest(body: dict[str, Any]) -> str:
    """Checksum of JSON values, whatever the order of their keys."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
