"""``HostAgent``: a host's heartbeat, and its word that nothing of an old epoch runs."""

from __future__ import annotations

from collections.abc import Callable

from phalanx_core.reformation import codec
from phalanx_core.reformation.client import Client
from phalanx_core.reformation.codec import Holding
from phalanx_core.reformation.committing import Outcome
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.stores import (
    Delete,
    Put,
    Store,
    StoreError,
    UnknownLease,
    absent,
    modified_at,
)


class HostAgent(Client):
    """What runs on each host: it says that the host lives, and confirms what is dead.

    Parameters
    ----------
    store, layout, now
        As for :class:`~phalanx_core.reformation.client.Client`.
    host
        Its name.
    ttl_s
        Seconds without a heartbeat after which the host counts as dead, at the earliest.
    boot
        Tells one start of the host from every other; part of the agent's name.

    Notes
    -----
    A heartbeat that ended begins anew under another incarnation: jobs that had leaves here
    have lost them, though their workers may still run. What runs here under a token that
    the store no longer has is to be killed; then :meth:`confirm`.
    """

    def __init__(
        self,
        store: Store,
        layout: Layout,
        host: str,
        now: Callable[[], float],
        ttl_s: float,
        boot: str = "0",
    ) -> None:
        super().__init__(store, layout, f"host {host} {boot}", now)
        self.host = host
        self.boot = boot
        self.ttl_s = ttl_s
        self._lease = 0
        layout.host_mask(host)

    def beat(self) -> bool:
        """Keep the heartbeat alive, or begin it; whether the store took it.

        A heartbeat of an earlier start is ended first, so that this one is another
        incarnation, however soon the host was back.
        """
        try:
            return self._kept() or self._begun()
        except StoreError:
            return False

    def _kept(self) -> bool:
        if not self._lease:
            return False
        try:
            self.store.keep_alive(self._lease)
        except UnknownLease:
            self._lease = 0
        return self._lease != 0

    def _begun(self) -> bool:
        heartbeat = codec.key("heartbeat", self.host)
        found = self.store.get(heartbeat)
        if found and found.value == self.boot.encode():
            # One of our own, sent before, whose answer was lost.
            self._lease = found.lease
            return self._kept()
        if found:
            same = modified_at(heartbeat, found.mod_revision)
            self.store.transaction([same], [Delete(heartbeat)])
        lease = self.store.grant(self.ttl_s).number
        begin = Put(heartbeat, self.boot.encode(), lease)
        if self.store.transaction([absent(heartbeat)], [begin]).succeeded:
            self._lease = lease
        return self._lease != 0

    def fences(self) -> list[Holding]:
        """Tokens that may still run here, and whose end somebody waits for.

        Raises
        ------
        Unavailable
            If the store cannot be read.
        """
        mine = self.layout.host_mask(self.host)
        view = self.observe()
        return [
            block.holding
            for job in view.jobs
            for block in job.fenced
            if block.mask & mine
        ]

    def confirm(self, job: str) -> Outcome:
        """Nothing of the job's fenced tokens runs here any more; see :meth:`fence`."""
        return self.fence(job, self.host)
