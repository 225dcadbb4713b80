"""Kueue's slices, expanded by a reader of their definition and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.placement.writers import slices
from phalanx_core.placement.writers.slices import Domain, slices_of

VALUES = st.from_regex(r"[a-c]{0,2}-?[0-9]{1,2}[ab]{0,2}", fullmatch=True)


def expanded(rows: list[dict[str, Any]]) -> list[tuple[tuple[str, ...], int]]:
    """Values and count of each domain, by the definition of v1beta2."""
    found = []
    for row in rows:
        assert set(row) == {"domainCount", "valuesPerLevel", "podCounts"}
        size = row["domainCount"]
        counts = column(row["podCounts"], size)
        values = [column(level, size) for level in row["valuesPerLevel"]]
        found += list(zip(zip(*values, strict=True), counts, strict=True))
    return found


def column(told: dict[str, Any], size: int) -> list[Any]:
    """What a ``universal`` or an ``individual`` says of each domain of a slice."""
    ((kind, value),) = told.items()
    if kind == "universal":
        return [value] * size
    assert kind == "individual"
    assert 1 <= size <= slices.DOMAINS_MAX
    if isinstance(value, list):
        assert len(value) == size
        return value
    assert set(value) <= {"prefix", "suffix", "roots"}
    assert len(value["roots"]) == size
    assert all(value["roots"])
    for key in ("prefix", "suffix"):
        assert 1 <= len(value.get(key, "x")) <= 63
    return [
        value.get("prefix", "") + root + value.get("suffix", "")
        for root in value["roots"]
    ]


DOMAINS = st.lists(
    st.builds(Domain, st.tuples(VALUES, VALUES), st.integers(1, 3)),
    min_size=1,
    max_size=12,
)


@given(DOMAINS)
def test_slices_expand_to_the_domains(domains: list[Domain]) -> None:
    """Every domain, in order, with its Pods."""
    wanted = [(domain.values, domain.count) for domain in domains]
    assert expanded(slices_of(domains)) == wanted


@given(DOMAINS, st.integers(1, 4), st.integers(1, 3))
def test_slices_keep_the_limits(domains: list[Domain], most: int, longest: int) -> None:
    """Divided where a slice is full, and never into more than may be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "SLICES_MAX", max(most, -(-len(domains) // longest)))
        patch.setattr(slices, "DOMAINS_MAX", longest)
        rows = slices_of(domains)
        assert len(rows) <= slices.SLICES_MAX
        assert max(row["domainCount"] for row in rows) <= longest
        assert [values for values, _ in expanded(rows)] == [d.values for d in domains]


@given(DOMAINS)
def test_no_longer_than_one_slice(domains: list[Domain]) -> None:
    """Dividing happens only where it pays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "SLICES_MAX", 1)
        single = slices_of(domains)
    assert len(single) == 1
    assert len(json.dumps(slices_of(domains))) <= len(json.dumps(single))


def test_two_pools_are_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the names of one pool have in common is written once, if two slices may be."""
    pools = {"pool-east-a": range(101, 131), "pool-west-bb": range(201, 241)}
    domains = [
        Domain((f"{pool}-node-{number}",), 1)
        for pool, numbers in pools.items()
        for number in numbers
    ]
    rows = slices_of(domains)
    assert [row["domainCount"] for row in rows] == [30, 40]
    one, other = (row["valuesPerLevel"][0]["individual"] for row in rows)
    assert one["prefix"] == "pool-east-a-node-1"
    assert one["roots"][:3] == ["01", "02", "03"]
    assert other["prefix"] == "pool-west-bb-node-2"
    assert [row["podCounts"] for row in rows] == [{"universal": 1}] * 2
    monkeypatch.setattr(slices, "SLICES_MAX", 1)
    assert [row["domainCount"] for row in slices_of(domains)] == [70]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("a", "a"), {"universal": "a"}),
        (
            ("n1-ib", "n2-ib"),
            {"individual": {"prefix": "n", "suffix": "-ib", "roots": ["1", "2"]}},
        ),
        (("x", "y"), {"individual": {"roots": ["x", "y"]}}),
        # The prefix of one value is the other: no root is empty.
        (("n1", "n12"), {"individual": {"prefix": "n", "roots": ["1", "12"]}}),
        (
            ("aba", "ababa"),
            {"individual": {"prefix": "ab", "roots": ["a", "aba"]}},
        ),
    ],
)
def test_values(values: tuple[str, str], told: dict[str, Any]) -> None:
    """Prefix first, then what the suffix may have of the rest."""
    rows = slices_of([Domain((value,), 2) for value in values])
    assert rows == [
        {
            "domainCount": 2,
            "valuesPerLevel": [told],
            "podCounts": {"universal": 2},
        }
    ]


def test_twenty_thousand_hosts_are_a_third_of_the_old_format() -> None:
    """What the format is for; a slice a rack would be past the limit."""
    domains = [
        Domain((f"gpu-cluster-eu-west-4-rack-{n // 10}-host-{n % 10}",), 8)
        for n in range(20_000)
    ]
    rows = slices_of(domains)
    old = [{"values": list(d.values), "count": d.count} for d in domains]
    assert len(rows) == 1
    assert len(json.dumps(rows)) * 3 < len(json.dumps(old))
    assert expanded(rows) == [(d.values, 8) for d in domains]
