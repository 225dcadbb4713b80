"""The store in an SQLite file: conformance, and what is its own."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import ConcurrentUse, InvalidRequest, SaveError
from phalanx_core.reformation.stores import (
    Ambiguous,
    Limits,
    Put,
    SqliteStore,
    Store,
    Unavailable,
    UnknownLease,
    VirtualClock,
)
from tests.unit.reformation.stores.asking import ALL, keys_of, put, revision_of, told
from tests.unit.reformation.stores.conformance import StoreConformance


class TestSqliteStore(StoreConformance):
    """The store in a file conforms."""

    def made(self, clock: VirtualClock, folder: Path, limits: Limits) -> Store:
        """A new one."""
        return SqliteStore(folder / "store.db", clock, limits)


class Failing:
    """Runs statements, but fails at one."""

    def __init__(self, store: SqliteStore, statement: str) -> None:
        self.sql = store._sql
        self.statement = statement
        store._sql = self  # type: ignore[assignment]

    def __call__(self, statement: str, *given: Any) -> sqlite3.Cursor:
        """Run it, or fail."""
        if statement.startswith(self.statement):
            self.statement = "never again"
            raise sqlite3.OperationalError("disk I/O error")
        return self.sql(statement, *given)


@pytest.fixture
def clock() -> VirtualClock:
    """The clock of every handle."""
    return VirtualClock(1000.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a store that is not there yet."""
    return tmp_path / "store.db"


def test_all_of_it_is_there_when_opened_again(path: Path, clock: VirtualClock) -> None:
    """Keys, revisions, history, leases and compaction outlive the process."""
    store = SqliteStore(path, clock)
    lease = store.grant(10.0).number
    for at in range(4):
        put(store, b"a", b"%d" % at)
    base = put(store, b"h", b"", lease)
    store.compact(base - 2)
    store.close()
    store = SqliteStore(path, clock)
    assert store.range(b"a", base - 2).item.value == b"2"
    assert store.watch(ALL, base - 1).poll()[0].item.value == b"3"
    assert keys_of(store) == [b"a", b"h"]
    clock.advance(10.0)
    assert keys_of(store) == [b"a"]
    assert store.grant(1.0).number == lease + 1
    assert put(store, b"a") == base + 2
    store.close()


def test_handles_see_each_other(path: Path, clock: VirtualClock) -> None:
    """What one has answered, another reads, is told, and counts on from."""
    one, two = SqliteStore(path, clock), SqliteStore(path, clock)
    watch = two.watch(ALL)
    base = put(one, b"a")
    assert two.get(b"a").mod_revision == base
    assert put(two, b"a") == base + 1
    assert len(watch.poll()) == 2
    lease = one.grant(5.0).number
    put(two, b"h", b"", lease)
    clock.advance(5.0)
    assert keys_of(two) == [b"a"]
    with pytest.raises(UnknownLease):
        one.keep_alive(lease)
    one.close()
    two.close()


def test_a_watch_waits_for_what_another_handle_does(path: Path) -> None:
    """It returns with the first change, or empty when its time is over."""
    one, two = SqliteStore(path, poll_s=0.001), SqliteStore(path)
    watch = one.watch(ALL)
    assert watch.poll(0.02) == ()
    base = put(two, b"a")
    assert told(watch.poll(10.0), base) == [(False, b"a", 0)]
    one.close()
    two.close()


def test_durability_is_asked_for(path: Path) -> None:
    """The log is synchronised at every commit."""
    store = SqliteStore(path)
    assert store._sql("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._sql("PRAGMA synchronous").fetchone() == (2,)
    store.close()


def test_a_locked_file_is_unavailable(path: Path) -> None:
    """Who cannot write within its patience applied nothing; reads go on."""
    store = SqliteStore(path, busy_s=0.0)
    base = put(store, b"a")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        put(store, b"a")
    assert store.get(b"a").mod_revision == base
    other.execute("ROLLBACK")
    assert put(store, b"a") == base + 1
    other.close()
    store.close()


def test_an_error_before_the_commit_undoes_all(path: Path) -> None:
    """The answer is Unavailable, and no part of the transaction is there."""
    store = SqliteStore(path)
    base = put(store, b"a", b"1")
    for statement in ("INSERT INTO changes", "REPLACE INTO items", "SELECT key"):
        Failing(store, statement)
        with pytest.raises(Unavailable, match="disk I/O error"):
            put(store, b"a", b"2")
        assert store.get(b"a").value == b"1"
        assert revision_of(store) == base
    assert put(store, b"a", b"3") == base + 1
    store.close()


def test_an_error_in_the_commit_is_ambiguous(path: Path) -> None:
    """Nobody knows what the disk holds then; the store can be asked again."""
    store = SqliteStore(path)
    base = put(store, b"a", b"1")
    Failing(store, "COMMIT")
    with pytest.raises(Ambiguous, match="disk I/O error in a commit"):
        put(store, b"a", b"2")
    assert store.get(b"a").mod_revision == base
    assert put(store, b"a", b"3") == base + 1
    store.close()


def test_a_read_is_never_ambiguous(path: Path, clock: VirtualClock) -> None:
    """A read that must end leases first, and cannot, is refused."""
    store = SqliteStore(path, clock)
    put(store, b"a", b"", store.grant(5.0).number)
    clock.advance(5.0)
    Failing(store, "COMMIT")
    with pytest.raises(Unavailable, match="disk I/O error in a commit"):
        store.get(b"a")
    assert store.get(b"a") is None
    store.close()


def test_leases_that_are_over_end_though_the_request_is_refused(
    path: Path, clock: VirtualClock
) -> None:
    """An error of the request does not bring them back."""
    store = SqliteStore(path, clock)
    lease = store.grant(5.0).number
    put(store, b"a", b"", lease)
    clock.advance(5.0)
    with pytest.raises(UnknownLease):
        store.keep_alive(lease)
    assert store._sql("SELECT count(*) FROM items").fetchone() == (0,)
    store.close()


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    """Another program's file, another version's, or no SQLite at all."""
    foreign, later, text = (tmp_path / name for name in ("foreign", "later", "text"))
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE orders (id)")
    connection.close()
    SqliteStore(later).close()
    connection = sqlite3.connect(later)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    text.write_bytes(b"no database, but long enough to be taken for one" * 100)
    rules = {
        foreign: "another program's SQLite file",
        later: "a store of version 2: this program reads 1",
        text: "no SQLite file",
    }
    for path, rule in rules.items():
        before = path.read_bytes()
        with pytest.raises(SaveError, match=rule):
            SqliteStore(path)
        assert path.read_bytes() == before


def test_a_folder_that_is_missing_is_unavailable(tmp_path: Path) -> None:
    """A file that cannot be made is no store."""
    with pytest.raises(Unavailable, match="cannot be opened"):
        SqliteStore(tmp_path / "missing" / "store.db")


def test_a_file_that_another_makes_is_waited_for(path: Path) -> None:
    """Opening has the patience of a request, and no more."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE items (key)")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable, match="cannot be opened: database is locked"):
        SqliteStore(path, busy_s=0.02)
    other.execute("DROP TABLE items")
    timer = threading.Timer(0.05, other.execute, ["COMMIT"])
    timer.start()
    store = SqliteStore(path, busy_s=30.0)
    assert put(store, b"a") == 2
    timer.join()
    other.close()
    store.close()


@pytest.mark.parametrize("name", ["busy_s", "poll_s"])
def test_seconds_are_checked(path: Path, name: str) -> None:
    """Patience is at least 0, and no file is made for a wrong one."""
    with pytest.raises(InvalidRequest, match=f"{name} is -1"):
        SqliteStore(path, **{name: -1})
    assert not path.exists()


def test_compaction_frees_what_nobody_can_read(path: Path) -> None:
    """Of a key put often one change is left, of a deleted one none."""
    store = SqliteStore(path)
    for _ in range(20):
        put(store, b"a")
    store.transaction([], [])
    put(store, b"b")
    put(store, b"c")
    store.compact(revision_of(store))
    assert store._sql("SELECT count(*) FROM changes").fetchone() == (3,)
    store.close()


def test_a_store_is_one_thread_s(tmp_path: Path) -> None:
    """Another thread is told so, not that the store is out of reach; this one goes on."""
    store = SqliteStore(tmp_path / "store.db")
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(ConcurrentUse, match=r"store\.db"),
    ):
        pool.submit(store.get, b"a").result()
    assert store.get(b"a") is None
    store.close()


def test_damage_is_no_outage(tmp_path: Path) -> None:
    """A missing table, or pages of something else, will not be back: SaveError."""
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.transaction([], [Put(b"a", b"1")])
    other = sqlite3.connect(path)
    other.execute("DROP TABLE items")
    other.close()
    with pytest.raises(SaveError, match=r"store\.db: damaged"):
        store.get(b"a")
    store.close()


@pytest.mark.parametrize("name", ["busy_s", "poll_s"])
@pytest.mark.parametrize("value", ["x", None, -1.0, float("nan")])
def test_bad_seconds_are_named(tmp_path: Path, name: str, value: object) -> None:
    """The option, its value and the rule."""
    with pytest.raises(InvalidRequest, match=name):
        SqliteStore(tmp_path / "store.db", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="path is None"):
        SqliteStore(None)  # type: ignore[arg-type]
