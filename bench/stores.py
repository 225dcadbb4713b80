"""Stores of the protocol: what the commit of a gang and its reads cost."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

from bench.timing import quantiles
from phalanx_core.experiments.timing import quiet
from phalanx_core.reformation.stores import (
    Delete,
    MemoryStore,
    Put,
    Range,
    Read,
    SqliteStore,
    Store,
    VirtualClock,
    absent,
    present,
    value_is,
)

Row = dict[str, Any]
Call = Callable[[], Any]
Span = tuple[float, int]
# A gang of 8,192 leaves is one block; the record says who has it and since which epoch.
BLOCK = b"job-0001 epoch %07d leaves 0-8191 " + b"." * 64
SITES = (b"alloc/pod-00/rail-0", b"alloc/pod-01/rail-0")


def filled(store: Store, records: int) -> Store:
    """A store that holds blocks and heartbeats of a cluster, and a gang's records."""
    puts = [Put(b"alloc/pod-%05d" % (at + 100), BLOCK % at) for at in range(records)]
    puts += [Put(b"heartbeat/host-%06d" % at, b"") for at in range(records)]
    puts += [Put(SITES[0], BLOCK % 0), Put(b"epoch/job-0001", b"0 plan")]
    for batch in _hundreds(puts):
        store.transaction([], batch)
    return store


def _hundreds(puts: list[Put]) -> Iterator[list[Put]]:
    for begin in range(0, len(puts), 100):
        yield puts[begin : begin + 100]


def commits(store: Store) -> Iterator[Call]:
    """Commits of one gang that moves to and fro: seven compares and three operations."""
    for epoch in itertools.count():
        old, new = SITES[epoch % 2], SITES[1 - epoch % 2]
        compares = [
            value_is(b"epoch/job-0001", b"%d plan" % epoch),
            value_is(old, BLOCK % epoch),
            absent(Range.prefix(new + b"/")),
            absent(new),
            absent(new.rpartition(b"/")[0]),
            present(b"heartbeat/host-000000"),
            present(b"heartbeat/host-000001"),
        ]
        then = [
            Delete(old),
            Put(new, BLOCK % (epoch + 1)),
            Put(b"epoch/job-0001", b"%d plan" % (epoch + 1)),
        ]
        otherwise = [Read(b"epoch/job-0001")]
        yield lambda c=compares, t=then, o=otherwise: store.transaction(c, t, o)


def lost(store: Store) -> Iterator[Call]:
    """The same of a loser: the first compare fails and the record is read."""
    compares = [value_is(b"epoch/job-0001", b"none")]
    while True:
        yield lambda: store.transaction(compares, [], [Read(b"epoch/job-0001")])


def inserts(connection: sqlite3.Connection) -> Iterator[Call]:
    """Rows inserted into one table, each durable when it returns."""
    for at in itertools.count():
        row = (b"epoch/job-%07d" % at, b"%d plan" % at)
        yield lambda r=row: connection.execute("INSERT INTO records VALUES (?, ?)", r)


def selects(connection: sqlite3.Connection) -> Iterator[Call]:
    """One row by its key."""
    query = "SELECT value FROM records WHERE key = ?"
    while True:
        yield lambda: connection.execute(query, (b"epoch/job-0000000",)).fetchone()


def beside(
    ours: Iterator[Call], theirs: Iterator[Call], count: int
) -> list[list[Span]]:
    """Nanoseconds, and those of the processor, of so many calls of each.

    They take turns, so that the disk is the same for both, and who goes first changes,
    because a disk that was just asked answers otherwise.
    """
    spans: list[list[Span]] = [[], []]
    pair = [(spans[0], ours), (spans[1], theirs)]
    for at in range(count):
        for kept, calls in pair if at % 2 else pair[::-1]:
            call = next(calls)
            began, before = process_time_ns(), perf_counter_ns()
            call()
            kept.append((float(perf_counter_ns() - before), process_time_ns() - began))
    return spans


def _row(name: str, peer: str, spans: list[list[Span]]) -> Row:
    ours, theirs = (quantiles([], [wall for wall, _ in one]) for one in spans)
    used = [sum(cpu for _, cpu in one) / len(one) / 1000 for one in spans]
    row = {"row": name, "ours": ours, "peer": peer, "theirs": theirs}
    return row | {"cpu us": used[0], "theirs cpu us": used[1]}


def sqlite_rows(folder: Path, records: int, count: int) -> list[Row]:
    """Commits and reads of the file beside SQLite alone, in the same folder."""
    store = filled(SqliteStore(folder / "store.db"), records)
    peer = sqlite3.connect(folder / "peer.db", isolation_level=None)
    peer.execute("PRAGMA journal_mode = WAL")
    peer.execute("PRAGMA synchronous = FULL")
    peer.execute(
        "CREATE TABLE records (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
    )
    lease = store.grant(3600.0).number
    moved, inserted, selected = commits(store), inserts(peer), selects(peer)
    beside(moved, inserted, 20)
    before = store.range(SITES[0]).revision
    told = [_row("stores/sqlite/commit", "one row", beside(moved, inserted, count))]
    if store.range(SITES[0]).revision != before + count:
        raise RuntimeError("a commit of the gang failed")
    alive = itertools.repeat(lambda: store.keep_alive(lease))
    told.append(
        _row("stores/sqlite/keep-alive", "one row", beside(alive, inserted, count))
    )
    read = itertools.repeat(lambda: store.get(SITES[0]))
    for name, calls in (("lost", lost(store)), ("get", read)):
        spans = beside(calls, selected, 5 * count)
        told.append(_row(f"stores/sqlite/{name}", "select", spans))
    store.close()
    peer.close()
    return told


def memory_row(records: int, count: int) -> Row:
    """Commits in memory, as simulated schedules have them."""
    store = filled(MemoryStore(VirtualClock()), records)
    calls, spans = commits(store), []
    for _ in range(count):
        call = next(calls)
        before = perf_counter_ns()
        call()
        spans.append(float(perf_counter_ns() - before))
    return {"row": "stores/memory/commit", "ours": quantiles([], spans)}


def measure(*, few: bool) -> list[Row]:
    """Every row; ``few`` is for a look whether it runs."""
    records, count = (100, 20) if few else (16_384, 400)
    with quiet(), tempfile.TemporaryDirectory() as folder:
        return [
            *sqlite_rows(Path(folder), records, count),
            memory_row(records, 10 * count),
        ]
