"""JSON from a stream: the same documents and errors as of the whole text, in less memory."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from phalanx_core.topology.readers import documents, json_stream, sources
from phalanx_core.topology.readers.json_stream import JsonStream
from phalanx_core.topology.readers.object_lists import items_of, json_items
from tests.unit.topology.objects import gpu, node, slice_, topology, write

FIXTURE = [HealthCheck.function_scoped_fixture]
PATH = "a.json"


def cut(text: str, size: int) -> Iterator[str]:
    """A text in pieces."""
    return (text[at : at + size] for at in range(0, len(text), size))


def without_items(body: Any) -> Any:
    """An object of another kind keeps no items: no reader asks for them."""
    listed = isinstance(body, dict) and isinstance(body.get("items"), list)
    return {**body, "items": []} if listed else body


def streamed(text: str, size: int, size_max: int) -> Any:
    """Documents of a text read in pieces, or the words of its refusal."""
    stream = JsonStream(PATH, cut(text, size))
    try:
        return list(json_items(stream, size_max, without_items))
    except TopologyError as error:
        return str(error)


def whole(text: str) -> Any:
    """The same by the decoder of the standard library over the whole text."""
    at, found = 0, []
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            body, at = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno} column {error.colno}"
            return f"{PATH}: {place}: not JSON: {error.msg}"
        try:
            found += map(without_items, items_of(PATH, body))
        except TopologyError as error:
            return str(error)
    return found


def agree(ours: Any, theirs: Any) -> bool:
    """Whether two readings are one; newer Pythons name a comma too many before its end."""
    if isinstance(theirs, str) and "Illegal trailing comma" in theirs:
        return isinstance(ours, str)
    return bool(ours == theirs)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=8,
)
ITEMS = st.fixed_dictionaries(
    {"metadata": VALUES}, optional={"kind": st.sampled_from(["Node", "Pod", 7])}
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["List", "NodeList", "Node", "PodList", 7]),
        "apiVersion": st.sampled_from(["v1", 7]),
        "items": st.lists(ITEMS | st.integers(0, 9), max_size=4) | VALUES,
        "metadata": VALUES,
    },
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Documents as JSON, the members of an object in any order, some indented."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        body = draw(OBJECTS | VALUES)
        if isinstance(body, dict):
            body = {key: body[key] for key in draw(st.permutations(list(body)))}
        indent = draw(st.sampled_from([None, 1]))
        found.append(json.dumps(body, indent=indent, ensure_ascii=draw(st.booleans())))
    return draw(st.sampled_from(["\n", " ", "\n\n"])).join(found)


@given(texts(), st.integers(1, 40), st.integers(0, 60))
@settings(max_examples=300)
def test_same_documents(text: str, size: int, size_max: int) -> None:
    """Pieces of any size, documents of any order of members."""
    assert agree(streamed(text, size, size_max), whole(text))


@given(texts(), st.integers(1, 40), st.integers(0, 60), st.data())
@settings(max_examples=300)
def test_same_refusals(
    text: str, size: int, size_max: int, data: st.DataObject
) -> None:
    """A text with a piece replaced fails at the same line and column, or not at all."""
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, min(len(text), low + 6)))
    words = st.text('{}[]:,"\\u0e-+.\n ntNI', max_size=3)
    text = text[:low] + data.draw(words) + text[high:]
    assert agree(streamed(text, size, size_max), whole(text))


@given(texts(), st.integers(1, 40), st.integers(0, 60), st.data())
def test_same_truncations(
    text: str, size: int, size_max: int, data: st.DataObject
) -> None:
    """A text that ends early fails where the whole one does."""
    text = text[: data.draw(st.integers(0, len(text)))]
    assert agree(streamed(text, size, size_max), whole(text))


NODE = json.dumps(node("h1", 2))
BEHIND = f'{{"apiVersion": "v1", "items": [{NODE}], "kind": "List"}}'


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every document is too long to be parsed at once, and is read in short pieces."""
    monkeypatch.setattr(documents, "WHOLE_MAX", 8)
    monkeypatch.setattr(sources, "PIECE_SIZE", 7)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "text",
    [
        BEHIND,
        f'{{"kind": "List", "items": [{NODE}]}}',
        # As the API server writes it, and the same sorted: items without a kind.
        BEHIND.replace('"List"', '"NodeList"').replace('"kind": "Node", ', ""),
        f'{{"kind": "NodeList", "apiVersion": "v1", "items": [{NODE}]}}'.replace(
            '"kind": "Node", ', ""
        ),
        "\ufeff" + BEHIND,
        f" \n\f{NODE}\n{NODE}",
        f'{{"kind": "List", "items": []}}{NODE}',
        # The last of two members of one name counts, as in any object.
        f'{{"items": [3], "kind": "List", "items": [{NODE}]}}',
        f'{{"items": [{NODE}], "kind": "Pod", "kind": "List"}}',
        f'{{"kind": "List", "metadata": {{"x": NaN}}, "items": [{NODE}]}}',
        f'{{"kind": "List", "metadata": {{"x": {"9" * 4000}}}, "items": [{NODE}]}}',
        f'{{"kind": "List", "metadata": {{"x": "{"y" * 9999}"}}, "items": [{NODE}]}}',
        f'{{"kind": "List", "items": [{NODE}], "more": {"[" * 50 + "]" * 50}}}',
        # An umlaut and an emoji are cut by the ends of pieces.
        f'{{"kind": "List", "metadata": {{"x": "äöü😀äöü😀"}}, "items": [{NODE}]}}',
    ],
)
def test_what_is_read(tmp_path: Path, text: str) -> None:
    """Shapes of a list, none of them held whole."""
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert Topology.read(path).names == ("h1/gpu-0", "h1/gpu-1")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BEHIND[:-20], "line 1 column 207: not JSON: Expecting ',' delimiter"),
        (BEHIND[:-1], "line 1 column 226: not JSON: Expecting ',' delimiter"),
        (BEHIND + "\nx", "line 2 column 1: not JSON: Expecting value"),
        (BEHIND + "\n]", "line 2 column 1: not JSON: Expecting value"),
        (f'{{"kind": "List",\n "items": [{NODE},]}}', "line 2 column 190: not JSON"),
        (f'{{"kind": "List", "items": [{NODE} {NODE}]}}', "Expecting ',' delimiter"),
        (f'{{"kind": "List", "items" [{NODE}]}}', "Expecting ':' delimiter"),
        ('{"kind": "List", "metadata": {}}', "left out: 1 x object of kind List"),
        ('{"kind": "List", "items": {"a": 1}}', "List: items: must be a list"),
        ('{"kind": "List", "items": null}', "List: items: must be a list"),
        (f'{{"items": [{NODE}, 3], "kind": "List"}}', r"List: items\[1\]: must be a m"),
        (f'{{"items": [{NODE}]}}', "document 2: format not known"),
        (f'{{"items": [{NODE}], "kind": "Pod"}}', "left out: 1 x object of kind Pod"),
        (
            '{"kind": "NodeList", "apiVersion": "v1", "items": [{}], "kind": "PodList"}',
            "PodList: kind and apiVersion occur twice and differ",
        ),
        (f'{{"kind": "List", "x": {"9" * 5000}}}', "not JSON: Exceeds the limit"),
        (f'{{"kind": "List", "x": {"[" * 100_000}', "not JSON: maximum recursion"),
        (
            f'{{"kind": "List", "items": [{NODE}, {{"kind": "Node", "metadata": 7}}]}}',
            "a.json: Node document 2: metadata: must be a mapping",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """The same words, lines and columns as where the whole text is there."""
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TopologyError, match=words) as caught:
        Topology.read(path)
    assert "a.json" in str(caught.value)


@pytest.mark.usefixtures("small")
def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """The byte is counted from the start of the file, across pieces."""
    path = tmp_path / "a.json"
    path.write_bytes(b'{"kind": "List", "x": "abc\xffdef"}')
    with pytest.raises(TopologyError, match=r"a\.json: byte 26: not UTF-8 text"):
        Topology.read(path)
    path.write_bytes(b'{"kind": "List", "x": "abc\xe2\x82')
    with pytest.raises(TopologyError, match=r"a\.json: byte 26: not UTF-8 text"):
        Topology.read(path)


def test_an_error_ends_the_reading() -> None:
    """A fault near the start is told before the rest is read."""
    taken = []

    def pieces() -> Iterator[str]:
        for at in range(1000):
            taken.append(at)
            yield '{"kind": "List", "items": [}' if at == 0 else " " * 1000

    with pytest.raises(TopologyError, match="line 1 column 28: not JSON"):
        list(json_items(JsonStream(PATH, pieces()), 8, lambda body: body))
    assert len(taken) <= 2


def test_each_item_is_handed_on(tmp_path: Path) -> None:
    """An item is kept before the text behind it is read."""
    items = [json.dumps(node(f"h{at}")) for at in range(100)]
    head = ['{"kind": "List", "items": [']
    pieces = head + [f"{item}," for item in items[:-1]] + [items[-1] + "]}"]
    taken, ahead = [0], []

    def counted() -> Iterator[str]:
        for piece in pieces:
            taken[0] += 1
            yield piece

    def keep(body: Any) -> Any:
        ahead.append(taken[0] - len(ahead))
        return body["metadata"]["name"]

    stream = JsonStream(PATH, counted())
    assert list(json_items(stream, 8, keep)) == [f"h{at}" for at in range(100)]
    # A window that doubles has read one item and what it takes to see its end.
    assert max(ahead) <= 4


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is bounded where it is held whole, a stream of JSON by its longest value."""
    monkeypatch.setattr(documents, "WHOLE_MAX", 8)
    monkeypatch.setattr(sources, "PIECE_SIZE", 64)
    monkeypatch.setattr(documents, "TEXT_MAX", 1000)
    monkeypatch.setattr(json_stream, "VALUE_MAX", 1000)
    path = write(tmp_path / "a.json", *(node(f"h{at}", 1) for at in range(40)))
    assert path.stat().st_size > 4 * 1000
    assert Topology.read(path).leaf_count == 40
    text = f'{{"kind": "List",\n "x": "{"y" * 3000}", "items": [{NODE}]}}'
    path.write_text(text, encoding="utf-8")
    rule = r"a\.json: line 2 column 7: a value may have at most 1000 characters"
    with pytest.raises(TopologyError, match=rule):
        Topology.read(path)
    conf = tmp_path / "a.conf"
    conf.write_text("SwitchName=s Nodes=n1\n" * 50, encoding="utf-8")
    rule = r"a\.conf: a text that is no JSON may have at most 1000 characters"
    with pytest.raises(TopologyError, match=rule):
        Topology.read(conf)


def wide(name: str) -> dict[str, Any]:
    """A Node with what a real one has beside its labels."""
    made = node(name, rack="r1")
    images = [{"names": [f"registry/{at}@sha256:{at:064x}"]} for at in range(50)]
    made["status"] |= {"images": images, "conditions": [{"type": "Ready"}] * 20}
    made["metadata"]["managedFields"] = [{"manager": "kubelet", "v": "x" * 2000}]
    return made


def peak(call: Callable[[], Any]) -> int:
    """Most bytes held during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither text nor tree is held: far below ``json.loads``, and growing less."""
    monkeypatch.setattr(documents, "WHOLE_MAX", 1 << 15)
    monkeypatch.setattr(sources, "PIECE_SIZE", 1 << 15)
    names = [f"h{at}" for at in range(400)]
    slices = [slice_(name, [gpu(at) for at in range(8)]) for name in names]
    path = write(tmp_path / "a.json", *map(wide, names), *slices)
    Topology.read(path)  # what is cached once is not counted
    ours = peak(lambda: Topology.read(path))
    theirs = peak(lambda: json.loads(path.read_text("utf-8")))
    assert ours < theirs / 4


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """What was read is freed with the reading, and waits for no collector."""
    slices = [slice_(f"h{at}", [gpu(row) for row in range(8)]) for at in range(60)]
    old = [slice_(f"h{at}", [gpu(0)], generation=0, name="o") for at in range(60)]
    path = write(tmp_path / "a.json", *slices, *old)
    Topology.read(path)
    gc.collect()
    gc.disable()
    try:
        Topology.read(path)
        assert gc.collect() < 200
    finally:
        gc.enable()


def test_what_is_cut_away_is_not_needed(tmp_path: Path) -> None:
    """Two copies that differ only in what is not read are one object."""
    first = [node("h1", 2), slice_("h1", [gpu(0), gpu(1)]), topology("a/b", name="t")]
    second = json.loads(json.dumps(first))
    for item in second:
        item["metadata"] |= {"resourceVersion": "7", "managedFields": [{}]}
    second[1]["spec"]["devices"][0]["attributes"]["driverVersion"] = {"version": "1.0"}
    for items in (first, second):
        items[0]["metadata"]["labels"]["a/b"] = "r"
    made = Topology.read(
        [write(tmp_path / "1.json", *first), write(tmp_path / "2.json", *second)]
    )
    assert made.names == ("h1/gpu-0", "h1/gpu-1")
    assert made.report is not None
    assert made.report.notes == ()
