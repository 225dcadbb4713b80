"""``Detector``: which hosts to call dead, from heartbeats that are no longer there."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.observing import View


@dataclass(frozen=True, slots=True)
class Damping:
    """When many heartbeats go at once, wait: it may be the store that lost them (F18).

    Attributes
    ----------
    hosts
        So many hosts missing at once are no mass expiry yet.
    wait_s
        Seconds to wait for a host's return while more are missing.

    Raises
    ------
    InvalidRequest
        If a value is no number from 0.
    """

    hosts: int = 8
    wait_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("hosts", "wait_s"):
            value = getattr(self, name)
            if not is_number(value) or value < 0:
                raise InvalidRequest(f"{name} is {value!r}: a number from 0")


class Detector:
    """Calls a live host dead if its heartbeat is gone, or is another incarnation's.

    It proposes, and the transaction decides: one whose heartbeat is back by then stays.

    Parameters
    ----------
    damping
        See :class:`Damping`; the default does not wait.

    Examples
    --------
    >>> from phalanx_core.reformation.layout import Layout
    >>> view = View(Layout([("h0", 1), ("h1", 1), ("h2", 1)]), 9, [])
    >>> view.hosts = {"h0": 2, "h1": 3, "h2": 4}
    >>> detector = Detector(Damping(hosts=1, wait_s=5.0))
    >>> detector.dead(view, 0.0), detector.dead(view, 4.0), detector.dead(view, 5.0)
    ((), (), ('h0', 'h1', 'h2'))
    """

    def __init__(self, damping: Damping | None = None) -> None:
        self.damping = damping or Damping()
        self._missing_s: dict[str, float] = {}

    def dead(self, view: View, now: float) -> tuple[str, ...]:
        """Hosts to call dead, in order of the layout.

        Parameters
        ----------
        view
            What was observed.
        now
            When, seconds.

        Notes
        -----
        A host that is back under another incarnation was away for certain, and is never
        waited for.
        """
        missing, replaced = [], set()
        for host, incarnation in view.hosts.items():
            beat = view.beats.get(host)
            if beat is None:
                missing.append(host)
            elif beat.incarnation != incarnation:
                replaced.add(host)
        self._missing_s = {h: self._missing_s.get(h, now) for h in missing}
        if not missing and not replaced:
            return ()
        if len(missing) > self.damping.hosts:
            until = now - self.damping.wait_s
            missing = [h for h in missing if self._missing_s[h] <= until]
        dead = replaced.union(missing)
        return tuple(host for host in view.layout.hosts if host in dead)
