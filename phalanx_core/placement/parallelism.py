"""``Parallelism``: which ranks of a (TP, PP, DP) job talk to which, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import InvalidRequest

Edges: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

SIZE_MAX = 2**31 - 1
ORDERS = tuple("-".join(words) for words in permutations(("tp", "pp", "dp")))

# The testbed of the Phalanx paper, section 8: 4 GB a GPU and step of tensor-parallel
# traffic; bf16 gradients of 70e9 parameters, held in eighths (TP 8).
TP_BYTES = 4e9
DP_BYTES = 2 * 70e9 / 8
# Narayanan et al., "Efficient large-scale language model training on GPU clusters",
# 2021, section 3.2: a layer's tensor-parallel traffic is 8 (t - 1) / t activations a
# GPU, a pipeline boundary's is one; 80 layers at t = 8 make 560 of them.
PP_BYTES = TP_BYTES / 560


@dataclass(frozen=True, slots=True)
class Parallelism:
    """A (TP, PP, DP) decomposition of ``tp * pp * dp`` ranks and its bytes a step.

    Attributes
    ----------
    tp, pp, dp
        Ranks of a tensor-parallel group, stages of a pipeline, replicas.
    tp_bytes
        Bytes that a rank sends to the next rank of the ring of its tensor-parallel
        group.
    pp_bytes
        Bytes that a rank sends to its peer in the next stage (activations), and that
        peer sends back (gradients of them).
    dp_bytes
        Bytes of gradients that a rank reduces with its peers in all replicas: a ring
        sends 2 (dp - 1) / dp of them to the next.
    order
        Which index of a rank runs fastest. "tp-pp-dp": a replica's ranks follow one
        another, as the slices of a gang; "tp-dp-pp" is Megatron-LM's order.

    Raises
    ------
    InvalidRequest
        If a size is not above 0, bytes are negative or the order is unknown.

    Notes
    -----
    A ring of two is two edges, one each way; a group of one sends nothing.

    Examples
    --------
    >>> ring = Parallelism(tp=2, dp=2, tp_bytes=8.0, dp_bytes=6.0)
    >>> for sender, receiver, count in zip(*ring.edges(), strict=True):
    ...     print(sender, receiver, count)
    0 1 8.0
    1 0 8.0
    2 3 8.0
    3 2 8.0
    0 2 6.0
    1 3 6.0
    2 0 6.0
    3 1 6.0
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    tp_bytes: float = TP_BYTES
    pp_bytes: float = PP_BYTES
    dp_bytes: float = DP_BYTES
    order: str = "tp-pp-dp"

    def __post_init__(self) -> None:
        for name in ("tp", "pp", "dp"):
            size = getattr(self, name)
            whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
            if not whole or not 1 <= size <= SIZE_MAX:
                raise InvalidRequest(
                    f"Parallelism.{name} {size!r}: a whole number of at least 1"
                )
        for name in ("tp_bytes", "pp_bytes", "dp_bytes"):
            count = getattr(self, name)
            number = isinstance(count, (int, float, np.number))
            if not number or isinstance(count, bool) or not 0 <= count < inf:
                raise InvalidRequest(
                    f"Parallelism.{name} {count!r}: a finite number of at least 0"
                )
        if self.order not in ORDERS:
            raise InvalidRequest(
                f"Parallelism.order {self.order!r}: one of {', '.join(ORDERS)}"
            )

    @property
    def ranks(self) -> int:
        """Ranks in all."""
        return int(self.tp) * int(self.pp) * int(self.dp)

    def edges(self) -> Edges:
        """Who sends to whom, and how many bytes a step; only pairs that send any.

        Returns
        -------
        senders, receivers : int64, shape (edges,)
        bytes : float64, shape (edges,)

        Notes
        -----
        O(ranks): at most four edges a rank.
        """
        ring = 2 * (self.dp - 1) / self.dp * self.dp_bytes
        parts = [
            self._ring("tp", self.tp, float(self.tp_bytes)),
            self._chain("pp", self.pp, float(self.pp_bytes)),
            self._ring("dp", self.dp, ring),
        ]
        senders, receivers, counts = zip(*parts, strict=True)
        return (
            np.concatenate(senders),
            np.concatenate(receivers),
            np.concatenate(counts),
        )

    def _strides(self, name: str) -> tuple[NDArray[np.int64], int]:
        """Index of each rank along one axis, and the ranks between neighbours."""
        stride = 1
        for word in self.order.split("-"):
            size = int(getattr(self, word))
            if word == name:
                return (np.arange(self.ranks) // stride) % size, stride
            stride *= size
        raise AssertionError(name)

    def _ring(self, name: str, size: int, count: float) -> Edges:
        if size == 1 or not count:
            return _no_edges()
        index, stride = self._strides(name)
        ranks = np.arange(self.ranks)
        receivers = ranks + np.where(index == size - 1, -(size - 1), 1) * stride
        return ranks, receivers, np.full(self.ranks, count)

    def _chain(self, name: str, size: int, count: float) -> Edges:
        if size == 1 or not count:
            return _no_edges()
        index, stride = self._strides(name)
        front = np.flatnonzero(index < size - 1)
        back = front + stride
        return (
            np.concatenate([front, back]),
            np.concatenate([back, front]),
            np.full(2 * front.size, count),
        )


def _no_edges() -> Edges:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64)
