"""Runs of ``phalanx place``: state from run to run, order of events, wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"
JOBS = "examples/jobs-slurm.yaml"
LEVELS = "gpu, host, switch-0, switch-1, switch-2"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the README types them."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "88")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where a state file will be."""
    return tmp_path / "state.json"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Where a jobs file will be."""
    return tmp_path / "jobs.yaml"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The JSON document of a place run."""
    code = run(["place", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    assert document["exit_code"] == code
    return document


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit code and the one line on stderr of a run that prints nothing else."""
    code = run(list(map(str, arguments)))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return code, err.removesuffix("\n")


def status(document: dict[str, Any]) -> dict[str, str]:
    """Status of each job."""
    return {job["name"]: job["status"] for job in document["jobs"]}


def hosts(document: dict[str, Any], name: str) -> list[str]:
    """Hosts of a job in rank order."""
    (job,) = [job for job in document["jobs"] if job["name"] == name]
    return [host["host"] for host in job["hosts"]]


def test_events_happen_in_the_order_given(capsys: pytest.CaptureFixture[str]) -> None:
    """The order of --fail and --drain on the command line is kept between the two."""
    options = ("--drain", "host=dgx01", "--fail", "host=dgx02", "--drain=host=dgx17")
    document = answer(capsys, SLURM, JOBS, *options)
    events = [(event["event"], event["target"]) for event in document["events"]]
    assert events == [
        ("drain", "host=dgx01"),
        ("fail", "host=dgx02"),
        ("drain", "host=dgx17"),
    ]
    assert [event["hit"][0]["name"] for event in document["events"]] == [
        "climate",
        "climate",
        "speech",
    ]


def test_names_joined_by_commas_are_one_event(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two hosts lost at once are one repair of all their ranks."""
    document = answer(capsys, SLURM, JOBS, "--fail", "host=dgx01,dgx09")
    (event,) = document["events"]
    assert len(event["leaves"]) == 16
    assert [move["rank"] for move in event["hit"][0]["moves"]] == [
        *range(8),
        *range(64, 72),
    ]


def test_one_gpu_can_fail(capsys: pytest.CaptureFixture[str]) -> None:
    """Its whole group moves, since no other GPU of the host is free."""
    document = answer(capsys, SLURM, JOBS, "--fail", "gpu=dgx09/gpu-3")
    (mended,) = document["events"][0]["hit"]
    assert [move["rank"] for move in mended["moves"]] == list(range(64, 72))


def test_a_run_goes_on_from_its_state(
    capsys: pytest.CaptureFixture[str], state: Path, jobs: Path
) -> None:
    """Held jobs stay, new ones are placed around them, quarantine outlives the run."""
    first = answer(capsys, SLURM, JOBS, "--state", state, "--fail", "host=dgx02")
    assert status(first) == dict.fromkeys(("climate", "protein", "speech"), "placed")
    second = answer(capsys, SLURM, JOBS, "--state", state, "--heal", "host=dgx02")
    assert status(second) == dict.fromkeys(("climate", "protein", "speech"), "kept")
    assert hosts(second, "climate")[1] == "dgx10"
    # dgx02 is well, and yet its old process may still run there.
    jobs.write_text(
        "- {name: filler, ranks: 40, group: 8, within: switch-1}\n"
        "- {name: late, ranks: 16, group: 8, within: switch-1}\n"
    )
    late = [SLURM, jobs, "--state", state]
    third = answer(capsys, *late)
    assert status(third) == {"filler": "placed", "late": "refused"}
    misfit = third["jobs"][1]["misfit"]
    assert misfit["code"] == "CAPACITY"
    assert misfit["records"][-1]["quarantined"] == 8
    assert "8 quarantined" in misfit["reason"]
    fourth = answer(capsys, *late, "--fenced", "climate")
    assert status(fourth) == {"filler": "kept", "late": "placed"}
    assert hosts(fourth, "late") == ["dgx02", "dgx11"]
    fifth = answer(capsys, *late, "--release", "late", "--release", "climate")
    assert status(fifth) == {"filler": "kept", "late": "placed"}


def test_a_refused_repair_is_tried_again_first(
    capsys: pytest.CaptureFixture[str], state: Path, jobs: Path
) -> None:
    """What comes back goes to the broken gang, not to the job that came later."""
    jobs.write_text("- {name: pair, ranks: 40, group: 8, within: switch-0}\n")
    first = answer(capsys, SLURM, jobs, "--state", state, "--fail", "host=dgx13")
    assert first["exit_code"] == 1
    assert first["events"][0]["hit"][0]["misfit"]["code"] == "REPLACEMENT"
    assert hosts(first, "pair")[1] == "dgx13"
    again = answer(capsys, SLURM, jobs, "--state", state)
    (event,) = again["events"]
    assert (event["event"], event["hit"][0]["status"]) == ("resume", "refused")
    healed = answer(capsys, SLURM, jobs, "--state", state, "--heal", "host=dgx13")
    assert healed["events"] == []
    assert healed["exit_code"] == 0
    assert hosts(healed, "pair")[1] == "dgx13"


def test_state_options_are_kept_and_checked(
    capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    """Spares come from the state; other ones than it has are an error."""
    spares = ("--spares", "switch-1:host:1")
    answer(capsys, SLURM, JOBS, "--state", state, *spares)
    answer(capsys, SLURM, JOBS, "--state", state)
    answer(capsys, SLURM, JOBS, "--state", state, *spares)
    other = ("--spares", "switch-1:host:2")
    assert refusal(capsys, "place", SLURM, JOBS, "--state", state, *other) == (
        2,
        f"phalanx: --spares switch-1:host:2: {state} was made with switch-1:host:1; "
        "leave the option out or start a new state file",
    )


def test_a_held_job_may_not_ask_for_something_else(
    capsys: pytest.CaptureFixture[str], state: Path, jobs: Path
) -> None:
    """Neither of two jobs of one name is guessed to be meant; the state is unchanged."""
    jobs.write_text("- {name: a, ranks: 8}\n")
    answer(capsys, SLURM, jobs, "--state", state)
    before = state.read_bytes()
    jobs.write_text("- {name: a, ranks: 16}\n")
    code, message = refusal(capsys, "place", SLURM, jobs, "--state", state)
    assert code == 2
    assert message.startswith(f"phalanx: {jobs}: job 'a': the state holds a job")
    assert state.read_bytes() == before


def test_unusable_states(
    capsys: pytest.CaptureFixture[str], state: Path, jobs: Path
) -> None:
    """Damaged, foreign and other clusters' states end with code 3 and a reason."""
    jobs.write_text("- {name: a, ranks: 8}\n")
    answer(capsys, SLURM, jobs, "--state", state)
    whole = state.read_text()
    run_ = ("place", SLURM, jobs, "--state", state)
    state.write_text(whole.replace('"ranks": 8', '"ranks": 9'))
    assert refusal(capsys, *run_) == (
        3,
        f"phalanx: {state}: is damaged: its checksum does not match",
    )
    state.write_text("spam")
    code, message = refusal(capsys, *run_)
    assert (code, message) == (3, f"phalanx: {state}: is not a state file of phalanx")
    state.write_text(whole)
    elsewhere = ("place", "examples/clusters/nvl72-pair.yaml", jobs, "--state", state)
    assert refusal(capsys, *elsewhere) == (
        3,
        f"phalanx: {state}: was saved for another cluster: none of its 192 leaves "
        "(dgx01/gpu-0, dgx01/gpu-1, ...) is among the 144 here "
        "(gb200-a-01/gpu-0, gb200-a-01/gpu-1, ...)",
    )
    assert state.read_text() == whole


def test_a_shortage_of_spares_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    """A domain that can never hold a spare is told on stdout, not as a warning."""
    cluster = "examples/clusters/h100-64"
    spares = ("--spares", "leafgroup:host:1")
    document = answer(capsys, cluster, "examples/jobs.yaml", *spares)
    assert document["notes"] == [
        "leafgroup lg-06 holds no spare: it has 1 of level 'host', no more than the 1 "
        "wanted",
        "leafgroup lg-07 holds no spare: it has 1 of level 'host', no more than the 1 "
        "wanted",
    ]


def test_leaves_that_are_ill_at_their_source_are_down(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, jobs: Path
) -> None:
    """A tainted GPU of a ResourceSlice is never placed on."""
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(TAINTED)
    jobs.write_text("- {name: one, ranks: 1}\n- {name: two, ranks: 1}\n")
    document = answer(capsys, cluster, jobs)
    assert document["notes"] == ["1 leaves are down by their source"]
    assert status(document) == {"one": "placed", "two": "refused"}
    assert document["jobs"][0]["hosts"][0]["leaves"] == ["n1/gpu-1"]
    assert "1 down" in document["jobs"][1]["misfit"]["reason"]


TAINTED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}
    taints: [{key: gpu.nvidia.com/xid, value: "79", effect: NoExecute}]
  - name: gpu-1
    attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}
"""
KINDS = """\
apiVersion: v1
kind: Node
metadata: {name: old, labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}
status: {allocatable: {nvidia.com/gpu: "8"}}
---
apiVersion: v1
kind: Node
metadata: {name: new, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}
status: {allocatable: {nvidia.com/gpu: "8"}}
"""


def test_several_gpu_types(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, jobs: Path
) -> None:
    """Each job runs on its own type; one that names none needs --type."""
    cluster = tmp_path / "hosts.yaml"
    cluster.write_text(KINDS)
    jobs.write_text("- {name: a, ranks: 4, type: A100}\n- {name: b, ranks: 4}\n")
    document = answer(capsys, cluster, jobs, "--type", "H100")
    assert hosts(document, "a") == ["old"]
    assert hosts(document, "b") == ["new"]
    code, message = refusal(capsys, "place", cluster, jobs)
    assert code == 2
    assert message == (
        f"phalanx: {jobs}: job 'b': type: the cluster has NVIDIA-H100-80GB-HBM3, "
        "NVIDIA-A100-SXM4-80GB; the job or --type must name one"
    )


WRONG = [
    ((SLURM,), "place needs at least two paths, a cluster file and then the jobs file"),
    ((SLURM, SLURM), f"{SLURM}: the last argument is the jobs file, and this is a"),
    ((SLURM, "absent.yaml"), "absent.yaml: cannot be read: No such file or directory"),
    (("absent", JOBS), "absent: cannot be read: No such file or directory"),
    (("csrc", JOBS), "csrc: the directory has no file of .yaml .yml .json .conf"),
    # The jobs of another example: its levels are not these.
    (
        (SLURM, "examples/jobs.yaml"),
        "examples/jobs.yaml: job 'llm-70b': within: level 'superpod' does not exist; "
        f"levels are {LEVELS}",
    ),
    (
        (SLURM, JOBS, "--fail", "host=dgx1"),
        "--fail: level 'host' has no domain 'dgx1'; did you mean dgx",
    ),
    (
        (SLURM, JOBS, "--drain", "hots=dgx01"),
        f"--drain: level 'hots' does not exist; levels are {LEVELS}; did you mean host?",
    ),
    ((SLURM, JOBS, "--heal", "dgx01"), "--heal 'dgx01': must be LEVEL=NAME"),
    (
        (SLURM, JOBS, "--release", "climate"),
        "--release 'climate': there is no state that holds a job; give --state FILE",
    ),
    (
        (SLURM, JOBS, "--spares", "spine:host:1"),
        f"--spares 'spine:host:1': level 'spine' does not exist; levels are {LEVELS}",
    ),
    ((SLURM, JOBS, "--spares", "host"), "--spares 'host': must be PER:SIZE:COUNT"),
    (
        (SLURM, JOBS, "--spares", "host:switch-0:1"),
        "--spares 'host:switch-0:1': Spares(per='host', size='switch-0'): size must be",
    ),
    (
        (SLURM, JOBS, "--alignment", "buddy"),
        "--alignment buddy: Planner: alignment 'buddy' needs equal fanouts",
    ),
    (
        (SLURM, JOBS, "--type", "H200"),
        f"{JOBS}: job 'climate': type 'H200': no such GPU type among h100",
    ),
    (
        (SLURM, JOBS, "--gpus-per-host", "0"),
        "gpus_per_host must be an integer from 1 to 1024, got 0",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_input_ends_with_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """Code 2, nothing on stdout, and one line that names object, value and rule."""
    code, line = refusal(capsys, "place", *arguments)
    assert code == 2
    assert line.startswith(f"phalanx: {message}")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("within: switch0", "within: level 'switch0' does not exist"),
        (
            "group_level: switch-1, within: host, group: 4",
            "Gang(8, group=4, group_level='switch-1', within='host'): group_level",
        ),
        (
            "prefer: switch-2, within: switch-1",
            "Gang(8, within='switch-1', prefer='switch-2'): prefer 'switch-2' is above",
        ),
        ("limits: {host: {dgx1: 4}}", "limits.host: level 'host' has no domain 'dgx1'"),
        ("limits: {hots: {dgx01: 4}}", "limits: level 'hots' does not exist"),
    ],
)
def test_wrong_jobs_name_file_job_and_field(
    capsys: pytest.CaptureFixture[str], jobs: Path, keys: str, message: str
) -> None:
    """What only the topology can tell is told in the same form; nothing is placed."""
    jobs.write_text(f"- {{name: ok, ranks: 1}}\n- {{name: a, ranks: 8, {keys}}}\n")
    code, line = refusal(capsys, "place", SLURM, jobs)
    assert code == 2
    assert line.startswith(f"phalanx: {jobs}: job 'a': {message}")


def test_usage_errors_are_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback for an option that does not exist."""
    assert run(["place", SLURM, JOBS, "--fial", "host=dgx01"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "No such option: --fial" in err


@pytest.mark.parametrize("command", ["topology", "place"])
def test_help_tells_the_exit_codes(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Every command's help ends with them."""
    assert run([command, "--help"]) == 0
    assert "Exit codes: 0 all placed and repaired;" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """It is the one of the package."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"phalanx {version('phalanx_core')}\n"


def test_topology_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Levels, counts and the compile report in one document."""
    assert run(["topology", SLURM, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["levels"] == ["gpu", "host", "switch-0", "switch-1", "switch-2"]
    assert document["leaves"] == 192
    assert document["report"]["left_out"][0]["count"] == 2


def test_the_program_loads_little_until_it_runs() -> None:
    """The entry point's module pulls no command line library in by itself."""
    program = (
        "import sys, phalanx_core.cli\n"
        "print([m for m in ('typer', 'rich', 'yaml') if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


def test_a_reader_that_leaves_early_does_no_harm(state: Path) -> None:
    """The state is saved before anything is printed, and no traceback follows."""
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "phalanx_core.cli"),
            *("place", SLURM, JOBS, "--state", str(state)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    program.stdout.close()
    errors = program.stderr.read()
    program.stderr.close()
    program.wait()
    assert errors == b""
    assert json.loads(state.read_text())["phalanx_state"] == 2
