"""How often to checkpoint: the best interval for a cost, beside Young's and Daly's."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, sqrt

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest

HALVINGS = 200


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
        Seconds that a checkpoint stops the job, above 0.

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
    for name, given in (("mtbf_s", mtbf_s), ("checkpoint_s", checkpoint_s)):
        if not (is_number(given) and given > 0):
            raise InvalidRequest(f"{name} {given!r}: finite and above 0")
    cost = checkpoint_s / mtbf_s
    low, high = cost, cost + 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        # Positive while a longer interval keeps more.
        more = -expm1(-middle) - (middle - cost)
        low, high = (middle, high) if more > 0 else (low, middle)
    half = checkpoint_s / (2 * mtbf_s)
    root = sqrt(2 * checkpoint_s * mtbf_s)
    daly = root * (1 + sqrt(half) / 3 + half / 9) if half < 1 else mtbf_s + checkpoint_s
    return BestInterval(low * mtbf_s, root + checkpoint_s, daly)
