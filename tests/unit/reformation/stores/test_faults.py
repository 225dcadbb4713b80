"""Faults on command: conformance without any, and each kind by a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import (
    Ambiguous,
    Compacted,
    Fault,
    FaultKind,
    FaultyStore,
    Limits,
    Listed,
    MemoryStore,
    Put,
    Seeded,
    Store,
    StoreError,
    Unavailable,
    UnknownLease,
    VirtualClock,
    absent,
    modified_at,
)
from tests.unit.reformation.stores.asking import ALL, keys_of, put, revision_of, told
from tests.unit.reformation.stores.conformance import StoreConformance


class TestFaultyStore(StoreConformance):
    """A faulty store without faults conforms."""

    def made(self, clock: VirtualClock, folder: Path, limits: Limits) -> Store:
        """A new one, around the store in memory."""
        return FaultyStore(MemoryStore(clock, limits))


class World:
    """A store in memory, and a faulty link to it."""

    def __init__(self, script: Any = None) -> None:
        self.clock = VirtualClock()
        self.sound = MemoryStore(self.clock)
        self.link = FaultyStore(self.sound, script)

    def phrases(self) -> list[str]:
        """What the link did."""
        return [happening.what for happening in self.link.log]


def with_fault(kind: FaultKind, amount: int = 0, call: int = 0) -> World:
    """A world whose link has one fault."""
    return World(Listed({call: Fault(kind, amount)}))


def test_a_refused_call_is_not_applied() -> None:
    """Unavailable means nothing was applied, and the next call goes through."""
    world = with_fault(FaultKind.REFUSE)
    with pytest.raises(Unavailable):
        put(world.link, b"a")
    assert keys_of(world.sound) == []
    assert put(world.link, b"a") == 2
    assert world.link.log == [(0, "transaction", "refused")]


def test_a_lost_request_is_ambiguous_and_never_applied() -> None:
    """It raises what an applied one raises, and only a read tells them apart."""
    world = with_fault(FaultKind.LOSE_REQUEST)
    with pytest.raises(Ambiguous, match="no answer to transaction of call 0"):
        put(world.link, b"a")
    assert world.link.deliver() == 0
    assert keys_of(world.sound) == []


def test_a_lost_answer_is_ambiguous_though_applied() -> None:
    """The write is there, once."""
    world = with_fault(FaultKind.LOSE_ANSWER)
    with pytest.raises(Ambiguous):
        put(world.link, b"a")
    assert world.sound.get(b"a").version == 1
    assert world.link.log == [(0, "transaction", "answer lost")]


def test_a_lost_answer_may_be_an_error() -> None:
    """Who gets no answer does not learn that the store refused either."""
    world = with_fault(FaultKind.LOSE_ANSWER)
    with pytest.raises(Ambiguous):
        world.link.keep_alive(5)


def test_a_delayed_write_arrives_after_so_many_calls() -> None:
    """It lands among later calls, and its own guards decide then."""
    world = with_fault(FaultKind.DELAY, amount=2)
    with pytest.raises(Ambiguous):
        world.link.transaction([absent(b"a")], [Put(b"a", b"late")])
    assert world.link.get(b"a") is None
    assert world.link.get(b"a") is None
    assert world.link.get(b"a").value == b"late"
    assert world.phrases() == [
        "delayed by 2 calls",
        "transaction of call 0 arrives",
    ]


def test_a_delayed_write_is_passed_by_its_retry() -> None:
    """The same guarded transaction sent again wins, and the late one changes nothing."""
    world = with_fault(FaultKind.DELAY, amount=1)
    commit = [absent(b"a")], [Put(b"a", b"nonce")]
    with pytest.raises(Ambiguous):
        world.link.transaction(*commit)
    assert world.link.transaction(*commit).succeeded
    assert world.link.get(b"a").version == 1
    assert "transaction of call 0 arrives" in world.phrases()


def test_delayed_writes_overtake_each_other() -> None:
    """Two of them land in the other order when the first is delayed longer."""
    script = Listed({0: Fault(FaultKind.DELAY, 3), 1: Fault(FaultKind.DELAY, 1)})
    world = World(script)
    for value in (b"first", b"second"):
        with pytest.raises(Ambiguous):
            put(world.link, b"a", value)
    values = [world.link.get(b"a") for _ in range(3)]
    assert [item and item.value for item in values] == [None, b"second", b"first"]


def test_what_is_under_way_does_not_change_with_its_lists() -> None:
    """A caller that reuses a list changes no request that it has sent."""
    world = with_fault(FaultKind.DELAY)
    then = [Put(b"a", b"sent")]
    with pytest.raises(Ambiguous):
        world.link.transaction([], then)
    then[0] = Put(b"a", b"changed")
    assert world.link.deliver() == 1
    assert world.sound.get(b"a").value == b"sent"


def test_a_duplicate_is_applied_again_after_so_many_calls() -> None:
    """The answer is the first's; without a guard the second does the same again."""
    world = with_fault(FaultKind.DUPLICATE, amount=1)
    assert put(world.link, b"a") == 2
    assert world.link.get(b"a").version == 1
    assert world.link.get(b"a").version == 2
    assert world.phrases() == ["sent twice", "transaction of call 0 arrives"]


def test_a_guarded_duplicate_changes_nothing() -> None:
    """What compares a revision is applied once, however often it is delivered."""
    world = with_fault(FaultKind.DUPLICATE)
    assert world.link.transaction([modified_at(b"a", 0)], [Put(b"a", b"")]).succeeded
    assert world.link.get(b"a").version == 1


def test_a_stale_read_is_of_an_earlier_revision() -> None:
    """It is a true state of the past, with its revision, but no further than is kept."""
    world = with_fault(FaultKind.STALE, amount=2, call=5)
    for _ in range(4):
        put(world.link, b"a")
    assert world.link.get(b"a").version == 4
    stale = world.link.range(b"a")
    assert (stale.revision, stale.item.version) == (3, 2)
    world = with_fault(FaultKind.STALE, amount=9, call=3)
    for _ in range(2):
        put(world.link, b"a")
    world.link.compact(3)
    assert world.link.range(b"a").revision == 3


def test_a_stale_read_before_the_first_change_is_empty() -> None:
    """There is nothing earlier than revision 1."""
    world = with_fault(FaultKind.STALE, amount=9, call=1)
    put(world.link, b"a")
    assert world.link.range(ALL) == (1, ())


def test_a_broken_watch_loses_nothing() -> None:
    """Each poll raises, and a watch from the bookmark tells what it had yet to."""
    world = with_fault(FaultKind.BREAK, call=2)
    watch = world.link.watch(ALL)
    put(world.link, b"a")
    for _ in range(2):
        with pytest.raises(Unavailable, match="make another from its revision"):
            watch.poll()
    resumed = world.link.watch(ALL, watch.revision)
    assert told(resumed.poll(), 1) == [(False, b"a", 1)]


def test_a_watch_may_skip_without_a_sign() -> None:
    """Changes are gone for it, and its bookmark is behind them."""
    world = with_fault(FaultKind.SKIP, call=2)
    watch = world.link.watch(ALL)
    put(world.link, b"a")
    assert watch.poll() == ()
    assert watch.revision == 3
    put(world.link, b"b")
    assert told(watch.poll(), 1) == [(False, b"b", 2)]
    assert world.phrases() == ["1 changes skipped"]


def test_a_watch_may_repeat() -> None:
    """Changes are told twice over."""
    world = with_fault(FaultKind.REPEAT, call=2)
    watch = world.link.watch(ALL)
    put(world.link, b"a")
    assert told(watch.poll(), 1) == [(False, b"a", 1), (False, b"a", 1)]


def test_compaction_comes_under_a_watch() -> None:
    """A watch that is behind ends with the error; the call itself goes through."""
    world = with_fault(FaultKind.COMPACT, call=3)
    watch = world.link.watch(ALL)
    put(world.link, b"a")
    put(world.link, b"a")
    with pytest.raises(Compacted) as error:
        watch.poll()
    assert error.value.revision == 3
    assert world.phrases() == ["compacted to 3"]


def test_a_lease_is_made_to_expire() -> None:
    """Of those granted the one at the fault's place ends, and its keys with it."""
    world = with_fault(FaultKind.EXPIRE, amount=1, call=4)
    leases = [world.link.grant(60.0).number for _ in range(2)]
    for lease in leases:
        put(world.link, b"h%d" % lease, b"", lease)
    assert keys_of(world.link) == [b"h1"]
    with pytest.raises(UnknownLease):
        world.link.keep_alive(leases[1])
    assert world.phrases() == ["lease 2 expires"]


def test_all_leases_are_made_to_expire() -> None:
    """Every key with a lease goes before the call."""
    world = with_fault(FaultKind.EXPIRE_ALL, call=7)
    for at in range(3):
        put(world.link, b"h%d" % at, b"", world.link.grant(60.0).number)
    put(world.link, b"epoch/a")
    assert keys_of(world.link) == [b"epoch/a"]
    assert len(world.phrases()) == 3


def test_a_new_leader_starts_leases_anew() -> None:
    """A time to live is a lower bound: it starts in full, so a death is seen later."""
    world = with_fault(FaultKind.LEADER_LOSES, call=2)
    put(world.link, b"h", b"", world.link.grant(10.0).number)
    world.clock.advance(8.0)
    with pytest.raises(Unavailable):
        world.link.get(b"h")
    world.clock.advance(8.0)
    assert keys_of(world.link) == [b"h"]
    world.clock.advance(2.0)
    assert keys_of(world.link) == []


@pytest.mark.parametrize(
    ("kind", "keys"),
    [(FaultKind.LEADER_LOSES, []), (FaultKind.LEADER_APPLIES, [b"late", b"now"])],
)
def test_a_new_leader_applies_or_loses_what_is_under_way(
    kind: FaultKind, keys: list[bytes]
) -> None:
    """All of it, the call that meets the change among it, which is ambiguous."""
    world = World(Listed({0: Fault(FaultKind.DELAY, 99), 1: Fault(kind)}))
    for key in (b"late", b"now"):
        with pytest.raises(Ambiguous):
            put(world.link, key)
    assert keys_of(world.sound) == keys
    assert world.link.deliver() == 0


def test_faults_by_hand() -> None:
    """What a script can do between calls, a test can do when it wants."""
    world = World(
        Listed({2: Fault(FaultKind.DELAY, 99), 4: Fault(FaultKind.DELAY, 99)})
    )
    lease, other = world.link.grant(9.0).number, world.link.grant(9.0).number
    with pytest.raises(Ambiguous):
        put(world.link, b"a")
    assert world.link.get(b"a") is None
    with pytest.raises(Ambiguous):
        put(world.link, b"b")
    assert world.link.deliver(1) == 1
    assert world.link.lose() == 1
    assert keys_of(world.sound) == [b"a"]
    world.link.expire(lease)
    world.link.expire(lease)
    world.link.change_leader(applied=True)
    world.link.expire_all()
    with pytest.raises(UnknownLease):
        world.sound.keep_alive(other)
    assert [(one.call, one.method, one.what) for one in world.link.log] == [
        (2, "transaction", "delayed by 99 calls"),
        (4, "transaction", "delayed by 99 calls"),
        (5, "by hand", "transaction of call 2 arrives"),
        (5, "by hand", "transaction of call 4 never arrives"),
        (5, "by hand", "lease 1 expires"),
        (5, "by hand", "lease 1 had ended"),
        (5, "by hand", "another leader"),
        (5, "by hand", "lease 2 expires"),
    ]


def test_a_wrong_request_is_refused_before_any_fault() -> None:
    """It is never under way, and counts as no call."""
    world = with_fault(FaultKind.DELAY)
    for call in (
        lambda: world.link.transaction([], [Put(b"", b"")]),
        lambda: world.link.grant(-1.0),
        lambda: world.link.keep_alive(-1),
        lambda: world.link.range(b""),
        lambda: world.link.compact(-1),
    ):
        with pytest.raises(InvalidRequest):
            call()
    assert world.link.calls == 0


def test_a_fault_must_fit_its_call() -> None:
    """A listed fault that its call cannot meet is a mistake of the script."""
    world = with_fault(FaultKind.STALE)
    with pytest.raises(InvalidRequest, match=r"fault of call 0: .*STALE is none of"):
        put(world.link, b"a")
    assert keys_of(world.sound) == []


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (lambda: Listed({-1: Fault(FaultKind.REFUSE)}), "call -1: a whole number"),
        (lambda: Listed({0: Fault(FaultKind.DELAY, -1)}), "amount is at least 0"),
        (lambda: Listed({0: FaultKind.DELAY}), "faults\\[0\\] is"),
        (lambda: Seeded(0, {FaultKind.DELAY: -0.1}), "a share from 0"),
        (lambda: Seeded(0, {"delay": 0.1}), "a share from 0"),
        (lambda: Seeded(0, {FaultKind.DELAY: 0.6, FaultKind.SKIP: 0.6}), "add up"),
        (lambda: Seeded(0, {}, amount_max=-1), "amount_max is -1"),
    ],
)
def test_wrong_scripts_are_refused(made: Any, rule: str) -> None:
    """A script says what is wrong with it when it is made."""
    with pytest.raises(InvalidRequest, match=rule):
        made()


RATES = dict.fromkeys(FaultKind, 0.05)


def adding(seed: int, count: int) -> tuple[World, int]:
    """A world in which a counter was raised so often, each time until it was sure."""
    world = World(Seeded(seed, RATES, calls=6 * count))
    for at in range(count):
        nonce = b"%d" % at
        while True:
            try:
                item = world.link.range(b"count").item
                if item and item.value.split()[1] == nonce:
                    break
                value = b"%d " % (int(item.value.split()[0]) + 1 if item else 1)
                guard = modified_at(b"count", item.mod_revision if item else 0)
                # An answer says all; without one the next read does.
                world.link.transaction([guard], [Put(b"count", value + nonce)])
            except StoreError:
                continue
    return world, revision_of(world.sound)


def test_the_same_seed_gives_the_same_run() -> None:
    """Log, revision and calls are equal, and another seed's are not."""
    one, two, other = adding(3, 30), adding(3, 30), adding(4, 30)
    assert one[0].link.log == two[0].link.log
    assert (one[1], one[0].link.calls) == (two[1], two[0].link.calls)
    assert one[0].link.log != other[0].link.log


@pytest.mark.parametrize("seed", range(20))
def test_a_guarded_write_is_applied_once(seed: int) -> None:
    """Whatever is lost, delayed or doubled, a counter that is read back is exact."""
    world, revision = adding(seed, 25)
    assert world.sound.get(b"count").value == b"25 24"
    assert revision == 26
    assert len(world.link.log) > 10
