"""Work of several seeds on local processes, with the results in the order of the seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> list[Result]:
    """What a function makes of each item, in their order.

    Parameters
    ----------
    work
        A function of a module, of its argument alone: what it returns is then the same
        in any process.
    processes
        At least 1; one is this process.

    Examples
    --------
    >>> mapped(abs, [-1, 2], processes=1)
    [1, 2]
    """
    count = min(processes, len(items))
    if count < 2:
        return [work(item) for item in items]
    # A forked child of a process with threads, such as Numba's, can wait for ever.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        return list(pool.map(work, items))
