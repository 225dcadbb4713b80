"""torchrun's environment, dealt out again as torchrun does."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import OutputError, Placement, Topology
from phalanx_core.placement.writers import WriteOptions, write
from tests.unit.placement.writers.gangs import (
    Where,
    anyhow,
    blocks,
    cluster,
    gang_on,
    in_blocks,
    where,
)


def dealt(text: str, port: int) -> Where:
    """Host and GPU of each rank: hosts by NODE_RANK, NPROC_PER_NODE ranks each."""
    rows = {}
    for line in text.splitlines():
        host, *words = shlex.split(line)
        told = dict(word.split("=", 1) for word in words)
        rows[int(told["NODE_RANK"])] = host, told
    assert sorted(rows) == list(range(len(rows)))
    found: Where = []
    for number in sorted(rows):
        host, told = rows[number]
        size = int(told["NPROC_PER_NODE"])
        assert int(told["NNODES"]) == len(rows)
        assert (told["MASTER_ADDR"], told["MASTER_PORT"]) == (rows[0][0], str(port))
        assert int(told["RANK_OFFSET"]) == number * size == len(found)
        gpus = told["CUDA_VISIBLE_DEVICES"].split(",")
        assert len(gpus) == size
        found += [(host, int(gpu)) for gpu in gpus]
    return found


@given(st.one_of(in_blocks(), anyhow()), st.integers(1, 65535))
def test_ranks_are_dealt_out_as_placed(placement: Placement, port: int) -> None:
    """Every rank finds its host and its GPU, or torchrun cannot have it so."""
    hosts = [host for host, _ in where(placement)]
    equal = len({hosts.count(host) for host in hosts}) == 1
    options = WriteOptions(master_port=port)
    if not (equal and blocks(placement)):
        with pytest.raises(OutputError, match="torchrun n"):
            write(placement, "torchrun", options=options)
        return
    text = write(placement, "torchrun", options=options)
    assert dealt(text, port) == where(placement)


def test_text() -> None:
    """A host a line; local rank 0 of the second host has GPU 3."""
    placement = gang_on(cluster(["a", "b"], 4), [0, 1, 7, 6])
    assert write(placement, "torchrun") == (
        "a NNODES=2 NODE_RANK=0 NPROC_PER_NODE=2 MASTER_ADDR=a MASTER_PORT=29500 "
        "RANK_OFFSET=0 CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1\n"
        "b NNODES=2 NODE_RANK=1 NPROC_PER_NODE=2 MASTER_ADDR=a MASTER_PORT=29500 "
        "RANK_OFFSET=2 CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=3,2\n"
    )


def test_unequal_hosts_are_refused_by_name() -> None:
    """As many processes start on each host."""
    placement = gang_on(cluster(["a", "b"], 4), [0, 1, 2, 4])
    with pytest.raises(OutputError) as refused:
        write(placement, "torchrun", 7)
    assert str(refused.value) == (
        "job 7: format 'torchrun': host 'a' has 3 ranks and 'b' has 1; torchrun needs "
        "as many on each host"
    )


def test_scattered_ranks_are_refused_by_name() -> None:
    """A host's ranks are numbered one after the other."""
    placement = gang_on(cluster(["a", "b"], 4), [0, 4, 1, 5])
    with pytest.raises(OutputError) as refused:
        write(placement, "torchrun")
    assert str(refused.value) == (
        "a gang of 4 ranks: format 'torchrun': host 'a' has ranks 0,2; torchrun "
        "numbers the ranks of one host after the other"
    )


def of_leaves(*names: str) -> Placement:
    """A gang on all leaves of one host, which are so named."""
    topology = Topology.from_labels(["host"], [["a"] * len(names)], names)
    return gang_on(topology, list(names))


@pytest.mark.parametrize(
    "names",
    [
        ("gpu-1", "gpu-0"),
        ("a/gpu1", "a/gpu0"),
        ("nvidia1", "nvidia0"),
        ("1", "0"),
        ("GPU_1", "GPU_0"),
    ],
)
def test_gpu_numbers_of_leaf_names(names: tuple[str, str]) -> None:
    """The number at the name's end is the GPU's index, whatever the leaf's place."""
    told = write(of_leaves(*names), "torchrun")
    assert told.endswith("CUDA_VISIBLE_DEVICES=1,0\n")


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        # UUIDs end in signs that only look like an index.
        (
            ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "gpu-1"),
            "must end in the GPU's",
        ),
        (
            ("GPU-8932f937-d72c-4106-c12f-abcdefabcd12", "gpu-1"),
            "must end in the GPU's",
        ),
        # The render minor of other vendors is no index.
        (("gpu-0-128", "gpu-1-129"), "must end in the GPU's index, 0 to 63"),
        (("gpu-64", "gpu-1"), "leaf 'gpu-64' of host 'a'"),
        (("gpu-01", "gpu-02"), "must end in the GPU's"),
        (("left", "right"), "must end in the GPU's"),
        (("x/gpu-0", "y/gpu-0"), "host 'a' has two leaves of GPU index 0"),
    ],
)
def test_leaves_without_a_gpu_number(names: tuple[str, str], rule: str) -> None:
    """No index is guessed."""
    with pytest.raises(OutputError, match=rule):
        write(of_leaves(*names), "torchrun")
