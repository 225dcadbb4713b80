"""Quotas of what is requested: by hand, by their rules, and of the Philly trace."""

from __future__ import annotations

import csv
import gzip
import os
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.requests import quotas_from_requests

BESIDE = Path(__file__).resolve().parents[3] / "../shared/data"
NUMBERS = st.integers(0, 50) | st.sampled_from([0.1, 0.5, 1e-9, 1e9])
REQUESTS = st.dictionaries(st.sampled_from("abcdefg"), NUMBERS)


@pytest.mark.parametrize(
    ("requests", "capacity", "unit", "wanted"),
    [
        ({"a": 3, "b": 1}, 8, 1, {"a": 6, "b": 2}),
        ({"a": 300, "b": 100, "c": 0}, 32, 8, {"a": 24, "b": 8, "c": 0}),
        # Shares of 3.2, 3.2 and 1.6 hosts.
        ({"a": 2, "b": 2, "c": 1}, 64, 8, {"a": 24, "b": 24, "c": 16}),
        # Shares of 2.5 both: the first name gains, wherever it stands.
        ({"b": 7, "a": 7}, 5, 1, {"a": 3, "b": 2}),
        # 0.04 hosts become 1, and 3 : 1 of the other 7 are 5.25 and 1.75.
        ({"a": 300, "b": 100, "c": 2}, 64, 8, {"a": 40, "b": 16, "c": 8}),
        # 3.4, 0.45 and 0.15: with c served, b's 0.35 of the other 3 becomes 1 as well.
        ({"a": 340, "b": 45, "c": 15}, 4, 1, {"a": 2, "b": 1, "c": 1}),
        ({"a": 1, "b": 1, "c": 98}, 3, 1, {"a": 1, "b": 1, "c": 1}),
        # Fewer hosts than tenants: no minimum can be kept.
        ({"a": 1, "b": 1, "c": 98}, 2, 1, {"a": 0, "b": 0, "c": 2}),
        ({"a": 1, "b": 0.5}, 0, 8, {"a": 0, "b": 0}),
        ({"a": 0}, 0, 1, {"a": 0}),
        ({}, 0, 1, {}),
    ],
)
def test_quotas_worked_out_by_hand(
    requests: dict[str, float], capacity: int, unit: int, wanted: dict[str, int]
) -> None:
    """Whole units by largest remainder, at least one where there are enough."""
    assert quotas_from_requests(requests, capacity, unit) == wanted


def test_jobs_are_added_up() -> None:
    """Pairs of jobs are the mapping of their sums, exactly."""
    jobs = [("b", 0.1), ("a", 0.3), ("b", 0.1), ("c", 0), ("b", 0.1)]
    found = quotas_from_requests(iter(jobs), 7)
    assert list(found.items()) == [("b", 4), ("a", 3), ("c", 0)]
    assert quotas_from_requests({"a": 2**60, "b": 2**60 + 1}, 3) == {"a": 1, "b": 2}


@given(REQUESTS, st.integers(0, 12), st.sampled_from([1, 4, 8]), st.randoms())
def test_quotas_keep_their_rules(
    requests: dict[str, float], units: int, unit: int, random: Any
) -> None:
    """Sum, minimum, order by request, and no weight in the order of the mapping."""
    asking = [tenant for tenant, gpus in requests.items() if gpus]
    if not asking:
        return
    found = quotas_from_requests(requests, units * unit, unit)
    assert list(found) == list(requests)
    assert sum(found.values()) == units * unit
    assert all(quota % unit == 0 and quota >= 0 for quota in found.values())
    assert all(found[tenant] == 0 for tenant in requests if not requests[tenant])
    if units >= len(asking):
        assert all(found[tenant] for tenant in asking)
    ranks = sorted(asking, key=lambda tenant: (-Fraction(requests[tenant]), tenant))
    assert [found[tenant] for tenant in ranks] == sorted(found.values(), reverse=True)[
        : len(ranks)
    ]
    pairs = list(requests.items())
    random.shuffle(pairs)
    assert quotas_from_requests(dict(pairs), units * unit, unit) == found
    assert quotas_from_requests(pairs, units * unit, unit) == found


@given(REQUESTS, st.integers(0, 60))
def test_quotas_are_near_their_shares(requests: dict[str, float], units: int) -> None:
    """Within one unit where nobody needs the minimum."""
    total = sum(map(Fraction, requests.values()))
    shares = {
        tenant: units * Fraction(gpus) / total
        for tenant, gpus in requests.items()
        if gpus
    }
    if not shares or min(shares.values()) < 1:
        return
    found = quotas_from_requests(requests, units)
    assert all(abs(found[tenant] - share) < 1 for tenant, share in shares.items())


@pytest.mark.parametrize(
    ("requests", "capacity", "unit", "said"),
    [
        ({"a": -1}, 8, 1, r"requests\[0\] of tenant 'a': -1 GPUs: finite"),
        ({"a": 1, "b": nan}, 8, 1, r"requests\[1\] of tenant 'b': nan GPUs"),
        ({"a": inf}, 8, 1, "inf GPUs"),
        ({"a": "8"}, 8, 1, "'8' GPUs"),
        ({1: 8}, 8, 1, r"requests\[0\] of tenant 1: a text"),
        ([("a", 1), ("b",)], 8, 1, r"requests\[1\] is \('b',\): a tenant and its GPUs"),
        (["ab"], 8, 1, r"requests\[0\] is 'ab'"),
        ({"a": 0}, 8, 1, "requests of 1 tenants: at least one that requests GPUs"),
        ({}, 8, 1, "requests of 0 tenants"),
        ({"a": 1}, 12, 8, "capacity 12: GPUs, a multiple of the unit, 8"),
        ({"a": 1}, -8, 8, "capacity -8"),
        ({"a": 1}, 8.0, 8, "capacity 8.0"),
        ({"a": 1}, 8, 0, "unit 0: GPUs, a whole number from 1"),
        ({"a": 1}, 8, 2.0, "unit 2.0"),
    ],
)
def test_requests_that_are_refused(
    requests: Any, capacity: Any, unit: Any, said: str
) -> None:
    """The message names the request, its value and the rule."""
    with pytest.raises(InvalidRequest, match=said):
        quotas_from_requests(requests, capacity, unit)


@pytest.fixture(scope="module")
def philly() -> list[tuple[str, int]]:
    """Virtual cluster and GPUs of each job of two weeks of the Philly trace."""
    folder = Path(os.environ.get("PHALANX_DATA") or BESIDE)
    path = folder / "philly-jobs" / "philly_2017-10-09_14d.csv.gz"
    if not path.is_file():
        pytest.skip("reads the Philly trace, which is not part of the project")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return [(row["vc"], int(row["num_gpus"])) for row in csv.DictReader(lines)]


def test_philly_quotas_of_210_hosts(philly: list[tuple[str, int]]) -> None:
    """The paper's cluster: 11 tenants of these weeks, the smallest with one host."""
    assert len(philly) == 26_936
    assert quotas_from_requests(philly, 210 * 8, unit=8) == {
        "6214e9": 728,
        "b436b2": 352,
        "6c71a0": 224,
        "11cb48": 184,
        "ee9e8c": 64,
        "0e4a51": 40,
        "7f04ca": 32,
        "103959": 24,
        "2869ce": 16,
        "ed69ec": 8,
        "e13805": 8,
    }


def test_philly_quotas_of_fewer_hosts(philly: list[tuple[str, int]]) -> None:
    """On 24 hosts five tenants and then a sixth are rounded to nothing; each has one."""
    large = {"6214e9": 64, "b436b2": 32, "6c71a0": 24, "11cb48": 16, "ee9e8c": 8}
    small = ("0e4a51", "7f04ca", "103959", "2869ce", "ed69ec", "e13805")
    found = quotas_from_requests(philly, 24 * 8, unit=8)
    assert found == {**large, **dict.fromkeys(small, 8)}
