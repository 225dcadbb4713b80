"""Values of tables: what is a number, a name, a flag, a demand, a capacity."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from phalanx_core.cli import choices
from phalanx_core.cli.choices import Choices
from phalanx_core.cli.columns import flags, numbers, texts, typed, wholes
from phalanx_core.cli.demands import Demands
from phalanx_core.cli.tables import Table
from phalanx_core.errors import InvalidRequest

NAN = float("nan")


def table(**columns: list[Any]) -> Table:
    """A table of some file; two underscores stand for a dot."""
    return Table("t.csv", {name.replace("__", "."): v for name, v in columns.items()})


def test_what_a_number_is() -> None:
    """Text as Python, JSON and spreadsheets write it, numbers, decimals, nothing."""
    given = ["1", " -2.5 ", "+.5", "3e2", 4, 0.5, Decimal("1.25"), None, "", "NaN", NAN]
    found = numbers(table(x=given), "x", empty=True).tolist()
    assert found[:7] == [1.0, -2.5, 0.5, 300.0, 4.0, 0.5, 1.25]
    assert np.isnan(found[7:]).all()


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("x", "'x'"),
        ("1_000", "'1_000'"),
        ("1,5", "'1,5'"),
        ("inf", "'inf'"),
        ("1e999", "'1e999'"),
        (10**400, f"{str(10**400)[:57]}..."),
        (True, "True"),
        ([1], "a list"),
        ({}, "an object"),
        (-0.1, "-0.1"),
        ("", "nothing"),
        (None, "nothing"),
    ],
)
def test_what_a_number_is_not(value: Any, got: str) -> None:
    """The message has file, row, column, rule and value."""
    with pytest.raises(InvalidRequest) as caught:
        numbers(table(x=[1, value]), "x", least=0)
    rule = "must be a finite number from 0"
    assert str(caught.value) == f"t.csv: row 2: x: {rule}, got {got}"


def test_whole_numbers() -> None:
    """Also where a column of floats holds them; nothing else."""
    assert wholes(table(x=["4", 2.0, 0]), "x").tolist() == [4, 2, 0]
    assert wholes(table(x=["4", ""]), "x", empty=True).tolist() == [4, -1]
    for value, got in [("1.5", "'1.5'"), (-1, "-1"), (2**31, "2147483648"), ("", None)]:
        with pytest.raises(InvalidRequest) as caught:
            wholes(table(x=[value]), "x")
        assert str(caught.value) == (
            "t.csv: row 1: x: must be a whole number from 0 to 2147483647, got "
            f"{got or 'nothing'}"
        )


def test_names() -> None:
    """Text or a whole number that is printed."""
    assert texts(table(job=["a b", 7, "é"]), "job") == ["a b", "7", "é"]
    for value, got in [
        ("", "nothing"),
        (1.5, "1.5"),
        (True, "True"),
        ("\x1b", r"'\x1b'"),
    ]:
        with pytest.raises(InvalidRequest) as caught:
            texts(table(job=[value]), "job")
        assert str(caught.value) == (
            f"t.csv: row 1: job: must be a printable name, got {got}"
        )


def test_flags() -> None:
    """True and false as each format writes them."""
    given = ["true", "FALSE", "1", "0", "", None, True, False, 1, 0]
    assert flags(table(x=given), "x").astype(int).tolist() == [
        1,
        0,
        1,
        0,
        0,
        0,
        1,
        0,
        1,
        0,
    ]
    with pytest.raises(
        InvalidRequest, match="row 1: x: must be true or false, got 'yes'"
    ):
        flags(table(x=["yes"]), "x")


def test_text_becomes_numbers_for_formats_that_have_them() -> None:
    """Columns that are asked for, and hold nothing else."""
    given = table(
        gpus=["4", " 8"],
        x=["1.5", ""],
        y=["a", "1"],
        job=["7", "8"],
        current=["True", ""],
        large=["1", "9" * 19],
    )
    assert typed(given, lambda name: name != "job", ["current"]).columns == {
        "gpus": [4, 8],
        "x": [1.5, None],
        "y": ["a", "1"],
        "job": ["7", "8"],
        "current": [True, None],
        "large": [1.0, 1e19],
    }


def test_a_missing_column_has_near_ones() -> None:
    """A slip of the keyboard is told."""
    with pytest.raises(InvalidRequest) as caught:
        numbers(table(job=["a"], good_put=[1]), "goodput")
    assert str(caught.value) == (
        "t.csv: no column goodput; columns are job, good_put; did you mean good_put?"
    )


def test_jobs_stand_in_order_of_first_appearance() -> None:
    """Also where rows of jobs are mixed."""
    given = table(job=["b", "a", "b"], configuration=["2", "2", "4"], x=[1.0, 2.0, 3.0])
    found = Choices.of(given)
    assert found.jobs == ("b", "a")
    assert found.row.tolist() == [[0, 2], [1, -1]]
    spread = found.spread(np.array([1.0, 2.0, 3.0]), NAN).tolist()
    assert str(spread) == "[[1.0, 3.0], [2.0, nan]]"


def test_one_value_a_job() -> None:
    """Each row repeats it; a row that does not is told with both values."""
    given = table(
        job=["a", "b", "a"], configuration=["1", "1", "2"], waiting_s=["1", "2", "1.0"]
    )
    found = Choices.of(given)
    values = numbers(given, "waiting_s")
    assert found.per_job("waiting_s", values).tolist() == [1.0, 2.0]
    given.columns["waiting_s"][2] = "3"
    with pytest.raises(InvalidRequest) as caught:
        found.per_job("waiting_s", numbers(given, "waiting_s"))
    assert str(caught.value) == (
        "t.csv: row 3: waiting_s: job 'a' has '3' here and '1' in row 1; it must be one "
        "value a job"
    )


def test_a_configuration_twice() -> None:
    """Both rows are told."""
    with pytest.raises(InvalidRequest) as caught:
        Choices.of(table(job=["a", "b", "a"], configuration=["x", "x", "x"]))
    assert str(caught.value) == (
        "t.csv: row 3: configuration: job 'a' has 'x' in row 1 already"
    )


def test_a_job_holds_one_configuration() -> None:
    """A second flag is told."""
    found = Choices.of(table(job=["a", "a", "b"], configuration=["1", "2", "1"]))
    assert found.held(np.array([False, True, False])).tolist() == [1, -1]
    with pytest.raises(InvalidRequest) as caught:
        found.held(np.array([True, True, False]))
    assert str(caught.value) == "t.csv: row 2: current: job 'a' holds row 1 already"


def test_a_table_that_no_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs times configurations are bounded."""
    monkeypatch.setattr(choices, "ENTRIES_MAX", 3)
    given = table(job=["a", "a", "b"], configuration=["1", "2", "1"])
    rule = "2 jobs, one with 2 configurations: their product must be at most 3"
    with pytest.raises(InvalidRequest, match=rule):
        Choices.of(given)


@pytest.mark.parametrize(
    ("columns", "capacity", "types", "amounts", "wanted"),
    [
        ({"gpus": ["4", 8]}, ["12"], ("gpus",), [12], [[4], [8]]),
        (
            {"type": ["b", "a"], "gpus": [4, 2]},
            ["a=8", "b=16"],
            ("a", "b"),
            [8, 16],
            [[0, 4], [2, 0]],
        ),
        ({"type": ["a", "a"], "gpus": [4, 2]}, ["9"], ("a",), [9], [[4], [2]]),
        (
            {"gpus__a": [4, ""], "gpus__b": [None, 0]},
            ["b=1,a=2,c=3"],
            ("b", "a", "c"),
            [1, 2, 3],
            [[0, 4, 0], [0, 0, 0]],
        ),
        ({"gpus": []}, ["a=1"], ("a",), [1], []),
    ],
)
def test_demands_and_capacities(
    columns: dict[str, list[Any]],
    capacity: list[str],
    types: tuple[str, ...],
    amounts: list[int],
    wanted: list[list[int]],
) -> None:
    """One type, a column of types, a column a type, no row at all."""
    found = Demands.of(table(**columns), capacity)
    assert found.types == types
    assert found.capacity.tolist() == amounts
    assert found.wanted.tolist() == wanted
    assert found.wanted.shape[1] == len(types)


@pytest.mark.parametrize(
    ("columns", "capacity", "message"),
    [
        (
            {"gpus": [1]},
            ["a=4"],
            "--capacity a=4: t.csv has one column gpus and no types: give one number",
        ),
        (
            {"type": ["h100", "a100"], "gpus": [1, 1]},
            ["12"],
            "--capacity 12: must name type 'h100', which t.csv has",
        ),
        (
            {"gpus__h100": [1]},
            ["h10=4,a100=4"],
            "--capacity h10=4,a100=4: must name type 'h100', which t.csv has; did you "
            "mean h10 or a100?",
        ),
        (
            {"gpus": [1], "gpus__a": [1]},
            ["4"],
            "t.csv: columns gpus and gpus.a: must be one of the two kinds",
        ),
        (
            {"gpus__a": [1, ""], "gpus__b": [1, None]},
            ["a=1,b=1"],
            "t.csv: row 2: gpus.a, gpus.b: must not all be empty",
        ),
        (
            {"gpus": [1]},
            ["4", "a=4"],
            "--capacity 4,a=4: must be one number, or name each type",
        ),
        ({"gpus": [1]}, ["a=4", "a=5"], "--capacity 'a=5': 4 was given before"),
        *(
            (
                {"gpus": [1]},
                [word],
                f"--capacity {word!r}: must be GPUs, or TYPE=GPUS,..., each a whole "
                "number to 2147483647",
            )
            for word in ("", "x", "-1", "1.5", "a=", "=4", "a=1=2", "2147483648", "٣")
        ),
    ],
)
def test_wrong_demands_and_capacities(
    columns: dict[str, list[Any]], capacity: list[str], message: str
) -> None:
    """The message says which of the two is at fault, and the rule."""
    with pytest.raises(InvalidRequest) as caught:
        Demands.of(table(**columns), capacity)
    assert str(caught.value) == message
