"""Tables of rounds: three formats, and every way in which one can be wrong."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from phalanx_core.cli.tables import Table, format_of, read_table, written
from phalanx_core.errors import InvalidRequest

NAN = float("nan")
COLUMNS: dict[str, list[Any]] = {
    "job": ["a", "a", 7],
    "goodput": [1.5, None, 3.0],
    "gpus": [4, 8, 2],
    "current": [True, False, None],
    "note": ['x,"y"\n', "", "é"],
}


def saved(path: Path, content: str | bytes) -> str:
    """A file's path, once it holds this."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_json_as_rows_or_columns(tmp_path: Path) -> None:
    """Both are the same table; what a row lacks is nothing."""
    rows = saved(tmp_path / "rows.json", '[{"job": "a"}, {"job": 7, "goodput": 1.5}]')
    columns = '{"job": ["a", 7], "goodput": [null, 1.5]}'
    expected = {"job": ["a", 7], "goodput": [None, 1.5]}
    assert read_table(rows).columns == expected
    assert read_table(saved(tmp_path / "columns.json", columns)).columns == expected


def test_csv_as_people_write_it(tmp_path: Path) -> None:
    """A mark of Excel before the first name, blanks around names, empty lines, CRLF."""
    text = '\ufeffjob , note\r\n\r\na,"x\r\ny"\r\n,\r\n'
    table = read_table(saved(tmp_path / "a.csv", text))
    assert table.columns == {"job": ["a", ""], "note": ["x\r\ny", ""]}
    assert table.rows == 2


def test_a_format_gives_back_what_it_was_given(tmp_path: Path) -> None:
    """JSON and Parquet keep kinds of values; CSV is the same text again."""
    table = Table("-", {**COLUMNS, "job": ["a", "a", "7"]})
    for kind in ("json", "parquet"):
        path = saved(tmp_path / f"a.{kind}", written(table, kind))
        assert read_table(path).columns == table.columns
    text = written(Table("-", COLUMNS), "csv")
    assert text.decode() == (
        "job,goodput,gpus,current,note\n"
        'a,1.5,4,true,"x,""y""\n"\n'
        "a,,8,false,\n"
        "7,3.0,2,,é\n"
    )
    assert written(read_table(saved(tmp_path / "a.csv", text)), "csv") == text


def test_numbers_that_are_none_are_empty(tmp_path: Path) -> None:
    """NaN is an empty value of CSV, null of JSON and Parquet."""
    table = Table("-", {"job": ["a", "b"], "utility": [NAN, 0.1]})
    assert written(table, "csv") == b"job,utility\na,\nb,0.1\n"
    assert written(table, "json") == (
        b'[{"job": "a", "utility": null},\n {"job": "b", "utility": 0.1}]\n'
    )
    path = saved(tmp_path / "a.parquet", written(table, "parquet"))
    assert read_table(path).columns["utility"] == [None, 0.1]


def test_parquet_keeps_types_of_others(tmp_path: Path) -> None:
    """A column that nothing reads comes out as it went in."""
    given = pa.table(
        {
            "job": pa.array(["a"]).dictionary_encode(),
            "at": pa.array([3600], pa.timestamp("s")).cast(pa.timestamp("ms")),
            "tags": pa.array([["x"]]),
            "small": pa.array([1], pa.int16()),
        }
    )
    parquet.write_table(given, tmp_path / "a.parquet")
    table = read_table(str(tmp_path / "a.parquet")).with_column("utility", [1.0])
    again = parquet.read_table(io.BytesIO(written(table, "parquet")))
    assert again.schema.names == ["job", "at", "tags", "small", "utility"]
    assert [again.schema.field(name).type for name in given.schema.names] == [
        given.schema.field(name).type for name in given.schema.names
    ]
    assert written(table, "csv") == (
        b'job,at,tags,small,utility\na,1970-01-01 01:00:00,"[""x""]",1,1.0\n'
    )


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_standard_input_is_known_by_its_content(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Each format through a pipe."""
    content = written(Table("-", {"job": ["a"], "note": ["b"]}), kind)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = read_table("-")
    assert (table.path, table.columns) == ("-", {"job": ["a"], "note": ["b"]})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty; its first line names the columns"),
        ("a.csv", "job,,x\n", "the name of column 2, '', is empty"),
        ("a.csv", "job,job\n", "the name of column 2, 'job', occurs twice"),
        ("a.csv", "job,x\na,1\nb\n", "row 2: has 1 values for 2 columns"),
        ("a.csv", 'job\n"a\n', "not CSV: line 2: unexpected end of data"),
        ("a.csv", b"job\n\xff\n", "cannot be read: not UTF-8 text"),
        ("a.json", "[1", "not JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"),
        ("a.json", "[" * 200_000, "not JSON: "),
        ("a.json", '[{"a": 1, "a": 2}]', "key 'a' occurs twice in one object"),
        ("a.json", "3", "must be a list of rows, each an object, or an object of "),
        ("a.json", '[{"a": 1}, 3]', "row 2: must be an object, got 3"),
        ("a.json", '{"a": 1}', "column a: must be a list, got 1"),
        ("a.json", '{"a": [1], "b": []}', "column b: has 0 values, column a has 1"),
        ("a.parquet", b"PAR1", "not Parquet: "),
    ],
)
def test_a_file_that_is_no_table(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    """The message names the file, and what is wrong with it."""
    path = saved(tmp_path / name, content)
    with pytest.raises(InvalidRequest) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, a directory, no name, a closed standard input."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InvalidRequest, match="-: cannot be read: standard input is"):
        read_table("-")
    missing = tmp_path / "no.csv"
    with pytest.raises(InvalidRequest, match=r"no\.csv: cannot be read: No such file"):
        read_table(str(missing))
    with pytest.raises(InvalidRequest, match="cannot be read: Is a directory"):
        read_table(str(tmp_path))
    with pytest.raises(InvalidRequest, match="'': the path of a table must not be"):
        read_table("")


def test_two_columns_of_parquet_with_one_name(tmp_path: Path) -> None:
    """Refused, as in CSV."""
    twice = pa.Table.from_arrays([pa.array([1])] * 2, names=["job", "job"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    rule = "the name of a column, 'job', occurs twice"
    with pytest.raises(InvalidRequest, match=rule):
        read_table(str(tmp_path / "a.parquet"))


def test_a_column_of_several_kinds_is_no_parquet() -> None:
    """Names that are numbers in some rows alone."""
    with pytest.raises(InvalidRequest, match="-: column job: no Parquet column: "):
        written(Table("-", {"job": ["a", 7]}), "parquet")


def test_without_pyarrow_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reading and writing."""
    path = saved(tmp_path / "a.parquet", b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    rule = "Parquet needs the package pyarrow: pip install 'phalanx_core\\[parquet\\]'"
    with pytest.raises(InvalidRequest, match=rf"a\.parquet: {rule}"):
        read_table(path)
    with pytest.raises(InvalidRequest, match=f"-: {rule}"):
        written(Table("-", {"job": ["a"]}), "parquet")


def test_an_extension_that_is_none_of_a_table() -> None:
    """The three that are, are named."""
    rule = r"--output 'a\.xls': must end in \.csv, \.json or \.parquet"
    with pytest.raises(InvalidRequest, match=rule):
        format_of("--output", "a.xls")
