"""Output files: each is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from phalanx_core.cli import exits


def put(path: Path, content: bytes) -> None:
    """Replace a file by some bytes; its directory is made.

    Raises
    ------
    FileFault
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(path, content)
    except OSError as error:
        raise exits.FileFault(f"{path}: cannot be written: {error.strerror}") from None


def _put(path: Path, content: bytes) -> None:
    # Not mkstemp, whose files their owner alone may read: a job's user is another.
    scratch = path.with_name(f".phalanx.{os.getpid()}")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
