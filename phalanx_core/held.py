"""What jobs hold now, as score and solve are told it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.errors import InvalidRequest


def held_configurations(
    current: ArrayLike, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Configuration that each job holds, -1 = none, checked.

    Parameters
    ----------
    current
        One integer a job.
    shape
        Jobs and configurations.

    Raises
    ------
    InvalidRequest
        If there is not one integer a job, or one is no configuration.

    Examples
    --------
    >>> held_configurations([1, -1], (2, 3)).tolist()
    [1, -1]
    """
    held = np.asarray(current)
    if held.shape != shape[:1] or held.dtype.kind not in "iu":
        raise InvalidRequest(
            f"current of shape {held.shape} and dtype {held.dtype}: an integer a job"
        )
    bad = (held < -1) | (held >= shape[1])
    if bad.any():
        job = int(np.argmax(bad))
        raise InvalidRequest(
            f"current[{job}] is {held[job]}: a configuration, 0 to {shape[1] - 1}, or -1"
        )
    return held.astype(np.int64)
