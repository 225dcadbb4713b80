"""The options of --output, and the files it names."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from phalanx_core.cli.exits import FileFault
from phalanx_core.cli.options import Output as OutputArgument
from phalanx_core.cli.outputs import Output, files, joined, save, wanted_output
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.writers import FORMATS, WriteOptions

HOSTS = Output("slurm-hostfile", "out", WriteOptions())


def test_settings_reach_the_format() -> None:
    """Every key of the options, a level list among them."""
    wanted = wanted_output(
        "kueue-v1beta1",
        None,
        [
            "master_port=4000",
            "cores_per_gpu=16",
            "ranks_per_pod=8",
            "kueue_levels=rack=example.com/rack,host=kubernetes.io/hostname",
        ],
        False,
    )
    assert wanted == Output(
        "kueue-v1beta1",
        None,
        WriteOptions(
            4000,
            16,
            8,
            (("rack", "example.com/rack"), ("host", "kubernetes.io/hostname")),
        ),
    )
    assert wanted.printed


def test_nothing_wanted() -> None:
    """Without --output there is no output, with --json or without."""
    assert wanted_output(None, None, (), True) is None


@pytest.mark.parametrize(
    ("format", "directory", "settings", "rule"),
    [
        (None, "out", (), "--output-dir: needs --output FORMAT"),
        (None, None, ("master_port=1",), "--output-option: needs --output FORMAT"),
        ("slurm-hosts", None, (), "'slurm-hosts': one of json, .*did you mean slurm-"),
        ("json", "", (), "--output-dir '': must name a directory"),
        ("json", __file__, (), f"--output-dir {__file__!r}: is no directory"),
        ("json", "out", ("port",), "'port': must be KEY=VALUE, keys master_port"),
        ("json", "out", ("port=1",), "'port=1': no such key; keys are master_port"),
        ("json", "out", ("master_port=x",), "'master_port=x': must be a whole number"),
        ("json", "out", ("master_port=²",), "must be a whole number"),
        ("json", "out", ("master_port=" + "9" * 11,), "must be a whole number"),
        ("json", "out", ("master_port=0",), "--output-option: master_port 0: a whole"),
        ("json", "out", ("master_port=1",) * 2, "master_port is given twice"),
        ("json", "out", ("kueue_levels=rack",), "must be LEVEL=LABEL,..., such as"),
        ("json", "out", ("kueue_levels=rack=",), "must be LEVEL=LABEL"),
        ("json", "out", ("kueue_levels=a=x,b=x",), "each label key once"),
    ],
)
def test_wrong_options(
    format: str | None, directory: str | None, settings: tuple[str, ...], rule: str
) -> None:
    """Each names the option, its value and the rule."""
    with pytest.raises(InvalidRequest, match=rule):
        wanted_output(format, directory, settings, False)


def test_stdout_has_one_reader() -> None:
    """A JSON report and a text for a program do not share it."""
    with pytest.raises(InvalidRequest, match="--output and --json both print"):
        wanted_output("json", None, (), True)
    assert wanted_output("json", "out", (), True) == Output(
        "json", "out", WriteOptions()
    )


def test_help_names_every_format() -> None:
    """A new format is told by --help."""
    told = get_args(OutputArgument)[1].help
    assert [name for name in FORMATS if name not in told] == []


def test_texts_on_stdout() -> None:
    """One text stands alone; of several each has its job above it, on one line."""
    assert joined({}) == ""
    assert joined({"a": "x\n"}) == "x\n"
    assert joined({"a\x1b": "x\n", "b": "y\n"}) == "# job a\\x1b\nx\n# job b\ny\n"


def test_job_names_stay_in_the_directory() -> None:
    """No name is a path, and no two names are one file."""
    names = ["..", "../b", "/etc/x", "a/b", "a%2Fb", "a b", "é"]
    found = files(HOSTS, dict.fromkeys(names, ""))
    assert [str(path) for path in found.values()] == [
        "out/...hosts",
        "out/..%2Fb.hosts",
        "out/%2Fetc%2Fx.hosts",
        "out/a%2Fb.hosts",
        "out/a%252Fb.hosts",
        "out/a b.hosts",
        "out/%C3%A9.hosts",
    ]


def test_a_name_too_long_for_a_file() -> None:
    """Refused before anything is written."""
    assert len(files(HOSTS, {"a" * 249: ""})) == 1
    with pytest.raises(InvalidRequest, match="256 bytes, more than 255"):
        files(HOSTS, {"a" * 250: ""})


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    """An older file gives way, nothing else is left, readers may be anybody."""
    target = tmp_path / "new" / "a.hosts"
    save({"a": target}, {"a": "old\n"})
    save({"a": target}, {"a": "n1\n"})
    assert target.read_text() == "n1\n"
    assert [path.name for path in target.parent.iterdir()] == ["a.hosts"]
    other = tmp_path / "other"
    other.touch()
    assert target.stat().st_mode == other.stat().st_mode


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The message names it, and no part of it is left."""
    taken = tmp_path / "a.hosts"
    taken.mkdir()
    with pytest.raises(FileFault, match=r"a\.hosts: cannot be written: Is a directory"):
        save({"a": taken}, {"a": "n1\n"})
    assert list(tmp_path.iterdir()) == [taken]
