"""``--output FORMAT``: what starts the ranks, a text a job, to stdout or into files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from phalanx_core.cli import exits
from phalanx_core.cli.files import put
from phalanx_core.cli.fleet import Fleet
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.results import Event, Placed
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.writers import FORMATS, WriteOptions, write

FILE_NAME_MAX = 255
NUMBERS = ("master_port", "cores_per_gpu", "ranks_per_pod", "part")
KEYS = (*NUMBERS, "kueue_levels")


@dataclass(frozen=True)
class Output:
    """What ``--output`` and its companions ask for; ``directory`` None is stdout."""

    format: str
    directory: str | None
    options: WriteOptions

    @property
    def printed(self) -> bool:
        """Whether standard output is its own."""
        return self.directory is None


def wanted_output(
    format: str | None, directory: str | None, settings: Sequence[str], as_json: bool
) -> Output | None:
    """The output that the options describe, or None where there is none.

    Raises
    ------
    InvalidRequest
        If the format or a setting does not exist, or the options do not go together.

    Examples
    --------
    >>> wanted_output("torchrun", None, ["master_port=4000"], False).options.master_port
    4000
    """
    if format is None:
        for option, given in (("dir", directory is not None), ("option", settings)):
            if given:
                raise InvalidRequest(f"--output-{option}: needs --output FORMAT")
        return None
    if format not in FORMATS:
        raise InvalidRequest(
            f"--output {format!r}: one of {', '.join(FORMATS)}"
            f"{did_you_mean(format, FORMATS)}"
        )
    if directory == "":
        raise InvalidRequest("--output-dir '': must name a directory")
    found = Path(directory or ".")
    if found.exists() and not found.is_dir():
        raise InvalidRequest(f"--output-dir {directory!r}: is no directory")
    if as_json and directory is None:
        raise InvalidRequest("--output and --json both print: give --output-dir DIR")
    return Output(format, directory, _options(settings))


def texts(
    fleet: Fleet, output: Output, placed: Sequence[Placed], events: Sequence[Event]
) -> dict[str, str]:
    """Job to text: jobs of the jobs file, then others that an event moved.

    A job whose repair was refused has no text: nothing could start from it.

    Raises
    ------
    OutputError
        If the format cannot express a placement.
    """
    names = [row.spec.name for row in placed]
    names += [row.name for event in events for row in event.hit]
    layouts = fleet.layouts()
    return {
        name: write(layouts[name], output.format, name, output.options)
        for name in dict.fromkeys(names)
        if name in layouts
    }


def joined(told: dict[str, str]) -> str:
    """Texts for stdout; where there are several, each has its job above it."""
    if len(told) == 1:
        return next(iter(told.values()))
    return "".join(
        f"# job {exits.escaped(name)}\n{text}" for name, text in told.items()
    )


def files(output: Output, told: dict[str, str]) -> dict[str, Path]:
    """Job to the file that will hold its text.

    Raises
    ------
    InvalidRequest
        If a job's name is too long to name a file.

    Examples
    --------
    >>> output = Output("slurm-hostfile", "out", WriteOptions())
    >>> str(files(output, {"team/llm": ""})["team/llm"])
    'out/team%2Fllm.hosts'
    """
    found = {}
    for name in told:
        file = quote(name, safe=" ") + FORMATS[output.format].suffix
        if len(file) > FILE_NAME_MAX:
            raise InvalidRequest(
                f"--output-dir: job {name!r}: its name makes a file name of "
                f"{len(file)} bytes, more than {FILE_NAME_MAX}"
            )
        found[name] = Path(output.directory or "") / file
    return found


def save(paths: dict[str, Path], told: dict[str, str]) -> None:
    """Write each file whole or not at all; directories are made.

    Raises
    ------
    FileFault
        If one cannot be written.
    """
    for name, path in paths.items():
        put(path, told[name].encode("utf-8"))


def _options(settings: Sequence[str]) -> WriteOptions:
    fields: dict[str, Any] = {}
    for text in settings:
        where = f"--output-option {text!r}"
        key, equals, value = text.partition("=")
        if not equals:
            raise InvalidRequest(f"{where}: must be KEY=VALUE, keys {', '.join(KEYS)}")
        if key not in KEYS:
            near = did_you_mean(key, KEYS)
            raise InvalidRequest(
                f"{where}: no such key; keys are {', '.join(KEYS)}{near}"
            )
        if key in fields:
            raise InvalidRequest(f"{where}: {key} is given twice")
        fields[key] = (
            _levels(where, value) if key == KEYS[-1] else _number(where, value)
        )
    try:
        return WriteOptions(**fields)
    except InvalidRequest as error:
        raise InvalidRequest(f"--output-option: {error}") from None


def _number(where: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10:
        raise InvalidRequest(f"{where}: must be a whole number")
    return int(text)


def _levels(where: str, text: str) -> tuple[tuple[str, str], ...]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(level and equals and key for level, equals, key in pairs):
        raise InvalidRequest(
            f"{where}: must be LEVEL=LABEL,..., such as "
            "kueue_levels=rack=example.com/rack,host=kubernetes.io/hostname"
        )
    return tuple((level, key) for level, _, key in pairs)
