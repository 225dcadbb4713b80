"""``VirtualClock``: time that passes only when it is told to."""

from __future__ import annotations

from phalanx_core.errors import InvalidRequest


class VirtualClock:
    """A clock function of seconds for simulations and tests.

    Parameters
    ----------
    now_s
        Where it begins.

    Examples
    --------
    >>> clock = VirtualClock()
    >>> clock.advance(2.5)
    >>> clock()
    2.5
    """

    def __init__(self, now_s: float = 0.0) -> None:
        self.now_s = float(now_s)

    def __call__(self) -> float:
        """The time, in seconds."""
        return self.now_s

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass.

        Raises
        ------
        InvalidRequest
            If they are not at least 0.
        """
        if not seconds >= 0:
            raise InvalidRequest(f"seconds is {seconds!r}: time does not go back")
        self.now_s += seconds
