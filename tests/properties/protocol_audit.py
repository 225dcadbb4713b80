"""What must hold of a store, read from its raw changes: no code of the engine is used.

The auditor keeps the owner of each leaf, the epoch record of each job and its manifests,
each decoded here from JSON, and looks at every revision once.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from phalanx_core.reformation.stores import Change, MemoryStore, Range, whole_revisions

ROOT = b"phalanx/"
# The same few values come again and again; nobody changes what is decoded.
decoded = lru_cache(maxsize=4096)(json.loads)


class Violation(AssertionError):
    """Something that the protocol promises did not hold."""


class Auditor:
    """Watches a binary layout whose hosts have so many leaves each."""

    def __init__(
        self, store: MemoryStore, hosts: dict[str, list[int]], processes: dict[int, Any]
    ) -> None:
        self.store = store
        self.hosts = hosts
        self.processes = processes
        self.leaves = sum(map(len, hosts.values()))
        self.depth = (self.leaves - 1).bit_length()
        self.raw: dict[bytes, bytes] = {}
        self.owner: dict[int, tuple[str, int, int, bool]] = {}
        self.epochs: dict[str, dict[str, Any]] = {}
        self.revisions: dict[str, int] = {}
        self.seen: Counter[str] = Counter()
        revision, items = store.range(Range.prefix(ROOT))
        self.raw = {item.key: item.value for item in items}
        self._read_owners()
        self._read_epochs()
        self.watch = store.watch(Range.prefix(ROOT), revision + 1)

    def poll(self) -> None:
        """Look at every revision since the last time.

        Raises
        ------
        Violation
            If one breaks a promise.
        """
        for changes in whole_revisions(self.watch.poll()):
            self._revision(changes)

    def applied_at(self, nonce: str) -> int:
        """Revision at which the transaction of this nonce was applied, 0 = never."""
        return self.revisions.get(nonce, 0)

    def _revision(self, changes: tuple[Change, ...]) -> None:
        owners, epochs = self.owner, self.epochs
        sealed, moved = [], set()
        for deleted, item in changes:
            if deleted:
                self.raw.pop(item.key, None)
            else:
                self.raw[item.key] = item.value
            family = item.key[len(ROOT) :].split(b"/")[0]
            moved.add(family)
            if family == b"log" and not deleted:
                told = decoded(item.value)
                if told["nonce"] in self.revisions:
                    raise Violation(f"{told['nonce']} was applied twice")
                self.revisions[told["nonce"]] = item.mod_revision
                for event in told["events"]:
                    self.seen[event["action"]] += 1
            elif family == b"seal" and not deleted:
                sealed.append(item)
        if b"epoch" in moved:
            self._read_epochs()
            self._check_epochs(epochs)
        if b"alloc" in moved:
            self._read_owners()
            self._check_owners(owners, epochs)
        for item in sealed:
            self._check_seal(item.key, item.value, item.version)

    def _read_owners(self) -> None:
        """The owner of each leaf; a leaf of two records is a violation."""
        self.owner = {}
        prefix = ROOT + b"alloc/"
        for key, value in self.raw.items():
            if not key.startswith(prefix):
                continue
            bits = key[len(prefix) :].decode()
            size = 1 << (self.depth - len(bits))
            first = int(bits, 2) * size if bits else 0
            told = decoded(value)
            holder = (told["job"], told["uid"], told["epoch"], told["fenced"])
            for leaf in range(first, min(first + size, self.leaves)):
                if leaf in self.owner:
                    raise Violation(f"leaf {leaf} is held by two records")
                self.owner[leaf] = holder

    def _read_epochs(self) -> None:
        prefix = ROOT + b"epoch/"
        self.epochs = {
            unquote(key[len(prefix) :].decode()): decoded(value)
            for key, value in self.raw.items()
            if key.startswith(prefix)
        }

    def _check_owners(
        self,
        before: dict[int, tuple[str, int, int, bool]],
        epochs: dict[str, dict[str, Any]],
    ) -> None:
        for leaf, (job, uid, epoch, fenced) in self.owner.items():
            old = before.get(leaf)
            if old == (job, uid, epoch, fenced):
                continue
            if fenced:
                if old is None or old[:3] != (job, uid, epoch):
                    raise Violation(f"leaf {leaf}: a fence of who did not own it")
                continue
            if old is not None and (old[0], old[1], old[3]) != (job, uid, False):
                raise Violation(f"leaf {leaf} of {old} is taken by {job}")
            now = self.epochs[job]
            if (now["uid"], now["epoch"]) != (uid, epoch):
                raise Violation(f"leaf {leaf} bears a token that is not {job}'s")
            if epochs[job]["epoch"] != epoch - 1:
                raise Violation(f"leaf {leaf} changed without a new epoch of {job}")
            if ROOT + b"heartbeat/" + self._host(leaf) not in self.raw:
                raise Violation(f"leaf {leaf} was claimed on a dead host")
        for leaf, old in before.items():
            if leaf in self.owner:
                continue
            if not old[3]:
                raise Violation(f"leaf {leaf} of {old[0]} became free without a fence")
            for job, uid, epoch in self.processes.get(leaf, ()):
                if (job, uid) == old[:2] and epoch <= old[2]:
                    raise Violation(f"leaf {leaf} is free and {job} runs there")

    def _host(self, leaf: int) -> bytes:
        return next(h for h, mine in self.hosts.items() if leaf in mine).encode()

    def _check_epochs(self, before: dict[str, dict[str, Any]]) -> None:
        for job, now in self.epochs.items():
            old = before.get(job)
            if old == now:
                continue
            if old is None or old["phase"] == "GONE":
                expected = (old["uid"] + 1 if old else 1, 0, "PLAN")
                if (now["uid"], now["epoch"], now["phase"]) != expected:
                    raise Violation(f"{job} begins as {now}")
                continue
            if now["uid"] != old["uid"]:
                raise Violation(f"{job} changed its uid while it was there")
            if now["phase"] == "GONE":
                continue
            step = now["epoch"] - old["epoch"]
            if step not in (0, 1):
                raise Violation(f"{job} went from epoch {old['epoch']} by {step}")
            path = (old["phase"], now["phase"], step)
            if path not in PATHS:
                raise Violation(f"{job} went {path}")
            self.seen["->".join(path[:2])] += 1
            if path == ("RESTORE", "RUN", 0):
                self._check_run(job, now)

    def _check_run(self, job: str, now: dict[str, Any]) -> None:
        epoch, step = now["base"]
        key = f"seal/{quote(job, safe='')}/{now['uid']:010}/{epoch:010}/{step:020}".encode()
        manifest = self.raw.get(ROOT + key)
        if not manifest or decoded(manifest)["lost"] or epoch >= now["epoch"]:
            raise Violation(f"{job} runs from a manifest that is not there")

    def _check_seal(self, key: bytes, value: bytes, version: int) -> None:
        name, uid, epoch, step = key[len(ROOT) :].decode().split("/")[1:]
        job = unquote(name)
        now = self.epochs[job]
        if decoded(value)["lost"]:
            return
        if version != 1:
            raise Violation(f"{key!r} was sealed twice")
        if (int(uid), int(epoch)) != (now["uid"], now["epoch"]):
            raise Violation(f"{job}: epoch {epoch} sealed in epoch {now['epoch']}")
        if int(epoch) and now["phase"] != "RUN":
            raise Violation(f"{job} sealed in {now['phase']}")
        parent = decoded(value)["parent"]
        if int(epoch) and not tuple(parent) < (int(epoch), int(step)):
            raise Violation(f"{key!r} comes from {parent}")


PATHS = {
    ("RUN", "PLAN", 0),
    ("RESTORE", "PLAN", 0),
    ("PLAN", "RESTORE", 1),
    ("RUN", "RESTORE", 1),
    ("RESTORE", "RESTORE", 0),
    ("RESTORE", "RUN", 0),
    ("RUN", "RUN", 0),
}
