"""What the writers write, read by those it is for: Open MPI and Slurm start the ranks.

Hosts are names only: daemons of all of them run on this machine, and every process says
which host it is on and which rank it has. Where a launcher is not installed its tests
are skipped; CI installs both.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx_core import Gang, Placement, Planner, Repair, Topology
from phalanx_core.placement.writers import WriteOptions, write

AGENT = """#!/bin/sh
host=$1; shift
NODE=$host exec sh -c "$*"
"""
SAY = "echo rank ${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID} on ${NODE:-$SLURMD_NODENAME}"
HOSTS = 4
SLURM = """
ClusterName=phalanx
SlurmctldHost={here}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool-%n
SlurmctldPidFile={path}/controller.pid
SlurmdPidFile={path}/%n.pid
SlurmctldLogFile={path}/controller.log
SlurmdLogFile={path}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, Placement | Repair]:
    """A gang as it was placed, and after host-0 was lost: ranks 0-1 are on host-2."""
    topology = Topology.from_spec(f"rack:1 host:{HOSTS} gpu:2")
    planner = Planner(topology)
    placed = planner.place("llm", Gang(4, group=2, within="rack"))
    planner.fail(topology.leaves("host", "host-0"))
    repair = planner.replan("llm")
    assert placed
    assert repair
    return {"placed": placed, "repaired": repair}


PLACES = {
    "placed": ["host-0", "host-0", "host-1", "host-1"],
    "repaired": ["host-2", "host-2", "host-1", "host-1"],
}


def _told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Host of each rank, as the ranks say."""
    lines = [line.split() for line in done.stdout.splitlines()]
    found = {int(words[1]): words[3] for words in lines if words[:1] == ["rank"]}
    assert found, done.stderr
    return [found[rank] for rank in range(len(found))]


def _mpirun(path: Path, *words: str) -> list[str]:
    agent = path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    command = ["mpirun", "--allow-run-as-root", "-n", "4", *words, "sh", "-c", SAY]
    settings = {
        "OMPI_MCA_plm_rsh_agent": str(agent),
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "OMPI_MCA_oob_tcp_if_include": "lo",
    }
    environment = dict(os.environ, **settings)
    for patience in (
        15,
        15,
        30,
        60,
    ):  # its daemons now and then never hear of one another
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            continue
        return _told(done)
    pytest.fail("mpirun hung four times")


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="Open MPI is not installed")
@pytest.mark.parametrize("state", ["placed", "repaired"])
def test_open_mpi_starts_each_rank_on_its_host(
    state: str, answers: dict[str, Placement | Repair], tmp_path: Path
) -> None:
    """By the hostfile, and by the rankfile, which binds cores 0 and 1 of each host."""
    for name in ("mpi-hostfile", "mpi-rankfile"):
        (tmp_path / name).write_text(write(answers[state], name, "llm"))
    hostfile = ["--hostfile", str(tmp_path / "mpi-hostfile")]
    by_slot = ["--map-by", "slot", "--bind-to", "none"]
    assert _mpirun(tmp_path, *hostfile, *by_slot) == PLACES[state]
    if (os.cpu_count() or 1) >= 2:
        rankfile = ["--rankfile", str(tmp_path / "mpi-rankfile")]
        assert _mpirun(tmp_path, *hostfile, *rankfile) == PLACES[state]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A controller and a daemon a host; the environment that finds them."""
    programs = ("slurmctld", "slurmd", "srun", "scontrol")
    if not all(shutil.which(name) for name in programs) or os.geteuid() != 0:
        pytest.skip("Slurm is not installed, or not for root")
    path = tmp_path_factory.mktemp("slurm")
    ports = _free_ports(HOSTS + 1)
    here = socket.gethostname().partition(".")[0]
    text = SLURM.format(here=here, port=ports[-1], user=getpass.getuser(), path=path)
    text += "".join(
        f"NodeName=host-{at} NodeHostname={here} NodeAddr=127.0.0.1 "
        f"Port={ports[at]} CPUs=4\n"
        for at in range(HOSTS)
    )
    (path / "slurm.conf").write_text(text)
    environment = dict(os.environ, SLURM_CONF=str(path / "slurm.conf"))
    daemons = [["slurmctld", "-c", "-D"]]
    daemons += [["slurmd", "-D", "-N", f"host-{at}"] for at in range(HOSTS)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(daemon, env=environment, **quiet) for daemon in daemons]
    try:
        _await_idle(environment, path)
        yield environment
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait(timeout=30)


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def _await_idle(environment: dict[str, str], path: Path) -> None:
    for _ in range(120):
        done = _run(environment, "sinfo", "-h", "-N", "-o", "%T")
        if done.stdout.split() == ["idle"] * HOSTS:
            return
        time.sleep(0.25)
    logs = "\n".join(log.read_text()[-500:] for log in sorted(path.glob("*.log")))
    pytest.fail(f"Slurm did not come up: {done.stdout} {done.stderr}\n{logs}")


def _run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("state", ["placed", "repaired"])
def test_slurm_starts_each_rank_on_its_host(
    state: str,
    answers: dict[str, Placement | Repair],
    slurm: dict[str, str],
    tmp_path: Path,
) -> None:
    """By the options alone where ranks are in plain order, else with the host file."""
    options = write(answers[state], "slurm", "llm").split()
    hosts = tmp_path / "hosts"
    hosts.write_text(write(answers[state], "slurm-hostfile", "llm"))
    told = dict(slurm, SLURM_HOSTFILE=str(hosts))
    environment = told if "--distribution=arbitrary" in options else slurm
    assert ("--distribution=arbitrary" in options) == (state == "repaired")
    done = _run(environment, "srun", *options, "sh", "-c", SAY)
    assert _told(done) == PLACES[state]
    nodelist = write(answers[state], "slurm-nodelist", "llm").strip()
    shown = _run(slurm, "scontrol", "show", "hostnames", nodelist)
    assert shown.stdout.split() == sorted(set(PLACES[state]))


def test_a_part_has_a_world_of_its_own(slurm: dict[str, str], tmp_path: Path) -> None:
    """The second role of a gang, started alone: its ranks count from 0."""
    planner = Planner(Topology.from_spec(f"rack:1 host:{HOSTS} gpu:2"))
    placed = planner.place("svc", Gang(parts=[Gang(2, group=2), Gang(4, group=2)]))
    assert placed
    options = write(placed, "slurm", "svc", WriteOptions(part=1)).split()
    done = _run(slurm, "srun", *options, "sh", "-c", SAY)
    hosts = placed.by_host()
    expected = [host for host, held in hosts.items() for rank, _ in held if rank >= 2]
    assert _told(done) == expected
