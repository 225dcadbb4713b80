"""A process that commits to a store file: ``committer.py FILE KIND NAME [COUNT]``.

Each line it prints is an answer that it had from the store, and nothing else.
"""

from __future__ import annotations

import sys

from phalanx_core.reformation.stores import (
    Item,
    Put,
    SqliteStore,
    absent,
    modified_at,
    version_is,
)


def number_of(item: Item | None) -> int:
    """What a counter's key holds."""
    return int(item.value) if item else 0


def say(*words: object) -> None:
    """One line, at once: a pipe takes it whole or not at all."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def endless(store: SqliteStore) -> None:
    """Commits of three keys that are equal, until the process is killed."""
    number = number_of(store.get(b"left"))
    while True:
        number += 1
        text = b"%d" % number
        puts = [
            Put(b"left", text),
            Put(b"right", text),
            Put(b"log/%08d" % number, text),
        ]
        result = store.transaction([version_is(b"left", number - 1)], puts)
        if not result.succeeded:
            raise SystemExit("nobody else commits here")
        say(number, result.revision)


def counting(store: SqliteStore, name: str, count: int) -> None:
    """A counter that many processes raise, each so often."""
    done = 0
    while done < count:
        item = store.get(b"count")
        guard = modified_at(b"count", item.mod_revision if item else 0)
        raised = number_of(item) + 1
        result = store.transaction([guard], [Put(b"count", b"%d" % raised)])
        if result.succeeded:
            say("raised", name, raised, result.revision)
            done += 1


def claiming(store: SqliteStore, name: str, count: int) -> None:
    """Keys that many processes want, and each may have once."""
    for at in range(count):
        key = b"alloc/%d" % at
        mine = Put(key, name.encode())
        if store.transaction([absent(key)], [mine]).succeeded:
            say("claimed", name, at)


def main(path: str, kind: str, name: str, count: str = "0") -> None:
    """Open the file and do as told."""
    store = SqliteStore(path, busy_s=60.0)
    if kind == "endless":
        endless(store)
    say("open")
    sys.stdin.readline()
    counting(store, name, int(count))
    claiming(store, name, int(count))
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
