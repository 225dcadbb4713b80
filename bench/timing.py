"""Time of calls from Python: blocks for what a call costs, single calls for the tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of sorted values lies."""
    return float(values[int(share * (len(values) - 1) + 0.5)]) if values else 0.0


def overhead() -> float:
    """Nanoseconds that reading the clock twice takes."""
    spans = []
    for _ in range(2001):
        before = perf_counter_ns()
        spans.append(perf_counter_ns() - before)
    return sum(sorted(spans)[500:1500]) / 1000


def _empty(arguments: Sequence[tuple[Any, ...]]) -> float:
    """Nanoseconds of a loop over the arguments that calls nothing."""
    spans = []
    for _ in range(21):
        if len(arguments[0]) == 1:
            before = perf_counter_ns()
            [None for (_one,) in arguments]
        else:
            before = perf_counter_ns()
            [None for _one, _two in arguments]
        spans.append(perf_counter_ns() - before)
    return float(sorted(spans)[10])


def quantiles(blocks: Sequence[float], singles: Sequence[float]) -> dict[str, float]:
    """Median of blocks, and the tail of single samples; either may be missing."""
    blocks = sorted(blocks)
    singles = sorted(singles) or blocks
    return {
        "count": len(singles),
        "median": quantile(blocks or singles, 0.5),
        "p90": quantile(singles, 0.9),
        "p95": quantile(singles, 0.95),
        "p99": quantile(singles, 0.99),
        "p999": quantile(singles, 0.999),
        "max": singles[-1],
        "bulk": quantile(blocks or singles, 0.5),
    }


class Stopwatch:
    """Blocks of calls and single calls of one kind, of one or two arguments.

    What the loop itself and the clock cost is taken off.
    """

    def __init__(self) -> None:
        self.blocks: list[float] = []
        self.singles: list[float] = []
        self.overhead = overhead()
        self.loop = 0.0

    def block(
        self, call: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Call with each of the arguments; one sample for all of them."""
        self.loop = self.loop or _empty(arguments) / len(arguments)
        if len(arguments[0]) == 1:
            before = perf_counter_ns()
            results = [call(one) for (one,) in arguments]
            span = perf_counter_ns() - before
        else:
            before = perf_counter_ns()
            results = [call(one, two) for one, two in arguments]
            span = perf_counter_ns() - before
        # The empty loop's time holds the clock's.
        self.blocks.append(span / len(arguments) - self.loop)
        return results

    def each(
        self, call: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Call with each of the arguments; one sample for each."""
        results = []
        keep = results.append
        take = self.singles.append
        for given in arguments:
            if len(given) == 1:
                (one,) = given
                before = perf_counter_ns()
                result = call(one)
                span = perf_counter_ns() - before
            else:
                one, two = given
                before = perf_counter_ns()
                result = call(one, two)
                span = perf_counter_ns() - before
            take(span - self.overhead)
            keep(result)
        return results

    def quantiles(self) -> dict[str, float]:
        """Median of the blocks, and the tail of the single calls, in nanoseconds."""
        return quantiles(self.blocks, self.singles)
