"""Slurm's options and files, dealt out again as Slurm does."""

from __future__ import annotations

import re

from ClusterShell.NodeSet import NodeSet
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import Gang, Placement, Planner, Spares
from phalanx_core.placement.writers import write
from tests.unit.placement.writers.gangs import (
    anyhow,
    blocks,
    cluster,
    gang_on,
    in_blocks,
    where,
)


def dealt(options: str, hostfile: str) -> list[str]:
    """Host of each task: block distribution over sorted hosts, or the file's lines."""
    told = dict(re.findall(r"--([a-z-]+)=(\S+)", options))
    assert options.endswith("\n")
    lines = hostfile.splitlines()
    assert len(lines) == int(told["ntasks"])
    assert len(set(lines)) == int(told["nodes"])
    if told["distribution"] == "arbitrary":
        # srun reads SLURM_HOSTFILE only where it is given no list.
        assert "nodelist" not in told
        return lines
    hosts = sorted(map(str, NodeSet(told["nodelist"])), key=_by_number)
    assert len(hosts) == int(told["nodes"])
    return [host for host in hosts for _ in range(int(told["ntasks-per-node"]))]


def _by_number(name: str) -> list[str]:
    parts = re.split(r"([0-9]+)", name)
    return [part.zfill(9) if part.isdigit() else part for part in parts]


@given(st.one_of(in_blocks(), anyhow()))
def test_tasks_are_dealt_out_as_placed(placement: Placement) -> None:
    """Whatever the ranks' order, one of the two ways gives every rank its host."""
    hosts = [host for host, _ in where(placement)]
    listed = write(placement, "slurm-nodelist")
    assert sorted(map(str, NodeSet(listed.strip()))) == sorted(set(hosts))
    file = write(placement, "slurm-hostfile")
    assert file.splitlines() == hosts
    options = write(placement, "slurm")
    assert dealt(options, file) == hosts
    if not blocks(placement):
        assert "--distribution=arbitrary" in options


def test_plain_block_order() -> None:
    """Whole hosts in the order of their names need no file."""
    placement = gang_on(cluster(["dgx01", "dgx02", "dgx03"], 2), [0, 1, 2, 3, 4, 5])
    assert write(placement, "slurm") == (
        "--nodes=3 --ntasks=6 --nodelist=dgx[01-03] --ntasks-per-node=2 "
        "--distribution=block\n"
    )
    assert write(placement, "slurm-nodelist") == "dgx[01-03]\n"
    assert (
        write(placement, "slurm-hostfile")
        == "dgx01\ndgx01\ndgx02\ndgx02\ndgx03\ndgx03\n"
    )


def test_a_repair_that_breaks_the_order_of_names() -> None:
    """Ranks 2 and 3 go to the spare, the last host by name: the file must say so."""
    topology = cluster(["dgx01", "dgx02", "dgx03", "dgx04"], 2)
    planner = Planner(topology, spares=Spares(per="rack", size="host", count=1))
    planner.place("train", Gang(6, group=2))
    planner.fail(topology.leaves("host", "dgx02"))
    repair = planner.replan("train")
    assert write(repair, "slurm") == "--nodes=3 --ntasks=6 --distribution=arbitrary\n"
    assert (
        write(repair, "slurm-hostfile") == "dgx01\ndgx01\ndgx04\ndgx04\ndgx03\ndgx03\n"
    )
    assert write(repair, "slurm-nodelist") == "dgx[01,03-04]\n"


def test_unequal_hosts_and_doubtful_orders_need_the_file() -> None:
    """Slurm's versions sort n9 and n10 in two ways; 2 + 1 tasks are not so many each."""
    uneven = gang_on(cluster(["a1", "a2"], 2), [0, 1, 2])
    assert write(uneven, "slurm") == "--nodes=2 --ntasks=3 --distribution=arbitrary\n"
    for leaves in ([0, 1, 2, 3], [2, 3, 0, 1]):
        doubtful = gang_on(cluster(["n9", "n10"], 2), leaves)
        assert "--distribution=arbitrary" in write(doubtful, "slurm")
    single = gang_on(cluster(["n9", "n10"], 2), [2])
    assert write(single, "slurm") == (
        "--nodes=1 --ntasks=1 --nodelist=n10 --ntasks-per-node=1 --distribution=block\n"
    )
