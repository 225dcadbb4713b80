"""Workload files: what is read, and the one error for each thing that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx_core.cli.goodput_model import ModelSpec
from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.cli.workload_file import (
    Entry,
    WaySpec,
    Workload,
    check_entry,
    read_workload,
)
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import Batches, Noise, Throughput

MODEL = """
    throughput: {gradient_s: 0.1, gradient_s_per_sample: 0.01, host_sync_s: 0.02,
      host_sync_s_per_gpu: 0, network_sync_s: 0.1, network_sync_s_per_gpu: 0}
    noise: {variance: 4, square: 1, initial_batch: 128}
    batches: {local_least: 32, local_most: 256, total_most: 4096}
"""


def read(tmp_path: Path, text: str) -> Workload:
    """What a file of this text says."""
    path = tmp_path / "jobs.yaml"
    path.write_text(text)
    return read_workload(str(path))


def wrong(tmp_path: Path, text: str) -> str:
    """The message that a file is refused with, its directory left out."""
    with pytest.raises(InvalidRequest) as caught:
        read(tmp_path, text)
    return str(caught.value).replace(f"{tmp_path}/", "")


def ways(entry: Entry) -> list[tuple[int, float | None]]:
    """Ranks and goodput of each configuration."""
    return [(way.spec.ranks, way.goodput) for way in entry.ways]


def test_every_key_of_a_job_is_read(tmp_path: Path) -> None:
    """A job with every key comes back with every value."""
    workload = read(
        tmp_path,
        "tenants: {a: 1, b: 2.5}\n"
        "memory_gib: {H100: 80}\n"
        "jobs:\n"
        "  - {name: j, tenant: b, ranks: 8, group: 4, within: rack, type: H100,\n"
        "     weight: 3, demand: 12, priority: -2, urgent: true, restart_s: 1,\n"
        "     checkpoint_s: 2, cold_start_s: 3, arrive_s: 4, runs_s: 5,\n"
        "     progress_s: 6, overhead_s: 7, goodput: 8, memory_gib: 9}\n",
    )
    assert workload.tenants == {"a": 1.0, "b": 2.5}
    assert workload.memory_gib == {"H100": 80.0}
    spec = JobSpec("j", 8, group=4, within="rack", type="H100")
    assert workload.jobs == (
        Entry(
            name="j",
            ways=(WaySpec("", spec, 8.0, None, 9.0),),
            tenant="b",
            weight=3.0,
            demand=12,
            priority=-2,
            urgent=True,
            restart_s=1.0,
            checkpoint_s=2.0,
            cold_start_s=3.0,
            arrive_s=4.0,
            runs_s=5.0,
            progress_s=6.0,
            overhead_s=7.0,
            row={},
        ),
    )


def test_a_list_alone_has_defaults(tmp_path: Path) -> None:
    """Without tenants and memory the file is the list of jobs."""
    workload = read(tmp_path, "- {name: a, ranks: 2}\n")
    assert (workload.tenants, workload.memory_gib) == (None, {})
    (entry,) = workload.jobs
    assert (entry.tenant, entry.weight, entry.demand) == ("default", 1.0, None)
    costs = (entry.restart_s, entry.checkpoint_s, entry.cold_start_s)
    assert costs == (30.0, 5.0, 20.0)
    assert (entry.arrive_s, entry.runs_s, entry.progress_s) == (0.0, None, 0.0)
    assert ways(entry) == [(2, 2.0)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("ranks: 8, goodput: 3", [(8, 3.0)]),
        ("ranks: 8, goodput: {8: 3}", [(8, 3.0)]),
        # Sizes are in the order of the gang, whatever that of the mapping is.
        ("ranks: 8, templates: [4], goodput: {4: 2, 8: 3}", [(8, 3.0), (4, 2.0)]),
        ("ranks: 8, templates: [4, 2], goodput: {2: 1.5, 8: 3}", [(8, 3.0), (2, 1.5)]),
        # JSON has texts for keys.
        ('ranks: 8, templates: [4], goodput: {"4": 2}', [(4, 2.0)]),
        ("ranks: 8, templates: [4]", [(8, 8.0), (4, 4.0)]),
        ("configurations: [{ranks: 8, goodput: 3}, {ranks: 4}]", [(8, 3.0), (4, 4.0)]),
        # What a configuration leaves out stands beside the list.
        ("ranks: 8, configurations: [{goodput: 3}, {ranks: 2}]", [(8, 3.0), (2, 2.0)]),
    ],
)
def test_goodput_of_each_configuration(
    tmp_path: Path, row: str, expected: list[tuple[int, float]]
) -> None:
    """Numbers, mappings, templates and lists name the same thing."""
    (entry,) = read(tmp_path, f"- {{name: a, {row}}}\n").jobs
    assert ways(entry) == expected


def test_configurations_inherit_and_say_otherwise(tmp_path: Path) -> None:
    """A configuration's own key wins over the one beside the list."""
    (entry,) = read(
        tmp_path,
        "- name: a\n"
        "  ranks: 16\n"
        "  group: 8\n"
        "  within: pod\n"
        "  memory_gib: 70\n"
        f"  model:{MODEL}"
        "  configurations:\n"
        "    - {}\n"
        "    - {ranks: 8, within: rack, type: A100, memory_gib: 30, goodput: 2}\n",
    ).jobs
    model = ModelSpec(
        Throughput(0.1, 0.01, 0.02, 0, 0.1, 0), Noise(4, 1, 128), Batches(32, 256, 4096)
    )
    first = JobSpec("a", 16, group=8, within="pod")
    second = JobSpec("a", 8, group=8, within="rack", type="A100")
    assert entry.ways == (
        WaySpec("configurations[0]", first, None, model, 70.0),
        WaySpec("configurations[1]", second, 2.0, None, 30.0),
    )


def test_a_row_reads_back_from_json(tmp_path: Path) -> None:
    """What a state file keeps of an entry makes the same entry."""
    (entry,) = read(
        tmp_path, "- {name: a, ranks: 8, templates: [4], goodput: {8: 3, 4: 2}}\n"
    ).jobs
    assert check_entry("state", 1, json.loads(json.dumps(entry.row))) == entry


ROW = "- {name: a, ranks: 8"
NO_MODEL = "- {name: a, ranks: 8, model: {throughput: {}, noise: {}, batches: {}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "jobs.yaml: a jobs file is a list of jobs, each '- name: ...', got 3"),
        ("jobs: []", "jobs.yaml: the list holds no job"),
        ("tenants: {a: 1}", "jobs.yaml: jobs: must be given"),
        (
            "job: []",
            "jobs.yaml: job: no such key; keys are tenants, memory_gib, jobs; did you "
            "mean jobs?",
        ),
        (
            "{tenants: [a], jobs: []}",
            "jobs.yaml: tenants: must be a mapping of name to number, got a list",
        ),
        ("{tenants: {}, jobs: []}", "jobs.yaml: tenants: must not be empty"),
        (
            "{tenants: {1: 1}, jobs: []}",
            "jobs.yaml: tenants: a name must be a text (quote a number), got 1",
        ),
        (
            "{tenants: {a: 0}, jobs: []}",
            "jobs.yaml: tenants.a: must be a finite number above 0, got 0",
        ),
        (
            "{memory_gib: {H100: x}, jobs: []}",
            "jobs.yaml: memory_gib.H100: must be a finite number at least 0, got 'x'",
        ),
        (
            "{tenants: {vision: 1}, jobs: [{name: a, ranks: 1, tenant: visio}]}",
            "jobs.yaml: job 'a': tenant: must be one of vision, got 'visio'; did you "
            "mean vision?",
        ),
        (
            "{tenants: {x: 1, x: 5}, jobs: []}",
            "jobs.yaml: line 1: key 'x' was given twice",
        ),
        (
            "{jobs: [], jobs: []}",
            "jobs.yaml: line 1: key 'jobs' was given twice",
        ),
        (
            f"{ROW}, goodput: {{8: 1, 8: 2}}}}",
            "jobs.yaml: line 1: key '8' was given twice",
        ),
        # One size by two texts.
        (
            f"{ROW}, goodput: {{8: 1, 0x8: 2}}}}",
            "jobs.yaml: line 1: key '0x8' was given twice",
        ),
        (
            f"{ROW}, goodput: {{8: 1, '08': 2}}}}",
            "jobs.yaml: job 'a': goodput: names size 8 twice",
        ),
        (
            f"{ROW}}}\n{ROW}}}",
            "jobs.yaml: job 'a': name: occurs twice",
        ),
        (f"{ROW}, tenant: 3}}", "jobs.yaml: job 'a': tenant: must be a name, got 3"),
        (
            f"{ROW}, weight: 0}}",
            "jobs.yaml: job 'a': weight: must be a finite number above 0, got 0",
        ),
        (
            f"{ROW}, demand: 0}}",
            "jobs.yaml: job 'a': demand: must be from 1 to 2147483647, got 0",
        ),
        (
            f"{ROW}, priority: 1.5}}",
            "jobs.yaml: job 'a': priority: must be a whole number, got 1.5",
        ),
        (
            f"{ROW}, urgent: 1}}",
            "jobs.yaml: job 'a': urgent: must be true or false, got 1",
        ),
        (
            f"{ROW}, arrive_s: -1}}",
            "jobs.yaml: job 'a': arrive_s: must be a finite number at least 0, got -1",
        ),
        (
            f"{ROW}, cold_start_s: .inf}}",
            "jobs.yaml: job 'a': cold_start_s: must be a finite number at least 0, got "
            "inf",
        ),
        (
            f"{ROW}, runs_s: 0}}",
            "jobs.yaml: job 'a': runs_s: must be a finite number above 0, got 0",
        ),
        (
            f"{ROW}, goodput: 0}}",
            "jobs.yaml: job 'a': goodput: must be a finite number above 0, got 0",
        ),
        (
            f"{ROW}, templates: [4], goodput: 3}}",
            "jobs.yaml: job 'a': goodput: must be a mapping of size to number where "
            "there are templates, got 3",
        ),
        (
            f"{ROW}, goodput: {{4: 1}}}}",
            "jobs.yaml: job 'a': goodput: sizes are 8, got 4",
        ),
        (
            f"{ROW}, goodput: {{}}}}",
            "jobs.yaml: job 'a': goodput: must name a size, 8",
        ),
        (
            f"{ROW}, goodput: {{8: x}}}}",
            "jobs.yaml: job 'a': goodput.8: must be a finite number above 0, got 'x'",
        ),
        (
            f"{ROW}, memory_gib: -1}}",
            "jobs.yaml: job 'a': memory_gib: must be a finite number at least 0, got -1",
        ),
        (
            f"{ROW}, configurations: []}}",
            "jobs.yaml: job 'a': configurations: must be a list of mappings that is "
            "not empty, got a list",
        ),
        (
            f"{ROW}, configurations: [3]}}",
            "jobs.yaml: job 'a': configurations[0]: must be a mapping, got 3",
        ),
        (
            f"{ROW}, goodput: 1, configurations: [{{}}]}}",
            "jobs.yaml: job 'a': goodput: not beside configurations, each is a size "
            "with a goodput",
        ),
        (
            f"{ROW}, configurations: [{{ranks: 0}}]}}",
            "jobs.yaml: job 'a': configurations[0]: ranks: must be from 1 to "
            "2147483647, got 0",
        ),
        (
            f"{ROW}, model: 3}}",
            "jobs.yaml: job 'a': model: must be a mapping of throughput, noise, "
            "batches, got 3",
        ),
        (
            f"{ROW}, model: {{}}}}",
            "jobs.yaml: job 'a': model: throughput: must be given",
        ),
        (
            NO_MODEL,
            "jobs.yaml: job 'a': model.throughput: gradient_s: must be given",
        ),
        # YAML 1.1 has no such numbers.
        (
            f"{ROW}, goodput: 1e6}}",
            "jobs.yaml: job 'a': goodput: must be a finite number above 0, got '1e6'; "
            "write 1.0e+6",
        ),
        (
            f"{ROW}, goodput: {{8: 2.5E3}}}}",
            "jobs.yaml: job 'a': goodput.8: must be a finite number above 0, got "
            "'2.5E3'; write 2.5e+3",
        ),
        (
            f"{ROW}, templates: [4], goodput: 1e6}}",
            "jobs.yaml: job 'a': goodput: must be a mapping of size to number where "
            "there are templates, got '1e6'",
        ),
        (
            f"{ROW}, runs_s: 1e-3}}",
            "jobs.yaml: job 'a': runs_s: must be a finite number above 0, got '1e-3'; "
            "write 1.0e-3",
        ),
        (
            f"{ROW}, weight: .5e1}}",
            "jobs.yaml: job 'a': weight: must be a finite number above 0, got '.5e1'; "
            "write 0.5e+1",
        ),
        (
            f"{ROW}, weight: -1.e2}}",
            "jobs.yaml: job 'a': weight: must be a finite number above 0, got '-1.e2'; "
            "write -1.0e+2",
        ),
        (
            f"{ROW}, demand: 1e3}}",
            "jobs.yaml: job 'a': demand: must be a whole number, got '1e3'; write 1000",
        ),
        (
            f"{ROW}, demand: 1e-3}}",
            "jobs.yaml: job 'a': demand: must be a whole number, got '1e-3'",
        ),
        (
            f"{ROW}, weight: e3}}",
            "jobs.yaml: job 'a': weight: must be a finite number above 0, got 'e3'",
        ),
        # What later sums and products would leave the doubles with.
        (
            f"{ROW}, weight: 1.0e+9}}",
            "jobs.yaml: job 'a': weight: must be from 1e-06 to 1e+06, got 1e+09",
        ),
        (
            "{tenants: {a: 1.0e-7}, jobs: []}",
            "jobs.yaml: tenants.a: must be from 1e-06 to 1e+06, got 1e-07",
        ),
        (
            "{memory_gib: {H100: 1.0e+308}, jobs: []}",
            "jobs.yaml: memory_gib.H100: must be at most 1e+09, got 1e+308",
        ),
        (
            f"{ROW}, memory_gib: 1.0e+10}}",
            "jobs.yaml: job 'a': memory_gib: must be at most 1e+09, got 1e+10",
        ),
        (
            f"{ROW}, configurations: [{{memory_gib: 1.0e+10}}]}}",
            "jobs.yaml: job 'a': configurations[0]: memory_gib: must be at most 1e+09, "
            "got 1e+10",
        ),
        (
            f"{ROW}, goodput: 1.0e+31}}",
            "jobs.yaml: job 'a': goodput: must be from 1e-30 to 1e+30, got 1e+31",
        ),
        (
            f"{ROW}, templates: [4], goodput: {{8: 1.0e+308, 4: 1.0e-308}}}}",
            "jobs.yaml: job 'a': goodput.8: must be from 1e-30 to 1e+30, got 1e+308",
        ),
        (
            f"{ROW}, configurations: [{{goodput: 1}}, {{ranks: 4, goodput: 1.0e-200}}]}}",
            "jobs.yaml: job 'a': configurations[1]: goodput: must be from 1e-30 to "
            "1e+30, got 1e-200",
        ),
    ],
)
def test_what_breaks_a_rule_is_named(tmp_path: Path, text: str, message: str) -> None:
    """One message with file, job, field, rule and value."""
    assert wrong(tmp_path, text) == message


@pytest.mark.parametrize(
    "key",
    [
        "restart_s",
        "checkpoint_s",
        "cold_start_s",
        "arrive_s",
        "runs_s",
        "progress_s",
        "overhead_s",
    ],
)
def test_seconds_have_a_bound(tmp_path: Path, key: str) -> None:
    """The last number that is taken, and one above it."""
    (entry,) = read(tmp_path, f"{ROW}, {key}: 1.0e+12}}").jobs
    assert getattr(entry, key) == 1e12
    told = f"jobs.yaml: job 'a': {key}: must be at most 1e+12, got 1e+308"
    assert wrong(tmp_path, f"{ROW}, {key}: 1.0e+308}}") == told


def test_the_bounds_themselves_are_taken(tmp_path: Path) -> None:
    """Weight, goodput and memory at both ends."""
    first, second = read(
        tmp_path,
        "tenants: {a: 1.0e-6, b: 1.0e+6}\n"
        "memory_gib: {H100: 1.0e+9}\n"
        "jobs:\n"
        "  - {name: a, tenant: a, ranks: 8, weight: 1.0e-6, goodput: 1.0e-30}\n"
        "  - {name: b, tenant: b, ranks: 8, weight: 1.0e+6, goodput: 1.0e+30,\n"
        "     memory_gib: 1.0e+9}\n",
    ).jobs
    assert (first.weight, ways(first)) == (1e-6, [(8, 1e-30)])
    assert (second.weight, ways(second)) == (1e6, [(8, 1e30)])
    assert second.ways[0].memory_gib == 1e9


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gradient_s: 0.1", "gradient_s: -1", "throughput: gradient_s -1: from 0 to"),
        ("square: 1", "squar: 1", "noise: squar: no such key; keys are variance"),
        (
            "local_least: 32",
            "local_least: 3.5",
            "batches: local_least: must be a whole number, got 3.5",
        ),
        (
            "gradient_s: 0.1",
            "gradient_s: 1.0e+308",
            "throughput: gradient_s: must be from 1e-30 to 1e+30, got 1e+308",
        ),
        (
            "gradient_s: 0.1",
            "gradient_s: 1e-1",
            "throughput: gradient_s: must be a number, got '1e-1'; write 1.0e-1",
        ),
        (
            "square: 1",
            "square: 1.0e-308",
            "noise: square: must be from 1e-30 to 1e+30, got 1e-308",
        ),
        ("local_most: 256", "local_most: 8", "batches: local_least 32, local_most 8"),
    ],
)
def test_what_is_wrong_with_a_model_is_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The message names the part of the model and the rule."""
    text = f"- name: a\n  ranks: 8\n  model:{MODEL.replace(old, new)}"
    assert wrong(tmp_path, text).startswith(f"jobs.yaml: job 'a': model.{message}")


def test_goodput_is_not_beside_a_model(tmp_path: Path) -> None:
    """Two sources of one number are refused, in a job and in a configuration."""
    told = "goodput: not beside model, which tells it"
    text = f"- name: a\n  ranks: 8\n  goodput: 1\n  model:{MODEL}"
    assert wrong(tmp_path, text) == f"jobs.yaml: job 'a': {told}"
    inner = MODEL.replace("\n    ", "\n        ")
    text = (
        "- name: a\n  configurations:\n    - ranks: 8\n      goodput: 1\n"
        f"      model:{inner}"
    )
    assert wrong(tmp_path, text) == f"jobs.yaml: job 'a': configurations[0]: {told}"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e6", 1e6), ("2.5E3", 2500.0), (".5e1", 5.0), ("+7.e02", 700.0)],
)
def test_what_is_advised_is_a_number(tmp_path: Path, text: str, value: float) -> None:
    """A file with what the message says to write is read, as the number that was meant."""
    advice = wrong(tmp_path, f"{ROW}, goodput: {text}}}").partition("; write ")[2]
    (entry,) = read(tmp_path, f"{ROW}, goodput: {advice}}}").jobs
    assert ways(entry) == [(8, value)]
