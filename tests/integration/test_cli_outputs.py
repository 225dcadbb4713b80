"""``phalanx place --output``: from cluster files to what starts the ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"
PAIR = """
- {name: big, ranks: 16, group: 8, group_level: host}
- {name: small, ranks: 2}
"""


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the README types them."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A jobs file of two jobs."""
    path = tmp_path / "jobs.yaml"
    path.write_text(PAIR)
    return path


def place(*arguments: object) -> int:
    """Exit code of a run on the Slurm example."""
    return run(["place", SLURM, *map(str, arguments)])


def test_one_job_is_its_text_alone(
    capsys: pytest.CaptureFixture[str], jobs: Path
) -> None:
    """Ready for a pipe: no report, no heading."""
    jobs.write_text("- {name: big, ranks: 16, group: 8, group_level: host}")
    assert place(jobs, "--output", "mpi-hostfile") == 0
    assert capsys.readouterr() == ("dgx09 slots=8\ndgx10 slots=8\n", "")


def test_two_jobs_have_headings(capsys: pytest.CaptureFixture[str], jobs: Path) -> None:
    """In the order of the jobs file."""
    assert place(jobs, "--output", "slurm-nodelist") == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("# job big\ndgx[09-10]\n# job small\ndgx11\n", "")


def test_after_a_repair_the_new_hosts_are_told(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    """A file a job, and the report says where; the event is behind it."""
    out = tmp_path / "out"
    options = ("--fail", "host=dgx10", "--output", "mpi-hostfile", "--output-dir", out)
    assert place(jobs, *options) == 0
    report = capsys.readouterr().out
    assert report.endswith(
        f"\nfiles\n  big: {out}/big.hostfile\n  small: {out}/small.hostfile\n"
    )
    assert (out / "big.hostfile").read_text() == "dgx09 slots=8\ndgx01 slots=8\n"
    assert (out / "small.hostfile").read_text() == "dgx11 slots=2\n"


def test_json_names_the_files(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    """Beside the report as a document."""
    options = ("--output", "torchrun", "--output-dir", tmp_path / "out", "--json")
    assert place(jobs, *options) == 0
    document = json.loads(capsys.readouterr().out)
    path = f"{tmp_path}/out/small.torchrun"
    assert document["files"]["small"] == path
    assert Path(path).read_text() == (
        "dgx11 NNODES=1 NODE_RANK=0 NPROC_PER_NODE=2 MASTER_ADDR=dgx11 "
        "MASTER_PORT=29500 RANK_OFFSET=0 CUDA_DEVICE_ORDER=PCI_BUS_ID "
        "CUDA_VISIBLE_DEVICES=0,1\n"
    )


def test_a_refused_job_is_told_on_stderr(
    capsys: pytest.CaptureFixture[str], jobs: Path
) -> None:
    """Standard output has the others, the exit code says that not all is well."""
    jobs.write_text(PAIR + "- {name: huge, ranks: 1000}")
    assert place(jobs, "--output", "slurm-nodelist") == 1
    out, err = capsys.readouterr()
    assert out == "# job big\ndgx[09-10]\n# job small\ndgx11\n"
    assert err.startswith("phalanx: job 'huge' is refused: ")
    assert err.count("\n") == 1


def test_a_broken_job_has_nothing_to_start(
    capsys: pytest.CaptureFixture[str], jobs: Path
) -> None:
    """Where its repair is refused, the hosts it had are not written."""
    jobs.write_text("- {name: all, ranks: 192, group: 8, group_level: host}\n")
    assert place(jobs, "--fail", "host=dgx10", "--output", "slurm-nodelist") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("phalanx: job 'all' is not repaired: ")


def test_a_job_of_the_state_that_moved_is_told(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    """It must be started anew though the jobs file of this run does not name it."""
    state = ("--state", tmp_path / "state.json")
    assert place(jobs, *state) == 0
    later = tmp_path / "later.yaml"
    later.write_text("- {name: late, ranks: 8}")
    capsys.readouterr()
    options = ("--fail", "host=dgx10", "--output", "slurm-nodelist")
    assert place(later, *state, *options) == 0
    assert capsys.readouterr().out == "# job late\ndgx01\n# job big\ndgx[02,09]\n"


def test_what_a_format_cannot_say_ends_the_run(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    """Exit 2, one line; no file is written and no state is saved."""
    jobs.write_text(PAIR + "- {name: odd, ranks: 12}")
    state, out = tmp_path / "state.json", tmp_path / "out"
    options = ("--state", state, "--output", "torchrun", "--output-dir", out)
    assert place(jobs, *options) == 2
    told, err = capsys.readouterr()
    assert told == ""
    assert err == (
        "phalanx: job 'odd': format 'torchrun': host 'dgx01' has 8 ranks and 'dgx02' "
        "has 4; torchrun needs as many on each host\n"
    )
    assert not state.exists()
    assert not out.exists()


def test_a_directory_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    """Exit 74 as for standard output; the state file is saved before."""
    out, state = tmp_path / "taken" / "below", tmp_path / "state.json"
    out.parent.write_text("a file")
    options = ("--state", state, "--output", "slurm", "--output-dir", out)
    assert place(jobs, *options) == 74
    told, err = capsys.readouterr()
    assert told == ""
    assert err == f"phalanx: {out}/big.srun: cannot be written: Not a directory\n"
    assert state.exists()


def test_settings(capsys: pytest.CaptureFixture[str], jobs: Path) -> None:
    """Levels of the Kueue Topology and the size of Pods, as the cluster has them."""
    jobs.write_text("- {name: big, ranks: 16, group: 8, group_level: host}")
    options = ("--output", "kueue-v1beta1", "--output-option", "ranks_per_pod=8")
    levels = "kueue_levels=switch-0=x/leaf,host=kubernetes.io/hostname"
    assert place(jobs, *options, "--output-option", levels) == 0
    assert json.loads(capsys.readouterr().out) == {
        "levels": ["x/leaf", "kubernetes.io/hostname"],
        "domains": [
            {"values": ["leaf3", "dgx09"], "count": 1},
            {"values": ["leaf3", "dgx10"], "count": 1},
        ],
    }
