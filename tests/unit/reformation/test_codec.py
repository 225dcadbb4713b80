"""Keys and values of records: each is read back as it was written, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import SaveError
from phalanx_core.reformation import codec
from phalanx_core.reformation.codec import EpochRecord, Holding, Manifest
from phalanx_core.reformation.records import Cause, Phase
from phalanx_core.reformation.stores import Range

NAMES = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12)
WHOLE = st.integers(0, 10**9)
MANIFESTS = st.tuples(WHOLE, WHOLE)
RECORDS = st.builds(
    EpochRecord,
    uid=WHOLE,
    epoch=WHOLE,
    phase=st.sampled_from(Phase),
    cause=st.sampled_from(Cause),
    base=st.none() | MANIFESTS,
    nonce=NAMES,
    ranks=st.lists(st.integers(0, 40), max_size=12).map(tuple),
    request=NAMES,
)


@given(st.sampled_from(["alloc", "lost", "epoch"]), st.lists(NAMES, max_size=3))
def test_keys_are_read_back(family: str, parts: list[str]) -> None:
    """Whatever a name holds, its key gives it back and has no part too many."""
    made = codec.key(family, *parts)
    assert codec.parts_of(made) == (family, tuple(parts))
    assert made in Range.prefix(codec.ROOT)


@given(st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_no_name_is_below_another(names: list[str]) -> None:
    """What lies below one job's prefix is never another's."""
    one, other = names
    assert codec.key("lost", other, "h") not in Range.prefix(codec.prefix("lost", one))


@given(MANIFESTS, MANIFESTS)
def test_keys_of_manifests_are_in_order(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    """The order of keys is that of (epoch, step)."""
    keys = [codec.seal_key("a", 1, *manifest) for manifest in (one, other)]
    assert (keys[0] < keys[1]) == (one < other)


@given(RECORDS)
def test_epoch_records_are_read_back(record: EpochRecord) -> None:
    """Every field of an epoch record survives."""
    assert codec.epoch_of(codec.epoch_bytes(record)) == record


@given(st.builds(Holding, NAMES, WHOLE, WHOLE, st.booleans()))
def test_holdings_are_read_back(holding: Holding) -> None:
    """Every field of an alloc record survives."""
    assert codec.holding_of(codec.holding_bytes(holding)) == holding


@given(st.builds(Manifest, st.none() | MANIFESTS, NAMES, NAMES))
def test_manifests_are_read_back(manifest: Manifest) -> None:
    """Every field of a manifest survives."""
    assert codec.manifest_of(codec.manifest_bytes(manifest)) == manifest


@pytest.mark.parametrize("read", [codec.epoch_of, codec.holding_of, codec.manifest_of])
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value"),
        (b"\xff", "utf"),
        (b"{}", "KeyError"),
        (b"[]", "TypeError"),
        (b"7", "TypeError"),
        (b'{"v":2}', "version 2"),
    ],
)
def test_damaged_records_are_told(read: object, data: bytes, why: str) -> None:
    """What is no record of this version is a SaveError that says why."""
    with pytest.raises(SaveError, match=why):
        read(data)  # type: ignore[operator]


def test_equal_records_are_equal_bytes() -> None:
    """A record's bytes are pinned: engines of one version write the same."""
    record = EpochRecord(
        1, 2, Phase.RUN, Cause.REPAIR, (1, 30), "e:1", (4, 5, 6, 1), "4"
    )
    assert codec.epoch_bytes(record) == (
        b'{"base":[1,30],"cause":"REPAIR","epoch":2,"nonce":"e:1","phase":"RUN",'
        b'"ranks":[[4,3],[1,1]],"request":"4","uid":1,"v":1}'
    )
