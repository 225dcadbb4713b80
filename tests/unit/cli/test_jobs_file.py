"""Jobs files: what is read, and the one error for each thing that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx_core.cli.jobs_file import (
    JobSpec,
    PartSpec,
    SliceSpec,
    check_job,
    read_jobs,
)
from phalanx_core.errors import InvalidRequest


def wrong(tmp_path: Path, text: str) -> str:
    """The message that a jobs file is refused with, its directory left out."""
    path = tmp_path / "jobs.yaml"
    path.write_text(text)
    with pytest.raises(InvalidRequest) as caught:
        read_jobs(str(path))
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_every_key_is_read(tmp_path: Path) -> None:
    """A job with every key comes back with every value."""
    path = tmp_path / "jobs.yaml"
    path.write_text(
        "- {name: a, ranks: 16, group: 8, group_level: host, within: pod,\n"
        "   prefer: rack, aim: fill, rule: fullest, type: H100,\n"
        '   limits: {host: {"*": 4, h1: 0}}}\n'
        "- name: b\n"
        "  ranks: 1\n"
    )
    assert read_jobs(str(path)) == (
        JobSpec(
            name="a",
            ranks=16,
            group=8,
            group_level="host",
            within="pod",
            prefer="rack",
            aim="fill",
            rule="fullest",
            limits={"host": {"*": 4, "h1": 0}},
            type="H100",
        ),
        JobSpec(name="b", ranks=1),
    )


def test_slices_and_balanced_are_read(tmp_path: Path) -> None:
    """As a job with them is written to a state file, and back."""
    path = tmp_path / "jobs.yaml"
    path.write_text(
        "- name: a\n"
        "  ranks: 64\n"
        "  group: 8\n"
        "  slices: [{size: 16, level: rack}, {size: 32, level: pod}]\n"
        "  balanced: rack\n"
        "  templates: [32]\n"
    )
    (job,) = read_jobs(str(path))
    assert job.slices == (SliceSpec(16, "rack"), SliceSpec(32, "pod"))
    assert job.balanced == "rack"
    assert job.templates == (32,)
    assert check_job("state", 1, job.to_dict()) == job


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ("{size: 8, level: rack}", "must be a list of {size, level}, innermost first"),
        ("[rack]", "slices[0]: must be {size, level}, got 'rack'"),
        ("[{size: 8}]", "slices[0]: must be {size, level}, got keys size"),
        ("[{size: 0, level: rack}]", "slices[0].size: must be from 1 to 2147483647"),
        ("[{size: 6, level: rack}]", "slices[0]: must be a multiple of group 4"),
        ("[{size: 8, level: null}]", "slices[0]: must name a level, got 8 per None"),
        (
            "[{size: 8, level: rack}, {size: 12, level: pod}]",
            "slices[1]: must be a multiple of slice 8",
        ),
        ("[{size: 12, level: rack}]", "ranks: must be a multiple of slice 12, got 16"),
    ],
)
def test_what_is_wrong_with_slices_is_named(
    tmp_path: Path, slices: str, message: str
) -> None:
    """File, job, field and rule."""
    text = f"- {{name: a, ranks: 16, group: 4, slices: {slices}}}"
    told = wrong(tmp_path, text)
    assert told.startswith("jobs.yaml: job 'a': ")
    assert message in told


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ("8", "templates: must be a list of falling numbers of ranks, got 8"),
        ("[a]", "templates[0]: must be a whole number, got 'a'"),
        ("[16]", "templates[0]: must fall, and be a multiple of 4, got 16"),
        ("[8, 8]", "templates[1]: must fall, and be a multiple of 4, got 8"),
        ("[6]", "templates[0]: must fall, and be a multiple of 4, got 6"),
    ],
)
def test_what_is_wrong_with_templates_is_named(
    tmp_path: Path, templates: str, message: str
) -> None:
    """File, job, field and rule."""
    text = f"- {{name: a, ranks: 16, group: 4, templates: {templates}}}"
    assert wrong(tmp_path, text) == f"jobs.yaml: job 'a': {message}"


def test_balanced_does_not_go_with_fill(tmp_path: Path) -> None:
    """What is filled is not spread."""
    told = wrong(tmp_path, "- {name: a, ranks: 4, aim: fill, balanced: rack}")
    assert told == "jobs.yaml: job 'a': balanced: does not go with aim fill"


def test_json_is_read_as_well(tmp_path: Path) -> None:
    """YAML holds JSON, so programs may write that."""
    path = tmp_path / "jobs.json"
    path.write_text('[{"name": "a", "ranks": 2}]')
    assert read_jobs(str(path)) == (JobSpec(name="a", ranks=2),)


KEYS = (
    "name, ranks, group, group_level, slices, within, prefer, aim, balanced, "
    "templates, rule, limits, type, parts"
)
BAD = [
    # An empty file is no list.
    (
        "",
        "jobs.yaml: a jobs file is a list of jobs, each '- name: ...', got nothing",
    ),
    # One job without its dash.
    (
        "name: a\nranks: 1\n",
        "jobs.yaml: a jobs file is a list of jobs, each '- name: ...', got a mapping",
    ),
    ("[]", "jobs.yaml: the list holds no job"),
    ("- 5", "jobs.yaml: job 1: must be a mapping, got 5"),
    (
        "- ranks: 1",
        "jobs.yaml: job 1: name: must be a text (quote a number), got nothing",
    ),
    # YAML reads a bare number as one.
    (
        "- {name: 7, ranks: 1}",
        "jobs.yaml: job 1: name: must be a text (quote a number), got 7",
    ),
    ("- name: a", "jobs.yaml: job 'a': ranks: must be given"),
    (
        "- {name: a, rank: 1}",
        f"jobs.yaml: job 'a': rank: no such key; keys are {KEYS}; did you mean ranks?",
    ),
    (
        "- {name: a, ranks: 0}",
        "jobs.yaml: job 'a': ranks: must be from 1 to 2147483647, got 0",
    ),
    (
        "- {name: a, ranks: -8}",
        "jobs.yaml: job 'a': ranks: must be from 1 to 2147483647, got -8",
    ),
    (
        "- {name: a, ranks: '8'}",
        "jobs.yaml: job 'a': ranks: must be a whole number, got '8'",
    ),
    # YAML 1.1 reads yes as true, and Python reads true as 1.
    (
        "- {name: a, ranks: yes}",
        "jobs.yaml: job 'a': ranks: must be a whole number, got True",
    ),
    (
        "- {name: a, ranks: 8.0}",
        "jobs.yaml: job 'a': ranks: must be a whole number, got 8.0",
    ),
    (
        "- {name: a, ranks: 12, group: 8}",
        "jobs.yaml: job 'a': group: must divide ranks, got group 8 of 12 ranks",
    ),
    (
        "- {name: a, ranks: 12, group: 0}",
        "jobs.yaml: job 'a': group: must be from 1 to 2147483647, got 0",
    ),
    (
        "- {name: a, ranks: 1, within: [pod]}",
        "jobs.yaml: job 'a': within: must be a name, got a list",
    ),
    (
        "- {name: a, ranks: 1, aim: nearest}",
        "jobs.yaml: job 'a': aim: must be near or fill, got 'nearest'; "
        "did you mean near?",
    ),
    (
        "- {name: a, ranks: 1, limits: {pod: 4}}",
        "jobs.yaml: job 'a': limits.pod: must be a mapping of level to "
        "{domain: most leaves}, got 4",
    ),
    (
        "- {name: a, ranks: 1, limits: {pod: {1: 4}}}",
        "jobs.yaml: job 'a': limits.pod: domain 1: must be a text (quote a number)",
    ),
    (
        "- {name: a, ranks: 1, limits: {pod: {p: -1}}}",
        "jobs.yaml: job 'a': limits.pod.p: must be from 0 to 2147483647, got -1",
    ),
    (
        "- {name: a, ranks: 1}\n- {name: a, ranks: 2}",
        "jobs.yaml: job 'a': name: occurs twice",
    ),
    # The last of two values would silently win.
    (
        "- name: a\n  ranks: 1\n  ranks: 2\n",
        "jobs.yaml: line 3: key 'ranks' was given in line 2 already",
    ),
    # On one line, and of what is nested, as well.
    (
        "- {name: a, ranks: 8, ranks: 16}",
        "jobs.yaml: line 1: key 'ranks' was given twice",
    ),
    (
        "- {name: a,\n   ranks: 8, ranks: 16}",
        "jobs.yaml: line 2: key 'ranks' was given twice",
    ),
    (
        '[{"name": "a", "ranks": 8, "name": "b"}]',
        "jobs.yaml: line 1: key 'name' was given twice",
    ),
    (
        "- {name: a, ranks: 8, limits: {host: {h1: 0, h1: 4}}}",
        "jobs.yaml: line 1: key 'h1' was given twice",
    ),
    # Aliases are how a small file becomes a large one.
    (
        "- &a {name: a, ranks: 1}\n- *a\n",
        "jobs.yaml: line 2: aliases (*a) are not read",
    ),
    ("[" * 20, "jobs.yaml: nested deeper than 8"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    """One error names file, job, field and rule."""
    assert wrong(tmp_path, text) == message


def test_a_key_may_recur_elsewhere(tmp_path: Path) -> None:
    """Jobs of one line have the same keys, and a value may be called as a key is."""
    path = tmp_path / "jobs.yaml"
    path.write_text(
        "[{name: ranks, ranks: 1}, {name: name, ranks: 1, limits: {host: {-: 1, -1.x: 1}}}]"
    )
    assert [job.name for job in read_jobs(str(path))] == ["ranks", "name"]


def test_broken_yaml_names_line_and_column(tmp_path: Path) -> None:
    """What the parser says comes through in one line."""
    message = wrong(tmp_path, "- name: a\n  ranks: [1\n")
    assert message.startswith("jobs.yaml: not YAML: ")
    assert "line 3, column 1" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "text",
    [
        # Code in a file of data.
        "- !!python/object/apply:os.system [ls]",
        # A list is no key.
        "- {name: a, ? [1] : 2}",
        "- {name: a, ranks: !!int x}",
        # A control character.
        "- \x00",
    ],
)
def test_odd_yaml_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    """Whatever YAML can express, a wrong file gives one line."""
    assert wrong(tmp_path, text).startswith("jobs.yaml: not YAML: ")


def test_unreadable_files(tmp_path: Path) -> None:
    """A file that is absent, a directory, binary or huge is refused by name."""
    absent = tmp_path / "absent.yaml"
    with pytest.raises(InvalidRequest, match="cannot be read: No such file"):
        read_jobs(str(absent))
    with pytest.raises(InvalidRequest, match="jobs file, and this is a directory"):
        read_jobs(str(tmp_path))
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(InvalidRequest, match="cannot be read: not UTF-8 text"):
        read_jobs(str(binary))
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (4 << 20) + b"\n")
    with pytest.raises(InvalidRequest, match="at most 4194304 bytes"):
        read_jobs(str(huge))


def test_parts_are_read(tmp_path: Path) -> None:
    """Ranks are those of the parts; a state file's words read back the same."""
    path = tmp_path / "jobs.yaml"
    path.write_text(
        "- name: serve\n"
        "  within: rack\n"
        "  parts:\n"
        "    - {ranks: 8, group: 8}\n"
        "    - {ranks: 16, group: 4, slices: [{size: 8, level: host}], balanced: host,\n"
        "       within: rack, group_level: host, limits: {host: {h1: 0}}}\n"
    )
    (job,) = read_jobs(str(path))
    assert (job.ranks, job.within) == (24, "rack")
    assert job.parts == (
        PartSpec(8, group=8),
        PartSpec(
            16,
            group=4,
            group_level="host",
            slices=(SliceSpec(8, "host"),),
            within="rack",
            balanced="host",
            limits={"host": {"h1": 0}},
        ),
    )
    assert check_job("state", 1, json.loads(json.dumps(job.to_dict()))) == job


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("parts: 3", "parts: must be a list of mappings, one a role, got 3"),
        ("parts: [3]", "parts[0]: must be a mapping, got 3"),
        ("parts: [{group: 2}]", "parts[0]: ranks: must be given"),
        (
            "parts: [{ranks: 2}, {ranks: 3, group: 2}]",
            "parts[1]: group: must divide ranks, got group 2 of 3 ranks",
        ),
        (
            "parts: [{ranks: 2, rnks: 3}]",
            "parts[0]: rnks: no such key; keys are ranks,",
        ),
        ("parts: [{ranks: 2, prefer: pod}]", "parts[0]: prefer: no such key; keys are"),
        ("parts: [{ranks: 2}], group: 2", "group: beside parts, each has its own"),
        ("parts: [{ranks: 2}], aim: fill", "aim: not for a job of parts"),
        ("parts: [{ranks: 2}], ranks: 3", "ranks: the parts have 2 in all"),
        ("parts: []", "ranks: must be given"),
    ],
)
def test_what_is_no_part_is_named(tmp_path: Path, job: str, message: str) -> None:
    """The part, its field and the rule."""
    told = wrong(tmp_path, f"- {{name: a, {job}}}\n")
    assert told.startswith(f"jobs.yaml: job 'a': {message}")
