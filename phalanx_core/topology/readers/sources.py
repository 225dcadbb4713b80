"""Where cluster files come from: paths, directories, standard input; text in pieces."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from phalanx_core.errors import TopologyError

# Far above any cluster's: it ends a pipe that never does.
BYTES_MAX = 1 << 36
# Large enough that a value cut by its end is rarely parsed twice.
PIECE_SIZE = 1 << 20
_SUFFIXES = (".yaml", ".yml", ".json", ".conf", ".csv")
Progress = Callable[[int, int | None], None]


@dataclass
class Meter:
    """Counts the bytes read, and tells them to a caller that asked."""

    tell: Progress | None = None
    total: int | None = None
    done: int = 0

    def add(self, count: int) -> None:
        """Note that so many more bytes were read."""
        self.done += count
        if self.tell is not None:
            self.tell(self.done, self.total)

    def finish(self) -> None:
        """Tell that nothing more comes."""
        if self.tell is not None:
            self.tell(self.done, self.done)


def expanded(paths: Sequence[str | PathLike[str]]) -> Iterator[str]:
    """Files of the paths; a directory gives its known files in sorted order.

    Raises
    ------
    TopologyError
        If a directory holds none.
    """
    for path in paths:
        if str(path) != "-" and Path(path).is_dir():
            inside = sorted(p for p in Path(path).iterdir() if p.suffix in _SUFFIXES)
            if not inside:
                known = " ".join(_SUFFIXES)
                raise TopologyError(f"{path}: the directory has no file of {known}")
            yield from map(str, inside)
        else:
            yield str(path)


def total_size(files: Sequence[str]) -> int | None:
    """Bytes of all files, None where one is a pipe or cannot be looked at."""
    total = 0
    for path in files:
        try:
            status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        except (OSError, ValueError, AttributeError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total


def pieces(path: str, meter: Meter) -> Iterator[str]:
    """Text of a file, some of it at a time.

    Raises
    ------
    TopologyError
        If it cannot be read, is too large or no UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    stream = _opened(path)
    count = 0
    try:
        while raw := _read(path, stream):
            count += len(raw)
            if count > BYTES_MAX:
                rule = f"a file may have at most {BYTES_MAX} bytes"
                raise TopologyError(f"{path}: {rule}")
            yield _decoded(path, decoder, raw, count)
            meter.add(len(raw))
        yield _decoded(path, decoder, b"", count)
    finally:
        if path != "-":
            stream.close()


def _opened(path: str) -> BinaryIO:
    if path == "-":
        if sys.stdin is None:
            raise TopologyError("-: cannot be read: standard input is closed")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read: {error.strerror}") from None


def _read(path: str, stream: BinaryIO) -> bytes:
    try:
        return stream.read(PIECE_SIZE)
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read: {error.strerror}") from None


def _decoded(
    path: str, decoder: codecs.IncrementalDecoder, raw: bytes, count: int
) -> str:
    try:
        return decoder.decode(raw, final=not raw)
    except UnicodeDecodeError as error:
        # The decoder may have kept the start of a character from the piece before.
        position = count - len(error.object) + error.start
        raise TopologyError(f"{path}: byte {position}: not UTF-8 text") from None
