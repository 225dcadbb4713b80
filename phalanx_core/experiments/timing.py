"""How calls are timed undisturbed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """No cyclic garbage collection meanwhile, as timeit does it.

    Examples
    --------
    >>> import gc
    >>> with quiet():
    ...     gc.isenabled()
    False
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
