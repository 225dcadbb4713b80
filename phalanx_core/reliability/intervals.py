"""How often to checkpoint: the best interval for a cost, beside Young's and Daly's."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, sqrt

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.domains import above_zero

# Halvings that leave nothing of a double between two that are a factor of 2 apart.
HALVINGS = 60
# Times between failures that a checkpoint may cost: what is kept then is nothing.
COST_MIN, COST_MAX = 1e-300, 1e6


@dataclass(frozen=True, slots=True)
class BestInterval:
    """Intervals from the start of one checkpoint to the start of the next, in seconds.

    Attributes
    ----------
    exact_s
        With the most time that is kept.
    young_s
        First-order: the root of twice the cost times the mean time between failures.
    daly_s
        Higher-order; where a checkpoint costs two such times or more, that time.
    """

    exact_s: float
    young_s: float
    daly_s: float


def best_interval(mtbf_s: float, checkpoint_s: float) -> BestInterval:
    r"""The interval at which checkpoints of some cost keep the most time.

    Parameters
    ----------
    mtbf_s
        Mean seconds between failures, above 0.
    checkpoint_s
        Seconds that a checkpoint stops the job, above 0, up to a million times that.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    With overhead c = δ / τ the exact ratio is (τ - δ) / ((e^{τ/M} - 1)(M + R)); it is
    highest where :math:`1 - e^{-τ/M} = (τ - δ) / M`, whatever the recovery takes: found
    by bisection. Young, CACM 17(9), 1974; Daly, FGCS 22(3), 2006, equation 37. Theirs
    count the time between checkpoints: the cost is added here.

    Examples
    --------
    >>> found = best_interval(1373.3, 1.5)
    >>> round(found.exact_s, 2), round(found.young_s, 2), round(found.daly_s, 2)
    (64.69, 65.69, 64.69)
    """
    time = above_zero("mtbf_s", mtbf_s)
    cost = above_zero("checkpoint_s", checkpoint_s) / time
    if not COST_MIN <= cost <= COST_MAX:
        raise InvalidRequest(
            f"checkpoint_s {checkpoint_s!r}: {COST_MIN:g} to {COST_MAX:g} times mtbf_s"
        )
    root = sqrt(2 * cost)
    # The root of the first term alone is below, and Young's interval above: so close to
    # one another at small costs that what cancels there does not matter.
    low, high = root, min(root + cost, 1 + cost)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expm1(-middle) + middle < cost else (low, middle)
    half = cost / 2
    daly = root * (1 + sqrt(half) / 3 + half / 9) if half < 1 else 1 + cost
    return BestInterval(low * time, (root + cost) * time, daly * time)
