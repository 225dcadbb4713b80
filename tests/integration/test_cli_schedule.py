"""Runs of ``phalanx schedule``: rounds, failures, state from run to run, wrong input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli.app import run
from tests.integration.clusters import SIX, write_nodes

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"
H100 = "examples/clusters/h100-64"
JOBS = "examples/jobs-schedule.yaml"
DEMO = (
    *(H100, JOBS, "--order", "owed-then-utility", "--lease", "240", "--round", "120"),
    *("--spares", "superpod:host:1", "--fail", "host=h100-036@400"),
)
# Slurm's tree has 24 hosts of 8 GPUs under 6 switches and 2 spines.
TWO = """
tenants: {a: 1, b: 1}
jobs:
  - {name: big, tenant: a, ranks: 160, group: 8, templates: [80], goodput: {160: 150, 80: 80}}
  - {name: late, tenant: b, ranks: 80, group: 8, arrive_s: 30}
"""


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the page types them."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "88")


@pytest.fixture
def jobs(tmp_path: Path) -> Callable[[str], Path]:
    """Write a jobs file."""

    def written(text: str) -> Path:
        path = tmp_path / "jobs.yaml"
        path.write_text(text)
        return path

    return written


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The JSON document of a run."""
    code = run(["schedule", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    assert document["exit_code"] == code
    return document


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit code and the one line on stderr of a run that prints nothing else."""
    code = run(["schedule", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return code, err.removesuffix("\n").removeprefix("phalanx: ")


def acts(told: dict[str, Any]) -> dict[str, list[str]]:
    """Kinds of actions by job of one round."""
    return {
        job["name"]: [one["action"] for one in job["actions"]] for job in told["jobs"]
    }


def whys(told: dict[str, Any]) -> dict[str, str]:
    """The last reason of each job of one round."""
    return {job["name"]: job["actions"][-1]["why"] for job in told["jobs"]}


def final(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The last rows by job."""
    return {job["name"]: job for job in document["jobs"]}


def test_the_demo_is_drawn(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    """Tenants, choices, placements, a failure and its repair are those of the golden."""
    assert run(["schedule", *DEMO]) == 0
    out = capsys.readouterr().out
    text, line = out.rstrip("\n").rsplit("\n", 1)
    assert re.fullmatch(r"decided in [\d.]+ ms: leases [\d.]+, .*commit [\d.]+", line)
    golden("cli/schedule-h100-64.txt", text + "\n")


def test_one_round_starts_what_fits(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """The best sizes that 192 GPUs hold, each in its domain, the rest told why."""
    path = jobs(
        "- {name: a, ranks: 96, group: 8, within: switch-1, goodput: 3}\n"
        "- {name: b, ranks: 80, group: 8, within: switch-1}\n"
        "- {name: c, ranks: 80, group: 8}\n"
        "- {name: d, ranks: 8, arrive_s: 5}\n"
    )
    document = answer(capsys, SLURM, path)
    (told,) = document["rounds"]
    assert acts(told) == {"a": ["start"], "b": ["start"], "c": ["wait"]}
    where = {job["name"]: (job["level"], job["domain"]) for job in told["jobs"]}
    assert where["a"] == ("switch-1", "spine2")
    assert where["b"] == ("switch-1", "spine1")
    taken = [leaf for job in told["jobs"] for h in job["hosts"] for leaf in h["leaves"]]
    assert len(taken) == len(frozenset(taken)) == 176
    assert told["objective"] == sum(job["worth"] for job in told["jobs"][:2]) == 2.0
    assert {name: job["state"] for name, job in final(document).items()} == {
        "a": "running",
        "b": "running",
        "c": "pending",
        "d": "coming",
    }
    assert final(document)["d"]["submitted_s"] is None
    for job in told["jobs"]:
        row = final(document)[job["name"]]
        for key in ("ranks", "type", "level", "domain", "hosts"):
            assert row[key] == job[key]


def test_leases_end_and_tenants_are_paid_back(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Who had most shrinks once its lease is over, so that the owed tenant starts."""
    path = jobs(TWO)
    options = ("--order", "owed-then-utility", "--lease", 120, "--rounds", 3)
    document = answer(capsys, SLURM, path, *options)
    first, second, third = document["rounds"]
    assert acts(first) == {"big": ["start"]}
    # A job that goes on within its lease is no change.
    assert acts(second) == {"late": ["wait"]}
    assert acts(third) == {"big": ["stop", "start"], "late": ["start"]}
    assert [row["tenant"] for row in second["tenants"]] == ["b", "a"]
    assert [row["ratio"] for row in second["tenants"]] == [0.0, 160 / 96]
    assert [job["ranks"] for job in third["jobs"]] == [80, 80]
    row = final(document)["late"]
    assert (row["submitted_s"], row["waited_s"], row["leases"]) == (30.0, 90.0, 1)
    assert final(document)["big"]["had_s"] == 160 * 120


def test_orders_choose_differently(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Utility packs two small jobs; the owed tenant's large job takes all instead."""
    path = jobs(
        "tenants: {many: 1, one: 3}\n"
        "jobs:\n"
        "  - {name: x, tenant: many, ranks: 96}\n"
        "  - {name: y, tenant: many, ranks: 96}\n"
        "  - {name: huge, tenant: one, ranks: 192, arrive_s: 50}\n"
    )
    options = ("--lease", 60, "--rounds", 2)
    found = {
        order: acts(
            answer(capsys, SLURM, path, "--order", order, *options)["rounds"][1]
        )
        for order in ("utility", "owed")
    }
    assert found["utility"] == {"x": ["keep"], "y": ["keep"], "huge": ["wait"]}
    assert found["owed"] == {
        "x": ["stop", "wait"],
        "y": ["stop", "wait"],
        "huge": ["start"],
    }


def test_rewards_order_within_a_tenant(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Of two jobs that came together the urgent one is first where that is asked."""
    path = jobs("- {name: a, ranks: 192}\n- {name: b, ranks: 192, urgent: true}\n")
    owed = answer(capsys, SLURM, path, "--order", "owed")
    assert acts(owed["rounds"][0]) == {"a": ["start"], "b": ["wait"]}
    urgent = answer(capsys, SLURM, path, "--order", "owed", "--reward", "urgent,owed")
    assert acts(urgent["rounds"][0]) == {"a": ["wait"], "b": ["start"]}
    assert urgent["rounds"][0]["objective"] is None


def test_a_failure_is_repaired_by_the_next_round(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Ranks on the lost host move, all others stay, and it is told before and after."""
    path = jobs("- {name: a, ranks: 72, group: 8, within: switch-1}\n")
    document = answer(capsys, SLURM, path, "--fail", "host=dgx02")
    first, second = document["rounds"]
    (event,) = second["events"]
    assert (event["event"], event["target"]) == ("fail", "host=dgx02@60")
    (hit,) = event["hit"]
    assert (hit["name"], hit["status"]) == ("a", "repaired")
    assert [move["rank"] for move in hit["moves"]] == list(range(8, 16))
    before, after = (
        [leaf for host in told["jobs"][0]["hosts"] for leaf in host["leaves"]]
        for told in (first, second)
    )
    assert before[:8] + before[16:] == after[:8] + after[16:]
    assert {leaf.split("/")[0] for leaf in before[8:16]} == {"dgx02"}
    assert acts(second) == {"a": ["move"]}
    assert final(document)["a"]["lost_s"] == 40.0
    assert document["exit_code"] == 0


def test_a_job_that_cannot_be_repaired_starts_elsewhere(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Its switch has no host left, and another switch is free: code 0."""
    path = jobs("- {name: a, ranks: 24, group: 8, within: switch-0}\n")
    document = answer(capsys, SLURM, path, "--fail", "host=dgx09@10")
    told = document["rounds"][1]
    (hit,) = told["events"][0]["hit"]
    assert hit["status"] == "restarted"
    assert hit["misfit"]["code"] == "REPLACEMENT"
    assert acts(told) == {"a": ["stop", "start"]}
    assert document["exit_code"] == 0


def test_a_refused_repair_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """The one switch with five hosts has lost one; the job waits, and runs once healed."""
    path = jobs("- {name: a, ranks: 40, group: 8, within: switch-0}\n")
    lost = ("--fail", "host=dgx13@70", "--heal", "host=dgx13@150")
    document = answer(capsys, SLURM, path, *lost)
    assert [acts(told) for told in document["rounds"]] == [
        {"a": ["start"]},
        {},
        {"a": ["stop", "wait"]},
        {"a": ["start"]},
    ]
    (hit,) = document["rounds"][2]["events"][0]["hit"]
    assert (hit["status"], hit["misfit"]["code"]) == ("refused", "REPLACEMENT")
    assert document["rounds"][3]["events"][0]["hit"] == []
    assert document["exit_code"] == 1


def test_a_drain_moves_jobs_and_loses_nothing(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Ranks leave the host with their work."""
    path = jobs("- {name: a, ranks: 72, group: 8, within: switch-1}\n")
    document = answer(capsys, SLURM, path, "--drain", "host=dgx02")
    told = document["rounds"][1]
    (hit,) = told["events"][0]["hit"]
    assert (hit["status"], len(hit["moves"])) == ("repaired", 8)
    assert whys(told) == {"a": "draining"}
    assert final(document)["a"]["lost_s"] == 0.0


def test_what_can_never_run_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Too large for the cluster, or for the memory of its GPUs; others run."""
    path = jobs(
        "memory_gib: {h100: 80}\n"
        "jobs:\n"
        "  - {name: vast, ranks: 400}\n"
        "  - {name: fat, ranks: 8, memory_gib: 100}\n"
        "  - {name: fine, ranks: 8, memory_gib: 80}\n"
    )
    document = answer(capsys, SLURM, path)
    (told,) = document["rounds"]
    assert whys(told) == {
        "vast": "infeasible",
        "fat": "infeasible",
        "fine": "chosen",
    }
    reasons = {job["name"]: job["actions"][0]["reason"] for job in told["jobs"]}
    assert "no switch-2 could ever hold 400 gpus" in reasons["vast"]
    assert "8 GPUs: 1.07374e+11 bytes a GPU, and h100 has" in reasons["fat"]
    assert document["exit_code"] == 1
    state = ["--state", str(path.with_name("state.json"))]
    assert run(["schedule", SLURM, str(path), *state]) == 1
    assert "vast, wait: infeasible: no switch-2" in capsys.readouterr().out
    # A later run does not tell it anew, and still ends so.
    later = answer(capsys, SLURM, path, *state)
    assert (later["rounds"][0]["jobs"], later["exit_code"]) == ([], 1)


@pytest.mark.parametrize("order", ["utility", "owed", "owed-then-utility"])
def test_two_runs_with_a_state_are_one_long_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, order: str
) -> None:
    """Wherever it is cut; jobs that come later and end are carried over."""
    run_ = (H100, JOBS, "--order", order, "--lease", "240", "--round", "120")
    long = answer(capsys, *run_, "--rounds", 9, "--fail", "host=h100-036@400")
    for cut in (1, 2, 3, 4, 8):
        state = ("--state", tmp_path / f"state-{cut}.json")
        lost = ("--fail", "host=h100-036@400")
        early, late = (lost, ()) if cut > 4 else ((), lost)
        first = answer(capsys, *run_, *state, "--rounds", cut, *early)
        second = answer(capsys, *run_, *state, "--rounds", 9 - cut, *late)
        assert first["rounds"] + second["rounds"] == long["rounds"]
        for key in ("jobs", "tenants"):
            assert second[key] == long[key]


def test_a_state_goes_on_with_new_jobs(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    jobs: Callable[[str], Path],
) -> None:
    """Jobs it knows may be left out; one whose time has passed comes at once."""
    state = ("--state", tmp_path / "state.json")
    options = (*state, "--round", 100, "--start", 50)
    path = jobs(
        "- {name: a, ranks: 8, runs_s: 60}\n- {name: z, ranks: 8, arrive_s: 170}\n"
    )
    first = answer(capsys, SLURM, path, *options)
    assert [told["now_s"] for told in first["rounds"]] == [50.0]
    assert final(first)["a"]["waited_s"] == 50.0
    path = jobs("- {name: b, ranks: 8, arrive_s: 20}\n")
    second = answer(capsys, SLURM, path, *state, "--round", 100, "--rounds", 2)
    assert [told["now_s"] for told in second["rounds"]] == [150.0, 250.0]
    assert [told["round"] for told in second["rounds"]] == [2, 3]
    rows = final(second)
    assert (rows["a"]["state"], rows["a"]["finished_s"]) == ("finished", 130.0)
    assert (rows["b"]["submitted_s"], rows["z"]["submitted_s"]) == (50.0, 170.0)


def test_a_state_is_bound_to_its_jobs_and_options(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    jobs: Callable[[str], Path],
) -> None:
    """Another job of one name, other options and another cluster change nothing."""
    file = tmp_path / "state.json"
    state = ("--state", file, "--entitlement", "demand")
    path = jobs("- {name: a, ranks: 8}\n")
    answer(capsys, SLURM, path, *state)
    before = file.read_bytes()
    assert answer(capsys, SLURM, path, "--state", file)["rounds"][0]["round"] == 2
    file.write_bytes(before)
    assert refusal(capsys, SLURM, path, "--state", file, "--entitlement", "quota") == (
        2,
        f"--entitlement quota: {file} was made with demand; leave the option out or "
        "start a new state file",
    )
    code, message = refusal(capsys, H100, path, "--state", file)
    assert code == 3
    assert message.startswith(f"{file}: ")
    path = jobs("- {name: a, ranks: 16}\n")
    code, message = refusal(capsys, SLURM, path, "--state", file)
    assert code == 2
    assert message.startswith(f"{path}: job 'a': the state holds a job of that name")
    assert file.read_bytes() == before
    run(["place", SLURM, "examples/jobs-slurm.yaml", "--state", str(file)])
    assert "is not a state file of phalanx" in capsys.readouterr().err


def test_tenants_of_a_state_may_change(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    jobs: Callable[[str], Path],
) -> None:
    """Weights are those of the file now, and a tenant may come."""
    state = ("--state", tmp_path / "state.json")
    answer(capsys, SLURM, jobs(TWO), *state)
    more = TWO.replace("{a: 1, b: 1}", "{a: 1, b: 2, c: 3}")
    document = answer(capsys, SLURM, jobs(more), *state)
    quotas = {row["tenant"]: row["quota"] for row in document["tenants"]}
    assert quotas == {"a": 32.0, "b": 64.0, "c": 96.0}
    path = jobs("- {name: x, ranks: 8, tenant: c}\n- {name: y, ranks: 8, tenant: d}\n")
    assert refusal(capsys, SLURM, path, *state) == (
        2,
        f"{path}: job 'y': tenant: must be one of a, b, c, got 'd'",
    )


def test_the_cluster_is_as_its_files_say(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    jobs: Callable[[str], Path],
) -> None:
    """Unhealthy GPUs are not used, nor cordoned ones; later words of the files count."""
    path = jobs(
        "- {name: a, ranks: 24, group: 8}\n- {name: b, ranks: 8, arrive_s: 1}\n"
    )
    state = ("--state", tmp_path / "state.json")
    nodes = tmp_path / "cluster.json"
    write_nodes(nodes, SIX, down=["h1", "h2"], cordoned=["h3"])
    first = answer(capsys, nodes, path, *state)
    assert first["notes"] == [
        "16 leaves are down by their source",
        "8 leaves are cordoned by their source",
    ]
    (told,) = first["rounds"]
    assert acts(told) == {"a": ["start"]}
    assert [host["host"] for host in told["jobs"][0]["hosts"]] == ["h4", "h5", "h6"]
    write_nodes(nodes, SIX, down=["h4"])
    second = answer(capsys, nodes, path, *state)
    (told,) = second["rounds"]
    assert acts(told) == {"a": ["move"], "b": ["start"]}
    assert not any(
        host["host"] == "h4" for job in told["jobs"] for host in job["hosts"]
    )


def test_types_are_scheduled_together(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    jobs: Callable[[str], Path],
) -> None:
    """A job that may run on either goes where it is worth most; the table names types."""
    nodes = tmp_path / "cluster.json"
    write_nodes(nodes, SIX, a100=["h4", "h5", "h6"])
    path = jobs(
        "- {name: a, ranks: 24, type: H100, goodput: 9}\n"
        "- name: b\n"
        "  ranks: 8\n"
        "  configurations: [{type: H100, goodput: 3}, {type: A100, goodput: 2}]\n"
    )
    (told,) = answer(capsys, nodes, path)["rounds"]
    assert [job["type"] for job in told["jobs"]] == [
        "NVIDIA-H100-80GB-HBM3",
        "NVIDIA-A100-SXM4-80GB",
    ]
    assert run(["schedule", str(nodes), str(path)]) == 0
    assert "24 NVIDIA-H100-80GB-HBM3" in capsys.readouterr().out


def test_quiet_rounds_are_one_line(
    capsys: pytest.CaptureFixture[str], jobs: Callable[[str], Path]
) -> None:
    """Rounds that change nothing are counted, not drawn."""
    path = jobs("- {name: a, ranks: 8}\n")
    assert run(["schedule", SLURM, str(path), "--rounds", "12"]) == 0
    out = capsys.readouterr().out
    assert "rounds 2 to 11, 60 to 600 s: nothing changes\n" in out
    assert out.count("\nround ") == 2
    assert out.count("after round") == 1


def test_a_process_prints_one_document() -> None:
    """The real program, its jobs from standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "phalanx_core.cli", "schedule", SLURM, "-", "--json"],
        cwd=ROOT,
        input="- {name: a, ranks: 8}\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert json.loads(done.stdout)["rounds"][0]["jobs"][0]["name"] == "a"
    assert done.stderr == ""


def test_the_same_input_is_the_same_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No wall clock and no order of a set is in it."""
    assert answer(capsys, *DEMO) == answer(capsys, *DEMO)
