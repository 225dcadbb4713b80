"""A store file under several processes, and under processes that are killed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phalanx_core.reformation.stores import Range, SqliteStore, whole_revisions
from tests.unit.reformation.stores.asking import ALL, put, revision_of

ROOT = Path(__file__).resolve().parents[4]
COMMITTER = Path(__file__).with_name("committer.py")
KILLS, PROCESSES, COUNT = 30, 4, 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the store."""
    return tmp_path / "store.db"


def started(path: Path, *words: str) -> subprocess.Popen[str]:
    """A committer on a store file."""
    return subprocess.Popen(
        [sys.executable, str(COMMITTER), str(path), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )


def check_whole(store: SqliteStore, acknowledged: int) -> int:
    """Every commit that was answered is there, and every commit is whole; the last one.

    A commit is three keys of one number, so half of one would show.
    """
    items = {item.key: item for item in store.range(ALL).items}
    number = int(items[b"left"].value) if items else 0
    assert acknowledged <= number <= acknowledged + 1
    if items:
        assert items[b"right"].value == items[b"left"].value
        assert items[b"left"].version == number
    logged = [key for key in items if key.startswith(b"log/")]
    assert logged == [b"log/%08d" % at for at in range(1, number + 1)]
    parts = list(whole_revisions(store.watch(ALL, 1).poll()))
    assert [part[0].revision for part in parts] == list(range(2, number + 2))
    assert {len(part) for part in parts} <= {3}
    assert revision_of(store) == number + 1
    return number


def killed_after(path: Path, seconds: float) -> int:
    """Kill a committer so long after its first answer; the last number it was answered."""
    with started(path, "endless", "one") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(seconds)
        process.kill()
        # Not by communicate(), which forgets what readline() has read ahead.
        lines += process.stdout.readlines()
    return int(lines[-1].split()[0])


def test_what_was_answered_outlives_a_kill(path: Path, seed: int) -> None:
    """Killed thirty times in the midst of commits, no answer is lost and nothing is half."""
    drawn = random.Random(seed)
    last = 0
    for _ in range(KILLS):
        acknowledged = killed_after(path, drawn.uniform(0.0, 0.03))
        assert acknowledged > last
        store = SqliteStore(path)
        last = check_whole(store, acknowledged)
        store.close()


def test_a_log_cut_anywhere_is_a_state_of_before(tmp_path: Path, seed: int) -> None:
    """With any tail of the log missing, what is left are the first whole commits."""
    source = tmp_path / "source.db"
    process = started(source, "endless", "one")
    assert process.stdout is not None
    for _ in range(12):
        process.stdout.readline()
    process.kill()
    process.communicate()
    log = source.with_name("source.db-wal").read_bytes()
    drawn = random.Random(seed)
    seen = set()
    for at in range(40):
        copy = tmp_path / f"copy-{at}.db"
        shutil.copy(source, copy)
        cut = drawn.randrange(len(log) + 1)
        copy.with_name(f"copy-{at}.db-wal").write_bytes(log[:cut])
        store = SqliteStore(copy)
        number = revision_of(store) - 1
        assert check_whole(store, number) == number
        seen.add(number)
        store.close()
    assert len(seen) > 3


@pytest.fixture
def answers(path: Path) -> list[list[str]]:
    """All that so many processes were answered, which began on a sign together."""
    # The file is made by all of them at once.
    processes = [started(path, "all", f"p{at}", str(COUNT)) for at in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    lines = [
        line.split() for one in processes for line in one.communicate()[0].splitlines()
    ]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    return lines


def of(kind: str, answers: list[list[str]]) -> list[list[str]]:
    """Answers of a kind."""
    return [words[1:] for words in answers if words[0] == kind]


def test_processes_count_and_claim_as_one(path: Path, answers: list[list[str]]) -> None:
    """In order of revisions the counter goes up by one; no key is claimed twice."""
    raised = sorted(
        (int(revision), int(number)) for _, number, revision in of("raised", answers)
    )
    total = PROCESSES * COUNT
    assert [number for _, number in raised] == list(range(1, total + 1))
    assert len({revision for revision, _ in raised}) == total
    store = SqliteStore(path)
    assert store.get(b"count").value == b"%d" % total
    claimed = of("claimed", answers)
    assert sorted(int(at) for _, at in claimed) == list(range(COUNT))
    owners = {
        item.key: item.value for item in store.range(Range.prefix(b"alloc/")).items
    }
    assert owners == {b"alloc/" + at.encode(): name.encode() for name, at in claimed}
    assert {item.version for item in store.range(Range.prefix(b"alloc/")).items} == {1}
    store.close()


def test_a_process_that_dies_in_a_transaction_blocks_nobody(path: Path) -> None:
    """Its lock ends with it, and what it had not committed never was."""
    put(store := SqliteStore(path, busy_s=10.0), b"a")
    program = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "connection.execute('DELETE FROM items')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.communicate()
    assert put(store, b"b") == 3
    assert store.get(b"a") is not None
    store.close()
