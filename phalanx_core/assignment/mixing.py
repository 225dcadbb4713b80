"""A mix of words that keeps nothing visible of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Odd, so that multiplying by it loses nothing of a word.
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each word turned into another, no two into the same (splitmix64).

    Parameters
    ----------
    words
        Any shape.
    """
    first, second, third = (np.uint64(one) for one in _FACTORS)
    words = (words + first) * second
    words = (words ^ (words >> np.uint64(27))) * third
    return words ^ (words >> np.uint64(31))
