"""``HostAgent``: a host's heartbeat, and its word that nothing of an old epoch runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import codec
from phalanx_core.reformation.asking import check_text
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

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


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
        Tells one boot of the host from every other; None = the kernel's boot id. With the
        same one an agent that starts again goes on with the heartbeat there is.

    Raises
    ------
    InvalidRequest
        If the layout has no such host, ``ttl_s`` is no number above 0, ``boot`` no text, or
        None where the system has no boot id.

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
        boot: str | None = None,
    ) -> None:
        layout.host_mask(host)
        if not is_number(ttl_s) or ttl_s <= 0:
            raise InvalidRequest(f"ttl_s is {ttl_s!r}: seconds above 0")
        boot = _boot_id() if boot is None else boot
        check_text("boot", boot)
        super().__init__(store, layout, f"host {host} {boot}", now)
        self.host = host
        self.boot = boot
        self.ttl_s = ttl_s
        self._lease = 0

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

    def confirm(self, job: str, token: tuple[int, int]) -> Outcome:
        """Nothing of the job up to this token runs here any more; see :meth:`fence`.

        Parameters
        ----------
        job
            A name, as :meth:`fences` told it.
        token
            uid and epoch of the last workers that were ended. What was fenced after they
            were looked for, under a later token, is not confirmed by this.
        """
        return self.fence(job, self.host, token)


def _boot_id() -> str:
    """What the kernel drew when this system booted."""
    try:
        return BOOT_ID.read_text("ascii").strip()
    except OSError:
        raise InvalidRequest(
            "boot is None: this system has no boot id, so give one"
        ) from None
