"""Open MPI's files read back by the rules of its manual."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import OutputError, Placement
from phalanx_core.placement.writers import WriteOptions, write
from tests.unit.placement.writers.gangs import (
    anyhow,
    blocks,
    cluster,
    gang_on,
    in_blocks,
    where,
)


@given(st.one_of(in_blocks(), anyhow()))
def test_hostfile_by_slot(placement: Placement) -> None:
    """Slots filled in file order give every rank its host, or the file is refused."""
    if not blocks(placement):
        with pytest.raises(OutputError, match="use 'mpi-rankfile'"):
            write(placement, "mpi-hostfile")
        return
    dealt: list[str] = []
    for line in write(placement, "mpi-hostfile").splitlines():
        host, slots = line.split(" slots=")
        dealt += [host] * int(slots)
    assert dealt == [host for host, _ in where(placement)]


@given(anyhow(), st.integers(1, 6))
def test_rankfile(placement: Placement, cores: int) -> None:
    """Every rank has its host, and cores that only its GPU's number gives."""
    text = write(placement, "mpi-rankfile", options=WriteOptions(cores_per_gpu=cores))
    dealt = []
    for rank, line in enumerate(text.splitlines()):
        match = re.fullmatch(r"rank (\d+)=(\S+) slot=(\d+)(?:-(\d+))?", line)
        assert match is not None
        assert int(match[1]) == rank
        first, last = int(match[3]), int(match[4] or match[3])
        assert last - first + 1 == cores
        dealt.append((match[2], first // cores))
    assert dealt == where(placement)


def test_hostfile_text() -> None:
    """Hosts in the order of ranks, with as many slots as they have ranks."""
    placement = gang_on(cluster(["b", "a"], 4), [4, 5, 6, 0, 1])
    assert write(placement, "mpi-hostfile") == "a slots=3\nb slots=2\n"


def test_rankfile_text() -> None:
    """Ranks that alternate between hosts, each bound beside its GPU."""
    placement = gang_on(cluster(["a", "b"], 4), [0, 7, 2])
    assert write(placement, "mpi-rankfile") == (
        "rank 0=a slot=0\nrank 1=b slot=3\nrank 2=a slot=2\n"
    )
    told = write(placement, "mpi-rankfile", options=WriteOptions(cores_per_gpu=8))
    assert told == "rank 0=a slot=0-7\nrank 1=b slot=24-31\nrank 2=a slot=16-23\n"


def test_hostfile_names_what_it_cannot_say() -> None:
    """The host, its ranks and the format that can."""
    placement = gang_on(cluster(["a", "b"], 4), [0, 4, 1])
    with pytest.raises(OutputError) as refused:
        write(placement, "mpi-hostfile", "llm")
    assert str(refused.value) == (
        "job 'llm': format 'mpi-hostfile': host 'a' has ranks 0,2; a hostfile fills "
        "one host after the other: use 'mpi-rankfile'"
    )


@pytest.mark.parametrize("format", ["mpi-hostfile", "mpi-rankfile"])
@pytest.mark.parametrize(
    ("host", "rule"),
    [
        # Keywords of its two files.
        ("slots", "keyword"),
        ("max-slots", "keyword"),
        ("rank", "keyword"),
        ("cores_per_socket", "keyword"),
        # Read as a number.
        ("17", "that is a number"),
        # A dotted name that begins with a digit is read up to the dot.
        ("1a.example", "begin with a letter"),
    ],
)
def test_names_that_open_mpi_misreads(format: str, host: str, rule: str) -> None:
    """Refused by name, as mpirun would start elsewhere or not at all."""
    with pytest.raises(OutputError, match=f"host '{host}': .*{rule}"):
        write(gang_on(cluster([host, "b"]), [0]), format)


@pytest.mark.parametrize("host", ["a.example", "10.0.0.7", "1a", "Slots", "slots1"])
def test_names_that_open_mpi_reads(host: str) -> None:
    """Keywords count in full and in lower case; an address is no number."""
    placement = gang_on(cluster([host, "b"]), [0])
    assert write(placement, "mpi-hostfile") == f"{host} slots=1\n"
