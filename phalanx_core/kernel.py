"""The one way to a compiled kernel: Numba, loaded at the first call."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def kernel(
    *signatures: str,
    parallel: bool = False,
    parts: tuple[Callable[..., Any], ...] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of plain loops ahead of its first call.

    Parameters
    ----------
    signatures
        Explicit types, as ``"void(float64[:, ::1], float64[::1])"``: a call with others
        fails rather than compiles anew.
    parallel
        Whether ``prange`` loops run on several threads; the function's module sets
        ``prange = range``.
    parts
        Plain functions that it calls, and those that they call: compiled with it. They
        stand in its module, whose changes alone make kept code old.

    Notes
    -----
    Never with fast math, whose ``isnan`` is false for NaN. Compiled code is kept beside
    the module or in the user's cache; where neither can be written, for this process.

    Examples
    --------
    >>> @kernel("float64(float64)")
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(4.0)
    8.0
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @cache
        def compiled() -> Callable[P, R]:
            numba = import_module("numba")
            if parallel:
                # Numba knows its own loop by identity; until then the name is range.
                function.__globals__["prange"] = numba.prange
            for part in parts:
                numba.extending.register_jitable(part)
            options = {"parallel": parallel, "fastmath": False, "nogil": True}
            made: Callable[P, R] = numba.njit(
                list(signatures), cache=_may_cache(function), **options
            )(function)
            return made

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return compiled()(*args, **kwargs)

        call.plain = function  # type: ignore[attr-defined]
        return call

    return decorate


def _may_cache(function: Callable[..., Any]) -> bool:
    """Whether compiled code can be kept: Numba raises where it finds no place."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return _is_writable(Path(os.environ["NUMBA_CACHE_DIR"]))
    source = Path(function.__code__.co_filename)
    if not source.is_file():
        return False
    return _is_writable(source.parent / "__pycache__") or _is_writable(
        Path(os.path.expanduser("~/.cache/numba"))
    )


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
