"""One run at a time for a state file."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from phalanx_core.errors import SaveError

SUFFIX = ".lock"


@contextlib.contextmanager
def locked(path: str | None) -> Iterator[None]:
    """Hold a state file alone; None holds nothing.

    The lock is on FILE.lock, since FILE is replaced at each save. The system lifts it
    with the process that holds it, however that ends; the file is then used again.

    Raises
    ------
    SaveError
        If another run holds it, or FILE.lock cannot be made or locked.
    """
    if path is None:
        yield
        return
    name = os.path.realpath(path) + SUFFIX
    handle = _held(path, name)
    try:
        yield
    finally:
        # While it is held: whoever opened this file meanwhile sees that it has no name.
        with contextlib.suppress(OSError):
            os.unlink(name)
        os.close(handle)


def _held(path: str, name: str) -> int:
    """An open, locked file that has the name."""
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SaveError(
                f"{path}: cannot be locked: {name}: {error.strerror}"
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_named(handle, name):
                os.ftruncate(handle, 0)
                os.write(handle, b"%d\n" % os.getpid())
                return handle
        except BlockingIOError:
            owner = _owner(handle)
            os.close(handle)
            raise SaveError(
                f"{path}: another run{owner} is using it; this one has changed nothing"
            ) from None
        except OSError as error:
            os.close(handle)
            raise SaveError(
                f"{path}: cannot be locked: {name}: {error.strerror}"
            ) from None
        os.close(handle)


def _is_named(handle: int, name: str) -> bool:
    """Whether the file was not removed by the run that held it before."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(name))
    except FileNotFoundError:
        return False


def _owner(handle: int) -> str:
    """The process that wrote its number there, or nothing."""
    text = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
    return f" (process {text})" if text.isdigit() else ""
