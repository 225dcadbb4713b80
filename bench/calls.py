"""Rows from Python, call by call and in batches, beside the binding's floor and peers.

The floor is a call of the binding with a pointer and an integer that does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bench.peers import NumpyScan, SetBuddy, SortedBuddy
from bench.timing import Stopwatch
from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.experiments.timing import quiet
from phalanx_core.native import lib

SPECS = {1024: "pod:4 rail:2 host:16 gpu:8", 131072: "pod:64 rail:8 host:32 gpu:8"}
BLOCK = 50
GANG_ORDERS = range(7)

Row = dict[str, Any]


def planner_of(leaves: int) -> Planner:
    """The paper's planner: one spare host a pod, aligned blocks."""
    spares = Spares(per="pod", size="host", count=1)
    return Planner(Topology.from_spec(SPECS[leaves]), spares=spares, alignment="buddy")


def checksum(decisions: Iterable[int]) -> str:
    """A short name of a list of decisions; the same on every machine."""
    total = 0
    for decision in decisions:
        total = ((total ^ decision) * 0x100000001B3) % 2**64
    return f"{total:016x}"


def loaded(leaves: int, seed: int) -> tuple[Planner, np.random.Generator]:
    """A planner at about 80 % load, with holes of every size."""
    planner = planner_of(leaves)
    rng = np.random.default_rng(seed)
    orders = rng.integers(0, len(GANG_ORDERS), leaves // 12)
    handles = planner.place_many(1 << orders, Gang(1))[0]
    handles = handles[handles >= 0]
    drop = rng.random(handles.size) < 0.2
    planner.release_many(handles[drop])
    return planner, rng


def load(buddy: SetBuddy, leaves: int, seed: int) -> None:
    """The load of :func:`loaded`, on a peer."""
    rng = np.random.default_rng(seed)
    orders = rng.integers(0, len(GANG_ORDERS), leaves // 12).tolist()
    placed = [(buddy.place(order), order) for order in orders]
    held = [(first, order) for first, order in placed if first is not None]
    drop = rng.random(len(held)) < 0.2
    for (first, order), gone in zip(held, drop.tolist(), strict=True):
        if gone:
            buddy.release(first, order)


def floor(planner: Planner, rounds: int) -> Stopwatch:
    """The binding's own cost: pointer and integer in, integer out."""
    watch = Stopwatch()
    arguments = [(planner._core, 0)] * BLOCK
    for _ in range(rounds):
        watch.block(lib.phx_gang_ranks, arguments)
        watch.each(lib.phx_gang_ranks, arguments)
    return watch


def against(
    row: str, leaves: int, ours: Stopwatch, peer: str, theirs: Stopwatch
) -> Row:
    """One row of the report."""
    return {
        "row": row,
        "leaves": leaves,
        "ours": ours.quantiles(),
        "peer": peer,
        "theirs": theirs.quantiles(),
    }


def place_release(leaves: int, seed: int, rounds: int) -> list[Row]:
    """Place and Release, one call each with the full result, beside floor and buddies."""
    planner, rng = loaded(leaves, seed)
    orders_used = 3 if leaves < 8192 else len(GANG_ORDERS)
    gangs = [Gang(1 << order) for order in GANG_ORDERS]
    watches = {name: Stopwatch() for name in ("place", "release")}
    peers = {"set buddy": SetBuddy, "sorted buddy": SortedBuddy}
    beside = {
        name: (kind(leaves.bit_length() - 1), Stopwatch(), Stopwatch())
        for name, kind in peers.items()
    }
    for buddy, _, _ in beside.values():
        load(buddy, leaves, seed)
    firsts = []
    base = floor(planner, 1)
    with quiet():
        for round_index in range(rounds):
            orders = rng.integers(0, orders_used, BLOCK).tolist()
            jobs = range(round_index * BLOCK, (round_index + 1) * BLOCK)
            asks = [
                (job, gangs[order]) for job, order in zip(jobs, orders, strict=True)
            ]
            mode = "each" if round_index % 2 else "block"
            placed = getattr(watches["place"], mode)(planner.place, asks)
            held = [(job,) for job, one in zip(jobs, placed, strict=True) if one]
            getattr(watches["release"], mode)(planner.release, held)
            firsts += [int(one.leaves[0]) for one in placed if one]
            for buddy, place, release in beside.values():
                found = getattr(place, mode)(
                    buddy.place, [(order,) for order in orders]
                )
                blocks = [
                    pair
                    for pair in zip(found, orders, strict=True)
                    if pair[0] is not None
                ]
                getattr(release, mode)(buddy.release, blocks)
            getattr(base, mode)(lib.phx_gang_ranks, [(planner._core, 0)] * BLOCK)
    rows = []
    for name in ("place", "release"):
        rows.append(
            against(f"python/{name}", leaves, watches[name], "binding floor", base)
        )
        for peer, (_, *pair) in beside.items():
            theirs = pair[name == "release"]
            row = f"python/{name}/{peer.replace(' ', '-')}"
            rows.append(against(row, leaves, watches[name], peer, theirs))
    rows[0]["checksum"] = checksum(firsts)
    return rows


def filled(leaves: int, seed: int) -> tuple[Planner, dict[int, Gang]]:
    """The paper's fill: sizes uniform over powers of two from 32, until 90 %."""
    planner = planner_of(leaves)
    rng = np.random.default_rng(seed)
    sizes = [
        32 << order for order in range((min(leaves // 16, 8192) // 32).bit_length())
    ]
    gangs = [Gang(size, group=8) for size in sizes]
    jobs: dict[int, Gang] = {}
    used = 0
    for job in range(leaves // 32):
        gang = gangs[int(rng.integers(len(gangs)))]
        if planner.place(job, gang):
            used += gang.ranks
            jobs[job] = gang
        if used >= 0.9 * leaves:
            break
    return planner, jobs


def lose_hosts(planner: Planner, hit: list[int], rng: np.random.Generator) -> list[int]:
    """One host of each of these jobs fails; the leaves lost."""
    lost: list[int] = []
    for job in hit:
        ranks = planner.placement(job).leaves
        at = 8 * int(rng.integers(ranks.size // 8))
        lost += ranks[at : at + 8].tolist()
    planner.fail(lost)
    return lost


def replan(leaves: int, seed: int, rounds: int) -> list[Row]:
    """Replan after a host failure, applied, with the full result, beside the floor.

    Each job is repaired once while it is as it was placed, then once more. Every other
    round times the hosts' repairs as a block, the rounds between one by one.
    """
    planner, jobs = filled(leaves, seed)
    rng = np.random.default_rng(seed + 1)
    watches, base = (Stopwatch(), Stopwatch()), Stopwatch()
    moved: list[int] = []
    with quiet():
        for turn in range(rounds):
            hit = rng.choice(sorted(jobs), min(50, len(jobs)), replace=False).tolist()
            for watch in watches:
                lost = lose_hosts(planner, hit, rng)
                timed = watch.each if turn % 2 else watch.block
                repairs = timed(planner.replan, [(job,) for job in hit])
                moved += [int(one.moves[0, 2]) for one in repairs if one]
                planner.heal(lost)
                for job in hit:
                    planner.fenced(job)
            base.block(lib.phx_gang_ranks, [(planner._core, 0)] * len(hit))
            for job in hit:
                planner.release(job)
            for job in hit:
                if not planner.place(job, jobs[job]):
                    del jobs[job]
    rows = [
        against(name, leaves, watch, "binding floor", base)
        for name, watch in zip(
            ("python/replan", "python/replan/again"), watches, strict=True
        )
    ]
    rows[0]["checksum"] = checksum(moved)
    return rows


def batch(leaves: int, seed: int, rounds: int) -> list[Row]:
    """Batches of gangs in one call, per gang, beside buddies called one by one."""
    count = 10_000 if leaves > 100_000 else 40
    rng = np.random.default_rng(seed)
    orders = rng.integers(0, 6, count)
    sizes = (1 << orders).astype(np.uint32)
    planner = planner_of(leaves)
    order_list = orders.tolist()
    place, release = Stopwatch(), Stopwatch()
    sets = (Stopwatch(), Stopwatch())
    scan = Stopwatch()
    gang = Gang(1)
    leaves_seen: list[int] = []
    with quiet():
        for _ in range(rounds):
            handles, _, offsets, found = place.block(
                planner.place_many, [(sizes, gang)]
            )[0]
            release.block(planner.release_many, [(handles,)])
            leaves_seen = found[offsets[:-1]].tolist()
            buddy = SetBuddy(leaves.bit_length() - 1)
            firsts = sets[0].block(buddy.place, [(order,) for order in order_list])
            sets[1].block(buddy.release, list(zip(firsts, order_list, strict=True)))
        numpy_scan = NumpyScan(leaves.bit_length() - 1)
        for order in order_list[:200]:
            scan.block(numpy_scan.place, [(order,)])
    for watch in (place, release):
        watch.blocks = [span / count for span in watch.blocks]
    rows = [
        against("python/batch/place", leaves, place, "set buddy", sets[0]),
        against("python/batch/release", leaves, release, "set buddy", sets[1]),
        against("python/batch/place/numpy-scan", leaves, place, "numpy scan", scan),
    ]
    rows[0]["checksum"] = checksum(leaves_seen)
    return rows
