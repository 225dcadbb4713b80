"""``Client``: transitions that somebody asks for, each observed, prepared and committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import uuid4

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.reformation import codec
from phalanx_core.reformation.asking import (
    check_name,
    check_pair,
    check_step,
    check_text,
)
from phalanx_core.reformation.committing import Fate, Outcome, commit
from phalanx_core.reformation.events import Action, Event, Refused
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import View, observe
from phalanx_core.reformation.preparing import Facts, prepare
from phalanx_core.reformation.records import Phase
from phalanx_core.reformation.stores import (
    Ambiguous,
    Put,
    Store,
    StoreError,
    Unavailable,
    absent,
    modified_at,
)

Hook = Callable[[str], None]


class Client:
    """Whoever changes or reads the protocol's records: engines, agents of hosts, workers.

    Parameters
    ----------
    store
        The records.
    layout
        Of the leaves; one for all clients of a store, for its life.
    name
        Of this client: no two that use the store at once share one.
    now
        The clock, seconds; its times are written to the history and nothing else.
    hook
        Called with the name of each point that is passed: "observed", "prepared" and
        "answered". What it raises passes through, as if the process ended there.
    life
        Tells this client from earlier ones of its name, whose transactions may still be
        under way; part of every nonce. None = drawn anew; "" where there are none, as in
        a test.

    Raises
    ------
    InvalidRequest
        If the name or the life is no text, or the name is empty.

    Notes
    -----
    Every method that changes something observes, asks :func:`transition`, and sends one
    transaction. Its :class:`Outcome` says what became of it; an error of the store never
    passes through, but for the first read, which raises Unavailable. One thread at a time.
    """

    def __init__(
        self,
        store: Store,
        layout: Layout,
        name: str,
        now: Callable[[], float],
        hook: Hook | None = None,
        life: str | None = None,
    ) -> None:
        check_name("name", name)
        if life is not None:
            check_text("life", life)
        self.store = store
        self.layout = layout
        self.name = name
        self._now = now
        self._hook = hook
        self._sent = 0
        # Drawn, since nothing else is new in each life; no decision reads a nonce.
        life = uuid4().hex[:16] if life is None else life
        self._nonces = f"{name}:{life}:" if life else f"{name}:"
        self._view: View | None = None

    def observe(self) -> View:
        """All records at one revision.

        Raises
        ------
        Unavailable
            If the store cannot be read.
        SaveError
            If a record is damaged, or of a later version.
        """
        view = self._view = observe(self.store, self.layout, self._view)
        if not view.started:
            self._start()
            view = self._view = observe(self.store, self.layout)
            if not view.started:
                raise Unavailable("the layout could not be written")
        self._passed("observed")
        return view

    def admit(self, job: str, request: str) -> Outcome:
        """A new job: it waits for leaves, and goes on from an empty manifest of epoch 0.

        Parameters
        ----------
        job
            A name; that of a job that is gone may be used again, under another uid.
        request
            What it wants, for the planner.

        Raises
        ------
        InvalidRequest
            If the name is empty, or one of the two is no text.
        """
        check_name("job", job)
        check_text("request", request)
        view = self.observe()
        index = view.index.get(job, len(view.jobs))
        uid = view.jobs[index].record.uid if index < len(view.jobs) else 0
        event = Event(Action.ADMIT, index, uid=uid + 1)
        return self._send(view, (event,), name=job, request=request)

    def release(self, job: str, uid: int | None = None) -> Outcome:
        """A job ends, in any phase; its leaves are fenced.

        Parameters
        ----------
        job
            Its name.
        uid
            Which job of that name; None = the one there is.

        Raises
        ------
        UnknownJob
            If there is none.
        """
        if uid is not None and not is_whole(uid):
            raise InvalidRequest(f"uid is {uid!r}: a whole number, or None")
        view = self.observe()
        return self._send(
            view, (self._event(view, Action.RELEASE, job, uid),), name=job
        )

    def suspect(self, hosts: Sequence[str], reason: str) -> Outcome:
        """A verdict on live hosts: nobody claims them, and who is on them moves away.

        All of them or none: refused by ``leaves_live`` if one is dead, and by
        ``leaves_trusted`` if there is a verdict on one already.
        """
        check_text("reason", reason)
        view = self.observe()
        event = Event(Action.SUSPECT, leaves=self._mask(hosts))
        return self._send(view, (event,), reason=reason)

    def trust(self, hosts: Sequence[str]) -> Outcome:
        """The verdict on hosts is withdrawn; refused by ``leaves_suspect`` if one has none."""
        view = self.observe()
        event = Event(Action.TRUST, leaves=self._mask(hosts))
        return self._send(view, (event,))

    def fence(self, job: str, host: str, token: tuple[int, int]) -> Outcome:
        """A live host's agent confirms: nothing of the job up to a token runs there (F11).

        Parameters
        ----------
        job
            A name, also of a job that is gone.
        host
            Of the agent; it confirms for every leaf of the host that is fenced under this
            token or an earlier one.
        token
            uid and epoch.
        """
        token = check_pair("token", token)
        host_mask = self.layout.host_mask(host)
        view = self.observe()
        if job not in view.index:
            raise UnknownJob(f"job {job!r}: the store has none")
        index, mask = view.index[job], 0
        for block in view.jobs[index].fenced:
            if (block.holding.uid, block.holding.epoch) <= token:
                mask |= block.mask & host_mask
        return self._send(view, (Event(Action.FENCE, index, mask),), name=job)

    def seal(
        self, job: str, token: tuple[int, int], step: int, content: str
    ) -> Outcome:
        """A checkpoint is complete: its manifest is written, once.

        Parameters
        ----------
        job
            Its name.
        token
            uid and epoch of the workers that wrote it.
        step
            Of the training, from 0.
        content
            Where the shards are.

        Returns
        -------
        Applied; refused by ``running`` or ``token_current``; stale if the step is sealed
        already, or the record moved on meanwhile: read it again.
        """
        check_step("step", step)
        check_text("content", content)
        uid, epoch = check_pair("token", token)
        view = self.observe()
        index = self._index(view, job)
        event = Event(Action.SEAL, index, 0, epoch, uid)
        return self._send(view, (event,), name=job, step=step, content=content)

    def lose(self, job: str, manifest: tuple[int, int]) -> Outcome:
        """A manifest cannot be read any more; a restore goes on from an older one (F5).

        Parameters
        ----------
        job
            Its name.
        manifest
            Epoch and step.
        """
        epoch, step = check_pair("manifest", manifest)
        check_step("manifest", step)
        view = self.observe()
        index = self._index(view, job)
        event = Event(Action.LOSE, index, manifest=epoch)
        return self._send(view, (event,), name=job, step=step)

    def prune(self, job: str, keep: int) -> int:
        """Forget old manifests, before their shards are deleted.

        Parameters
        ----------
        job
            Its name.
        keep
            How many of the newest stay, at least 1. The one that the job loads or loaded
            stays too, and so does the empty one of epoch 0.

        Returns
        -------
        How many were forgotten, oldest first; what could not be is for the next call.

        Notes
        -----
        One transaction a manifest; it fails if the newest has become unreadable by then.
        """
        if not is_whole(keep) or keep < 1:
            raise InvalidRequest(f"keep is {keep!r}: a whole number from 1")
        count = 0
        while True:
            view = self.observe()
            index = self._index(view, job)
            found = view.jobs[index]
            stay = {(0, 0), found.record.base}
            old = [one for one in list(found.seals)[:-keep] if one not in stay]
            if not old:
                return count
            epoch, step = old[0]
            event = Event(Action.LOSE, index, manifest=epoch)
            newest = list(found.seals)[-1]
            if not self._send(view, (event,), name=job, step=step, witness=newest):
                return count
            count += 1

    def loaded(self, job: str, token: tuple[int, int], base: tuple[int, int]) -> bool:
        """All workers of an epoch have loaded its manifest; the engine lets them run.

        Parameters
        ----------
        job
            Its name.
        token
            uid and epoch of the workers.
        base
            Epoch and step of the manifest.

        Returns
        -------
        Whether it was noted; if not, look what the epoch record says now.
        """
        token, base = check_pair("token", token), check_pair("base", base)
        view = self.observe()
        found = view.jobs[self._index(view, job)]
        record = found.record
        if record.phase != Phase.RESTORE or found.token != token or record.base != base:
            return False
        try:
            return self.store.transaction(
                [modified_at(codec.key("epoch", job), found.revision)],
                [Put(codec.key("loaded", job), codec.packed(token))],
            ).succeeded
        except StoreError:
            return False

    def _start(self) -> None:
        """Write the layout, if nobody has."""
        begin = Put(codec.LAYOUT, codec.layout_bytes(self.layout))
        with suppress(Ambiguous):  # whether it was is read next
            self.store.transaction([absent(codec.LAYOUT)], [begin])

    def _send(self, view: View, events: tuple[Event, ...], **facts: object) -> Outcome:
        """One transaction for transitions of what was observed."""
        self._sent += 1
        nonce = f"{self._nonces}{self._sent}"
        given = Facts(nonce, self._now(), **facts)  # type: ignore[arg-type]
        prepared = prepare(view, events, given, self.store.limits)
        if isinstance(prepared, Refused):
            action, guard, detail = prepared
            return Outcome(
                Fate.REFUSED, action, given.name, guard, nonce=nonce, detail=detail
            )
        self._passed("prepared")
        outcome = commit(self.store, prepared)
        self._passed("answered")
        return outcome

    def _event(self, view: View, action: Action, job: str, uid: int | None) -> Event:
        """An event of a job, with the token that the store has, or an older uid."""
        index = self._index(view, job)
        record = view.jobs[index].record
        return Event(action, index, 0, record.epoch, record.uid if uid is None else uid)

    def _index(self, view: View, job: str) -> int:
        view.job(job)
        return view.index[job]

    def _mask(self, hosts: Sequence[str]) -> int:
        if isinstance(hosts, str) or not isinstance(hosts, Sequence):
            raise InvalidRequest(f"hosts is {hosts!r}: it must be a list of names")
        mask = 0
        for host in hosts:
            mask |= self.layout.host_mask(host)
        return mask

    def _passed(self, point: str) -> None:
        if self._hook:
            self._hook(point)
